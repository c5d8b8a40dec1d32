//! Whether intervals cover the truth as often as they claim.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use assay_judge::answer;
use assay_random::Random;
use assay_stats::bootstrap::Bootstrap;
use assay_stats::extremes::{self, Extremes};
use assay_stats::knee::load_law;
use assay_stats::nested::nested_variance;
use assay_stats::scaling::{Law, ScalingLevel, bands, fit};
use assay_stats::{
    Decision, Family, Interval, PositiveSamples, PrecisionRule, decide, hodges_lehmann_interval,
    mean_interval, median_interval, proportion, quantile_interval, ratio_interval,
};

use super::{NOISE, record, time, times};
use crate::figures::table;
use crate::goal::{GoalBound, Goals};

/// One simulated interval: its ends, and the confidence it claims.
type Claim = Option<(f64, f64, f64)>;

fn claim(interval: Option<Interval>) -> Claim {
    interval.map(|interval| (interval.low, interval.high, interval.confidence))
}

/// Measures the coverage of each kind of interval.
pub fn measure(trials: usize, goals: &mut Goals) {
    println!("Coverage of intervals, {trials} simulations each; shares in %");
    let mut rows = Vec::new();
    let mut random = Random::stream(1, "judge coverage");
    for (name, truth, least, mut simulate) in cases(&mut random) {
        let (mut covered, mut claimed, mut known) = (0.0, 0.0, 0.0);
        for _ in 0..trials {
            let Some((low, high, confidence)) = simulate() else { continue };
            known += 1.0;
            claimed += confidence;
            covered += f64::from(u8::from(low <= truth && truth <= high));
        }
        let (covered, claimed) = (100.0 * covered / known, 100.0 * claimed / known);
        rows.push(vec![name.to_owned(), format!("{claimed:.1}"), format!("{covered:.1}")]);
        // Three standard errors of the simulation below what each kind is known to reach.
        let allowed = 300.0 * (least * (1.0 - least) / trials as f64).sqrt();
        goals.add(
            format!("coverage: {name}"),
            covered,
            "%",
            GoalBound::AtLeast((100.0 * least - allowed).round()),
        );
    }
    println!("{}\n", table(&["interval", "claimed", "covered"], &rows));
}

type Case<'a> = (&'static str, f64, f64, Box<dyn FnMut() -> Claim + 'a>);

