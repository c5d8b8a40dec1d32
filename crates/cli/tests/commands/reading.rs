//! Reading and auditing files, as a user would.

use serde_json::Value;

use crate::bench::Bench;

/// A write-up in our own words with the usual mistakes: settings that never took effect, and a best drawn from noise.
const TUNING: &str = "\
# Tuning on the accelerator

## Graphcore

### First try

epochs = 10

batch_size = 8

```
srun: job 11 queued and waiting for resources
srun: job 11 has been allocated resources
Epochs: 100%|##########| 10/10 [01:49<00:00, 10.99s/it]
Accuracy on test set: 97.13%
```

### Fewer epochs

epochs = 4

```
srun: job 12 queued and waiting for resources
srun: job 12 has been allocated resources
Epochs: 100%|##########| 10/10 [01:27<00:00,  8.79s/it]
Accuracy on test set: 98.58%
```

Training with 4 epochs gave the best accuracy, 98.58%.
";

/// A sound write-up: repeats, a true rate column, no claim that the numbers do not carry.
const SOUND: &str = "\
# Rates by batch size

Each setting was run five times; the table gives means.

| Batch Size | Samples | Time (s) | Rate (samples/s) |
|---|---|---|---|
| 512 | 512000 | 175.0 | 2925.7 |
| 1024 | 1024000 | 211.0 | 4853.1 |
";

