//! Column names that stand on several lines: groups above statistics, units below names.

use super::{Column, header_metric};
use crate::generic::naming::LineContext;
use crate::vocabulary::{PrintedUnit, Vocabulary, split_unit};

/// The words of a line that wide gaps part, and where each begins. A comment sign at its start is none.
pub(super) fn phrases(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split("  ").flat_map(|part| part.split_inclusive('\t')) {
        let start = text.get(at..).and_then(|rest| rest.find(part)).map_or(at, |place| at + place);
        at = start + part.len();
        let plain = part.trim_matches([' ', '\t', '#', '|']);
        if !plain.is_empty() {
            found.push((plain.to_owned(), start + part.find(plain).unwrap_or(0)));
        }
    }
    found
}

/// Names columns that are statistics of something: of what the line above names over each group of them, of what the
/// heading names, or of what the first column says in parentheses (`Name (time in ms)`).
pub(super) fn name_statistics(
    columns: &mut Vec<Column>,
    above: &str,
    context: &LineContext,
    vocabulary: &Vocabulary,
) {
    let is_statistic = |column: &Column| vocabulary.is_statistic(&column.text);
    let count = columns.iter().filter(|column| is_statistic(column)).count();
    if count < 2 {
        return;
    }
    if count == columns.len() {
        let first = columns.first().map(|column| column.text.clone()).unwrap_or_default();
        let groups = columns.iter().filter(|column| column.text == first).count();
        let mut named = phrases(above);
        let metric = |text: &str| {
            let (phrase, unit) = split_unit(text);
            header_metric(&phrase, unit.as_ref(), vocabulary).is_some()
        };
        let over = named.split_off(named.len().saturating_sub(groups));
        if over.len() == groups && over.iter().all(|(text, _)| metric(text)) {
            let width = columns.len() / groups.max(1);
            for (place, column) in columns.iter_mut().enumerate() {
                if let Some((text, _)) = over.get(place / width.max(1)) {
                    column.text = of(text, &column.text);
                }
            }
            let leading = named.into_iter().map(|(text, start)| Column { text, counter: None, start });
            columns.splice(0..0, leading);
            return;
        }
        if let Some(heading) = context.key.as_deref().filter(|heading| metric(heading)) {
            columns.iter_mut().for_each(|column| column.text = of(heading, &column.text));
        }
        return;
    }
    // `Name (time in ms)  Min  Max  Mean`.
    let Some(about) = columns.first().map(|column| column.text.to_ascii_lowercase()) else { return };
    let unit = about.split_once("time in ").map(|(_, unit)| unit.to_owned());
    let unit = unit.filter(|unit| PrintedUnit::parse(unit).is_some());
    if let Some(unit) = unit {
        for column in columns.iter_mut().filter(|column| is_statistic(column)) {
            column.text = format!("time {} ({unit})", column.text);
        }
    }
}

/// `Time, us` and `avg`: `Time avg (us)`.
fn of(group: &str, statistic: &str) -> String {
    let group = group.trim_end_matches(':');
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((head, tail)) = group.split_once(open)
            && let Some((inside, _)) = tail.split_once(close)
        {
            return format!("{} {statistic} ({inside})", head.trim());
        }
    }
    match group.split_once(',') {
        Some((head, unit)) if PrintedUnit::parse(unit).is_some() => {
            format!("{} {statistic} ({})", head.trim(), unit.trim())
        }
        _ => format!("{group} {statistic}"),
    }
}

/// Gives columns of one name the words that the line above writes over them: `out-of-place` and `in-place`.
pub(super) fn name_groups(columns: &mut [Column], above: &str) {
    let groups = phrases(above);
    if groups.len() < 2 || above.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    let texts: Vec<String> = columns.iter().map(|column| column.text.clone()).collect();
    for (place, column) in columns.iter_mut().enumerate() {
        let same = texts.iter().filter(|text| **text == column.text).count();
        let before = texts.iter().take(place).filter(|text| **text == column.text).count();
        if same == groups.len()
            && let Some((group, _)) = groups.get(before)
        {
            column.text = format!("{} {}", group.replace(['-', ' ', '_'], ""), column.text);
        }
    }
}

/// Adds the units that a line below the column names states: `(us)  (GB/s)  (GB/s)`.
pub(super) fn with_units(columns: &[Column], text: &str) -> Option<Vec<Column>> {
    let units = phrases(text);
    let bracketed = |text: &str| text.starts_with('(') && text.ends_with(')');
    // `KiB/s   %   MIPS   MIPS`: a line of nothing but units.
    let plain = |text: &str| {
        !bracketed(text) && (PrintedUnit::parse(text).is_some() || ["MIPS", "#"].contains(&text))
    };
    let bare = units.len() >= 3 && units.iter().all(|(text, _)| plain(text));
    if units.is_empty() || !bare && !units.iter().all(|(text, _)| bracketed(text)) {
        return None;
    }
    let mut found = columns.to_vec();
    let mut known = 0;
    for (unit, start) in units {
        let end = start + unit.len();
        // Columns of numbers are aligned at their ends, words at their starts.
        let distance = |column: &Column| {
            let ends = column.start + column.text.rsplit(' ').next().unwrap_or_default().len();
            ends.abs_diff(end).min(column.start.abs_diff(start))
        };
        let Some(column) = found.iter_mut().min_by_key(|column| distance(column)) else { continue };
        if PrintedUnit::parse(unit.trim_matches(['(', ')'])).is_some() && !column.text.ends_with(')') {
            column.text = match bare {
                true => format!("{} ({unit})", column.text),
                false => format!("{} {unit}", column.text),
            };
            known += 1;
        }
    }
    (known > 0).then_some(found)
}
