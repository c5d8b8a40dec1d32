//! Many runs over a simulated cluster with faults: every run is made to its end once, and recorded once.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assay_campaign::{Campaign, Catalog, PlanContext, Registry};
use assay_evidence::Readers;
use assay_launch::batch::simulator::{Ledger, Simulation};
use assay_launch::worker::OutputReader;
use assay_launch::{Ending, Interrupt, LAUNCHERS, LaunchEvent, LaunchOptions, RunSelection, execute};
use assay_model::Machine;
use assay_store::{Identity, Store};

/// A launcher that waits for what never comes fails its test after this long.
const PATIENCE: Duration = Duration::from_secs(300);

/// The campaign: one cell of many repeats.
fn text(runs: usize, settings: &str) -> String {
    format!(
        "name = 'simulated'\n[workload]\ncommand = 'true'\n[run]\nplatforms = ['slurm-gpu']\n\
         [platform.slurm-gpu]\npoll = '10 ms'\n{settings}\n\
         [repeats]\nat_least = {runs}\n[read]\nheadline = 'duration.wall'\n"
    )
}

/// A cluster that works.
fn cluster() -> Simulation {
    Simulation {
        nodes: 100,
        seed: 20,
        step_s: 30.0,
        duration_s: (5.0, 60.0),
        node_failure: 0.0,
        lost_job: 0.0,
        unanswered: 0.0,
        silence: 0.0,
        ledger: Arc::default(),
    }
}

/// Makes the runs of a campaign; every one must be made and recorded once.
fn make(runs: usize, settings: &str, simulation: Simulation) -> Ledger {
    let directory = tempfile::tempdir().unwrap();
    let registry = Registry {
        launchers: LAUNCHERS.iter().map(|name| (*name).to_owned()).collect(),
        platforms: Catalog::embedded().platforms().to_vec(),
        ..Registry::default()
    };
    let campaign = Campaign::parse("c.toml", &text(runs, settings), directory.path(), &registry).unwrap();
    let plan = campaign.plan(&PlanContext::default()).unwrap();
    let record = directory.path().join("record");
    std::fs::create_dir_all(&record).unwrap();
    let identity =
        Identity { name: plan.name.clone(), now: 0.0, program: "0".into(), host: "here".into(), pid: 1 };
    let mut store = Store::open_or_create(&record, &identity).unwrap();
    let ledger = Arc::clone(&simulation.ledger);
    let readers = Readers::new("auto", &[], &[]).unwrap();
    let reader = Arc::new(OutputReader { readers, hints: Vec::new() });
    let options = LaunchOptions {
        jobs: 1,
        only: RunSelection::Missing,
        assay: PathBuf::from("assay"),
        machine: Machine::default(),
        program: "0".into(),
        readers: [("slurm-gpu".to_owned(), reader)].into(),
        write_sample: |_, _, _, _| Err("nothing is replayed".to_owned()),
        keep_environment: Vec::new(),
        interrupt: Interrupt::default(),
        simulation: Some(simulation),
    };
    let interrupt = options.interrupt.clone();
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        interrupt.request();
    });
    let (mut recorded, mut repeats) = (0, BTreeSet::new());
    let outcome = execute(&plan, &mut store, &options, &mut |event| {
        if let LaunchEvent::Finished { run, result, .. } = event {
            assert!(result.status.is_usable(), "{run}: {:?}", result.status);
            recorded += 1;
            repeats.insert(run.repeat);
        }
    });
    let ledger = ledger.lock().unwrap().clone();
    assert_eq!(outcome.unwrap().ending, Ending::Complete, "{recorded} of {runs}: {ledger:?}");
    assert_eq!((recorded, repeats.len(), ledger.completed), (runs, runs, runs as u64), "{ledger:?}");
    ledger
}

#[test]
fn every_run_is_made_and_recorded_once_whatever_fails() {
    let faulty =
        Simulation { node_failure: 0.05, lost_job: 0.02, unanswered: 0.02, silence: 0.05, ..cluster() };
    let ledger = make(1200, "queued = 150\narray = 20\npack = 2", faulty);
    assert!(ledger.requeued > 10 && ledger.lost > 3, "{ledger:?}");
    // The scheduler knows no more than the queue may hold and what it has not yet forgotten.
    assert!(ledger.most_tasks < 1000, "{ledger:?}");
}

#[test]
fn submissions_without_an_answer_hold_up_nothing_whether_they_went_through_or_not() {
    // Every submission takes all that waits, so that nothing is left to try again where it went through.
    let ledger = make(20, "queued = 2\narray = 2", Simulation { unanswered: 0.4, ..cluster() });
    assert!(ledger.unanswered > 2, "{ledger:?}");
}

#[test]
fn a_controller_that_is_often_silent_loses_nothing() {
    let ledger = make(60, "queued = 20\narray = 5", Simulation { silence: 0.5, ..cluster() });
    assert!(ledger.silences > 2, "{ledger:?}");
}
