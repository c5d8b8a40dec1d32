//! Whether intervals cover the truth as often as they claim.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use assay_random::Random;
use assay_stats::bootstrap::Bootstrap;
use assay_stats::nested::nested_variance;
use assay_stats::scaling::{Law, Level, bands, fit};
use assay_stats::{
    Decision, Interval, PrecisionRule, decide, mean_interval, median_interval, proportion, quantile_interval,
    ratio_interval,
};

use super::{NOISE, time, times};
use crate::figures::table;
use crate::goal::{Bound, Goals};

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
            Bound::AtLeast((100.0 * least - allowed).round()),
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
    ]
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
                    levels.push(Level { workers, throughput, weight: throughput.powi(-2) });
                }
            }
            let law = fit(&levels, Law::Amdahl)?;
            let bootstrap = Bootstrap { confidence: 0.95, resamples: 300, seed: 1 };
            claim(bands(&levels, &law, &[64.0], &bootstrap)?.at.first().copied())
        }),
    )
}
