//! `bench/cluster`: what campaigns through a scheduler cost, against a shell loop and ReFrame; very many runs over a
//! simulated cluster; ranks over MPI.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::path::PathBuf;
use std::process::ExitCode;

use assay_bench::cluster::jobs::{self, Taken};
use assay_bench::cluster::slurm::Slurm;
use assay_bench::cluster::{ranks, simulated};
use assay_bench::figures::{MedianAndRange, number, table};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::place::{BenchOptions, Place, heading};
use clap::{Parser, ValueEnum};

/// Measures campaigns through a scheduler.
#[derive(Debug, Parser)]
#[command(name = "cluster")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// A build with the feature `mpi`; without one, ranks are not measured.
    #[arg(long, value_name = "FILE")]
    with_mpi: Option<PathBuf>,
    /// Measure one part only.
    #[arg(long)]
    only: Option<Part>,
}

/// A part of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Jobs of one second through a real Slurm.
    Jobs,
    /// Many runs over a simulated cluster.
    Simulated,
    /// Two MPI ranks against two threads.
    Ranks,
}

/// How much work the bench does.
struct Size {
    /// Jobs of one second.
    jobs: usize,
    /// Runs that share a job: all slots are filled once.
    pack: usize,
    /// Runs over the simulated cluster, and its nodes.
    simulated: (usize, usize),
    /// Pairs of trainings, and iterations of each.
    trainings: (usize, u64),
}

const FULL: Size = Size { jobs: 500, pack: 63, simulated: (100_000, 1000), trainings: (9, 60) };
const QUICK: Size = Size { jobs: 40, pack: 5, simulated: (5000, 500), trainings: (2, 20) };

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    let size = if arguments.common.quick { QUICK } else { FULL };
    println!("{}", heading("cluster", &arguments.common, &place));
    let mut goals = Goals::default();
    let wanted = |part| arguments.only.is_none_or(|only| only == part);
    if wanted(Part::Jobs) {
        measure_jobs(&place, &size, arguments.common.quick, &mut goals)?;
    }
    if wanted(Part::Simulated) {
        measure_simulated(&place, &size, &mut goals)?;
    }
    if wanted(Part::Ranks) {
        measure_ranks(&place, arguments.with_mpi.as_deref(), &size, &mut goals)?;
    }
    println!("{goals}");
    Ok(goals.exit())
}

