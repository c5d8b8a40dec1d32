//! Many runs over a simulated cluster with faults: every run is made to its end once, and recorded once.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use assay_campaign::{Campaign, Catalogue, Context, Registry};
use assay_evidence::Readers;
use assay_launch::batch::simulator::{Ledger, Simulation};
use assay_launch::worker::OutputReader;
use assay_launch::{Ending, Event, Interrupt, LAUNCHERS, LaunchOptions, Only, execute};
use assay_model::Machine;
use assay_store::{Identity, Store};

const RUNS: usize = 1200;

/// The campaign: one cell of many repeats.
fn text() -> String {
    format!(
        "name = 'simulated'\n[workload]\ncommand = 'true'\n[run]\nplatforms = ['slurm-gpu']\n\
         [platform.slurm-gpu]\npoll = '10 ms'\nqueued = 150\narray = 20\npack = 2\n\
         [repeats]\nat_least = {RUNS}\n[read]\nheadline = 'duration.wall'\n"
    )
}

#[test]
fn every_run_is_made_and_recorded_once_whatever_fails() {
    let directory = tempfile::tempdir().unwrap();
    let registry = Registry {
        launchers: LAUNCHERS.iter().map(|name| (*name).to_owned()).collect(),
        platforms: Catalogue::embedded().platforms().to_vec(),
        ..Registry::default()
    };
    let campaign = Campaign::parse("c.toml", &text(), directory.path(), &registry).unwrap();
    let plan = campaign.plan(&Context::default()).unwrap();
    let record = directory.path().join("record");
    std::fs::create_dir_all(&record).unwrap();
    let identity =
        Identity { name: plan.name.clone(), now: 0.0, program: "0".into(), host: "here".into(), pid: 1 };
    let mut store = Store::open_or_create(&record, &identity).unwrap();
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let readers = Readers::new("auto", &[], &[]).unwrap();
    let reader = Arc::new(OutputReader { readers, hints: Vec::new() });
    let options = LaunchOptions {
        jobs: 1,
        only: Only::Missing,
        assay: PathBuf::from("assay"),
        machine: Machine::default(),
        program: "0".into(),
        readers: [("slurm-gpu".to_owned(), reader)].into(),
        write_sample: |_, _, _, _| Err("nothing is replayed".to_owned()),
        keep_environment: Vec::new(),
        interrupt: Interrupt::default(),
        simulation: Some(Simulation {
            nodes: 100,
            seed: 20,
            step_s: 30.0,
            duration_s: (5.0, 60.0),
            node_failure: 0.05,
            lost_job: 0.02,
            unanswered: 0.02,
            silence: 0.05,
            ledger: Arc::clone(&ledger),
        }),
    };
    let (mut recorded, mut repeats) = (0, BTreeSet::new());
    let outcome = execute(&plan, &mut store, &options, &mut |event| {
        if let Event::Finished { run, result, .. } = event {
            assert!(result.status.is_usable(), "{run}: {:?}", result.status);
            recorded += 1;
            repeats.insert(run.repeat);
        }
    });
    assert_eq!(outcome.unwrap().ending, Ending::Complete);
    let ledger = ledger.lock().unwrap().clone();
    assert_eq!((recorded, repeats.len(), ledger.completed), (RUNS, RUNS, RUNS as u64), "{ledger:?}");
    // Every kind of fault did happen.
    assert!(ledger.requeued > 10 && ledger.lost > 3 && ledger.silences > 0, "{ledger:?}");
    // The scheduler knows no more than the queue may hold and what it has not yet forgotten.
    assert!(ledger.most_tasks < 1000, "{ledger:?}");
}
