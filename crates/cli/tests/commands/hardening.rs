//! Damaged records, secrets and runs that misbehave, as a user meets them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

const CAMPAIGN: &str = r#"
name = "hard"
question = "how long?"
[workload]
command = "echo metric=1"
[repeats]
at_least = 4
"#;

fn record(campaign: &str) -> Bench {
    Bench::new().file("campaign.toml", campaign)
}

#[test]
fn a_zeroed_journal_is_reported_refused_and_restored() {
    let place = record(CAMPAIGN);
    assert!(place.run(&["run", "campaign.toml"]).starts_with("exit code 0"));
    let journal = place.path("records/hard/journal.jsonl");
    let length = fs::metadata(&journal).unwrap().len() as usize;
    fs::write(&journal, vec![0; length]).unwrap();
    fs::remove_file(place.path("records/hard/index.sqlite")).unwrap();
    let shown = place.run(&["show", "records/hard"]);
    assert!(shown.contains("4 finished runs restored from their run directories"), "{shown}");
    let listed = place.run(&["list", "records"]);
    assert!(listed.contains("4 runs restored"), "{listed}");
    let refused = place.run(&["run", "campaign.toml"]);
    assert!(refused.starts_with("exit code 2") && refused.contains("--accept-damage"), "{refused}");
    let accepted = place.run(&["run", "campaign.toml", "--accept-damage"]);
    assert!(accepted.starts_with("exit code 0"), "{accepted}");
    // Nothing was run again, and nothing was written into an old directory.
    assert_eq!(place.count("records/hard/runs", "run.sh"), 4);
    assert!(!place.run(&["show", "records/hard"]).contains("damaged"));
}

#[test]
fn secrets_reach_no_file_of_a_record() {
    let campaign = format!("{CAMPAIGN}[workload.environment]\nMY_TOKEN = \"canary-in-file\"\n");
    let place = record(&campaign);
    let output = place
        .command(&["run", "campaign.toml", "--keep-env", "GH_PAT"])
        .env("GH_PAT", "canary-pat-1")
        .env("DATABASE_URL", "postgres://a:canary-url@h/x")
        .env("AUTHORIZATION", "canary-header")
        .env("OMP_NUM_THREADS", "canary-free")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let exported = place.command(&["query", "select * from run", "records/hard", "--json"]).output().unwrap();
    let mut files = vec![place.path("records/hard")];
    let mut texts = vec![exported.stdout];
    while let Some(path) = files.pop() {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o077;
        assert_eq!(mode, 0, "{} is readable by others", path.display());
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            texts.push(fs::read(&path).unwrap());
        }
    }
    let all = String::from_utf8_lossy(&texts.concat()).into_owned();
    for secret in ["canary-in-file", "canary-pat-1", "canary-url", "canary-header"] {
        assert!(!all.contains(secret), "{secret} is in the record");
    }
    assert!(all.contains("canary-free"), "what can change a measurement is kept");
}

#[test]
fn a_run_that_removes_its_directory_fails_alone() {
    let command = r#"command = "if [ {n} = 1 ]; then rm -rf {run_directory}; fi; echo metric=1""#;
    let campaign = CAMPAIGN.replace(r#"command = "echo metric=1""#, command);
    let campaign = format!("{campaign}[vary]\nn = [1, 2]\n");
    let printed = record(&campaign).run(&["run", "campaign.toml"]);
    assert!(printed.starts_with("exit code 3"), "{printed}");
    assert!(printed.contains("4 runs failed: the run removed its own run directory"), "{printed}");
}

#[test]
fn names_that_the_launcher_or_a_shell_would_misread_are_refused() {
    let environment = format!("{CAMPAIGN}[workload.environment]\n\"A B;touch pq\" = \"x\"\n");
    let printed = record(&environment).run(&["run", "campaign.toml"]);
    assert!(
        printed.starts_with("exit code 2") && printed.contains("cannot be the name of a variable"),
        "{printed}"
    );
    let file = CAMPAIGN
        .replace("[repeats]", "[[workload.config]]\nbase = \"b.json\"\nwrite = \"run.sh\"\n[repeats]");
    let printed = record(&file).file("b.json", "{}").run(&["run", "campaign.toml"]);
    assert!(printed.starts_with("exit code 2") && printed.contains("`run.sh`"), "{printed}");
}

#[test]
fn a_query_without_end_is_stopped() {
    let place = record(CAMPAIGN);
    place.run(&["run", "campaign.toml"]);
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let printed = place.run(&["query", endless, "records/hard", "--timeout", "200ms"]);
    assert!(printed.starts_with("exit code 2") && printed.contains("time limit"), "{printed}");
}

#[test]
fn the_memory_plan_of_a_workload_covers_its_tasks_and_obeys_limits() {
    let place = Bench::new();
    let value = |text: &str, metric: &str| -> f64 {
        let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut values =
            lines.filter(|line| line["metric"] == metric).filter_map(|line| line["value"].as_f64());
        values.next().unwrap_or_else(|| panic!("no {metric} in {text}"))
    };
    for workload in [["lm", "size=tiny", "phase=step"], ["bert", "size=tiny", "task=pretrain"]] {
        let settings = ["tasks=6", "iterations=1", "warmup=0"];
        let output = place.command(&["work"]).args(workload).args(settings).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let (planned, peak) = (value(&text, "memory.planned"), value(&text, "memory.peak"));
        assert!(peak <= planned && planned < 2.0 * peak, "{workload:?}: planned {planned}, peak {peak}");
    }
    let assay = place.command(&[]).get_program().to_owned();
    for workload in ["lm size=tiny", "mnist batch_size=1", "bert size=tiny task=pretrain"] {
        let script = format!("ulimit -v 2000000; exec \"$0\" work {workload} tasks=400");
        let limited = std::process::Command::new("sh").args(["-c", &script]).arg(&assay).output().unwrap();
        let text = String::from_utf8_lossy(&limited.stdout);
        assert!(text.contains("does_not_fit") && text.contains("are free"), "{workload}: {text}");
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_with_a_reason_and_loses_nothing() {
    let place = record(CAMPAIGN);
    let assay = place.command(&[]).get_program().to_owned();
    let limited = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 3; exec \"$0\" run campaign.toml"])
        .arg(&assay)
        .current_dir(place.path(""))
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(1), "{messages}");
    assert!(messages.contains("File too large"), "{messages}");
    let resumed = place.run(&["run", "campaign.toml"]);
    assert!(resumed.starts_with("exit code 0"), "{resumed}");
}

