//! Loads, one after the other, into one record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use assay_load::Exchange;
use assay_load::metrics::Counters;
use assay_load::record::RecordWriter;
use assay_load::run::{Ended, Live, LoadError, Outcome, run};
use serde_json::json;

use super::live::{self, View};
use super::setup::Setup;
use crate::failure::Mistake;

/// A record that grows with every load.
pub struct Recorder {
    path: PathBuf,
    writer: Option<RecordWriter>,
}

impl Recorder {
    /// A record that is made with its first load; a file that exists is replaced.
    pub fn new(path: &Path) -> Recorder {
        Recorder { path: path.to_owned(), writer: None }
    }

    /// Carries a load out; each request is in the record as soon as it has ended.
    pub fn load(&mut self, setup: &Setup, stop: &AtomicBool, is_shown: bool) -> anyhow::Result<Outcome> {
        let before = counters(setup)?;
        let writer = Mutex::new((self.begin(setup)?, None));
        let (live, view) = (Live::default(), View::default());
        let finished = |exchange: &Exchange| {
            let mut kept = writer.lock().unwrap_or_else(PoisonError::into_inner);
            let (writer, failed) = &mut *kept;
            if let Err(error) = writer.add(exchange) {
                // A disk that is full is a reason to stop: what cannot be kept need not be asked.
                failed.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
            drop(kept);
            view.add(exchange);
        };
        let outcome = live::beside(is_shown, &live, &view, || {
            run(&setup.load, &setup.prompts, &live, stop, &finished).map_err(mistake)
        })?;
        let (mut writer, failed) = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed {
            return Err(error).with_context(|| self.cannot_write());
        }
        let ending = json!({
            "ended": match outcome.ended {
                Ended::Complete => "complete",
                Ended::Interrupted => "interrupted",
                Ended::BudgetSpent => "error budget spent",
            },
            "began_s": outcome.began_s,
            "took_s": outcome.took_s,
            "health": outcome.health,
            "counters": grown(&before, setup),
        });
        writer.end(&ending).with_context(|| self.cannot_write())?;
        self.writer = Some(writer);
        Ok(outcome)
    }

    fn begin(&mut self, setup: &Setup) -> anyhow::Result<RecordWriter> {
        let settings = setup.described();
        match self.writer.take() {
            Some(mut writer) => {
                writer.begin(&settings);
                Ok(writer)
            }
            None => RecordWriter::create(&self.path, &settings).with_context(|| self.cannot_write()),
        }
    }

    fn cannot_write(&self) -> String {
        format!("cannot write {}", self.path.display())
    }
}

/// What the servers of all endpoints have counted so far; none where a server tells nothing.
fn counters(setup: &Setup) -> anyhow::Result<Vec<Option<Counters>>> {
    let url = setup.metrics_url.as_deref();
    let of_endpoint = |endpoint| match Counters::fetch(endpoint, url) {
        // A page that was not asked for need not be there.
        Err(_) if url.is_none() => Ok(None),
        Err(error) => {
            Err(Mistake::new(error.to_string(), "give the URL of a page that Prometheus could read"))
        }
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

/// A load that cannot be is the user's to mend.
fn mistake(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::System(_) | LoadError::Thread => error.into(),
        other => Mistake { hint: other.hint().map(str::to_owned), text: other.to_string() }.into(),
    }
}
