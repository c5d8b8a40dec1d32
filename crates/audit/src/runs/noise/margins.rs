//! Spreads that tables state beside their numbers.

use assay_model::{Role, TableCell};

use crate::runs::facts::Run;
use crate::runs::written::numbers;

/// Half of the interval, or the deviation, that is stated beside a metric: behind `±`, in a column of deviations, or
/// as the two ends of an interval.
pub(super) fn half(run: &Run<'_>, metric: &str) -> Option<f64> {
    let observation = run.observation(metric)?;
    let written = observation.written.as_deref().unwrap_or("");
    let half = behind_sign(written, observation.value)
        .or_else(|| run.value(&format!("{}.std", stem(metric))))
        .or_else(|| interval(run, observation.value, written))?;
    (half.is_finite() && half > 0.0).then_some(half)
}

/// A metric without the name of the statistic that was taken of it.
pub(super) fn stem(metric: &str) -> &str {
    [".median", ".mean"].iter().find_map(|suffix| metric.strip_suffix(suffix)).unwrap_or(metric)
}

/// How many runs a row says that its numbers rest on.
pub(super) fn stated_count(run: &Run<'_>) -> Option<usize> {
    let (table, row) = run.row()?;
    let is_count = |header: &str| {
        matches!(
            header.trim().to_lowercase().as_str(),
            "n" | "runs" | "repeats" | "repetitions" | "trials" | "replicates"
        )
    };
    let cells = table.columns.iter().zip(&row.cells);
    let count = cells.filter(|(column, _)| is_count(&column.header)).find_map(|(_, cell)| cell.value)?;
    (count.fract() == 0.0 && (1.0..1e6).contains(&count)).then_some(count as usize)
}

/// The number behind `±`, in the unit of the value before it.
fn behind_sign(written: &str, value: f64) -> Option<f64> {
    let (before, behind) = ["±", "+/-", "+-"].iter().find_map(|sign| written.split_once(sign))?;
    let (center, ..) = numbers(before).into_iter().next_back()?;
    let (spread, ..) = numbers(behind).into_iter().next()?;
    if behind.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').starts_with('%')
        && !before.contains('%')
    {
        return Some(value.abs() * spread / 100.0);
    }
    (center != 0.0).then(|| (value / center).abs() * spread)
}

/// Half the distance between the ends of an interval in the same row around the value.
fn interval(run: &Run<'_>, value: f64, written: &str) -> Option<f64> {
    let (table, row) = run.row()?;
    let (center, ..) = numbers(written).into_iter().next()?;
    let ends = |cell: &TableCell| -> Option<(f64, f64)> {
        let found = numbers(&cell.text);
        match found.as_slice() {
            [(low, ..), (high, ..)] if low <= &center && &center <= high => Some((*low, *high)),
            _ => None,
        }
    };
    let cells = table.columns.iter().zip(&row.cells);
    let (low, high) = cells
        .filter(|(column, _)| !matches!(column.role, Role::Setting(_)))
        .filter(|(column, _)| {
            let header = column.header.to_lowercase();
            header.contains("interval")
                || header.contains("ci")
                || header.contains("range")
                || header.contains("95")
        })
        .find_map(|(_, cell)| ends(cell))?;
    (center != 0.0).then(|| (value / center).abs() * (high - low) / 2.0)
}
