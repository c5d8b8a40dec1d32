use assay_model::{Document, names};

use super::super::facts::Facts;
use super::super::sample::{Build, document};
use super::*;

fn wafer(file: &str, batch: i64, samples: f64, seconds: f64) -> Document {
    document(file, |build: &mut Build| {
        build
            .log("cerebras", "cerebras")
            .observed("batch_size", batch)
            .metric(names::SAMPLES, samples)
            .metric(names::DURATION_LOOP, seconds);
    })
}

fn logged_and_tabled() -> Vec<Document> {
    let unnamed = document("second.md", |build: &mut Build| {
        build
            .log("cerebras", "cerebras")
            .declared("batch_size", 512)
            .metric(names::SAMPLES, 512_000.0)
            .metric(names::DURATION_REPORTED, 175.797);
    });
    let table = document("third.md", |build: &mut Build| {
        build.table(
            "cerebras",
            &["batch_size", "samples", "duration.reported"],
            &[&[512.0, 512_000.0, 174.285], &[1024.0, 1_024_000.0, 211.353]],
        );
    });
    vec![wafer("first.md", 512, 512_000.0, 175.070), unnamed, table]
}

#[test]
fn logs_and_rows_of_several_people_are_repeats() {
    let documents = logged_and_tabled();
    let facts = Facts::new(&documents);
    assert_eq!(facts.same.len(), 1);
    assert_eq!(facts.groups.len(), 1);
    let group = &facts.groups[0];
    assert_eq!(group.metric, names::DURATION_REPORTED);
    let mut values: Vec<f64> = group.values.iter().map(|(value, _)| *value).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [174.285, 175.070, 175.797]);
}

#[test]
fn the_order_of_the_documents_does_not_matter() {
    let mut documents = logged_and_tabled();
    let labels = |documents: &[Document]| -> Vec<(String, usize)> {
        Facts::new(documents).groups.iter().map(|group| (group.label.clone(), group.values.len())).collect()
    };
    let forward = labels(&documents);
    documents.reverse();
    assert_eq!(labels(&documents), forward);
}

#[test]
fn other_work_settings_or_platforms_are_not_repeats() {
    let documents = [
        wafer("a", 512, 512_000.0, 175.0),
        wafer("b", 1024, 1_024_000.0, 211.0),
        wafer("c", 512, 1_024_000.0, 350.0),
    ];
    assert!(Facts::new(&documents).same.is_empty());
}

#[test]
fn a_row_that_reports_a_log_of_its_document_is_no_repeat() {
    let document = document("notes.md", |build: &mut Build| {
        build
            .log("cerebras", "cerebras")
            .observed("batch_size", 512)
            .metric(names::SAMPLES, 512_000.0)
            .metric(names::DURATION_LOOP, 175.070_497);
        build.table(
            "cerebras",
            &["batch_size", "samples", "duration.reported"],
            &[&[512.0, 512_000.0, 175.07]],
        );
    });
    assert!(Facts::new(&[document]).same.is_empty());
}

#[test]
fn rows_that_differ_in_their_number_alone_are_repeats() {
    let document = document("notes.md", |build: &mut Build| {
        build.table(
            "local",
            &["threads", "run", "duration.reported"],
            &[&[1.0, 1.0, 5.1], &[1.0, 2.0, 5.2], &[1.0, 3.0, 5.0], &[2.0, 1.0, 2.9], &[2.0, 2.0, 2.8]],
        );
    });
    let documents = [document];
    let facts = Facts::new(&documents);
    let sizes: Vec<usize> = facts.groups.iter().map(|group| group.values.len()).collect();
    assert_eq!(sizes, [3, 2]);
}

#[test]
fn profiled_runs_share_accuracy_but_not_time() {
    let document = document("notes.md", |build: &mut Build| {
        for (profiled, accuracy, seconds) in
            [(false, 0.9858, 87.9), (false, 0.9843, 87.4), (true, 0.9813, 136.3)]
        {
            build
                .log("poptorch", "graphcore")
                .observed("epochs", 10)
                .observed("profiler", Value::Switch(profiled))
                .metric(names::ACCURACY, accuracy)
                .metric(names::DURATION_LOOP, seconds);
        }
    });
    let documents = [document];
    let facts = Facts::new(&documents);
    let sizes: Vec<(&str, usize)> =
        facts.groups.iter().map(|group| (group.metric.as_str(), group.values.len())).collect();
    assert_eq!(sizes, [(names::ACCURACY, 3), (names::DURATION_LOOP, 2)]);
}

#[test]
fn a_vague_run_between_two_groups_joins_neither() {
    let document = document("notes.md", |build: &mut Build| {
        for (epochs, batch) in [(10, Some(8)), (10, Some(16)), (10, None)] {
            build.log("poptorch", "graphcore").observed("epochs", epochs).metric(names::ACCURACY, 0.98);
            if let Some(batch) = batch {
                build.observed("batch_size", batch);
            }
        }
    });
    assert!(Facts::new(&[document]).same.is_empty());
}

#[test]
fn answers_of_other_lengths_are_other_work() {
    let rows = |lengths: [f64; 2]| {
        let document = document("serving.md", |build: &mut Build| {
            let rows = lengths.map(|length| [8.0, length, length / 80.0]);
            build.table(
                "nvidia",
                &["batch_size", "tokens.output", "e2e"],
                &[rows[0].as_slice(), rows[1].as_slice()],
            );
        });
        Facts::new(&[document]).same.len()
    };
    assert_eq!(rows([128.0, 1024.0]), 0);
    assert_eq!(rows([128.0, 128.0]), 1);
}

#[test]
fn many_rows_are_grouped_without_comparing_each_with_each() {
    let rows: Vec<[f64; 3]> = (0..20_000_u32)
        .map(|row| [f64::from(1 + row / 2), f64::from(1 + row % 2), 5.0 + 0.001 * f64::from(row % 7)])
        .collect();
    let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
    let document = document("notes.md", |build: &mut Build| {
        build.table("local", &["threads", "run", "duration.reported"], &rows);
    });
    assert_eq!(Facts::new(&[document]).same.len(), 10_000);
}

#[test]
fn settings_that_differ_by_a_rounding_error_are_equal() {
    let with = |rates: [f64; 2]| {
        let document = document("notes.md", |build: &mut Build| {
            for rate in rates {
                build
                    .log("poptorch", "graphcore")
                    .observed("learning_rate", Value::Float(rate))
                    .metric(names::ACCURACY, 0.98);
            }
        });
        Facts::new(&[document]).same.len()
    };
    assert_eq!(with([0.1 + 0.2, 0.3]), 1);
    assert_eq!(with([0.3, 0.3004]), 0);
}
