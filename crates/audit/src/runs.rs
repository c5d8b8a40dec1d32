//! Checks of runs: what logs and result tables show about how numbers came about.
//!
//! Every check is one file with one function from `facts::Facts` to findings, and one line in `CHECKS`.

mod cache;
mod cells;
mod chance;
mod claims;
mod divergence;
mod facts;
mod gate;
mod grid;
mod learning;
mod noise;
mod prediction;
mod profiler;
mod regime;
mod repeats;
mod resolution;
mod same;
#[cfg(test)]
mod sample;
mod scope;
mod settings;
mod summary;
mod tokens;
mod waiting;
mod wording;
mod work;
mod written;

use assay_model::Document;

use crate::{Class, Finding, Level, RepeatGroup};
use facts::Facts;

pub use repeats::Described;

type Check = fn(&Facts<'_>) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    scope::check,
    tokens::check,
    summary::check,
    regime::check,
    cells::check,
    resolution::check,
    settings::check,
    repeats::check,
    noise::check,
    waiting::check,
    cache::check,
    work::check,
    learning::check,
    profiler::check,
    prediction::check,
    gate::check,
    chance::check,
    divergence::check,
];

/// What the runs of some documents show, and which of them did the same thing.
pub fn check(documents: &[Document]) -> (Vec<Finding>, Vec<RepeatGroup>) {
    let facts = Facts::new(documents);
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&facts)).collect();
    // What is noise is an estimate, and the rows may be misread: never a contradiction.
    for finding in findings.iter_mut().filter(|finding| finding.class == Class::NoiseAsEffect) {
        finding.level = finding.level.max(Level::Doubtful);
    }
    (findings, facts.groups)
}
