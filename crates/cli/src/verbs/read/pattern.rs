//! `read --pattern`: a dialect of one's own from what the generic reader found, as a TOML file to edit and keep.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Context as _;
use assay_model::{Document, Observation, Origin, Unit};

use crate::failure::Mistake;

/// Lines of one file give at most this many rules.
const MOST_RULES: usize = 20;

/// The dialect file for a document.
pub fn dialect(document: &Document) -> anyhow::Result<String> {
    let bytes = std::fs::read(&document.file).with_context(|| format!("cannot read {}", document.file))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.split(['\n', '\r']).collect();
    let firsts = first_values(document);
    let written = document.runs.iter().flat_map(|run| &run.observations);
    let known: Vec<&Observation> = written.filter(|found| found.written.is_some()).chain(&firsts).collect();
    let numbers: BTreeSet<u64> = known.iter().filter_map(|found| line_of(found)).collect();
    let mut rules: Vec<String> = Vec::new();
    for number in numbers {
        let mut found: Vec<&Observation> = Vec::new();
        for here in known.iter().filter(|found| line_of(found) == Some(number)) {
            if !found.iter().any(|other| other.metric == here.metric) {
                found.push(here);
            }
        }
        let line = usize::try_from(number).ok().and_then(|number| lines.get(number.checked_sub(1)?));
        if let Some(rule) = line.and_then(|line| rule(line, &found)).filter(|rule| !rules.contains(rule)) {
            rules.push(rule);
        }
    }
    if rules.is_empty() {
        return Err(Mistake::new(
            format!("{} has no line whose numbers could be named", document.file),
            "`assay read FILE` shows what is found; docs/dialects/README.md shows how a dialect is written",
        )
        .into());
    }
    rules.truncate(MOST_RULES);
    Ok(format!(
        "name = \"mine\"\nsummary = \"lines of {}\"\n{}",
        document.file.replace(['"', '\\'], " "),
        rules.concat()
    ))
}

/// The first value of each series: the last line with a metric may be of another shape than all before it.
fn first_values(document: &Document) -> Vec<Observation> {
    let series = document.runs.iter().flat_map(|run| &run.series);
    let first = |series: &assay_model::Series| {
        let value = series.values.first().copied()?;
        let mut found = Observation::new(&series.metric, value, series.unit.clone(), Origin::Reported);
        found.source.clone_from(&series.source);
        Some(found)
    };
    series.filter_map(first).collect()
}

/// Where a value stands in a line, of which only the value is known: the one number that can be it.
fn place_of(line: &str, observation: &Observation) -> Option<(usize, usize, String)> {
    let mut found = None;
    let mut from = 0;
    while let Some(start) =
        line.get(from..)?.find(|letter: char| letter.is_ascii_digit()).map(|start| from + start)
    {
        let rest = line.get(start..)?;
        let length =
            rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(rest.len());
        let number = rest.get(..length)?.trim_end_matches('.');
        from = start + length;
        if let Some(unit) = unit(line.get(start + number.len()..)?, number, observation) {
            if found.is_some() {
                return None;
            }
            found = Some((start, start + number.len(), unit));
        }
    }
    found
}

fn line_of(found: &Observation) -> Option<u64> {
    found.source.as_ref().map(|source| source.line)
}

/// A rule for one line: the numbers that became metrics are groups, all others may be any number.
fn rule(line: &str, found: &[&Observation]) -> Option<String> {
    let mut places: Vec<(usize, usize, &Observation, String)> = Vec::new();
    for observation in found {
        let Some(written) = observation.written.as_deref() else {
            if let Some((start, end, unit)) = place_of(line, observation) {
                places.push((start, end, observation, unit));
            }
            continue;
        };
        let digits = written.find(|letter: char| !is_numeric(letter)).unwrap_or(written.len());
        let number = written.get(..digits)?.trim_end_matches(['.', ',']);
        let taken = |at: usize| places.iter().any(|(start, ..)| *start == at);
        let at = line.match_indices(number).map(|(at, _)| at).find(|at| !number.is_empty() && !taken(*at))?;
        let unit = unit(line.get(at + number.len()..)?, number, observation)?;
        places.push((at, at + number.len(), observation, unit));
    }
    places.sort_by_key(|(start, ..)| *start);
    let (mut pattern, mut metrics, mut from) = (String::new(), String::new(), 0);
    for (start, end, observation, unit) in &places {
        let group = observation.metric.replace(['.', '/', '-'], "_");
        pattern += &loose(line.get(from..*start)?);
        let _ = write!(pattern, "(?P<{group}>[-+0-9.,eE]+)");
        let _ = writeln!(metrics, "{group} = \"{}{unit}\"", observation.metric);
        from = *end;
    }
    let known = places.first().map(|(start, ..)| line.get(..*start).unwrap_or_default())?;
    let key = known.split(|letter: char| is_numeric(letter)).max_by_key(|part| part.len())?.trim();
    let key = if key.is_empty() {
        line.split(char::is_whitespace).find(|word| !word.contains(is_numeric))?
    } else {
        key
    };
    Some(format!("\n[[rule]]\ncontains = '{key}'\npattern = '{pattern}'\n[rule.metrics]\n{metrics}"))
        .filter(|rule| rule.matches('\'').count() == 4)
}

