//! `show`: print what a record says.

pub mod layout;

use assay_judge::gather::{gather, metrics};
use assay_judge::{Answer, Evidence, GateResult, MetricSummary, answer};
use assay_model::{Bound, PlanInForce, Status};
use assay_report::number::{counted, duration, single};
use assay_report::{Cell, Column, Table, Tone};
use assay_store::{Index, Record, RunFilter, Summary};
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::JSON_SCHEMA;
use crate::exit::Exit;
use crate::options::Show;
use crate::records;
use crate::screen::Screen;

/// Rows that are shown, and compared with the best, unless all are asked for.
pub const MOST_ROWS: usize = 60;

/// Prints the answer of a record.
pub fn show(options: &Show, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    let metric = options.metric.as_deref();
    if options.json {
        screen.json(&answer_json(&record, &index, metric)?)?;
    } else if options.runs {
        screen.table(&runs_table(&record, &index, metric, options.all)?)?;
    } else {
        print_table(&record, &index, metric, options.all, screen)?;
        print_gates(&record, &index, screen)?;
        print_failures(&record, &index, screen)?;
    }
    Ok(Exit::Fine)
}

/// What is known of a record beside its numbers.
pub struct Known {
    /// Name, plan and counts.
    pub summary: Summary,
    /// The metric to judge by.
    pub metric: String,
}

/// Looks a record up.
pub fn known(index: &Index, metric: Option<&str>) -> anyhow::Result<Known> {
    let summary = index.summary()?;
    let headline = summary.plan.as_ref().map(|plan| plan.headline.clone());
    let metric =
        metric.map(str::to_owned).or(headline).unwrap_or_else(|| assay_model::metric::WALL.to_owned());
    Ok(Known { summary, metric })
}

/// The evidence of a record for one metric.
pub fn evidence(index: &Index, metric: Option<&str>) -> anyhow::Result<(Evidence, Known)> {
    let known = known(index, metric)?;
    let evidence = gather(index, &known.summary.name, known.summary.plan.as_ref(), &known.metric)?;
    Ok((evidence, known))
}

/// The answer of a record for one metric.
pub fn judged(index: &Index, metric: Option<&str>, most_compared: usize) -> anyhow::Result<(Answer, Known)> {
    let (evidence, known) = evidence(index, metric)?;
    let plan = known.summary.plan.as_ref();
    let order = plan.map(|plan| plan.varied.clone()).unwrap_or_default();
    let seed = plan.map_or(0, |plan| plan.seed);
    Ok((answer(&evidence, &order, most_compared, seed), known))
}

/// The same for people: without the settings that nobody set, because all cells have the workload's own value of them,
/// and without the best of all cells where the campaign tells what is held against what.
pub fn judged_for_people(
    index: &Index,
    metric: Option<&str>,
    most_compared: usize,
) -> anyhow::Result<(Answer, Known)> {
    let is_ranked = index.summary()?.plan.is_none_or(|plan| plan.layout.against.is_none());
    let (mut answer, known) = judged(index, metric, if is_ranked { most_compared } else { 0 })?;
    answer.best = answer.best.filter(|_| is_ranked);
    let cells = index.cells()?;
    let workload = cells.first().map_or("", |cell| cell.workload.as_str());
    if cells.iter().all(|cell| cell.workload == workload)
        && let Ok(description) = crate::workloads::description(workload)
    {
        for setting in &description.settings {
            if answer.common.get(&setting.name) == setting.default.as_ref() {
                answer.common.remove(&setting.name);
            }
        }
    }
    Ok((answer, known))
}

/// Prints the table of a record.
pub fn print_table(
    record: &Record,
    index: &Index,
    metric: Option<&str>,
    all: bool,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let most = if all { usize::MAX } else { MOST_ROWS };
    let (answer, known) = judged_for_people(index, metric, most)?;
    let question = known.summary.plan.as_ref().map(|plan| plan.question.as_str());
    if metric.is_none() {
        for table in layout::tables(index, &known)? {
            screen.table(&table)?;
            screen.data("\n")?;
        }
    }
    screen.table(&assay_report::answer::table(&answer, question, most))?;
    if known.summary.damaged_places > 0 {
        screen.warn(&format!(
            "{} places of the journal of {} do not check and were skipped",
            known.summary.damaged_places,
            record.directory().display()
        ));
        screen.hint("the file was changed or its disk is failing; run again what is missing");
    }
    Ok(())
}

