//! Whole runs of `bert` on the native engine, as a caller sees them; and, where they are there, on PyTorch and with a
//! real model.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::{Settings, Value, WorkloadEvent};
use assay_workloads::bert::features::Features;
use assay_workloads::bert::train::{HeadRequest, head};
use assay_workloads::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, run};

use crate::support::{self, MACHINE, notes, path, setting, value, values};

/// A model that runs in milliseconds.
fn settings(extra: &[(&str, Value)]) -> Settings {
    let tiny: [(&str, Value); 11] = [
        ("size", "custom".into()),
        ("width", 32.into()),
        ("hidden", 64.into()),
        ("layers", 2.into()),
        ("heads", 4.into()),
        ("vocabulary", 60.into()),
        ("positions", 24.into()),
        ("context", 16.into()),
        ("sentences", 6.into()),
        ("warmup", 0.into()),
        ("iterations", 3.into()),
    ];
    support::settings(&tiny, extra)
}

fn try_run(
    settings: &Settings,
    machine: &SeriesLimits,
) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    support::try_run("bert", settings, machine)
}

fn done(extra: &[(&str, Value)]) -> Vec<WorkloadEvent> {
    support::done("bert", &settings(extra))
}

fn failed(extra: &[(&str, Value)]) -> String {
    let error = try_run(&settings(extra), &MACHINE).0.unwrap_err();
    format!("{error} {}", error.hint().unwrap_or_default())
}

#[test]
fn answers_come_with_latencies_and_say_what_is_made_up() {
    let events = done(&[]);
    assert_eq!(values(&events, "time.iteration").len(), 3);
    let [mean, p50, p99] =
        ["latency", "latency.p50", "latency.p99"].map(|name| value(&events, name).unwrap());
    assert!(mean > 0.0 && p50 > 0.0 && p50 <= p99);
    assert_eq!((value(&events, "samples"), value(&events, "length.median")), (Some(18.0), Some(16.0)));
    assert!(
        value(&events, "inferences_per_s").unwrap() > 0.0 && value(&events, "parity.output").unwrap() > 0.0
    );
    assert!(notes(&events).contains("weights are random") && notes(&events).contains("tokens are random"));
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 3 }));
}

#[test]
fn batches_padding_and_threads_change_no_answer() {
    let output = |extra: &[(&str, Value)]| value(&done(extra), "parity.output").unwrap();
    let plain = output(&[]);
    for extra in [("batch_size", 4), ("length", 20), ("threads", 1), ("threads", 3)] {
        let other = output(&[(extra.0, extra.1.into())]);
        assert!((other / plain - 1.0).abs() < 1e-12, "{extra:?}: {other} {plain}");
    }
    assert_ne!(output(&[("seed", 2.into())]), plain);
    assert_ne!(output(&[("task", "embed".into())]), plain);
}

#[test]
fn a_sentence_is_answered_with_its_ids_scores_and_class() {
    let events = done(&[("text", "Dune is a great movie!".into()), ("length", 12.into())]);
    assert_eq!(setting(&events, "attention_mask").unwrap(), "1 1 1 1 1 1 1 1 0 0 0 0");
    assert!(setting(&events, "input_ids").unwrap().starts_with("1 "));
    let (logits, shares) = (values(&events, "logits"), values(&events, "probabilities"));
    assert_eq!((logits.len(), shares.len()), (2, 2));
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(setting(&events, "label").unwrap(), if logits[1] > logits[0] { "1" } else { "0" });
    assert!(notes(&events).contains("no vocabulary"));
}

#[test]
fn a_file_of_sentences_gives_an_accuracy_and_reports_what_was_cut_or_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data.csv");
    let long = "word ".repeat(40);
    std::fs::write(&file, format!("text,label\ngood film,1\n  ,0\nbad film,0\n{long},1\n")).unwrap();
    let events = done(&[("data", path(&file)), ("sentences", 3.into())]);
    let accuracy = value(&events, "accuracy").unwrap();
    assert!(
        [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].iter().any(|share| (accuracy - share).abs() < 1e-12),
        "{accuracy}"
    );
    assert!(
        notes(&events).contains("1 empty sentences")
            && notes(&events).contains("1 sentences were cut to 24 tokens")
    );
    assert_eq!(value(&events, "length.most"), Some(24.0));
}

