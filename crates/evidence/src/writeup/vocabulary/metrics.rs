//! Names of metrics: what a header or a phrase measures, in which unit, over what, and by which statistic.

mod phrase;
mod rules;

use std::collections::HashSet;
use std::sync::LazyLock;

use assay_model::{Scope, Statistic, Unit, names};

use self::phrase::Phrase;
use crate::writeup::units;

/// What a phrase says it measures.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricWord {
    /// The canonical name, without a suffix for the statistic.
    pub name: &'static str,
    /// The base unit: the one that the phrase shows, or else the metric's own.
    pub unit: Unit,
    /// The factor from numbers under this phrase to the base unit.
    pub factor: f64,
    /// Whether the phrase itself shows the unit.
    pub unit_told: bool,
    /// What a rate or duration was taken over, where the phrase shows.
    pub scope: Option<Scope>,
    /// The statistic that the phrase names.
    pub statistic: Option<Statistic>,
    /// Whether a tool computed it instead of measuring.
    pub prediction: bool,
}

impl MetricWord {
    /// The full canonical name. A mean keeps the plain name; other statistics get a suffix.
    pub fn full_name(&self) -> String {
        match self.statistic.and_then(Statistic::suffix) {
            Some(suffix) => format!("{}.{suffix}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The unit and factor for bare numbers under this phrase, where the phrase shows them.
    pub fn stated(&self) -> Option<(Unit, f64)> {
        self.unit_told.then(|| (self.unit.clone(), self.factor))
    }
}

/// The statistic that a phrase names, if it names nothing else: `Mean`, `P99`.
pub fn statistic(text: &str) -> Option<Statistic> {
    let phrase = Phrase::read(text);
    phrase.statistic.filter(|_| phrase.words.is_empty())
}

/// The metric that a phrase names, going by the phrase alone.
pub fn metric_name(text: &str) -> Option<MetricWord> {
    metric_of(text, None)
}

/// The metric that a phrase names. `unit` is the unit of the numbers beside the phrase, where they show one: the
/// `Throughput` of numbers in tokens per second is another metric than that of numbers in samples per second.
pub fn metric_of(text: &str, unit: Option<&Unit>) -> Option<MetricWord> {
    if text.len() > 120 {
        return None;
    }
    let phrase = Phrase::read(text);
    let stated = phrase.unit.clone();
    let known = stated.as_ref().map(|(unit, _)| unit).or(unit);
    let (name, scope) = rules::name(&phrase, known)?;
    if known.is_some_and(|unit| !fits(name, unit)) {
        return None;
    }
    let unit_told = stated.is_some();
    let (unit, factor) = stated.unwrap_or_else(|| (own_unit(name, unit), 1.0));
    Some(MetricWord {
        name,
        unit,
        factor,
        unit_told,
        scope,
        statistic: phrase.statistic,
        prediction: phrase.prediction,
    })
}

/// The words that rules begin with. Whatever the rules ask a phrase for, they decide on a phrase with none of these
/// words as on one without words: it names nothing.
static TELLING: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let phrase = Phrase::asked();
    // A phrase without words and unit names nothing; what counts is what it was asked for.
    let _ = rules::name(&phrase, None);
    let mut words = phrase.into_asked();
    // `samples per second` shows its unit over several words.
    words.insert("per");
    words
});

/// Whether a phrase with this token in it may name a metric; the token comes as it is written and cut into words. A phrase
/// without such a token names none, which is found many times faster than by reading it.
pub fn is_telling(written: &str, words: &[String]) -> bool {
    words.iter().any(|word| TELLING.contains(word.as_str())) || phrase::may_tell_unit(written)
}

/// The unit of numbers under a phrase that shows none. A throughput without any unit may count anything.
fn own_unit(name: &str, unit: Option<&Unit>) -> Unit {
    match (name, unit) {
        (_, Some(unit)) => unit.clone(),
        (names::SAMPLES_PER_S, None) => units::unknown(),
        _ => names::unit(name),
    }
}

/// Whether numbers in this unit can be values of this metric.
fn fits(name: &str, unit: &Unit) -> bool {
    let own = names::unit(name);
    match (&own, unit) {
        (_, Unit::One) => true,
        (_, Unit::Other(other)) if other == "times" => {
            matches!(name, names::SPEEDUP) || !matches!(own, Unit::Fraction)
        }
        (Unit::One, Unit::Fraction) => name == names::QUALITY || name == names::SPEEDUP,
        // `6.74 B` parameters are billions, whatever the letter means elsewhere.
        (Unit::One, Unit::Bytes) => name == names::PARAMETERS,
        (Unit::One, Unit::Other(other)) => name == names::PARAMETERS && other == "parameters",
        (Unit::PerSecond(thing), Unit::PerSecond(other)) => {
            thing == other || thing == "samples" && matches!(other.as_str(), "images" | "sequences")
        }
        (Unit::Count(thing), Unit::Count(other)) => {
            thing == other || thing == "samples" && matches!(other.as_str(), "images" | "sequences")
        }
        (Unit::Count(thing), Unit::Other(other)) => thing == "samples" && other == "images",
        _ => own == *unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn full(text: &str) -> Option<String> {
        metric_name(text).map(|word| word.full_name())
    }

    #[test]
    fn headers_lead_to_canonical_names() {
        for (text, name) in [
            ("Final Loss", "loss.final"),
            ("Loss", "loss.train"),
            ("Validation loss", "loss.eval"),
            ("Test Accuracy", "accuracy"),
            ("Accuracy (%)", "accuracy"),
            ("Perplexity", "perplexity"),
            ("F1 score", "quality"),
            ("Training Samples per Second", "samples_per_s.loop"),
            ("Rate (samples/sec)", "samples_per_s"),
            ("samples_per_s", "samples_per_s"),
            ("tokens_per_s", "tokens_per_s.unnamed"),
            ("throughput_tokens_per_s", "tokens_per_s.unnamed"),
            ("requests_per_s", "request_throughput"),
            ("gb_per_s", "bytes_per_s"),
            ("ms_per_step", "step_s"),
            ("time per step (ms)", "step_s"),
            ("seconds per epoch", "epoch_s"),
            ("time_per_epoch_s", "epoch_s"),
            ("ms_per_token", "tpot"),
            ("Processing Rate (samples/s)", "samples_per_s"),
            ("Global Rate (samples/sec)", "samples_per_s.loop"),
            ("Avg Rate (samples/sec)", "samples_per_s.instant"),
            ("Throughput (samples/sec)", "samples_per_s"),
            ("Throughput (tokens/s)", "tokens_per_s.unnamed"),
            ("Output token throughput (tok/s)", "output_throughput"),
            ("Requests per second", "request_throughput"),
            ("end-to-end IPS", "inferences_per_s"),
            ("on-chip IPS", "inferences_per_s.estimated"),
            ("end-to-end latency (ms)", "e2e"),
            ("on-chip latency (ms)", "latency.estimated"),
            ("Mean Latency", "e2e"),
            ("Median Latency", "e2e.median"),
            ("P99 latency [ms]", "e2e.p99"),
            ("p50_ttft_ms", "ttft.p50"),
            ("Time to first token (s)", "ttft"),
            ("TPOT", "tpot"),
            ("Processing Time (s)", "duration.reported"),
            ("Total Time (seconds)", "duration.reported"),
            ("Compile time (s)", "duration.compile"),
            ("Queue wait (s)", "duration.queue"),
            ("Step time (ms)", "step_s"),
            ("forward_time", "time.forward"),
            ("CPU / forward_time", "time.forward"),
            ("forward+backward", "time.forward_backward"),
            ("fwd+bwd (ms)", "time.forward_backward"),
            ("num_params", "parameters"),
            ("Number of samples processed", "samples"),
            ("Avg Response Length", "tokens.response"),
            ("Avg prompt length", "tokens.prompt"),
            ("input_length", "tokens.prompt"),
            ("output_length", "tokens.output"),
            ("MB/s", "bytes_per_s"),
            ("Rate (MB/s)", "bytes_per_s"),
            ("Throughput [GiB/s]", "bytes_per_s"),
            ("Memory bandwidth (GB/s)", "bytes_per_s"),
            ("Median rate (MB/s)", "bytes_per_s.median"),
            ("Success Rate", "success"),
            ("Speedup", "speedup"),
            ("Scaling efficiency", "efficiency"),
            ("MFU", "mfu"),
            ("Peak memory (GB)", "memory.peak"),
            ("TFLOP/s", "flops_per_s"),
            ("Std time (ms)", "duration.reported.std"),
            ("Seconds", "duration.reported"),
        ] {
            assert_eq!(full(text).as_deref(), Some(name), "{text}");
        }
        assert_eq!(statistic("P99"), Some(Statistic::Percentile(99.0)));
        assert_eq!(statistic("Std (s)"), Some(Statistic::Deviation));
        assert_eq!(statistic("Mean latency"), None);
        for text in [
            "",
            "Tokens/s/GPU",
            "the baseline's",
            "Batch Size",
            "Metric",
            "Notes",
            "CPU",
            "Sophia (GPU)",
            "Response length (characters)",
            "Input length (characters)",
            "Block (bytes)",
        ] {
            assert_eq!(full(text), None, "{text}");
        }
    }

    #[test]
    fn units_scopes_and_predictions_come_along() {
        let word = metric_name("end-to-end latency (ms)").unwrap();
        assert_eq!((word.unit.clone(), word.factor, word.unit_told), (Unit::Seconds, 1e-3, true));
        assert!(!word.prediction);
        assert!(metric_name("on-chip latency (ms)").unwrap().prediction);
        assert_eq!(metric_name("Global Rate (samples/sec)").unwrap().scope, Some(Scope::Loop));
        assert_eq!(metric_name("Avg Rate (samples/sec)").unwrap().scope, Some(Scope::Instant));
        assert_eq!(metric_name("Throughput").unwrap().unit, units::unknown());
        let tokens = Unit::PerSecond("tokens".into());
        assert_eq!(metric_of("Throughput", Some(&tokens)).unwrap().name, "tokens_per_s.unnamed");
    }

    /// Words that name metrics, units and statistics, words that do not, and the signs that join them.
    fn phrase() -> impl Strategy<Value = Vec<&'static str>> {
        const WORDS: [&str; 52] = [
            "the",
            "river",
            "loss",
            "Accuracies",
            "top",
            "1",
            "first",
            "token",
            "tokens",
            "per",
            "second",
            "sec",
            "per-second",
            "samples/sec",
            "samples_per_s",
            "ms",
            "Min",
            "mean",
            "p99",
            "IPS",
            "tok/s",
            "Latency",
            "trainTime",
            "response",
            "model",
            "FLOPs",
            "utilization",
            "gradient",
            "norm",
            "speed",
            "up",
            "scaling",
            "factor",
            "forward+backward",
            "step",
            "full",
            "time",
            "hours",
            "memory",
            "GB",
            "images",
            "number",
            "of",
            "inter",
            "successful",
            "requests",
            "kv",
            "usage",
            "estimated",
            "on-chip",
            "wait",
            "std",
        ];
        prop::collection::vec(prop::sample::select(WORDS.as_slice()), 1..5)
    }

    proptest! {
        #[test]
        fn a_phrase_that_names_something_has_a_telling_word(phrase in phrase()) {
            let stated = phrase.iter().any(|word| is_telling(word, &super::super::words::words(word)));
            let name = full(&phrase.join(" "));
            prop_assert!(stated || name.is_none(), "{phrase:?} is {name:?}");
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".*", odd in "[a-z()\\[\\]/%_ ]{0,60}") {
            let _ = (metric_name(&text), metric_name(&odd));
        }
    }
}
