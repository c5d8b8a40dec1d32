//! Tables that name the metric in a column of its own: `Task | Metric | Value | Stderr`. Each metric becomes a column.

use assay_model::Unit;

use crate::vocabulary::{PrintedUnit, Vocabulary, with_percentiles};
use crate::writeup::markup::plain;
use crate::writeup::raw::RawTable;
use crate::writeup::vocabulary::metric_name;

/// More metrics than this are no columns.
const MOST_METRICS: usize = 40;

/// Headers over the names of metrics, over their values, and over how far these may be off.
const METRIC: [&str; 3] = ["metric", "metrics", "measure"];
const VALUE: [&str; 4] = ["value", "values", "score", "result"];
const ERROR: [&str; 4] = ["stderr", "std", "stdev", "error"];
/// Headers over the units of the values.
const UNIT: [&str; 2] = ["unit", "units"];

/// Turns a long table into a wide one.
pub(super) fn to_wide(raw: &mut RawTable) {
    let headers: Vec<String> = raw.header.iter().map(|text| plain(text).trim().to_lowercase()).collect();
    let only = |wanted: &[&str]| {
        let mut found = headers.iter().enumerate().filter(|(_, header)| wanted.contains(&header.as_str()));
        let first = found.next().map(|(place, _)| place);
        first.filter(|_| found.next().is_none())
    };
    let (Some(metric), Some(value)) = (only(&METRIC), only(&VALUE)) else { return };
    let error = only(&ERROR);
    let unit = only(&UNIT);
    let mut names: Vec<String> = Vec::new();
    for row in &raw.rows {
        let Some((text, _)) = row.get(metric) else { return };
        let name = name_of(text);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // A system whose column of metrics is its rows' only label is read as it stands.
    let others: Vec<usize> = (0..headers.len())
        .filter(|place| ![Some(metric), Some(value), error, unit].contains(&Some(*place)))
        .filter(|place| raw.rows.iter().any(|row| row.get(*place).is_some_and(|(text, _)| is_said(text))))
        .collect();
    if let Some(unit) = unit {
        with_units(raw, value, unit);
        // What is left is a table with its metrics in rows.
        if others.is_empty() {
            raw.header.remove(unit);
            raw.rows.iter_mut().filter(|row| row.len() > unit).for_each(|row| drop(row.remove(unit)));
            return;
        }
    }
    let known =
        |name: &&String| metric_name(name).is_some() || Vocabulary::current().metric(name, None).is_some();
    if others.is_empty()
        || names.is_empty()
        || names.len() > MOST_METRICS
        || names.iter().filter(known).count() * 2 < names.len()
    {
        return;
    }
    let mut header: Vec<String> = others.iter().filter_map(|place| raw.header.get(*place)).cloned().collect();
    for name in &names {
        header.push(name.clone());
        if error.is_some() {
            header.push(format!("{name} std"));
        }
    }
    let width = if error.is_some() { 2 } else { 1 };
    let mut rows: Vec<Vec<(String, u64)>> = Vec::new();
    for row in &raw.rows {
        let line = row.first().map_or(raw.first, |(_, line)| *line);
        let cell = |place: usize| row.get(place).cloned().unwrap_or_else(|| (String::new(), line));
        let labels: Vec<(String, u64)> = others.iter().map(|place| cell(*place)).collect();
        let name = name_of(&cell(metric).0);
        let Some(place) = names.iter().position(|known| *known == name) else { continue };
        let at = others.len() + place * width;
        // Rows that differ in their metric alone are one.
        let same = rows.last_mut().filter(|last| {
            let said =
                |cells: &[(String, u64)]| cells.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>();
            let labels_of_last = last.get(..others.len()).unwrap_or_default();
            said(labels_of_last) == said(&labels) && last.get(at).is_some_and(|(text, _)| text.is_empty())
        });
        let target = match same {
            Some(last) => last,
            None => {
                let mut fresh = labels;
                fresh.resize(others.len() + names.len() * width, (String::new(), line));
                rows.push(fresh);
                match rows.last_mut() {
                    Some(last) => last,
                    None => continue,
                }
            }
        };
        if let Some(found) = target.get_mut(at) {
            *found = cell(value);
        }
        if let (Some(error), Some(found)) = (error, target.get_mut(at + 1)) {
            *found = cell(error);
        }
    }
    (raw.header, raw.rows) = (header, rows);
}

/// Parts columns that hold several metrics: `PSNR / SSIM` over `33.07 / 0.972`.
pub(super) fn part_lists(raw: &mut RawTable) {
    for index in (0..raw.header.len()).rev() {
        let header = raw.header.get(index).map(|text| plain(text)).unwrap_or_default();
        let names: Vec<String> = header.split('/').map(|name| name.trim().to_owned()).collect();
        let known = |name: &String| {
            name.len() > 1
                && (metric_name(name).is_some() || Vocabulary::current().metric(name, None).is_some())
        };
        if names.len() < 2 || !names.iter().all(known) {
            continue;
        }
        let parts = |row: &Vec<(String, u64)>| {
            let (text, line) = row.get(index)?;
            let parts: Vec<(String, u64)> =
                plain(text).split('/').map(|part| (part.trim().to_owned(), *line)).collect();
            (parts.len() == names.len()).then_some(parts)
        };
        if raw.rows.iter().filter(|row| parts(row).is_some()).count() * 2 < raw.rows.len() {
            continue;
        }
        for row in &mut raw.rows {
            let line = row.get(index).map_or(raw.first, |(_, line)| *line);
            let parted = parts(row).unwrap_or_else(|| vec![(String::new(), line); names.len()]);
            if index < row.len() {
                row.splice(index..=index, parted);
            }
        }
        raw.header.splice(index..=index, names);
    }
}

/// Writes the unit of each row behind its value.
fn with_units(raw: &mut RawTable, value: usize, unit: usize) {
    for row in &mut raw.rows {
        let stated = row.get(unit).map(|(text, _)| plain(text).trim().to_owned()).unwrap_or_default();
        let Some((text, _)) = row.get_mut(value) else { continue };
        let bare = text.trim().ends_with(|last: char| last.is_ascii_digit());
        if bare && (stated == "%" || PrintedUnit::parse(&stated).is_some()) {
            *text = format!("{} {stated}", text.trim());
        }
    }
}

/// The name of a metric as the rows spell it.
fn name_of(text: &str) -> String {
    with_percentiles(plain(text).trim()).into_owned()
}

/// `Name (time in ms) | Min | Max`: statistics get the noun and the unit that the first column states for them.
pub(super) fn spell_out(raw: &mut RawTable) {
    let Some((first, others)) = raw.header.split_first_mut() else { return };
    let lower = plain(first).to_lowercase();
    let stated = lower.split_once("(time in ").and_then(|(_, rest)| rest.split_once(')'));
    let Some((unit, _)) = stated.filter(|(unit, _)| PrintedUnit::parse(unit).is_some()) else { return };
    let unit = unit.to_owned();
    for header in others.iter_mut().filter(|header| Vocabulary::current().is_statistic(header)) {
        *header = format!("time {header} ({unit})");
    }
    *first = "name".to_owned();
}

/// `Score | Error | Units`: the last column says what the scores are and in which unit.
pub(super) fn spell_units(raw: &mut RawTable) {
    let Some(last) = raw.header.len().checked_sub(1).filter(|last| *last > 0) else { return };
    let headed = raw.header.get(last).map(|text| plain(text).trim().to_lowercase()).unwrap_or_default();
    let score = raw.header.iter().position(|text| plain(text).trim().eq_ignore_ascii_case("score"));
    let (true, Some(score)) = (matches!(headed.as_str(), "unit" | "units"), score) else { return };
    let units: Vec<Option<PrintedUnit>> = raw
        .rows
        .iter()
        .map(|row| row.get(last).and_then(|(text, _)| PrintedUnit::parse(plain(text).trim())))
        .collect();
    // Rows in units of several kinds have no one name.
    let kind = |unit: &PrintedUnit| unit.unit == Unit::Seconds;
    let Some(Some(first)) = units.first() else { return };
    if !units.iter().all(|unit| unit.as_ref().is_some_and(|unit| kind(unit) && kind(first))) {
        return;
    }
    // The error of a score is one in its unit.
    let error = raw.header.iter().position(|text| plain(text).trim().eq_ignore_ascii_case("error"));
    for row in &mut raw.rows {
        let unit = row.get(last).map(|(text, _)| plain(text)).unwrap_or_default();
        let time = unit.trim().split('/').next().unwrap_or_default().to_owned();
        for place in [Some(score), error].into_iter().flatten() {
            if let Some((text, _)) = row.get_mut(place) {
                let number = text.trim_start_matches(['±', ' ']).trim_end_matches([' ', '±', '?']);
                *text = format!("{number} {time}");
            }
        }
    }
    if let Some(header) = raw.header.get_mut(score) {
        "time".clone_into(header);
    }
}

/// Whether a cell says something: arrows and signs say which direction is better.
fn is_said(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
