//! `chat`: load on an endpoint as a workload of campaigns. One run is one load on one endpoint; a campaign compares
//! endpoints, numbers of streams or rates by varying settings, so that their runs take turns.
//!
//! The settings are the options of `assay load`, and are read as such: a setting `output_tokens` is the option
//! `--output-tokens`. Beside them there are `url`, `endpoint` (a name for tables) and `mock`, which asks a calibration
//! endpoint inside the same process instead of a URL.
//!
//! | file | holds |
//! |---|---|
//! | `description.rs` | the settings, as campaigns see them |
//! | `options.rs` | settings to the options of `load` and of the calibration endpoint |
//! | `tell.rs` | results as lines |

mod description;
mod options;
mod tell;

use std::path::PathBuf;

use anyhow::Context;
use assay_judge::load::Validity;
use assay_load::calibration::{Running, Server};
use assay_model::{Settings, WorkloadEvent};
use assay_workloads::{Emitter, Ended};

pub use description::{description, metrics};

use crate::failure::Mistake;
use crate::verbs::load::{Recorder, Results, Setup, bounds};
use crate::verbs::serve_mock;
use options::Wanted;

/// The name of the workload.
pub const NAME: &str = "chat";

/// The argument that names the file for the record of all requests. It is no setting: every run has its own.
const RECORD: &str = "record";

/// Whether a load can be made with these settings, as far as they alone tell.
pub fn check(settings: &Settings) -> Result<(), Mistake> {
    let wanted = Wanted::read(settings)?;
    wanted.mock.as_ref().map(serve_mock::schedule).transpose()?;
    Ok(())
}

/// Carries the load out and tells its results.
pub fn run(mut settings: Settings, emitter: &mut Emitter<'_>) -> anyhow::Result<Ended> {
    let place = settings.remove(RECORD).map(|path| PathBuf::from(path.to_string()));
    let mut wanted = Wanted::read(&settings)?;
    let server = wanted.mock.as_ref().map(start).transpose()?;
    let url = match &server {
        Some(server) => server.url().to_owned(),
        None => wanted.url()?,
    };
    wanted.load.urls = vec![url];
    for (name, value) in &settings {
        emitter.setting(name, value.clone());
    }
    emitter.setting("server", if server.is_some() { "calibration endpoint" } else { "endpoint" });
    let setup = Setup::new(&wanted.load)?;
    let file = Place::new(place);
    let outcome = Recorder::new(&file.path).load(&setup, emitter.stop_flag(), false)?;
    if let Some(server) = server {
        let summary = server.stop().context("the calibration endpoint broke down")?;
        tell::server(&summary, emitter);
    }
    let results = Results::read(&file.path, bounds(&wanted.load.results))?;
    let [results] = results.as_slice() else { anyhow::bail!("the record of the load has not one part") };
    tell::series(&file.path, emitter)?;
    tell::results(results, emitter);
    Ok(ended(outcome.ended, results, emitter))
}

/// An invalid result is a failed run: its numbers are kept, and never ranked.
fn ended(ended: assay_load::run::Ended, results: &Results, emitter: &mut Emitter<'_>) -> Ended {
    if ended == assay_load::run::Ended::Interrupted {
        return Ended::Stopped;
    }
    let verdict = results.endpoints.first().map(|endpoint| &endpoint.verdict);
    let worst = verdict
        .and_then(|verdict| verdict.reasons.iter().find(|reason| reason.validity == Validity::Invalid));
    let failed = match (verdict, worst) {
        (None, _) => Some(("no request was made".to_owned(), None)),
        (_, Some(reason)) => Some((format!("invalid: {}", reason.text), Some(reason.hint.to_owned()))),
        _ if ended == assay_load::run::Ended::BudgetSpent => {
            Some(("too many requests failed".to_owned(), None))
        }
        _ => None,
    };
    match failed {
        Some((reason, hint)) => {
            emitter.emit(WorkloadEvent::Failed { reason, hint });
            Ended::Failed
        }
        None => {
            let requests = results.endpoints.first().map_or(0, |endpoint| endpoint.summary.success.all);
            emitter.emit(WorkloadEvent::Done { steps: requests });
            Ended::Done
        }
    }
}

/// Starts the calibration endpoint on a thread of its own.
fn start(mock: &crate::options::load::ServeMock) -> anyhow::Result<Running> {
    let server = Server::bind("127.0.0.1:0", serve_mock::schedule(mock)?);
    server.and_then(Server::start).context("cannot start the calibration endpoint")
}

/// Where the record of all requests is kept: where the caller says, else in a file that is gone afterwards.
struct Place {
    path: PathBuf,
    is_kept: bool,
}

impl Place {
    fn new(wanted: Option<PathBuf>) -> Place {
        let is_kept = wanted.is_some();
        let passing = || std::env::temp_dir().join(format!("assay-chat-{}", std::process::id()));
        Place { path: wanted.unwrap_or_else(passing), is_kept }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_kept {
            // Whoever wanted it would have said where.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
