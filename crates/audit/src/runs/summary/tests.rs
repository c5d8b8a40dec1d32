use super::super::sample::{document, found};
use super::*;
use assay_model::Unit;

const WARM: [f64; 10] =
    [139.712, 139.525, 139.595, 139.690, 139.495, 139.586, 139.558, 139.519, 139.620, 139.562];
const COLD: [f64; 10] =
    [1763.265, 139.647, 139.629, 139.385, 139.861, 139.324, 139.371, 139.572, 139.327, 139.655];
const FAR: [f64; 10] =
    [520.855, 520.931, 519.794, 520.968, 521.217, 520.718, 520.595, 520.840, 520.899, 592.316];

/// A table that states one time in milliseconds, and an array without a unit under it.
fn stated(text: &str, seconds: f64, values: &[f64], sentence: &str) -> Vec<Finding> {
    let mut document = document("times.md", |build| {
        build.heading("Times").table("nvidia", &["time.forward"], &[&[seconds]]);
        build.log("arrays", "nvidia");
        build.series("time.forward", &values.iter().map(|value| (0.0, 0.0, *value)).collect::<Vec<_>>());
        if !sentence.is_empty() {
            build.says(sentence, &[]);
        }
    });
    document.runs[0].observations[0].written = Some(text.to_owned());
    let series = &mut document.runs[1].series[0];
    series.unit = Unit::Other("unknown".to_owned());
    series.steps.clear();
    series.at_s.clear();
    found(check, &[document])
}

fn classes(findings: &[Finding]) -> Vec<(Class, Level)> {
    findings.iter().map(|finding| (finding.class, finding.level)).collect()
}

#[test]
fn a_summary_above_every_sample_is_contradicted() {
    assert_eq!(
        classes(&stated("139.9ms", 0.1399, &WARM, "")),
        [(Class::SummaryOutside, Level::Contradicted)]
    );
    assert_eq!(classes(&stated("139.6ms", 0.1396, &WARM, "")), [(Class::SummaryOutside, Level::Supported)]);
}

#[test]
fn the_mean_without_its_outlier_is_doubtful() {
    let findings = stated("520.8ms", 0.5208, &FAR, "");
    assert_eq!(
        classes(&findings),
        [(Class::Outlier, Level::Doubtful), (Class::SummaryOutside, Level::Doubtful)]
    );
    assert!(findings[0].arithmetic[0].contains("527.9"), "{:?}", findings[0].arithmetic);
}

#[test]
fn warm_up_inside_a_mean_is_doubtful_unless_it_is_spoken_of() {
    let findings = stated("301.9ms", 0.3019, &COLD, "");
    assert_eq!(classes(&findings), [(Class::WarmUp, Level::Doubtful), (Class::WarmUp, Level::Doubtful)]);
    assert!(findings[0].arithmetic[0].contains("301.9") && findings[0].arithmetic[0].contains("139.6"));
    let spoken = stated("139.5ms", 0.1395, &COLD, "Without warm-up the first pass is slower.");
    assert!(spoken.iter().all(|finding| finding.level == Level::Supported), "{spoken:?}");
}

#[test]
fn a_slow_start_that_a_log_averages_in_is_doubtful() {
    let log = |overall: f64| {
        document("run.log", |build| {
            build.log("megatron", "nvidia").metric("samples_per_s.loop", overall);
            let points: Vec<(f64, f64, f64)> = (0..10)
                .map(|step| (step as f64, step as f64, if step == 0 { 120.0 } else { 1000.0 + step as f64 }))
                .collect();
            build.series("samples_per_s.instant", &points);
        })
    };
    assert_eq!(classes(&found(check, &[log(917.0)])), [(Class::WarmUp, Level::Doubtful)]);
    assert!(found(check, &[log(1004.0)]).is_empty());
}

#[test]
fn steady_samples_say_nothing() {
    let steady: Vec<f64> = (0..12).map(|step| 100.0 + f64::from(step % 3)).collect();
    let findings = found(
        check,
        &[document("steady.md", |build| {
            build.log("arrays", "cpu");
            build.series("time.forward", &steady.iter().map(|value| (0.0, 0.0, *value)).collect::<Vec<_>>());
        })],
    );
    assert!(findings.is_empty());
}

