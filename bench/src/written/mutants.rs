//! One number changed at a time: a true claim in prose, or a cell of a table in a sound document.
//!
//! A mutant counts as noticed if an alarm appears that the untouched document does not have, at the changed line or
//! one beside it (anywhere in notebooks). Some mutants cannot be noticed: nothing else in the document bears on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_random::Random;

use super::alarms::{Alarm, alarms};
use super::score::line_at;
use super::truth::WriteUpCase;
use crate::place::Place;
use crate::planted::score::SuccessShare;

/// Cells that are changed in a document.
const MOST_CELLS: usize = 6;
const FACTORS: [f64; 3] = [0.62, 1.4, 1.7];

/// How many mutants were noticed.
#[derive(Debug, Default)]
pub struct Mutants {
    pub prose: SuccessShare,
    pub cells: SuccessShare,
    /// Changed claims by format.
    pub formats: BTreeMap<String, SuccessShare>,
    /// What was not noticed, for people.
    pub notes: Vec<String>,
}

/// Changes the numbers of one document, one at a time.
pub fn examine(
    place: &Place,
    work: &Workshop,
    case: &WriteUpCase,
    random: &mut Random,
    mutants: &mut Mutants,
) -> anyhow::Result<()> {
    let base = alarms(place, &work.write(case, &case.text)?)?;
    for claim in &case.true_claims {
        let Some((start, end)) = claimed_number(case, &claim.quote, &claim.arithmetic) else { continue };
        let hit = is_noticed(place, work, case, &base, &replaced(&case.text, start, end, random), start)?;
        mutants.prose.count(hit);
        mutants.formats.entry(case.format.clone()).or_default().count(hit);
        if !hit {
            mutants.notes.push(format!("{}: not noticed in {:?}", case.file, claim.quote));
        }
    }
    if !case.sound || case.is_notebook() {
        return Ok(());
    }
    let mut cells = cells(&case.text);
    random.shuffle(&mut cells);
    for (start, end) in cells.into_iter().take(MOST_CELLS) {
        let hit = is_noticed(place, work, case, &base, &replaced(&case.text, start, end, random), start)?;
        mutants.cells.count(hit);
        if !hit {
            let line = line_at(&case.text, start);
            mutants.notes.push(format!("{}:{line}: cell {} not noticed", case.file, &case.text[start..end]));
        }
    }
    Ok(())
}

fn is_noticed(
    place: &Place,
    work: &Workshop,
    case: &WriteUpCase,
    base: &[Alarm],
    text: &str,
    at: usize,
) -> anyhow::Result<bool> {
    let line = line_at(&case.text, at);
    let now = alarms(place, &work.write(case, text)?)?;
    let mut new = now.iter().filter(|alarm| base.iter().all(|before| before.summary != alarm.summary));
    Ok(new.any(|alarm| case.is_notebook() || alarm.is_near(line)))
}

/// Where documents are written to be audited.
#[derive(Debug)]
pub struct Workshop {
    pub directory: PathBuf,
    pub fixtures: PathBuf,
}

impl Workshop {
    /// Writes a document, with its neighbors if it has a folder of its own; gives what is to be audited.
    pub fn write(&self, case: &WriteUpCase, text: &str) -> anyhow::Result<PathBuf> {
        let target = self.directory.join(&case.file);
        let Some(folder) = case.folder() else {
            fs::write(&target, text)?;
            return Ok(target);
        };
        let directory = self.directory.join(folder);
        fs::create_dir_all(&directory)?;
        copy_files(&self.fixtures.join(folder), &directory)?;
        fs::write(&target, text)?;
        Ok(directory)
    }
}

fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The number of a claim that its arithmetic gives, or else its first.
fn claimed_number(case: &WriteUpCase, quote: &str, arithmetic: &str) -> Option<(usize, usize)> {
    // Quotes in notebooks stand there as JSON strings.
    let escaped = serde_json::to_string(quote).ok()?;
    let escaped = escaped.get(1..escaped.len() - 1)?;
    let (at, quote) = match case.text.find(quote) {
        Some(at) => (at, quote),
        None => (case.text.find(escaped)?, escaped),
    };
    let spots = numbers(quote);
    let result = result_of(arithmetic);
    let distance =
        |spot: &(usize, usize)| result.map_or(0.0, |result| (value(&quote[spot.0..spot.1]) - result).abs());
    let spot = spots.into_iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
    Some((at + spot.0, at + spot.1))
}

