//! Measured latencies beside those that a compiler predicts.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, fixed, heading, listed, text};

pub(super) const FAULTS: &[Fault] = &[Fault::PredictionRanked];

/// Runs whose tables are shown.
const RUNS: usize = 3;

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let title = scene.random.pick(["Groq", "BERT tiny on a GroqChip", "GroqFlow proof point"]);
    let cpu = scene.random.between(300.0, 700.0);
    let chip = scene.random.between(12_000.0, 21_000.0);
    let predicted = chip * scene.random.between(1.7, 2.6);
    let accuracy = scene.random.between(74.0, 82.0);
    let (cpus, chips) = (scene.repeats(cpu, 0.01, RUNS), scene.repeats(chip, 0.02, RUNS));
    let mut blocks = vec![heading(title), text("Three runs of the built model, one table each.")];
    for (cpu, chip) in cpus.iter().zip(&chips) {
        blocks.push(Block::Output(output(*cpu, *chip, predicted, accuracy)));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let ranked = scene.random.below(2) == 0;
    if ranked {
        blocks.push(Block::WriteUpTable(ranking(scene, mean(&cpus), mean(&chips), predicted)));
    }
    let verb = scene.random.pick(["is faster", "runs faster", "outperforms it"]);
    blocks.push(scene.say(
        format!(
            "End to end the chip makes {} inferences/s in the three runs and the CPU {}: {:.1} times as many by the \
             means. The on-chip columns are estimates of the compiler and are not compared.",
            listed(&chips, 2, ", "),
            listed(&cpus, 2, ", "),
            mean(&chips) / mean(&cpus)
        ),
        format!(
            "With an on-chip rate of {predicted:.2} IPS against {:.2} on the CPU, the chip {verb}: {:.1}×.",
            mean(&cpus),
            predicted / mean(&cpus)
        ),
    ));
    blocks
}

fn ranking(scene: &SectionData<'_>, cpu: f64, chip: f64, predicted: f64) -> WriteUpTable {
    let mut table = WriteUpTable::new(&["System", "Inferences per second"]);
    table.row(vec!["CPU, end-to-end".to_owned(), fixed(cpu, 2)]);
    if scene.plants(Fault::PredictionRanked) {
        table.row(vec!["Groq, on-chip".to_owned(), fixed(predicted, 2)]);
    } else {
        table.row(vec!["Groq, end-to-end".to_owned(), fixed(chip, 2)]);
    }
    table
}

fn output(cpu: f64, chip: f64, predicted: f64, accuracy: f64) -> String {
    let rule = "+--------+----------+-------------------------+----------------+----------------------+-------------+";
    let line = |cells: [String; 6]| {
        let [source, accuracy, latency, rate, chip_latency, chip_rate] = cells;
        format!(
            "| {source:^6} | {accuracy:^8} | {latency:^23} | {rate:^14} | {chip_latency:^20} | {chip_rate:^11} |\n"
        )
    };
    let header = [
        "Source",
        "Accuracy",
        "end-to-end latency (ms)",
        "end-to-end IPS",
        "on-chip latency (ms)",
        "on-chip IPS",
    ];
    let row = |source: &str, rate: f64, chip: Option<f64>| {
        line([
            source.to_owned(),
            format!("{accuracy:.2}%"),
            fixed(1e3 / rate, 2),
            fixed(rate, 2),
            chip.map_or_else(|| "--".to_owned(), |chip| fixed(1e3 / chip, 2)),
            chip.map_or_else(|| "--".to_owned(), |chip| fixed(chip, 2)),
        ])
    };
    format!(
        "{rule}\n{}{rule}\n{}{}{rule}\n",
        line(header.map(str::to_owned)),
        row("cpu", cpu, None),
        row("groq", chip, Some(predicted))
    )
}
