//! What must hold for any data: equivariance, enclosure, and coverage by simulation.

use assay_stats::*;
use proptest::prelude::*;

fn samples(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    // Integers, so that shifting and scaling by integers does not round; they tie often, as timers do.
    prop::collection::vec((-1000_i32..1000).prop_map(f64::from), range)
}

fn moved(samples: &[f64], scale: f64, offset: f64) -> Vec<f64> {
    samples.iter().map(|value| value * scale + offset).collect()
}

proptest! {
    #[test]
    fn medians_and_their_intervals_follow_the_data(
        values in samples(1..60),
        scale in 1_i32..100,
        offset in -1000_i32..1000,
    ) {
        let (scale, offset) = (f64::from(scale), f64::from(offset));
        let before = median_interval(&values, 0.95).unwrap();
        let after = median_interval(&moved(&values, scale, offset), 0.95).unwrap();
        prop_assert_eq!(after.low, before.low * scale + offset);
        prop_assert_eq!(after.high, before.high * scale + offset);
        prop_assert!((after.center - (before.center * scale + offset)).abs() < 1e-9);
        prop_assert_eq!((after.confidence, after.samples), (before.confidence, values.len()));
    }

    #[test]
    fn intervals_hold_their_center(values in samples(1..120), confidence in 0.5..0.999_f64) {
        let interval = median_interval(&values, confidence).unwrap();
        prop_assert!(interval.low <= interval.center && interval.center <= interval.high);
        for probability in [0.1, 0.25, 0.75, 0.9] {
            if let Some(interval) = quantile_interval(&values, probability, confidence) {
                prop_assert!(interval.low <= interval.center && interval.center <= interval.high);
                prop_assert!(interval.confidence >= confidence - 1e-9);
            }
        }
    }

    #[test]
    fn quantiles_ascend_and_stay_inside(values in samples(1..60), a in 0.0..=1.0_f64, b in 0.0..=1.0_f64) {
        let found = quantiles(&values, &[0.0, a.min(b), a.max(b), 1.0]).unwrap();
        prop_assert!(found.is_sorted());
    }

    #[test]
    fn spread_ignores_the_place_and_follows_the_scale(values in samples(2..60), scale in 1_i32..50) {
        let scale = f64::from(scale);
        let (before, after) = (spread(&values).unwrap(), spread(&moved(&values, scale, 17.0)).unwrap());
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
        prop_assert!(close(after.median_absolute_deviation, before.median_absolute_deviation * scale));
        prop_assert!(close(after.interquartile_range(), before.interquartile_range() * scale));
    }

    #[test]
    fn ranks_do_not_see_monotone_changes(first in samples(1..25), second in samples(1..25)) {
        let cube = |values: &[f64]| values.iter().map(|value| value.powi(3)).collect::<Vec<_>>();
        let plain = mann_whitney(&first, &second).unwrap();
        prop_assert_eq!(mann_whitney(&cube(&first), &cube(&second)).unwrap(), plain);
        prop_assert_eq!(mann_whitney(&moved(&first, 3.0, 7.0), &moved(&second, 3.0, 7.0)).unwrap(), plain);
        prop_assert!((0.0..=1.0).contains(&plain.p));
    }

    #[test]
    fn the_ratio_of_swapped_groups_is_the_inverse(
        base in prop::collection::vec(1.0..1e3_f64, 4..8),
        other in prop::collection::vec(1.0..1e3_f64, 4..8),
    ) {
        let there = ratio_interval(&base, &other, 0.95).unwrap();
        let back = ratio_interval(&other, &base, 0.95).unwrap();
        prop_assert!((there.low * back.high - 1.0).abs() < 1e-12);
        prop_assert!((there.high * back.low - 1.0).abs() < 1e-12);
        prop_assert!((there.center * back.center - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_panics(values in prop::collection::vec(any::<f64>(), 0..24), other in prop::collection::vec(any::<f64>(), 0..12), level in any::<f64>()) {
        let _ = (quantile(&values, level), median_interval(&values, level), mean_interval(&values, level));
        let _ = (spread(&values), labels(&values), outlier::first_repeat(&values));
        let _ = (mann_whitney(&values, &other), welch::welch(&values, &other));
        let _ = (hodges_lehmann_interval(&values, &other, level), cliffs_delta(&values, &other));
        let _ = (ratio_of_medians(&values, &other), geometric_summary(&values));
        let _ = holm(&values);
        let _ = (steady::steady_state(&values), steady::effective_samples(&values), history::threshold(&values));
        let _ = decide(&values, other.len(), &PrecisionRule::new(level, 20));
        let _ = nested::nested_variance(&[values.clone(), other.clone()], level);
        let _ = ratio_interval(&values[..values.len().min(7)], &other, level);
        let search = change_point::ChangePointSearch { penalty: level, minimum_length: 3, variance_floor: level };
        let _ = change_point::change_points(&values, &search);
    }
}

/// A small generator of its own, so that simulations do not lean on the code under test.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
    }

    /// Log-normal with median 1: skewed as run times are.
    fn time(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        (0.2 * radius * (std::f64::consts::TAU * self.uniform()).cos()).exp()
    }

    fn times(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.time()).collect()
    }
}

