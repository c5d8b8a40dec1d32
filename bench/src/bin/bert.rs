//! `bench/bert`: the native engine beside PyTorch, sentence by sentence, on the same model and weights.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::bert::{self, MOST_TIME_REAL, SENTENCES, Sentences};
use assay_bench::engines::contest::contest;
use assay_bench::engines::{Effort, EngineCase, THREADS, Torch};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::place::{BenchOptions, Place, heading};
use clap::Parser;

/// Measures BERT-tiny sentence by sentence, with PyTorch in turn. ASSAY_BENCH_VENV names the Python environment that has
/// PyTorch; ASSAY_BENCH_SENTENCES and ASSAY_BENCH_VOCABULARY name real sentences and the vocabulary for them.
#[derive(Debug, Parser)]
#[command(name = "bert")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let quick = arguments.common.quick;
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("bert", &arguments.common, &place));
    let torch = Torch::find(&place).map_err(|missing| println!("{missing}")).ok();
    let effort = if quick {
        Effort { warmup: 1, rounds: 5, all_modes: false }
    } else {
        Effort { warmup: 3, rounds: 30, all_modes: true }
    };
    println!(
        "{SENTENCES} sentences a pass, one at a time, {THREADS} threads each, float32; {} passes after {} to warm up, \
         in turn, order shuffled\n",
        effort.rounds, effort.warmup
    );
    let mut goals = Goals::default();
    let sentences = Sentences::find().map_err(|missing| println!("{missing}\n")).ok();
    let measure = |case: &EngineCase, goals: &mut Goals| -> anyhow::Result<_> {
        let outcome = contest(case, effort, torch.as_ref(), &place, &mut |words| println!("{words}"))?;
        println!("{}{}", outcome.text(), bert::latencies(&outcome));
        outcome.add_goals(goals);
        Ok(outcome)
    };
    measure(&bert::padded(), &mut goals)?;
    let real = sentences.map(|sentences| measure(&bert::real(&sentences), &mut goals)).transpose()?;
    if real.is_none() {
        let name = "tiny, real sentences: time by fastest PyTorch";
        goals.add(name, None, "", GoalBound::AtMost(MOST_TIME_REAL));
    }
    bert::add_latency_goal(real.as_ref(), &mut goals);
    println!("{goals}");
    Ok(goals.exit())
}
