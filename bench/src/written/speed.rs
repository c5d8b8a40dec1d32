//! What audits cost: long tables, and a write-up of a hundred lines.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use assay_random::Random;

use crate::measure::cost_with_output;
use crate::place::Place;

/// Audits are run this often; the cheapest counts, as the least disturbed one.
const REPEATS: usize = 5;

/// CPU seconds of an audit.
pub fn cpu_seconds(place: &Place, path: &Path) -> anyhow::Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        let mut command = place.assay(path.parent().unwrap_or(path));
        command.args(["audit", "--json"]).arg(path.file_name().unwrap_or_default());
        least = least.min(cost_with_output(&mut command, &[0, 4])?.cpu_s);
    }
    Ok(least)
}

/// Writes a table of results in which about a quarter of the rates forget the batch size.
pub fn write_table(path: &Path, rows: usize, seed: u64) -> anyhow::Result<()> {
    let mut random = Random::stream(seed, "table");
    let mut text = String::from("model,precision,batch_size,gpus,latency_ms,samples_per_s\n");
    for _ in 0..rows {
        let batch = random.pick(&[1_u32, 2, 4, 8, 16, 32, 64]);
        let gpus = random.pick(&[1_u32, 2, 4, 8]);
        let latency = random.between(4.0, 90.0) * f64::from(batch).sqrt();
        let forgotten = batch > 1 && random.chance(0.28);
        let work = if forgotten { 1.0 } else { f64::from(batch) };
        let rate = work * f64::from(gpus) * 1000.0 / latency;
        let model = random.pick(&["resnet50", "bert-base", "vit-b", "llama-1b"]);
        let precision = random.pick(&["fp16", "bf16", "fp32"]);
        writeln!(text, "{model},{precision},{batch},{gpus},{latency:.3},{rate:.3}")?;
    }
    fs::write(path, text)?;
    Ok(())
}

/// Writes a write-up of about a hundred lines: sections of prose, each over a table.
pub fn write_up(path: &Path, seed: u64) -> anyhow::Result<()> {
    let mut random = Random::stream(seed, "write-up");
    let mut text = String::from("# Throughput of the new nodes\n\nAll jobs ran alone on a node.\n");
    for section in 1..=8 {
        let base = random.between(200.0, 900.0);
        let faster = base * random.between(1.2, 1.9);
        writeln!(text, "\n## Case {section}\n\n| nodes | samples/s | s per epoch |\n|---|---|---|")?;
        for nodes in [1.0, 2.0, 4.0] {
            let rate = base * nodes * 0.96;
            writeln!(text, "| {nodes:.0} | {rate:.1} | {:.1} |", 60_000.0 / rate)?;
        }
        writeln!(
            text,
            "\nWith the new kernel one node reaches {faster:.1} samples/s instead of {:.1} samples/s,\n\
             {:.1} % more than before.",
            base * 0.96,
            (faster / (base * 0.96) - 1.0) * 100.0
        )?;
    }
    fs::write(path, text)?;
    Ok(())
}
