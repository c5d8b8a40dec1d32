//! The audit as Markdown.

use std::fmt::Write;

use assay_audit::{Audit, Finding};
use assay_model::{Document, ReadRun};

use super::{SECTIONS, class_words, coverage, documents_table, findings, repeats, title, verdict};
use crate::block::WIDTH;
use crate::markdown::{code, code_block, escape, render};
use crate::reading::{names, place, timeline_lines};

/// The whole audit.
pub fn markdown(audit: &Audit, documents: &[Document]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# {}\n", escape(&title(documents)));
    let _ = writeln!(out, "{}\n", verdict(audit, documents).0);
    let _ = writeln!(out, "**{}**", coverage(audit));
    for (level, name, _, _) in SECTIONS {
        let findings = findings(audit, level);
        if !findings.is_empty() {
            let _ = writeln!(out, "\n## {}", capital(name));
            findings.iter().for_each(|finding| push_finding(&mut out, finding));
        }
    }
    if let Some(table) = repeats::table(audit) {
        let _ = write!(out, "\n## Repeats\n\n{}", render(&table));
    }
    push_timelines(&mut out, documents);
    if !documents.is_empty() {
        let _ = write!(out, "\n## What was read\n\n{}", render(&documents_table(audit, documents)));
    }
    out
}

fn push_finding(out: &mut String, finding: &Finding) {
    let _ = writeln!(out, "\n### {}\n", escape(&finding.summary));
    let places: Vec<String> =
        super::distinct(&finding.sources).into_iter().map(|source| code(&place(source))).collect();
    let at = if places.is_empty() { String::new() } else { format!(" · {}", places.join(", ")) };
    let _ = writeln!(out, "*{}*{at}", class_words(finding.class));
    let arithmetic = super::extra_arithmetic(finding);
    if !arithmetic.is_empty() {
        let lines: Vec<String> = arithmetic.into_iter().map(crate::words::clean).collect();
        let _ = write!(out, "\n{}", code_block(&lines.join("\n")));
    }
    if !finding.advice.is_empty() {
        let _ = writeln!(out, "\n**What to do:** {}", escape(&finding.advice));
    }
}

/// The timelines of the runs that have one, as text.
fn push_timelines(out: &mut String, documents: &[Document]) {
    let runs: Vec<(&Document, &ReadRun)> =
        documents.iter().flat_map(|document| document.runs.iter().map(move |run| (document, run))).collect();
    let timed: Vec<((&Document, &ReadRun), String)> = runs
        .into_iter()
        .filter_map(|(document, run)| Some(((document, run), timeline_lines(run, WIDTH)?)))
        .collect();
    if timed.is_empty() {
        return;
    }
    out.push_str("\n## Where the time went\n");
    let names = names(&timed.iter().map(|(run, _)| *run).collect::<Vec<_>>());
    for (((document, run), lines), name) in timed.iter().zip(names) {
        let at = code(&format!("{}:{}", document.file, run.span.first));
        let _ = write!(out, "\n### {} · {at}\n\n{}", escape(&name), code_block(lines));
    }
}

/// The text with its first letter as a capital.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
