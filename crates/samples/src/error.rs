//! What can go wrong when a sample is asked for.

use std::io;

use crate::kind::{Choice, KINDS, SampleKind};

/// Why a sample could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// There is no such kind.
    #[error("unknown sample kind `{name}`")]
    UnknownKind {
        /// What was asked for.
        name: String,
        /// The kind that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The kind has no such option.
    #[error("sample kind `{kind}` has no option `{name}`")]
    UnknownOption {
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The option that was probably meant.
        nearest: Option<&'static str>,
    },
    /// An option has a value that it cannot take.
    #[error("option `{name}` of sample kind `{kind}` cannot be `{value}`: it takes {takes}")]
    BadValue {
        kind: &'static str,
        /// The option.
        name: &'static str,
        /// The value given.
        value: String,
        /// What the option takes, in words.
        takes: String,
    },
    /// The sample could not be written where it should go.
    #[error("cannot write a sample of kind `{kind}`: {source}")]
    Write {
        kind: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl SampleError {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let (nearest, known) = match self {
            Self::UnknownKind { nearest, .. } => (nearest, KINDS.iter().map(|kind| kind.name).collect()),
            Self::UnknownOption { kind, nearest, .. } => (nearest, option_names(kind)),
            Self::BadValue { .. } | Self::Write { .. } => return None,
        };
        Some(match nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known: {}", known.join(", ")),
        })
    }

    /// No kind is called `name`.
    pub(crate) fn unknown_kind(name: &str) -> Self {
        Self::UnknownKind {
            name: name.to_owned(),
            nearest: nearest(name, KINDS.iter().map(|kind| kind.name)),
        }
    }

    /// `kind` has no option called `name`.
    pub(crate) fn unknown_option(kind: &'static SampleKind, name: &str) -> Self {
        let nearest = nearest(name, kind.options.iter().map(|choice| choice.name));
        Self::UnknownOption { kind: kind.name, name: name.to_owned(), nearest }
    }

    /// An option of `kind` cannot take `value`.
    pub(crate) fn bad_value(kind: &'static SampleKind, choice: &'static Choice, value: &str) -> Self {
        let takes = choice.values.to_string();
        Self::BadValue { kind: kind.name, name: choice.name, value: value.to_owned(), takes }
    }
}

fn option_names(kind: &str) -> Vec<&'static str> {
    let kind = KINDS.iter().find(|known| known.name == kind);
    kind.map(|kind| kind.options.iter().map(|choice| choice.name).collect()).unwrap_or_default()
}

/// The known name nearest to `given`, if one is near enough to be what was meant.
fn nearest(given: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let allowed = 1 + given.chars().count() / 3;
    known
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= allowed || (given.len() > 2 && name.starts_with(given)))
        .min()
        .map(|(_, name)| name)
}
