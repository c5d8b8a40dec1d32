//! A load while it runs: requests go to the spool of its run as they finish, and its progress is reported.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use assay_load::Exchange;
use assay_load::metrics::Counters;
use assay_load::record::{SPOOL_FILE, SpoolWriter};
use assay_load::run::{Live, LoadEnd, LoadError, LoadOutcome, run};
use assay_model::WorkloadEvent;
use serde_json::json;

use super::settings::Setup;
use crate::failure::Mistake;

/// How often progress is reported.
const BEAT: Duration = Duration::from_millis(500);

/// Runs a load; each request is in the spool as soon as it has ended.
pub fn record(
    setup: &Setup,
    directory: &Path,
    stop: &AtomicBool,
    report: &mut dyn FnMut(WorkloadEvent),
) -> anyhow::Result<LoadOutcome> {
    let before = counters(setup)?;
    let path = directory.join(SPOOL_FILE);
    let cannot_write = || format!("cannot write {}", path.display());
    let writer = SpoolWriter::create(&path, &setup.described).with_context(cannot_write)?;
    let writer = Mutex::new((writer, None));
    let live = Live::default();
    let finished = |exchange: &Exchange| {
        let mut kept = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (writer, failed) = &mut *kept;
        if let Err(error) = writer.add(exchange) {
            // What cannot be kept need not be asked: a full disk ends the load.
            failed.get_or_insert(error);
            stop.store(true, Ordering::Relaxed);
        }
    };
    let outcome = reporting(setup, &live, report, || {
        run(&setup.load, &setup.prompts, &live, stop, &finished).map_err(mistake)
    })??;
    let (mut writer, failed) = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failed {
        return Err(error).with_context(cannot_write);
    }
    let ending = json!({
        "ended": match outcome.ended {
            LoadEnd::Complete => "complete",
            LoadEnd::Interrupted => "interrupted",
            LoadEnd::BudgetSpent => "error budget spent",
            LoadEnd::WarmUpFailed => "every warm-up request failed",
            LoadEnd::Gone => "the server is gone",
        },
        "gone_since_s": outcome.gone_since_s,
        "began_s": outcome.began_s,
        "took_s": outcome.took_s,
        "health": outcome.health,
        "counters": grown(&before, setup),
    });
    writer.end(&ending).with_context(cannot_write)?;
    Ok(outcome)
}

/// Does `work` on a thread of its own, and reports progress meanwhile.
fn reporting<T: Send>(
    setup: &Setup,
    live: &Live,
    report: &mut dyn FnMut(WorkloadEvent),
    work: impl FnOnce() -> T + Send,
) -> anyhow::Result<T> {
    let planned = setup.load.requests.map(|requests| requests.saturating_add(setup.load.warm_up));
    let (is_over, here) = (AtomicBool::new(false), std::thread::current());
    std::thread::scope(|scope| {
        let worker = || {
            let result = work();
            is_over.store(true, Ordering::Release);
            here.unpark();
            result
        };
        let worker = std::thread::Builder::new()
            .spawn_scoped(scope, worker)
            .context("the system refused a thread for the load")?;
        let mut last = 0;
        while !is_over.load(Ordering::Acquire) {
            std::thread::park_timeout(BEAT);
            let done = live.succeeded.load(Ordering::Relaxed) + live.failed.load(Ordering::Relaxed);
            if let Some(of) = planned.filter(|of| done > last && done < *of) {
                report(WorkloadEvent::Progress { done, of });
                last = done;
            }
        }
        match worker.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What the servers of all endpoints have counted so far; none where a server reports nothing.
fn counters(setup: &Setup) -> anyhow::Result<Vec<Option<Counters>>> {
    let url = setup.metrics_url.as_deref();
    let of_endpoint = |endpoint| match Counters::fetch(endpoint, url) {
        // A page that was not asked for need not exist.
        Err(_) if url.is_none() => Ok(None),
        Err(error) => Err(Mistake::new(error.to_string(), "give the URL of a Prometheus metrics page")),
        Ok(counters) => Ok(Some(counters).filter(|counters| !counters.is_empty())),
    };
    Ok(setup.load.endpoints.iter().map(of_endpoint).collect::<Result<_, Mistake>>()?)
}

/// What the servers have counted since.
fn grown(before: &[Option<Counters>], setup: &Setup) -> Vec<Option<BTreeMap<String, f64>>> {
    let url = setup.metrics_url.as_deref();
    let grown = before.iter().zip(&setup.load.endpoints).map(|(before, endpoint)| {
        let before = before.as_ref()?;
        Some(Counters::fetch(endpoint, url).ok()?.since(before))
    });
    grown.collect()
}

/// A load that cannot be made is the user's to fix.
fn mistake(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::System(_) | LoadError::Thread => error.into(),
        other => Mistake { hint: other.hint().map(str::to_owned), text: other.to_string() }.into(),
    }
}
