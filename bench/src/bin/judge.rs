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
    /// Measure these parts only: each takes a few minutes at most, so that a shared machine need not be kept for all of it.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<JudgePart>,
    /// Python with scipy and ruptures to compare with; left out if it has not got them.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: String,
}

/// The parts of this bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum JudgePart {
    /// Error rates of simulated tables.
    Rates,
    /// Real campaigns of a few cells.
    Live,
    /// Real campaigns of 100 cells.
    LiveMany,
    /// Coverage of intervals.
    Coverage,
    /// Speed, beside scipy and ruptures.
    Speed,
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
    let is_asked = |part: JudgePart| arguments.only.is_empty() || arguments.only.contains(&part);
    if is_asked(JudgePart::Rates) {
        rates::measure(tables, &mut goals);
    }
    let sizes = live::sizes(quick).into_iter();
    let asked =
        sizes.filter(|size| is_asked(if size.cells < 100 { JudgePart::Live } else { JudgePart::LiveMany }));
    live::measure(&place, &asked.collect::<Vec<_>>(), &mut goals)?;
    if is_asked(JudgePart::Coverage) {
        coverage::measure(tables, &mut goals);
    }
    if is_asked(JudgePart::Speed) {
        speed::measure(&arguments.python, &mut goals)?;
    }
    println!("{goals}");
    Ok(goals.exit())
}