/// Name, true value, the least coverage it must have, and a simulation.
fn cases(random: &mut Random) -> Vec<Case<'static>> {
    let mut fork = || random.fork();
    let (mut a, mut b, mut c, mut d, mut e) = (fork(), fork(), fork(), fork(), fork());
    let (mut f, mut g, mut h, mut i, mut j) = (fork(), fork(), fork(), fork(), fork());
    let mean = (NOISE * NOISE / 2.0).exp();
    vec![
        ("median of 6", 1.0, 0.95, Box::new(move || claim(median_interval(&times(&mut a, 1.0, 6), 0.95)))),
        ("median of 30", 1.0, 0.95, Box::new(move || claim(median_interval(&times(&mut b, 1.0, 30), 0.95)))),
        (
            "p90 of 60",
            (NOISE * 1.281_551_565_545).exp(),
            0.95,
            Box::new(move || claim(quantile_interval(&times(&mut c, 1.0, 60), 0.9, 0.95))),
        ),
        ("mean of 10", mean, 0.95, Box::new(move || claim(mean_interval(&times(&mut d, 1.0, 10), 0.95)))),
        (
            "ratio of 6 and 6 (Hodges-Lehmann)",
            1.1,
            0.95,
            Box::new(move || {
                let interval = ratio_interval(&times(&mut e, 1.0, 6), &times(&mut e, 1.1, 6), 0.95).ok()?;
                Some((interval.low, interval.high, interval.confidence))
            }),
        ),
        (
            "ratio of 80 and 80 (asymptotic)",
            1.1,
            0.95,
            Box::new(move || {
                let interval = ratio_interval(&times(&mut f, 1.0, 80), &times(&mut f, 1.1, 80), 0.95).ok()?;
                Some((interval.low, interval.high, interval.confidence))
            }),
        ),
        (
            "proportion of 40 (Wilson)",
            0.3,
            0.94,
            Box::new(move || {
                let hits = (0..40).filter(|_| g.chance(0.3)).count();
                let interval = proportion::wilson(hits, 40, 0.95)?;
                Some((interval.low, interval.high, 0.95))
            }),
        ),
        (
            "jobs of iterations (nested, unequal counts)",
            1.0,
            0.95,
            Box::new(move || {
                let job = |random: &mut Random, count: usize| -> Vec<f64> {
                    let level = 1.0 + NOISE * random.normal();
                    (0..count).map(|_| level + 0.02 * random.normal()).collect()
                };
                let jobs: Vec<Vec<f64>> = [4, 9, 5, 12, 7, 4].map(|count| job(&mut h, count)).into();
                claim(nested_variance(&jobs, 0.95).map(|nested| nested.mean))
            }),
        ),
        (
            "geometric mean over 20 cells",
            1.0,
            0.95,
            Box::new(move || {
                let logarithms: Vec<f64> = times(&mut i, 1.0, 20).iter().map(|ratio| ratio.ln()).collect();
                let interval = mean_interval(&logarithms, 0.95)?;
                Some((interval.low.exp(), interval.high.exp(), interval.confidence))
            }),
        ),
        (
            "stopped at 2 % precision",
            1.0,
            0.93,
            Box::new(move || {
                let rule = PrecisionRule::new(0.02, 300);
                let mut values = Vec::new();
                while let Decision::Continue { next_check } = decide(&values, values.len(), &rule) {
                    while values.len() < next_check {
                        values.push(time(&mut j, 1.0));
                    }
                }
                claim(median_interval(&values, 0.95))
            }),
        ),
        scaling_case(random.fork()),
        batch_case(random.fork()),
        knee_case(random.fork()),
        shift_case(random.fork()),
        tail_case(random.fork()),
        best_case(random.fork()),
        efficiency_case(random.fork()),
        medians_case(random.fork()),
        means_case(random.fork()),
    ]
}

/// The limit r∞ of the half-performance law, with three runs at each of six batch sizes.
fn batch_case(mut random: Random) -> Case<'static> {
    let truth = |batch: f64| batch / (0.1 + batch / 1000.0);
    (
        "r∞ of rate(b) = b / (t₀ + b/r∞) (residual bootstrap)",
        1000.0,
        0.92,
        Box::new(move || {
            let mut levels = Vec::new();
            for batch in [16.0, 32.0, 64.0, 128.0, 256.0, 512.0] {
                for _ in 0..3 {
                    let throughput = time(&mut random, truth(batch));
                    levels.push(ScalingLevel { workers: batch, throughput, weight: truth(batch).powi(-2) });
                }
            }
            let law = fit(&levels, Law::HalfPerformance)?;
            let bootstrap = Bootstrap { confidence: 0.95, resamples: 300, seed: 1 };
            claim(bands(&levels, &law, &[512.0], &bootstrap)?.asymptote)
        }),
    )
}

/// The knee of latency over load, with three loads at each of eight sizes.
fn knee_case(mut random: Random) -> Case<'static> {
    (
        "knee of latency over load (residual bootstrap)",
        5.0,
        0.9,
        Box::new(move || {
            let mut runs = Vec::new();
            for load in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0_f64] {
                for _ in 0..3 {
                    runs.push((load, time(&mut random, (load / 5.0).max(1.0))));
                }
            }
            let bootstrap = Bootstrap { confidence: 0.95, resamples: 200, seed: 1 };
            claim(load_law(&runs, &bootstrap)?.knee)
        }),
    )
}

/// The difference of two cells in the metric's unit.
fn shift_case(mut random: Random) -> Case<'static> {
    (
        "difference of 6 and 6 (Hodges-Lehmann)",
        0.1,
        0.95,
        Box::new(move || {
            // A shift proper: the other is the base plus a constant.
            let other: Vec<f64> = times(&mut random, 1.0, 6).iter().map(|value| value + 0.1).collect();
            let found = hodges_lehmann_interval(&times(&mut random, 1.0, 6), &other, 0.95)?;
            Some((found.low, found.high, found.confidence))
        }),
    )
}

