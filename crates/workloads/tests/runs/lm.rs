//! Whole runs of `lm` on the native engine, as a caller sees them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::{Settings, Value, WorkloadEvent};
use assay_workloads::lm::checkpoint::Checkpoint;
use assay_workloads::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, run};

use crate::support::{self, MACHINE, failure, path, series, value};

/// A model that runs in milliseconds.
fn settings(extra: &[(&str, Value)]) -> Settings {
    let tiny: [(&str, Value); 8] = [
        ("size", "custom".into()),
        ("width", 32.into()),
        ("hidden", 64.into()),
        ("layers", 2.into()),
        ("heads", 4.into()),
        ("context", 16.into()),
        ("warmup", 0.into()),
        ("iterations", 4.into()),
    ];
    support::settings(&tiny, extra)
}

fn try_run(
    extra: &[(&str, Value)],
    machine: &SeriesLimits,
) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    support::try_run("lm", &settings(extra), machine)
}

fn done(extra: &[(&str, Value)]) -> Vec<WorkloadEvent> {
    support::done("lm", &settings(extra))
}

fn losses(events: &[WorkloadEvent]) -> Vec<(u64, u64)> {
    series(events, "loss.train").iter().map(|(step, loss)| (*step, loss.to_bits())).collect()
}

#[test]
fn a_run_reports_its_settings_its_series_and_its_summary() {
    let events = done(&[("warmup", 2.into()), ("phase", "forward_backward".into())]);
    assert!(events.contains(&WorkloadEvent::Setting { name: "width".to_owned(), value: 32.into() }));
    assert!(events.contains(&WorkloadEvent::Setting { name: "vocabulary".to_owned(), value: 10_000.into() }));
    let steps = |name: &str| series(&events, name).iter().map(|(step, _)| *step).collect::<Vec<_>>();
    assert_eq!(steps("time.iteration.warmup"), [1, 2]);
    assert_eq!(steps("time.iteration"), [3, 4, 5, 6]);
    assert_eq!(steps("cpu.iteration"), [3, 4, 5, 6]);
    assert_eq!(steps("loss.train"), [1, 2, 3, 4, 5, 6]);
    let times: Vec<f64> = series(&events, "time.iteration").iter().map(|(_, time)| *time).collect();
    let mean = times.iter().sum::<f64>() / 4.0;
    assert!((value(&events, "time.forward_backward").unwrap() - mean).abs() < 1e-12);
    assert!((value(&events, "tokens_per_s").unwrap() - 64.0 / mean).abs() < 1e-6);
    assert_eq!(value(&events, "parameters"), Some(660_640.0));
    assert_eq!(value(&events, "parameters.without_head"), Some(340_640.0));
    let first = series(&events, "loss.train")[0].1;
    assert_eq!(value(&events, "parity.loss"), Some(first));
    assert!(
        value(&events, "parity.output").unwrap() > 0.0 && value(&events, "parity.gradient").unwrap() > 0.0
    );
    assert!(value(&events, "mfu").unwrap() > 0.0 && value(&events, "memory.peak").unwrap() > 1e6);
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 6 }));
    let phases: Vec<&str> = events
        .iter()
        .filter_map(|line| match line {
            WorkloadEvent::Phase { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(phases, ["stage", "warmup", "train"]);
}

#[test]
fn all_phases_agree_on_the_first_loss() {
    let first = |phase: &str| value(&done(&[("phase", phase.into())]), "parity.loss").unwrap();
    let backward = first("forward_backward");
    // Forward alone sums each row of exponentials in another order.
    assert!((first("forward") / backward - 1.0).abs() < 1e-7);
    assert_eq!(first("step"), backward);
}

#[test]
fn a_text_is_learned() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    std::fs::write(&text, "the quick brown fox jumps over the lazy dog; ".repeat(50)).unwrap();
    let events = done(&[
        ("phase", "step".into()),
        ("text", path(&text)),
        ("iterations", 120.into()),
        ("learning_rate", Value::Float(1e-2)),
    ]);
    let losses = series(&events, "loss.train");
    assert!((losses[0].1 - 256f64.ln()).abs() < 1.0, "{losses:?}");
    assert!(losses[119].1 < 1.0, "{losses:?}");
    assert_eq!(series(&events, "gradient_norm").len(), 120);
}

#[test]
fn a_tokenizer_gives_the_vocabulary_and_a_smaller_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (text, tokenizer) = (directory.path().join("text"), directory.path().join("tokenizer.json"));
    std::fs::write(&text, "a b c a b ".repeat(20)).unwrap();
    let words = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
        "model":{"type":"WordLevel","vocab":{"a":0,"b":1,"c":2,"[unknown]":3},"unk_token":"[unknown]"}}"#;
    std::fs::write(&tokenizer, words).unwrap();
    let files = [("text", path(&text)), ("tokenizer", path(&tokenizer))];
    let events = done(&files);
    assert!(events.contains(&WorkloadEvent::Setting { name: "vocabulary".to_owned(), value: 4.into() }));
    let error = try_run(&[&files[..], &[("vocabulary", 3.into())]].concat(), &MACHINE).0.unwrap_err();
    assert!(error.is_usage() && error.hint().unwrap().contains("at least 4"), "{error}");

    std::fs::write(&tokenizer, "{}").unwrap();
    let error = try_run(&files, &MACHINE).0.unwrap_err();
    assert!(error.to_string().contains("tokenizer.json"), "{error}");
    std::fs::write(&text, "short").unwrap();
    let error = try_run(&files[..1], &MACHINE).0.unwrap_err();
    assert!(error.to_string().contains("5 tokens, and one window takes 17"), "{error}");
    let error = try_run(&[("text", path(&directory.path().join("missing")))], &MACHINE).0.unwrap_err();
    assert!(!error.is_usage() && error.to_string().contains("missing"), "{error}");
}

