//! Whole runs of `mnist` on the native engine, as a caller sees them.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::{Settings, Value, WorkloadEvent};
use assay_workloads::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, run};

use crate::support::{self, MACHINE, failure, notes, path, series, value};

/// A training of a few steps.
fn settings(extra: &[(&str, Value)]) -> Settings {
    let small: [(&str, Value); 5] = [
        ("data_set", "synthetic".into()),
        ("train_samples", 60.into()),
        ("test_samples", 30.into()),
        ("steps_per_iteration", 3.into()),
        ("epochs", 2.into()),
    ];
    support::settings(&small, extra)
}

fn try_run(
    extra: &[(&str, Value)],
    machine: &SeriesLimits,
) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    support::try_run("mnist", &settings(extra), machine)
}

fn done(extra: &[(&str, Value)]) -> Vec<WorkloadEvent> {
    support::done("mnist", &settings(extra))
}

fn refused(extra: &[(&str, Value)]) -> WorkloadError {
    try_run(extra, &MACHINE).0.unwrap_err()
}

/// Files of images and labels in a folder of their own.
fn files(train: u8, test: u8) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (part, count) in [("train", train), ("t10k", test)] {
        let pixels: Vec<u8> = (0..usize::from(count) * 784).map(|place| (place * 7919 % 251) as u8).collect();
        let header = [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28];
        std::fs::write(
            folder.path().join(format!("{part}-images-idx3-ubyte")),
            [&header[..], &pixels].concat(),
        )
        .unwrap();
        let labels: Vec<u8> = (0..count).map(|place| place % 10).collect();
        let header = [0, 0, 8, 1, 0, 0, 0, count];
        std::fs::write(
            folder.path().join(format!("{part}-labels-idx1-ubyte")),
            [&header[..], &labels].concat(),
        )
        .unwrap();
    }
    folder
}

#[test]
fn a_run_reports_its_data_its_series_and_its_summary() {
    let events = done(&[]);
    let setting =
        |name: &str, value: Value| events.contains(&WorkloadEvent::Setting { name: name.to_owned(), value });
    assert!(
        setting("data_set", "synthetic".into())
            && setting("steps", 16.into())
            && setting("threads", 2.into())
    );
    assert!(notes(&events).contains("synthetic digits drawn from the seed, not MNIST"));
    let steps = |name: &str| series(&events, name).iter().map(|(step, _)| *step).collect::<Vec<_>>();
    // Eight steps per epoch, three an iteration, the last one of an epoch two.
    assert_eq!(steps("loss.train"), [3, 6, 8, 11, 14, 16]);
    assert_eq!(steps("time.iteration.warmup"), [3]);
    assert_eq!(steps("time.iteration"), [6, 8, 11, 14, 16]);
    for name in ["accuracy", "loss.test", "epoch_s"] {
        assert_eq!(steps(name), [8, 16], "{name}");
    }
    let accuracy = value(&events, "accuracy").unwrap();
    let right = 30.0 * accuracy;
    assert!((0.0..=1.0).contains(&accuracy) && (right - right.round()).abs() < 1e-9, "{accuracy}");
    assert_eq!(value(&events, "samples"), Some(120.0));
    let seconds: f64 = series(&events, "time.iteration").iter().map(|(_, seconds)| seconds).sum();
    // 120 samples less the 24 of the warm-up.
    assert!((value(&events, "samples_per_s.loop").unwrap() * seconds - 96.0).abs() < 1e-6);
    assert!((value(&events, "step_s").unwrap() * 13.0 - seconds).abs() < 1e-9);
    assert_eq!(value(&events, "parameters"), Some(225_034.0));
    for name in ["parity.loss", "parity.output", "parity.gradient", "mfu", "memory.peak", "loss.final"] {
        assert!(value(&events, name).unwrap() > 0.0, "{name}");
    }
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 16 }));
}

#[test]
fn the_same_seed_gives_the_same_bits_and_tasks_give_the_same_result() {
    let losses = |events: &[WorkloadEvent]| series(events, "loss.train");
    let bits =
        |events: &[WorkloadEvent]| losses(events).iter().map(|(_, loss)| loss.to_bits()).collect::<Vec<_>>();
    let one = done(&[("batch_size", 12.into())]);
    assert_eq!(bits(&one), bits(&done(&[("batch_size", 12.into())])));
    assert_ne!(bits(&one), bits(&done(&[("batch_size", 12.into()), ("seed", 2.into())])));
    for tasks in [2, 3] {
        let several = done(&[("batch_size", (12 / tasks).into()), ("tasks", tasks.into())]);
        for ((_, one), (_, several)) in losses(&one).iter().zip(&losses(&several)) {
            assert!((one - several).abs() < 1e-5, "{one} {several}");
        }
        assert_eq!(value(&several, "samples"), Some(120.0));
    }
}

