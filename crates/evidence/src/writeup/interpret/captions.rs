//! Columns that name systems or data sets, under a caption that names what was measured.

use assay_model::{Role, Table, Unit};

use crate::vocabulary::{MetricKind, PrintedUnit, Vocabulary};
use crate::writeup::Context;
use crate::writeup::cell::cell;

/// A caption of more words is a paragraph.
const LONGEST_CAPTION: usize = 24;

/// Names the columns of a table that names no metric itself.
pub(super) fn name_columns(
    table: &mut Table,
    rows: &[Vec<(String, u64)>],
    context: &Context,
    units: &mut [Option<(Unit, f64)>],
) {
    if table.columns.iter().any(|column| matches!(column.role, Role::Metric(_) | Role::Ratio)) {
        return;
    }
    let Some((name, unit)) = context.recent.last().and_then(|(_, text)| topic(text)) else { return };
    let kind = Vocabulary::current().kind(&name);
    let shares = kind == Some(MetricKind::Share);
    let percent = |(text, _): &(String, u64)| cell(text, None).unit == Some(Unit::Fraction);
    // A `detection rate` in percent is not a rate.
    if kind == Some(MetricKind::Rate) && rows.iter().flatten().any(percent) {
        return;
    }
    let values =
        rows.iter().flat_map(|row| row.iter().skip(1)).filter_map(|(text, _)| cell(text, None).value);
    if shares && values.fold(0.0, f64::max) > 100.0 {
        return;
    }
    for (index, column) in table.columns.iter_mut().enumerate().skip(1) {
        let numbers = rows.iter().filter_map(|row| row.get(index));
        let numbers = numbers.filter(|(text, _)| cell(text, None).value.is_some()).count();
        let named = column.header.chars().any(char::is_alphabetic);
        if column.role != Role::Unknown || numbers * 2 < rows.len() && numbers < 3 || !named {
            continue;
        }
        column.role = Role::Metric(name.clone());
        if let Some(known) = units.get_mut(index).filter(|known| known.is_none()) {
            *known = Some(unit.clone());
        }
    }
}

/// The metric and unit that a caption states.
fn topic(caption: &str) -> Option<(String, (Unit, f64))> {
    if caption.split_whitespace().count() > LONGEST_CAPTION {
        return None;
    }
    let vocabulary = Vocabulary::current();
    let (mut head, mut unit) = (caption, None);
    for (open, _) in caption.match_indices('(') {
        let inside = caption.get(open + 1..).and_then(|rest| rest.split(')').next()).unwrap_or_default();
        // `GB per GPU` are gigabytes.
        let plain = inside.split_once(" per ").map_or(inside, |(above, _)| above);
        if let Some(found) = PrintedUnit::parse(inside).or_else(|| PrintedUnit::parse(plain)) {
            (head, unit) = (caption.get(..open).unwrap_or_default(), Some(found));
            break;
        }
    }
    let named = vocabulary.topic(head, unit.as_ref())?;
    Some((named.name(), (named.unit, named.factor)))
}
