//! What was read from files, for people: runs with how they ended, settings, phases, metrics, series and hints.

mod digest;
mod facts;
mod metrics;
mod naming;
mod phases;
mod run;
mod runs;
mod series;
mod settings;
mod writing;

use assay_model::Document;

use crate::block::{LayoutOptions, TerminalBlock};
use crate::number::counted;
use crate::table::{Cell, Tone};

pub(crate) use facts::lines as span_lines;
pub use facts::place;
pub(crate) use metrics::rank as metric_rank;
pub use naming::{names, plain_title};
pub use phases::lines as timeline_lines;
pub(crate) use runs::table as runs_table;
pub use settings::{Compared, compared, effective};

/// So few runs get a screen of their own.
const FEW_RUNS: usize = 2;
/// Of more runs than these, phases and series are stated in a line each.
const MANY_RUNS: usize = 6;

/// How much is described a run below the table of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// In lines.
    Lines,
    /// With phases and series as small tables.
    Short,
    /// On one screen: how metrics went, how long it took, what looks wrong.
    Screen,
    /// With everything.
    Full,
}

/// All that was read, document by document.
pub fn summary(documents: &[Document], options: &LayoutOptions) -> Vec<TerminalBlock> {
    let runs: usize = documents.iter().map(|document| document.runs.len()).sum();
    let detail = match runs {
        _ if options.full => Detail::Full,
        0..=FEW_RUNS => Detail::Screen,
        runs if runs > MANY_RUNS => Detail::Lines,
        _ => Detail::Short,
    };
    let mut blocks = Vec::new();
    for document in documents {
        if !blocks.is_empty() {
            blocks.push(TerminalBlock::Gap);
        }
        blocks.push(heading(document));
        if !document.runs.is_empty() {
            blocks.push(TerminalBlock::Gap);
            let full = matches!(detail, Detail::Full | Detail::Screen);
            blocks.push(TerminalBlock::Table { indent: 0, table: runs::table(document, full) });
        }
        for (index, run) in document.runs.iter().enumerate() {
            blocks.extend(run::blocks(run, index + 1, detail, options.width));
        }
        if detail == Detail::Full {
            blocks.extend(writing::blocks(document, options.width));
        }
    }
    blocks
}

fn heading(document: &Document) -> TerminalBlock {
    let found = [
        (document.runs.len(), "run"),
        (document.tables.len(), "table"),
        (document.statements.len(), "statement"),
    ];
    let parts: Vec<String> = found
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, thing)| counted(*count as u64, thing))
        .collect();
    let found = if parts.is_empty() { "nothing that looks like a run".to_owned() } else { parts.join(", ") };
    let lines = counted(document.lines, "line");
    TerminalBlock::labelled(
        0,
        Cell::default(),
        vec![Cell::toned(document.file.clone(), Tone::Strong), Cell::new(format!("· {lines}: {found}"))],
    )
}

#[cfg(test)]
mod tests;
