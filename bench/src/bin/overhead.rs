//! `bench/overhead`: what one run costs, beside other programs that run commands.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::figures::{MedianAndRange, number, table};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::heavy;
use assay_bench::measure::{Cost, cost};
use assay_bench::place::{BenchOptions, Place, heading};
use assay_bench::rivals::{self, ALL, Contender, RUNS};
use clap::Parser;

/// Measures what one run costs: 200 runs of `echo metric=1.0`, with other programs in turn.
#[derive(Debug, Parser)]
#[command(name = "overhead")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// Install the rivals that are missing: packages by apt-get, ReFrame in a Python environment.
    #[arg(long)]
    install: bool,
}

/// CPU milliseconds that a run may cost, the child included.
const GOAL_MS: f64 = 2.0;
/// What `assay bench` may cost, as a multiple of hyperfine with its default shell on the same commands.
const GOAL_RATIO: f64 = 1.1;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("overhead", &arguments.common, &place));
    if arguments.install {
        for trouble in rivals::install(&place) {
            println!("{trouble}");
        }
    }
    let measured = measure(&place, arguments.common.quick)?;
    println!("{RUNS} runs of `echo metric=1.0`; medians and ranges over rounds, all programs in turn\n");
    println!("{}", results(&measured));
    let own = measured.iter().find(|(contender, _)| *contender == Contender::Assay);
    let value = own.and_then(|(_, costs)| cpu_ms(costs)).map(|spread| spread.median);
    let mut goals = Goals::default();
    goals.add("cost of a run", value, "CPU ms", GoalBound::AtMost(GOAL_MS));
    for (name, figure) in [("CPU", cpu_ms as fn(&[Cost]) -> Option<MedianAndRange>), ("wall", wall_ms)] {
        let median = |wanted: Contender| {
            let (_, costs) = measured.iter().find(|(contender, _)| *contender == wanted)?;
            figure(costs).map(|spread| spread.median)
        };
        let ratio = median(Contender::AssayBench)
            .zip(median(Contender::HyperfineShell))
            .map(|(own, rival)| own / rival);
        let name = format!("assay bench / hyperfine with its shell, {name} time");
        goals.add(&name, ratio, "", GoalBound::AtMost(GOAL_RATIO));
    }
    much_output(&place, arguments.common.quick, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}

/// What a run that prints 50 MB may take, as a multiple of the same command with its output stored by `| cat >file`.
const GOAL_PIPED_RATIO: f64 = 1.25;
/// The CPU time that the run itself may take, as a multiple of the same command with its output in a file.
const GOAL_OUTPUT_RATIO: f64 = 1.5;

fn much_output(place: &Place, quick: bool, goals: &mut Goals) -> anyhow::Result<()> {
    let rounds = heavy::rounds(place, if quick { 5 } else { 21 })?;
    let spread = |figure: fn(&heavy::Round) -> f64| {
        MedianAndRange::of(&rounds.iter().map(figure).collect::<Vec<_>>()).map(|spread| spread.scaled(1e3))
    };
    let rows = [
        ("`cat` to a file, wall", spread(|round| round.to_file.wall_s)),
        ("`cat` to `| cat >file`, wall", spread(|round| round.piped.wall_s)),
        ("the same as a run, wall", spread(|round| round.as_run.wall_s)),
        ("`cat` to a file, CPU", spread(|round| round.to_file.cpu_s)),
        ("the same as a run, CPU", spread(|round| round.as_run.cpu_s)),
        ("all of assay run, CPU", spread(|round| round.whole.cpu_s)),
    ];
    let rows = rows.iter().filter_map(|(name, spread)| {
        let spread = spread.as_ref()?;
        Some(vec![(*name).to_owned(), number(spread.median), spread.range()])
    });
    println!("{} MB on standard output, in milliseconds\n", heavy::BYTES / 1_000_000);
    println!("{}", table(&["what", "median", "range"], &rows.collect::<Vec<_>>()));
    for (name, ratio, goal) in [
        (
            "50 MB of output / the same stored by `| cat >file`, wall time of the run",
            spread(|round| round.as_run.wall_s / round.piped.wall_s),
            GOAL_PIPED_RATIO,
        ),
        (
            "50 MB of output / the same to a file, CPU time of the run",
            spread(|round| round.as_run.cpu_s / round.to_file.cpu_s),
            GOAL_OUTPUT_RATIO,
        ),
    ] {
        goals.add(name, ratio.map(|spread| spread.median / 1e3), "", GoalBound::AtMost(goal));
    }
    Ok(())
}

type Measured = Vec<(Contender, Vec<Cost>)>;

/// Measures all contenders in turn, so that a slow minute of the machine touches all of them.
fn measure(place: &Place, quick: bool) -> anyhow::Result<Measured> {
    let rounds = if quick { 3 } else { 12 };
    let mut measured: Measured = Vec::new();
    for contender in ALL {
        match contender.program(place) {
            Some(_) if quick && contender.is_slow() => {
                println!("left out, because this is quick and it is not: {}", contender.name());
            }
            Some(_) => measured.push((contender, Vec::new())),
            None => println!("missing: {}; to install: {}", contender.name(), contender.installation()),
        }
    }
    for round in 1..=rounds {
        for (contender, costs) in &mut measured {
            if round > contender.rounds(rounds) {
                continue;
            }
            let directory = place.fresh("overhead")?;
            let mut command = contender.command(place, &directory)?;
            match cost(&mut command) {
                Ok(cost) => costs.push(cost),
                // A rival that fails is reported, and is no reason not to measure the others.
                Err(error) if ![Contender::Assay, Contender::AssayBench].contains(contender) => {
                    println!("{}: {error}", contender.name())
                }
                Err(error) => return Err(error),
            }
        }
        println!("round {round} of {rounds}");
    }
    println!();
    Ok(measured)
}

fn cpu_ms(costs: &[Cost]) -> Option<MedianAndRange> {
    let seconds: Vec<f64> = costs.iter().map(|cost| cost.cpu_s).collect();
    MedianAndRange::of(&seconds).map(|spread| spread.scaled(1e3 / RUNS as f64))
}

fn wall_ms(costs: &[Cost]) -> Option<MedianAndRange> {
    let seconds: Vec<f64> = costs.iter().map(|cost| cost.wall_s).collect();
    MedianAndRange::of(&seconds).map(|spread| spread.scaled(1e3 / RUNS as f64))
}

fn results(measured: &Measured) -> String {
    let own = measured.iter().find(|(contender, _)| *contender == Contender::Assay);
    let own = own.and_then(|(_, costs)| cpu_ms(costs)).map(|spread| spread.median);
    let row = |(contender, costs): &(Contender, Vec<Cost>)| {
        let (cpu, wall) = (cpu_ms(costs)?, wall_ms(costs)?);
        Some(vec![
            contender.name().to_owned(),
            number(cpu.median),
            cpu.range(),
            number(wall.median),
            wall.range(),
            own.map_or_else(String::new, |own| number(cpu.median / own)),
            costs.len().to_string(),
        ])
    };
    let rows: Vec<Vec<String>> = measured.iter().filter_map(row).collect();
    table(&["program", "CPU ms a run", "range", "wall ms a run", "range", "CPU of assay", "rounds"], &rows)
}
