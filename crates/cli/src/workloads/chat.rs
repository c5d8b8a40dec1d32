//! `chat`: load on an endpoint as a workload. One run is one load on one endpoint; a campaign compares endpoints,
//! numbers of streams or rates by varying settings, so that their runs take turns. `assay load` builds such a campaign
//! from its flags.
//!
//! | file | holds |
//! |---|---|
//! | `description.rs` | the settings: flags, checks and documentation come from here |
//! | `settings.rs`, `mock.rs` | settings to a load with its prompts, or to a calibration endpoint |
//! | `recorder.rs` | a load while it runs |
//! | `results.rs` | a stored load to its results |
//! | `emit.rs` | results as workload events |
//! | `running.rs` | percentiles of a load that has not ended |
//! | `report.rs`, `report/` | the loads of a record as tables, JSON, curves and exports |

mod description;
mod emit;
pub mod mock;
pub mod recorder;
pub mod report;
pub mod results;
pub mod running;
pub mod settings;

use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_load::calibration::{MockSchedule, Running, Server};
use assay_load::record::{StoredLoad, finish_run};
use assay_load::run::LoadEnd;
use assay_model::{Settings, WorkloadEvent};
use assay_workloads::{Emitter, WorkloadEnd};

pub use description::{description, groups, metrics, mock as mock_description};

use crate::failure::Mistake;
use results::LoadResults;
use settings::ChatSettings;

/// The name of the workload.
pub const NAME: &str = "chat";

/// The argument that names the directory for requests and chunks. It is not a setting: every run has its own.
const RECORD: &str = "record";
/// The argument with the number of the repeat, from which its seed is derived.
const REPEAT: &str = "repeat";

/// Whether a load can be made with these settings, as far as they alone say.
pub fn check(settings: &Settings) -> Result<(), Mistake> {
    ChatSettings::new(settings).map(|_| ())
}

/// Runs the load and emits its results.
pub fn run(mut settings: Settings, emitter: &mut Emitter<'_>) -> anyhow::Result<WorkloadEnd> {
    let directory = RunDirectory::new(settings.remove(RECORD).map(|path| PathBuf::from(path.to_string())))?;
    let repeat = settings.remove(REPEAT).and_then(|repeat| repeat.to_string().parse().ok()).unwrap_or(1);
    let chat = ChatSettings::new(&settings)?;
    let server = chat.mock.clone().map(start).transpose()?;
    let url = match &server {
        Some(server) => server.url().to_owned(),
        None => chat.url()?,
    };
    for (name, value) in &settings {
        emitter.setting(name, value.clone());
    }
    emitter.setting("server", if server.is_some() { "calibration endpoint" } else { "endpoint" });
    let setup = chat.setup(&url, repeat)?;
    let stop = emitter.stop_flag();
    let outcome = recorder::record(&setup, &directory.path, stop, &mut |event| emitter.emit(event))?;
    if let Some(server) = server {
        let summary = server.stop().context("the calibration endpoint failed")?;
        emit::server(&summary, emitter);
    }
    let load = StoredLoad::in_run(&directory.path)?.context("the load left no requests")?;
    let mut series = emit::RequestSeries::default();
    let results = LoadResults::read_with(&load, &mut |exchange| series.add(exchange))?;
    series.emit(emitter);
    emit::results(&results, emitter);
    let (event, end) = ended(outcome.ended, &results);
    // Their distributions take as much memory as the tables do while they are written.
    drop(results);
    finish_run(&directory.path).context("cannot write the tables of the load")?;
    event.into_iter().for_each(|event| emitter.emit(event));
    Ok(end)
}

/// How the run ended, and what is said of that. An invalid result is a failed run: its numbers are kept, and never ranked.
fn ended(ended: LoadEnd, results: &LoadResults) -> (Option<WorkloadEvent>, WorkloadEnd) {
    if ended == LoadEnd::Interrupted {
        return (None, WorkloadEnd::Stopped);
    }
    let verdict = results.endpoints.first().map(|endpoint| &endpoint.verdict);
    let worst = verdict.and_then(|verdict| verdict.worst());
    let failed = match (verdict, worst) {
        (None, _) => Some(("no request was made".to_owned(), None)),
        (_, _) if ended == LoadEnd::WarmUpFailed => {
            let fault = results.endpoints.first().and_then(|endpoint| endpoint.faults.iter().next());
            let kind = fault.map_or("no answer", |(kind, _)| kind.name());
            let hint = fault.map(|(kind, _)| kind.hint().to_owned());
            Some((format!("every warm-up request failed: {kind}"), hint))
        }
        (_, _) if ended == LoadEnd::Gone => {
            let since =
                results.gone_since_s.map(|at| format!(" {at:.1} s after the load began")).unwrap_or_default();
            Some((
                format!("the server stopped listening{since}"),
                Some("look into its log at that time".to_owned()),
            ))
        }
        (_, Some(reason)) => Some((format!("invalid: {}", reason.text), Some(reason.hint.to_owned()))),
        _ if ended == LoadEnd::BudgetSpent => Some(("the error budget is spent".to_owned(), None)),
        _ => None,
    };
    match failed {
        Some((reason, hint)) => (Some(WorkloadEvent::Failed { reason, hint }), WorkloadEnd::Failed),
        None => {
            let requests = results.endpoints.first().map_or(0, |endpoint| endpoint.summary.success.all);
            (Some(WorkloadEvent::Done { steps: requests }), WorkloadEnd::Done)
        }
    }
}

/// Starts the calibration endpoint on a thread of its own.
fn start(schedule: MockSchedule) -> anyhow::Result<Running> {
    let server = Server::bind("127.0.0.1:0", schedule);
    server.and_then(Server::start).context("cannot start the calibration endpoint")
}

/// Where requests and chunks are kept: where the caller says, else in a directory that is removed afterwards.
pub struct RunDirectory {
    path: PathBuf,
    is_kept: bool,
}

impl RunDirectory {
    /// Makes the directory where that is needed.
    pub fn new(named: Option<PathBuf>) -> anyhow::Result<RunDirectory> {
        let is_kept = named.is_some();
        let temporary = || std::env::temp_dir().join(format!("assay-chat-{}", std::process::id()));
        let path = named.unwrap_or_else(temporary);
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(RunDirectory { path, is_kept })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nobody asked for the files of this run.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
