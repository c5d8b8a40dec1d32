//! `bench/scale`: whether many runs, cells and entries stay cheap.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, ensure};
use assay_bench::campaign::matrix;
use assay_bench::figures::{MedianAndRange, number, table};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::measure::{Look, cost, look};
use assay_bench::place::{BenchOptions, Place, heading};
use assay_bench::records::large_record_in;
use clap::Parser;

/// Measures whether many runs, cells and entries stay cheap.
#[derive(Debug, Parser)]
#[command(name = "scale")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
}

/// How much work the bench does.
struct Size {
    /// Cells of the long campaign.
    cells: usize,
    /// Repeats of each.
    repeats: usize,
    /// Runs between two looks at the process.
    window: usize,
    /// Times that short commands are measured.
    times: usize,
}

const FULL: Size = Size { cells: 1000, repeats: 20, window: 1000, times: 5 };
const QUICK: Size = Size { cells: 500, repeats: 4, window: 500, times: 3 };

/// Cells of the large plan: a matrix of 100 by 1000.
const PLAN: (usize, usize) = (100, 1000);
/// Cells and runs per cell of the large record.
const RECORD: (usize, u32) = (1000, 100);
/// A command that costs next to nothing, so that the coordinator's own cost shows.
const COMMAND: &str = ":";

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    let size = if arguments.common.quick { QUICK } else { FULL };
    println!("{}", heading("scale", &arguments.common, &place));
    let mut goals = Goals::default();
    start_up(&place, &mut goals)?;
    large_plan(&place, &size, &mut goals)?;
    large_record(&place, &size, &mut goals)?;
    long_campaign(&place, &size, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}

