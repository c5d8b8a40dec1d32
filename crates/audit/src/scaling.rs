//! How a rate grows with tasks, devices, nodes or threads, against what the text says of it.

use assay_model::{Document, Source, Statement, Table, Unit, names};
use assay_stats::scaling::efficiency;

use super::facts::{self, Facts, Run};
use super::grid::{self, Entry, Field};
use super::{Class, Finding, Standing, wording};

/// More than this of perfect scaling is too good to be taken without a reason.
const TOO_GOOD: f64 = 1.05;
/// Less than this is not what people mean by linear.
const LINEAR: f64 = 0.9;

/// Settings that say how many workers share the work.
const WORKERS: [&str; 4] =
    [names::setting::TASKS, names::setting::DEVICES, names::setting::NODES, names::setting::THREADS];

/// One measured level.
struct Level {
    workers: f64,
    rate: f64,
    /// The least and the most that the rate can be, by how it is written.
    low: f64,
    high: f64,
    source: Source,
}

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        let mut in_tables = Vec::new();
        for table in &document.tables {
            for (name, header, levels) in table_levels(document, table) {
                let claims = claims(document, &table.headings);
                findings.extend(finding(&header, name, &levels, &claims));
                in_tables.push(name);
            }
        }
        if let Some((name, levels)) = log_levels(facts, document)
            && !in_tables.contains(&name)
        {
            findings.extend(finding("the rate", name, &levels, &claims(document, &[])));
        }
    }
    findings
}

/// The levels of each rate column of a table, where all other settings are the same.
fn table_levels(document: &Document, table: &Table) -> Vec<(&'static str, String, Vec<Level>)> {
    let entries = grid::entries(table);
    let Some(name) = WORKERS.iter().find(|name| entries.iter().any(|entry| entry.find(name, "").is_some()))
    else {
        return Vec::new();
    };
    let mut rates: Vec<(usize, &str)> = Vec::new();
    for field in entries.iter().flat_map(|entry| &entry.fields) {
        let is_rate = field.metric().is_some_and(|metric| matches!(unit_of(metric), Unit::PerSecond(_)));
        if is_rate && !rates.iter().any(|(index, _)| *index == field.index) {
            rates.push((field.index, field.header));
        }
    }
    let mut found = Vec::new();
    for (index, header) in rates {
        for same in comparable(&entries, name) {
            let level = |entry: &&Entry<'_>| {
                let workers = entry.find(name, "")?.cell.value?;
                let field = entry.at(index)?;
                let range = field.range()?;
                Some(Level {
                    workers,
                    rate: range.value(),
                    low: range.low,
                    high: range.high,
                    source: field.source(document),
                })
            };
            found.push((*name, format!("`{}`", header.trim()), same.iter().filter_map(level).collect()));
        }
    }
    found
}

fn unit_of(metric: &str) -> Unit {
    let stem = metric.rsplit_once('.').map_or(metric, |(stem, _)| stem);
    match names::unit(metric) {
        Unit::One => names::unit(stem),
        unit => unit,
    }
}

/// What entries share, by column, and the entries.
type Group<'e, 'a> = (Vec<(usize, String)>, Vec<&'e Entry<'a>>);

/// Entries that differ in the number of workers alone, as far as the table tells. Settings that grow in step with the
/// workers are part of it.
fn comparable<'e, 'a>(entries: &'e [Entry<'a>], name: &str) -> Vec<Vec<&'e Entry<'a>>> {
    let others = |entry: &Entry<'a>| -> Vec<(usize, String)> {
        let is_other = |field: &&Field<'a>| match field.role {
            assay_model::Role::Setting(other) => other != name && !grows_with(other),
            assay_model::Role::Label => true,
            _ => false,
        };
        let cells = entry.fields.iter().filter(is_other);
        cells.map(|field| (field.index, field.cell.text.trim().to_owned())).collect()
    };
    let mut groups: Vec<Group<'_, 'a>> = Vec::new();
    for entry in entries {
        let key = others(entry);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(entry),
            None => groups.push((key, vec![entry])),
        }
    }
    groups.into_iter().map(|(_, members)| members).filter(|members| members.len() >= 2).collect()
}

