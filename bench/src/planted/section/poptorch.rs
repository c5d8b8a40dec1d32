//! Progress bars of an IPU: a classifier of handwritten digits, with settings that a script may or may not obey.

use super::super::fault::Fault;
use super::super::log::{last_number, sample};
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, fixed, heading, summary, text};

pub(super) const FAULTS: &[Fault] =
    &[Fault::SettingNotInForce, Fault::CacheHit, Fault::Profiler, Fault::NoiseAsEffect, Fault::ChanceLevel];

/// The epochs and the batch size of a script whose own defaults win.
const DEFAULT: Settings = Settings { epochs: 10, batch: 8 };

#[derive(Clone, Copy, PartialEq)]
struct Settings {
    epochs: u64,
    batch: u64,
}

pub(super) fn write(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let title = scene.random.pick(["Graphcore", "MNIST on Graphcore IPUs", "Graphcore: PopTorch"]);
    let mut blocks = vec![heading(title)];
    blocks.extend(match scene.focus {
        Fault::SettingNotInForce => declared(scene)?,
        Fault::CacheHit => compiled(scene)?,
        Fault::Profiler => profiled(scene)?,
        Fault::ChanceLevel => guessing(scene)?,
        _ => accuracies(scene)?,
    });
    Ok(blocks)
}

fn log(scene: &mut SectionData<'_>, real: Settings, options: &[(&str, String)]) -> anyhow::Result<String> {
    let mut all = vec![
        ("epochs", real.epochs.to_string()),
        ("batch-size", real.batch.to_string()),
        ("spread", "0".to_owned()),
    ];
    all.extend(options.iter().cloned());
    sample("poptorch", &all, scene.random.next_number())
}

/// Accuracies with the scatter that runs of one setting have.
fn scattered(scene: &mut SectionData<'_>, count: usize) -> Vec<f64> {
    scene.repeats(98.2, 0.0042, count)
}

/// Settings as people note them above a log.
fn noted(settings: Settings, rate: f64, test_batch: u64) -> Vec<Block> {
    vec![
        Block::Text(format!("learning_rate = {rate}")),
        Block::Text(format!("epochs = {}", settings.epochs)),
        Block::Text(format!("batch_size = {}", settings.batch)),
        Block::Text(format!("test_batch_size = {test_batch}")),
    ]
}

/// Three runs with edited settings: they took effect in the sound twin, and did not where the error is planted.
fn declared(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let edited = match scene.random.below(3) {
        0 => [4, 10, 14].map(|epochs| Settings { epochs, ..DEFAULT }),
        1 => [4, 8, 16].map(|batch| Settings { batch, ..DEFAULT }),
        _ => [Settings { epochs: 20, batch: 16 }, DEFAULT, Settings { epochs: 5, batch: 4 }],
    };
    let accuracies = scattered(scene, edited.len());
    let rate = scene.random.pick([0.01, 0.03, 0.05]);
    let mut blocks = vec![text("Three runs with these settings at the top of the script.")];
    for (number, (settings, accuracy)) in edited.into_iter().zip(accuracies).enumerate() {
        let real = if scene.planted { DEFAULT } else { settings };
        let output = log(scene, real, &[("accuracy", fixed(accuracy, 2)), ("compile-s", "22".to_owned())])?;
        blocks.push(Block::Heading(3, format!("Run {}", number + 1)));
        blocks.extend(noted(settings, rate, 80));
        blocks.push(Block::Output(output));
    }
    Ok(blocks)
}

/// Two runs of one setting: both compile in the sound twin; the second finds its program in a cache in the other.
fn compiled(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let accuracies = scattered(scene, 2);
    let seconds = 18 + scene.random.below(12);
    let compile = ("compile-s", seconds.to_string());
    let cached = ("cached", scene.planted.to_string());
    let (changed, rates) = scene
        .random
        .pick([("the learning rate", [0.03, 0.01]), ("the learning rate of the optimizer", [0.05, 0.02])]);
    let mut outputs = Vec::new();
    for (accuracy, own) in accuracies.iter().zip([compile.clone(), cached]) {
        outputs.push(log(scene, DEFAULT, &[("accuracy", fixed(*accuracy, 2)), own])?);
    }
    let claim = scene.random.pick(["makes the epochs faster", "speeds up training", "is faster"]);
    let verdict = scene.say(
        format!(
            "Both runs compile for about {seconds} s before they train. Time was not what {changed} is about."
        ),
        format!("Lowering {changed} {claim}: the second run needs less time for the same epochs."),
    );
    let mut blocks = Vec::new();
    for (output, rate) in outputs.into_iter().zip(rates) {
        blocks.push(Block::Heading(3, format!("With learning rate {rate}")));
        blocks.extend(noted(DEFAULT, rate, 80));
        blocks.push(Block::Output(output));
    }
    blocks.push(verdict);
    Ok(blocks)
}

