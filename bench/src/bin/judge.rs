//! `bench/judge`: how often tables call noise a difference and a difference noise, whether intervals cover as often as
//! they claim, and how fast all this is.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::goal::Goals;
use assay_bench::judge::{coverage, rates, speed};
use clap::Parser;

/// Simulates tables of equal and of different cells, and the coverage of intervals; measures speeds on one core.
#[derive(Debug, Parser)]
#[command(name = "judge")]
struct Arguments {
    /// Answer within a minute, with fewer simulations. Shows the direction, proves nothing.
    #[arg(long)]
    quick: bool,
    /// Python with scipy and ruptures to compare with; left out if it has not got them.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: String,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let tables = if arguments.quick { 300 } else { 1000 };
    let mut goals = Goals::default();
    rates::measure(tables, &mut goals);
    coverage::measure(tables, &mut goals);
    speed::measure(&arguments.python, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}
