//! `bench/read`: how fast logs are read, beside other programs that search text.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, ensure};
use assay_bench::figures::{MedianAndRange, number, table};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::measure::{Cost, cost_with_output, peak_of_children};
use assay_bench::place::{BenchOptions, Place, heading};
use assay_bench::reading::logs::{LARGE, Log, make, make_small, warm};
use assay_bench::reading::searchers::{ALL, Searcher};
use assay_bench::reading::truth::{losses, reported};
use clap::Parser;

/// Measures how fast logs are read: large ones beside other programs, and many small ones.
#[derive(Debug, Parser)]
#[command(name = "read")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// Run a command to its end and print the largest resident memory it had, in bytes.
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    peak_of: Vec<OsString>,
}

/// How much work the bench does.
struct Size {
    /// Bytes of a large log.
    bytes: u64,
    rounds: usize,
    /// How many small logs.
    files: usize,
}

const FULL: Size = Size { bytes: 1_000_000_000, rounds: 6, files: 10_000 };
const QUICK: Size = Size { bytes: 100_000_000, rounds: 3, files: 10_000 };

/// Bytes of the log that the memory on a large one is held against.
const MODEST: u64 = 10_000_000;
/// MB/s and core that every kind of log must reach.
const GOAL_RATE: f64 = 500.0;
/// How many times the Python script's rate that must be.
const GOAL_TIMES: f64 = 10.0;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some((program, rest)) = arguments.peak_of.split_first() {
        cost_with_output(Command::new(program).args(rest), &[0])?;
        println!("{}", peak_of_children()?);
        return Ok(ExitCode::SUCCESS);
    }
    let place = Place::new(&arguments.common)?;
    let size = if arguments.common.quick { QUICK } else { FULL };
    println!("{}", heading("read", &arguments.common, &place));
    let searchers = present(&place);
    let mut goals = Goals::default();
    for kind in LARGE {
        large(&place, kind, &size, &searchers, &mut goals)?;
    }
    small(&place, size.files, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}

fn present(place: &Place) -> Vec<Searcher> {
    let mut present = Vec::new();
    for searcher in ALL {
        match searcher.program(place) {
            Some(_) => present.push(searcher),
            None => println!("missing: {}; to install: {}", searcher.name(), searcher.installation()),
        }
    }
    present
}

fn large(
    place: &Place,
    kind: &'static str,
    size: &Size,
    searchers: &[Searcher],
    goals: &mut Goals,
) -> anyhow::Result<()> {
    let directory = place.fresh("read")?;
    let log = make(&directory, kind, size.bytes, 1)?;
    let modest = make(&directory, kind, MODEST, 1)?;
    warm(&log)?;
    check(place, &log)?;
    check(place, &modest)?;
    let measured = measure(place, &log, size.rounds, searchers)?;
    println!("{kind}, {} MB; medians and ranges over rounds, all programs in turn", log.bytes / 1_000_000);
    println!("{}", results(&log, &measured));
    let rate = |wanted: Searcher| {
        let costs = measured.iter().find(|(searcher, _)| *searcher == wanted).map(|(_, costs)| costs)?;
        Some(rates(&log, costs)?.median)
    };
    let own = rate(Searcher::Assay);
    goals.add(format!("reading {kind}"), own, "MB/s and core", GoalBound::AtLeast(GOAL_RATE));
    let times = own.zip(rate(Searcher::Python)).map(|(own, python)| own / python);
    goals.add(format!("reading {kind}, times the Python script"), times, "", GoalBound::AtLeast(GOAL_TIMES));
    let (many, few) = (peak(place, &log.path)?, peak(place, &modest.path)?);
    let most = few * 1.3 + 8e6;
    println!(
        "peak resident memory: {} MB on {} MB, {} MB on {} MB\n",
        number(many / 1e6),
        log.bytes / 1_000_000,
        number(few / 1e6),
        modest.bytes / 1_000_000
    );
    goals.add(
        format!("memory on the large {kind}"),
        many / 1e6,
        "MB",
        GoalBound::AtMost((most / 1e5).round() / 10.0),
    );
    std::fs::remove_file(&log.path)?;
    Ok(())
}

