//! What several commands at once, links and hostile texts must not do to records, as a user meets them.

use std::fs;
use std::process::Command;

use crate::bench::Bench;

const CAMPAIGN: &str = r#"
name = "hard"
question = "how long?"
[workload]
command = "echo x >> {campaign_directory}/count; echo metric=1"
[repeats]
at_least = 2
"#;

fn ran() -> Bench {
    let place = Bench::new().file("campaign.toml", CAMPAIGN);
    assert!(place.run(&["run", "campaign.toml"]).starts_with("exit code 0"));
    place
}

#[test]
fn new_records_that_are_started_at_once_do_not_share_runs() {
    let place = ran();
    let start = |_| place.command(&["run", "campaign.toml", "--fresh", "--quiet"]).spawn().unwrap();
    for mut child in (0..5).map(start).collect::<Vec<_>>() {
        child.wait().unwrap();
    }
    let records: Vec<_> =
        fs::read_dir(place.path("records")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(records.len() > 1, "no record was moved aside");
    let mut runs = 0;
    for record in &records {
        let shown = place.run(&["query", "select count(*) from run", &record.display().to_string(), "--csv"]);
        let count: usize = shown.lines().rev().find_map(|line| line.trim().parse().ok()).unwrap_or(0);
        assert!(count <= 2, "{} has {count} of 2 runs", record.display());
        runs += count;
    }
    let really = fs::read_to_string(place.path("count")).unwrap().lines().count();
    assert!(runs <= really, "{runs} runs are acknowledged and {really} were made");
}

#[test]
fn old_records_are_removed_by_age_and_damaged_ones_are_kept() {
    let place = ran();
    fs::write(place.path("records/hard/journal.jsonl"), "").unwrap();
    let removed = place.run(&["rm", "--older-than", "30d", "--yes"]);
    assert!(removed.contains("no records to remove"), "{removed}");
    assert!(place.path("records/hard/runs").exists());
}

#[test]
fn a_report_is_not_written_over_a_journal_by_another_name() {
    let place = ran();
    fs::hard_link(place.path("records/hard/journal.jsonl"), place.path("report.csv")).unwrap();
    let before = fs::read(place.path("report.csv")).unwrap();
    let refused = place.run(&["query", "runs", "records/hard", "-o", "report.csv"]);
    assert!(refused.starts_with("exit code 2") && refused.contains("hard links"), "{refused}");
    assert_eq!(fs::read(place.path("report.csv")).unwrap(), before);
}

#[test]
fn files_of_json_hold_nothing_that_steers_a_terminal() {
    let log = "Traceback (most recent call last):\n  File \"x\", line 1\nValueError: \u{9b}2J\u{2066}\n";
    let place = Bench::new().file("a.log", log);
    let read = place.run(&["read", "a.log", "-o", "a.json"]);
    assert!(read.starts_with("exit code 0"), "{read}");
    let text = fs::read_to_string(place.path("a.json")).unwrap();
    assert!(text.contains("\\u009b") && !text.contains('\u{9b}') && !text.contains('\u{2066}'), "{text}");
}

#[test]
fn secrets_are_found_however_a_campaign_writes_them() {
    for environment in [
        "workload.environment.MY_TOKEN = \"canary-0123456789\"",
        "workload.environment = { MY_TOKEN = \"canary-0123456789\" }",
        "workload.environment.GPG_PASSPHRASE = '''\ncanary-0123456789'''",
        "workload.environment.MY_SECRET = \"/canary-0123456789\"",
        "workload.environment.DB_URL = \"postgres://u:pa,canary-0123456789@h/db\"",
    ] {
        let text = format!(
            "name = \"hard\"\nquestion = \"canary-0123456789?\"\nworkload.command = \"echo metric=1\"\n\
             repeats.at_least = 1\n{environment}\n"
        );
        let place = Bench::new().file("campaign.toml", &text);
        let mut command: Command = place.command(&["run", "campaign.toml", "--quiet"]);
        command.env("OTHER_TOKEN", "canary-0123456789").output().unwrap();
        let mut files = vec![place.path("records/hard")];
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                let bytes = fs::read(&path).unwrap();
                assert!(
                    !bytes.windows(7).any(|window| window == b"canary-"),
                    "{} with {environment}",
                    path.display()
                );
            }
        }
    }
}