#[test]
fn pretraining_reports_losses_and_learns() {
    let extra = |tasks: i64, batch: i64| {
        [
            ("task", "pretrain".into()),
            ("tasks", tasks.into()),
            ("batch_size", batch.into()),
            ("iterations", 8.into()),
            ("learning_rate", Value::Float(0.01)),
            ("vocabulary", 20.into()),
        ]
    };
    let one = done(&extra(1, 4));
    let losses = values(&one, "loss.train");
    assert_eq!(losses.len(), 8);
    assert_eq!((value(&one, "samples"), value(&one, "loss.final")), (Some(32.0), losses.last().copied()));
    assert!(value(&one, "duration.loop").unwrap() > 0.0 && value(&one, "samples_per_s.loop").unwrap() > 0.0);
    let two = values(&done(&extra(2, 2)), "loss.train");
    assert!(losses.iter().zip(&two).all(|(a, b)| (a / b - 1.0).abs() < 1e-4), "{losses:?} {two:?}");
    assert_eq!(values(&done(&extra(1, 4)), "loss.train"), losses);
}

#[test]
fn a_loss_that_is_no_number_ends_the_run_and_names_the_step() {
    let rate = Value::Float(1e30);
    let extra = [
        ("task", "pretrain".into()),
        ("learning_rate", rate),
        ("clip", Value::Float(0.0)),
        ("iterations", 9.into()),
    ];
    let (ended, events) = try_run(&settings(&extra), &MACHINE);
    assert_eq!(ended.unwrap(), WorkloadEnd::Diverged);
    assert!(
        events
            .iter()
            .any(|line| matches!(line, WorkloadEvent::Failed { reason, .. } if reason.contains("at step")))
    );
    assert!(!values(&events, "time.iteration").is_empty());
}

#[test]
fn what_does_not_fit_is_not_begun() {
    let small = SeriesLimits { memory_bytes: Some(1 << 20), ..MACHINE };
    for task in ["classify", "pretrain"] {
        let (ended, events) = try_run(&settings(&[("task", task.into())]), &small);
        assert_eq!(ended.unwrap(), WorkloadEnd::DoesNotFit);
        assert!(events.iter().any(|line| matches!(line, WorkloadEvent::DoesNotFit { hint: Some(_), .. })));
    }
}

#[test]
fn a_run_can_be_stopped() {
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let mut emit = |line: WorkloadEvent| {
        if matches!(line, WorkloadEvent::Progress { .. }) {
            stop.store(true, Ordering::Relaxed);
        }
        events.push(line);
    };
    let ended = run("bert", &settings(&[]), &MACHINE, &mut Emitter::new(&mut emit, &stop));
    assert_eq!(ended.unwrap(), WorkloadEnd::Stopped);
    assert_eq!(events.last(), Some(&WorkloadEvent::Done { steps: 1 }));
}

#[test]
fn a_profile_is_recognized_and_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace.json");
    for task in ["classify", "pretrain"] {
        let events = done(&[("profile", path(&file)), ("task", task.into())]);
        assert!(value(&events, "profile.qkv.seconds").unwrap() > 0.0, "{task}");
        assert!(std::fs::read_to_string(&file).unwrap().contains("attention"));
    }
}

