//! Tests of the adapter. Those that always run have a shell script in Python's place; the one that needs a real
//! PyTorch is ignored unless asked for.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::{Value, WorkloadEvent};

use super::*;

const LIMITS: SeriesLimits = SeriesLimits { memory_bytes: None, peak_flops: None, threads: 2 };

/// A shell script in the place of Python: `$1` is the adapter, `$2` the settings.
struct Fake {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

impl Fake {
    fn new(body: &str) -> Fake {
        let directory = tempfile::tempdir().unwrap();
        let (text, path) = (directory.path().join("text"), directory.path().join("python"));
        std::fs::write(&text, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o755)).unwrap();
        // A file that this process had open for writing may still be open in a child of another test, and then the
        // system refuses to run it. A copy made by another process never was.
        assert!(Command::new("cp").arg("-p").args([&text, &path]).status().unwrap().success());
        Fake { _directory: directory, path }
    }
}

fn options(python: &str, more: &[(&str, Value)]) -> LmOptions {
    let given = [
        ("engine", Value::from("torch")),
        ("size", Value::from("tiny")),
        ("python", Value::from(python)),
        ("iterations", Value::from(2)),
        ("warmup", Value::from(1)),
    ];
    let all = given.iter().chain(more);
    LmOptions::read(&all.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(), 2).unwrap()
}

fn run_with(
    options: &LmOptions,
    text: Option<&[u32]>,
) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line| events.push(line);
    let ended = run(options, &LIMITS, text, &mut Emitter::new(&mut emit, &stop));
    (ended, events)
}

fn run_fake(body: &str) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    let fake = Fake::new(body);
    let (ended, events) = run_with(&options(&fake.path.display().to_string(), &[]), None);
    (ended, after_preamble(events))
}

/// What was reported once the adapter was started: the note on FLOPs is the last line before.
fn after_preamble(mut events: Vec<WorkloadEvent>) -> Vec<WorkloadEvent> {
    let last = events
        .iter()
        .position(|line| matches!(line, WorkloadEvent::Note { text, .. } if text.starts_with("FLOPs")));
    events.split_off(last.unwrap() + 1)
}

fn notes(events: &[WorkloadEvent]) -> Vec<&str> {
    let mut notes = Vec::new();
    for line in events {
        if let WorkloadEvent::Note { text, .. } = line {
            notes.push(text.as_str());
        }
    }
    notes
}

#[test]
fn the_adapter_gets_its_script_and_settings_and_leaves_nothing_behind() {
    let (ended, events) = run_fake(
        r#"grep -q '"width":128' "$2" && grep -q '"mode":"sdpa"' "$2" && grep -q scaled_dot_product "$1" \
               && grep -q "def main" "$(dirname "$1")/assay_adapter.py" || exit 9
           dirname "$1"
           echo '{"assay":"value","metric":"memory.peak","value":5}'
           echo '{"assay":"done","steps":3}'"#,
    );
    assert_eq!(ended.unwrap(), WorkloadEnd::Done);
    assert_eq!(events[1], WorkloadEvent::value("memory.peak", 5.0));
    let directory = notes(&events)[0];
    assert!(directory.contains("assay-torch-") && !std::path::Path::new(directory).exists(), "{directory}");
}

#[test]
fn iterations_are_handed_on_and_summed_up_as_those_of_the_native_engine() {
    let (ended, events) = run_fake(
        r#"for i in 1:.warmup 2: 3:; do
               step=${i%%:*}
               echo '{"assay":"value","metric":"time.iteration'${i#*:}'","value":0.'$step',"step":'$step'}'
               echo '{"assay":"value","metric":"cpu.iteration'${i#*:}'","value":1.0,"step":'$step'}'
           done
           echo '{"assay":"done","steps":3}'"#,
    );
    assert_eq!(ended.unwrap(), WorkloadEnd::Done);
    let value = |name: &str| {
        events.iter().rev().find_map(|line| match line {
            WorkloadEvent::Value { metric, value, .. } if metric == name => Some(*value),
            _ => None,
        })
    };
    let near = |name: &str, expected: f64| (value(name).unwrap() / expected - 1.0).abs() < 1e-12;
    assert!(near("time.forward_backward", 0.25) && near("time.iteration.median", 0.25), "{events:?}");
    assert!(near("cpu.iteration", 1.0) && near("tokens_per_s", 2.0 * 512.0 / 0.5), "{events:?}");
    assert!(value("flops_per_s").is_some() && value("mfu").is_none(), "the peak is not known");
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 3 }));
}

