//! Ctrl-C and TERM: the first asks runs to stop, the second kills them. The record is kept either way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::Stop;

/// How often the user has asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    count: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Counts one more request to stop. Safe to call from a signal handler.
    pub fn request(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// The counter itself, for registering with a signal handler.
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.count)
    }

    /// Whether to stop, and how.
    pub fn stop(&self) -> Option<Stop> {
        match self.count.load(Ordering::SeqCst) {
            0 => None,
            1 => Some(Stop::Gently),
            _ => Some(Stop::AtOnce),
        }
    }
}
