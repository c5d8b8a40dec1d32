//! What cannot work is refused with exit code 2 and a hint, before anything is created; a query can be interrupted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;

const CAMPAIGN: &str = "name = \"small\"\n[workload]\ncommand = \"echo metric=1\"\n[repeats]\nat_least = 1\n";

const ENDLESS: &str =
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

fn refused(text: &str, expected: &str) {
    assert!(text.starts_with("exit code 2"), "{text}");
    assert!(text.contains(expected), "{text}");
}

fn with_record() -> Bench {
    let place = Bench::new().file("campaign.toml", CAMPAIGN);
    let output = place.run(&["run", "campaign.toml"]);
    assert!(output.starts_with("exit code 0"), "{output}");
    place
}

#[test]
fn a_name_of_300_characters_is_refused_by_plan_and_run() {
    let campaign = CAMPAIGN.replace("small", &"n".repeat(300));
    let place = Bench::new().file("campaign.toml", &campaign);
    for verb in ["plan", "run"] {
        refused(&place.run(&[verb, "campaign.toml"]), "hint: names are at most 200 letters");
    }
    assert!(!place.path("records").exists());
}

#[test]
fn an_oversized_regex_is_found_by_plan() {
    let pattern = "[[read.pattern]]\nmetric = \"m\"\nunit = \"s\"\nregex = '(?<value>([0-9]{1000}){1000})'\n";
    let place = Bench::new().file("campaign.toml", &format!("{CAMPAIGN}{pattern}"));
    for verb in ["plan", "run"] {
        let text = place.run(&[verb, "campaign.toml"]);
        refused(&text, "exceeds size limit");
        assert!(text.contains("hint: use a smaller pattern"), "{text}");
    }
    assert!(!place.path("records").exists());
}

#[test]
fn a_nul_character_in_a_command_is_refused_by_plan_and_run() {
    let command = CAMPAIGN.replace("metric=1", "metric=1\\u0000; touch pwned");
    let value = format!("{}[vary]\nn = [\"a\\u0000b\"]\n", CAMPAIGN.replace("metric=1", "{n}"));
    let variable = format!("{CAMPAIGN}[workload.environment]\nX = \"a\\u0000b\"\n");
    for campaign in [command, value, variable] {
        let place = Bench::new().file("campaign.toml", &campaign);
        for verb in ["plan", "run"] {
            refused(&place.run(&[verb, "campaign.toml"]), "NUL character");
        }
        assert!(!place.path("records").exists() && !place.path("pwned").exists());
    }
}

#[test]
fn an_output_path_that_cannot_be_written_is_a_usage_error() {
    let place = with_record().file("a.md", "| a | b |\n|---|---|\n| 1 | 2 |\n").file("folder.csv/x", "");
    let commands: [&[&str]; 6] = [
        &["query", "runs", "records/small", "-o", "none/x.csv"],
        &["query", "select 1", "records/small", "-o", "none/x.parquet"],
        &["query", "runs", "records/small", "-o", "folder.csv"],
        &["show", "records/small", "-o", "none/x.md"],
        &["audit", "a.md", "-o", "a.md/x.md"],
        &["sample", "fft", "-o", "none/x.log"],
    ];
    for command in commands {
        let text = place.run(command);
        refused(&text, "cannot write");
        assert!(text.contains("hint: "), "{text}");
    }
}

#[test]
fn a_record_path_that_is_not_utf_8_is_refused_and_leaves_nothing_behind() {
    let place = Bench::new().file("campaign.toml", CAMPAIGN);
    let odd = OsStr::from_bytes(b"rec\xffords");
    let output = place.command(&["run", "campaign.toml", "--record"]).arg(odd).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("not valid UTF-8") && text.contains("hint: name another directory"), "{text}");
    assert!(!place.path("").join(odd).exists());
    // The same where only the directory of the campaign has such a name.
    let folder = place.path("").join(odd);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("campaign.toml"), CAMPAIGN).unwrap();
    let output = place.command(&["run", "campaign.toml"]).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.join("records").exists());
}

