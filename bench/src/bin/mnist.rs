//! `bench/mnist`: training steps of the convolutional network by the native engine beside PyTorch, on the same weights,
//! data and masks.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::engines::contest::contest;
use assay_bench::engines::{Effort, THREADS, Torch};
use assay_bench::goal::Goals;
use assay_bench::mnist::{STEPS, cases};
use assay_bench::place::{BenchOptions, Place, heading};
use clap::Parser;

/// Measures training steps of a small convolutional network, with PyTorch in turn. ASSAY_BENCH_VENV names the Python
/// environment that has PyTorch; images are those of MNIST where `assay doctor data` finds it, else synthetic.
#[derive(Debug, Parser)]
#[command(name = "mnist")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let quick = arguments.common.quick;
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("mnist", &arguments.common, &place));
    let torch = Torch::find(&place).map_err(|missing| println!("{missing}")).ok();
    let effort = if quick {
        Effort { warmup: 1, rounds: 6, all_modes: false }
    } else {
        Effort { warmup: 3, rounds: 60, all_modes: true }
    };
    println!(
        "{STEPS} steps per iteration, {THREADS} threads each, float32; {} rounds after {} to warm up, one iteration each \
         in turn, order shuffled",
        effort.rounds, effort.warmup
    );
    if quick {
        println!("left out, because this is quick: PyTorch's modes channels_last and compile");
    }
    println!();
    let mut goals = Goals::default();
    let mut events = false;
    for case in &cases() {
        let outcome = contest(case, effort, torch.as_ref(), &place, &mut |words| println!("{words}"))?;
        let data = outcome.records[0].said.notes.iter().find(|note| note.starts_with("data:"));
        for note in outcome.torch_note().into_iter().chain(data.map(String::as_str)).filter(|_| !events) {
            println!("{note}");
        }
        events = true;
        println!("{}", outcome.text());
        outcome.add_goals(&mut goals);
    }
    println!("{goals}");
    Ok(goals.exit())
}
