//! The formulas that rates and counts of benchmarks follow.

use assay_model::names::{self, setting};

/// How one column follows from others of its row.
pub(super) struct Formula {
    /// The metric that it gives; also metrics whose names go on behind a point.
    pub gives: &'static str,
    /// Factors.
    pub product: &'static [&'static str],
    /// Times that may stand under them; empty where nothing is divided.
    pub over: &'static [&'static str],
    /// Whether a table that has all these columns ought to follow it.
    pub strict: bool,
}

/// Prompt and output tokens added up.
pub(super) const TOKENS_BOTH: &str = "tokens.prompt + tokens.output";

const TOTAL: &[&str] = &[
    names::DURATION_LOOP,
    names::DURATION_REPORTED,
    names::DURATION_FIT,
    names::DURATION_JOB,
    names::DURATION_SCRIPT,
    names::TIMING,
];
const STEP: &[&str] = &[names::STEP_S, names::TIME_STEP, names::TIME_FORWARD_BACKWARD, names::TIME_FORWARD];
const LATENCY: &[&str] = &[names::E2E, names::LATENCY];
const PREDICTED: &[&str] = &[names::LATENCY_ESTIMATED];
const NOTHING: &[&str] = &[];

const fn must(
    gives: &'static str,
    product: &'static [&'static str],
    over: &'static [&'static str],
) -> Formula {
    Formula { gives, product, over, strict: true }
}

const fn may(
    gives: &'static str,
    product: &'static [&'static str],
    over: &'static [&'static str],
) -> Formula {
    Formula { gives, product, over, strict: false }
}

