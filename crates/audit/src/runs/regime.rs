//! A jump in the ratio of two times from one row to the next: most rows follow one rule, and some break away.

use assay_model::{Document, Source, Table, names};
use assay_stats::{median, spread};

use super::facts::Facts;
use super::grid;
use super::{Class, Finding, Level, wording};

/// Pairs of times of which one contains the other.
const PAIRS: [(&str, &str); 3] = [
    (names::TIME_FORWARD_BACKWARD, names::TIME_FORWARD),
    (names::TIME_STEP, names::TIME_FORWARD),
    (names::TIME_STEP, names::TIME_FORWARD_BACKWARD),
];

/// Rows that it takes to see a rule.
const ROWS: usize = 4;
/// How many scaled median absolute deviations away a row breaks away (Iglewicz and Hoaglin's limit) …
const LIMIT: f64 = 3.5;
/// … and how much larger its ratio must be than usual, since a table of round numbers may have no spread at all.
const LARGER: f64 = 1.3;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        for table in &document.tables {
            for pair in PAIRS {
                findings.extend(in_table(document, table, pair));
            }
        }
    }
    findings
}

/// One row's ratio.
struct Row {
    label: String,
    ratio: f64,
    text: String,
    source: Source,
}

fn in_table(document: &Document, table: &Table, (over, under): (&str, &str)) -> Vec<Finding> {
    let entries = grid::entries(table);
    let mut groups: Vec<&str> =
        entries.iter().flat_map(|entry| &entry.fields).map(|field| field.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut findings = Vec::new();
    for group in groups {
        let rows = entries.iter().filter_map(|entry| {
            let over = entry.find(over, group).filter(|field| field.group == group)?;
            let under = entry.find(under, group).filter(|field| field.group == group)?;
            let ratio = over.range()?.over(under.range()?)?.value();
            let text = format!("{} / {}", over.cell.text.trim(), under.cell.text.trim());
            Some(Row { label: entry.label.clone(), ratio, text, source: over.source(document) })
        });
        findings.extend(finding(group, over, under, &rows.collect::<Vec<_>>()));
    }
    findings
}

fn finding(group: &str, over: &str, under: &str, rows: &[Row]) -> Option<Finding> {
    let ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
    if ratios.len() < ROWS {
        return None;
    }
    let usual = median(&ratios)?;
    let deviation = 1.4826 * spread(&ratios)?.median_absolute_deviation;
    let breaks = |row: &&Row| row.ratio > usual * LARGER && row.ratio - usual > LIMIT * deviation;
    let broken: Vec<&Row> = rows.iter().filter(breaks).collect();
    if broken.is_empty() || broken.len() * 2 > rows.len() {
        return None;
    }
    let said = broken.iter().map(|row| format!("{} ({})", wording::rough(row.ratio), row.label));
    let name = |metric: &str| metric.strip_prefix("time.").unwrap_or(metric).replace('_', " and ");
    let on = if group.is_empty() { String::new() } else { format!(" on {group}") };
    Some(Finding {
        class: Class::Regime,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "{} over {}{on} is about {} in most rows but {}: swapping or another change of regime is likely.",
            name(over),
            name(under),
            wording::rough(usual),
            said.collect::<Vec<_>>().join(" and ")
        ),
        arithmetic: rows
            .iter()
            .map(|row| format!("{}: {} = {}", row.label, row.text, wording::rough(row.ratio)))
            .take(8)
            .collect(),
        sources: broken.iter().map(|row| row.source.clone()).collect(),
        advice: "Watch memory and page faults during these rows; do not extrapolate from them or compare them with the \
                 others."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    fn times(backward: [f64; 5]) -> Vec<Finding> {
        let forward = [250.7, 816.0, 1639.8, 3157.1, 4685.3];
        let rows: Vec<Vec<f64>> =
            forward.iter().zip(backward).enumerate().map(|(row, (f, b))| vec![row as f64, *f, b]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let document = document("times.md", |build| {
            build.table("cpu", &["label", "time.forward", "time.forward_backward"], &rows);
        });
        found(check, &[document])
    }

    #[test]
    fn rows_that_break_away_are_named() {
        let findings = times([965.8, 3186.2, 6740.9, 19000.5, 81446.5]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].summary.contains("6.018") && findings[0].summary.contains("17.38"));
        assert!(times([965.8, 3186.2, 6740.9, 13000.5, 19446.5]).is_empty());
    }
}
