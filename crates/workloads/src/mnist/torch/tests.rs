//! What the adapter gets, and what a real PyTorch makes of it; the latter is ignored unless asked for.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use assay_model::WorkloadEvent;

use super::*;

const LIMITS: SeriesLimits = SeriesLimits { memory_bytes: None, peak_flops: None, threads: 2 };

fn run_with(
    engine: &str,
    python: &str,
    more: &[(&str, Value)],
) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    let given = [
        ("engine", Value::from(engine)),
        ("python", Value::from(python)),
        ("data_set", Value::from("synthetic")),
        ("train_samples", Value::from(50)),
        ("test_samples", Value::from(20)),
        ("steps_per_iteration", Value::from(2)),
        ("epochs", Value::from(2)),
    ];
    let settings =
        given.iter().chain(more).map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line| events.push(line);
    let ended = crate::run("mnist", &settings, &LIMITS, &mut Emitter::new(&mut emit, &stop));
    (ended, events)
}

#[test]
fn the_adapter_gets_images_labels_and_the_number_of_iterations() {
    let directory = tempfile::tempdir().unwrap();
    let (text, path) = (directory.path().join("text"), directory.path().join("python"));
    let body = r#"#!/bin/sh
        folder=$(dirname "$2")
        grep -q max_pool2d "$1" && grep -q '"iterations":7' "$2" && grep -q '"steps":14' "$2" || exit 9
        wc -c < "$folder/train_images.bin"; wc -c < "$folder/test_labels.bin"
        for step in 1 2 3 4 5 6 7 8; do
            echo '{"assay":"value","metric":"time.iteration","value":0.5,"step":'$step'}'
            echo '{"assay":"value","metric":"cpu.iteration","value":1.0,"step":'$step'}'
        done
        echo '{"assay":"done","steps":8}'
    "#;
    std::fs::write(&text, body).unwrap();
    std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o755)).unwrap();
    // A file that this process had open for writing may still be open in a child of another test.
    assert!(Command::new("cp").arg("-p").args([&text, &path]).status().unwrap().success());
    let (ended, events) = run_with("torch", &path.display().to_string(), &[]);
    assert_eq!(ended.unwrap(), WorkloadEnd::Done, "{events:?}");
    let note = |words: &str| {
        events.iter().any(|line| matches!(line, WorkloadEvent::Note { text, .. } if text.trim() == words))
    };
    assert!(note("39200") && note("20"), "{events:?}");
    let value = |name: &str| {
        events.iter().find_map(|line| match line {
            WorkloadEvent::Value { metric, value, step: None, .. } if metric == name => Some(*value),
            _ => None,
        })
    };
    // Two epochs of 50 samples; the last step of each takes two.
    assert_eq!(value("samples"), Some(100.0));
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 14 }));
}

/// Both engines go through the same steps, with dropout and a last step that is smaller.
#[test]
#[ignore = "needs PyTorch: ASSAY_TEST_PYTHON=/path/to/python cargo test -p assay-workloads -- --ignored"]
fn a_real_pytorch_trains_as_the_native_engine_does() {
    let python = std::env::var("ASSAY_TEST_PYTHON").unwrap();
    for (mode, softmax) in [("eager", false), ("channels_last", true)] {
        let more = [("mode", mode.into()), ("softmax", Value::Switch(softmax))];
        let [native, torch] = ["native", "torch"].map(|engine| {
            let (ended, events) = run_with(engine, &python, &more);
            assert_eq!(ended.unwrap(), WorkloadEnd::Done, "{events:?}");
            events
        });
        for name in ["parity.loss", "parity.output", "parity.gradient", "loss.train", "loss.test", "accuracy"]
        {
            let values = |events: &[WorkloadEvent]| -> Vec<(Option<u64>, f64)> {
                let value = |line: &WorkloadEvent| match line {
                    WorkloadEvent::Value { metric, value, step, .. } if metric == name => {
                        Some((*step, *value))
                    }
                    _ => None,
                };
                events.iter().filter_map(value).collect()
            };
            let (ours, theirs) = (values(&native), values(&torch));
            assert!(!ours.is_empty() && ours.len() == theirs.len(), "{name}: {ours:?} {theirs:?}");
            for ((step, ours), (other, theirs)) in ours.iter().zip(&theirs) {
                assert!(
                    step == other && (ours - theirs).abs() <= 2e-5 * ours.abs(),
                    "{name}: {ours} {theirs}"
                );
            }
        }
    }
}
