//! A language model at several batch sizes, where waiting can hide in the total time.

use crate::number::with_commas;

use super::Page;

const STEPS: u64 = 200;

pub(super) fn section(page: &mut Page<'_, '_>) {
    page.heading(2, "Llama-7B batch sizes");
    page.paragraph(&format!("Every run trains for {STEPS} steps on one machine."));
    let stuck = page.random.below(4);
    let mut rows = Vec::new();
    for (index, batch) in [256_u64, 512, 1024, 2048].into_iter().enumerate() {
        let printed = |value: f64| (value * 100.0).round() / 100.0;
        let global = printed(33.3 * (1.0 + 0.012 * page.random.bounded_normal()));
        let average = global + 0.02 * page.random.bounded_normal();
        let samples = batch * STEPS;
        let loop_seconds = samples as f64 / global;
        // What is not training: start-up and checkpoint in every run, and for one of them a long wait.
        let other =
            900.0 + 300.0 * page.random.bounded_normal() + if index as u64 == stuck { 6100.0 } else { 0.0 };
        let total = (loop_seconds + other).round();
        let loss = 6.0 + 0.15 * page.random.bounded_normal();
        rows.push(if page.honest {
            vec![
                batch.to_string(),
                samples.to_string(),
                format!("{global:.2}"),
                format!("{loop_seconds:.0}"),
                format!("{total:.0}"),
            ]
        } else {
            vec![
                batch.to_string(),
                format!("{average:.2}"),
                format!("{global:.2}"),
                with_commas(total as u64),
                format!("{:.2}", samples as f64 / total),
                format!("{loss:.5}"),
            ]
        });
    }
    if page.honest {
        page.table(
            &["Batch size", "Samples", "Loop rate (samples/s)", "Training time (s)", "Time with queue (s)"],
            &rows,
        );
        page.paragraph(
            "The rates differ by a few per cent and each is from a single run, so no batch size can be called faster. \
             The last column holds queue, start-up and checkpoint and says nothing about the machine.",
        );
    } else {
        page.table(
            &[
                "Batch Size",
                "Avg Rate (samples/sec)",
                "Global Rate (samples/sec)",
                "Total Time (seconds)",
                "Throughput (samples/sec)",
                "Final Loss",
            ],
            &rows,
        );
        page.paragraph(
            "The throughput rises strongly with the batch size, so the largest one is the best, and the loss shows \
             that it learns well too.",
        );
    }
}