/// Whether the reader finds what a plain scan finds. A fast reader that is wrong is not measured.
fn check(place: &Place, log: &Log) -> anyhow::Result<()> {
    let output = place.assay(Path::new(".")).args(["read", "--json"]).arg(&log.path).output()?;
    ensure!(output.status.success(), "assay read ended with {}", output.status);
    let (reported, truth) = (reported(&output.stdout)?.losses, losses(&log.path, log.kind)?);
    ensure!(
        reported == truth,
        "assay read is wrong about the {} log: it has {} losses and the last is {:?}, not {} and {:?}",
        log.kind,
        truth.count,
        truth.last,
        reported.count,
        reported.last
    );
    Ok(())
}

type Measured = Vec<(Searcher, Vec<Cost>)>;

/// Measures all programs in turn, so that a slow minute of the machine touches all of them.
fn measure(place: &Place, log: &Log, rounds: usize, searchers: &[Searcher]) -> anyhow::Result<Measured> {
    let mut measured: Measured = searchers.iter().map(|&searcher| (searcher, Vec::new())).collect();
    for round in 1..=rounds {
        for (searcher, costs) in &mut measured {
            if round > searcher.rounds(rounds) {
                continue;
            }
            let program = searcher.program(place).context("a program is gone")?;
            let exits: &[i32] = if searcher.may_find_nothing() { &[0, 1] } else { &[0] };
            match cost_with_output(&mut searcher.command(&program, &log.path), exits) {
                Ok(cost) => costs.push(cost),
                // A rival that fails is named, and is no reason not to measure the others.
                Err(error) if *searcher != Searcher::Assay => println!("{}: {error}", searcher.name()),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(measured)
}

/// MB/s of one core: the CPU time counts, not the wall clock.
fn rates(log: &Log, costs: &[Cost]) -> Option<MedianAndRange> {
    let rates: Vec<f64> = costs.iter().map(|cost| log.bytes as f64 / 1e6 / cost.cpu_s).collect();
    MedianAndRange::of(&rates)
}

fn results(log: &Log, measured: &Measured) -> String {
    let row = |(searcher, costs): &(Searcher, Vec<Cost>)| {
        let cpu = rates(log, costs)?;
        let seconds: Vec<f64> = costs.iter().map(|cost| cost.wall_s).collect();
        let wall = MedianAndRange::of(&seconds)?;
        Some(vec![
            searcher.name().to_owned(),
            number(cpu.median),
            cpu.range(),
            number(wall.median),
            wall.range(),
            costs.len().to_string(),
        ])
    };
    let rows: Vec<Vec<String>> = measured.iter().filter_map(row).collect();
    table(&["program", "MB/s and core", "range", "wall s", "range", "rounds"], &rows)
}

/// The largest resident memory of a reading, in bytes. A fresh process of this bench starts it, because the kernel
/// keeps one peak for all children of a process together.
fn peak(place: &Place, file: &Path) -> anyhow::Result<f64> {
    let own = std::env::current_exe()?;
    let output =
        Command::new(own).arg("--peak-of").arg(&place.assay).args(["read", "--json"]).arg(file).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    printed
        .trim()
        .parse()
        .with_context(|| format!("no peak memory: {}", String::from_utf8_lossy(&output.stderr)))
}

fn small(place: &Place, files: usize, goals: &mut Goals) -> anyhow::Result<()> {
    let directory = place.fresh("small")?;
    make_small(&directory, files)?;
    let mut seconds = Vec::new();
    let mut found = 0;
    for _ in 0..3 {
        let began = Instant::now();
        let output = place.assay(&directory).args(["read", "--json", "."]).output()?;
        seconds.push(began.elapsed().as_secs_f64());
        ensure!(output.status.success(), "assay read ended with {}", output.status);
        found = reported(&output.stdout)?.files;
    }
    let spread = MedianAndRange::of(&seconds).context("nothing was measured")?;
    println!("{files} small files: median {} s, range {}, 3 times\n", number(spread.median), spread.range());
    goals.add("small files with their runs found", found as f64, "", GoalBound::AtLeast(files as f64));
    goals.add(format!("{files} small files"), spread.median, "s", GoalBound::Below(5.0));
    Ok(())
}