#[test]
fn an_empty_directory_can_become_a_record() {
    let place = Bench::new().file("campaign.toml", CAMPAIGN);
    std::fs::create_dir(place.path("fresh")).unwrap();
    for verb in ["plan", "run"] {
        let text = place.run(&[verb, "campaign.toml", "--record", "fresh"]);
        assert!(text.starts_with("exit code 0"), "{text}");
    }
}

#[test]
fn a_query_ends_at_its_time_limit_and_at_an_interrupt() {
    let place = with_record();
    let began = Instant::now();
    refused(&place.run(&["query", ENDLESS, "records/small", "--timeout", "200ms"]), "time limit");
    refused(&place.run(&["query", ENDLESS, "-o", "x.csv", "--timeout", "200ms"]), "time limit");
    refused(&place.run(&["query", "runs", "--timeout", "soon"]), "hint: for example `--timeout 90s`");
    assert!(began.elapsed() < Duration::from_secs(20));
    let mut command = place.command(&["query", ENDLESS, "records/small", "--timeout", "10m"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The query is under way when the program uses the processor and nothing else happens.
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("query interrupted"), "{text}");
}

#[test]
fn a_query_that_sqlite_cannot_stop_ends_at_its_time_limit_too() {
    let place = with_record();
    let long = "select instr(printf('%.*c', 40000000, 'a'), printf('%.*c', 20000000, 'a') || 'b')";
    let began = Instant::now();
    refused(&place.run(&["query", long, "records/small", "--timeout", "100ms"]), "time limit");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_quoted_name_that_no_column_has_is_no_text() {
    let place = with_record();
    refused(&place.run(&["query", "select \"metric.nope\" from runs", "records/small"]), "no such column");
}

#[test]
fn no_output_is_written_over_what_is_read_or_over_a_record() {
    let place = with_record().file("a.md", "# Results\n\nModel a takes 5 ms.\n");
    let before = [place.path("a.md"), place.path("records/small/journal.jsonl")].map(std::fs::read);
    for arguments in [
        &["audit", "a.md", "-o", "a.md"][..],
        &["audit", ".", "-o", "./a.md"],
        &["read", "a.md", "-o", "a.md"],
    ] {
        refused(&place.run(arguments), "one of the files to read");
    }
    for arguments in [
        &["query", "runs", "records/small", "-o", "records/small/journal.jsonl"][..],
        &["query", "select 1", "records/small", "-o", "records/small/journal.jsonl"],
        &["show", "records/small", "-o", "records/small/runs/a.csv"],
        &["sample", "-o", "records/small/lock", "poptorch"],
    ] {
        refused(&place.run(arguments), "belongs to a record");
    }
    let after = [place.path("a.md"), place.path("records/small/journal.jsonl")].map(std::fs::read);
    assert_eq!(before.map(Result::unwrap), after.map(Result::unwrap));
    let beside = place.run(&["show", "records/small", "-o", "records/small/report.html"]);
    assert!(beside.starts_with("exit code 0"), "{beside}");
}

#[test]
fn a_link_to_a_record_is_not_removed_through() {
    let place = with_record();
    std::os::unix::fs::symlink(place.path("records/small"), place.path("link")).unwrap();
    refused(&place.run(&["rm", "link", "--yes"]), "is a link");
    assert!(place.path("records/small/journal.jsonl").is_file());
}

#[test]
fn pipes_among_campaigns_platforms_and_dialects_are_not_waited_for() {
    let config = "[[workload.config]]\nbase = \"base.json\"\nwrite = \"a.json\"\n";
    let place =
        Bench::new().file("campaign.toml", &format!("{CAMPAIGN}{config}")).file("a.log", "loss: 1.5\n");
    for path in ["base.json", "pipe.toml", "dialects/x.toml", "platforms/x.toml"] {
        let path = place.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    refused(&place.run(&["plan", "campaign.toml"]), "`base.json` is not a regular file");
    refused(&place.run(&["plan", "pipe.toml"]), "no campaign file");
    for arguments in [&["read", "a.log"][..], &["list", "platforms"], &["list", "dialects"]] {
        let text = place.run(arguments);
        assert!(text.starts_with("exit code 0"), "{text}");
    }
}
