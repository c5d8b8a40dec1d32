//! What the audit says about a claim or a cell.

use std::hash::{DefaultHasher, Hash, Hasher};

use assay_model::Source;
use serde::Serialize;

/// What the evidence says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The document's own numbers contradict it.
    Contradicted,
    /// Every reading fails, but the text may mean something else.
    Doubtful,
    /// Several readings remain, or nothing in the document bears on it.
    NotChecked,
    /// The document's own numbers give it.
    Supported,
}

/// What a finding is about. The word is stable: it is what `--json` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Cells of a table against each other.
    TableLaw,
    /// A percentage, a factor or a difference in prose against the numbers it compares.
    Comparison,
    /// A number in prose against the place it comes from.
    Restatement,
    /// An equation written out in the text.
    Equation,
    /// A statistic of listed samples.
    SampleStatistic,
    /// A stated duration against timestamps.
    Duration,
    /// Rows that are compared although their settings differ.
    UnequalComparison,
    /// A value outside what was measured, stated as measured.
    Extrapolation,
    /// A choice made on the data that the result is reported for.
    TestSetChoice,
    /// A value above what is possible: 100 %, a peak, a limit.
    Bound,
    /// How a rate grows with devices.
    Scaling,
    /// A declared setting that is not the observed one.
    SettingNotApplied,
    /// A rate whose unit or scope is not what its name says.
    RateScope,
    /// Tokens that cannot all be output.
    TokenCount,
    /// Queue, compile or start-up inside a time that is called work.
    WaitingInside,
    /// A compiled program from a cache, which looks like a speedup.
    CacheHit,
    /// Warm-up inside a mean.
    WarmUp,
    /// A sample far from its neighbors.
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
    /// A summary that lies outside the samples it summarizes.
    SummaryOutside,
    /// A higher rate that is slower to the same loss.
    RateAgainstLearning,
    /// A difference smaller than the metric can resolve.
    Resolution,
    /// A cell without a number where one is due.
    BadCell,
    /// Runs of the same thing, which can serve as repeats of one another.
    Repeats,
    /// A jump in a ratio that points at swapping or another change of regime.
    Regime,
    /// A claim that a language model proposed; the arithmetic is ours.
    Assisted,
}

/// A number that went into a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Operand {
    pub text: String,
    pub value: f64,
    pub line: u64,
}

/// One claim that was looked at, or one thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub class: Class,
    pub level: Level,
    /// One sentence with the numbers.
    pub summary: String,
    /// The arithmetic, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arithmetic: Vec<String>,
    /// Where it is, the most important place first.
    pub sources: Vec<Source>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<Operand>,
    /// What to do, or what would settle it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Finding {
    /// A name that stays the same as long as the finding says the same at the same place.
    pub fn id(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (self.class, &self.summary).hash(&mut hasher);
        self.sources.first().map(|source| (&source.file, source.line)).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
