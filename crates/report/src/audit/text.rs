//! The audit for terminals.

use assay_audit::{Audit, Finding, Level};
use assay_model::{Document, Source};

use super::{
    SECTIONS, coverage, distinct, documents_table, extra_arithmetic, findings, read_counts, repeats, title,
    verdict,
};
use crate::block::{LayoutOptions, TerminalBlock};
use crate::reading::place;
use crate::table::{Cell, Tone};

/// Places shown for a finding in the short form.
const FEW_PLACES: usize = 3;

/// The audit as blocks. The short form lists only what is wrong.
pub fn text(audit: &Audit, documents: &[Document], options: &LayoutOptions) -> Vec<TerminalBlock> {
    let mut blocks = head(audit, documents);
    for (level, name, mark, tone) in SECTIONS {
        let findings = findings(audit, level);
        let hidden = matches!(level, Level::NotChecked | Level::Supported) && !options.full;
        if findings.is_empty() || hidden {
            continue;
        }
        blocks.push(TerminalBlock::Gap);
        blocks.push(TerminalBlock::toned(0, name.to_uppercase(), Tone::Strong));
        for finding in findings {
            blocks.extend(finding_blocks(finding, mark, tone, options));
        }
    }
    let open = audit.count(Level::NotChecked);
    if open > 0 && !options.full {
        let text = "`--claims` lists every claim, also those that were not checked";
        blocks.push(TerminalBlock::Gap);
        blocks.push(TerminalBlock::labelled(0, Cell::new("hint:"), vec![Cell::new(text)]));
    }
    for (index, (label, table)) in repeats::by_label(audit).into_iter().enumerate() {
        blocks.push(TerminalBlock::Gap);
        if index == 0 {
            blocks.push(TerminalBlock::toned(0, "RUNS OF THE SAME THING", Tone::Strong));
        }
        blocks.push(TerminalBlock::plain(2, label));
        blocks.push(TerminalBlock::Table { indent: 4, table });
    }
    blocks
}

fn head(audit: &Audit, documents: &[Document]) -> Vec<TerminalBlock> {
    let mut first = vec![Cell::toned(title(documents), Tone::Strong)];
    if let [document] = documents {
        first.push(Cell::new(format!("· {}", read_counts(document))));
    }
    let (sentence, tone) = verdict(audit, documents);
    let mut blocks = vec![TerminalBlock::labelled(0, Cell::default(), first)];
    if !audit.findings.is_empty() {
        blocks.push(TerminalBlock::toned(0, coverage(audit), Tone::Plain));
    }
    blocks.push(TerminalBlock::toned(0, sentence, tone));
    if documents.len() > 1 {
        blocks.push(TerminalBlock::Gap);
        let mut table = documents_table(audit, documents);
        // The names of the sections are wide, and their marks stand beside them in the line above.
        for (_, name, mark, _) in SECTIONS {
            table
                .columns
                .iter_mut()
                .filter(|column| column.name == name)
                .for_each(|column| column.name = mark.to_owned());
        }
        blocks.push(TerminalBlock::Table { indent: 0, table });
    }
    blocks
}

fn finding_blocks(finding: &Finding, mark: &str, tone: Tone, options: &LayoutOptions) -> Vec<TerminalBlock> {
    let summary = vec![Cell::new(finding.summary.clone())];
    let mut blocks = vec![TerminalBlock::labelled(2, Cell::toned(mark, tone), summary)];
    for line in extra_arithmetic(finding) {
        blocks.push(TerminalBlock::plain(6, line));
    }
    let places = places(&finding.sources, options.full);
    if !places.is_empty() {
        blocks.push(TerminalBlock::labelled(
            4,
            Cell::toned("at", Tone::Faint),
            vec![Cell::toned(places, Tone::Faint)],
        ));
    }
    if !finding.advice.is_empty() {
        blocks.push(TerminalBlock::labelled(4, Cell::new("hint:"), vec![Cell::new(finding.advice.clone())]));
    }
    blocks
}

fn places(sources: &[Source], full: bool) -> String {
    let most = if full { usize::MAX } else { FEW_PLACES };
    let sources = distinct(sources);
    let mut shown: Vec<String> = sources.iter().take(most).map(|source| place(source)).collect();
    if let Some(more) = sources.len().checked_sub(most).filter(|more| *more > 0) {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}
