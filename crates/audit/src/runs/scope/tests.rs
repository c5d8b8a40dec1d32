use super::super::sample::{document, found};
use super::*;

#[test]
fn a_throughput_over_the_whole_job_stands_out_beside_the_loop() {
    let document = document("llama.md", |build| {
        build.heading("Batch sizes");
        build.says("Every run took 200 steps.", &[(200.0, "steps", Some("steps"))]);
        build.table(
            "cerebras",
            &["batch_size", "samples_per_s.loop", "duration.reported", "samples_per_s"],
            &[&[256.0, 32.86, 8615.0, 5.94], &[512.0, 33.27, 4151.0, 24.67]],
        );
    });
    let findings = found(check, &[document]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].level, Level::Doubtful);
    assert!(findings[0].summary.contains("7057 of 8615 s"), "{}", findings[0].summary);
    assert!(findings[0].arithmetic[0].contains("1558 s of training"), "{:?}", findings[0].arithmetic);
}

#[test]
fn rates_that_agree_are_left_alone() {
    let document = document("llama.md", |build| {
        build.table(
            "cerebras",
            &["batch_size", "samples_per_s.loop", "samples_per_s"],
            &[&[256.0, 32.86, 32.80], &[512.0, 33.27, 33.2]],
        );
    });
    assert!(found(check, &[document]).is_empty());
}

#[test]
fn the_time_of_a_log_is_tested_against_the_rate_of_the_loop() {
    let log = |seconds: f64| {
        document("run.log", |build| {
            build.log("cerebras", "cerebras").metric("samples", 512_000.0);
            build.metric("samples_per_s.loop", 2924.54).metric("duration.reported", seconds);
            build.phase("train", 175.2).phase("checkpoint", 35.3).phase("teardown", 37.1);
        })
    };
    let alone = found(check, &[log(175.0705)]);
    assert!(alone[0].summary.contains("the loop alone"), "{}", alone[0].summary);
    let more = found(check, &[log(247.6)]);
    assert!(more[0].summary.contains("train + checkpoint + teardown"), "{}", more[0].summary);
    assert!(more.iter().all(|finding| finding.level == Level::Supported));
}

#[test]
fn steps_called_samples_are_found() {
    let table = |rate: f64| {
        document("steps.md", |build| {
            build.table(
                "nvidia",
                &["batch_size", "steps", "duration.loop", "samples_per_s"],
                &[&[16.0, 1000.0, 250.0, rate], &[16.0, 2000.0, 500.0, rate]],
            );
        })
    };
    assert_eq!(found(check, &[table(4.0)])[0].level, Level::Contradicted);
    assert!(found(check, &[table(64.0)]).is_empty());
}
