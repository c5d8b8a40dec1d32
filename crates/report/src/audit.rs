//! What an audit found, for terminals, as Markdown and as one HTML file.

mod html;
mod markdown;
mod repeats;
mod series;
mod text;

use assay_audit::{Audit, Class, Finding, Standing};
use assay_model::Document;

use crate::number::counted;
use crate::table::{Cell, Column, Table, Tone};
use crate::words::clean;

pub use html::html;
pub use markdown::markdown;
pub use text::text;

/// The sections in the order they are shown, each with its name, its mark and how it is meant.
const SECTIONS: [(Standing, &str, &str, Tone); 4] = [
    (Standing::Contradicted, "contradicted", "✗", Tone::Bad),
    (Standing::Doubtful, "doubtful", "!", Tone::Doubt),
    (Standing::Open, "cannot be told", "?", Tone::Plain),
    (Standing::Supported, "supported", "✓", Tone::Good),
];

/// The findings of one standing, in the order the audit has them.
fn findings(audit: &Audit, standing: Standing) -> Vec<&Finding> {
    audit.findings.iter().filter(|finding| finding.standing == standing).collect()
}

/// What was audited.
fn title(documents: &[Document]) -> String {
    match documents {
        [] => "Audit".to_owned(),
        [one] => clean(&format!("Audit of {}", one.file)),
        [one, two] => clean(&format!("Audit of {} and {}", one.file, two.file)),
        many => format!("Audit of {} files", many.len()),
    }
}

/// The counts, the worst first: `2 contradicted · 1 doubtful`.
fn counts(audit: &Audit) -> Vec<(usize, &'static str, Tone)> {
    SECTIONS
        .iter()
        .map(|(standing, name, _, tone)| (findings(audit, *standing).len(), *name, *tone))
        .collect()
}

/// The audit in one sentence.
fn verdict(audit: &Audit, documents: &[Document]) -> (&'static str, Tone) {
    let any = |standing| audit.findings.iter().any(|finding| finding.standing == standing);
    let read = documents.iter().any(|document| {
        !(document.runs.is_empty() && document.tables.is_empty() && document.statements.is_empty())
    });
    if any(Standing::Contradicted) {
        ("The evidence contradicts part of what is stated.", Tone::Bad)
    } else if any(Standing::Doubtful) {
        ("Nothing is contradicted, but not every number means what it is taken for.", Tone::Doubt)
    } else if !read {
        ("Nothing to check: no run, no table and no statement with numbers was found.", Tone::Doubt)
    } else if any(Standing::Open) {
        ("Sound as far as can be told: nothing is contradicted and nothing is doubtful.", Tone::Good)
    } else {
        ("Sound: nothing is contradicted and nothing is doubtful.", Tone::Good)
    }
}

/// What was read, a row for each document with how many findings begin in it.
fn documents_table(audit: &Audit, documents: &[Document]) -> Table {
    let mut table = Table {
        columns: vec![
            Column::left("file"),
            Column::right("lines"),
            Column::right("runs"),
            Column::right("tables"),
            Column::right("statements"),
        ],
        ..Table::default()
    };
    table.columns.extend(SECTIONS.iter().map(|(_, name, _, _)| Column::right(*name)));
    for document in documents {
        let mut row = vec![
            Cell::new(clean(&document.file)),
            Cell::new(document.lines.to_string()),
            Cell::new(document.runs.len().to_string()),
            Cell::new(document.tables.len().to_string()),
            Cell::new(document.statements.len().to_string()),
        ];
        for (standing, _, _, tone) in SECTIONS {
            let begins = |finding: &&Finding| {
                finding.standing == standing
                    && finding.sources.first().is_some_and(|source| source.file == document.file)
            };
            let count = audit.findings.iter().filter(begins).count();
            row.push(Cell::toned(count.to_string(), if count > 0 { tone } else { Tone::Faint }));
        }
        table.rows.push(row);
    }
    table
}

/// What was read from one document, in a few words.
fn read_counts(document: &Document) -> String {
    let parts = [
        counted(document.lines, "line"),
        counted(document.runs.len() as u64, "run"),
        counted(document.tables.len() as u64, "table"),
        counted(document.statements.len() as u64, "statement"),
    ];
    parts.join(", ")
}

/// The kind of a finding in words: `setting not in force`.
fn class_words(class: Class) -> String {
    let mut words = String::new();
    for letter in format!("{class:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests;