#[test]
fn tokens_of_a_text_are_handed_over_as_32_bit_numbers() {
    let fake = Fake::new(
        r#"od -An -tu4 "$(dirname "$2")/tokens.bin"; grep -q tokens.bin "$2" && echo '{"assay":"done","steps":3}'"#,
    );
    let options = options(&fake.path.display().to_string(), &[]);
    let (ended, events) = run_with(&options, Some(&[1, 70_000, 3]));
    assert_eq!(ended.unwrap(), WorkloadEnd::Done);
    assert_eq!(notes(&after_preamble(events))[0].split_whitespace().collect::<Vec<_>>(), ["1", "70000", "3"]);
}

#[test]
fn what_is_missing_is_named_and_how_to_get_it() {
    let missing = |python: &str| {
        let (ended, events) = run_with(&options(python, &[]), None);
        assert!(!events.iter().any(|line| matches!(line, WorkloadEvent::Failed { .. })), "{events:?}");
        let error = ended.unwrap_err();
        assert!(matches!(error, WorkloadError::EngineMissing { .. }), "{error}");
        format!("{error}\n{}", error.hint().unwrap())
    };
    let message = missing("/no/such/python");
    assert!(message.contains("/no/such/python") && message.contains("pip install torch"), "{message}");
    let fake = Fake::new(r#"echo '{"assay":"failed","reason":"cannot import torch: no module"}'; exit 4"#);
    let message = missing(&fake.path.display().to_string());
    assert!(message.contains("no module") && message.contains("pip install torch"), "{message}");
    let fake = Fake::new("echo 'SyntaxError: invalid syntax' >&2; exit 1");
    assert!(missing(&fake.path.display().to_string()).contains("SyntaxError"));
    let hinted = r#"echo '{"assay":"failed","reason":"no device","hint":"use device = cpu"}'; exit 4"#;
    assert!(missing(&Fake::new(hinted).path.display().to_string()).ends_with("use device = cpu"));
}

#[test]
fn an_adapter_that_breaks_off_is_an_error_with_its_last_words() {
    let (ended, events) =
        run_fake(r#"echo '{"assay":"progress","done":1,"of":3}'; echo 'out of luck' >&2; kill -9 $$"#);
    let error = ended.unwrap_err();
    assert!(matches!(error, WorkloadError::EngineFailed { .. }), "{error}");
    assert!(error.to_string().contains("out of luck") && error.to_string().contains("signal"), "{error}");
    assert_eq!(events, [WorkloadEvent::Progress { done: 1, of: 3 }], "what was reported stays reported");
    let (ended, _) = run_fake(r#"echo '{"assay":"failed","reason":"PyTorch: odd","hint":"h"}'; exit 3"#);
    let error = ended.unwrap_err();
    assert_eq!((error.to_string().contains("odd"), error.hint().as_deref()), (true, Some("h")));
}

#[test]
fn divergence_and_want_of_memory_are_endings_that_are_reported() {
    let (ended, events) =
        run_fake(r#"echo '{"assay":"failed","reason":"the loss of step 2 is nan"}'; exit 5"#);
    assert_eq!(ended.unwrap(), WorkloadEnd::Diverged);
    assert!(matches!(&events[..], [WorkloadEvent::Failed { reason, .. }] if reason.contains("step 2")));
    let (ended, events) = run_fake(r#"echo '{"assay":"does_not_fit","reason":"out of memory"}'; exit 3"#);
    assert_eq!(ended.unwrap(), WorkloadEnd::DoesNotFit);
    assert!(matches!(&events[..], [WorkloadEvent::DoesNotFit { .. }]));
}

#[test]
fn the_stop_flag_and_the_end_of_pacing_stop_the_run() {
    let fake = Fake::new(r#"echo '{"assay":"progress","done":1,"of":3}'; exec sleep 60"#);
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line| {
        stop.fetch_or(matches!(line, WorkloadEvent::Progress { .. }), Ordering::Relaxed);
        events.push(line);
    };
    let options = options(&fake.path.display().to_string(), &[]);
    let ended = run(&options, &LIMITS, None, &mut Emitter::new(&mut emit, &stop));
    assert_eq!(ended.unwrap(), WorkloadEnd::Stopped);
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 0 }));
    assert_eq!(run_fake(r#"echo '{"assay":"done","steps":2}'"#).0.unwrap(), WorkloadEnd::Stopped);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_started() {
    let step = ("phase", Value::from("step"));
    for more in [("save", Value::from("a")), ("profile", Value::from("b"))] {
        let (ended, _) = run_with(&options("/no/such/python", &[step.clone(), more]), None);
        let error = ended.unwrap_err();
        assert!(error.is_usage() && error.hint().unwrap().contains("native"), "{error}");
    }
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line| events.push(line);
    let little = SeriesLimits { memory_bytes: Some(1 << 20), ..LIMITS };
    let ended = run(&options("/no/such/python", &[]), &little, None, &mut Emitter::new(&mut emit, &stop));
    assert_eq!(ended.unwrap(), WorkloadEnd::DoesNotFit);
    assert!(matches!(events.last(), Some(WorkloadEvent::DoesNotFit { hint: Some(_), .. })));
}

fn losses(events: &[WorkloadEvent]) -> Vec<f64> {
    let loss = |line: &WorkloadEvent| match line {
        WorkloadEvent::Value { metric, value, .. } if metric == "loss.train" => Some(*value),
        _ => None,
    };
    events.iter().filter_map(loss).collect()
}

fn assert_close(losses: &[f64], expected: &[f64]) {
    assert_eq!(losses.len(), expected.len());
    let close = |(loss, expected): (&f64, &f64)| (loss / expected - 1.0).abs() < 1e-5;
    assert!(losses.iter().zip(expected).all(close), "{losses:?} instead of {expected:?}");
}

/// What PyTorch itself computes through the adapter, against the golden file that was made with PyTorch.
#[test]
#[ignore = "needs PyTorch: ASSAY_TEST_PYTHON=/path/to/python cargo test -p assay-workloads -- --ignored"]
fn a_real_pytorch_computes_the_golden_numbers() {
    let python = std::env::var("ASSAY_TEST_PYTHON").unwrap();
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("../../../golden/lm_narrow.json")).unwrap();
    let number = |name: &str| Value::from(golden["settings"][name].as_i64().unwrap());
    let shape = ["width", "hidden", "layers", "heads", "vocabulary", "context", "batch_size"];
    let mut more: Vec<(&str, Value)> = shape.map(|name| (name, number(name))).to_vec();
    for name in ["learning_rate", "weight_decay", "clip"] {
        more.push((name, Value::Float(golden["settings"][name].as_f64().unwrap())));
    }
    more.extend([("phase", "step".into()), ("size", "custom".into()), ("iterations", 4.into())]);
    let steps = golden["float64"]["steps"].as_array().unwrap();
    let expected: Vec<f64> = steps.iter().map(|step| step["loss"].as_f64().unwrap()).collect();
    for mode in ["eager", "sdpa"] {
        more.push(("mode", mode.into()));
        let (ended, events) = run_with(&options(&python, &more), None);
        assert_eq!(ended.unwrap(), WorkloadEnd::Done);
        assert_close(&losses(&events), &expected);
    }
}

/// Windows of a text, weights, moments and the count of steps come over from a checkpoint of the native engine.
#[test]
#[ignore = "needs PyTorch: ASSAY_TEST_PYTHON=/path/to/python cargo test -p assay-workloads -- --ignored"]
fn a_real_pytorch_goes_on_from_a_native_checkpoint() {
    let python = std::env::var("ASSAY_TEST_PYTHON").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("text"), "to be or not to be, that is the question\n".repeat(40)).unwrap();
    let run = |engine: &str, more: [(&str, Value); 1]| {
        let common = [
            ("size", Value::from("tiny")),
            ("phase", "step".into()),
            ("context", 20.into()),
            ("text", Value::Text(path("text"))),
            ("iterations", 3.into()),
            ("warmup", 0.into()),
            ("python", Value::Text(python.clone())),
            ("engine", engine.into()),
        ];
        let settings = common.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value)).collect();
        let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
        let mut emit = |line| events.push(line);
        let ended = crate::run("lm", &settings, &LIMITS, &mut Emitter::new(&mut emit, &stop));
        assert_eq!(ended.unwrap(), WorkloadEnd::Done, "{events:?}");
        events
    };
    run("native", [("save", Value::Text(path("checkpoint")))]);
    let native = run("native", [("resume", Value::Text(path("checkpoint")))]);
    let torch = run("torch", [("resume", Value::Text(path("checkpoint")))]);
    assert_close(&losses(&torch), &losses(&native));
    let steps = |line: &WorkloadEvent| matches!(line, WorkloadEvent::Value { metric, step: Some(6), .. } if metric == "loss.train");
    assert!(torch.iter().any(steps), "it counts on from the checkpoint's steps: {torch:?}");
}
