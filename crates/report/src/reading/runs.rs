//! All runs of a document as one table, a row each.

use assay_model::{Document, ReadRun, Status, Value};

use super::facts;
use super::metrics::{drop_empty_columns, short};
use super::settings::{compared, effective};
use crate::table::{Cell, Column, Table, Tone};

/// Settings shown for a run in the short form.
const FEW_SETTINGS: usize = 4;
/// Metrics shown for a run in the short form.
const FEW_METRICS: usize = 3;

/// The runs of a document. What all of them share stands above the table, so that the rows show what differs.
pub fn table(document: &Document, full: bool) -> Table {
    let common = common(&document.runs);
    let shared_status = shared_status(&document.runs);
    let mut table = Table {
        columns: vec![
            Column::right("run"),
            Column::left("lines"),
            Column::left("dialect"),
            Column::left("status"),
            Column::left("settings"),
            Column::left("metrics"),
        ],
        ..Table::default()
    };
    for (index, run) in document.runs.iter().enumerate() {
        let most = if full { usize::MAX } else { FEW_SETTINGS };
        let settings: Vec<String> = compared(run)
            .iter()
            .filter(|setting| setting.mismatch || !common.iter().any(|(name, _)| *name == setting.name))
            .map(super::Compared::short)
            .collect();
        let more = settings.len().saturating_sub(most);
        let mut shown = settings.into_iter().take(most).collect::<Vec<_>>().join(" ");
        if more > 0 {
            shown.push_str(&format!(" +{more}"));
        }
        let mismatch = shown.contains('≠');
        let status = if shared_status.is_some() { "" } else { word(&run.status) };
        table.rows.push(vec![
            Cell::new((index + 1).to_string()),
            Cell::toned(facts::lines(&run.span), Tone::Faint),
            Cell::new(facts::dialect(run)),
            Cell::toned(status, facts::status_tone(&run.status)),
            Cell::toned(shown, if mismatch { Tone::Bad } else { Tone::Plain }),
            Cell::new(short(run, FEW_METRICS)),
        ]);
    }
    drop_empty_columns(&mut table);
    table.heading = heading(&common, shared_status);
    table
}

fn word(status: &Status) -> &'static str {
    match status {
        Status::GateFailed { .. } => "gate failed",
        Status::DoesNotFit { .. } => "does not fit",
        Status::TimedOut { .. } => "timed out",
        other => other.word(),
    }
}

fn heading(common: &[(&str, &Value)], status: Option<&Status>) -> Vec<String> {
    let mut parts: Vec<String> = common.iter().map(|(name, value)| format!("{name}={value}")).collect();
    match status {
        Some(Status::Unknown) => parts.push("exit status unknown".to_owned()),
        Some(status) => parts.push(word(status).to_owned()),
        None => {}
    }
    if parts.is_empty() {
        Vec::new()
    } else {
        vec![crate::words::clean(&format!("in all runs: {}", parts.join(", ")))]
    }
}

/// The status of all runs, where there are several and they share it.
fn shared_status(runs: &[ReadRun]) -> Option<&Status> {
    let (first, rest) = runs.split_first()?;
    let shared = !rest.is_empty() && rest.iter().all(|run| run.status.word() == first.status.word());
    shared.then_some(&first.status)
}

/// The settings in effect that all runs share, where there are several.
fn common(runs: &[ReadRun]) -> Vec<(&str, &Value)> {
    let Some((first, rest)) = runs.split_first() else { return Vec::new() };
    if rest.is_empty() {
        return Vec::new();
    }
    let others: Vec<Vec<(&str, &Value)>> = rest.iter().map(effective).collect();
    let mut common = effective(first);
    common.retain(|setting| others.iter().all(|other| other.contains(setting)));
    common
}
