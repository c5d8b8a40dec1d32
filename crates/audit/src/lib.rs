//! The audit: what the evidence in documents supports, what it contradicts, and what it cannot tell.
//!
//! Every check is one file with one function from `facts::Facts` to findings, and one line in `CHECKS`. What is
//! noise is decided in `noise.rs` alone.

use assay_model::{Document, Source};
use serde::Serialize;

use facts::Facts;

mod cache;
mod cells;
mod chance;
mod claims;
mod derived;
mod divergence;
mod facts;
mod gate;
mod grid;
mod identity;
mod learning;
mod no_repeats;
mod noise;
mod parameters;
mod prediction;
mod probabilities;
mod profiler;
#[cfg(test)]
mod properties;
mod regime;
mod repeats;
mod resolution;
mod same;
#[cfg(test)]
mod sample;
mod scaling;
mod scope;
mod settings;
mod sound;
mod summary;
mod tokens;
mod unmeasured;
mod waiting;
mod wording;
mod work;
mod written;

pub use repeats::Described;

/// One check.
type Check = fn(&Facts<'_>) -> Vec<Finding>;

/// All checks but the last, which says what was sound and therefore looks at what the others found.
const CHECKS: &[Check] = &[
    // Tables, arithmetic, samples.
    derived::check,
    scaling::check,
    identity::check,
    scope::check,
    tokens::check,
    summary::check,
    regime::check,
    parameters::check,
    probabilities::check,
    cells::check,
    resolution::check,
    unmeasured::check,
    // Runs, repeats, noise.
    settings::check,
    repeats::check,
    noise::check,
    no_repeats::check,
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

/// What the evidence says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The evidence contradicts it.
    Contradicted,
    /// The number is there, but it does not mean what it is taken for.
    Doubtful,
    /// The evidence cannot tell; the advice says what would settle it.
    Open,
    /// The evidence supports it.
    Supported,
}

/// What kind of thing was found. The word is stable: it is what `--json` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A setting was declared one way and observed another.
    SettingNotInForce,
    /// A column that follows from others does not.
    DerivedColumn,
    /// A rate whose unit or scope is not what its name says.
    RateScope,
    /// Tokens that cannot all be output.
    TokenCount,
    /// Numbers of one table that cannot all be true.
    Identity,
    /// Queue, compile or start-up inside a time or rate that is taken for work.
    WaitingInside,
    /// A compiled program from a cache, which looks like a speed-up.
    CacheHit,
    /// Warm-up inside a mean.
    WarmUp,
    /// A sample far from its neighbours.
    Outlier,
    /// A difference no larger than the spread of repeats.
    NoiseAsEffect,
    /// Runs that did different amounts of work, compared as if they had not.
    UnequalWork,
    /// Accuracy at the level of guessing.
    ChanceLevel,
    /// A loss that is not a number, or that grew without bound.
    Divergence,
    /// A prediction ranked beside measurements.
    PredictionRanked,
    /// A run that failed a gate though its numbers are valid, or that printed numbers and failed.
    Gate,
    /// A profiled run among plain ones.
    Profiler,
    /// A summary that lies outside the samples it summarises, or is not the statistic it is called.
    SummaryOutside,
    /// A higher rate that is slower to the same loss.
    RateAgainstLearning,
    /// A parameter count that the shapes do not give.
    ParameterCount,
    /// Probabilities that do not follow from the logits.
    Probabilities,
    /// A difference smaller than the metric can resolve.
    Resolution,
    /// A cell without a number where one is due.
    BadCell,
    /// One run of each, so nothing says how much it varies.
    NoRepeats,
    /// Runs of the same thing, which can serve as repeats of one another.
    Repeats,
    /// How a rate grows with tasks or devices.
    Scaling,
    /// A statement that nothing in the evidence measures.
    Unmeasured,
    /// A jump in a ratio that points at swapping or another change of regime.
    Regime,
    /// A stated percentage, factor or count that was recomputed.
    Arithmetic,
    /// What was read without finding fault.
    Sound,
}

/// One thing the audit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The kind.
    pub class: Class,
    /// What the evidence says.
    pub standing: Standing,
    /// One sentence: what was found, with the numbers.
    pub summary: String,
    /// The arithmetic, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arithmetic: Vec<String>,
    /// Where it stands, the most telling place first.
    pub sources: Vec<Source>,
    /// What to do, or what would settle it; empty where nothing is to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// All that was found in some documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Audit {
    /// What was found, the worst first, then by file and line.
    pub findings: Vec<Finding>,
    /// Runs that did the same thing, over all documents.
    pub groups: Vec<RepeatGroup>,
}

impl Audit {
    /// Whether anything is contradicted.
    pub fn contradicts(&self) -> bool {
        self.findings.iter().any(|finding| finding.standing == Standing::Contradicted)
    }
}

/// Runs that did the same thing, by what was observed and not by what was declared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatGroup {
    /// What they have in common, for people.
    pub label: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: assay_model::Unit,
    /// The values with their places.
    pub values: Vec<(f64, Source)>,
}

/// Audits documents together: repeats are looked for across all of them.
pub fn audit(documents: &[Document]) -> Audit {
    let facts = Facts::new(documents);
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&facts)).collect();
    findings.extend(sound::check(&facts, &findings));
    findings.sort_by(|one, other| order(one).cmp(&order(other)));
    findings.dedup_by(|later, earlier| later.class == earlier.class && later.summary == earlier.summary);
    Audit { findings, groups: facts.groups }
}

/// The worst first, then by file and line.
fn order(finding: &Finding) -> (Standing, Option<(&str, u64)>, Class, &str) {
    let place = finding.sources.first().map(|source| (source.file.as_str(), source.line));
    (finding.standing, place, finding.class, finding.summary.as_str())
}
