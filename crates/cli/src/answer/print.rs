//! An answer on the terminal: its tables, its gates, and why runs failed.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use assay_judge::GateResult;
use assay_judge::findings::Finding;
use assay_judge::gather::split_settings;
use assay_model::{RunId, names};
use assay_report::number::counted;
use assay_report::{Cell, TerminalBlock};
use assay_store::{Index, Record, RunFilter, open_unlinked};

use super::findings::{findings, knees};
use super::{MOST_ROWS, gates, judged_for_people, layout};
use crate::records;
use crate::screen::Screen;

/// The most findings that are printed without `--all`.
const MOST_FINDINGS: usize = 10;
/// The most reasons for failures that are printed.
const MOST_FAILURES: usize = 5;

/// Prints the tables of a record: those of its `[report]`, then the one of the metric.
pub fn print_table(
    record: &Record,
    index: &Index,
    metric: Option<&str>,
    all: bool,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let most = if all { usize::MAX } else { MOST_ROWS };
    let (answer, subject) = judged_for_people(index, metric, most)?;
    let mut tables = if metric.is_none() { layout::tables(index, &subject)? } else { Vec::new() };
    tables.push(assay_report::answer::table(&answer, subject.question(), most));
    layout::without_repeated_titles(&mut tables);
    for (position, table) in tables.iter().enumerate() {
        if position > 0 {
            screen.data("\n")?;
        }
        screen.table(table)?;
    }
    print_findings(&findings(index, metric)?, all, screen)?;
    records::warn_of_damage(record, &subject.summary.damage, screen);
    Ok(())
}

/// Prints what latency does over the sizes of a load, if there are enough of them to say.
pub fn print_knees(index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    print_findings(&knees(index, &[names::TTFT, names::E2E])?, true, screen)
}

/// Prints the findings as a list.
fn print_findings(found: &[Finding], all: bool, screen: &mut Screen) -> anyhow::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let most = if all { usize::MAX } else { MOST_FINDINGS };
    let mut blocks = vec![TerminalBlock::Gap, TerminalBlock::plain(0, "Findings")];
    let item =
        |finding: &Finding| TerminalBlock::labelled(0, Cell::new("-"), vec![Cell::new(finding.text.clone())]);
    blocks.extend(found.iter().take(most).map(item));
    if found.len() > most {
        blocks
            .push(TerminalBlock::plain(2, format!("… and {} more: `assay show --all`", found.len() - most)));
    }
    screen.blocks(|_| blocks)?;
    Ok(())
}

/// Checks the record against its gates and prints the results.
pub fn print_gates(record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<Vec<GateResult>> {
    let results = gates(record, index)?;
    if !results.is_empty() {
        screen.data("\n")?;
        screen.table(&assay_report::gates::table(&results))?;
    }
    Ok(results)
}

/// Prints why runs failed, each reason once, with the last line that an example of it printed; then what was noticed about
/// runs that succeeded.
pub fn print_failures(record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    for failure in index.failures()?.iter().take(MOST_FAILURES) {
        let runs = counted(failure.runs, "run");
        let reason = match failure.reason.strip_prefix("does not fit") {
            Some(rest) if failure.runs > 1 => format!("do not fit{rest}"),
            _ => failure.reason.clone(),
        };
        let example = run_label(index, &failure.example)?;
        screen.warn(&format!("{runs} {reason}, for example {example}"));
        let example = RunFilter { run: Some(failure.example.clone()), ..RunFilter::default() };
        for row in index.runs(&example)? {
            let directory = record.run_directory(&row.directory);
            let last = ["stderr.log", "stdout.log"].iter().find_map(|file| {
                let path = directory.join(file);
                Some((last_line(&path, &failure.hints)?, path))
            });
            if let Some((line, path)) = last {
                screen.say(&format!("  last line of {}: {line}", records::shown(&path)));
            }
        }
        for hint in &failure.hints {
            screen.hint(hint);
        }
    }
    for doubt in index.doubts()?.iter().take(MOST_FAILURES) {
        let (runs, example) = (counted(doubt.runs, "run"), run_label(index, &doubt.example)?);
        let such = if doubt.runs > 1 { "for example " } else { "" };
        screen.warn(&format!("{runs} ({such}{example}): {}", doubt.text));
    }
    Ok(())
}

/// The settings that distinguish a run's cell, and its repeat.
fn run_label(index: &Index, run: &RunId) -> anyhow::Result<String> {
    let cells = index.cells()?;
    let (varied, _) = split_settings(cells.iter().map(|cell| &cell.settings));
    let cell = cells.iter().find(|cell| cell.cell == run.cell);
    let words = varied.iter().filter_map(|name| Some(format!("{name}={}", cell?.settings.get(name)?)));
    Ok(words.chain([run.leaf()]).collect::<Vec<_>>().join(" "))
}

/// The last line of a log that is meant for people, without control characters; none of the hints, which are printed
/// anyway.
fn last_line(path: &Path, hints: &[String]) -> Option<String> {
    const END: u64 = 4096;
    // A run may have left a pipe in its place, which would be waited for, or a link to somebody's file.
    let mut file = open_unlinked(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // Nobody knows how a line begins whose beginning was not read, unless it is the only one.
    let whole = text.split_once(['\n', '\r']).filter(|(_, rest)| length > END && !rest.trim().is_empty());
    let text = whole.map_or(text.as_str(), |(_, rest)| rest);
    // Lines of built-in workloads are for programs; the reason of a failure is printed above.
    let is_hint =
        |line: &str| line.strip_prefix("hint: ").is_some_and(|hint| hints.iter().any(|one| one == hint));
    let for_people = |line: &&str| !line.is_empty() && !line.starts_with("{\"assay\":") && !is_hint(line);
    let line = text.lines().rev().map(str::trim).find(for_people)?;
    Some(line.chars().filter(|letter| !letter.is_control()).take(200).collect())
}