fn json(bench: &Bench, arguments: &[&str]) -> Vec<Value> {
    let output = bench.command(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sample(bench: &Bench, name: &str, arguments: &[&str]) -> String {
    let output = bench.command(&[&["sample"], arguments].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(bench.path(name), &output.stdout).unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn observed<'a>(run: &'a Value, metric: &str) -> &'a Value {
    run["observations"].as_array().unwrap().iter().find(|o| o["metric"] == metric).unwrap_or(&Value::Null)
}

#[test]
fn declared_and_observed_settings_are_told_apart() {
    let bench = Bench::new().file("tuning.md", TUNING);
    insta::assert_snapshot!("read_tuning", bench.run(&["read", "tuning.md"]));
    insta::assert_snapshot!("audit_tuning", bench.run(&["audit", "tuning.md"]));
}

#[test]
fn a_sound_write_up_is_short_and_well() {
    let bench = Bench::new().file("sound.md", SOUND);
    insta::assert_snapshot!("audit_sound", bench.run(&["audit", "sound.md"]));
}

#[test]
fn phases_and_rates_of_a_log_follow_its_numbers() {
    let bench = Bench::new();
    for (seed, queue, batch) in [("1", 3423.0, 512.0), ("2", 900.0, 1024.0)] {
        let queue_option = format!("queue-s={queue}");
        let batch_option = format!("batch-size={batch}");
        let text = sample(
            &bench,
            "a.log",
            &["cerebras", "--seed", seed, "--set", &queue_option, "--set", &batch_option],
        );
        let runs = json(&bench, &["read", "--json", "a.log"]);
        let [run] = runs.as_slice() else { panic!("{} runs", runs.len()) };
        let phases = run["phases"].as_array().unwrap();
        let longest = phases.iter().filter(|p| p["name"] == "queue").map(|p| p["seconds"].as_f64().unwrap());
        let longest = longest.fold(0.0, f64::max);
        assert!((longest - queue).abs() < 15.0, "{longest} of {queue}");
        // What the last line says is what is read, with its line.
        let last = text.lines().last().unwrap();
        let written = last.split(" in ").nth(1).unwrap().split(' ').next().unwrap();
        assert_eq!(observed(run, "duration.loop")["value"].as_f64(), written.parse().ok());
        assert_eq!(observed(run, "duration.loop")["source"]["line"], text.lines().count());
        assert_eq!(run["status"], "succeeded");
        let batch_seen = run["settings"].as_array().unwrap().iter().any(|fact| {
            fact["name"] == "batch_size" && fact["standing"] == "observed" && fact["value"] == batch as u64
        });
        assert!(batch_seen);
    }
}

#[test]
fn every_kind_of_sample_is_read_and_audited_without_fault() {
    let bench = Bench::new();
    let listed = bench.command(&["sample"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let kinds: Vec<&str> = listed
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(kinds.len() > 25);
    for kind in kinds {
        sample(&bench, "sample.log", &[kind, "--seed", "5"]);
        let runs = json(&bench, &["read", "--json", "sample.log"]);
        assert_eq!(runs.is_empty(), kind == "prose", "{kind}");
        let audited = bench.command(&["audit", "sample.log"]).output().unwrap();
        // What is generated without planted errors holds none.
        assert_eq!(audited.status.code(), Some(0), "{kind}: {}", String::from_utf8_lossy(&audited.stdout));
    }
}

#[test]
fn runs_that_were_read_are_stored_once_and_shown() {
    let bench = Bench::new();
    for seed in ["1", "2", "3"] {
        sample(&bench, &format!("run{seed}.log"), &["cerebras", "--seed", seed]);
    }
    let first = bench.run(&["read", "run1.log", "run2.log", "run3.log", "--into", "records/theirs"]);
    assert!(first.contains("stored 3 runs"), "{first}");
    let again = bench.run(&["read", "run1.log", "--into", "records/theirs"]);
    assert!(again.contains("stored 0 runs") && again.contains("1 were there already"), "{again}");
    let shown = bench.run(&["show", "records/theirs"]);
    assert!(shown.contains("samples_per_s.loop") && shown.contains("batch_size = 512"), "{shown}");
    let queue =
        bench.run(&["query", "select count(*) as phases from phase where name = 'queue'", "records/theirs"]);
    assert!(queue.contains('6'), "{queue}");
    assert_eq!(json(&bench, &["read", "--json", "records/theirs"]).len(), 3);
}

#[test]
fn what_cannot_be_read_is_said_with_a_hint() {
    let bench = Bench::new()
        .file("mine.toml", "name = \"mine\"\n[[rule]]\ncontains = \"x\"\npattern = \"(\"\n")
        .file("empty/note.bin", "")
        .file("a.md", "nothing");
    insta::assert_snapshot!("read_missing", bench.run(&["read", "no-such.log"]));
    insta::assert_snapshot!("read_nothing", bench.run(&["read", "empty"]));
    insta::assert_snapshot!("read_bad_dialect", bench.run(&["read", "a.md", "--dialect", "mine.toml"]));
    insta::assert_snapshot!("audit_bad_format", bench.run(&["audit", "a.md", "-o", "audit.doc"]));
    insta::assert_snapshot!("sample_unknown", bench.run(&["sample", "cerebrus"]));
}

#[test]
fn a_dialect_of_ones_own_needs_no_code() {
    let dialect = r#"
name = "mine"
begins = ["=== start"]
[[rule]]
contains = "it/sec"
pattern = 'step (?<step>\d+) loss (?<loss>[0-9.]+) \((?<time>[0-9.]+) ms'
metrics = { loss = "loss.train", time = "step_s (ms)" }
step = "step"
[[rule]]
contains = "done"
pattern = "done"
status = "succeeded"
"#;
    let log = "=== start\nstep 1 loss 2.5 (20 ms, 50 it/sec)\nstep 2 loss 2.25 (25 ms, 40 it/sec)\ndone\n=== start\n\
               step 1 loss 3.5 (10 ms, 100 it/sec)\n";
    let bench = Bench::new().file("dialects/mine.toml", dialect).file("mine.log", log);
    let runs = json(&bench, &["read", "--json", "mine.log"]);
    assert_eq!(runs.len(), 2);
    assert_eq!(observed(&runs[0], "step_s")["value"], 0.025);
    assert_eq!(runs[0]["status"], "succeeded");
    assert_eq!(observed(&runs[1], "loss.train")["value"], 3.5);
}

#[test]
fn an_audit_is_written_as_one_page_without_network() {
    let bench = Bench::new().file("tuning.md", TUNING);
    sample(&bench, "run.log", &["cerebras"]);
    let output =
        bench.command(&["audit", "tuning.md", "run.log", "-o", "a.html", "-o", "a.md"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let page = bench.read("a.html");
    assert!(page.contains("<svg") && page.contains("queue"), "no timeline");
    assert!(!page.contains("http") && !page.contains("<script"), "it reaches out");
    assert!(bench.read("a.md").contains("tuning.md:"));
}

/// What a log holds reaches no terminal as a command, and no reader as something else than it is.
#[test]
fn steering_characters_of_a_log_reach_no_output() {
    let lines = (1..=4).map(|step| {
        format!("{{'loss': 0.{step}, 'epoch': {step}.0, 'note': '\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}'}}\n")
    });
    let log = lines.collect::<String>() + "=cmd|' /C calc'!A0 \u{202e}\u{1b}[2J\n";
    let bench = Bench::new().file("steer.log", &log);
    for flags in [&["--full"][..], &["--json"], &["--color", "always"]] {
        let output = bench.command(&[&["read", "steer.log"], flags].concat()).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        for harmful in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\u{202e}"] {
            assert!(!shown.contains(harmful), "{flags:?}: {harmful:?} in {shown:?}");
        }
    }
}

#[test]
fn files_become_one_report_with_experiments_and_findings() {
    let bench = Bench::new().file("tuning.md", TUNING).file("sound.md", SOUND);
    let arguments =
        ["read", "tuning.md", "sound.md", "-o", "report.html", "-o", "report.md", "-o", "report.tex"];
    let output = bench.run(&arguments);
    assert!(output.starts_with("exit code 0"), "{output}");
    let page = bench.read("report.html");
    for part in ["Logs of graphcore", "10 (declared 4)", "contradicted", "<svg", "4853", "How it was made"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for external in ["http://", "https://", "<script", "src="] {
        assert!(!page.contains(external), "{external}");
    }
    assert!(bench.read("report.md").contains("### Logs of graphcore"));
    assert!(bench.read("report.tex").contains("\\begin{tabular}"));
    bench.run(&arguments);
    assert_eq!(page, bench.read("report.html"), "the same files give the same bytes");
    let tables = bench.run(&["read", "tuning.md", "sound.md", "-o", "runs.csv", "-o", "runs.json"]);
    assert!(tables.starts_with("exit code 0"), "{tables}");
    let csv = bench.read("runs.csv");
    assert!(csv.starts_with("file,run,first_line,last_line,") && csv.contains("\ntuning.md,"), "{csv}");
    let runs: Value = serde_json::from_str(&bench.read("runs.json")).unwrap();
    assert!(runs.as_array().is_some_and(|runs| !runs.is_empty()), "{runs}");
    let refused = bench.run(&["read", "sound.md", "-o", "report.docx"]);
    assert!(refused.starts_with("exit code 2") && refused.contains("hint:"), "{refused}");
}
