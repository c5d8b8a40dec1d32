//! What can go wrong with a workload before or while it runs.

use std::path::{Path, PathBuf};

/// Why a workload could not be run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// There is no such workload.
    #[error("unknown workload `{name}`")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A setting cannot be used.
    #[error("setting `{name}` = {value}: {reason}")]
    Setting {
        name: String,
        /// Its value, as it was written.
        value: String,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A file cannot be read, written or understood.
    #[error("cannot {action} `{}`: {reason}", path.display())]
    File {
        /// What was tried: `read`, `write` and so on.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// An engine is not installed here.
    #[error("engine `{engine}` is not available: {reason}")]
    EngineMissing {
        /// Its name.
        engine: &'static str,
        /// What was tried and what came of it.
        reason: String,
        /// How to get it.
        hint: Option<String>,
    },
    /// An engine was started and broke off.
    #[error("engine `{engine}` failed: {reason}")]
    EngineFailed {
        /// Its name.
        engine: &'static str,
        /// What it said last.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The system refused memory that was believed to be there.
    #[error("the system refused {bytes} bytes for {what}")]
    Memory {
        /// What the memory was for.
        what: &'static str,
        /// How much was asked for at once.
        bytes: u64,
    },
}

impl WorkloadError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            WorkloadError::Unknown { known, .. } => Some(format!("workloads: {}", known.join(", "))),
            WorkloadError::Setting { hint, .. }
            | WorkloadError::File { hint, .. }
            | WorkloadError::EngineMissing { hint, .. }
            | WorkloadError::EngineFailed { hint, .. } => hint.clone(),
            WorkloadError::Memory { .. } => {
                Some("choose a smaller size, batch_size or context, or end other programs".to_owned())
            }
        }
    }

    /// Whether the caller asked for something that cannot be, as opposed to a run that failed.
    pub fn is_usage(&self) -> bool {
        matches!(self, WorkloadError::Unknown { .. } | WorkloadError::Setting { .. })
    }

    pub(crate) fn file(action: &'static str, path: &Path, reason: impl ToString) -> WorkloadError {
        WorkloadError::File { action, path: path.to_owned(), reason: reason.to_string(), hint: None }
    }

    /// Adds a hint to an error that has none.
    pub(crate) fn or_hint(mut self, text: &str) -> WorkloadError {
        if let WorkloadError::Setting { hint, .. }
        | WorkloadError::File { hint, .. }
        | WorkloadError::EngineMissing { hint, .. }
        | WorkloadError::EngineFailed { hint, .. } = &mut self
        {
            hint.get_or_insert_with(|| text.to_owned());
        }
        self
    }
}