#[test]
fn a_row_is_linked_to_samples_by_what_it_is_called() {
    let mut document = document("passes.md", |build| {
        build.heading("Passes").table("apple", &["timing"], &[&[0.3019], &[0.5218]]);
        build.log("array", "apple");
        build.series("time.forward", &COLD.iter().map(|value| (0.0, 0.0, *value)).collect::<Vec<_>>());
        build.says("All of it without warm-up, from the first pass on.", &[]);
    });
    document.runs[0].title = Some("forward".to_owned());
    document.runs[0].observations[0].written = Some("301.9".to_owned());
    document.runs[1].title = Some("forward-backward".to_owned());
    let series = &mut document.runs[2].series[0];
    series.unit = Unit::Other("unknown".to_owned());
    series.steps.clear();
    series.at_s.clear();
    // That there was no warm-up is said; that the mean has it inside is not.
    assert!(classes(&found(check, &[document])).contains(&(Class::WarmUp, Level::Doubtful)));
}

#[test]
fn a_mean_over_the_lines_of_a_log_may_have_the_first_step_inside() {
    let stated = |seconds: f64| {
        document("loop.md", |build| {
            build.log("nanogpt", "nvidia");
            let points: Vec<(f64, f64, f64)> = (0..13)
                .map(|step| (f64::from(step) * 50.0, 0.0, if step == 0 { 1.644 } else { 0.145 }))
                .collect();
            build.series("step_s", &points);
            build.table("nvidia", &["step_s"], &[&[seconds]]);
        })
    };
    assert_eq!(classes(&found(check, &[stated(0.2603)])), [(Class::WarmUp, Level::Doubtful)]);
    assert_eq!(classes(&found(check, &[stated(0.145)])), [(Class::SummaryOutside, Level::Supported)]);
}

#[test]
fn a_mean_must_lie_among_the_runs_of_its_row() {
    let stated = |mean: f64| {
        let mut document = document("row.md", |build| {
            build.table(
                "cpu",
                &["label", "timing", "timing", "timing", "timing"],
                &[&[16.0, 31.3, 22.6, 27.3, 27.1], &[64.0, 83.7, 88.3, 49.8, mean]],
            );
        });
        for (column, header) in
            document.tables[0].columns.iter_mut().zip(["Block", "Run 1", "Run 2", "Run 3", "Mean"])
        {
            column.header = header.to_owned();
        }
        classes(&found(check, &[document]))
    };
    assert_eq!(stated(73.9), [(Class::SampleStatistic, Level::Supported)]);
    assert_eq!(stated(95.2), [(Class::SummaryOutside, Level::Contradicted)]);
    assert_eq!(stated(79.3), [(Class::SampleStatistic, Level::Contradicted)]);
}

#[test]
fn noisy_repeats_have_neither_warm_up_nor_outliers() {
    let noisy = [137.2, 222.8, 227.8, 237.8, 206.0, 224.2];
    let mut document = document("noisy.md", |build| {
        build.log("array", "cpu");
        build.series("samples_per_s", &noisy.iter().map(|value| (0.0, 0.0, *value)).collect::<Vec<_>>());
    });
    document.runs[0].series[0].steps.clear();
    document.runs[0].series[0].at_s.clear();
    assert!(found(check, &[document]).is_empty());
}

#[test]
fn a_slow_run_stands_out_in_the_time_its_rate_stands_for() {
    let rates = [13575.3, 12382.7, 17238.8, 10596.2, 14794.7, 1537.1];
    assert_eq!(samples::far(&rates, true), [5]);
    assert!(samples::far(&rates[..5], true).is_empty());
    // Few values that vary much, and one that is a tenth of them.
    assert_eq!(samples::far(&[3017.3, 4828.2, 2990.9, 492.9, 4914.2], true), [3]);
    assert!(samples::far(&[3017.3, 4828.2, 2990.9, 2092.9, 4914.2], true).is_empty());
}

/// Rows of a data rate by block, and the runs of each as an array that names its block and no unit.
fn by_block(stated: f64) -> Vec<Finding> {
    let document = document("rates.md", |build| {
        build.heading("Rates").table(
            "local",
            &["block", "samples_per_s"],
            &[&[16.0, 41.0e6], &[64.0, stated]],
        );
        for (block, values) in
            [(16, [40.2, 41.9, 41.2, 42.0, 39.7]), (64, [110.3, 110.4, 115.7, 113.3, 111.9])]
        {
            build.log("array", "local").observed("block", block);
            build.series("samples_per_s", &values.map(|value| (0.0, 0.0, value)));
            let run = build.run();
            run.title = Some("All runs in MB/s".to_owned());
            run.series[0].unit = Unit::Other("unknown".to_owned());
            run.series[0].steps.clear();
            run.series[0].at_s.clear();
        }
    });
    found(check, &[document])
}

#[test]
fn arrays_are_linked_to_rows_by_the_settings_of_their_labels() {
    assert_eq!(classes(&by_block(112.32e6)), [(Class::SummaryOutside, Level::Supported)]);
    let outside = classes(&by_block(125.0e6));
    assert!(outside.contains(&(Class::SummaryOutside, Level::Contradicted)), "{outside:?}");
}
