//! The values of runs that did the same thing, by metric.

use std::collections::BTreeMap;

use assay_model::{KnownBy, Observation, Phase, Value, names};

use super::super::facts::Run;
use super::Repeated;

/// Metrics of which repeats are worth looking at, in the order in which they are shown.
pub(super) const REPEATED: [&str; 28] = [
    names::ACCURACY,
    names::QUALITY,
    names::PERPLEXITY,
    names::LOSS_FINAL,
    names::LOSS_EVAL,
    names::DURATION_REPORTED,
    names::DURATION_LOOP,
    names::DURATION_FIT,
    names::DURATION_JOB,
    names::SAMPLES_PER_S,
    names::SAMPLES_PER_S_LOOP,
    names::SAMPLES_PER_S_FIT,
    names::TOKENS_PER_S,
    names::OUTPUT_THROUGHPUT,
    names::TOKENS_PER_S_UNNAMED,
    names::REQUEST_THROUGHPUT,
    names::INFERENCES_PER_S,
    "bytes_per_s",
    names::STEPS_PER_S,
    names::STEP_S,
    names::EPOCH_S,
    names::E2E,
    names::TTFT,
    names::TPOT,
    names::TIME_FORWARD,
    names::TIME_FORWARD_BACKWARD,
    names::TIME_STEP,
    names::TIMING,
];

/// A number of unnamed span is taken for the loop's where another run of the same thing says that it is the loop's.
const NAMED: [(&str, &str); 2] =
    [(names::DURATION_REPORTED, names::DURATION_LOOP), (names::SAMPLES_PER_S, names::SAMPLES_PER_S_LOOP)];

/// What a run says of a metric; for a number of unnamed span, also what it says of the loop.
pub(super) fn value<'a>(run: &Run<'a>, metric: &str) -> Option<&'a Observation> {
    let named =
        NAMED.iter().find(|(unnamed, _)| *unnamed == metric).and_then(|(_, named)| run.observation(named));
    named.or_else(|| run.observation(metric)).filter(|observation| observation.value.is_finite())
}

/// All that a run says of a metric: one value, or several where the columns of a table number repeats.
fn values<'a>(run: &Run<'a>, metric: &str) -> Vec<&'a Observation> {
    let several = run.observations(metric);
    if several.len() > 1 { several } else { value(run, metric).into_iter().collect() }
}

/// The metrics that two or more members state.
pub(super) fn repeated(runs: &[Run<'_>], members: &[usize]) -> Vec<Repeated> {
    let mut found = Vec::new();
    for metric in REPEATED {
        if is_covered(runs, members, metric) {
            continue;
        }
        let mut parts: BTreeMap<Option<&'static str>, Repeated> = BTreeMap::new();
        let conditions = conditions(runs, members, metric);
        for (place, condition) in members.iter().zip(conditions) {
            let Some(run) = runs.get(*place) else { continue };
            for observation in values(run, metric) {
                let source = observation.source.clone().unwrap_or_else(|| run.source());
                let part = parts.entry(condition).or_insert_with(|| Repeated {
                    metric,
                    unit: observation.unit.clone(),
                    condition,
                    values: Vec::new(),
                });
                if part.unit == observation.unit {
                    part.values.push((*place, observation.value, source));
                }
            }
        }
        found.extend(parts.into_values().filter(|part| part.values.len() > 1 && are_alike(part)));
    }
    found
}

/// Whether values can be repeats of one thing. A factor of fifty is another quantity in a misread column.
fn are_alike(part: &Repeated) -> bool {
    let values = || part.values.iter().map(|(_, value, _)| value.abs());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    low == 0.0 || high <= 50.0 * low
}

/// Whether the other name of the pair in [`NAMED`] covers the same runs.
fn is_covered(runs: &[Run<'_>], members: &[usize], metric: &str) -> bool {
    let count = |name: &str| {
        members
            .iter()
            .filter_map(|place| runs.get(*place))
            .filter(|run| run.observation(name).is_some())
            .count()
    };
    let either = |unnamed: &str| {
        members
            .iter()
            .filter_map(|place| runs.get(*place))
            .filter(|run| value(run, unnamed).is_some())
            .count()
    };
    NAMED.iter().any(|(unnamed, named)| {
        (metric == *named && either(unnamed) > count(named))
            || (metric == *unnamed && either(unnamed) == count(named))
    })
}

/// What changes the times of each run without changing what it computes.
fn conditions(runs: &[Run<'_>], members: &[usize], metric: &str) -> Vec<Option<&'static str>> {
    if !is_about_time(metric) {
        return vec![None; members.len()];
    }
    let members: Vec<&Run<'_>> = members.iter().filter_map(|place| runs.get(*place)).collect();
    let inside: Vec<Option<bool>> = members.iter().map(|run| compile_inside(run)).collect();
    let is_inside_some = inside.contains(&Some(true));
    members
        .iter()
        .zip(&inside)
        .map(|(run, own)| match own {
            _ if run.is_on(names::setting::PROFILER) => Some("with a profiler"),
            Some(true) => Some("with the compilation inside"),
            None if is_inside_some => Some("perhaps with the compilation inside"),
            _ => None,
        })
        .collect()
}

/// Whether a metric is a time or a rate.
pub(in super::super) fn is_about_time(metric: &str) -> bool {
    ["duration", "latency", "ttft", "tpot", "itl", "e2e", "time", "timing", "step_s", "epoch_s"]
        .iter()
        .any(|stem| metric.starts_with(stem))
        || metric.contains("_per_s")
        || metric.contains("throughput")
}

/// Whether the compilation lies inside the time of the loop; absent where the log shows that it does not, or where
/// nothing shows.
pub(in super::super) fn compile_inside(run: &Run<'_>) -> Option<bool> {
    let whole = run
        .phase_seconds("train")
        .or_else(|| run.value(names::DURATION_LOOP))
        .filter(|whole| *whole > 0.0)?;
    Some(compile_within(run)? > 0.02 * whole)
}

/// The seconds of compilation inside the time of the loop, 0 for a program from a cache; absent as for
/// [`compile_inside`].
pub(in super::super) fn compile_within(run: &Run<'_>) -> Option<f64> {
    let phases = &run.read.phases;
    let train = phases.iter().position(|phase| phase.name == "train");
    let compile: Vec<(usize, &Phase)> =
        phases.iter().enumerate().filter(|(_, phase)| phase.name == "compile").collect();
    let trains = || phases.iter().filter(|phase| phase.name == "train");
    if train.is_some()
        && !compile.is_empty()
        && compile.iter().all(|(_, one)| trains().all(|other| are_apart(one, other)))
    {
        return None;
    }
    if compile.is_empty() {
        let cached = match run.setting(names::setting::COMPILE_CACHE) {
            Some(Value::Switch(cached)) => *cached,
            _ => return None,
        };
        let by_bars = !phases.is_empty() && phases.iter().all(|phase| phase.known_by == KnownBy::Bar);
        return (cached && by_bars).then_some(0.0);
    }
    // A bar is done before the bar around it. What comes behind the loop was compiled for something else.
    let before = compile.iter().filter(|(place, _)| train.is_none_or(|train| *place < train));
    let lengths: Vec<f64> = before.filter_map(|(_, phase)| phase.seconds).collect();
    (!lengths.is_empty()).then(|| lengths.iter().sum())
}

fn are_apart(one: &Phase, other: &Phase) -> bool {
    let before = |first: &Phase, second: &Phase| {
        first.end_s.zip(second.start_s).is_some_and(|(end, start)| end <= start + 1e-6)
    };
    before(one, other) || before(other, one)
}
