//! Cells without a number where one is due: typing errors and `TBD`. An empty cell states nothing and is no error.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Document, Role, Table, TableCell};

use super::facts::Facts;
use super::grid::{self, Entry, Field};
use super::{Class, Finding, Level, wording};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let documents = facts.documents.iter();
    documents
        .flat_map(|document| document.tables.iter().filter_map(move |table| in_table(document, table)))
        .collect()
}

fn in_table(document: &Document, table: &Table) -> Option<Finding> {
    let entries = grid::entries(table);
    let mut lines = Vec::new();
    let mut sources = Vec::new();
    let columns = numbers_of_columns(&entries);
    for entry in &entries {
        for field in &entry.fields {
            let numeric = is_numeric(columns.get(&field.index).copied().unwrap_or_default(), field);
            let Some(problem) = problem(field.cell, numeric) else { continue };
            // A note that spans the row is no value.
            let text = field.cell.text.trim();
            let shared = entry.fields.iter().filter(|other| other.cell.text.trim() == text).count();
            if shared > 1 && text.contains(' ') {
                continue;
            }
            let header = [field.group, field.header.trim()].join(" ");
            lines.push(format!("{}, {}: {problem}", entry.label, header.trim()));
            sources.push(document.source(field.cell.line));
        }
    }
    let first = lines.first()?.clone();
    let count = wording::counted(lines.len(), "cell");
    Some(Finding {
        class: Class::BadCell,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: match lines.len() {
            1 => format!("One cell of the table has no number where one is due: {first}."),
            _ => format!("{count} of the table have no number where one is due, for example {first}."),
        },
        arithmetic: lines.into_iter().take(8).collect(),
        sources: sources.into_iter().take(8).collect(),
        advice: "Fill these cells from the raw output, or say why there is no number.".to_owned(),
    })
}

/// How many cells a column has, and how many of them are numbers.
#[derive(Clone, Copy, Default)]
struct Numbers {
    cells: usize,
    numbers: usize,
}

/// Counted once for the whole table: a table may have any number of rows.
fn numbers_of_columns(entries: &[Entry<'_>]) -> BTreeMap<usize, Numbers> {
    let mut columns: BTreeMap<usize, Numbers> = BTreeMap::new();
    for entry in entries {
        let mut seen = BTreeSet::new();
        for field in entry.fields.iter().filter(|field| seen.insert(field.index)) {
            let column = columns.entry(field.index).or_default();
            column.cells += 1;
            column.numbers += usize::from(field.cell.value.is_some());
        }
    }
    columns
}

/// Whether a number is due in a column: one of a metric that has any, or one without a name in which most cells have.
fn is_numeric(column: Numbers, field: &Field<'_>) -> bool {
    let Numbers { cells, numbers } = column;
    match field.role {
        Role::Metric(_) => numbers > 0,
        Role::Unknown => numbers >= 3 && numbers * 3 >= cells * 2,
        Role::Setting(_) | Role::Label | Role::Ratio => false,
    }
}

/// What is wrong with a cell, where a number is due.
fn problem(cell: &TableCell, numeric: bool) -> Option<String> {
    let text = cell.text.trim();
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if cell.value.is_some() || text.is_empty() {
        return None;
    }
    match &cell.problem {
        Some(problem) if has_digit => Some(problem.clone()),
        None if numeric && is_promise(text) => Some(format!("`{text}`")),
        _ => None,
    }
}

fn is_promise(text: &str) -> bool {
    matches!(text.to_lowercase().trim_matches(['?', '.', ' ']), "tbd" | "todo" | "tba" | "pending" | "xxx")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    #[test]
    fn typing_errors_and_promises_are_one_finding() {
        let with = |texts: [&str; 3]| {
            let mut document = document("a.md", |build| {
                build.table(
                    "nvidia",
                    &["batch_size", "time.forward"],
                    &[&[1.0, 0.1], &[2.0, 0.1], &[4.0, 0.1], &[8.0, 0.8]],
                );
            });
            for (row, text) in document.tables[0].rows.iter_mut().zip(texts) {
                row.cells[1] = TableCell { text: text.to_owned(), line: row.line, ..TableCell::default() };
                if text.ends_with("msa") {
                    row.cells[1].problem = Some(format!("letters behind the unit in `{text}`"));
                }
            }
            found(check, &[document])
        };
        let findings = with(["1069.6msa", "TBD", ""]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].arithmetic.len(), 2);
        assert!(with(["--", "", "..."]).is_empty());
    }
}
