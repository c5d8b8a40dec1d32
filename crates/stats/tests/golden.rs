//! Answers of reference implementations (`tests/golden/generate.py`) and published numbers, compared with ours.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;

use assay_stats::bootstrap::Bootstrap;
use assay_stats::change_point::{ChangePointSearch, change_points};
use assay_stats::interval::quantile_ranks;
use assay_stats::multiple::holm;
use assay_stats::nested::nested_variance;
use assay_stats::proportion::wilson;
use assay_stats::rank_test::Method;
use assay_stats::scaling::{Law, ScalingLevel, fit};
use assay_stats::steady::effective_samples;
use assay_stats::welch::welch;
use assay_stats::*;
use serde_json::Value;

const GOB_OLD: [f64; 10] = [3069.0, 3075.0, 3069.0, 3067.0, 3207.0, 3064.0, 3064.0, 3058.0, 3059.0, 3062.0];
const GOB_NEW: [f64; 10] = [3075.0, 3065.0, 3059.0, 3065.0, 3060.0, 3081.0, 3186.0, 3135.0, 3087.0, 3062.0];
const JSON_OLD: [f64; 10] = [1726.0, 1723.0, 1707.0, 1707.0, 1713.0, 1729.0, 1736.0, 1707.0, 1705.0, 1774.0];
const JSON_NEW: [f64; 10] = [1423.0, 1416.0, 1411.0, 1413.0, 1412.0, 1426.0, 1422.0, 1424.0, 1447.0, 1425.0];