fn grows_with(setting: &str) -> bool {
    WORKERS.contains(&setting)
        || setting == names::setting::TASKS_PER_NODE
        || setting == names::setting::BATCH_SIZE
}

/// Levels from the logs of a document: one rate, several numbers of workers, the same dialect and platform.
fn log_levels(facts: &Facts<'_>, document: &Document) -> Option<(&'static str, Vec<Level>)> {
    let logs: Vec<&Run<'_>> = facts
        .runs
        .iter()
        .filter(|run| std::ptr::eq(run.document, document) && run.is_log() && run.read.status.is_usable())
        .collect();
    let first = logs.first()?;
    let alike = |run: &&&Run<'_>| run.shares_dialect(first) && run.platform() == first.platform();
    let rates = [names::SAMPLES_PER_S_LOOP, names::TOKENS_PER_S, names::SAMPLES_PER_S];
    for name in WORKERS {
        for rate in rates {
            let level = |run: &&Run<'_>| {
                let value = run.value(rate)?;
                let workers = run.number(name)?;
                Some(Level { workers, rate: value, low: value, high: value, source: run.source_of(rate) })
            };
            let levels: Vec<Level> = logs.iter().filter(alike).filter_map(level).collect();
            let differ =
                levels.iter().any(|level| levels.first().is_some_and(|one| one.workers != level.workers));
            if differ {
                return Some((name, levels));
            }
        }
    }
    None
}

/// Sentences that call something linear or proportional.
fn claims<'a>(document: &'a Document, headings: &[String]) -> Vec<&'a Statement> {
    let outermost = headings.first();
    let near = |statement: &&Statement| outermost.is_none() || statement.headings.first() == outermost;
    document.statements.iter().filter(near).filter(|statement| is_linear(&statement.text)).collect()
}

fn is_linear(text: &str) -> bool {
    let lower = text.to_lowercase();
    let says =
        ["linear", "proportional", "perfect scaling", "scales perfectly", "ideal scaling", "perfectly scal"]
            .iter()
            .any(|word| lower.contains(word));
    let denies =
        ["sublinear", "sub-linear", "not linear", "non-linear", "nonlinear", "less than linear", "not scale"]
            .iter()
            .chain(&["below linear", "n't scale", "not proportional", "linear layer", "bilinear", "linear("])
            .any(|word| lower.contains(word));
    says && !denies
}

/// One level for each number of workers: the mean of its repeats.
fn averaged(levels: &[Level]) -> Vec<Level> {
    let mut workers: Vec<f64> = levels.iter().map(|level| level.workers).collect();
    workers.sort_by(f64::total_cmp);
    workers.dedup();
    let of = |workers: f64| {
        let repeats: Vec<&Level> = levels.iter().filter(|level| level.workers == workers).collect();
        let count = repeats.len() as f64;
        let mean = |value: fn(&Level) -> f64| repeats.iter().map(|level| value(level)).sum::<f64>() / count;
        Some(Level {
            workers,
            rate: mean(|level| level.rate),
            low: mean(|level| level.low),
            high: mean(|level| level.high),
            source: repeats.first()?.source.clone(),
        })
    };
    workers.into_iter().filter_map(of).collect()
}

