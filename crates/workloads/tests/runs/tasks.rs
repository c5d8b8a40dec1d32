//! Several tasks that train together: by the native engine, and by PyTorch under torchrun.

use assay_model::{Settings, Value};

use crate::support::{done, setting, settings, value, values};

/// A small training of every workload, without its number of tasks.
fn trainings() -> [(&'static str, Settings); 3] {
    let lm: [(&str, Value); 9] = [
        ("size", "custom".into()),
        ("width", 32.into()),
        ("hidden", 64.into()),
        ("layers", 2.into()),
        ("heads", 2.into()),
        ("vocabulary", 300.into()),
        ("context", 16.into()),
        ("phase", "step".into()),
        ("batch_size", 3.into()),
    ];
    let bert: [(&str, Value); 9] = [
        ("task", "pretrain".into()),
        ("size", "custom".into()),
        ("width", 32.into()),
        ("hidden", 64.into()),
        ("layers", 2.into()),
        ("heads", 2.into()),
        ("vocabulary", 3000.into()),
        ("context", 16.into()),
        ("batch_size", 3.into()),
    ];
    // The last step of an epoch is one that cannot be divided evenly.
    let mnist: [(&str, Value); 5] = [
        ("data_set", "synthetic".into()),
        ("train_samples", 100.into()),
        ("test_samples", 20.into()),
        ("batch_size", 7.into()),
        ("steps_per_iteration", 4.into()),
    ];
    let iterations = [("iterations", 6.into()), ("warmup", 0.into())];
    [
        ("lm", settings(&lm, &iterations)),
        ("bert", settings(&bert, &iterations)),
        ("mnist", settings(&mnist, &[("epochs", 2.into())])),
    ]
}

/// Needs a Python with PyTorch in `ASSAY_TEST_PYTHON`.
#[test]
#[ignore = "needs PyTorch: ASSAY_TEST_PYTHON=… cargo test -p assay-workloads --test runs -- --ignored"]
fn pytorch_under_torchrun_computes_the_same() {
    let python = std::env::var("ASSAY_TEST_PYTHON").expect("ASSAY_TEST_PYTHON");
    for (workload, base) in trainings() {
        for tasks in [2, 3] {
            let mut given = base.clone();
            given.insert("tasks".to_owned(), tasks.into());
            let native = done(workload, &given);
            assert_eq!(setting(&native, "ranks").as_deref(), Some("threads"));
            given.insert("engine".to_owned(), "torch".into());
            given.insert("python".to_owned(), python.as_str().into());
            let torch = done(workload, &given);
            assert_eq!(setting(&torch, "ranks").as_deref(), Some("torchrun"));
            let [ours, theirs] = [&native, &torch].map(|events| values(events, "loss.train"));
            assert_eq!(ours.len(), theirs.len(), "{workload}");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert!((theirs / ours - 1.0).abs() < 1e-4, "{workload}, {tasks} tasks: {theirs} {ours}");
            }
            for name in ["parity.loss", "parity.output", "parity.gradient", "samples"] {
                let [ours, theirs] = [&native, &torch].map(|events| value(events, name).unwrap());
                assert!((theirs / ours - 1.0).abs() < 1e-4, "{workload} {name}: {theirs} {ours}");
            }
        }
    }
}
