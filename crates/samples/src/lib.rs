//! Logs and write-ups of the shapes that real tools and people leave behind, written from a seed.
//!
//! A reader of logs needs logs: of every tool, right and wrong, whole and cut, of any size. Strangers' logs cannot be
//! shipped, so this room writes its own. What a tool prints is kept to the letter where a reader depends on it; hosts,
//! jobs, people and prose are made up and look so. Numbers hang together as in a real log: rate × seconds = count,
//! timestamps increase, losses fall.
//!
//! - [`KINDS`] lists what can be written and what can be chosen about it.
//! - [`write()`] writes one sample. The same kind, options, seed and size give the same bytes.
//!
//! | file | holds |
//! |---|---|
//! | `kind.rs`, `error.rs` | the kinds with their options, and what can be wrong with a request |
//! | `kinds.rs`, `kinds/` | a file for each kind |
//! | `log.rs` | takes the lines and dresses them up: colors, rank prefixes, rubbish |
//! | `grow.rs` | how many steps or runs make a given size |
//! | `number.rs`, `calendar.rs`, `curve.rs`, `bar.rs` | numbers, timestamps, falling losses and progress bars |

mod bar;
mod calendar;
mod curve;
mod error;
mod grow;
mod kind;
mod kinds;
mod log;
mod number;

use std::collections::BTreeMap;
use std::io;

pub use error::SampleError;
pub use kind::{Choice, KINDS, OptionValues, SampleKind};

use assay_random::Random;
use kind::{SampleJob, Settings};
use log::{Dress, Log};

/// Writes one sample.
///
/// With a `size` it has more steps, bars or runs than the options say, until it is about that many bytes long (within
/// a few per cent; a sample is never shorter than its head and tail). The memory used does not depend on the size.
pub fn write(
    kind: &str,
    options: &BTreeMap<String, String>,
    seed: u64,
    size: Option<u64>,
    out: &mut dyn io::Write,
) -> Result<(), SampleError> {
    let kind = kind::find(kind)?;
    let settings = Settings::new(kind, options)?;
    let units =
        size.map(|size| grow::units(size, |units| compose(kind, &settings, seed, Some(units), None).0));
    let (_, failure) = compose(kind, &settings, seed, units, Some(out));
    failure.map_or(Ok(()), |source| Err(SampleError::Write { kind: kind.name, source }))
}

/// Writes the sample to `out`, or only measures it. Gives its length and what went wrong in writing.
fn compose(
    kind: &'static SampleKind,
    settings: &Settings,
    seed: u64,
    units: Option<u64>,
    out: Option<&mut dyn io::Write>,
) -> (u64, Option<io::Error>) {
    let mut log = Log::new(out, Dress::of(settings, seed));
    let random = Random::stream(seed, kind.name);
    (kind.compose)(&mut SampleJob { settings, random, units, log: &mut log });
    log.finish()
}
