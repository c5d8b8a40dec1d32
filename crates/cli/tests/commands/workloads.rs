//! Built-in workloads, by `bench` and by campaigns.

use crate::bench::Bench;

const VERY_SMALL: &[&str] = &[
    "--size",
    "custom",
    "--width",
    "16",
    "--hidden",
    "32",
    "--layers",
    "1",
    "--heads",
    "2",
    "--vocabulary",
    "50",
];

fn bench(more: &[&str]) -> String {
    let arguments: Vec<&str> = ["bench", "lm"].iter().chain(VERY_SMALL).chain(more).copied().collect();
    Bench::new().run(&arguments)
}

#[test]
fn a_one_off_measurement_has_an_interval_and_says_how_far_from_the_peak_it_is() {
    let printed = bench(&["--iterations", "3", "--repeats", "6", "--phase", "step"]);
    assert!(printed.starts_with("exit code 0"), "{printed}");
    for part in [
        "interval of the median of 6 runs",
        "tokens/s",
        "of peak",
        "parameters",
        "record: records/bench-lm-1",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn values_separated_by_commas_are_swept_and_compared() {
    let output = bench(&["--iterations", "2", "--batch-size", "1,128", "--repeats", "6"]);
    for start in ["1 ", "128 "] {
        assert!(output.lines().any(|line| line.trim_start().starts_with(start)), "{output}");
    }
    // 128 times the work takes longer, which is no reason to call it slower.
    assert!(output.contains("tokens_per_s (higher is better)"), "{output}");
    assert!(output.contains("not ranked by time.iteration: the work differs with batch_size"), "{output}");
}

#[test]
fn an_instruction_set_can_be_chosen_and_is_refused_where_it_cannot_be_used() {
    let place = Bench::new();
    let doctor = |isa: &str| place.command(&["doctor", "--json"]).env("ASSAY_ISA", isa).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&doctor("plain").stdout).unwrap();
    assert_eq!(json["instruction_set"]["name"], "plain");
    assert_eq!(json["instruction_set"]["chosen_by_hand"], true);
    let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    for (isa, message) in [
        ("sse9", "error: unknown instruction set `sse9` in ASSAY_ISA\n".to_owned()),
        (foreign, format!("error: this machine does not support ASSAY_ISA={foreign}\n")),
    ] {
        let output = doctor(isa);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.starts_with(&message) && errors.contains("hint: this machine supports "), "{errors}");
    }
    // The first start compares, the second one finds that it was done; a home that is read-only is no obstacle.
    let check = |cache: &str| {
        let output = place.command(&["doctor", "--json"]).env("XDG_CACHE_HOME", cache).output().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (json["instruction_set"]["name"].clone(), json["instruction_set"]["self_check"].clone())
    };
    let cache = place.path("cache").display().to_string();
    let (name, first) = check(&cache);
    if name != "plain" {
        assert!(first.as_str().unwrap().starts_with("passed, took "), "{first}");
        assert_eq!(check(&cache).1, "passed earlier");
        assert!(check("/proc/none").1.as_str().unwrap().starts_with("passed, took "));
    }
}

#[test]
fn settings_that_do_not_go_together_are_told_before_anything_runs() {
    let printed = bench(&["--heads", "3"]);
    assert!(printed.contains("exit code 2") && printed.contains("hint:"), "{printed}");
    assert!(!printed.contains("[1/"), "{printed}");
}

#[test]
fn what_does_not_fit_says_what_would() {
    let place = Bench::new();
    let arguments =
        ["bench", "lm", "--size", "llama-7b", "--phase", "step", "--batch-size", "4096", "--repeats", "1"];
    let printed = place.run(&arguments);
    assert!(printed.starts_with("exit code 0"), "{printed}");
    assert!(printed.contains("does not fit") && printed.contains("hint:"), "{printed}");
}

