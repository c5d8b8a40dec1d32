//! Error rates of real campaigns: `assay run` starts real processes, whose times are judged as those of any user. Equal
//! cells run the same loop; a planted difference is 5 % more of it in one cell.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};
use assay_judge::answer;
use assay_judge::gather::gather;
use assay_random::Random;
use assay_stats::spread;
use assay_stats::welch::welch;
use assay_store::Record;

use super::speed::timed;
use super::time;
use crate::figures::table;
use crate::goal::{GoalBound, Goals};
use crate::measure::cost;
use crate::place::Place;

/// What the slow cell does more.
const PLANTED: f64 = 0.05;
const REPEATS: usize = 12;
/// How long the loop of a run takes, about.
const LOOP_S: f64 = 0.004;

/// One line of the table: how many cells, how many campaigns, and whether the runs print times that are drawn instead of
/// measured, because that many real runs would take too long.
#[derive(Debug)]
pub struct Size {
    /// Cells of each campaign.
    pub cells: usize,
    campaigns: usize,
    drawn: bool,
}

/// All lines of the table.
pub fn sizes(quick: bool) -> [Size; 4] {
    let size = |cells, campaigns, drawn| Size { cells, campaigns, drawn };
    match quick {
        true => [size(2, 4, false), size(5, 3, false), size(20, 1, false), size(100, 1, true)],
        false => [size(2, 30, false), size(5, 20, false), size(20, 10, false), size(100, 4, false)],
    }
}

/// Runs campaigns of equal cells, and of cells of which one is 5 % slower.
pub fn measure(place: &Place, sizes: &[Size], goals: &mut Goals) -> anyhow::Result<()> {
    if sizes.is_empty() {
        return Ok(());
    }
    let steps = calibrated();
    println!(
        "Real campaigns of {REPEATS} repeats, by `assay run`; one cell of A/B does {:.0} % more; counts of campaigns",
        100.0 * PLANTED
    );
    let mut rows = Vec::new();
    for size in sizes {
        let (mut named, mut found, mut students, mut noise) = (0, 0, 0, Vec::new());
        for seed in 0..size.campaigns {
            let equal = campaign(place, size, seed, false, steps)?;
            named += usize::from(equal.losers > 0);
            noise.extend(equal.noise);
            let planted = campaign(place, size, seed, true, steps)?;
            found += usize::from(planted.slow_is_named);
            students += usize::from(planted.slow_by_t_test);
        }
        noise.sort_by(f64::total_cmp);
        let typical = noise.get(noise.len() / 2).copied().unwrap_or(f64::NAN);
        let (all, kind) = (size.campaigns, if size.drawn { "drawn" } else { "measured" });
        rows.push(vec![
            size.cells.to_string(),
            kind.to_owned(),
            format!("{:.1} %", 100.0 * typical),
            format!("{named} of {all}"),
            format!("{found} of {all}"),
            format!("{students} of {all}"),
        ]);
        goals.add(
            format!("live, {} equal cells ({kind} times): campaigns that name a loser, of {all}", size.cells),
            named as f64,
            "",
            GoalBound::AtMost(allowed(all)),
        );
    }
    let columns = ["cells", "times", "noise", "A/A names a loser", "A/B found", "by one t-test alone"];
    println!("{}\n", table(&columns, &rows));
    Ok(())
}

/// The number of campaigns of equal cells that is exceeded by chance in one of a hundred cases at most, at 5 % each.
fn allowed(campaigns: usize) -> f64 {
    let (mut probability, mut sum, mut count) = (0.95_f64.powi(campaigns as i32), 0.0, 0);
    loop {
        sum += probability;
        if sum >= 0.99 || count == campaigns {
            return count as f64;
        }
        probability *= (campaigns - count) as f64 / (count + 1) as f64 * 0.05 / 0.95;
        count += 1;
    }
}

/// What one campaign showed.
struct Shown {
    losers: usize,
    slow_is_named: bool,
    slow_by_t_test: bool,
    noise: Vec<f64>,
}

