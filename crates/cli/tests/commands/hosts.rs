//! Which hosts a record or a campaign can make the program connect to.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

const CAMPAIGN: &str = r#"
name = "jobs"
[workload]
command = "echo metric=1"
[repeats]
at_least = 1
"#;

const NOTED: &str = r#"{"name":"there","summary":"","launcher":"slurm","host":"somewhere.example","limits":{},
    "environment":{},"hints":[],"batch":{},"log":{"dialect":"auto"},"dialect":"auto"}"#;

/// Runs a command where `ssh` only notes that it was started.
fn connects(place: &Bench, arguments: &[&str]) -> (bool, String) {
    let mark = place.path("connected");
    let _ = fs::remove_file(&mark);
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let output = place.command(arguments).env("PATH", path).output().unwrap();
    (mark.exists(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn jobs_of_a_record_are_looked_for_on_known_hosts_only() {
    let place = Bench::new().file("campaign.toml", CAMPAIGN);
    assert!(place.run(&["run", "campaign.toml"]).starts_with("exit code 0"));
    let place = place.file("records/jobs/jobs/there.json", NOTED);
    let program = format!("#!/bin/sh\ntouch '{}'\nexit 255\n", place.path("connected").display());
    let place = place.file("bin/ssh", &program);
    fs::set_permissions(place.path("bin/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    for verb in ["status", "cancel"] {
        let (connected, printed) = connects(&place, &[verb, "records/jobs"]);
        assert!(!connected && printed.contains("somewhere.example"), "{verb}: {printed}");
    }
    let place = place
        .file("platforms/there.toml", "name = 'there'\nlauncher = 'slurm'\nhost = 'elsewhere.example'\n");
    assert!(!connects(&place, &["status", "records/jobs"]).0);
    let place = place
        .file("platforms/there.toml", "name = 'there'\nlauncher = 'slurm'\nhost = 'somewhere.example'\n");
    for name in ["records/jobs", "campaign.toml"] {
        let (connected, printed) = connects(&place, &["status", name]);
        assert!(connected, "{name}: {printed}");
    }
}

#[test]
fn pipes_and_devices_among_the_jobs_of_a_record_are_not_waited_for() {
    let place = Bench::new().file("campaign.toml", CAMPAIGN);
    assert!(place.run(&["run", "campaign.toml"]).starts_with("exit code 0"));
    let note = place.path("records/jobs/jobs/x.json");
    fs::create_dir(note.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &note).unwrap();
    assert!(!place.run(&["status", "records/jobs"]).starts_with("exit code 0"));
    fs::remove_file(&note).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&note).status().unwrap();
    assert!(made.success());
    for verb in ["status", "cancel"] {
        assert!(!place.run(&[verb, "records/jobs"]).starts_with("exit code 0"), "{verb}");
    }
}
