//! What must be in order within a row: percentiles, minimum, mean, maximum, spread.

use assay_model::Statistic;

use crate::checks::Check;
use crate::grid::{ColumnKind, Grid, header_unit};
use crate::unit::Unit;

pub(super) fn check(grid: &Grid, broken: &mut Vec<Check>) {
    let columns: Vec<(usize, Statistic, String)> = grid
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.kind == ColumnKind::Measure)
        .filter_map(|(index, column)| statistic(&column.header).map(|(found, rest)| (index, found, rest)))
        .collect();
    for (position, (one, first, subject)) in columns.iter().enumerate() {
        for (other, second, other_subject) in &columns[position + 1..] {
            if subject != other_subject && !subject.is_empty() && !other_subject.is_empty() {
                continue;
            }
            let mut found = Vec::new();
            for row in 0..grid.rows.len() {
                pair(grid, row, (*one, *first), (*other, *second), &mut found);
            }
            // Where many rows are the other way round, the columns are not of one thing.
            if found.len() <= 1 || found.len() * 4 <= grid.rows.len() {
                broken.append(&mut found);
            }
        }
    }
}

fn pair(
    grid: &Grid,
    row: usize,
    (one, first): (usize, Statistic),
    (other, second): (usize, Statistic),
    broken: &mut Vec<Check>,
) {
    let (Some(a), Some(b)) = (grid.cell(row, one), grid.cell(row, other)) else { return };
    let (small, large) = match ranked(first, second) {
        Some(true) => ((one, a), (other, b)),
        Some(false) => ((other, b), (one, a)),
        None => return,
    };
    let same_unit = a.unit.same_measure(&b.unit);
    let (low, high) =
        if same_unit { (small.1.low, large.1.high) } else { (small.1.written, large.1.written) };
    if low > high * (1.0 + 1e-9) + 1e-12 && high > 0.0 {
        let law = format!("{} ≤ {}", grid.columns[small.0].header, grid.columns[large.0].header);
        broken.push(Check {
            row,
            others: Vec::new(),
            columns: vec![large.0, small.0],
            expected: Vec::new(),
            law,
            kept: grid.rows.len() - 1,
            factor: high / low,
            certain: !matches!(
                (first, second),
                (Statistic::Mean, Statistic::Percentile(_)) | (Statistic::Percentile(_), Statistic::Mean)
            ),
        });
    }
}

/// Whether the first can never exceed the second; None where both orders are possible.
fn ranked(first: Statistic, second: Statistic) -> Option<bool> {
    use Statistic::{Maximum, Mean, Minimum, Percentile};
    match (first, second) {
        (Percentile(one), Percentile(other)) if one != other => Some(one < other),
        (Minimum, Mean | Percentile(_) | Maximum) | (Mean | Percentile(_), Maximum) => Some(true),
        (Mean | Percentile(_) | Maximum, Minimum) | (Maximum, Mean | Percentile(_)) => Some(false),
        // A mean above the 95th percentile needs a tail that hardly any latency has.
        (Mean, Percentile(other)) if other >= 95.0 => Some(true),
        (Percentile(one), Mean) if one >= 95.0 => Some(false),
        _ => None,
    }
}

/// The statistic that a header names, and the rest of the header.
fn statistic(header: &str) -> Option<(Statistic, String)> {
    let lower = header.to_lowercase();
    // What stands in brackets is a unit, or it says which of several things a column is of.
    let is_unit = header_unit(header) != Unit::none();
    let bare = if is_unit { lower.split(['(', '[']).next().unwrap_or_default() } else { &lower };
    let bare = bare.replace('_', " ");
    let mut found = None;
    let mut rest = Vec::new();
    for word in bare.split_whitespace() {
        let percentile = word
            .strip_prefix('p')
            .or_else(|| word.strip_suffix("th").filter(|_| bare.contains("percentile")))
            .and_then(|digits| digits.parse::<f64>().ok())
            .filter(|value| (0.0..=100.0).contains(value));
        let statistic = match Statistic::named(word) {
            Some(Statistic::Median) => Some(Statistic::Percentile(50.0)),
            Some(Statistic::Deviation) => None,
            Some(other) => Some(other),
            None => {
                percentile.map(|value| Statistic::Percentile(if value < 1.0 { value * 100.0 } else { value }))
            }
        };
        match statistic {
            Some(_) if found.is_some() => return None,
            Some(statistic) => found = Some(statistic),
            None => rest.push(word.to_owned()),
        }
    }
    found.map(|statistic| (statistic, rest.join(" ")))
}