/// The number behind the first equals sign.
fn result_of(arithmetic: &str) -> Option<f64> {
    arithmetic.match_indices('=').find_map(|(at, _)| {
        let rest = arithmetic[at + 1..].trim_start_matches(' ');
        let rest = rest.strip_prefix('$').unwrap_or(rest);
        let digits: String =
            rest.chars().take_while(|one| one.is_ascii_digit() || ".,".contains(*one)).collect();
        digits.trim_end_matches(['.', ',']).replace(',', "").parse().ok()
    })
}

/// The numbers in table rows that have decimals or at least three digits.
fn cells(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        if is_row(line) {
            let spots = numbers(line).into_iter().filter(|(start, end)| {
                let number = &line[*start..*end];
                number.contains('.') || value(number) >= 100.0
            });
            found.extend(spots.map(|(start, end)| (begin + start, begin + end)));
        }
        begin += line.len();
    }
    found
}

fn is_row(line: &str) -> bool {
    let has_digit = |text: &str| text.contains(|one: char| one.is_ascii_digit());
    let between = line.find('|').zip(line.rfind('|')).and_then(|(first, last)| line.get(first + 1..last));
    between.is_some_and(has_digit) || line.contains(" & ") && has_digit(line) || line.contains("<td")
}

/// The numbers of a text that are not part of a word, a version, a date or a path.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(|one: char| one.is_ascii_digit()) {
        let start = at + offset;
        let before = text[..start].chars().next_back();
        let glued = before.is_some_and(|one| is_word(one) || ".-/:".contains(one));
        match number_end(text, start).filter(|_| !glued) {
            Some(end) => {
                found.push((start, end));
                at = end;
            }
            None => at = start + 1,
        }
    }
    found
}

fn is_word(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

/// Where the number ends that begins here: the longest reading that no letter or digit follows.
fn number_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut ends = vec![start + digits(start)];
    loop {
        let end = *ends.last()?;
        let rest = &text[end..];
        let separator = ["{,}", ","].into_iter().find(|separator| rest.starts_with(separator));
        let Some(separator) = separator.filter(|separator| digits(end + separator.len()) >= 3) else { break };
        ends.push(end + separator.len() + 3);
    }
    let free = |end: usize| !text[end..].chars().next().is_some_and(is_word);
    ends.into_iter().rev().find_map(|end| {
        let decimals = if bytes.get(end) == Some(&b'.') { digits(end + 1) } else { 0 };
        let long = (decimals > 0).then_some(end + 1 + decimals).filter(|end| free(*end));
        long.or(Some(end).filter(|end| free(*end)))
    })
}

fn value(text: &str) -> f64 {
    text.replace("{,}", "").replace(',', "").parse().unwrap_or(0.0)
}

/// The text with another number in a place: as many decimals, clearly another value.
fn replaced(text: &str, start: usize, end: usize, random: &mut Random) -> String {
    let old = &text[start..end];
    let decimals = old.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let factor = random.pick(&FACTORS);
    let mut new = format!("{:.decimals$}", value(old) * factor);
    if value(&new) == value(old) {
        new = format!("{:.decimals$}", value(old) + 1.0);
    }
    format!("{}{new}{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<&str> {
        numbers(text).into_iter().map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn numbers_stand_alone() {
        assert_eq!(
            shown("from 1,240 to 12{,}500 in 3.5 s, v2.1, H100, 2024-05-01"),
            ["1,240", "12{,}500", "3.5", "2024"]
        );
        assert_eq!(shown("a/16 x-3 1.5x 37% 12ms"), ["1", "37"]);
    }

    #[test]
    fn cells_are_numbers_of_rows() {
        let text = "prose 123.4\n| a | 5 | 7.25 |\nx & 120 & 3 \\\\\n";
        let found: Vec<&str> = cells(text).into_iter().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(found, ["7.25", "120"]);
    }

    #[test]
    fn the_number_that_the_arithmetic_gives_is_changed() {
        let case = WriteUpCase { text: "It takes 4 GPUs 37.5 % more.".to_owned(), ..WriteUpCase::default() };
        let (start, end) =
            claimed_number(&case, "4 GPUs 37.5 % more", "(54.98/39.98-1)*100 = 37.5188").unwrap();
        assert_eq!(&case.text[start..end], "37.5");
        let new = replaced(&case.text, start, end, &mut Random::new(1));
        assert!(!new.contains("37.5") && new.starts_with("It takes 4 GPUs "), "{new}");
        assert_eq!(replaced("x 0 y", 2, 3, &mut Random::new(1)), "x 1 y");
    }
}
