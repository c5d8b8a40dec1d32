//! Campaigns that play recorded logs: the problems reported for their files, and what their runs play.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

use assay_campaign::registry::SampleKind;
use assay_campaign::{Campaign, Catalog, Plan, PlanContext, Problems, RecordingSource, Registry, RunPaths};
use assay_model::{Metric, Speed, Unit};
use insta::assert_snapshot;

fn registry() -> Registry {
    let metric = |name: &str, unit| Metric { name: name.into(), unit, better: None };
    Registry {
        launchers: vec!["local".into(), "replay".into()],
        platforms: Catalog::embedded().platforms().to_vec(),
        samples: vec![SampleKind {
            name: "cerebras".into(),
            options: vec!["batch-size".into(), "steps".into(), "cache".into()],
        }],
        metrics: vec![
            metric("samples", Unit::Count("samples".into())),
            metric("duration.loop", Unit::Seconds),
        ],
        ..Registry::default()
    }
}

fn planned(text: &str, directory: &Path) -> Result<Plan, Problems> {
    Campaign::parse("c.toml", text, directory, &registry())?.plan(&PlanContext::default())
}

/// Every problem reported for a file, from reading to planning.
fn told_in(text: &str, directory: &Path) -> String {
    match planned(text, directory) {
        Err(problems) => problems.render(false),
        Ok(plan) => plan.warnings.render(false),
    }
}

fn diagnostics(text: &str) -> String {
    told_in(text, Path::new("."))
}

/// What the run of a cell plays.
fn played(plan: &Plan, cell: usize, repeat: u32) -> (RecordingSource, Speed) {
    let paths = RunPaths { assay: Path::new("/assay"), run_directory: Path::new("/run") };
    let recording = plan.invocation(cell, repeat, &paths).unwrap().recording.unwrap();
    (recording.source, recording.speed)
}

const SAMPLE: &str = r#"name = "x"
[vary]
batch_size = [512, 1024]
[replay]
sample = "cerebras"
speed = 60
[replay.options]
batch-size = "{batch_size}"
steps = 200
cache = true
"#;

#[test]
fn a_sample_needs_no_workload_and_gives_every_run_its_own_seed() {
    let plan = planned(SAMPLE, Path::new(".")).unwrap();
    assert!(plan.warnings.is_empty(), "{}", plan.warnings);
    assert_eq!(plan.cells[0].cell.platform, "replay");
    assert_eq!(plan.cells[0].workload, "replay");
    let mut seeds = Vec::new();
    for (cell, batch) in [(0, "512"), (1, "1024")] {
        for repeat in 1..=3 {
            let (RecordingSource::Sample { kind, options, seed }, speed) = played(&plan, cell, repeat) else {
                panic!("not a sample");
            };
            assert_eq!(
                (kind.as_str(), options["batch-size"].as_str(), speed),
                ("cerebras", batch, Speed::Times(60.0))
            );
            assert_eq!((options["steps"].as_str(), options["cache"].as_str()), ("200", "true"));
            assert!(!seeds.contains(&seed));
            seeds.push(seed);
        }
    }
}

#[test]
fn what_is_played_is_part_of_the_point_and_how_fast_is_not() {
    let point = |text: &str| planned(text, Path::new(".")).unwrap().cells[0].cell.point.clone();
    let same = point(SAMPLE);
    assert_eq!(same, point(&SAMPLE.replace("speed = 60", "speed = \"max\"")));
    assert_ne!(same, point(&SAMPLE.replace("steps = 200", "steps = 300")));
}

#[test]
fn logs_are_found_relative_to_the_file_and_by_repeat() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("logs")).unwrap();
    for name in ["bert-8-1.log", "bert-8-2.log", "bert-16-1.log", "bert-16-2.log"] {
        std::fs::write(directory.path().join("logs").join(name), name).unwrap();
    }
    let text = "name = 'x'\n[vary]\nbatch = [8, 16]\n[repeats]\nat_least = 2\n[replay]\nlog = 'logs/bert-{batch}-{repeat}.log'\n";
    let plan = planned(text, directory.path()).unwrap();
    let (RecordingSource::Log { path, name }, speed) = played(&plan, 1, 2) else { panic!("not a log") };
    assert_eq!((name.as_str(), speed), ("logs/bert-16-2.log", Speed::Max));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "bert-16-2.log");
    assert_snapshot!(told_in(&text.replace("at_least = 2", "at_least = 4"), directory.path()));
    assert_snapshot!(told_in(&text.replace("-{repeat}", "-1"), directory.path()));
    std::fs::remove_file(directory.path().join("logs/bert-16-2.log")).unwrap();
    let fewer = "[[repeats.fewer]]\nwhere = 'batch == 16'\nat_least = 1\n[replay]";
    assert_eq!(told_in(&text.replace("[replay]", fewer), directory.path()), "");
}