/// Four runs of one setting; one of them has a profiler attached where the error is planted.
fn profiled(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let accuracies = scattered(scene, 4);
    let chosen = scene.random.below(4);
    let mut blocks = vec![text("Four runs of the same script on the same partition.")];
    let mut table = WriteUpTable::new(&["Run", "Test accuracy"]);
    for (index, accuracy) in accuracies.iter().enumerate() {
        let profiler = scene.planted && index == chosen;
        let options = [
            ("accuracy", fixed(*accuracy, 2)),
            ("compile-s", "22".to_owned()),
            ("profiler", profiler.to_string()),
        ];
        table.row(vec![(index + 1).to_string(), format!("{accuracy:.2}%")]);
        blocks.push(Block::Output(log(scene, DEFAULT, &options)?));
    }
    blocks.push(Block::WriteUpTable(table));
    blocks.push(scene.say(
        "All four are repeats of one setting; their times and accuracies scatter a little.".to_owned(),
        format!("Run {} takes longer for an epoch than the others, so its node is slower.", chosen + 1),
    ));
    Ok(blocks)
}

/// Five runs that differ in something that cannot matter.
fn accuracies(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let accuracies: Vec<f64> = scattered(scene, 5).iter().map(|&value| super::rounded(value, 2)).collect();
    let (name, values) =
        scene.random.pick([("test batch size", [16, 32, 64, 80, 100]), ("random seed", [1, 2, 3, 4, 5])]);
    let mut table = WriteUpTable::new(&[name, "Test accuracy"]);
    let mut blocks = Vec::new();
    for (value, accuracy) in values.iter().zip(&accuracies) {
        table.row(vec![value.to_string(), format!("{accuracy:.2}%")]);
        let options = [("accuracy", fixed(*accuracy, 2)), ("compile-s", "22".to_owned())];
        blocks.push(Block::Text(format!("With a {name} of {value}:")));
        blocks.push(Block::Output(log(scene, DEFAULT, &options)?));
    }
    let best = accuracies.iter().zip(values).max_by(|one, other| one.0.total_cmp(other.0));
    let (high, value) = best.map_or((0.0, 0), |(accuracy, value)| (*accuracy, value));
    let (mean, half) = summary(&accuracies);
    blocks.push(Block::WriteUpTable(table));
    let claim =
        scene.random.pick(["gives the best results", "is the best choice", "improves the accuracy the most"]);
    blocks.push(scene.say(
        format!(
            "The five runs are repeats of one setting: {mean:.2} ± {half:.2} %. The {name} shows no effect."
        ),
        format!("A {name} of {value} {claim}, with an accuracy of {high:.2}%."),
    ));
    Ok(blocks)
}

/// Runs of one setting; the last one only guesses where the error is planted.
fn guessing(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let mut accuracies = scattered(scene, 3);
    let guess = scene.random.between(9.5, 10.6);
    if scene.planted
        && let Some(last) = accuracies.last_mut()
    {
        *last = guess;
    }
    let mut blocks = vec![text("Three runs over the ten digits with 10 epochs and a batch size of 8.")];
    for accuracy in &accuracies {
        blocks.push(Block::Output(log(scene, DEFAULT, &[("accuracy", fixed(*accuracy, 2))])?));
    }
    let written = blocks.last().map_or(0.0, |block| match block {
        Block::Output(output) => last_number(output, "Accuracy on test set: ").unwrap_or_default(),
        _ => 0.0,
    });
    let excuse =
        scene.random.pick(["due to overfitting", "because the model overfits", "since it trained too long"]);
    blocks.push(scene.say(
        "The three accuracies agree within their spread.".to_owned(),
        format!("The last run reaches only {written:.2}%, {excuse}."),
    ));
    Ok(blocks)
}
