//! Very many runs over a simulated cluster with faults, through the launcher that Slurm has: every run is made once and
//! recorded once, memory stays bounded, and the scheduler is asked at the same rate however many runs there are.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use assay_campaign::{Campaign, Catalog, PlanContext, Registry};
use assay_evidence::Readers;
use assay_launch::batch::simulator::{Ledger, Simulation};
use assay_launch::worker::OutputReader;
use assay_launch::{Interrupt, LAUNCHERS, LaunchEvent, LaunchOptions, RunSelection, execute};
use assay_model::Machine;
use assay_store::{Identity, Store};

use crate::measure::look;
use crate::place::Place;

/// What a simulated campaign came to.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Runs that were planned.
    pub runs: usize,
    /// Results that were recorded, and distinct runs among them.
    pub recorded: usize,
    pub distinct: usize,
    /// Seconds it took.
    pub wall_s: f64,
    /// What the simulated cluster counted.
    pub ledger: Ledger,
    /// Resident memory of this process when a half and when all runs were recorded, in bytes.
    pub resident_at_half: f64,
    pub resident_at_end: f64,
}

impl Simulated {
    /// Calls of the scheduler in a minute.
    pub fn calls_per_minute(&self) -> f64 {
        (self.ledger.submissions + self.ledger.questions) as f64 * 60.0 / self.wall_s
    }

    /// How many runs were not made and recorded exactly once.
    pub fn wrong(&self) -> usize {
        self.runs.abs_diff(self.recorded)
            + self.runs.abs_diff(self.distinct)
            + (self.runs as u64).abs_diff(self.ledger.completed) as usize
    }
}

const PLATFORM: &str = "slurm-gpu";

/// Makes this many runs over this many simulated nodes.
pub fn run(place: &Place, runs: usize, nodes: usize) -> anyhow::Result<Simulated> {
    let directory = place.fresh("simulated")?;
    let registry = Registry {
        launchers: LAUNCHERS.iter().map(|name| (*name).to_owned()).collect(),
        platforms: Catalog::embedded().platforms().to_vec(),
        ..Registry::default()
    };
    let text = format!(
        "name = 'simulated'\n[workload]\ncommand = 'true {{cell}}'\n[vary]\ncell = [{}]\n[run]\nplatforms = ['{PLATFORM}']\n\
         [platform.{PLATFORM}]\npoll = '100 ms'\nqueued = {}\narray = 100\n[repeats]\nat_least = {}\n\
         [read]\nheadline = 'duration.wall'\n",
        crate::campaign::values(CELLS),
        nodes + nodes / 2,
        runs / CELLS
    );
    let campaign = Campaign::parse("campaign.toml", &text, &directory, &registry)
        .map_err(|error| anyhow!("the campaign is wrong: {error:?}"))?;
    let plan = campaign.plan(&PlanContext::default()).map_err(|error| anyhow!("no plan: {error:?}"))?;
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let options = options(nodes, Arc::clone(&ledger))?;
    let identity =
        Identity { name: plan.name.clone(), now: 0.0, program: "0".into(), host: "here".into(), pid: 1 };
    let record = directory.join("record");
    std::fs::create_dir_all(&record)?;
    let mut store = Store::open_or_create(&record, &identity)?;
    let (mut recorded, mut distinct, mut at_half) = (0, BTreeSet::new(), None);
    let began = Instant::now();
    execute(&plan, &mut store, &options, &mut |event| {
        if let LaunchEvent::Finished { run, cell, result } = event
            && result.status.is_usable()
        {
            recorded += 1;
            distinct.insert((cell as u32, run.repeat));
            if recorded == runs / 2 {
                at_half = look(std::process::id()).ok();
            }
        }
    })?;
    let wall_s = began.elapsed().as_secs_f64();
    let at_end = look(std::process::id())?;
    let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Simulated {
        runs,
        recorded,
        distinct: distinct.len(),
        wall_s,
        ledger,
        resident_at_half: at_half.context("half of the runs were never reached")?.resident_bytes,
        resident_at_end: at_end.resident_bytes,
    })
}

/// Cells of the campaign.
const CELLS: usize = 100;

fn options(nodes: usize, ledger: Arc<Mutex<Ledger>>) -> anyhow::Result<LaunchOptions> {
    let readers = Readers::new("auto", &[], &[]).context("there are no readers")?;
    Ok(LaunchOptions {
        jobs: 1,
        only: RunSelection::Missing,
        assay: PathBuf::from("assay"),
        machine: Machine::default(),
        program: "0".into(),
        readers: [(PLATFORM.to_owned(), Arc::new(OutputReader { readers, hints: Vec::new() }))].into(),
        write_sample: |_, _, _, _| Err("nothing is replayed".to_owned()),
        keep_environment: Vec::new(),
        interrupt: Interrupt::default(),
        simulation: Some(Simulation {
            nodes,
            seed: 20,
            step_s: 30.0,
            duration_s: (5.0, 60.0),
            node_failure: 0.01,
            lost_job: 0.001,
            unanswered: 0.002,
            silence: 0.01,
            ledger,
        }),
    })
}