/// Holds the record against its gates and prints how it stands.
pub fn print_gates(record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<Vec<GateResult>> {
    let results = gates(record, index)?;
    if !results.is_empty() {
        screen.data("\n")?;
        screen.table(&assay_report::gates::table(&results))?;
    }
    Ok(results)
}

/// How a record stands at its gates.
pub fn gates(record: &Record, index: &Index) -> anyhow::Result<Vec<GateResult>> {
    let summary = index.summary()?;
    let Some(plan) = &summary.plan else { return Ok(Vec::new()) };
    let mut results = Vec::new();
    for gate in &plan.gates {
        let evidence = gather(index, &summary.name, Some(plan), &gate.metric)?;
        let reference = match &gate.bound {
            Bound::NearRecord { record: path, .. } => reference(record, path, plan, &gate.metric)?,
            _ => None,
        };
        results.extend(assay_judge::gate::check(gate, &evidence, reference.as_ref()));
    }
    Ok(results)
}

/// The evidence of a reference record; none if it is not there, which leaves its gates unknown.
fn reference(
    record: &Record,
    path: &str,
    plan: &PlanInForce,
    metric: &str,
) -> anyhow::Result<Option<Evidence>> {
    let path = Path::new(path);
    if !path.is_dir() || path.canonicalize().ok() == record.directory().canonicalize().ok() {
        return Ok(None);
    }
    let index = Record::open(path)?.index()?;
    let name = path.display().to_string();
    Ok(gather(&index, &name, Some(plan), metric).ok())
}

/// Prints why runs failed, each reason once, with the end of what the last of them printed.
pub fn print_failures(record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    for failure in index.failures()?.iter().take(5) {
        let runs = counted(failure.runs, "run");
        let reason = match failure.reason.strip_prefix("does not fit") {
            Some(rest) if failure.runs > 1 => format!("do not fit{rest}"),
            _ => failure.reason.clone(),
        };
        screen.warn(&format!("{runs} {reason}, for example {}", failure.example));
        let example = RunFilter { run: Some(failure.example.clone()), ..RunFilter::default() };
        for row in index.runs(&example)? {
            let directory = record.run_directory(&row.directory);
            let ends = ["stderr.log", "stdout.log"].iter().find_map(|file| {
                let path = directory.join(file);
                Some((last_line(&path)?, path))
            });
            if let Some((line, path)) = ends {
                screen.say(&format!("  {} ends: {line}", records::shown(&path)));
            }
        }
        for hint in &failure.hints {
            screen.hint(hint);
        }
    }
    Ok(())
}

/// The last line of a log that says something; control characters are left out.
fn last_line(path: &Path) -> Option<String> {
    const END: u64 = 4096;
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // Lines of built-in workloads are for programs; what they say of a failure stands above.
    let for_people = |line: &&str| !line.is_empty() && !line.starts_with("{\"assay\":");
    let line = text.lines().rev().map(str::trim).find(for_people)?;
    Some(line.chars().filter(|letter| !letter.is_control()).take(200).collect())
}

fn runs_table(record: &Record, index: &Index, metric: Option<&str>, all: bool) -> anyhow::Result<Table> {
    let known = known(index, metric)?;
    let most = if all { None } else { Some(200) };
    let rows = index.runs(&RunFilter { last: most, ..RunFilter::default() })?;
    let total = known.summary.runs.total();
    let mut table = Table {
        heading: vec![format!("Runs of {} in {}", known.summary.name, records::shown(record.directory()))],
        columns: ["run", "status", "wall", &known.metric, "directory"]
            .into_iter()
            .map(Column::left)
            .collect(),
        ..Table::default()
    };
    for row in &rows {
        let failed = !matches!(row.status, Some(Status::Succeeded) | None);
        let status = row.status.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
        let value = index.observations(&row.run)?.into_iter().find(|found| found.metric == known.metric);
        let mark = if row.current { "" } else { " (redone)" };
        table.rows.push(vec![
            Cell::new(format!("{} {}{mark}", row.run.cell.short(), row.run.leaf())),
            Cell::toned(status, if failed { Tone::Bad } else { Tone::Plain }),
            Cell::new(row.usage.as_ref().map(|usage| duration(usage.wall_s)).unwrap_or_default()),
            Cell::new(value.map(|found| single(&found.unit, found.value)).unwrap_or_default()),
            Cell::toned(row.directory.clone(), Tone::Faint),
        ]);
    }
    if (rows.len() as u64) < total {
        table.notes.push(format!("the last {} of {total} runs; `--all` shows them all", rows.len()));
    }
    table.notes.push("each directory has run.sh, which redoes the run, and its output".to_owned());
    Ok(table)
}

/// An answer as JSON.
#[derive(Serialize)]
pub struct AnswerJson {
    schema: u32,
    record: String,
    question: Option<String>,
    answer: Answer,
    metrics: Vec<MetricSummary>,
    gates: Vec<GateResult>,
}

/// The answer of a record as JSON.
pub fn answer_json(record: &Record, index: &Index, metric: Option<&str>) -> anyhow::Result<AnswerJson> {
    let (answer, known) = judged(index, metric, usize::MAX)?;
    Ok(AnswerJson {
        schema: JSON_SCHEMA,
        record: record.directory().display().to_string(),
        question: known.summary.plan.as_ref().map(|plan| plan.question.clone()),
        metrics: metrics(index, known.summary.plan.as_ref())?,
        gates: gates(record, index)?,
        answer,
    })
}
