//! What an audit found, for terminals, as Markdown and as one HTML file.

mod html;
mod markdown;
mod repeats;
mod series;
mod text;

use assay_audit::{Audit, Class, Finding, LONGEST_SOURCE, Level};
use assay_model::{Document, Source};

use crate::number::counted;
use crate::table::{Cell, Column, Table, Tone};
use crate::words::clean;

pub use html::html;
pub use markdown::markdown;
pub use text::text;

/// The sections in the order they are shown, each with its name, its mark and how it is meant.
const SECTIONS: [(Level, &str, &str, Tone); 4] = [
    (Level::Contradicted, "contradicted", "✗", Tone::Bad),
    (Level::Doubtful, "doubtful", "!", Tone::Doubt),
    (Level::NotChecked, "not checked", "?", Tone::Plain),
    (Level::Supported, "supported", "✓", Tone::Good),
];

/// The findings of one level, in the order the audit has them.
fn findings(audit: &Audit, level: Level) -> Vec<&Finding> {
    audit.findings.iter().filter(|finding| finding.level == level).collect()
}

/// The lines of arithmetic that say more than the summary does.
fn extra_arithmetic(finding: &Finding) -> Vec<&str> {
    let lines = finding.arithmetic.iter().map(String::as_str);
    lines.filter(|line| !finding.summary.contains(line)).collect()
}

/// The places of a finding, each once.
fn distinct(sources: &[Source]) -> Vec<&Source> {
    let mut found: Vec<&Source> = Vec::new();
    for source in sources {
        if !found.contains(&source) {
            found.push(source);
        }
    }
    found
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

/// How many claims have each level, the worst first.
fn counts(audit: &Audit) -> Vec<(usize, &'static str, Tone)> {
    SECTIONS.iter().map(|(level, name, _, tone)| (audit.count(*level), *name, *tone)).collect()
}

/// The coverage: `17 claims: 1 contradicted, 2 not checked, 14 supported`.
fn coverage(audit: &Audit) -> String {
    let parts: Vec<String> = counts(audit)
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, name, _)| format!("{count} {name}"))
        .collect();
    format!("{}: {}", counted(audit.findings.len() as u64, "claim"), parts.join(", "))
}

/// The audit in one sentence. "Sound" only where every claim was checked.
fn verdict(audit: &Audit, documents: &[Document]) -> (String, Tone) {
    let total = audit.findings.len();
    let open = audit.count(Level::NotChecked);
    let proposed = audit.findings.iter().filter(|finding| finding.class == Class::Assisted).count();
    let read = total > 0
        || documents.iter().any(|document| {
            !(document.runs.is_empty() && document.tables.is_empty() && document.statements.is_empty())
        });
    let text = if audit.count(Level::Contradicted) > 0 {
        return ("The document's own numbers contradict part of what it says.".to_owned(), Tone::Bad);
    } else if audit.count(Level::Doubtful) > 0 {
        return (
            "Nothing is contradicted, but some numbers do not follow from the others.".to_owned(),
            Tone::Doubt,
        );
    } else if !read {
        return (
            "Nothing to check: no run, no table and no claim with numbers was found.".to_owned(),
            Tone::Doubt,
        );
    } else if total == 0 {
        return ("Nothing to check: no claim relates numbers of the document.".to_owned(), Tone::Doubt);
    } else if open == total {
        let text = "No claim can be checked: what they relate is not clear from the document.";
        return (text.to_owned(), Tone::Doubt);
    } else if open > 0 {
        format!("Nothing wrong in the {} of {total} claims that can be checked.", total - open)
    } else if documents.iter().any(|document| document.text.len() > LONGEST_SOURCE) {
        let claims = counted(total as u64, "claim");
        format!("Nothing wrong in {claims} of the part that was read; the rest is too long.")
    } else if proposed > 0 {
        // What a model chose to relate is not what the document says beyond doubt.
        format!(
            "Nothing wrong in {}, {proposed} of them proposed by a model.",
            counted(total as u64, "claim")
        )
    } else {
        "Sound: every claim was checked, and nothing is contradicted or doubtful.".to_owned()
    };
    (text, Tone::Good)
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
        for (level, _, _, tone) in SECTIONS {
            let begins = |finding: &&Finding| {
                finding.level == level
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

/// The kind of a finding in words: `setting not in effect`.
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
