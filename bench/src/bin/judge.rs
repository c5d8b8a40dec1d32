//! `bench/judge`: how often tables call noise a difference and a difference noise, whether intervals cover as often as
//! they claim, and how fast all this is.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::goal::Goals;
use assay_bench::judge::{coverage, live, rates, speed};
use assay_bench::place::{BenchOptions, Place};
use clap::Parser;

/// Simulates tables of equal and of different cells, and the coverage of intervals; runs real campaigns of such cells;
/// measures speeds on one core.
#[derive(Debug, Parser)]
#[command(name = "judge")]
struct Arguments {
    #[command(flatten)]
    options: BenchOptions,
    /// Run a loop of this many steps and print its time: what the runs of the real campaigns do.
    #[arg(long, value_name = "STEPS", hide = true)]
    r#loop: Option<u64>,
    /// The cell that the loop is of.
    #[arg(long, default_value_t = 1, hide = true)]
    cell: u64,
    /// What cell 0 does more.
    #[arg(long, default_value_t = 0.0, hide = true)]
    planted: f64,
    /// The seed of a time that is drawn.
    #[arg(long, default_value_t = 0, hide = true)]
    draw: u64,
    /// Draw the time instead of measuring it.
    #[arg(long, hide = true)]
    drawn: bool,
    /// Python with scipy and ruptures to compare with; left out if it has not got them.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: String,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(steps) = arguments.r#loop {
        live::run(steps, arguments.cell, arguments.planted, arguments.draw, arguments.drawn)?;
        return Ok(ExitCode::SUCCESS);
    }
    let quick = arguments.options.quick;
    let place = Place::new(&arguments.options)?;
    let tables = if quick { 300 } else { 1000 };
    let mut goals = Goals::default();
    rates::measure(tables, &mut goals);
    live::measure(&place, quick, &mut goals)?;
    coverage::measure(tables, &mut goals);
    speed::measure(&arguments.python, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}