/// p99 of the requests of an endpoint.
fn tail_case(mut random: Random) -> Case<'static> {
    (
        "p99 of 400 requests",
        (NOISE * 2.326_347_874).exp(),
        0.95,
        Box::new(move || claim(quantile_interval(&times(&mut random, 1.0, 400), 0.99, 0.95))),
    )
}

/// Whether the set of cells that may be the best holds the best one, of ten cells 1 % apart.
fn best_case(mut random: Random) -> Case<'static> {
    (
        "the best of ten cells is among those that may be",
        1.0,
        0.95,
        Box::new(move || {
            let cells = (0..10).map(|cell| times(&mut random, 1.0 + 0.01 * f64::from(cell), 8)).collect();
            let judged = answer(&record("graded", cells), &[], usize::MAX);
            let is_among = f64::from(u8::from(judged.may_be_best.contains(&0)));
            Some((is_among, is_among, 0.95))
        }),
    )
}

/// Efficiencies of a scaling study hold together: here that of the most workers.
fn efficiency_case(mut random: Random) -> Case<'static> {
    (
        "efficiency at 8 of four counts (one family)",
        0.8,
        0.95,
        Box::new(move || {
            let base = times(&mut random, 100.0, 8);
            let most = times(&mut random, 100.0 * 8.0 * 0.8, 8);
            let family = Family::among(4, 0.95)?;
            let (base, most) = (PositiveSamples::new(&base).ok()?, PositiveSamples::new(&most).ok()?);
            let ratio = base.ratio_interval(&most, &family).ok()?;
            Some((ratio.low / 8.0, ratio.high / 8.0, 0.95))
        }),
    )
}

fn extremes(values: &[f64]) -> Extremes {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    Extremes { count: values.len(), low, high }
}

/// The ratio of two medians from the extremes of ten requests each.
fn medians_case(mut random: Random) -> Case<'static> {
    (
        "ratio of medians from extremes of 10 and 10",
        1.5,
        0.99,
        Box::new(move || {
            let (base, other) = (times(&mut random, 1.0, 10), times(&mut random, 1.5, 10));
            let ends = extremes::ratio_of_medians(&extremes(&base), &extremes(&other))?;
            Some((ends.low, ends.high, ends.confidence))
        }),
    )
}

/// The ratio of two means from the ranges of ten requests each.
fn means_case(mut random: Random) -> Case<'static> {
    (
        "ratio of means from ranges of 10 and 10",
        1.5,
        0.94,
        Box::new(move || {
            let (base, other) = (times(&mut random, 1.0, 10), times(&mut random, 1.5, 10));
            let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let (a, b) = (extremes(&base), extremes(&other));
            let ends = extremes::ratio_of_means((&a, average(&base)), (&b, average(&other)), 0.95)?;
            Some((ends.low, ends.high, ends.confidence))
        }),
    )
}

/// The band of Amdahl's law at the largest measured count, with three runs at each of seven counts.
fn scaling_case(mut random: Random) -> Case<'static> {
    let truth = |workers: f64| 100.0 * workers / (1.0 + 0.05 * (workers - 1.0));
    (
        "Amdahl's law at 64 workers (residual bootstrap)",
        truth(64.0),
        0.92,
        Box::new(move || {
            let mut levels = Vec::new();
            for workers in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0] {
                for _ in 0..3 {
                    let throughput = time(&mut random, truth(workers));
                    levels.push(ScalingLevel { workers, throughput, weight: throughput.powi(-2) });
                }
            }
            let law = fit(&levels, Law::Amdahl)?;
            let bootstrap = Bootstrap { confidence: 0.95, resamples: 300, seed: 1 };
            claim(bands(&levels, &law, &[64.0], &bootstrap)?.at.first().copied())
        }),
    )
}
