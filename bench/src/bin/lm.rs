//! `bench/lm`: the native engine beside PyTorch, on the same model, weights and data.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use assay_bench::engines::contest::contest;
use assay_bench::engines::{Effort, EngineCase, THREADS, Torch};
use assay_bench::figures::number;
use assay_bench::goal::Goals;
use assay_bench::lm::start::{add_start_goal, starts, starts_text};
use assay_bench::lm::{BATCH, CONTEXT, cases};
use assay_bench::place::{BenchOptions, Place, heading};
use clap::Parser;

/// Measures forward and backward passes of a language model, with PyTorch in turn. ASSAY_BENCH_VENV names the Python
/// environment that has PyTorch.
#[derive(Debug, Parser)]
#[command(name = "lm")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// Only the cases of this size.
    #[arg(long, value_parser = ["small", "medium"])]
    size: Option<String>,
    /// Another build of the program that takes part, such as one with `-C target-cpu=native`.
    #[arg(long, value_name = "FILE")]
    build: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let quick = arguments.common.quick;
    let mut place = Place::new(&arguments.common)?;
    place.other_build = arguments.build.as_ref().map(fs::canonicalize).transpose()?;
    println!("{}", heading("lm", &arguments.common, &place));
    println!("binary {} MB", number(fs::metadata(&place.assay)?.len() as f64 / 1e6));
    let torch = Torch::find(&place).map_err(|missing| println!("{missing}")).ok();
    let effort = if quick {
        Effort { warmup: 1, rounds: 3, all_modes: false }
    } else {
        Effort { warmup: 3, rounds: 30, all_modes: true }
    };
    println!(
        "batch {BATCH} x {CONTEXT}, {THREADS} threads each, float32; {} rounds after {} to warm up, one \
         iteration each in turn, order shuffled",
        effort.rounds, effort.warmup
    );
    match &arguments.size {
        Some(size) => println!("left out: cases of other sizes than {size}"),
        None if quick => println!("left out, because this is quick: medium"),
        None => {}
    }
    if quick {
        println!("left out, because this is quick: PyTorch's modes eager and compile");
    }
    println!();
    let mut goals = Goals::default();
    let mut events = false;
    let is_wanted = |case: &&EngineCase| match &arguments.size {
        Some(size) => case.settings.contains(&format!("size={size}")),
        None => !quick || !case.drops_slower,
    };
    for case in cases().iter().filter(is_wanted) {
        let outcome = contest(case, effort, torch.as_ref(), &place, &mut |words| println!("{words}"))?;
        if let Some(note) = outcome.torch_note().filter(|_| !events) {
            println!("{note}\n");
            events = true;
        }
        println!("{}", outcome.text());
        outcome.add_goals(&mut goals);
    }
    let rounds = if quick { 1 } else { 5 };
    let starts = torch.as_ref().map(|torch| starts(rounds, torch, &place)).transpose()?;
    if let (Some(starts), Some(torch)) = (&starts, &torch) {
        println!("{}", starts_text(starts, torch));
    }
    add_start_goal(starts.as_ref(), &mut goals);
    println!("{goals}");
    Ok(goals.exit())
}
