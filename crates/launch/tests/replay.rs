//! Campaigns that play recorded logs, from the file to the record.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_campaign::registry::SampleKind;
use assay_campaign::{Campaign, Catalog, Plan, PlanContext, Registry};
use assay_evidence::Readers;
use assay_judge::gather::gather;
use assay_launch::worker::OutputReader;
use assay_launch::{Ending, Interrupt, LAUNCHERS, LaunchEvent, LaunchOptions, RunSelection, execute};
use assay_model::{Machine, Metric, RunResult, Speed, Status, names};
use assay_store::{Identity, Record, Store};

fn registry() -> Registry {
    Registry {
        launchers: LAUNCHERS.iter().map(|name| (*name).to_owned()).collect(),
        platforms: Catalog::embedded().platforms().to_vec(),
        samples: assay_samples::KINDS
            .iter()
            .map(|kind| SampleKind {
                name: kind.name.to_owned(),
                options: kind.options.iter().map(|option| option.name.to_owned()).collect(),
            })
            .collect(),
        metrics: names::METRICS
            .iter()
            .map(|known| Metric {
                name: known.name.to_owned(),
                unit: names::unit(known.name),
                better: known.better,
            })
            .collect(),
        ..Registry::default()
    }
}

fn options(plan: &Plan, interrupt: Interrupt) -> LaunchOptions {
    let reader = |platform: &assay_model::Platform| {
        let readers = Readers::new(plan.dialect_on(platform), &[], &[]).unwrap();
        (platform.name.clone(), Arc::new(OutputReader { readers, hints: platform.hints.clone() }))
    };
    LaunchOptions {
        jobs: 1,
        only: RunSelection::Missing,
        assay: PathBuf::from("assay"),
        machine: Machine::default(),
        program: "0".into(),
        readers: plan.platforms.iter().map(reader).collect::<BTreeMap<_, _>>(),
        write_sample: |kind, options, seed, out| {
            assay_samples::write(kind, options, seed, None, out).map_err(|error| error.to_string())
        },
        keep_environment: Vec::new(),
        interrupt,
        simulation: None,
    }
}

struct Carried {
    results: Vec<RunResult>,
    ending: Ending,
    took: Duration,
    record: PathBuf,
}

/// Plans a campaign in a directory and carries it out.
fn run_all(text: &str, directory: &Path) -> Carried {
    run_all_until(text, directory, &Interrupt::default(), &|| {})
}

/// The same, with something to do whenever a run starts.
fn run_all_until(text: &str, directory: &Path, interrupt: &Interrupt, started: &dyn Fn()) -> Carried {
    let campaign = Campaign::parse("c.toml", text, directory, &registry()).unwrap();
    let plan = campaign.plan(&PlanContext::default()).unwrap();
    let record = directory.join("record");
    let identity =
        Identity { name: plan.name.clone(), now: 0.0, program: "0".into(), host: "here".into(), pid: 1 };
    std::fs::create_dir_all(&record).unwrap();
    let mut store = Store::open_or_create(&record, &identity).unwrap();
    let mut results = Vec::new();
    let began = Instant::now();
    let outcome = execute(&plan, &mut store, &options(&plan, interrupt.clone()), &mut |event| match event {
        LaunchEvent::Started { .. } => started(),
        LaunchEvent::Finished { result, .. } => results.push(result.clone()),
        _ => {}
    });
    Carried { results, ending: outcome.unwrap().ending, took: began.elapsed(), record }
}

/// The files of a name below a directory.
fn find_all(directory: &Path, name: &str) -> Vec<PathBuf> {
    let mut open = vec![directory.to_owned()];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() == name {
                found.push(path);
            }
        }
    }
    found
}

