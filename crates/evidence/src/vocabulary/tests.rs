use super::*;

fn name(text: &str) -> Option<String> {
    Vocabulary::current().header(text).map(|metric| metric.name())
}

fn with_unit(text: &str, unit: &str) -> Option<String> {
    Vocabulary::current().metric(text, PrintedUnit::parse(unit).as_ref()).map(|metric| metric.name())
}

#[test]
fn the_file_is_read_whole() {
    let parsed: VocabularyFile = toml::from_str(BUILT_IN).unwrap();
    let names: HashSet<&str> = parsed.metric.iter().map(|entry| entry.name.as_str()).collect();
    assert!(names.len() >= 80, "{}", names.len());
    assert!(Vocabulary::current().phrases.len() >= 260);
}

#[test]
fn many_words_for_one_metric() {
    for (text, expected) in [
        ("val_acc", "accuracy.eval"),
        ("Validation Accuracy", "accuracy.eval"),
        ("trainLoss", "loss.train"),
        ("Average loss", "loss"),
        ("avg_epoch_train_loss", "loss.train"),
        ("Best val acc", "accuracy.eval.best"),
        ("box_loss", "loss.box"),
        ("train-rmse", "rmse.train"),
        ("metrics/mAP50-95(B)", "map50_95.b"),
        ("VALID CROSS ENTROPY", "loss.eval"),
        ("p99 latency (ms)", "latency.p99"),
        ("Total time", "duration.total"),
        ("learning_rate", "learning_rate"),
        ("Tokens/sec", "tokens_per_s"),
        ("max_memory (GB)", "memory.peak"),
        ("ETA", "remaining"),
    ] {
        assert_eq!(name(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn settings_and_sentences_are_no_metrics() {
    for text in [
        "answer rate",
        "truncation_rate",
        "batch size",
        "loss weight",
        "hidden size",
        "model",
        "num_workers",
        "the quick brown fox",
        "epochs",
    ] {
        assert_eq!(name(text), None, "{text}");
    }
}

#[test]
fn a_unit_of_time_or_rate_decides_over_the_noun() {
    for (text, unit, expected) in [
        ("loss", "ms", "duration.loss"),
        ("speech_to_text took", "s", "duration.speech_to_text"),
        ("Prefill Throughput", "tok/s", "prompt_throughput"),
        ("Gen throughput", "tok/s", "output_throughput"),
        ("", "ms/step", "step_s"),
        ("Latency", "ms", "latency"),
        ("", "examples/sec", "samples_per_s"),
        ("Throughput", "req/s", "request_throughput"),
        ("peak memory", "GB", "memory.peak"),
    ] {
        assert_eq!(with_unit(text, unit).as_deref(), Some(expected), "{text} {unit}");
    }
    assert_eq!(with_unit("model size", "MB"), None);
}

#[test]
fn a_file_of_ones_own_comes_first() {
    let own =
        "[[metric]]\nname = \"lift\"\nkind = \"value\"\nbetter = \"higher\"\nwords = [\"lift\", \"loss\"]\n";
    let vocabulary = Vocabulary::extended(own).unwrap();
    assert_eq!(vocabulary.header("loss").map(|metric| metric.name()).as_deref(), Some("lift"));
    assert_eq!(vocabulary.header("acc").map(|metric| metric.name()).as_deref(), Some("accuracy"));
    assert!(Vocabulary::extended("[[metric]]\nnames = 1\n").is_err());
}

#[test]
fn splits_and_counters() {
    let words = Vocabulary::current();
    assert_eq!(words.split("Test set"), Some(Split::Test));
    assert_eq!(words.split("testing in eval mode"), Some(Split::Test));
    assert_eq!(words.counter("Epoch"), Some(CounterKind::Epoch));
    assert_eq!(words.counter("Global Step"), Some(CounterKind::Step));
    assert_eq!(words.counter("width"), None);
    assert!(words.is_statistic("p95") && words.is_statistic("avg") && !words.is_statistic("loss"));
}
