//! Accuracies over a setting, several runs of each value.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, heading, rounded, summary, text, with_interval};

pub(super) const FAULTS: &[Fault] =
    &[Fault::ChanceLevel, Fault::NoiseAsEffect, Fault::SummaryOutside, Fault::NoRepeats, Fault::Resolution];

/// Runs of every value.
const RUNS: usize = 5;

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let title = scene.random.pick(["Tuning a classifier", "Accuracy on the test set", "Hyperparameters"]);
    let mut blocks = vec![heading(title)];
    if scene.focus == Fault::Resolution {
        blocks.extend(small_test(scene));
        return blocks;
    }
    let (setting, values) = scene.random.pick([
        ("Learning rate", ["0.01", "0.03", "0.05"]),
        ("Batch size", ["8", "16", "32"]),
        ("Dropout", ["0.1", "0.3", "0.5"]),
    ]);
    let center = scene.random.between(90.0, 98.0);
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for _ in values {
        // All values of the setting are the same to the model: what differs is noise.
        let own = scene.repeats(center, 0.004, RUNS);
        runs.push(own.into_iter().map(|accuracy| rounded(accuracy, 2)).collect());
    }
    level(scene, &mut runs);
    let chosen = scene.random.below(values.len());
    let guess: Vec<f64> =
        scene.repeats(10.0, 0.02, RUNS).into_iter().map(|value| rounded(value, 2)).collect();
    if scene.plants(Fault::ChanceLevel)
        && let Some(own) = runs.get_mut(chosen)
    {
        *own = guess;
    }
    let table = table(scene, setting, values, &runs, chosen);
    let introduction = if scene.plants(Fault::NoRepeats) {
        "Ten classes of pictures, one training for each value."
    } else {
        "Ten classes of pictures, five trainings from different seeds for each value."
    };
    blocks.extend([
        text(introduction),
        Block::WriteUpTable(table),
        verdict(scene, setting, values, &runs, chosen),
    ]);
    blocks
}

/// Brings the means close together, so that what is left of the differences is well inside the spread.
fn level(scene: &SectionData<'_>, runs: &mut [Vec<f64>]) {
    let middle = runs.first().map_or(0.0, |own| summary(own).0);
    for (index, own) in runs.iter_mut().enumerate() {
        let shift = middle - summary(own).0;
        let apart = if scene.focus == Fault::NoiseAsEffect { 0.06 } else { 0.02 };
        own.iter_mut().for_each(|value| *value = rounded(*value + shift + apart * index as f64, 2));
    }
}

fn table(
    scene: &mut SectionData<'_>,
    setting: &str,
    values: [&str; 3],
    runs: &[Vec<f64>],
    chosen: usize,
) -> WriteUpTable {
    let upward = scene.random.below(2) == 0;
    let beyond = scene.random.between(0.2, 1.2);
    if scene.plants(Fault::NoRepeats) {
        let mut table = WriteUpTable::new(&[setting, "Test accuracy"]);
        for (value, own) in values.iter().zip(runs) {
            table.row(vec![(*value).to_owned(), format!("{:.2}%", own.first().copied().unwrap_or_default())]);
        }
        return table;
    }
    let mut table = WriteUpTable::new(&[
        setting,
        "Run 1 (%)",
        "Run 2 (%)",
        "Run 3 (%)",
        "Run 4 (%)",
        "Run 5 (%)",
        "Mean accuracy (%)",
    ]);
    for (index, (value, own)) in values.iter().zip(runs).enumerate() {
        let mut row = vec![(*value).to_owned()];
        row.extend(own.iter().map(|accuracy| format!("{accuracy:.2}")));
        row.push(if scene.plants(Fault::SummaryOutside) && index == chosen {
            let high = own.iter().copied().fold(f64::MIN, f64::max);
            let low = own.iter().copied().fold(f64::MAX, f64::min);
            format!("{:.2} ± {:.2}", if upward { high + beyond } else { low - beyond }, summary(own).1)
        } else {
            with_interval(own, 2)
        });
        table.row(row);
    }
    table
}

fn verdict(
    scene: &mut SectionData<'_>,
    setting: &str,
    values: [&str; 3],
    runs: &[Vec<f64>],
    chosen: usize,
) -> Block {
    let setting = setting.to_lowercase();
    let means: Vec<f64> = runs.iter().map(|own| summary(own).0).collect();
    let best = means.iter().zip(values).max_by(|one, other| one.0.total_cmp(other.0));
    let best = best.map_or("", |(_, value)| value);
    let claim = scene.random.pick(["gives the best results", "is the best choice", "improves the accuracy"]);
    let excuse =
        scene.random.pick(["the model overfits", "the model is overfitted", "there is some overfitting"]);
    let bad = values.get(chosen).copied().unwrap_or_default();
    match scene.focus {
        Fault::NoiseAsEffect | Fault::NoRepeats if scene.planted => {
            let once = runs.iter().map(|own| own.first().copied().unwrap_or_default());
            let once = once
                .zip(values)
                .max_by(|one, other| one.0.total_cmp(&other.0))
                .map_or("", |(_, value)| value);
            let best = if scene.focus == Fault::NoRepeats { once } else { best };
            Block::Text(format!("A {setting} of {best} {claim}."))
        }
        Fault::ChanceLevel if scene.planted => Block::Text(format!("With a {setting} of {bad} {excuse}.")),
        _ => Block::Text(format!(
            "The means differ by less than their intervals: the {setting} shows no effect."
        )),
    }
}

/// A test set so small that one answer more or less is half a percent.
fn small_test(scene: &mut SectionData<'_>) -> Vec<Block> {
    let items = scene.random.pick([100_u32, 200, 250]);
    let right = items - 2 - u32::try_from(scene.random.below(8)).unwrap_or(0);
    let names = scene.random.pick([["float32", "bfloat16"], ["Adam", "AdamW"], ["seed 1", "seed 2"]]);
    let share = |right: u32| f64::from(right) / f64::from(items) * 100.0;
    let mut table = WriteUpTable::new(&["Variant", "Right answers", "Accuracy (%)"]);
    table.row(vec![names[0].to_owned(), format!("{right}/{items}"), format!("{:.1}", share(right))]);
    table.row(vec![
        names[1].to_owned(),
        format!("{}/{items}", right + 1),
        format!("{:.1}", share(right + 1)),
    ]);
    let claim = scene.random.pick(["is more accurate", "is the better one", "improves the accuracy"]);
    vec![
        Block::Text(format!("The test set has {items} items.")),
        Block::WriteUpTable(table),
        scene.say(
            "The two differ by one answer, which is the smallest difference there can be: no difference is claimed."
                .to_owned(),
            format!("{} {claim}: {:.1}% against {:.1}%.", names[1], share(right + 1), share(right)),
        ),
    ]
}