fn is_numeric(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-' | '+')
}

/// Text as a pattern in which every number may be another one and every blank any blanks.
fn loose(text: &str) -> String {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let blanks = rest.find(|letter: char| !letter.is_whitespace()).unwrap_or(rest.len());
        let length = if digits > 0 {
            pattern += "[0-9]+";
            digits
        } else if blanks > 0 {
            pattern += r"\s+";
            blanks
        } else {
            if !first.is_alphanumeric() && !matches!(first, '_' | '"' | '<' | '>') && first.is_ascii() {
                pattern.push('\\');
            }
            pattern.push(first);
            first.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    pattern
}

/// The unit behind a number, in brackets; empty where the number is the value itself. None where nothing explains it.
fn unit(behind: &str, number: &str, observation: &Observation) -> Option<String> {
    let value: f64 = number.replace(',', "").parse().ok()?;
    let explains = |factor: f64| (value * factor - observation.value).abs() <= 1e-9 * observation.value.abs();
    let word = behind.trim_start().split([' ', ',', '|', ')', ']', ';', '\t']).next().unwrap_or_default();
    let (unit, factor) = Unit::parse(word);
    if !word.is_empty() && unit == observation.unit && explains(factor) {
        return Some(format!(" ({word})"));
    }
    (explains(1.0) && matches!(observation.unit, Unit::One | Unit::Fraction)).then(String::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_evidence::user::{UserDialect, UserDialectFile};
    use assay_evidence::{DocumentReader, Readers};

    fn read(readers: &Readers, file: &str, text: &str) -> Document {
        let mut reader = DocumentReader::new(readers, file);
        reader.feed(text.as_bytes());
        reader.finish()
    }

    fn values(document: &Document) -> Vec<(String, f64)> {
        let found = document.runs[0].observations.iter().map(|found| (found.metric.clone(), found.value));
        let mut found: Vec<(String, f64)> = found.filter(|(metric, _)| metric != "loss.final").collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    #[test]
    fn the_last_line_may_be_of_another_shape() {
        let file = std::env::temp_dir().join(format!("assay-shapes-{}.log", std::process::id()));
        let text = "Epoch 1/3 | train loss 0.9125 | val acc 61.5%\nEpoch 2/3 | train loss 0.7125 | val acc 65.5%\nEpoch 3/3 | train loss nan | val acc 12.5%\n";
        std::fs::write(&file, text).unwrap();
        let name = file.to_string_lossy().into_owned();
        let document = read(&Readers::all(&[]), &name, text);
        let printed = dialect(&document).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(printed.matches("accuracy.eval (%)").count(), 2, "{printed}");
        assert!(printed.contains(r"train\s+loss\s+(?P<loss_train>[-+0-9.,eE]+)\s+\|\s+val"), "{printed}");
    }

    #[test]
    fn a_printed_dialect_reads_what_it_was_printed_from() {
        let folder = std::env::temp_dir().join(format!("assay-pattern-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("train.log");
        let text = "Epoch 1/2 | train loss 0.8810 | val acc 70.28% | 22.95s\nEpoch 2/2 | train loss 0.6810 | val acc 73.28% | 21.95s\n";
        std::fs::write(&file, text).unwrap();
        let name = file.to_string_lossy().into_owned();
        let document = read(&Readers::all(&[]), &name, text);
        let toml = dialect(&document).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let file: UserDialectFile = toml::from_str(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
        let own = std::sync::Arc::new(UserDialect::new(file).unwrap());
        let again = read(&Readers::new("mine", &[], &[own]).unwrap(), &name, text);
        assert_eq!(values(&document).len(), 3, "{toml}");
        assert_eq!(values(&again), values(&document), "{toml}");
    }
}