/// The spread of the wall-clock seconds of a command.
fn wall(times: usize, mut measure: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<MedianAndRange> {
    let seconds = (0..times).map(|_| measure()).collect::<anyhow::Result<Vec<f64>>>()?;
    MedianAndRange::of(&seconds).context("nothing was measured")
}

fn report(what: &str, spread: MedianAndRange, unit: &str, times: usize) {
    println!("{what}: median {} {unit}, range {}, {times} times", number(spread.median), spread.range());
}

fn start_up(place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let directory = place.fresh("start-up")?;
    let times = 50;
    let spread = wall(times, || Ok(cost(place.assay(&directory).arg("--version"))?.wall_s))?.scaled(1e3);
    report("assay --version", spread, "ms", times);
    goals.add("start-up", spread.median, "ms", GoalBound::Below(10.0));
    Ok(())
}

fn large_plan(place: &Place, size: &Size, goals: &mut Goals) -> anyhow::Result<()> {
    let directory = place.fresh("plan")?;
    let (a, b) = PLAN;
    fs::write(directory.join("campaign.toml"), matrix("large", COMMAND, a, b, 1))?;
    let spread =
        wall(size.times, || Ok(cost(place.assay(&directory).args(["plan", "campaign.toml"]))?.wall_s))?;
    report(&format!("assay plan, {} cells", a * b), spread, "s", size.times);
    goals.add(format!("plan of {} cells", a * b), spread.median, "s", GoalBound::Below(1.0));
    Ok(())
}

fn large_record(place: &Place, size: &Size, goals: &mut Goals) -> anyhow::Result<()> {
    let directory = place.fresh("record")?;
    let record = large_record_in(place, &directory, RECORD)?;
    let runs = RECORD.0 * RECORD.1 as usize;
    let show = || Ok(cost(place.assay(&directory).arg("show").arg(&record))?.wall_s);
    let first = show()?;
    println!("first assay show, {runs} runs, makes the index: {} s", number(first));
    let spread = wall(size.times, show)?;
    report(&format!("assay show, {runs} runs"), spread, "s", size.times);
    goals.add(format!("show of {runs} runs"), spread.median, "s", GoalBound::Below(1.0));
    let root = record.parent().unwrap_or(&directory);
    let list = || Ok(cost(place.assay(&directory).args(["list", "--root"]).arg(root))?.wall_s);
    let spread = wall(size.times, list)?;
    report(&format!("assay list, {runs} runs"), spread, "s", size.times);
    goals.add(format!("list of {runs} runs"), spread.median, "s", GoalBound::Below(1.0));
    Ok(())
}

/// A look at the coordinator after a number of runs.
struct Sample {
    runs: usize,
    look: Look,
}

fn long_campaign(place: &Place, size: &Size, goals: &mut Goals) -> anyhow::Result<()> {
    let runs = size.cells * size.repeats;
    println!("\n{runs} runs of `{COMMAND}`, {} cells, {} repeats each", size.cells, size.repeats);
    let samples = watch_campaign(place, size)?;
    let per_run = |pair: &[Sample]| match pair {
        [before, after] => (after.look.cpu_s - before.look.cpu_s) * 1e3 / (after.runs - before.runs) as f64,
        _ => f64::NAN,
    };
    let windows: Vec<f64> = samples.windows(2).map(per_run).collect();
    let rows: Vec<Vec<String>> = samples
        .iter()
        .skip(1)
        .zip(&windows)
        .map(|(sample, cost)| {
            vec![sample.runs.to_string(), number(*cost), number(sample.look.resident_bytes / 1e6)]
        })
        .collect();
    println!("{}", table(&["runs", "CPU ms a run", "resident MB"], &rows));
    let (first, last) = (windows.first().context("no windows")?, windows.last().context("no windows")?);
    let drift = (last / first - 1.0) * 100.0;
    println!("CPU ms a run: first {} runs {}, last {}", size.window, number(*first), number(*last));
    goals.add(
        format!("growth of the cost of a run, last {0} against first {0} runs", size.window),
        drift,
        "%",
        GoalBound::AtMost(10.0),
    );
    memory_goal(&samples, runs, goals)
}

fn memory_goal(samples: &[Sample], runs: usize, goals: &mut Goals) -> anyhow::Result<()> {
    let early =
        samples.iter().find(|sample| sample.runs >= runs / 10 && sample.runs > 0).context("no samples")?;
    let late = samples.last().context("no samples")?;
    let growth = late.look.resident_bytes - early.look.resident_bytes;
    let kilobytes = growth / 1e3 / (late.runs - early.runs).max(1) as f64;
    println!(
        "resident memory: {} MB after {} runs, {} MB after {}; {} KB a run\n",
        number(early.look.resident_bytes / 1e6),
        early.runs,
        number(late.look.resident_bytes / 1e6),
        late.runs,
        number(kilobytes)
    );
    let most = f64::max(20.0, early.look.resident_bytes / 1e6 * 0.1).round();
    goals.add("growth of the memory", growth / 1e6, "MB", GoalBound::AtMost(most));
    Ok(())
}

/// Runs the long campaign and looks at the coordinator as it reports finished runs.
fn watch_campaign(place: &Place, size: &Size) -> anyhow::Result<Vec<Sample>> {
    let directory = place.fresh("long")?;
    let text = matrix("long", COMMAND, size.cells / 20, 20, size.repeats);
    fs::write(directory.join("campaign.toml"), text)?;
    let mut child = place
        .assay(&directory)
        .args(["run", "campaign.toml"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let messages = child.stderr.take().context("no standard error")?;
    let pid = child.id();
    let mut samples = Vec::new();
    let mut finished = 0;
    for line in BufReader::new(messages).lines() {
        if !line?.starts_with('[') {
            continue;
        }
        if finished == 0 {
            // The first run's own cost is in this look already; it counts for none of the windows.
            samples.push(Sample { runs: 1, look: look(pid)? });
        }
        finished += 1;
        if finished % size.window == 0 {
            samples.push(Sample { runs: finished, look: look(pid)? });
        }
    }
    let status = child.wait()?;
    let runs = size.cells * size.repeats;
    ensure!(
        status.success() && finished == runs,
        "assay run ended with {status} after {finished} of {runs} runs"
    );
    Ok(samples)
}
