//! What stands around a record and changes while it is used: odd environments, disks that cannot be written, links, and
//! somebody who moves, cuts or multiplies its files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::attack::{AttackScene, Ended};
use super::trial::AbuseGroup;
use crate::place::Place;
use crate::random::Random;

const CAMPAIGN: &str = "name = \"c\"\n[workload]\ncommand = \"echo metric={n}; sleep 0.02\"\n[vary]\nn = [1, 2, 3]\n\
                        [repeats]\nat_least = 4\n";
const RUNS: usize = 12;

/// What every verb is asked for.
const VERBS: &[&[&str]] = &[
    &["show", "records/c"],
    &["show", "records/c", "--runs"],
    &["list"],
    &["query", "runs", "records/c"],
    &["audit", "a.md"],
    &["read", "a.log"],
    &["compare", "records/c", "records/c"],
    &["plan", "campaign.toml"],
    &["status", "records/c"],
    &["list", "dialects"],
    &["bench", "true"],
    &["run", "campaign.toml"],
    &["show", "records/c", "-o", "report.html"],
    &["query", "runs", "records/c", "-o", "runs.csv"],
];

pub fn surround(place: &Place, seed: u64) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("surroundings of a record");
    environments(place, &mut group)?;
    group.attempt("a disk that cannot be written", read_only(place));
    links(place, &mut group)?;
    changes(place, &mut group)?;
    group.attempt("results copied into other run directories", copied_results(place));
    group.attempt("scrubs that are killed", killed_scrubs(place, seed));
    Ok(group)
}

fn with_record(place: &Place) -> anyhow::Result<AttackScene<'_>> {
    let scene = AttackScene::new(place)?;
    scene.file("campaign.toml", CAMPAIGN)?;
    scene.file("a.md", "# T\n\n| m | ms |\n|---|---|\n| a | 3 |\n| b | 6 |\n\na is 2x faster than b.\n")?;
    scene.file("a.log", "loss: 2.5\nepoch 1\n")?;
    scene.assay(&["run", "campaign.toml"])?.expect(&[0])?;
    Ok(scene)
}

/// How many runs a record has.
fn runs(scene: &AttackScene<'_>, record: &str) -> anyhow::Result<usize> {
    let count = "select count(*) from run where status = 'succeeded'";
    let ended = scene.assay(&["query", count, record, "--csv"])?;
    ended.expect(&[0])?.out.lines().last().unwrap_or_default().trim().parse().context("no count")
}

/// Starts a program through a shell that first changes something that the program inherits.
fn through_shell(scene: &AttackScene<'_>, first: &str, arguments: &[&str]) -> anyhow::Result<Ended> {
    let assay = scene.command(&[]);
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{first}; exec \"$0\" \"$@\"")]).arg(assay.get_program()).args(arguments);
    scene.attack(command.current_dir(&scene.directory))
}

fn environments(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let scene = with_record(place)?;
    let shells = [
        ("no environment", "for name in $(compgen -e); do unset \"$name\"; done"),
        (
            "odd variables",
            "export HOME=$'/no/\\xff' TMPDIR=/nowhere LANG=$'\\xff' TERM= COLUMNS=0 X=$'\\xff'",
        ),
        ("a terminal of one column", "export COLUMNS=1"),
        ("a terminal without an end", "export COLUMNS=99999999999999999999"),
        ("sixteen open files", "ulimit -n 16"),
        ("300 MB of memory", "ulimit -v 300000"),
        ("a full standard output", "exec >/dev/full"),
        ("no standard output", "exec >&-"),
        ("no standard streams", "exec <&- >&-"),
        ("a reader that is gone", "exec > >(exit)"),
        ("a directory that is gone", "mkdir -p gone && cd gone && rmdir ../gone"),
    ];
    for (what, first) in shells {
        for verb in VERBS {
            let ended = through_shell(&scene, first, verb)
                .and_then(|ended| ended.expect(&[0, 1, 2, 3, 4, 5, 6]).map(drop));
            group.attempt(&format!("{what}: {}", verb.join(" ")), ended);
        }
    }
    Ok(())
}

/// Reading works, and what writes is refused.
fn read_only(place: &Place) -> anyhow::Result<()> {
    let scene = with_record(place)?;
    let records = scene.path("records");
    let mount = |arguments: &[&str]| -> anyhow::Result<()> {
        let status = Command::new("mount").args(arguments).arg(&records).status()?;
        ensure!(status.success(), "cannot mount; run as root, or in `unshare --map-root-user --mount`");
        Ok(())
    };
    mount(&["--bind", &records.display().to_string()])?;
    let tried = || -> anyhow::Result<()> {
        mount(&["-o", "remount,bind,ro"])?;
        for verb in [&["show", "records/c"][..], &["query", "runs", "records/c"], &["audit", "records/c"]] {
            scene.assay(verb)?.expect(&[0])?;
        }
        for verb in [&["run", "campaign.toml"][..], &["scrub", "records/c"], &["rm", "--yes", "records/c"]] {
            scene.assay(verb)?.expect(&[2])?.says("hint: ")?;
        }
        Ok(())
    };
    let outcome = tried();
    Command::new("umount").arg("-l").arg(&records).status()?;
    outcome
}

