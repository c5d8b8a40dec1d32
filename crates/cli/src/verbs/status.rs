//! `status`: what the jobs of a record do.

use assay_launch::batch::control::{self, submitted_platforms};
use assay_launch::batch::scheduler::{TaskStage, TaskState};
use assay_report::number::{counted, duration};
use assay_report::{Cell, Column, Table};
use assay_store::JournalState;
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::exit::Exit;
use crate::options;
use crate::records;
use crate::registry;
use crate::screen::Screen;

/// Rows that are shown unless all are asked for.
const MOST_ROWS: usize = 40;

/// Prints the runs of a record by status, and its jobs as their schedulers know them.
pub fn status(options: &options::Status, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(options.record.as_deref())?;
    let state = record.state()?;
    let mut jobs = Vec::new();
    let platforms = submitted_platforms(record.directory())?;
    registry::check_hosts(&platforms, options.record.as_deref())?;
    for platform in platforms {
        let found = control::jobs(&platform, &state)?;
        jobs.extend(found.into_iter().map(|job| (platform.name.clone(), job)));
    }
    jobs.retain(|(_, job)| is_open(&state, job));
    let is_running = assay_store::is_held(record.directory());
    if options.json {
        screen.json(&StatusJson::new(&state, is_running, &jobs))?;
        return Ok(Exit::Fine);
    }
    let most = if options.all { usize::MAX } else { MOST_ROWS };
    screen.table(&table(&state, is_running, &jobs, most))?;
    if !is_running && !state.open_runs.is_empty() {
        screen.hint("`assay run` with the same campaign collects what has ended and submits what is missing");
    }
    Ok(Exit::Fine)
}

/// Whether a job has runs without a result.
fn is_open(state: &JournalState, job: &TaskState) -> bool {
    let submissions = state.open_runs.values().filter_map(|open| open.submission.as_ref());
    submissions.into_iter().any(|open| open.name == job.submission && open.task == job.task)
}

fn stage(stage: TaskStage) -> &'static str {
    match stage {
        TaskStage::Pending => "pending",
        TaskStage::Running => "running",
        TaskStage::Ended => "ended",
        TaskStage::Cancelled => "cancelled",
        TaskStage::TimedOut => "timed out",
        TaskStage::OutOfMemory => "out of memory",
        TaskStage::NodeFailed => "node failed",
        TaskStage::Preempted => "preempted",
    }
}

fn table(state: &JournalState, is_running: bool, jobs: &[(String, TaskState)], most: usize) -> Table {
    let counts = state.counts();
    let mut heading = vec![format!(
        "{}: {} finished, {} failed, {} open; {}",
        state.name,
        counts.succeeded,
        counts.failed + counts.timed_out,
        counted(counts.open, "run"),
        if is_running { "a coordinator is running" } else { "no coordinator is running" }
    )];
    if jobs.is_empty() {
        heading.push("no jobs in a queue".to_owned());
    }
    let now = assay_launch::worker::now();
    let rows = jobs.iter().take(most).map(|(platform, job)| {
        let since = match job.stage {
            TaskStage::Pending => job.submitted_at,
            _ => job.started_at,
        };
        vec![
            Cell::new(format!("{}_{}", job.job, job.task)),
            Cell::new(platform.clone()),
            Cell::new(stage(job.stage)),
            Cell::new(if job.stage == TaskStage::Pending {
                job.reason.clone()
            } else {
                job.node_list.clone()
            }),
            Cell::new(since.map_or_else(|| "-".to_owned(), |since| duration((now - since).max(0.0)))),
        ]
    });
    let columns = ["job", "platform", "state", "reason or nodes"].map(Column::left);
    let mut table = Table {
        heading,
        columns: columns.into_iter().chain([Column::right("for")]).collect(),
        rows: rows.collect(),
        ..Table::default()
    };
    if table.rows.is_empty() {
        table.columns.clear();
    }
    if let Some(more) = jobs.len().checked_sub(most).filter(|more| *more > 0) {
        table.notes.push(format!("… and {more} more jobs (`--all` shows them)"));
    }
    table
}

#[derive(Serialize)]
struct StatusJson<'a> {
    schema: u32,
    record: &'a str,
    coordinator_running: bool,
    open_runs: u64,
    jobs: Vec<JobJson<'a>>,
}

#[derive(Serialize)]
struct JobJson<'a> {
    job: &'a str,
    task: u32,
    platform: &'a str,
    state: &'a str,
    reason: &'a str,
    nodes: &'a str,
}

impl<'a> StatusJson<'a> {
    fn new(
        state: &'a JournalState,
        coordinator_running: bool,
        jobs: &'a [(String, TaskState)],
    ) -> StatusJson<'a> {
        let job = |(platform, job): &'a (String, TaskState)| JobJson {
            job: &job.job,
            task: job.task,
            platform,
            state: stage(job.stage),
            reason: &job.reason,
            nodes: &job.node_list,
        };
        StatusJson {
            schema: JSON_SCHEMA,
            record: &state.name,
            coordinator_running,
            open_runs: state.counts().open,
            jobs: jobs.iter().map(job).collect(),
        }
    }
}