/// The share of trials that succeed.
fn share(trials: u32, mut succeeds: impl FnMut() -> bool) -> f64 {
    f64::from((0..trials).map(|_| u32::from(succeeds())).sum::<u32>()) / f64::from(trials)
}

#[test]
fn median_intervals_cover_as_they_claim() {
    let mut dice = Dice(1);
    for count in [3, 5, 6, 10, 21] {
        let mut claimed = 0.0;
        let covered = share(600, || {
            let interval = median_interval(&dice.times(count), 0.95).unwrap();
            claimed = interval.confidence;
            interval.low <= 1.0 && 1.0 <= interval.high
        });
        // Four standard errors of 600 trials.
        let allowed = 4.0 * (claimed * (1.0 - claimed) / 600.0_f64).sqrt();
        assert!((covered - claimed).abs() < allowed, "{count}: {covered} instead of {claimed}");
    }
}

#[test]
fn small_ratio_intervals_cover_as_they_claim() {
    let mut dice = Dice(2);
    for (base, other) in [(4, 4), (5, 7), (7, 7)] {
        let mut claimed = 0.0;
        let covered = share(600, || {
            let interval = ratio_interval(&dice.times(base), &dice.times(other), 0.95).unwrap();
            claimed = interval.confidence;
            interval.low <= 1.0 && 1.0 <= interval.high
        });
        let allowed = 4.0 * (claimed * (1.0 - claimed) / 600.0_f64).sqrt();
        assert!((covered - claimed).abs() < allowed, "{base}, {other}: {covered} instead of {claimed}");
    }
}

#[test]
fn tables_of_equal_cells_rarely_name_a_loser() {
    let mut dice = Dice(5);
    for (cells, repeats) in [(5, 6), (20, 6), (20, 12)] {
        let family = Family::among(cells, 0.95).unwrap();
        let named = share(300, || {
            let groups: Vec<PositiveSamples> =
                (0..cells).map(|_| PositiveSamples::new(&dice.times(repeats)).unwrap()).collect();
            let different = |base: &PositiveSamples, other: &PositiveSamples| {
                let interval = base.ratio_interval(other, &family).unwrap();
                interval.low > 1.0 || interval.high < 1.0
            };
            let pairs =
                groups.iter().enumerate().flat_map(|(at, a)| groups[at + 1..].iter().map(move |b| (a, b)));
            pairs.into_iter().any(|(a, b)| different(a, b))
        });
        // Four standard errors of 300 trials.
        assert!(named < 0.05 + 0.05, "{cells} cells, {repeats} repeats: {named}");
    }
}

#[test]
fn equal_groups_rarely_look_different() {
    let mut dice = Dice(3);
    let alarms = share(600, || mann_whitney(&dice.times(8), &dice.times(9)).unwrap().p <= 0.05);
    assert!(alarms < 0.085, "{alarms}");
}

#[test]
fn stopping_at_a_precision_keeps_the_coverage() {
    let mut dice = Dice(4);
    let rule = PrecisionRule::new(0.1, 200);
    let covered = share(300, || {
        let mut values = Vec::new();
        while let Decision::Continue { next_check } = decide(&values, values.len(), &rule) {
            while values.len() < next_check {
                values.push(dice.time());
            }
        }
        let interval = median_interval(&values, 0.95).unwrap();
        interval.low <= 1.0 && 1.0 <= interval.high
    });
    assert!(covered > 0.89, "{covered}");
}