fn finding(header: &str, name: &str, levels: &[Level], claims: &[&Statement]) -> Option<Finding> {
    let levels = averaged(levels);
    let base = levels.iter().min_by(|a, b| a.workers.total_cmp(&b.workers))?;
    if base.workers <= 0.0 {
        return None;
    }
    let mut arithmetic = Vec::new();
    let mut shares: Vec<(f64, f64, f64)> = Vec::new();
    let mut sources = vec![base.source.clone()];
    for level in levels.iter().filter(|level| level.workers > base.workers) {
        let share = |rate: f64, from: f64| efficiency(level.workers, rate, base.workers, from);
        let (Some(middle), Some(low), Some(high)) =
            (share(level.rate, base.rate), share(level.low, base.high), share(level.high, base.low))
        else {
            continue;
        };
        arithmetic.push(format!(
            "({} / {}) / ({} / {}) = {}",
            wording::plain(level.rate),
            wording::plain(base.rate),
            wording::plain(level.workers),
            wording::plain(base.workers),
            wording::percent(middle)
        ));
        shares.push((low, middle, high));
        sources.push(level.source.clone());
    }
    arithmetic.truncate(8);
    sources.truncate(8);
    let said = shares.iter().map(|(_, middle, _)| wording::percent(*middle)).collect::<Vec<_>>().join(", ");
    let too_good = shares.iter().any(|(low, _, _)| *low > TOO_GOOD);
    let linear = shares.iter().all(|(_, _, high)| *high >= LINEAR);
    let what = name.replace('_', " ");
    let scales = format!("{header} reaches {said} of perfect scaling with {what}");
    let (standing, summary, advice) = match claims.first() {
        _ if shares.is_empty() => return None,
        _ if too_good => (
            Standing::Doubtful,
            format!("{scales}, which is more than {what} alone can give."),
            "Check that the base did the same work in the same way (batch size, cache, warm-up).",
        ),
        Some(claim) if !linear => {
            sources.insert(0, facts::place(claim));
            (
                Standing::Contradicted,
                format!("The text calls the scaling linear or proportional, but {scales}."),
                "Give the efficiency instead of the word.",
            )
        }
        Some(claim) => {
            sources.push(facts::place(claim));
            (Standing::Supported, format!("{scales}, as the text says."), "")
        }
        None => (Standing::Supported, format!("{scales}."), ""),
    };
    Some(Finding { class: Class::Scaling, standing, summary, arithmetic, sources, advice: advice.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    fn scaled(rates: [f64; 3], claim: &str) -> Vec<Finding> {
        let document = document("scaling.md", |build| {
            build.heading("Scaling");
            build.table(
                "sambanova",
                &["tasks", "samples_per_s"],
                &[&[4.0, rates[0]], &[8.0, rates[1]], &[16.0, rates[2]]],
            );
            build.says(claim, &[]);
        });
        found(check, &[document])
    }

    #[test]
    fn efficiency_is_taken_against_the_fewest_workers() {
        let findings = scaled([1191.7, 2348.6, 4605.5], "Speed is nearly proportional to the tasks.");
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].standing, Standing::Supported);
        assert!(findings[0].summary.contains("98.5 %, 96.6 %"), "{}", findings[0].summary);
    }

    #[test]
    fn repeats_are_averaged() {
        let document = document("scaling.md", |build| {
            build.table(
                "sambanova",
                &["tasks", "samples_per_s"],
                &[&[4.0, 100.0], &[4.0, 102.0], &[8.0, 190.0], &[8.0, 194.0]],
            );
        });
        let findings = found(check, &[document]);
        assert!(findings[0].summary.contains("95.0 %"), "{}", findings[0].summary);
        assert_eq!(findings[0].arithmetic.len(), 1);
    }

    #[test]
    fn a_claim_that_the_numbers_deny_is_contradicted() {
        let findings = scaled([1000.0, 1600.0, 2400.0], "The rate scales linearly.");
        assert_eq!(findings[0].standing, Standing::Contradicted);
        let findings = scaled([1000.0, 1600.0, 2400.0], "The scaling is clearly sublinear.");
        assert_eq!(findings[0].standing, Standing::Supported);
    }

    #[test]
    fn better_than_perfect_is_doubtful() {
        let findings = scaled([1000.0, 2400.0, 4700.0], "More tasks are faster.");
        assert_eq!(findings[0].standing, Standing::Doubtful);
    }
}