#[test]
fn mistakes_in_what_is_played() {
    assert_snapshot!(diagnostics("name = 'x'\n[replay]\nlgo = 'a.log'\nspeed = 'fast'\n"));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[replay]\nlog = 'a-{btach}.log'\nsample = 'cerebras'\nspeed = 0\n[vary]\nbatch = [1]\n"
    ));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[replay]\nsample = 'cerebra'\nspeed = true\nof = 'cerebras'\n"
    ));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[repeats]\nat_least = 1\n[replay]\nlog = 'a-{btach}.log'\n[replay.options]\nx = 1\n[vary]\nbatch = [1]\n"
    ));
    assert_snapshot!(diagnostics(&SAMPLE.replace("batch-size =", "batchsize =")));
}

#[test]
fn replays_stand_in_a_campaign_of_their_own() {
    let workload = "name = 'x'\n[workload]\ncommand = 'true'\n";
    assert_snapshot!(diagnostics(&format!("{workload}[run]\nplatforms = ['replay']\n")));
    assert_snapshot!(diagnostics(&format!(
        "{workload}[run]\nplatforms = ['local', 'replay']\n[replay]\nsample = 'cerebras'\n"
    )));
    assert_snapshot!(diagnostics(&format!("{workload}[replay]\nsample = 'cerebras'\n")));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[run]\nplatforms = ['local']\n[replay]\nsample = 'cerebras'\n"
    ));
    assert_snapshot!(diagnostics(&format!(
        "{workload}[run]\nplatforms = ['replay']\n[replay]\nsample = 'cerebras'\n[read]\nfollow = 'a.log'\n"
    )));
}

#[test]
fn a_replay_takes_over_the_limits_of_the_platform_it_stands_for() {
    let text = "name = 'x'\n[vary]\ntasks = [16, 32]\n[replay]\nsample = 'cerebras'\nof = 'sambanova-sn30'\n[replay.options]\nsteps = '{tasks}'\n[resources]\nnodes = 1\ntasks = 'tasks'\ncpus_per_task = 8\n";
    assert_snapshot!(diagnostics(text));
    let without = format!("{text}unfit = 'leave out'\n");
    assert_snapshot!(diagnostics(&without));
    let plan = planned(&without, Path::new(".")).unwrap();
    assert_eq!((plan.cells.len(), plan.excluded), (1, 1));
    assert_eq!(plan.platform(0).unwrap().name, "replay");
    assert_snapshot!(diagnostics(&without.replace("[16, 32]", "[32]")));
    assert_snapshot!(diagnostics(&without.replace("leave out", "drop")));
}

#[test]
fn columns_and_followed_files() {
    let head = "name = 'x'\n[workload]\ncommand = 'job {batch}'\n[vary]\nbatch = [8]\n";
    let text = format!(
        "{head}[report]\ncolumns = ['samples', 'duration.loop']\n[read]\nfollow = ['out-{{batch}}.log', '{{run_directory}}/x']\n"
    );
    let plan = planned(&text, Path::new("/somewhere")).unwrap();
    assert_eq!(plan.layout.columns, ["samples", "duration.loop"]);
    let paths = RunPaths { assay: Path::new("/assay"), run_directory: Path::new("/run") };
    let follow = plan.invocation(0, 1, &paths).unwrap().follow;
    assert_eq!(follow, [Path::new("/somewhere/out-8.log"), Path::new("/run/x")]);
    assert_snapshot!(diagnostics(&format!(
        "{head}[report]\ncolumns = ['sample', 'samples', 'samples']\n[read]\nfollow = ['{{bach}}.log', 3]\n"
    )));
}