#[test]
fn a_resumed_run_is_the_same_bit_for_bit_as_one_that_never_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.safetensors");
    let step: (&str, Value) = ("phase", "step".into());
    let whole = losses(&done(&[step.clone(), ("iterations", 9.into())]));
    let first = losses(&done(&[
        step.clone(),
        ("iterations", 5.into()),
        ("save", path(&file)),
        ("save_every", 2.into()),
    ]));
    let events = done(&[step.clone(), ("resume", path(&file))]);
    assert_eq!(whole, [first, losses(&events)].concat());
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(
        !events
            .iter()
            .any(|line| matches!(line, WorkloadEvent::Note { text, .. } if text.contains("differ")))
    );

    let events = done(&[step, ("resume", path(&file)), ("batch_size", 2.into())]);
    let note = |line: &WorkloadEvent| matches!(line, WorkloadEvent::Note { text, .. } if text.contains("batch_size 2 instead of 4"));
    assert!(events.iter().any(note));
    // Weights alone are enough for a forward pass.
    done(&[("phase", "forward".into()), ("resume", path(&file))]);
}

#[test]
fn a_checkpoint_that_cannot_be_used_is_refused_clearly() {
    let directory = tempfile::tempdir().unwrap();
    let (good, bad) = (directory.path().join("good"), directory.path().join("bad"));
    done(&[("phase", "step".into()), ("save", path(&good)), ("vocabulary", 50.into())]);
    let bytes = std::fs::read(&good).unwrap();
    let refusal = |content: &[u8], vocabulary: i64| {
        std::fs::write(&bad, content).unwrap();
        let extra = [("phase", "step".into()), ("resume", path(&bad)), ("vocabulary", vocabulary.into())];
        let (ended, events) = try_run(&extra, &MACHINE);
        assert!(series(&events, "loss.train").is_empty());
        let error = ended.unwrap_err();
        assert!(error.hint().is_some());
        error.to_string()
    };
    assert!(refusal(&[], 50).contains("shorter than"));
    assert!(refusal(b"this is no checkpoint", 50).contains("not a safetensors file"));
    assert!(refusal(&bytes[..bytes.len() - 1], 50).contains("bytes, and its header"));
    assert!(refusal(&bytes[..100], 50).contains("within its header"));
    assert!(refusal(&bytes, 51).contains("`embedding` has the shape [50, 32], not [51, 32]"));
    let header = String::from_utf8_lossy(&bytes[8..]).into_owned();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let changed = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let header = header[..length].replacen(from, to, 1);
        [&bytes[..8], header.as_bytes(), &bytes[8 + length..]].concat()
    };
    assert!(
        refusal(&changed("\"layers.1.down\"", "\"layers.9.down\""), 50)
            .contains("`layers.1.down` is missing")
    );
    assert!(
        refusal(&changed("adam.first.head", "adam.other.head"), 50).contains("`adam.first.head` is missing")
    );
    assert!(refusal(&changed("\"F32\"", "\"I32\""), 50).contains("type I32"));
    assert!(refusal(&changed("[0,", "[8,"), 50).contains("header"));
    let missing = try_run(&[("resume", path(&directory.path().join("none")))], &MACHINE).0.unwrap_err();
    assert!(missing.to_string().contains("none"), "{missing}");
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_an_error_and_the_losses_stay_reported() {
    let place = Path::new("missing-directory/state");
    let (ended, events) = try_run(&[("phase", "step".into()), ("save", path(place))], &MACHINE);
    assert!(ended.unwrap_err().to_string().contains("cannot write"));
    assert_eq!(series(&events, "loss.train").len(), 4);
}