/// All formulas, the plainest first.
pub(super) const FORMULAS: &[Formula] = &[
    must(names::SAMPLES_PER_S, &[names::SAMPLES], TOTAL),
    must(names::SAMPLES_PER_S, &[setting::BATCH_SIZE, setting::STEPS], TOTAL),
    may(names::SAMPLES_PER_S, &[setting::BATCH_SIZE, setting::STEPS, setting::TASKS], TOTAL),
    may(names::SAMPLES_PER_S, &[setting::BATCH_SIZE, setting::STEPS, setting::DEVICES], TOTAL),
    must(names::SAMPLES_PER_S, &[setting::BATCH_SIZE], STEP),
    may(names::SAMPLES_PER_S, &[setting::BATCH_SIZE], LATENCY),
    may(names::SAMPLES_PER_S, &[setting::BATCH_SIZE, setting::TASKS], STEP),
    may(names::SAMPLES_PER_S, &[setting::BATCH_SIZE, setting::DEVICES], STEP),
    may(names::SAMPLES_PER_S, &[setting::BATCH_SIZE, names::STEPS_PER_S], NOTHING),
    must(names::TOKENS_PER_S, &[names::TOKENS], TOTAL),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, setting::SEQUENCE_LENGTH, setting::STEPS], TOTAL),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, setting::SEQUENCE_LENGTH], STEP),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, TOKENS_BOTH], LATENCY),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, names::TOKENS_OUTPUT], LATENCY),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, names::TOKENS_TOTAL], LATENCY),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, names::TOKENS_RESPONSE], LATENCY),
    must(names::TOKENS_PER_S, &[setting::BATCH_SIZE, names::TOKENS], LATENCY),
    may(names::TOKENS_PER_S, &[setting::BATCH_SIZE, setting::SEQUENCE_LENGTH], LATENCY),
    may(names::TOKENS_PER_S, &[names::TOKENS_RESPONSE], LATENCY),
    may(names::TOKENS_PER_S, &[names::TOKENS_OUTPUT], LATENCY),
    may(names::TOKENS_PER_S, &[names::TOKENS_TOTAL], LATENCY),
    may(names::TOKENS_PER_S, &[names::TOKENS], LATENCY),
    may(names::TOKENS_PER_S, &[names::TOKENS_OUTPUT], TOTAL),
    may(names::TOKENS_PER_S, &[names::TOKENS_TOTAL], TOTAL),
    may(names::TOKENS_PER_S, &[TOKENS_BOTH], TOTAL),
    may(names::TOKENS_PER_S, &[names::REQUESTS, names::TOKENS_OUTPUT], TOTAL),
    may(names::TOKENS_PER_S, &[names::REQUESTS, names::TOKENS_RESPONSE], TOTAL),
    may(names::TOKENS_PER_S, &[setting::CONCURRENCY, names::TOKENS_OUTPUT], LATENCY),
    may(names::TOKENS_PER_S, &[setting::CONCURRENCY, names::TOKENS_RESPONSE], LATENCY),
    may(names::TOKENS_PER_S, &[names::SAMPLES, setting::SEQUENCE_LENGTH], TOTAL),
    may(names::TOKENS_PER_S, &[names::SAMPLES_PER_S, setting::SEQUENCE_LENGTH], NOTHING),
    may(names::TOKENS_PER_S, &[names::REQUEST_THROUGHPUT, names::TOKENS_OUTPUT], NOTHING),
    must(names::STEPS_PER_S, &[setting::STEPS], TOTAL),
    must(names::STEPS_PER_S, &[], &[names::STEP_S, names::TIME_STEP]),
    must(names::REQUEST_THROUGHPUT, &[names::REQUESTS], TOTAL),
    may(names::REQUEST_THROUGHPUT, &[setting::CONCURRENCY], LATENCY),
    may(names::REQUEST_THROUGHPUT, &[], LATENCY),
    must(names::INFERENCES_PER_S, &[names::SAMPLES], TOTAL),
    must(names::INFERENCES_PER_S, &[names::REQUESTS], TOTAL),
    may(names::INFERENCES_PER_S, &[], LATENCY),
    may(names::INFERENCES_PER_S, &[setting::BATCH_SIZE], LATENCY),
    may(names::INFERENCES_PER_S_ESTIMATED, &[], PREDICTED),
    may(names::INFERENCES_PER_S_ESTIMATED, &[setting::BATCH_SIZE], PREDICTED),
    must(names::SAMPLES, &[setting::BATCH_SIZE, setting::STEPS], NOTHING),
    may(names::SAMPLES, &[setting::BATCH_SIZE, setting::STEPS, setting::TASKS], NOTHING),
    may(names::SAMPLES, &[setting::BATCH_SIZE, setting::STEPS, setting::DEVICES], NOTHING),
    must(names::TOKENS, &[setting::BATCH_SIZE, setting::SEQUENCE_LENGTH, setting::STEPS], NOTHING),
    must(names::TOKENS, &[names::SAMPLES, setting::SEQUENCE_LENGTH], NOTHING),
];

impl Formula {
    /// Whether it gives a metric. A statistic other than the mean follows no formula.
    pub fn is_for(&self, metric: &str) -> bool {
        let statistic = metric.rsplit_once('.').is_some_and(|(_, last)| is_statistic(last));
        let counts = matches!(self.gives, names::SAMPLES | names::TOKENS);
        let estimated = metric.ends_with(".estimated") != self.gives.ends_with(".estimated");
        let tokens = self.gives == names::TOKENS_PER_S
            && [names::OUTPUT_THROUGHPUT, names::TOTAL_TOKEN_THROUGHPUT, names::PROMPT_THROUGHPUT]
                .contains(&metric);
        let family = tokens || metric.strip_prefix(self.gives).is_some_and(|rest| rest.starts_with('.'));
        !statistic && !estimated && (metric == self.gives || (family && !counts))
    }
}

/// Whether the last part of a metric's name is a statistic.
pub(super) fn is_statistic(word: &str) -> bool {
    matches!(word, "median" | "min" | "max" | "std")
        || word
            .strip_prefix('p')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// What a rate or a duration was taken over, by the last part of its name; none where it does not say.
pub(super) fn scope(metric: &str) -> Option<&str> {
    let last = metric.rsplit_once('.')?.1;
    matches!(last, "instant" | "loop" | "fit" | "job").then_some(last)
}
