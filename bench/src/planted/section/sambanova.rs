//! Scaling over tasks.

use super::super::fault::Fault;
use super::super::log::{last_number, sample};
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, fixed, heading, rounded, text, with_interval};

pub(super) const FAULTS: &[Fault] =
    &[Fault::DerivedColumn, Fault::UnequalWork, Fault::Gate, Fault::RateScope, Fault::Identity];

/// Samples that one task takes at a step.
const LOCAL_BATCH: u64 = 256;
/// Steps of every run.
const STEPS: u64 = 505;
/// Tokens of a sample.
const SEQUENCE: f64 = 128.0;

pub(super) fn write(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let title =
        scene.random.pick(["SambaNova", "SambaNova SN30: data parallel BERT", "Scaling on SambaNova"]);
    let mut blocks = vec![heading(title)];
    blocks.extend(match scene.focus {
        Fault::Gate => gate(scene)?,
        Fault::Identity => identity(scene),
        Fault::UnequalWork => losses(scene),
        Fault::RateScope => units(scene),
        _ => efficiency(scene),
    });
    Ok(blocks)
}

/// The rates of some runs at each number of tasks.
fn rates(scene: &mut SectionData<'_>, repeats: usize) -> Vec<(u64, Vec<f64>)> {
    let one = scene.random.between(250.0, 320.0);
    let loss = scene.random.between(0.01, 0.02);
    let tasks = scene.random.pick([[4_u64, 8, 16], [2, 4, 8], [1, 2, 4]]);
    let mut all = Vec::new();
    for (doubling, count) in tasks.into_iter().enumerate() {
        let ideal = one * count as f64 * (1.0 - loss * doubling as f64);
        all.push((count, scene.repeats(ideal, 0.003, repeats)));
    }
    all
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn efficiency(scene: &mut SectionData<'_>) -> Vec<Block> {
    let rates = rates(scene, 3);
    let name = scene.random.pick(["ntasks", "Tasks", "Number of tasks"]);
    let mut table = WriteUpTable::new(&[name, "Runs", "Training samples per second", "Efficiency"]);
    let base = rates.first().map_or((1, 1.0), |(tasks, values)| (*tasks, rounded(mean(values), 1)));
    for (tasks, values) in &rates {
        let ideal = base.1 * *tasks as f64 / base.0 as f64;
        table.row(vec![
            tasks.to_string(),
            values.len().to_string(),
            with_interval(values, 1),
            format!("{:.1}%", rounded(mean(values), 1) / ideal * 100.0),
        ]);
    }
    let row = 1 + scene.random.below(rates.len() - 1);
    let change = scene.random.pick([-12.0, -6.0, -4.0, 2.9, -8.0]);
    if scene.plants(Fault::DerivedColumn)
        && let Some(cell) = table.cell(row, 3)
    {
        let value: f64 = cell.trim_end_matches('%').parse().unwrap_or_default();
        *cell = format!("{:.1}%", value + change);
    }
    let words = format!(
        "Efficiency is the rate of a task over that at {} tasks, all by the means of three runs.",
        base.0
    );
    vec![
        text("Data-parallel training with a fixed batch for every task."),
        Block::WriteUpTable(table),
        Block::Text(words),
    ]
}

fn identity(scene: &mut SectionData<'_>) -> Vec<Block> {
    let rates = rates(scene, 3);
    let mut table = WriteUpTable::new(&["ntasks", "Steps", "Samples", "Training time (s)", "Samples/s"]);
    for (tasks, values) in &rates {
        for rate in values {
            let samples = tasks * LOCAL_BATCH * STEPS;
            let seconds = rounded(samples as f64 / rate, 2);
            table.row(vec![
                tasks.to_string(),
                STEPS.to_string(),
                samples.to_string(),
                fixed(seconds, 2),
                fixed(samples as f64 / seconds, 2),
            ]);
        }
    }
    let row = scene.random.below(table.rows.len());
    let (column, factor) = scene.random.pick([(3, 1.5), (3, 0.8), (4, 2.0), (4, 1.1), (3, 10.0)]);
    if scene.plants(Fault::Identity)
        && let Some(cell) = table.cell(row, column)
    {
        *cell = fixed(cell.parse::<f64>().unwrap_or_default() * factor, 2);
    }
    vec![
        Block::Text(format!(
            "Three runs of {STEPS} steps at each number of tasks; a task takes {LOCAL_BATCH} samples per step."
        )),
        Block::WriteUpTable(table),
    ]
}

/// All runs have the same number of steps, so more tasks see more data; the loss says nothing about the tasks.
fn losses(scene: &mut SectionData<'_>) -> Vec<Block> {
    let rates = rates(scene, 3);
    let start = scene.random.between(8.3, 8.5);
    let mut table =
        WriteUpTable::new(&["ntasks", "Runs", "Samples", "Final loss", "Training samples per second"]);
    for (doubling, (tasks, values)) in rates.iter().enumerate() {
        let losses = scene.repeats(start - 0.05 * doubling as f64, 0.0003, 3);
        table.row(vec![
            tasks.to_string(),
            "3".to_owned(),
            (tasks * LOCAL_BATCH * STEPS).to_string(),
            with_interval(&losses, 3),
            with_interval(values, 1),
        ]);
    }
    let claim = scene.random.pick([
        "the model trained with more tasks reaches a smaller loss, as a result of more efficient distributed training",
        "more tasks train the model better: the loss is lower",
        "adding tasks improves the final loss",
    ]);
    vec![
        Block::Text(format!("Every run has {STEPS} steps; a task takes {LOCAL_BATCH} samples per step.")),
        Block::WriteUpTable(table),
        scene.say(
            "The rate grows with the tasks. More tasks see more samples in the same steps, so the losses are not \
             comparable."
                .to_owned(),
            format!("The rate grows with the tasks, and {claim}."),
        ),
    ]
}

/// Tokens per second, which are called sequences per second where the error is planted.
fn units(scene: &mut SectionData<'_>) -> Vec<Block> {
    let rates = rates(scene, 3);
    let name = if scene.plants(Fault::RateScope) {
        "Training sequences per second"
    } else {
        "Training tokens per second"
    };
    let mut table = WriteUpTable::new(&["ntasks", "Runs", "Training samples per second", name]);
    for (tasks, values) in &rates {
        let samples = rounded(mean(values), 3);
        table.row(vec![
            tasks.to_string(),
            values.len().to_string(),
            fixed(samples, 3),
            fixed(samples * SEQUENCE, 2),
        ]);
    }
    vec![
        Block::Text(format!("BERT with a sequence length of {SEQUENCE:.0}; means of three runs.")),
        Block::WriteUpTable(table),
        text("Throughput is nearly proportional to the tasks."),
    ]
}

/// A log that ends in a failed acceptance bound where the error is planted.
fn gate(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let tasks = scene.random.pick([4_u64, 8, 16]);
    let bound = scene.random.pick(["min", "max"]);
    let kind = if scene.planted { bound } else { "none" };
    let steps = scene.random.pick([55_u64, 105, 205]);
    let options = [("tasks", tasks.to_string()), ("steps", steps.to_string()), ("gate", kind.to_owned())];
    let output = sample("sambanova", &options, scene.random.next_number())?;
    let seconds = last_number(&output, "'e2e_train_time': ")?;
    let verdict = scene.random.pick([
        "The job failed with an assertion, so there are no results for this number of tasks.",
        "This configuration does not work: the run ends with an error and its numbers are void.",
        "The run failed.",
    ]);
    Ok(vec![
        Block::Text(format!("The log with {tasks} tasks:")),
        Block::Output(output),
        scene.say(format!("The run took {seconds:.1} s of training."), verdict.to_owned()),
    ])
}