#[test]
fn a_loss_that_is_not_a_number_ends_the_run_and_names_the_step() {
    let extra = [
        ("phase", "step".into()),
        ("learning_rate", Value::Float(1e30)),
        ("clip", Value::Float(0.0)),
        ("iterations", 50.into()),
    ];
    let (ended, events) = try_run(&extra, &MACHINE);
    assert_eq!(ended.unwrap(), WorkloadEnd::Diverged);
    let steps = series(&events, "time.iteration").len();
    assert!(failure(&events).unwrap().0.ends_with(&format!("at step {steps}")));
    assert!(
        value(&events, "parity.loss").is_some() && !matches!(events.last(), Some(WorkloadEvent::Done { .. }))
    );
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_taken() {
    let machine = SeriesLimits { memory_bytes: Some(60_000_000), ..MACHINE };
    let huge = [("batch_size", 4096.into()), ("phase", "step".into())];
    let (ended, events) = try_run(&huge, &machine);
    assert_eq!(ended.unwrap(), WorkloadEnd::DoesNotFit);
    let Some(WorkloadEvent::DoesNotFit { reason, hint: Some(hint) }) = events.last() else {
        panic!("{events:?}")
    };
    assert!(reason.contains("60.0 MB are free") && reason.contains("activations"), "{reason}");
    assert!(hint.contains("batch_size = "), "{hint}");

    let most = 1 << 24;
    let absurd =
        [("width", most.into()), ("heads", 1.into()), ("hidden", most.into()), ("context", most.into())];
    let (ended, events) = try_run(&absurd, &machine);
    assert_eq!(ended.unwrap(), WorkloadEnd::DoesNotFit, "{events:?}");
    // Where nobody knows how much is free, the system's refusal is an error like any other.
    let error = try_run(&absurd, &MACHINE).0.unwrap_err();
    assert!(matches!(error, WorkloadError::Memory { .. }), "{error}");
}

#[test]
fn the_stop_flag_ends_a_run_and_keeps_what_was_measured_and_learned() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state");
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line: WorkloadEvent| {
        if matches!(line, WorkloadEvent::Progress { done: 3, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
        events.push(line);
    };
    let extra = [("iterations", 1000.into()), ("phase", "step".into()), ("save", path(&file))];
    let ended = run("lm", &settings(&extra), &MACHINE, &mut Emitter::new(&mut emit, &stop)).unwrap();
    assert_eq!(ended, WorkloadEnd::Stopped);
    assert_eq!(series(&events, "time.iteration").len(), 3);
    assert!(value(&events, "tokens_per_s").is_some());
    assert_eq!(Checkpoint::open(&file).unwrap().about().unwrap().updates, 3);
}

#[test]
fn a_profile_covers_the_iterations_and_marks_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace.json");
    let events = done(&[("phase", "step".into()), ("profile", path(&trace)), ("warmup", 1.into())]);
    assert!(
        events.contains(&WorkloadEvent::Setting { name: "profile".to_owned(), value: Value::Switch(true) })
    );
    let share: f64 = ["embedding", "norm", "qkv", "rope", "attention", "attention_out", "gate_up"]
        .into_iter()
        .chain(["swiglu", "down", "head", "loss", "copy", "optimizer"])
        .map(|name| value(&events, &format!("profile.{name}.share")).unwrap_or_else(|| panic!("{name}")))
        .sum();
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    // Matrices forward and backward: three times 2 · tokens · (3 · width · width) a layer.
    assert_eq!(value(&events, "profile.qkv.flops"), Some(3.0 * 2.0 * 2.0 * 64.0 * 3.0 * 32.0 * 32.0));
    let flops: f64 = ["qkv", "attention", "attention_out", "gate_up", "down", "head"]
        .iter()
        .map(|name| value(&events, &format!("profile.{name}.flops")).unwrap())
        .sum();
    // Attention and what comes after it are computed again in the backward pass of every layer but the last.
    let again = 2.0 * 64.0 * 32.0 * 32.0 + 4.0 * 64.0 * 16.0 * 32.0;
    assert_eq!(Some(flops - again), value(&events, "flops.iteration"));
    assert!(std::fs::read_to_string(&trace).unwrap().starts_with('{'));
}

#[test]
fn an_unknown_workload_is_named() {
    let (mut emit, stop) = (|_| {}, AtomicBool::new(false));
    let error = run("ml", &Settings::new(), &MACHINE, &mut Emitter::new(&mut emit, &stop)).unwrap_err();
    assert!(error.to_string().contains("`ml`") && error.hint().unwrap().contains("lm"));
}
