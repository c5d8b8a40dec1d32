//! Runs that misbehave: they remove, replace or flood what belongs to their record, or leave processes behind.

use std::fs;
use std::time::Duration;

use anyhow::ensure;

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::place::Place;

pub fn misbehave(place: &Place) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("misbehaving runs");
    let scene = |command: &str, more: &str| -> anyhow::Result<AttackScene<'_>> {
        let scene = AttackScene::new(place)?;
        let text = format!(
            "name = \"bad\"\n[workload]\ncommand = '''{command}'''\n[vary]\nn = [1, 2]\n[repeats]\nat_least = 2\n{more}"
        );
        scene.file("campaign.toml", text)?;
        Ok(scene)
    };
    // What a run does to its own directory concerns that run alone.
    let only_first = [
        ("a run that removes its directory", "rm -rf {run_directory}", &[3][..]),
        (
            "a run that replaces its directory by a file",
            "rm -rf {run_directory}; touch {run_directory}",
            &[3],
        ),
        (
            "a run that replaces its directory by a link",
            "rm -rf {run_directory}; ln -s /tmp {run_directory}",
            &[0, 3],
        ),
        ("a run that makes its result a pipe", "mkfifo {run_directory}/result.jsonl", &[0]),
        ("a run that makes its result a link", "ln -s /dev/full {run_directory}/result.jsonl", &[0]),
        ("a run that makes its output a pipe", "mkfifo {run_directory}/stdout.log; echo x", &[0]),
        (
            "a run that makes its output a pipe and fails",
            "mkfifo {run_directory}/stderr.log; sleep 0.1; exit 1",
            &[3],
        ),
        ("a run that makes its output a directory", "mkdir {run_directory}/stdout.log; echo x", &[0, 1, 3]),
        ("a run that makes its directory read-only", "chmod 500 {run_directory}", &[0]),
    ];
    for (what, command, codes) in only_first {
        let command = format!("if [ {{n}} = 1 ]; then {command}; fi; echo metric=1");
        let scene = scene(&command, "")?;
        let outcome = || -> anyhow::Result<()> {
            scene.assay(&["run", "campaign.toml"])?.expect(codes)?;
            let shown = scene.assay(&["query", "runs", "records/bad", "--csv"])?;
            shown.expect(&[0])?;
            ensure!(shown.out.lines().count() == 5, "not all runs are in the record: {}", shown.out);
            Ok(())
        };
        group.attempt(what, outcome());
    }
    let own_record = scene("rm -f records/bad/journal.jsonl; echo metric=1", "")?;
    let outcome = || -> anyhow::Result<()> {
        own_record.assay(&["run", "campaign.toml"])?;
        let again = own_record.assay(&["run", "campaign.toml", "--accept-damage"])?;
        again.expect(&[0, 1, 2, 3])?;
        Ok(())
    };
    group.attempt("a run that removes the journal", outcome());
    group.attempt("processes with an empty environment", processes(place));
    let heavy = scene("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo metric=1", "")?;
    group.attempt(
        "50 MB on one line",
        heavy.assay(&["run", "campaign.toml"]).and_then(|ended| ended.expect(&[0]).map(drop)),
    );
    group.attempt("a record named inside a run directory", nested(place));
    group.attempt("two coordinators at once", two_coordinators(place));
    Ok(group)
}

/// Processes that run on with an empty environment, in sessions of their own.
fn processes(place: &Place) -> anyhow::Result<()> {
    for jobs in ["1", "3"] {
        let scene = AttackScene::new(place)?;
        let mark = format!("31.{}{}", std::process::id(), jobs);
        scene.file(
            "campaign.toml",
            format!(
                "name = \"left\"\n[workload]\ncommand = '''env -i setsid sleep {mark} & \
                 env -i sh -c 'setsid sleep {mark} & setsid sleep {mark} &' ; echo metric=1'''\n[repeats]\nat_least = 4\n"
            ),
        )?;
        scene.assay(&["run", "campaign.toml", "-j", jobs])?.expect(&[0])?;
        std::thread::sleep(Duration::from_millis(300));
        let left = running(&mark)?;
        ensure!(left == 0, "{left} processes are left with --jobs {jobs}");
    }
    Ok(())
}

fn running(mark: &str) -> anyhow::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir("/proc")? {
        let line = fs::read(entry?.path().join("cmdline")).unwrap_or_default();
        count += usize::from(line == format!("sleep\0{mark}\0").into_bytes());
    }
    Ok(count)
}

/// A campaign whose record is inside the run directory of another.
fn nested(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file(
        "outer.toml",
        "name = \"outer\"\n[workload]\ncommand = \"echo metric=1\"\n[repeats]\nat_least = 2\n",
    )?;
    scene.file(
        "inner.toml",
        "name = \"inner\"\n[workload]\ncommand = \"echo metric=2\"\n[repeats]\nat_least = 2\n",
    )?;
    scene.assay(&["run", "outer.toml"])?.expect(&[0])?;
    let runs = scene.path("records/outer/runs");
    let cell = fs::read_dir(&runs)?.flatten().next().map(|cell| cell.path().join("r1/inner"));
    let inner = cell.map(|path| path.display().to_string()).unwrap_or_default();
    scene.assay(&["run", "inner.toml", "--record", &inner])?.expect(&[0])?;
    let shown = scene.assay(&["query", "select count(*) from run", "records/outer", "--csv"])?;
    ensure!(shown.out.lines().last() == Some("2"), "the outer record has {} runs", shown.out.trim());
    Ok(())
}

/// Of two coordinators of one record, one is refused and names the other; no run is made twice.
fn two_coordinators(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file(
        "campaign.toml",
        "name = \"shared\"\n[workload]\ncommand = \"sleep 0.1; echo x >> side-effects; echo metric=1\"\n[repeats]\nat_least = 8\n",
    )?;
    let mut children = Vec::new();
    for _ in 0..4 {
        children.push(
            scene
                .command(&["run", "campaign.toml", "-q"])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()?,
        );
    }
    let mut codes = Vec::new();
    for child in &mut children {
        codes.push(child.wait()?.code());
    }
    ensure!(codes.contains(&Some(0)), "nobody ran the campaign: {codes:?}");
    let effects = fs::read_to_string(scene.path("side-effects"))?.lines().count();
    ensure!(effects == 8, "{effects} runs were made instead of 8");
    Ok(())
}
