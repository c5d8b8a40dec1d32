//! Inference over batch sizes and lengths: throughput = batch × tokens / latency in every row.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, corrupted, fixed, heading, rounded};

pub(super) const FAULTS: &[Fault] = &[Fault::Identity, Fault::BadCell];

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let title =
        scene.random.pick(["Inference throughput", "Offline inference", "LLM inference over batch sizes"]);
    let model = scene.random.pick(["Llama-2-7B", "Mistral-7B", "Qwen2-7B"]);
    let repeats = scene.random.pick([5, 7, 9]);
    let header = scene.random.pick([
        ["Batch size", "Input tokens", "Output tokens", "Latency (s)", "Throughput (tokens/s)"],
        ["batch_size", "input_length", "output_length", "latency (s)", "throughput (tokens/sec)"],
    ]);
    let mut table = WriteUpTable::new(&header);
    let start = scene.random.between(8.0, 14.0);
    for length in [128_u64, 1024] {
        for batch in [1_u64, 8, 16, 32] {
            let slow_down = 1.0 + batch as f64 * scene.random.between(0.018, 0.024);
            let latency = rounded(start * length as f64 / 1024.0 * slow_down, 3);
            table.row(vec![
                batch.to_string(),
                length.to_string(),
                length.to_string(),
                fixed(latency, 3),
                fixed((batch * length) as f64 / latency, 2),
            ]);
        }
    }
    let wide = scene.random.below(2) == 0;
    let row = scene.random.below(table.rows.len());
    let factor = scene.random.pick([0.1, 0.6, 1.3, 2.0, 10.0]);
    if scene.plants(Fault::Identity) {
        corrupt_throughput(&mut table, wide, row, factor);
    }
    let column = 3 + scene.random.below(2);
    let mut fork = scene.random.clone();
    if scene.plants(Fault::BadCell)
        && let Some(cell) = table.cell(row, column)
    {
        *cell = corrupted(&mut fork, cell);
    }
    let words = format!(
        "{model} on one GPU; medians of {repeats} runs after two of warm-up. Throughput counts output tokens alone: \
         batch size × output tokens / latency."
    );
    vec![heading(title), Block::Text(words), Block::WriteUpTable(table)]
}

/// Either every fourth row lacks the batch factor, or one row is off by another.
fn corrupt_throughput(table: &mut WriteUpTable, wide: bool, row: usize, factor: f64) {
    let count = table.rows.len();
    for index in 0..count {
        let batch = table.rows.get(index).and_then(|row| row.first()?.parse::<f64>().ok()).unwrap_or(1.0);
        let change = match (wide, index) {
            (true, _) if index % 4 == 3 => 1.0 / batch,
            (false, _) if index == row => factor,
            _ => continue,
        };
        if let Some(cell) = table.cell(index, 4) {
            *cell = fixed(cell.parse::<f64>().unwrap_or_default() * change, 2);
        }
    }
}