fn measure_jobs(place: &Place, size: &Size, quick: bool, goals: &mut Goals) -> anyhow::Result<()> {
    println!("\n{} jobs of one second, {} slots, a real Slurm on this machine", size.jobs, jobs::SLOTS);
    let slurm = match Slurm::start() {
        Ok(slurm) => slurm,
        Err(error) => {
            println!("not measured: {error}");
            goals.add("jobs through Slurm, parts not measured", 1.0, "", GoalBound::AtMost(0.0));
            return Ok(());
        }
    };
    let packed = jobs::assay(place, &slurm, size.jobs, size.pack)?;
    let unpacked = jobs::assay(place, &slurm, size.jobs, 1)?;
    let fewer = jobs::assay(place, &slurm, size.jobs / 4, 1)?;
    let mut all = vec![
        (format!("assay run, pack = {}", size.pack), packed),
        ("assay run, one job a run".to_owned(), unpacked),
        (format!("assay run, {} jobs", size.jobs / 4), fewer),
    ];
    if !quick {
        all.push(("sh loop of sbatch".to_owned(), jobs::shell_loop(place, &slurm, size.jobs)?));
        match jobs::reframe(place, &slurm, size.jobs)? {
            Some(taken) => all.push(("ReFrame, async, max_jobs = 500".to_owned(), taken)),
            None => println!("ReFrame is missing: python3 -m venv VENV && VENV/bin/pip install ReFrame-HPC"),
        }
    }
    let row = |(name, taken): &(String, Taken)| {
        let Taken { cost, calls, .. } = taken;
        let numbers =
            [cost.wall_s, taken.overhead_s(), taken.own_cpu_ms(), taken.cpu_ms(), taken.calls_per_minute()];
        let mut row = vec![name.clone()];
        row.extend(numbers.map(number));
        row.push(calls.to_string());
        row
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let header = [
        "by",
        "makespan s",
        "overhead s per run",
        "own CPU ms per run",
        "with its commands",
        "calls per minute",
        "calls",
    ];
    println!("{}", table(&header, &rows));
    for (name, taken) in [("packed", packed), ("one job a run", unpacked)] {
        goals.add(
            format!("CPU of the coordinator a run, {name}"),
            taken.own_cpu_ms(),
            "ms",
            GoalBound::AtMost(3.0),
        );
    }
    let ratio = packed.overhead_s() / unpacked.overhead_s();
    goals.add("overhead a run, packed against unpacked", ratio, "", GoalBound::AtMost(0.1));
    let ratio = unpacked.calls_per_minute() / fewer.calls_per_minute();
    goals.add("scheduler calls per minute, four times the jobs", ratio, "x", GoalBound::AtMost(1.2));
    Ok(())
}

fn measure_simulated(place: &Place, size: &Size, goals: &mut Goals) -> anyhow::Result<()> {
    let (runs, nodes) = size.simulated;
    println!("\nsimulated cluster: {runs} runs over {nodes} nodes, with failures, requeues and lost answers");
    let fewer = simulated::run(place, runs / 10, nodes)?;
    let all = simulated::run(place, runs, nodes)?;
    println!("{:?}", all.ledger);
    println!(
        "{} s, {} scheduler calls per minute ({} with a tenth of the runs), resident {} MB at half, {} MB at the end",
        number(all.wall_s),
        number(all.calls_per_minute()),
        number(fewer.calls_per_minute()),
        number(all.resident_at_half / 1e6),
        number(all.resident_at_end / 1e6)
    );
    let wrong = (all.wrong() + fewer.wrong()) as f64;
    goals.add(
        format!("of {runs} simulated runs, not made and recorded once"),
        wrong,
        "",
        GoalBound::AtMost(0.0),
    );
    let growth = (all.resident_at_end - all.resident_at_half) / (runs as f64 / 2.0) / 1e3;
    goals.add("memory of a finished simulated run", growth, "kB", GoalBound::AtMost(1.0));
    let ratio = all.calls_per_minute() / fewer.calls_per_minute();
    goals.add("scheduler calls per minute, ten times the simulated runs", ratio, "x", GoalBound::AtMost(1.2));
    Ok(())
}

fn measure_ranks(
    place: &Place,
    with_mpi: Option<&std::path::Path>,
    size: &Size,
    goals: &mut Goals,
) -> anyhow::Result<()> {
    println!("\ntwo MPI ranks against two threads of one process");
    let Some(with_mpi) = with_mpi else {
        println!("not measured: there is no build with MPI (apt-get install libopenmpi-dev libclang-dev)");
        goals.add("two MPI ranks against two threads", None, "", GoalBound::AtLeast(0.95));
        return Ok(());
    };
    let (pairs, iterations) = size.trainings;
    let (mut ratios, mut worst) = (Vec::new(), 0.0f64);
    for _ in 0..pairs {
        let threads = ranks::threads(&place.assay, iterations)?;
        let processes = ranks::processes(with_mpi, iterations)?;
        ratios.push(processes.tokens_per_s / threads.tokens_per_s);
        worst = worst.max((processes.final_loss / threads.final_loss - 1.0).abs());
    }
    let spread = MedianAndRange::of(&ratios);
    if let Some(spread) = &spread {
        println!(
            "tokens/s, processes / threads: median {}, range {}, {pairs} pairs",
            number(spread.median),
            spread.range()
        );
    }
    goals.add(
        "two MPI ranks against two threads",
        spread.map(|spread| spread.median),
        "",
        GoalBound::AtLeast(0.95),
    );
    goals.add("their final losses differ by", worst, "", GoalBound::AtMost(1e-5));
    Ok(())
}
