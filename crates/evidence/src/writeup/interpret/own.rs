//! Settings that no dictionary knows: whatever stands left of the results and varies is what was varied, under the
//! name that its header gives it.

use assay_model::names::{self, setting};
use assay_model::{Role, Table, Unit};

use super::is_repeat;
use crate::vocabulary::{PrintedUnit, Vocabulary};
use crate::writeup::cell::cell;
use crate::writeup::units::unit_of;
use crate::writeup::vocabulary::words::words;

/// Words over columns that number, count or date rows rather than saying what was set.
const NOT_SET: [&str; 24] = [
    "run",
    "repeat",
    "repetition",
    "rep",
    "replicate",
    "trial",
    "attempt",
    "try",
    "n",
    "no",
    "nr",
    "id",
    "index",
    "row",
    "rank",
    "place",
    "job",
    "date",
    "day",
    "time",
    "year",
    "result",
    "value",
    "count",
];

/// Names the settings of a table that only its headers know.
pub(super) fn name_settings(table: &mut Table, rows: &[Vec<(String, u64)>]) {
    let is_metric = |role: &Role| matches!(role, Role::Metric(_));
    let Some(results) = table.columns.iter().position(|column| is_metric(&column.role)) else { return };
    let has_data_rate = table
        .columns
        .iter()
        .any(|column| matches!(&column.role, Role::Metric(name) if name.starts_with(names::BYTES_PER_S)));
    let mut taken: Vec<String> = Vec::new();
    for (index, column) in table.columns.iter_mut().take(results).enumerate() {
        let is_own = match &column.role {
            Role::Unknown => true,
            // Where data rates are measured, sizes and blocks are those of the data.
            Role::Setting(name) if name == setting::SEQUENCE_LENGTH => has_data_rate,
            Role::Setting(name) if name == setting::MODEL => is_data_size(&column.header),
            _ => false,
        };
        // `min` and `p99` left of a count are results whose noun the table leaves out.
        let result = super::statistic(&column.header).is_some()
            || Vocabulary::current().is_statistic(&column.header)
            || PrintedUnit::of_header(&column.header).is_some();
        let is_own = is_own && !result;
        let Some(name) = name(&column.header).filter(|name| is_own && !taken.contains(name)) else {
            continue;
        };
        if holds_numbers(rows, index) {
            taken.push(name.clone());
            column.role = Role::Setting(name);
        }
    }
}

/// `Size (MB)` is a size of data, while a bare `Size` names a model.
fn is_data_size(header: &str) -> bool {
    let inside = header.split(['(', '[']).nth(1).and_then(|rest| rest.split([')', ']']).next());
    let stated = inside.or_else(|| header.split_whitespace().next_back()).and_then(unit_of);
    stated.is_some_and(|(unit, _)| unit == Unit::Bytes)
}

/// The name that a header gives a setting: its words, without a unit in brackets.
fn name(header: &str) -> Option<String> {
    let bare = header.split(['(', '[']).next().unwrap_or_default().trim_start_matches(['#', ' ']);
    let words = words(bare);
    let is_name = !words.is_empty()
        && words.len() <= 4
        && words.iter().all(|word| !NOT_SET.contains(&word.as_str()))
        && !is_repeat(header)
        && bare.starts_with(char::is_alphabetic);
    is_name.then(|| words.join("_"))
}

/// Whether two rows or more hold bare numbers in a column, and all but a third of the rows do.
fn holds_numbers(rows: &[Vec<(String, u64)>], index: usize) -> bool {
    let numbers = rows
        .iter()
        .filter_map(|row| row.get(index))
        .filter(|(text, _)| cell(text, None).value.is_some())
        .count();
    numbers >= 2 && numbers * 3 >= rows.len() * 2
}

/// A row with fewer cells than there are headers, where repeats are numbered: it was repeated less often, so that its
/// last cells belong under the headers behind the repeats.
pub(super) fn with_fewer_repeats(table: &Table, row: &[(String, u64)]) -> Vec<(String, u64)> {
    let mut row = row.to_vec();
    let missing = table.columns.len().saturating_sub(row.len());
    let Some(last) = table.columns.iter().rposition(|column| is_repeat(&column.header)) else { return row };
    let is_summary =
        |header: &str| super::statistic(header).is_some() || super::metric_name(header).is_some();
    let behind = table.columns.get(last + 1..).unwrap_or_default();
    let repeats = table.columns.iter().filter(|column| is_repeat(&column.header)).count();
    let at = (last + 1).saturating_sub(missing);
    let line = row.get(at.saturating_sub(1)).map_or(0, |(_, line)| *line);
    if missing > 0
        && missing < repeats
        && !behind.is_empty()
        && behind.iter().all(|column| is_summary(&column.header))
        && at <= row.len()
    {
        row.splice(at..at, std::iter::repeat_n((String::new(), line), missing));
    }
    row
}
