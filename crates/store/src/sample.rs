//! Entries for tests.

use assay_model::{
    CellId, CurrentPlan, Entry, Failure, Layout, Machine, Observation, Origin, PlannedCell, RunId, RunResult,
    SCHEMA_VERSION, Scope, Series, Settings, Source, Status, Unit, Usage, Value,
};
use proptest::prelude::*;

pub(crate) fn record() -> Entry {
    let (name, program) = ("nightly".into(), "0.1.0".into());
    Entry::Record { schema: SCHEMA_VERSION, name, at: 1_772_368_496.5, program }
}

pub(crate) fn session(at: f64) -> Entry {
    let machine = Box::new(Machine { host: "here".into(), cpus: Some(2), ..Machine::default() });
    let environment = [("HOME".to_owned(), "/home/somebody".to_owned())].into();
    Entry::Session { at, pid: 4711, machine, environment, directory: "/tmp".into(), program: "0.1.0".into() }
}

pub(crate) fn cell(number: u32) -> CellId {
    format!("{number:016x}@local").parse().unwrap()
}

pub(crate) fn run(number: u32, repeat: u32, attempt: u32) -> RunId {
    RunId { cell: cell(number), repeat, attempt }
}

pub(crate) fn plan(add: &[u32], drop: &[u32]) -> Entry {
    let planned = |number: &u32| {
        let settings: Settings = [
            ("batch".to_owned(), Value::Integer(i64::from(*number) * 8)),
            ("rate".to_owned(), Value::Float(0.1 * f64::from(*number))),
            ("fused".to_owned(), Value::Switch(number.is_multiple_of(2))),
            ("shape".to_owned(), Value::Text(format!("{number}, \"wide\""))),
        ]
        .into();
        PlannedCell { cell: cell(*number), workload: "lm".into(), settings }
    };
    let plan = CurrentPlan {
        hash: "abc".into(),
        question: "which batch is fastest?".into(),
        headline: "rate.train".into(),
        seed: u64::MAX,
        campaign: "question = \"which\"\n".into(),
        repeats: 6,
        precision: None,
        fewer: Vec::new(),
        varied: vec!["batch".into()],
        metrics: Vec::new(),
        gates: Vec::new(),
        layout: Layout::default(),
    };
    Entry::Plan {
        plan: Box::new(plan),
        add: add.iter().map(planned).collect(),
        drop: drop.iter().map(|number| cell(*number)).collect(),
    }
}

pub(crate) fn launching(run: &RunId) -> Entry {
    Entry::Launching { run: run.clone(), at: 10.5, directory: crate::relative_run_directory(run) }
}

pub(crate) fn started(run: &RunId) -> Entry {
    Entry::Started { run: run.clone(), pid: 99, start_ticks: 1234, boot: "boot".into() }
}

pub(crate) fn finished(run: &RunId, status: Status, value: f64) -> Entry {
    let observation = |metric: &str, value, unit, origin| Observation {
        scope: Some(Scope::Loop),
        source: Some(Source::new("stdout.log", 7)),
        ..Observation::new(metric, value, unit, origin)
    };
    let rate = Unit::PerSecond("samples".into());
    let result = RunResult {
        status,
        started_at: 11.25,
        usage: Some(Usage {
            wall_s: 0.1 + 0.2,
            user_s: 1.5,
            system_s: 0.25,
            peak_resident_bytes: 1 << 40,
            peak_group_bytes: None,
        }),
        stdout_bytes: 12,
        stderr_bytes: 0,
        observations: vec![
            observation("rate.train", value / 2.0, rate.clone(), Origin::Reported),
            observation("rate.train", value, rate, Origin::Reported),
            Observation {
                scope: None,
                source: None,
                ..observation("duration.wall", 0.3, Unit::Seconds, Origin::Measured)
            },
        ],
        series: vec![Series {
            metric: "loss".into(),
            unit: Unit::One,
            values: vec![value, 1.0 / 3.0, 5e-324],
            seen: 9,
            ..Series::default()
        }],
        hints: vec!["look at \"this\"".into()],
        ..RunResult::bare(Status::Unknown, 0.0)
    };
    Entry::Finished { run: run.clone(), result: Box::new(result) }
}

pub(crate) fn exit(code: i32) -> Status {
    Status::Failed { failure: Failure::Exit { code } }
}

/// Any entry that can follow a record line, about few cells so that entries meet.
pub(crate) fn any_entry() -> impl Strategy<Value = Entry> {
    let any_run =
        (0..3_u32, 1..4_u32, 1..4_u32).prop_map(|(cell, repeat, attempt)| run(cell, repeat, attempt));
    let any_status = prop_oneof![
        4 => Just(Status::Succeeded),
        1 => (0..3).prop_map(exit),
        1 => Just(Status::TimedOut { after_s: 2.5 }),
        1 => Just(Status::Interrupted),
    ];
    let cells = || prop::collection::vec(0..4_u32, 0..3);
    prop_oneof![
        1 => (0.0..1e9).prop_map(session),
        1 => (cells(), cells()).prop_map(|(add, drop)| plan(&add, &drop)),
        4 => any_run.clone().prop_map(|run| launching(&run)),
        2 => any_run.clone().prop_map(|run| started(&run)),
        6 => (any_run, any_status, -1e300..1e300).prop_map(|(run, status, value)| finished(&run, status, value)),
    ]
}

/// Appends entries to the journal of a record, made if it is not there yet.
pub(crate) fn append_all(directory: &std::path::Path, entries: &[Entry]) {
    use std::io::Write;
    let path = directory.join(crate::layout::JOURNAL);
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    let mut line = Vec::new();
    for entry in entries {
        crate::journal::encode(entry, &mut line).unwrap();
        file.write_all(&line).unwrap();
    }
}