#[test]
fn a_missing_journal_is_named_and_made_again() {
    let place = record(CAMPAIGN);
    place.run(&["run", "campaign.toml"]);
    fs::remove_file(place.path("records/hard/journal.jsonl")).unwrap();
    let shown = place.run(&["show", "campaign.toml"]);
    assert!(shown.starts_with("exit code 2") && shown.contains("its journal is missing"), "{shown}");
    let accepted = place.run(&["run", "campaign.toml", "--accept-damage"]);
    assert!(accepted.contains("4 finished runs restored"), "{accepted}");
    assert_eq!(place.count("records/hard/runs", "run.sh"), 4);
}

#[test]
fn pipes_and_links_in_the_place_of_output_are_neither_waited_for_nor_shown() {
    let secret = "canary-elsewhere";
    for command in ["mkfifo {run_directory}/stderr.log", "ln -s $PWD/secret {run_directory}/stderr.log"] {
        let failing = CAMPAIGN.replace("echo metric=1", &format!("{command}; sleep 0.03; exit 3"));
        let place = record(&failing).file("secret", secret);
        let printed = place.run(&["run", "campaign.toml"]);
        assert!(printed.starts_with("exit code 3"), "{printed}");
        assert!(printed.contains("4 runs failed: exit code 3"), "{printed}");
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[test]
fn a_secret_in_a_command_is_refused_and_its_variable_is_not() {
    let secret = "canary-0123456789";
    let place = Bench::new();
    let run = |command: &str| {
        let arguments = ["bench", command, "--repeats", "1"];
        let output = place.command(&arguments).env("API_TOKEN", secret).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run("true canary-0123456789");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("`API_TOKEN`") && !text.contains(secret), "{text}");
    assert!(!place.path("records").exists());
    let (code, text) = run("test \"$API_TOKEN\" = canary-\"$((123456789))\" || test -n \"$API_TOKEN\"");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_field_that_looks_like_a_secret_is_refused() {
    let place = Bench::new();
    let load = |field: &str| place.run(&["load", "--mock", "ttft=1ms", "-n", "1", "--field", field]);
    let refused = load("api_key=\"canary\"");
    assert!(refused.starts_with("exit code 2") && refused.contains("looks like a secret"), "{refused}");
    assert!(load("max_tokens=5").starts_with("exit code 0"));
}

#[test]
fn a_detached_run_keeps_its_record_private() {
    let place = record(CAMPAIGN);
    assert!(place.run(&["run", "campaign.toml", "--detach"]).starts_with("exit code 0"));
    let others = |name: &str| {
        let found = fs::metadata(place.path("records/hard").join(name)).unwrap();
        found.permissions().mode() & 0o077
    };
    for name in [".", "detached.log", "journal.jsonl", "runs"] {
        assert_eq!(others(name), 0, "{name}");
    }
}

/// Names of files that are no text, as archives begin.
#[test]
fn archives_are_named_and_not_read_as_text() {
    let place = Bench::new();
    for (name, start) in [
        ("a.zip", &b"PK\x03\x04"[..]),
        ("a.log.xz", b"\xfd7zXZ\0"),
        ("a.log.zst", b"\x28\xb5\x2f\xfd"),
        ("a.pdf", b"%PDF-1.7"),
    ] {
        fs::write(place.path(name), [start, b"\nloss: 2.5\n"].concat()).unwrap();
        let printed = place.run(&["read", name]);
        assert!(printed.starts_with("exit code 2") && printed.contains("hint: "), "{name}: {printed}");
    }
    fs::write(place.path("cut.log.gz"), b"\x1f\x8b\x08\0\0").unwrap();
    assert!(place.run(&["read", "cut.log.gz"]).starts_with("exit code 2"));
}