#[test]
fn an_engine_that_is_missing_fails_its_cells_and_no_others() {
    let campaign = "name = \"engines\"\nworkload = \"lm\"\n\
        [fixed]\nsize = \"custom\"\nwidth = 16\nhidden = 32\nlayers = 1\nheads = 2\nvocabulary = 50\niterations = 2\n\
        python = \"no-such-python\"\n\
        [vary]\nengine = [\"native\", \"torch\"]\n[repeats]\nat_least = 2\n\
        [report]\nacross = [\"engine\"]\nagainst = { engine = \"torch\" }\n\
        [[report.published]]\nlabel = \"somebody\"\nunit = \"ms\"\nvalues = [[12.5]]\n";
    let place = Bench::new().file("engines.toml", campaign);
    let printed = place.run(&["run", "engines.toml"]);
    assert!(printed.contains("exit code 3"), "{printed}");
    for part in ["no-such-python", "ratio", "somebody", "failed"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn the_campaigns_of_built_in_workloads_can_be_planned() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../campaigns");
    let place = Bench::new();
    let names = [
        "seeds/cs336-table",
        "seeds/cs336-warmup",
        "seeds/cerebras-llama-batch",
        "seeds/endpoints",
        "endpoints-llama",
        "tour-serve",
        "seeds/groq-bert",
        "seeds/sambanova-tasks",
        "seeds/cerebras-bert-batch",
        "seeds/graphcore-batch",
        "seeds/graphcore-epochs",
        "seeds/mnist-few-epochs",
        "seeds/mnist-long",
        "seeds/mnist-softmax",
        "tasks-scaling",
        "tour-train",
        "tour-log",
    ];
    for name in names {
        let file = folder.join(format!("{name}.toml"));
        let printed = place.run(&["plan", &file.display().to_string()]);
        assert!(printed.starts_with("exit code 0"), "{name}: {printed}");
    }
}

/// Each accelerator experiment is one file: here, on its platform and replayed.
#[test]
fn the_seeds_are_planned_for_their_platforms_with_the_sizes_of_these() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../campaigns/seeds");
    let place = Bench::new();
    let plan = |name: &str, on: &str, more: &[&str]| {
        let file = folder.join(format!("{name}.toml"));
        place.run(&[&["plan", &file.display().to_string(), "--on", on], more].concat())
    };
    for (name, platform, part) in [
        ("cerebras-bert-batch", "cerebras-cs3", "         512 "),
        ("cerebras-llama-batch", "cerebras-cs3", "         256 "),
        ("graphcore-batch", "graphcore-pod64", "#SBATCH --ipus=1"),
        ("graphcore-batch", "graphcore-pod64", "# batch.sh starts run.sh by `srun --ipus=1`:"),
        ("graphcore-epochs", "graphcore-pod64", "--epochs 40"),
        ("sambanova-tasks", "sambanova-sn30", "#SBATCH --gres=rdu:8"),
        ("sambanova-tasks", "sambanova-sn30", "python transformers_hook.py compile --model_name_or_path"),
        ("groq-bert", "groqrack", "#PBS -l place=excl"),
        ("endpoints", "sophia-endpoint", "12 runs"),
        ("endpoints", "metis-endpoint", "12 runs"),
    ] {
        let has_scheduler = part.contains("--") || part.starts_with('#');
        let printed = plan(name, platform, if has_scheduler { &["--scripts"] } else { &[] });
        assert!(printed.starts_with("exit code 0") && printed.contains(part), "{name}: {printed}");
        if !name.starts_with("endpoints") {
            let printed = plan(name, "replay", &[]);
            assert!(printed.starts_with("exit code 0"), "{name}: {printed}");
        }
    }
    // What will be requested in all.
    let printed = plan("graphcore-batch", "graphcore-pod64", &[]).replace("\n  ", " ");
    let jobs = "`graphcore-pod64`: 12 runs as tasks of job arrays, at most 200 in the queue at once; \
                a run requests 1 IPU, at most 35 min 0 s; at most 7.0 node-hours in all";
    assert!(printed.contains(jobs), "{printed}");
    // Without a scheduler, the commands themselves are shown, with the configuration files that they read.
    let printed = plan("cerebras-llama-batch", "cerebras-cs3", &["--scripts"]);
    for part in ["# run.sh:", "cszoo fit", "batch_size: 256", "no job scripts"] {
        assert!(printed.starts_with("exit code 0") && printed.contains(part), "{part}: {printed}");
    }
}

const VERY_SMALL_BERT: &[&str] = &[
    "bench",
    "bert",
    "--size",
    "custom",
    "--width",
    "16",
    "--hidden",
    "32",
    "--layers",
    "1",
    "--heads",
    "2",
    "--vocabulary",
    "3000",
    "--iterations",
    "3",
];

fn bert(place: &Bench, more: &[&str]) -> String {
    place.run(&[VERY_SMALL_BERT, more].concat())
}

/// The lines that do not depend on how fast the machine is.
#[test]
fn a_sentence_is_answered_with_the_fields_of_a_classifier() {
    let printed = bert(&Bench::new(), &["--text", "Dune is a great movie!", "--repeats", "2"]);
    assert!(printed.starts_with("exit code 0"), "{printed}");
    assert!(printed.contains("latency") && printed.contains("inferences/s"), "{printed}");
    let fields = ["input_ids", "attention_mask", "logits", "probabilities", "class label"];
    let lines: Vec<&str> =
        printed.lines().filter(|line| fields.iter().any(|field| line.starts_with(field))).collect();
    insta::assert_snapshot!("bert_text", lines.join("\n"));
}

