//! `assay bench` with commands: what users of hyperfine expect, and a record.

use crate::bench::Bench;

fn answer(bench: &Bench, arguments: &[&str]) -> serde_json::Value {
    let output = bench.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(bench: &Bench, arguments: &[&str]) -> String {
    let output = bench.command(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

#[test]
fn commands_are_compared_and_recorded() {
    let bench = Bench::new();
    let shown = bench.run(&["bench", "--repeats", "6", "-n", "fast", "-n", "slow", "true", "sleep 0.05"]);
    for part in ["exit code 0", "fast", "slow", "best", "slower", "record: records/bench-1"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    // The slow runs have scripts of their own; the fast ones share that of their cell unless the machine was busy.
    assert!((8..=14).contains(&bench.count("records/bench-1", "run.sh")));
    let again = bench.run(&["show", "records/bench-1"]);
    assert!(again.contains("fast") && again.contains("slower"), "{again}");
    let second = bench.run(&["bench", "--repeats", "1", "true"]);
    assert!(second.contains("record: records/bench-2"), "{second}");
}

#[test]
fn values_fill_placeholders_and_other_braces_stay() {
    let bench = Bench::new();
    let shown = bench.run(&["bench", "-r", "1", "--vary", "n=1,2.5,x", "echo {n} '{m}' | awk '{print $1}'"]);
    assert!(shown.contains("exit code 0"), "{shown}");
    assert_eq!(printed(&bench), ["1\n", "2.5\n", "x\n"]);
}

/// What the runs of the newest record printed, in order. Runs that a busy machine made slow have it in files.
fn printed(bench: &Bench) -> Vec<String> {
    let files = bench.files("records", "stdout.log").into_iter();
    let mut printed: Vec<String> = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let output = bench.command(&["query", "select stdout from output", "--json"]).output().unwrap();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        printed.push(row["stdout"].as_str().unwrap().to_owned());
    }
    printed.sort();
    printed
}

#[test]
fn only_short_sound_runs_go_without_a_directory() {
    let bench = Bench::new();
    let directories = |arguments: &[&str]| {
        let record = ["--record", "r", "-r", "20"];
        let output = bench.command(&[&["bench"], record.as_slice(), arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let cell = std::fs::read_dir(bench.path("r/runs")).unwrap().next().unwrap().unwrap().path();
        let found = std::fs::read_dir(&cell).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
        let count = found.count();
        std::fs::remove_dir_all(bench.path("r")).unwrap();
        count
    };
    assert!(directories(&["echo x=1"]) < 20, "no run was kept in the journal");
    // Too much output, bytes that are no text, a run that needs its directory, one that takes longer, steps around it.
    for command in ["seq 3000", "printf '\\377'", "echo {run_directory}", "echo {repeat}", "sleep 0.03"] {
        assert_eq!(directories(&[command]), 20, "{command}");
    }
    assert_eq!(directories(&["--prepare", "true", "echo x=1"]), 20);
    let failed = bench.run(&["bench", "-r", "2", "echo why >&2; false"]);
    assert!(failed.contains("exit code 3") && failed.contains("why"), "{failed}");
    let mut secret = bench.command(&["bench", "-r", "3", "--record", "s", "echo $API_TOKEN"]);
    assert!(secret.env("API_TOKEN", "open-sesame-93").output().unwrap().status.success());
    assert!(!bench.read("s/journal.jsonl").contains("open-sesame-93"));
    assert_eq!(bench.files("s", "stdout.log").len(), 3);
    let runs = bench.run(&["show", "--runs", "s"]);
    assert!(runs.contains("run.sh, which repeats it"), "{runs}");
}

#[test]
fn warm_up_and_preparation_are_run_and_not_measured() {
    let bench = Bench::new();
    let arguments = ["bench", "--json", "-r", "3", "--warmup", "2"];
    let steps = ["--prepare", "sleep 0.1; echo p >> log", "--cleanup", "echo c >> log", "echo r >> log"];
    let answer = answer(&bench, &[arguments.as_slice(), steps.as_slice()].concat());
    assert_eq!(bench.read("log"), "p\nr\nc\n".repeat(5));
    let row = &answer["answer"]["rows"][0];
    assert_eq!(row["estimate"]["samples"], 3);
    assert!(row["estimate"]["center"].as_f64().unwrap() < 0.1, "{row}");
}

#[test]
fn results_go_to_files() {
    let bench = Bench::new();
    let shown =
        bench.run(&["bench", "-r", "2", "true", "-o", "r.md", "-o", "r.csv", "-o", "r.json", "-o", "r.html"]);
    assert!(shown.contains("exit code 0"), "{shown}");
    assert!(bench.read("r.md").contains("| median"), "{}", bench.read("r.md"));
    assert!(bench.read("r.html").contains("</html>"));
    assert!(bench.read("r.csv").contains("duration.wall"));
    let json: serde_json::Value = serde_json::from_str(&bench.read("r.json")).unwrap();
    assert_eq!(json["answer"]["rows"][0]["estimate"]["samples"], 2);
}

#[test]
fn commands_can_be_compared_by_another_metric() {
    let bench = Bench::new();
    let commands = ["echo rate=10", "echo rate=20"];
    let unknown = error(&bench, &[&["bench", "-m", "rate"], commands.as_slice()].concat());
    assert!(unknown.contains("unknown metric `rate`") && unknown.contains("--better higher"), "{unknown}");
    let rate = ["bench", "--json", "-r", "6", "-m", "rate", "--better", "higher"];
    let rates = answer(&bench, &[rate.as_slice(), commands.as_slice()].concat());
    assert_eq!(rates["answer"]["rows"][0]["estimate"]["center"], 10.0);
    assert_eq!(rates["answer"]["best"], 1);
    // A program that needs less memory than the one that starts it has no peak of its own; this one holds 100 MB.
    let large = "head -c 100M /dev/zero | tail -c 100M > held";
    let bytes = answer(&bench, &["bench", "--json", "-r", "2", "-m", "memory.peak", large]);
    assert_eq!(bytes["answer"]["metric"]["name"], "memory.peak");
}

#[test]
fn a_failing_preparation_says_so() {
    let bench = Bench::new();
    let shown = bench.run(&["bench", "-r", "1", "--prepare", "exit 3", "touch ran"]);
    assert!(shown.contains("exit code 3") && shown.contains("the prepare command"), "{shown}");
    assert!(!bench.path("ran").exists());
}

#[test]
fn what_was_noticed_about_runs_that_succeeded_is_said() {
    let bench = Bench::new();
    let shown = bench.run(&["bench", "--vary", "n=1,2", "true {n}", "--cleanup", "exit 3", "--repeats", "2"]);
    let doubt = "4 runs (for example n=";
    assert!(shown.starts_with("exit code 0") && shown.contains(doubt), "{shown}");
    assert!(shown.contains("after the run, the cleanup command: failed: exit code 3"), "{shown}");
    assert!(bench.run(&["show"]).contains(doubt));
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let bench = Bench::new();
    for (arguments, part) in [
        (vec!["bench", "-n", "a", "-n", "b", "true"], "1 commands, but 2 names"),
        (vec!["bench", "true", "-o", "r.xlsx"], "no report format"),
        (vec!["bench", "true", "-o", "no/r.md"], "no directory no"),
        (vec!["bench", "--vary", "n", "true"], "expected NAME=VALUE"),
        (vec!["bench", "--vary", "run_directory=1", "true"], "cannot be the name of a setting"),
        (vec!["bench", "--precision", "2", "true"], "not a share"),
        (vec!["bench", "--timeout", "9", "true"], "no unit"),
        (vec!["bench", "--repeats", "0", "true"], "0"),
        (vec!["bench", "lmm"], "did you mean the workload `lm`?"),
        (vec!["bench", "--repeats", "2", "mnist"], "a workload has that name"),
        (
            vec!["bench", "mnist", "--train-samples", "500", "--batch-size", "32", "--epochs", "1"],
            "none would count",
        ),
        (vec!["bench", ""], "the command is empty"),
    ] {
        let text = error(&bench, &arguments);
        assert!(text.contains(part), "{arguments:?}: {part} is missing in\n{text}");
    }
    assert!(!bench.path("records").exists());
}

#[test]
fn a_hint_names_the_campaign_file_that_failed() {
    let bench = Bench::new().file("slow one.toml", "name = 'slow'\n[workload]\ncommand = 'exit 7'\n");
    let shown = bench.run(&["run", "slow one.toml"]);
    assert!(shown.contains("`assay run 'slow one.toml' --only failed`"), "{shown}");
}

#[test]
fn a_rebuilt_program_is_noticed_when_a_record_is_resumed() {
    let campaign = "name = 'c'\n[workload]\ncommand = './prog'\n[repeats]\nat_least = 1\n";
    let bench = Bench::new().file("c.toml", campaign).file("prog", "#!/bin/sh\n");
    let make = |text: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(bench.path("prog"), text).unwrap();
        std::fs::set_permissions(bench.path("prog"), PermissionsExt::from_mode(0o755)).unwrap();
    };
    make("#!/bin/sh\n");
    assert!(!bench.run(&["run", "c.toml"]).contains("rebuilt"));
    assert!(!bench.run(&["run", "c.toml"]).contains("rebuilt"));
    make("#!/bin/sh\necho new\n");
    let shown = bench.run(&["run", "c.toml"]);
    assert!(shown.contains("the program was rebuilt") && shown.contains("--fresh"), "{shown}");
}

#[test]
fn a_hostile_record_path_is_not_executed() {
    let campaign =
        "name = 'c'\n[workload]\ncommand = 'echo {run_directory} > out'\n[repeats]\nat_least = 1\n";
    let bench = Bench::new().file("c.toml", campaign);
    let shown = bench.run(&["run", "c.toml", "--record", "$(touch pwned) sp 'ace"]);
    assert!(shown.contains("exit code 0"), "{shown}");
    assert!(!bench.path("pwned").exists());
    assert!(bench.read("out").contains("$(touch pwned) sp 'ace/runs/"), "{}", bench.read("out"));
}
