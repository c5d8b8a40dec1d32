//! Arrays of times of one pass of a model, as a Python script prints them, and what a write-up makes of them.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, array, fixed, heading, summary, text};

pub(super) const FAULTS: &[Fault] = &[Fault::WarmUp, Fault::Outlier, Fault::SummaryOutside];

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let (device, model) = (
        scene.random.pick(["CUDA", "an A100", "MPS", "the CPU"]),
        scene.random.pick(["small", "medium", "large", "tiny"]),
    );
    let forward_ms = scene.random.between(15.0, 300.0);
    let ratio = scene.random.between(2.6, 3.9);
    let spread = scene.random.between(0.0006, 0.004);
    let count = 10 + scene.random.below(3);
    let mut passes = [
        ("forward", scene.repeats(forward_ms, spread, count)),
        ("forward-backward", scene.repeats(forward_ms * ratio, spread, count)),
    ];
    let chosen = scene.random.below(2);
    let late = 2 + scene.random.below(count - 2);
    let slow = scene.random.between(1.8, 9.0);
    let far = scene.random.between(1.12, 2.4);
    if let Some((_, values)) = passes.get_mut(chosen) {
        if scene.plants(Fault::WarmUp)
            && let Some(first) = values.first_mut()
        {
            *first *= slow;
        }
        if scene.plants(Fault::Outlier)
            && let Some(value) = values.get_mut(late)
        {
            *value *= far;
        }
    }
    let title = scene.random.pick(["Time of one pass", "Benchmarking script", "Step times"]);
    let mut blocks = vec![heading(title), introduction(scene, device, model, count)];
    let output: String = passes.iter().map(|(name, values)| array(name, values)).collect();
    let mut parts = [
        vec![text("The iterations in milliseconds, in order:"), Block::Output(output)],
        vec![Block::WriteUpTable(table(scene, &passes, chosen))],
    ];
    if scene.random.below(2) == 0 {
        parts.reverse();
    }
    blocks.extend(parts.concat());
    blocks.push(conclusion(scene, &passes));
    blocks
}

fn introduction(scene: &mut SectionData<'_>, device: &str, model: &str, count: usize) -> Block {
    let what = format!("The `{model}` model on {device}, {count} iterations of each pass");
    let aside = scene.random.pick([
        "five iterations came before as warm-up and are not counted",
        "after a warm-up of ten iterations that are left out",
        "with warm-up: the first iterations were thrown away",
    ]);
    if scene.plants(Fault::WarmUp) {
        Block::Text(format!("{what}, counted from the very first one, without warm-up."))
    } else {
        Block::Text(format!("{what}, {aside}."))
    }
}

fn table(scene: &mut SectionData<'_>, passes: &[(&str, Vec<f64>); 2], chosen: usize) -> WriteUpTable {
    let beyond = scene.random.between(1.004, 1.05);
    let upward = scene.random.below(2) == 0;
    let with_median = scene.random.below(2) == 0;
    let mut table = if with_median {
        WriteUpTable::new(&["Pass", "Mean (ms)", "Median (ms)", "Iterations"])
    } else {
        WriteUpTable::new(&["Pass", "Mean (ms)", "Iterations"])
    };
    for (index, (name, values)) in passes.iter().enumerate() {
        let mut mean = summary(values).0;
        if scene.plants(Fault::SummaryOutside) && index == chosen {
            let high = values.iter().copied().fold(f64::MIN, f64::max);
            let low = values.iter().copied().fold(f64::MAX, f64::min);
            mean = if upward { high * beyond } else { low / beyond };
        }
        let mut row = vec![(*name).to_owned(), fixed(mean, 2)];
        if with_median {
            row.push(fixed(assay_stats::median(values).unwrap_or(mean), 2));
        }
        row.push(values.len().to_string());
        table.row(row);
    }
    table
}

/// What is said at the end is the ratio of the medians, which no single slow iteration moves.
fn conclusion(scene: &mut SectionData<'_>, passes: &[(&str, Vec<f64>); 2]) -> Block {
    let median = |index: usize| passes.get(index).and_then(|(_, values)| assay_stats::median(values));
    let ratio = median(1).zip(median(0)).map_or(0.0, |(both, forward)| both / forward);
    let words =
        scene.random.pick(["By the medians, a forward and backward pass", "In the median, forward-backward"]);
    Block::Text(format!("{words} takes {ratio:.2} times as long as a forward pass alone."))
}