#[test]
fn digits_are_learned() {
    let events = done(&[
        ("train_samples", 600.into()),
        ("test_samples", 200.into()),
        ("epochs", 4.into()),
        ("steps_per_iteration", 75.into()),
        ("learning_rate", Value::Float(0.05)),
    ]);
    let accuracy = value(&events, "accuracy").unwrap();
    assert!(accuracy > 0.6, "{accuracy}");
    let losses = series(&events, "loss.train");
    assert!(losses[3].1 < 0.7 * losses[0].1, "{losses:?}");
}

#[test]
fn files_are_used_and_what_is_wrong_with_them_is_reported() {
    let folder = files(40, 20);
    let data = ("data", path(folder.path()));
    let base: Vec<(&str, Value)> = vec![
        data.clone(),
        ("data_set", "auto".into()),
        ("train_samples", 40.into()),
        ("test_samples", 20.into()),
    ];
    let with = |name: &'static str, value: Value| [&base[..], &[(name, value)]].concat();
    let events = done(&base);
    assert_eq!(value(&events, "samples"), Some(80.0));
    assert!(notes(&events).contains("of no data set that is known"), "{}", notes(&events));
    let events = done(&with("data_set", "mnist".into()));
    assert!(notes(&events).contains("not the published files"), "{}", notes(&events));

    let error = refused(&with("batch_size", 41.into()));
    assert!(error.is_usage() && error.to_string().contains("there are 40 images"), "{error}");
    let error = refused(&with("train_samples", 41.into()));
    assert!(error.is_usage() && error.to_string().contains("only 40"), "{error}");

    let labels = folder.path().join("train-labels-idx1-ubyte");
    let mut bytes = std::fs::read(&labels).unwrap();
    bytes[8] = 10;
    std::fs::write(&labels, &bytes).unwrap();
    let error = refused(&base);
    assert!(!error.is_usage() && error.to_string().contains("label 10 of image 0"), "{error}");
    std::fs::write(&labels, &bytes[..20]).unwrap();
    assert!(refused(&base).to_string().contains("cut off"));
    std::fs::remove_file(&labels).unwrap();
    let error = refused(&base);
    assert!(
        error.to_string().contains("no such file") && error.hint().unwrap().contains("assay doctor data"),
        "{error}"
    );
}

#[test]
fn a_loss_that_is_not_a_number_ends_the_run_and_names_the_step() {
    let (ended, events) = try_run(&[("learning_rate", Value::Float(1e39))], &MACHINE);
    assert_eq!(ended.unwrap(), WorkloadEnd::Diverged);
    let (reason, hint) = failure(&events).unwrap();
    // The first step computes its loss with initial weights, and the second with those that flew away.
    assert!(reason.ends_with("at step 2") && hint.unwrap().contains("learning_rate"), "{reason}");
    assert!(
        value(&events, "parity.loss").is_some() && !matches!(events.last(), Some(WorkloadEvent::Done { .. }))
    );
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_taken() {
    let machine = SeriesLimits { memory_bytes: Some(60_000_000), ..MACHINE };
    let (ended, events) = try_run(&[("test_batch_size", (1 << 24).into())], &machine);
    assert_eq!(ended.unwrap(), WorkloadEnd::DoesNotFit);
    let Some(WorkloadEvent::DoesNotFit { reason, hint: Some(hint) }) = events.last() else {
        panic!("{events:?}")
    };
    assert!(reason.contains("60.0 MB are free") && hint.contains("test_batch_size"), "{reason} {hint}");
}

#[test]
fn a_profile_reports_where_the_time_goes() {
    let directory = tempfile::tempdir().unwrap();
    let events = done(&[("profile", path(&directory.path().join("trace.json")))]);
    for operation in ["convolutions", "convolutions_backward", "layer3", "layer3_backward", "optimizer"] {
        assert!(value(&events, &format!("profile.{operation}.seconds")).unwrap() > 0.0, "{operation}");
    }
    assert!(directory.path().join("trace.json").exists());
}

#[test]
fn the_stop_flag_ends_a_run_and_keeps_what_was_measured() {
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line: WorkloadEvent| {
        stop.fetch_or(matches!(line, WorkloadEvent::Progress { .. }), Ordering::Relaxed);
        events.push(line);
    };
    let ended = run("mnist", &settings(&[]), &MACHINE, &mut Emitter::new(&mut emit, &stop));
    assert_eq!(ended.unwrap(), WorkloadEnd::Stopped);
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 3 }));
}
