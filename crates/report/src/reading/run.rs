//! One run below the table of runs: in a few lines, or with everything.

use assay_model::{ReadRun, Status};

use super::{Detail, digest, facts, metrics, phases, series, settings};
use crate::block::TerminalBlock;
use crate::table::{Cell, Tone};

/// Series shown for a run in the short form.
const FEW_SERIES: usize = 2;

/// What there is to say of a run beyond its row in the table; nothing in the short form for a run that the row
/// shows in full.
pub fn blocks(run: &ReadRun, number: usize, detail: Detail, width: usize) -> Vec<TerminalBlock> {
    let full = detail == Detail::Full;
    let mut inside = status(run, full);
    match detail {
        Detail::Full => {
            inside.extend(settings::table(run));
            inside.extend(phases::table(run, true, width));
            inside.extend(metrics::table(run));
            inside.extend(series::table(run, usize::MAX));
        }
        Detail::Screen => {
            inside.extend(settings::mismatches(run));
            inside.extend(phases::table(run, false, width));
            inside.extend(digest::blocks(run));
        }
        Detail::Short => {
            inside.extend(settings::mismatches(run));
            inside.extend(phases::table(run, false, width));
            inside.extend(series::table(run, FEW_SERIES));
        }
        Detail::Lines => {
            inside.extend(settings::mismatches(run));
            inside.extend(phases::line(run));
            inside.extend(series::line(run, FEW_SERIES));
        }
    }
    inside.extend(hints(run));
    if inside.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![TerminalBlock::Gap, heading(run, number)];
    let mut after_table = false;
    for block in inside {
        let is_table = matches!(block, TerminalBlock::Table { .. });
        if after_table && (full || detail == Detail::Screen && is_table) {
            blocks.push(TerminalBlock::Gap);
        }
        after_table = is_table;
        blocks.push(block);
    }
    blocks
}

fn heading(run: &ReadRun, number: usize) -> TerminalBlock {
    let mut parts = vec![facts::lines_named(&run.span), facts::dialect(run)];
    parts.extend(run.title.clone());
    parts.retain(|part| !part.trim().is_empty());
    TerminalBlock::labelled(
        0,
        Cell::toned(format!("run {number}"), Tone::Strong),
        vec![Cell::new(format!("· {}", parts.join(" · ")))],
    )
}

/// How the run ended, where that is more than a word or everything is asked for.
fn status(run: &ReadRun, full: bool) -> Vec<TerminalBlock> {
    let stated = !matches!(run.status, Status::Succeeded | Status::Unknown);
    let clock = run.clock.and_then(facts::clock).filter(|_| full);
    if !stated && !full {
        return Vec::new();
    }
    let mut pieces = vec![match run.status {
        Status::Unknown => Cell::toned("exit status unknown", Tone::Faint),
        _ => Cell::toned(run.status.to_string(), facts::status_tone(&run.status)),
    }];
    pieces.extend(
        run.status_source.as_ref().map(|source| Cell::toned(format!("(line {})", source.line), Tone::Faint)),
    );
    if matches!(run.status, Status::GateFailed { .. }) {
        pieces.push(Cell::new("· its numbers are valid"));
    }
    pieces.extend(clock.map(|clock| Cell::new(format!("· {clock}"))));
    vec![TerminalBlock::labelled(4, Cell::default(), pieces)]
}

fn hints(run: &ReadRun) -> Vec<TerminalBlock> {
    run.hints
        .iter()
        .flat_map(|hint| {
            let line = format!("(line {})", hint.source.line);
            [
                TerminalBlock::labelled(
                    4,
                    Cell::toned("seen:", Tone::Doubt),
                    vec![Cell::new(hint.seen.clone()), Cell::toned(line, Tone::Faint)],
                ),
                TerminalBlock::labelled(4, Cell::new("hint:"), vec![Cell::new(hint.advice.clone())]),
            ]
        })
        .collect()
}