fn golden(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn cases(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    cases(value).iter().map(number).collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let allowed = tolerance * expected.abs().max(1e-300);
    assert!((found - expected).abs() <= allowed, "found {found:?}, expected {expected:?}");
}

#[test]
fn summaries_agree() {
    for case in cases(&golden("summaries")) {
        let samples = numbers(&case["samples"]);
        let found = quantiles(&samples, &numbers(&case["probabilities"])).unwrap();
        for (found, expected) in found.iter().zip(numbers(&case["quantiles"])) {
            assert_close(*found, expected, 1e-14);
        }
        let spread = spread(&samples).unwrap();
        assert_close(spread.median_absolute_deviation, number(&case["median_absolute_deviation"]), 1e-13);
        assert_close(
            spread.coefficient_of_variation.unwrap(),
            number(&case["coefficient_of_variation"]),
            1e-12,
        );
        let mean = mean_interval(&samples, 0.95).unwrap();
        assert_close(mean.center, number(&case["mean"]), 1e-13);
        assert_close(mean.low, number(&case["mean_interval"][0]), 1e-12);
        assert_close(mean.high, number(&case["mean_interval"][1]), 1e-12);
        let mean = geometric_mean(&samples);
        match case.get("geometric_mean") {
            Some(expected) => assert_close(mean.unwrap(), number(expected), 1e-13),
            None => assert_eq!(mean, None),
        }
    }
}

#[test]
fn ranks_agree() {
    for case in cases(&golden("ranks")) {
        let found = quantile_ranks(
            count(&case["samples"]),
            number(&case["probability"]),
            number(&case["confidence"]),
        );
        if case["ranks"].is_null() {
            assert_eq!(found, None, "{case}");
            continue;
        }
        let found = found.unwrap();
        assert_eq!((found.low, found.high), (count(&case["ranks"][0]), count(&case["ranks"][1])), "{case}");
        assert_close(found.coverage, number(&case["coverage"]), 1e-9);
    }
}

#[test]
fn comparisons_agree() {
    for case in cases(&golden("comparisons")) {
        let (base, other) = (numbers(&case["base"]), numbers(&case["other"]));
        let test = mann_whitney(&base, &other).unwrap();
        assert_eq!(test.statistic, number(&case["statistic"]));
        assert_eq!(test.ties, case["ties"].as_bool().unwrap());
        assert_eq!(test.method == Method::Exact, case["exact"].as_bool().unwrap());
        let tolerance = if test.method == Method::Exact { 1e-12 } else { 1e-10 };
        assert_close(test.p, number(&case["p_value"]), tolerance);
        assert_close(ratio_of_medians(&base, &other).unwrap(), number(&case["ratio_of_medians"]), 1e-14);
        let shift = hodges_lehmann_shift(&base, &other).unwrap();
        assert!((shift - number(&case["shift"])).abs() < 1e-12);
        let delta = cliffs_delta(&base, &other).unwrap();
        assert!((delta - number(&case["cliffs_delta"])).abs() < 1e-14);
        let means = welch(&base, &other).unwrap();
        assert_close(means.statistic, number(&case["welch"]["statistic"]), 1e-11);
        assert_close(means.freedom, number(&case["welch"]["freedom"]), 1e-11);
        assert_close(means.p, number(&case["welch"]["p_value"]), 1e-9);
        if let Some(expected) = case["shift_interval"].as_object() {
            let found = hodges_lehmann_interval(&base, &other, 0.95).unwrap();
            assert_close(found.low, number(&expected["low"]), 1e-12);
            assert_close(found.high, number(&expected["high"]), 1e-12);
            assert_close(found.confidence, number(&expected["coverage"]), 1e-14);
        }
    }
}

#[test]
fn bootstrap_agrees_within_chance() {
    let golden = golden("bootstrap");
    let one = cases(&golden["one"]).iter().filter(|case| case["statistic"] == "mean");
    for case in one {
        let samples = numbers(&case["samples"]);
        let mean = |values: &mut [f64]| Some(values.iter().sum::<f64>() / values.len() as f64);
        let bootstrap = Bootstrap { resamples: 4_000, ..Bootstrap::new(0.95, 1) };
        let found = bootstrap.percentile(&samples, mean).unwrap();
        let (low, high) = (number(&case["percentile"][0]), number(&case["percentile"][1]));
        let allowed = 0.06 * (high - low);
        assert!((found.low - low).abs() < allowed, "{found:?} {low}");
        assert!((found.high - high).abs() < allowed, "{found:?} {high}");
    }
}

#[test]
fn proportions_agree() {
    let golden = golden("proportions");
    for case in cases(&golden["wilson"]) {
        let found =
            wilson(count(&case["successes"]), count(&case["trials"]), number(&case["confidence"])).unwrap();
        assert!((found.low - number(&case["interval"][0])).abs() < 1e-13);
        assert!((found.high - number(&case["interval"][1])).abs() < 1e-13);
    }
}

#[test]
fn corrections_agree() {
    for case in cases(&golden("corrections")) {
        let p_values = numbers(&case["p_values"]);
        for (found, expected) in holm(&p_values).unwrap().iter().zip(numbers(&case["holm"])) {
            assert!((found - expected).abs() < 1e-14);
        }
    }
}

#[test]
fn change_points_agree() {
    for case in cases(&golden("change_points")) {
        let search = ChangePointSearch {
            penalty: number(&case["penalty"]),
            minimum_length: count(&case["minimum_length"]),
            variance_floor: number(&case["variance_floor"]),
        };
        let found = change_points(&numbers(&case["values"]), &search).unwrap();
        let expected: Vec<usize> = cases(&case["ends"]).iter().map(count).collect();
        assert_eq!(found, expected, "{}", case["name"]);
    }
}

#[test]
fn effective_samples_agree() {
    for case in cases(&golden("effective_samples")) {
        let found = effective_samples(&numbers(&case["samples"])).unwrap();
        assert_close(found, number(&case["effective"]), 1e-9);
    }
}

#[test]
fn nested_variance_agrees() {
    let case = golden("nested");
    let jobs: Vec<Vec<f64>> = cases(&case["jobs"]).iter().map(numbers).collect();
    let found = nested_variance(&jobs, 0.95).unwrap();
    assert_close(found.mean.center, number(&case["mean"]), 1e-13);
    assert_close(found.within, number(&case["within"]), 1e-12);
    assert_close(found.of_means, number(&case["of_means"]), 1e-12);
    assert_close(found.between, number(&case["between"]), 1e-12);
    assert_close((found.mean.high - found.mean.low) / 2.0, number(&case["half_width"]), 1e-12);
    // Treating the iterations as independent would make the interval four and a half times too narrow.
    let naive = mean_interval(&jobs.concat(), 0.95).unwrap();
    assert_close((naive.high - naive.low) / 2.0, number(&case["half_width_of_flat_mean"]), 1e-12);
}

#[test]
fn history_agrees() {
    let case = golden("history");
    let found = history::threshold(&numbers(&case["changes"])).unwrap();
    assert_close(found.value, number(&case["threshold"]), 1e-13);
    assert_eq!(found.samples, 30);
}

#[test]
fn scaling_agrees() {
    let case = golden("scaling");
    let levels: Vec<ScalingLevel> = numbers(&case["workers"])
        .into_iter()
        .zip(numbers(&case["throughput"]))
        .map(|(workers, throughput)| ScalingLevel { workers, throughput, weight: 1.0 })
        .collect();
    let universal = fit(&levels, Law::Universal).unwrap();
    assert_close(universal.single, number(&case["universal"][0]), 1e-6);
    assert_close(universal.contention, number(&case["universal"][1]), 1e-5);
    assert_close(universal.coherence, number(&case["universal"][2]), 1e-5);
    assert_close(universal.peak().unwrap(), number(&case["peak"]), 1e-5);
    assert_close(universal.determination, number(&case["determination"]), 1e-9);
    let amdahl = fit(&levels, Law::Amdahl).unwrap();
    assert_close(amdahl.single, number(&case["amdahl"][0]), 1e-6);
    assert_close(amdahl.contention, number(&case["amdahl"][1]), 1e-5);
    assert!(universal.criterion < amdahl.criterion);
}

#[test]
fn published_comparisons() {
    let gob = mann_whitney(&GOB_OLD, &GOB_NEW).unwrap();
    assert_eq!((gob.statistic, gob.method), (39.5, Method::Exact));
    assert_close(gob.p, 0.446_101_885_730_368_7, 1e-14);
    let json = mann_whitney(&JSON_OLD, &JSON_NEW).unwrap();
    assert_close(json.p, 1.082_508_822_446_903e-5, 1e-14);
    assert_close(ratio_of_medians(&JSON_OLD, &JSON_NEW).unwrap() - 1.0, -0.172_002_33, 1e-7);
    assert_eq!(hodges_lehmann_shift(&JSON_OLD, &JSON_NEW), Some(-296.5));
    assert_eq!(hodges_lehmann_shift(&GOB_OLD, &GOB_NEW), Some(3.0));
    assert_eq!(cliffs_delta(&JSON_OLD, &JSON_NEW), Some(-1.0));
    assert_eq!(cliffs_delta(&GOB_OLD, &GOB_NEW), Some(0.21));
    let apart = mann_whitney(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
    assert_close(apart.p, 0.028_571_428_571_428_57, 1e-15);
}

#[test]
fn published_ladders() {
    let ladder = |step: f64, offset: f64, count: u32| -> Vec<f64> {
        (0..count).map(|i| step * f64::from(i) + offset).collect()
    };
    let first = ladder(1.7, 0.1, 8);
    for (size, p) in [
        (10, 0.965_400_612_459_436),
        (20, 0.048_748_674_835_631_355),
        (30, 0.003_421_514_357_297_839),
        (40, 0.000_445_598_113_877_574_05),
    ] {
        let found = mann_whitney(&first, &ladder(1.3, 0.05, size)).unwrap();
        assert_eq!(found.statistic, 41.0);
        assert_close(found.p, p, 1e-13);
    }
}

#[test]
fn published_ranks() {
    for (samples, probability, low, high, coverage) in [
        (6, 0.5, 1, 6, 0.96875),
        (10, 0.5, 2, 9, 0.978515625),
        (20, 0.5, 6, 15, 0.958610535),
        (30, 0.5, 10, 21, 0.957226055),
        (100, 0.9, 84, 96, 0.955690),
        (1000, 0.99, 983, 997, 0.976095),
        (5000, 0.999, 4990, 5000, 0.979629),
    ] {
        let found = quantile_ranks(samples, probability, 0.95).unwrap();
        assert_eq!((found.low, found.high), (low, high));
        assert!((found.coverage - coverage).abs() < 1e-6);
    }
}

#[test]
fn published_summaries() {
    let found = quantiles(&JSON_OLD, &[0.5, 0.9, 0.99]).unwrap();
    for (found, expected) in found.iter().zip([1718.0, 1739.8, 1770.58]) {
        assert_close(*found, expected, 1e-14);
    }
    let spread = spread(&JSON_OLD).unwrap();
    assert_eq!(spread.median_absolute_deviation, 11.0);
    assert_eq!((spread.first_quartile, spread.third_quartile), (1707.0, 1728.25));
    let mean = mean_interval(&JSON_OLD, 0.95).unwrap();
    assert!((mean.low - 1707.607457).abs() < 1e-6 && (mean.high - 1737.792543).abs() < 1e-6);
    let test = welch(&JSON_OLD, &JSON_NEW).unwrap();
    assert_close(test.statistic, 40.360_591_118_851_22, 1e-12);
    assert_close(test.freedom, 13.203060368, 1e-10);
    assert_close(test.p, 3.2090630539e-15, 1e-9);
}

#[test]
fn published_corrections_and_proportions() {
    let family = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216];
    let strict = [0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615];
    for (found, expected) in holm(&family).unwrap().iter().zip(strict) {
        assert!((found - expected).abs() < 1e-12);
    }
    let wilson = wilson(482, 500, 0.95).unwrap();
    assert!((wilson.low - 0.9438156730).abs() < 1e-10 && (wilson.high - 0.9771089390).abs() < 1e-10);
}