/// A folder with a tiny model: configuration, vocabulary and weights that are all small numbers.
fn folder(directory: &Path, prefix: &str) {
    let config = r#"{"model_type":"bert","hidden_size":4,"intermediate_size":8,"num_hidden_layers":1,
        "num_attention_heads":2,"vocab_size":12,"max_position_embeddings":10,"layer_norm_eps":1e-12,
        "id2label":{"0":"negative","1":"positive"}}"#;
    std::fs::write(directory.join("config.json"), config).unwrap();
    std::fs::write(
        directory.join("vocab.txt"),
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ndune\nis\na\ngreat\nmovie\n!\n##s\n",
    )
    .unwrap();
    let layer = "encoder.layer.0";
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![12, 4]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![10, 4]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 4]),
        ("embeddings.LayerNorm.gamma".to_owned(), vec![4]),
        ("embeddings.LayerNorm.beta".to_owned(), vec![4]),
        ("pooler.dense.weight".to_owned(), vec![4, 4]),
        ("pooler.dense.bias".to_owned(), vec![4]),
    ];
    for (name, shape) in [
        ("attention.self.query", vec![4, 4]),
        ("attention.self.key", vec![4, 4]),
        ("attention.self.value", vec![4, 4]),
        ("attention.output.dense", vec![4, 4]),
        ("attention.output.LayerNorm", vec![4]),
        ("intermediate.dense", vec![8, 4]),
        ("output.dense", vec![4, 8]),
        ("output.LayerNorm", vec![4]),
    ] {
        tensors.push((format!("{layer}.{name}.bias"), vec![shape[0]]));
        tensors.push((format!("{layer}.{name}.weight"), shape));
    }
    let mut tensors: Vec<(String, Vec<usize>)> =
        tensors.into_iter().map(|(name, shape)| (format!("{prefix}{name}"), shape)).collect();
    tensors.push(("classifier.weight".to_owned(), vec![2, 4]));
    tensors.push(("classifier.bias".to_owned(), vec![2]));
    write_tensors(&directory.join("model.safetensors"), &tensors);
}

fn write_tensors(file: &Path, tensors: &[(String, Vec<usize>)]) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (number, (name, shape)) in tensors.iter().enumerate() {
        let begin = data.len();
        for place in 0..shape.iter().product::<usize>() {
            let number = ((number * 7 + place * 5) % 11) as f32 / 11.0 - 0.4;
            data.extend_from_slice(&number.to_le_bytes());
        }
        let entry =
            serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()] });
        header.insert(name.clone(), entry);
    }
    let header = serde_json::Value::Object(header).to_string();
    std::fs::write(file, [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data[..]].concat())
        .unwrap();
}

/// Settings for a model in a folder.
fn with_model(directory: &Path, extra: &[(&str, Value)]) -> Settings {
    let base = [("model", path(directory)), ("iterations", 1.into()), ("warmup", 0.into())];
    support::settings(&base, extra)
}

#[test]
fn a_model_from_a_folder_answers_with_its_labels_whatever_its_prefix() {
    let text: (&str, Value) = ("text", "Dune is a great movie!".into());
    let mut all = Vec::new();
    for prefix in ["", "bert."] {
        let directory = tempfile::tempdir().unwrap();
        folder(directory.path(), prefix);
        let (ended, events) = try_run(&with_model(directory.path(), std::slice::from_ref(&text)), &MACHINE);
        assert_eq!(ended.unwrap(), WorkloadEnd::Done);
        assert_eq!(setting(&events, "input_ids").unwrap(), "2 5 6 7 8 9 10 3");
        let label = setting(&events, "label").unwrap();
        assert!(label.ends_with("(negative)") || label.ends_with("(positive)"), "{label}");
        assert!(!notes(&events).contains("random"), "{}", notes(&events));
        all.push(values(&events, "logits"));
    }
    assert_eq!(all[0], all[1]);
}

