//! Errors with their hint and exit code.

use std::fmt;
use std::io;

use assay_campaign::CampaignError;
use assay_campaign::catalog::CatalogError;
use assay_judge::JudgeError;
use assay_launch::LaunchError;
use assay_store::StoreError;
use assay_workloads::WorkloadError;

use crate::exit::Exit;

/// Something the user did or wrote that cannot work, with what to do about it.
#[derive(Debug)]
pub struct Mistake {
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Mistake {
    /// A mistake with its remedy.
    pub fn new(text: impl Into<String>, hint: impl Into<String>) -> Mistake {
        Mistake { text: text.into(), hint: Some(hint.into()) }
    }
}

impl From<WorkloadError> for Mistake {
    fn from(error: WorkloadError) -> Mistake {
        Mistake { text: error.to_string(), hint: error.hint() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Mistake {}

/// The exit code for an error.
pub fn exit(error: &anyhow::Error) -> Exit {
    if error.is::<Mistake>() || error.is::<CampaignError>() || error.is::<CatalogError>() {
        return Exit::Usage;
    }
    match (store_error(error), error.downcast_ref::<JudgeError>()) {
        (Some(error), _) if is_usage(error) => Exit::Usage,
        (None, Some(_)) => Exit::Usage,
        _ => Exit::Internal,
    }
}

/// What the user can do about an error.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(mistake) = error.downcast_ref::<Mistake>() {
        return mistake.hint.clone();
    }
    if let Some(error) = error.downcast_ref::<WorkloadError>() {
        return error.hint();
    }
    if let Some(JudgeError::NoSuchMetric { known, .. }) = error.downcast_ref() {
        return Some(format!("it has {}", known.join(", ")));
    }
    if let Some(LaunchError::Platform { .. }) = error.downcast_ref() {
        return Some("nothing is lost: rerun when the scheduler answers".to_owned());
    }
    if let Some(LaunchError::Work(_)) = error.downcast_ref() {
        return Some("completed runs are kept; fix the cause and rerun to resume".to_owned());
    }
    store_error(error).and_then(StoreError::hint)
}

/// Whether an error about a record follows from what the user asked for, not from the disk.
fn is_usage(error: &StoreError) -> bool {
    if let StoreError::Open { source, .. } = error {
        use io::ErrorKind::*;
        return matches!(
            source.kind(),
            InvalidFilename
                | InvalidInput
                | NotADirectory
                | IsADirectory
                | AlreadyExists
                | PermissionDenied
                | ReadOnlyFilesystem
        );
    }
    matches!(
        error,
        StoreError::Held { .. }
            | StoreError::HeldByUnknown { .. }
            | StoreError::Newer { .. }
            | StoreError::Missing { .. }
            | StoreError::NotAJournal { .. }
            | StoreError::Damaged { .. }
            | StoreError::Query { .. }
    )
}

fn store_error(error: &anyhow::Error) -> Option<&StoreError> {
    if let Some(JudgeError::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(LaunchError::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

/// Whether an error only says that nobody reads our output any more.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// An error with its causes. One that the text before it repeats already is left out.
pub fn text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_named_once() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        let error = StoreError::Open { path: "a".into(), source };
        assert_eq!(text(&error.into()), "cannot open a: not a regular file");
        let error = Err::<(), _>(io::Error::other("disk on fire")).context("cannot write b").unwrap_err();
        assert_eq!(text(&error), "cannot write b: disk on fire");
    }
}