#[test]
fn sentences_and_heads_that_cannot_be_used_are_told_with_a_hint() {
    let place = Bench::new().file("data.csv", "text,label\ngood,5\n").file("other/config.json", "{");
    let printed = bert(&place, &["--data", "data.csv", "--repeats", "1"]);
    assert!(printed.contains("exit code 3") && printed.contains("label 5 is out of range"), "{printed}");
    let printed = bert(&place, &["--text", " ", "--repeats", "1"]);
    assert!(printed.contains("exit code 2") && printed.contains("it is blank"), "{printed}");
    let printed = place.run(&["bench", "bert", "train-head", "--model", "other", "--data", "data.csv"]);
    assert!(printed.contains("exit code 2") && printed.contains("hint:"), "{printed}");
    let printed = place.run(&["bench", "bert", "train-head", "--model", "other", "--data", "missing.csv"]);
    assert!(printed.contains("exit code 2") && printed.contains("missing.csv"), "{printed}");
}

const FEW_DIGITS: [&str; 10] = [
    "bench",
    "mnist",
    "--data-set",
    "synthetic",
    "--train-samples",
    "40",
    "--test-samples",
    "20",
    "--steps-per-iteration",
    "3",
];

fn digits(more: &[&str]) -> String {
    Bench::new().run(&[&FEW_DIGITS[..], more].concat())
}

#[test]
fn a_training_reports_its_accuracy_over_seeds() {
    let one = digits(&["--epochs", "2", "--repeats", "6"]);
    assert!(one.starts_with("exit code 0"), "{one}");
    for part in ["  accuracy    ", "samples/s", "225.0K parameters"] {
        assert_eq!(one.matches(part).count(), 1, "{part}: {one}");
    }
    // Several cells are rows of tables, not blocks of lines.
    let several = digits(&["--epochs", "2", "--repeats", "6", "--batch-size", "4,8"]);
    assert!(several.starts_with("exit code 0"), "{several}");
    // Cells that do different work per iteration are ranked by their rate, and the time says why it ranks nothing.
    for part in [
        "vs best",
        "accuracy",
        "memory",
        "samples_per_s.loop (higher is better)",
        "not ranked by time.iteration",
    ] {
        assert!(several.contains(part), "{part}: {several}");
    }
    let rates = several.lines().filter(|line| line.contains(" samples/s ")).count();
    assert!(rates >= 2, "{several}");
}

#[test]
fn what_cannot_be_trained_is_told_with_a_hint_and_an_exit_code() {
    insta::assert_snapshot!("mnist_zero_batch", digits(&["--batch-size", "0"]));
    insta::assert_snapshot!("mnist_dropout", digits(&["--dropout", "1"]));
    let place = Bench::new();
    let work = |more: &[&str]| place.run(&[&["work", "mnist", "steps=2"], more].concat());
    insta::assert_snapshot!(
        "mnist_large_batch",
        work(&["data_set=synthetic", "train_samples=5", "test_samples=1"])
    );
    let missing = work(&["data_set=mnist"]);
    assert!(missing.starts_with("exit code 2") && missing.contains("assay doctor data"), "{missing}");
    let missing = work(&["data=nowhere"]);
    assert!(missing.starts_with("exit code 3") && missing.contains("train-images-idx3-ubyte"), "{missing}");
    let small = ["data_set=synthetic", "train_samples=24", "test_samples=1", "warmup=0"];
    let diverged = work(&[&small[..], &["learning_rate=1e39"]].concat());
    assert!(diverged.starts_with("exit code 3") && diverged.contains("at step 2"), "{diverged}");
}

/// Files of the format of MNIST, far too few to be the published ones.
fn few_files(place: Bench, folder: &str) -> Bench {
    let mut place = place;
    for (part, count) in [("train", 3_u8), ("t10k", 2)] {
        // Texts suffice, as all bytes are below 128.
        let images = format!("\0\0\u{8}\u{3}\0\0\0{}\0\0\0\u{1c}\0\0\0\u{1c}", char::from(count));
        let labels = format!("\0\0\u{8}\u{1}\0\0\0{}", char::from(count));
        let of_count = |each: usize| "\u{1}".repeat(each * usize::from(count));
        place = place
            .file(&format!("{folder}/{part}-images-idx3-ubyte"), &(images + &of_count(784)))
            .file(&format!("{folder}/{part}-labels-idx1-ubyte"), &(labels + &of_count(1)));
    }
    place
}

#[test]
fn data_sets_are_listed_with_what_they_lack() {
    let place = few_files(Bench::new(), ".local/share/assay/data/fashion-mnist");
    let place = few_files(place, ".local/share/assay/data/mnist")
        .file(".local/share/assay/data/mnist/t10k-labels-idx1-ubyte", "\0\0\u{8}\u{1}\0\0\0\u{2}\u{1}");
    // Columns are as wide as the name of the directory makes them.
    let printed =
        regex::Regex::new(" {2,}").unwrap().replace_all(&place.run(&["doctor", "data"]), "  ").into_owned();
    insta::assert_snapshot!("data", printed);
    insta::assert_snapshot!("data_json", place.run(&["doctor", "data", "--json"]));
}
