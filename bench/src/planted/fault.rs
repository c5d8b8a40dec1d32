//! The errors that are planted, and what counts as finding one.

/// One class of error that people make in write-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A setting is declared that the log shows was not in effect.
    SettingNotInForce,
    /// A column that follows from others does not.
    DerivedColumn,
    /// A rate has the wrong unit, or is taken over more than the work.
    RateScope,
    /// Tokens called the answer cannot all be the answer.
    TokenCount,
    /// Numbers of one row cannot all be true.
    Identity,
    /// Queue or compile time is inside a time taken for work.
    WaitingInside,
    /// A compiled program came from a cache, and the time saved is taken for a speedup.
    CacheHit,
    /// The first, slow iteration is inside a mean.
    WarmUp,
    /// A sample far from the others is inside a mean, unremarked.
    Outlier,
    /// A difference inside the spread of repeats is called an effect.
    NoiseAsEffect,
    /// Runs of different amounts of work are compared as if they were equal.
    UnequalWork,
    /// An accuracy at the level of guessing is taken for a result.
    ChanceLevel,
    /// The loss became no number, and the run is reported all the same.
    Divergence,
    /// A number that a compiler predicts is ranked beside measurements.
    PredictionRanked,
    /// A failed gate is taken for a failed run, or a failed run for a good one.
    Gate,
    /// A profiled run is compared with plain ones.
    Profiler,
    /// A summary lies outside its samples, or is not the statistic it is called.
    SummaryOutside,
    /// A higher rate is called faster training though it reaches the same loss later.
    RateAgainstLearning,
    /// A parameter count does not follow from the shapes.
    ParameterCount,
    /// Probabilities do not follow from the logits.
    Probabilities,
    /// A difference below the metric's resolution is called one.
    Resolution,
    /// A cell has no number, or one with a typing error.
    BadCell,
    /// One run of each is compared.
    NoRepeats,
}

impl Fault {
    /// All of them, in the order of the table.
    pub const ALL: [Fault; 23] = [
        Fault::SettingNotInForce,
        Fault::DerivedColumn,
        Fault::RateScope,
        Fault::TokenCount,
        Fault::Identity,
        Fault::WaitingInside,
        Fault::CacheHit,
        Fault::WarmUp,
        Fault::Outlier,
        Fault::NoiseAsEffect,
        Fault::UnequalWork,
        Fault::ChanceLevel,
        Fault::Divergence,
        Fault::PredictionRanked,
        Fault::Gate,
        Fault::Profiler,
        Fault::SummaryOutside,
        Fault::RateAgainstLearning,
        Fault::ParameterCount,
        Fault::Probabilities,
        Fault::Resolution,
        Fault::BadCell,
        Fault::NoRepeats,
    ];

    /// The word that the audit uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::SettingNotInForce => "setting_not_applied",
            Fault::DerivedColumn => "derived_column",
            Fault::RateScope => "rate_scope",
            Fault::TokenCount => "token_count",
            Fault::Identity => "identity",
            Fault::WaitingInside => "waiting_inside",
            Fault::CacheHit => "cache_hit",
            Fault::WarmUp => "warm_up",
            Fault::Outlier => "outlier",
            Fault::NoiseAsEffect => "noise_as_effect",
            Fault::UnequalWork => "unequal_work",
            Fault::ChanceLevel => "chance_level",
            Fault::Divergence => "divergence",
            Fault::PredictionRanked => "prediction_ranked",
            Fault::Gate => "gate",
            Fault::Profiler => "profiler",
            Fault::SummaryOutside => "summary_outside",
            Fault::RateAgainstLearning => "rate_against_learning",
            Fault::ParameterCount => "parameter_count",
            Fault::Probabilities => "probabilities",
            Fault::Resolution => "resolution",
            Fault::BadCell => "bad_cell",
            Fault::NoRepeats => "no_repeats",
        }
    }

    /// Whether a finding of this class and level shows that the error was found. Arithmetic that does not hold is one
    /// thing, whether a column, a sentence or a statistic shows it.
    pub fn is_found_by(self, class: &str, level: &str) -> bool {
        let arithmetic = ["table_law", "comparison", "equation", "sample_statistic", "restatement", "bound"];
        let same = class == self.name()
            || matches!(self, Fault::DerivedColumn | Fault::Identity) && arithmetic.contains(&class);
        let reported = match level {
            "contradicted" | "doubtful" => true,
            // For these two, saying that the evidence cannot show is already the right answer.
            "not_checked" => matches!(self, Fault::Resolution | Fault::NoiseAsEffect),
            _ => false,
        };
        same && reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_listed_once_under_its_own_name() {
        let mut names: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Fault::ALL.len());
    }

    #[test]
    fn what_counts_as_found_is_strict() {
        assert!(Fault::Identity.is_found_by("table_law", "contradicted"));
        assert!(Fault::WarmUp.is_found_by("warm_up", "doubtful"));
        assert!(!Fault::WarmUp.is_found_by("warm_up", "not_checked"));
        assert!(!Fault::WarmUp.is_found_by("outlier", "doubtful"));
        assert!(Fault::Resolution.is_found_by("resolution", "not_checked"));
        assert!(!Fault::NoiseAsEffect.is_found_by("no_repeats", "doubtful"));
        assert!(!Fault::NoiseAsEffect.is_found_by("noise_as_effect", "supported"));
    }
}
