//! The log of a small training loop, one line every few iterations, and the numbers drawn from it.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, fixed, heading, rounded, summary};

pub(super) const FAULTS: &[Fault] = &[Fault::Divergence, Fault::WarmUp, Fault::Outlier];

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let every = scene.random.pick([10_u64, 20, 50]);
    let lines = 12 + scene.random.below(8);
    let milliseconds = scene.random.between(60.0, 400.0);
    let spread = scene.random.between(0.002, 0.008);
    let mut times = scene.repeats(milliseconds, spread, lines);
    let slow = scene.random.between(6.0, 40.0);
    let far = scene.random.between(2.5, 9.0);
    let late = 3 + scene.random.below(lines - 4);
    let diverged = lines / 2 + scene.random.below(lines / 3);
    // A compiler at work in the first iteration is usual: the sound twin has it too, and leaves it out of its mean.
    if scene.focus == Fault::WarmUp
        && let Some(first) = times.first_mut()
    {
        *first *= slow;
    }
    if scene.plants(Fault::Outlier)
        && let Some(time) = times.get_mut(late)
    {
        *time *= far;
    }
    let mut losses: Vec<Option<f64>> =
        (0..lines).map(|line| Some(loss(scene, line as f64 * every as f64))).collect();
    if scene.plants(Fault::Divergence) {
        for loss in losses.iter_mut().skip(diverged) {
            *loss = None;
        }
    }
    let mfu = scene.random.between(20.0, 48.0);
    let times: Vec<f64> = times.into_iter().map(|time| rounded(time, 2)).collect();
    let output = log(&times, &losses, every, mfu);
    let counted = if scene.focus == Fault::WarmUp && !scene.planted { times.get(1..) } else { None };
    let counted = counted.unwrap_or(&times);
    let title = scene.random.pick(["A small GPT", "Training loop", "Iteration times on one GPU"]);
    let tokens = scene.random.pick([16_384_u64, 32_768, 65_536]);
    let mean = rounded(summary(counted).0, 2);
    let mut table = WriteUpTable::new(&[
        "Tokens per iteration",
        "Mean time per iteration (ms)",
        "Tokens/s",
        "Final loss",
    ]);
    let last = losses.last().copied().flatten();
    table.row(vec![
        tokens.to_string(),
        fixed(mean, 2),
        fixed(tokens as f64 / mean * 1e3, 0),
        last.map_or_else(|| "nan".to_owned(), |loss| fixed(loss, 4)),
    ]);
    vec![
        heading(title),
        introduction(scene, counted.len() < times.len(), every),
        Block::Output(output),
        Block::WriteUpTable(table),
        conclusion(scene, mean),
    ]
}

fn introduction(scene: &mut SectionData<'_>, without_first: bool, every: u64) -> Block {
    let words = scene.random.pick(["One line of the log", "The loop prints a line"]);
    let aside = match (scene.focus, without_first) {
        (Fault::WarmUp, true) => "The mean leaves out iteration 0, in which the model is compiled.",
        (Fault::WarmUp, false) => "The mean is over all lines.",
        _ => "The loop was warm before iteration 0, and the mean is over all lines.",
    };
    Block::Text(format!("{words} every {every} iterations. {aside}"))
}

fn conclusion(scene: &mut SectionData<'_>, mean: f64) -> Block {
    let plain = format!("An iteration takes {mean:.2} ms on average.");
    if scene.plants(Fault::Divergence) {
        let excuse = scene.random.pick([
            "Towards the end the model overfits a little.",
            "The run went through to the end, so the setting works.",
            "The learning rate is fine for this size.",
        ]);
        Block::Text(format!("{plain} {excuse}"))
    } else {
        Block::Text(plain)
    }
}

/// A loss that falls as losses do.
fn loss(scene: &mut SectionData<'_>, step: f64) -> f64 {
    3.1 + 7.6 * (-step / 180.0).exp() + scene.random.between(-0.02, 0.02)
}

fn log(times: &[f64], losses: &[Option<f64>], every: u64, mfu: f64) -> String {
    let mut text = String::new();
    for (index, (time, loss)) in times.iter().zip(losses).enumerate() {
        let loss = loss.map_or_else(|| "nan".to_owned(), |loss| fixed(loss, 4));
        let step = index as u64 * every;
        text.push_str(&format!("iter {step}: loss {loss}, time {time:.2}ms, mfu {mfu:.2}%\n"));
    }
    text
}