#[test]
fn folders_that_are_broken_are_refused_with_the_file_that_is_at_fault() {
    let refused = |damage: &dyn Fn(&Path)| {
        let directory = tempfile::tempdir().unwrap();
        folder(directory.path(), "");
        damage(directory.path());
        let settings = with_model(directory.path(), &[("text", "dune".into())]);
        let error = try_run(&settings, &MACHINE).0.unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        error.to_string()
    };
    let write = |name: &'static str, text: &'static str| {
        move |folder: &Path| std::fs::write(folder.join(name), text).unwrap()
    };
    let remove = |name: &'static str| move |folder: &Path| std::fs::remove_file(folder.join(name)).unwrap();
    assert!(refused(&remove("config.json")).contains("config.json"));
    assert!(refused(&write("config.json", "{")).contains("config.json"));
    assert!(
        refused(&write("config.json", r#"{"hidden_size":8,"num_attention_heads":2}"#)).contains("[12, 4]")
    );
    assert!(refused(&remove("vocab.txt")).contains("vocab.txt"));
    assert!(refused(&write("vocab.txt", "a\n")).contains("[CLS]"));
    assert!(refused(&write("tokenizer.json", "{}")).contains("tokenizer.json"));
    assert!(refused(&remove("model.safetensors")).contains("model.safetensors"));
    assert!(refused(&write("model.safetensors", "short")).contains("safetensors"));
    let cut = |folder: &Path| {
        let file = folder.join("model.safetensors");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() - 4]).unwrap();
    };
    assert!(refused(&cut).contains("header speaks of"));
    let alone = |folder: &Path| {
        write_tensors(
            &folder.join("model.safetensors"),
            &[("embeddings.word_embeddings.weight".to_owned(), vec![12, 4])],
        );
    };
    assert!(refused(&alone).contains("position_embeddings"));
}

#[test]
fn data_that_cannot_be_used_are_refused_with_the_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data.csv");
    let refused = |text: &[u8]| {
        std::fs::write(&file, text).unwrap();
        failed(&[("data", path(&file))])
    };
    assert!(refused(b"text,label\ngood,1\nbad,7\n").contains("line 3: the label 7 is out of range"));
    assert!(refused(b"text,label\ngood,odd\n").contains("line 2"));
    assert!(refused(b"").contains("no sentence"));
    assert!(refused(b"text\n\xff\xff\n").contains("data.csv"));
    assert!(failed(&[("data", "no/such/file".into())]).contains("no/such/file"));
    assert!(failed(&[("tokenizer", "no/such/file".into()), ("text", "a".into())]).contains("no/such/file"));
    std::fs::write(directory.path().join("short.txt"), "dune is").unwrap();
    std::fs::write(directory.path().join("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ndune\nis\n")
        .unwrap();
    let short = failed(&[
        ("task", "pretrain".into()),
        ("data", path(&directory.path().join("short.txt"))),
        ("tokenizer", path(&directory.path().join("vocab.txt"))),
    ]);
    assert!(short.contains("2 tokens") && short.contains("`context`"), "{short}");
}

#[test]
fn a_head_is_trained_checked_and_used() {
    let directory = tempfile::tempdir().unwrap();
    folder(directory.path(), "");
    let (data, output) = (directory.path().join("data.csv"), directory.path().join("head.safetensors"));
    let rows: String = (0..40)
        .map(|number| if number % 2 == 0 { "great movie great,yes\n" } else { "dune is dune !,no\n" })
        .collect();
    std::fs::write(&data, format!("text,label\n{rows}")).unwrap();
    let request = HeadRequest {
        model: directory.path().to_owned(),
        data: data.clone(),
        output: Some(output.clone()),
        folds: 5,
        steps: 200,
        weight_decay: 0.0,
        seed: 1,
        threads: 2,
        names: Vec::new(),
    };
    let report = head(&request, &mut |_, _| {}).unwrap();
    assert_eq!((report.sentences, report.folds.as_slice()), (40, &[1.0; 5][..]));
    let extra = [("head", path(&output)), ("data", path(&data))];
    let (ended, events) = try_run(&with_model(directory.path(), &extra), &MACHINE);
    assert_eq!(ended.unwrap(), WorkloadEnd::Done);
    assert_eq!(value(&events, "accuracy"), Some(1.0));
    let wrong = |change: &dyn Fn(&mut HeadRequest)| {
        let mut request = request.clone();
        change(&mut request);
        head(&request, &mut |_, _| {}).unwrap_err().to_string()
    };
    assert!(wrong(&|request| request.folds = 41).contains("folds"));
    assert!(wrong(&|request| request.names = vec!["one".to_owned()]).contains("no, yes"));
    std::fs::write(&data, "text,label\na,1\nb,1\n").unwrap();
    assert!(wrong(&|_| {}).contains("1 different labels"));
}