/// The only file of a name below a directory.
fn find(directory: &Path, name: &str) -> PathBuf {
    let found = find_all(directory, name);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

const LOG: &str = "2024-05-01 10:00:00,000 INFO: preparing\nrate=10\n2024-05-01 10:30:00,000 INFO: half an hour later\nrate=20\n2024-05-01 11:00:00,000 INFO: at the end\nrate=30";

fn campaign(rest: &str) -> String {
    format!("name = 'played'\n[repeats]\nat_least = 1\n[replay]\nlog = 'job.log'\n{rest}")
}

#[test]
fn a_log_is_played_in_full_and_marked_as_such() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("job.log"), LOG).unwrap();
    let carried = run_all(&campaign(""), directory.path());
    let [result] = carried.results.as_slice() else { panic!("one run, not {}", carried.results.len()) };
    assert!(result.status.is_usable(), "{}", result.status);
    assert!(carried.took < Duration::from_secs(600), "{:?}", carried.took);
    let replayed = result.replayed.as_ref().unwrap();
    assert_eq!((replayed.log.as_str(), replayed.generated, replayed.speed), ("job.log", false, Speed::Max));
    // The first line that a dialect reads, by the clock of the log.
    assert_eq!(result.first_metric_s, Some(0.0));
    // What the launcher could measure would be the playing, not the job.
    assert!(result.usage.is_none() && result.first_output_s.is_none());
    assert!(result.observations.iter().all(|found| !found.metric.starts_with("duration.wall")));
    let rate = result.observations.iter().find(|found| found.metric == "rate").unwrap();
    assert_eq!((rate.value, rate.source.as_ref().unwrap().line), (30.0, 6));
    assert_eq!(std::fs::read_to_string(find(&carried.record, "stdout.log")).unwrap(), LOG);
    let output = std::process::Command::new("sh").arg(find(&carried.record, "run.sh")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), LOG);
}

#[test]
fn the_clock_of_the_log_decides_when_lines_come() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("job.log"), LOG).unwrap();
    let carried = run_all(&campaign("speed = 18000\n"), directory.path());
    assert!(carried.took >= Duration::from_millis(200), "{:?}", carried.took);
    assert!(carried.took < Duration::from_secs(600), "{:?}", carried.took);
    assert_eq!(carried.results[0].replayed.as_ref().unwrap().speed, Speed::Times(18_000.0));
    let arrival = std::fs::read_to_string(find(&carried.record, "arrival.tsv")).unwrap();
    let times: Vec<&str> = arrival.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(times, ["0.000000", "1800.000000", "3600.000000"]);
}

#[test]
fn a_timeout_counts_by_the_clock_of_the_log() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("job.log"), LOG).unwrap();
    let text = campaign("speed = 18000\n[run]\ntimeout = '1 h'\n");
    let carried = run_all(&text, directory.path());
    assert_eq!(carried.results[0].status, Status::TimedOut { after_s: 3600.0 });
    let rate = carried.results[0].observations.iter().find(|found| found.metric == "rate").unwrap();
    assert_eq!(rate.value, 20.0);
}

#[test]
fn playing_can_be_interrupted_while_it_waits() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("job.log"), LOG).unwrap();
    let interrupt = Interrupt::default();
    let carried = run_all_until(&campaign("speed = 1\n"), directory.path(), &interrupt, &|| {
        let later = interrupt.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            later.request();
        });
    });
    assert_eq!(carried.ending, Ending::Interrupted);
    assert_eq!(carried.results[0].status, Status::Interrupted);
    assert!(carried.took < Duration::from_secs(600), "{:?}", carried.took);
}

#[test]
fn repeats_of_a_sample_differ_and_the_same_campaign_gives_the_same_again() {
    let text = "name = 'sampled'\n[repeats]\nat_least = 3\n[order]\nseed = 5\n[replay]\nsample = 'metrics'\n";
    let logs = || {
        let directory = tempfile::tempdir().unwrap();
        let carried = run_all(text, directory.path());
        assert!(carried.results.iter().all(|result| result.replayed.as_ref().unwrap().generated));
        let texts = find_all(&carried.record, "stdout.log");
        texts.iter().map(|path| std::fs::read(path).unwrap()).collect::<BTreeSet<_>>()
    };
    let first = logs();
    assert_eq!(first.len(), 3);
    assert_eq!(logs(), first);
}

