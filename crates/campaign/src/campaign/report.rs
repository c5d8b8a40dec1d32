//! `report`: what tables show beside the headline.

use super::reading::ReadPolicy;
use crate::problem::Problem;
use crate::reader::{Collector, Table};

/// Reads the metrics that tables show, in their order.
pub(super) fn read(top: &mut Table<'_>, policy: &ReadPolicy, problems: &Collector<'_>) -> Vec<String> {
    let Some(mut table) = top.get("report").and_then(|item| item.table()) else { return Vec::new() };
    let texts = table.get("columns").and_then(|item| item.texts()).unwrap_or_default();
    table.finish();
    let mut columns: Vec<String> = Vec::new();
    for text in texts {
        if policy.metric(&text.value).is_none() {
            problems.add(policy.unknown(&text));
        } else if columns.contains(&text.value) {
            let problem = Problem::error(format!("`{}` is a column already", text.value));
            problems.add(problem.at(text.span.clone()).label("given twice"));
        } else {
            columns.push(text.value);
        }
    }
    columns
}