/// Links in a record lead to files that nobody named: they are not written, whatever the verb.
fn links(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    for name in
        ["lock", "journal.jsonl", "index.sqlite", "index.check", "index.lock", "runs", "run directory"]
    {
        let scene = with_record(place)?;
        scene.assay(&["show", "records/c"])?;
        let outside = scene.path("outside");
        let inside = match name {
            "run directory" => first_cell(&scene)?.join("r1"),
            name => scene.path("records/c").join(name),
        };
        fs::rename(&inside, &outside)?;
        if outside.is_dir() {
            let script = if name == "runs" { "x/r1/run.sh" } else { "run.sh" };
            scene.file(&format!("outside/{script}"), "export MY_TOKEN=precious-precious\n")?;
        }
        symlink(&outside, &inside)?;
        let before = contents(&outside)?;
        for verb in [
            &["show", "records/c"][..],
            &["query", "runs", "records/c"],
            &["run", "campaign.toml"],
            &["scrub", "records/c"],
            &["rm", "--yes", "records/c"],
        ] {
            let outcome = || -> anyhow::Result<()> {
                scene.assay(verb)?.expect(&[0, 2])?;
                ensure!(contents(&outside)? == before, "it wrote through the link");
                Ok(())
            };
            group.attempt(&format!("{name} is a link: {}", verb.join(" ")), outcome());
        }
    }
    Ok(())
}

fn first_cell(scene: &AttackScene<'_>) -> anyhow::Result<std::path::PathBuf> {
    let cell = fs::read_dir(scene.path("records/c/runs"))?.flatten().next().context("no cell")?;
    Ok(cell.path())
}

/// All files below a path with what they hold.
fn contents(path: &Path) -> anyhow::Result<Vec<(std::path::PathBuf, Vec<u8>)>> {
    if path.is_file() {
        return Ok(vec![(path.to_owned(), fs::read(path)?)]);
    }
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        found.extend(contents(&entry)?);
    }
    Ok(found)
}

/// Somebody changes a record while it is run. Every acknowledged run is there afterwards, or its loss is reported.
fn changes(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let changes = [
        ("moved away", "mv records/c records/moved"),
        ("removed", "rm -rf records/c"),
        ("its journal cut off", "truncate -s 0 records/c/journal.jsonl"),
        ("its journal appended to", "echo garbage >> records/c/journal.jsonl"),
        (
            "its journal overwritten",
            "dd if=/dev/urandom of=records/c/journal.jsonl bs=99 count=1 conv=notrunc",
        ),
        ("its lock removed", "rm records/c/lock"),
        ("its run directories removed", "rm -rf records/c/runs"),
    ];
    for (what, change) in changes {
        let scene = AttackScene::new(place)?;
        scene.file("campaign.toml", CAMPAIGN.replace("0.02", "0.1"))?;
        let outcome = || -> anyhow::Result<()> {
            let mut child = scene
                .command(&["run", "campaign.toml"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            thread::sleep(Duration::from_millis(900));
            let mut shell = Command::new("sh");
            shell.args(["-c", change]).current_dir(&scene.directory).stderr(Stdio::null());
            shell.status()?;
            let deadline = std::time::Instant::now() + Duration::from_secs(30);
            while child.try_wait()?.is_none() {
                if std::time::Instant::now() > deadline {
                    child.kill()?;
                    child.wait()?;
                    anyhow::bail!("it still runs");
                }
                thread::sleep(Duration::from_millis(50));
            }
            let again = scene.assay(&["run", "campaign.toml"])?;
            again.expect(&[0, 2])?;
            if again.code == Some(2) {
                again.says("hint: ")?;
                scene.assay(&["run", "campaign.toml", "--accept-damage"])?.expect(&[0])?;
            }
            ensure!(runs(&scene, "records/c")? >= RUNS, "runs are missing");
            Ok(())
        };
        group.attempt(&format!("a record that is {what}"), outcome());
    }
    Ok(())
}

/// A result counts in the run directory that it was written for.
fn copied_results(place: &Place) -> anyhow::Result<()> {
    let scene = with_record(place)?;
    let cell = first_cell(&scene)?;
    for number in 50..80 {
        let copy = cell.join(format!("r{number}"));
        fs::create_dir(&copy)?;
        fs::copy(cell.join("r1/result.jsonl"), copy.join("result.jsonl"))?;
    }
    ensure!(runs(&scene, "records/c")? == RUNS, "the record has more runs");
    fs::remove_file(scene.path("records/c/index.sqlite")).ok();
    ensure!(runs(&scene, "records/c")? == RUNS, "the record has more runs with a new index");
    Ok(())
}

/// A scrub is all or nothing for the journal.
fn killed_scrubs(place: &Place, seed: u64) -> anyhow::Result<()> {
    let scene = with_record(place)?;
    let mut random = Random::new(seed);
    for _ in 0..40 {
        let mut child =
            scene.command(&["scrub", "records/c"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        thread::sleep(Duration::from_secs_f64(random.between(0.0, 0.05)));
        child.kill()?;
        child.wait()?;
        ensure!(runs(&scene, "records/c")? == RUNS, "runs are missing");
    }
    scene.assay(&["run", "campaign.toml"])?.expect(&[0])?.says("0 to go")?;
    Ok(())
}