/// Needs a Python with PyTorch in `ASSAY_TEST_PYTHON`.
#[test]
#[ignore = "needs PyTorch: ASSAY_TEST_PYTHON=… cargo test -p assay-workloads --test runs -- --ignored"]
fn pytorch_computes_the_same() {
    let python = std::env::var("ASSAY_TEST_PYTHON").expect("ASSAY_TEST_PYTHON");
    let directory = tempfile::tempdir().unwrap();
    folder(directory.path(), "bert.");
    let compare = |base: &Settings, names: &[&str]| {
        let native = try_run(base, &MACHINE);
        assert_eq!(native.0.unwrap(), WorkloadEnd::Done);
        for mode in ["eager", "sdpa"] {
            let mut settings = base.clone();
            settings.insert("engine".to_owned(), "torch".into());
            settings.insert("mode".to_owned(), mode.into());
            settings.insert("python".to_owned(), python.as_str().into());
            let (ended, events) = try_run(&settings, &MACHINE);
            assert_eq!(ended.unwrap(), WorkloadEnd::Done, "{events:?}");
            for name in names {
                let (ours, theirs) = (value(&native.1, name).unwrap(), value(&events, name).unwrap());
                assert!((theirs / ours - 1.0).abs() < 1e-4, "{mode} {name}: {theirs} {ours}");
            }
            let pairs = values(&native.1, "loss.train").into_iter().zip(values(&events, "loss.train"));
            assert!(pairs.into_iter().all(|(ours, theirs)| (theirs / ours - 1.0).abs() < 1e-4));
        }
    };
    compare(&settings(&[]), &["parity.output"]);
    compare(
        &settings(&[("batch_size", 3.into()), ("length", 20.into()), ("task", "embed".into())]),
        &["parity.output"],
    );
    let pretrain =
        [("task", "pretrain".into()), ("batch_size", 3.into()), ("activation", "gelu_tanh".into())];
    compare(&settings(&pretrain), &["parity.loss", "parity.output", "parity.gradient", "loss.final"]);
    compare(&with_model(directory.path(), &[("text", "a great movie!".into())]), &["parity.output"]);
}

/// Needs the folder of all-MiniLM-L6-v2 in `ASSAY_TEST_MINILM`; the numbers are those of `scripts/reference_minilm.py`.
#[test]
#[ignore = "needs a real model: ASSAY_TEST_MINILM=… cargo test -p assay-workloads --test runs -- --ignored"]
fn a_real_encoder_gives_the_means_of_the_reference_implementation() {
    let folder = std::env::var("ASSAY_TEST_MINILM").expect("ASSAY_TEST_MINILM");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/minilm.json");
    let golden: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    let mut features = Features::open(Path::new(&folder), 2).unwrap();
    assert_eq!(
        features.ids("Dune is a great movie!").unwrap(),
        [101, 21643, 2003, 1037, 2307, 3185, 999, 102]
    );
    for sentence in golden["sentences"].as_array().unwrap() {
        let text = sentence["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(sentence["ids"].clone()).unwrap();
        assert_eq!(features.ids(text).unwrap(), ids, "{text}");
        let expected: Vec<f64> = serde_json::from_value(sentence["mean"].clone()).unwrap();
        let got = features.compute(&[text.to_owned()], &mut |_| {}).unwrap();
        assert_eq!(got.len(), expected.len());
        for (place, (got, wanted)) in got.iter().zip(&expected).enumerate() {
            assert!((f64::from(*got) - wanted).abs() < 1e-5, "{text} {place}: {got} {wanted}");
        }
    }
}