fn campaign(place: &Place, size: &Size, seed: usize, planted: bool, steps: u64) -> anyhow::Result<Shown> {
    let directory = place.fresh("live")?;
    let own = std::env::current_exe().context("cannot find the path of this bench")?;
    write_campaign(&directory, &own, size, seed, planted, steps)?;
    cost(place.assay(&directory).args(["run", "live.toml", "--quiet"]))?;
    let record = Record::open(&directory.join("records/live"))?;
    let index = record.index()?;
    let summary = index.summary()?;
    let evidence = gather(&index, &summary.name, summary.plan.as_ref(), "loop")?;
    let runs: usize = evidence.cells.iter().map(|cell| cell.values.len()).sum();
    ensure!(runs == size.cells * REPEATS, "{runs} of {} runs have a time", size.cells * REPEATS);
    let judged = answer(&evidence, &["cell".to_owned()], usize::MAX);
    // Rows stand in the order of the setting, so that the slow cell is the first.
    let slow = evidence.cells.iter().find(|cell| cell.settings.get("cell") == Some(&0.into()));
    let other = evidence.cells.iter().find(|cell| cell.settings.get("cell") == Some(&1.into()));
    let by_t_test = slow.zip(other).and_then(|(slow, other)| welch(&slow.values, &other.values));
    Ok(Shown {
        losers: judged.rows.len() - judged.may_be_best.len(),
        slow_is_named: !judged.may_be_best.contains(&0),
        slow_by_t_test: by_t_test.is_some_and(|test| test.p < 0.05 && test.statistic > 0.0),
        noise: evidence
            .cells
            .iter()
            .filter_map(|cell| spread(&cell.values)?.coefficient_of_variation)
            .collect(),
    })
}

fn write_campaign(
    directory: &Path,
    own: &Path,
    size: &Size,
    seed: usize,
    planted: bool,
    steps: u64,
) -> anyhow::Result<()> {
    let cells: Vec<String> = (0..size.cells).map(|cell| cell.to_string()).collect();
    let planted = if planted { PLANTED } else { 0.0 };
    let kind = if size.drawn { " --drawn" } else { "" };
    let text = format!(
        "name = \"live\"\n\n[workload]\ncommand = \"{} --loop {steps} --cell {{cell}} --planted {planted} --draw {{seed}}{kind}\"\n\
         shell = \"none\"\n\n[vary]\ncell = [{}]\n\n[repeats]\nat_least = {REPEATS}\n\n[order]\nseed = {seed}\n\n\
         [read]\nheadline = \"loop\"\n\n[[read.metric]]\nname = \"loop\"\nunit = \"s\"\nbetter = \"lower\"\n",
        own.display(),
        cells.join(", ")
    );
    Ok(std::fs::write(directory.join("live.toml"), text)?)
}

/// What a run of such a campaign does: a loop, and one line with the CPU seconds it took. Wall time on a shared machine is
/// that of the neighbors.
pub fn run(steps: u64, cell: u64, planted: f64, draw: u64, drawn: bool) -> anyhow::Result<()> {
    let factor = if cell == 0 { 1.0 + planted } else { 1.0 };
    let seconds = if drawn {
        time(&mut Random::stream(draw ^ (cell << 32), "judge live"), LOOP_S * factor)
    } else {
        timed(|| std::hint::black_box(work((steps as f64 * factor) as u64)))?.0
    };
    println!("loop={seconds:.9}");
    Ok(())
}

/// Arithmetic that depends on itself, so that it cannot be shortened.
fn work(steps: u64) -> u64 {
    let mut state = std::hint::black_box(1_u64);
    for _ in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    state
}

/// The steps that take [`LOOP_S`] here.
fn calibrated() -> u64 {
    const TRIED: u64 = 2_000_000;
    let fastest = (0..5).map(|_| {
        let began = Instant::now();
        std::hint::black_box(work(TRIED));
        began.elapsed().as_secs_f64()
    });
    let fastest = fastest.fold(f64::INFINITY, f64::min).max(1e-9);
    (TRIED as f64 * LOOP_S / fastest) as u64
}