#[test]
fn cells_with_fewer_repeats_miss_nothing_and_are_marked() {
    let directory = tempfile::tempdir().unwrap();
    let text = "name = 'sampled'\n[vary]\nsize = ['small', 'large']\n[workload]\ncommand = 'echo rate={size}'\n[[repeats.fewer]]\nwhere = \"size == 'large'\"\nat_least = 2\n[repeats]\nat_least = 3\n";
    let counted = |text: &str| {
        let carried = run_all(text, directory.path());
        let index = Record::open(&carried.record).unwrap().index().unwrap();
        let plan = index.summary().unwrap().plan;
        let evidence = gather(&index, "sampled", plan.as_ref(), assay_model::metric::WALL).unwrap();
        let of_cell = |size: &str| {
            let cell = evidence.cells.iter().find(|cell| cell.settings["size"].to_string() == size).unwrap();
            (cell.counts.succeeded, cell.counts.missing, cell.fewer)
        };
        (carried.results.len(), of_cell("small"), of_cell("large"))
    };
    assert_eq!(counted(text), (5, (3, 0, None), (2, 0, Some(2))));
    // Without the entry only the run that is missing is made; with it again, a cell with all its runs is not marked.
    let all = text.replace("size == 'large'", "size == 'none'");
    assert_eq!(counted(&all), (1, (3, 0, None), (3, 0, None)));
    assert_eq!(counted(text), (0, (3, 0, None), (3, 0, None)));
}

#[test]
fn a_log_that_is_gone_fails_its_run_and_says_why() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("job.log"), LOG).unwrap();
    let text = campaign("");
    let campaign = Campaign::parse("c.toml", &text, directory.path(), &registry()).unwrap();
    let plan = campaign.plan(&PlanContext::default()).unwrap();
    std::fs::remove_file(directory.path().join("job.log")).unwrap();
    let identity = Identity { name: "x".into(), now: 0.0, program: "0".into(), host: "here".into(), pid: 1 };
    let record = directory.path().join("record");
    std::fs::create_dir_all(&record).unwrap();
    let mut store = Store::open_or_create(&record, &identity).unwrap();
    let mut stated = String::new();
    execute(&plan, &mut store, &options(&plan, Interrupt::default()), &mut |event| {
        if let LaunchEvent::Finished { result, .. } = event {
            stated = result.status.to_string();
        }
    })
    .unwrap();
    assert!(stated.starts_with("failed to start: job.log: "), "{stated}");
}

#[test]
fn a_job_that_writes_elsewhere_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("named.log"), "rate=1\n").unwrap();
    // The first file exists before and grows; the second comes late and is named by the output alone.
    let command = "echo rate=2 >> named.log; echo Using late.log for output; sleep 0.5; echo loss=3 > late.log; sleep 0.4; echo loss=4 >> late.log";
    let text = format!(
        "name = 'followed'\n[workload]\ncommand = '{command}'\n[repeats]\nat_least = 1\n[read]\nfollow = 'named.log'\n"
    );
    let carried = run_all(&text, directory.path());
    let value = |metric: &str| {
        let found = carried.results[0].observations.iter().find(|found| found.metric == metric).unwrap();
        let source = found.source.as_ref().unwrap();
        (found.value, source.file.clone(), source.line)
    };
    assert_eq!(value("rate"), (2.0, "follow-1.log".to_owned(), 1));
    assert_eq!(value("loss"), (4.0, "follow-2.log".to_owned(), 2));
    assert_eq!(std::fs::read_to_string(find(&carried.record, "follow-2.log")).unwrap(), "loss=3\nloss=4\n");
}
