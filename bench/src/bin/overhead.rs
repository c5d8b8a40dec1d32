//! `bench/overhead`: what one run costs, beside other programs that run commands.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::figures::{Spread, number, table};
use assay_bench::goal::{Bound, Goals};
use assay_bench::measure::{Cost, cost};
use assay_bench::place::{Options, Place, heading};
use assay_bench::rivals::{self, ALL, Contender, RUNS};
use clap::Parser;

/// Measures what one run costs: 200 runs of `echo metric=1.0`, with other programs in turn.
#[derive(Debug, Parser)]
#[command(name = "overhead")]
struct Arguments {
    #[command(flatten)]
    common: Options,
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
    goals.add("cost of a run", value, "CPU ms", Bound::AtMost(GOAL_MS));
    for (name, figure) in [("CPU", cpu_ms as fn(&[Cost]) -> Option<Spread>), ("wall", wall_ms)] {
        let median = |wanted: Contender| {
            let (_, costs) = measured.iter().find(|(contender, _)| *contender == wanted)?;
            figure(costs).map(|spread| spread.median)
        };
        let ratio = median(Contender::AssayBench)
            .zip(median(Contender::HyperfineShell))
            .map(|(own, rival)| own / rival);
        let name = format!("assay bench / hyperfine with its shell, {name} time");
        goals.add(&name, ratio, "", Bound::AtMost(GOAL_RATIO));
    }
    println!("{goals}");
    Ok(goals.exit())
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

fn cpu_ms(costs: &[Cost]) -> Option<Spread> {
    let seconds: Vec<f64> = costs.iter().map(|cost| cost.cpu_s).collect();
    Spread::of(&seconds).map(|spread| spread.scaled(1e3 / RUNS as f64))
}

fn wall_ms(costs: &[Cost]) -> Option<Spread> {
    let seconds: Vec<f64> = costs.iter().map(|cost| cost.wall_s).collect();
    Spread::of(&seconds).map(|spread| spread.scaled(1e3 / RUNS as f64))
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
