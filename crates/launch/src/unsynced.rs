//! Results that are in the journal and not synced yet. Runs of some milliseconds are synced together, because syncing
//! each would take longer than making it; none is shown before it is synced.

use std::time::{Duration, Instant};

use assay_model::{Entry, RunId};
use assay_store::{Store, StoreError};

use crate::coordinator::LaunchEvent;

/// How long a finished run may wait for others.
pub(crate) const UNSYNCED_AT_MOST: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(crate) struct Unsynced {
    /// What is to be shown after the sync, in its order.
    events: Vec<HeldEvent>,
    since: Option<Instant>,
}

/// An event that is shown later.
enum HeldEvent {
    Started { run: RunId, cell: usize, first_metric_in_s: Option<f64> },
    Finished { cell: usize, entry: Entry },
}

impl Unsynced {
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Shows that a run starts: now, or after the runs before it are shown as finished.
    pub(crate) fn started(
        &mut self,
        run: &RunId,
        cell: usize,
        first_metric_in_s: Option<f64>,
        show: &mut dyn FnMut(LaunchEvent<'_>),
    ) {
        if self.is_empty() {
            show(LaunchEvent::Started { run, cell, first_metric_in_s });
        } else {
            self.events.push(HeldEvent::Started { run: run.clone(), cell, first_metric_in_s });
        }
    }

    /// Holds a `finished` entry that is in the journal.
    pub(crate) fn finished(&mut self, cell: usize, entry: Entry) {
        self.events.push(HeldEvent::Finished { cell, entry });
        self.since.get_or_insert_with(Instant::now);
    }

    /// Syncs results if the first of them has waited this long, and shows them.
    pub(crate) fn acknowledge(
        &mut self,
        store: &mut Store,
        show: &mut dyn FnMut(LaunchEvent<'_>),
        waited: Duration,
    ) -> Result<(), StoreError> {
        if self.since.is_none_or(|since| since.elapsed() < waited) {
            return Ok(());
        }
        store.sync()?;
        self.since = None;
        for event in self.events.drain(..) {
            match event {
                HeldEvent::Started { run, cell, first_metric_in_s } => {
                    show(LaunchEvent::Started { run: &run, cell, first_metric_in_s });
                }
                HeldEvent::Finished { cell, entry } => {
                    if let Entry::Finished { run, result } = &entry {
                        show(LaunchEvent::Finished { run, cell, result });
                    }
                }
            }
        }
        Ok(())
    }
}
