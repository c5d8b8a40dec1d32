//! litgpt: iteration lines with loss and time, the final evaluation and the totals.

use crate::curve::LossCurve;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "litgpt",
    summary: "litgpt: `Epoch 1 | iter … | loss train: …` lines, validation, training time, memory",
    options: log_options![
        ("steps", "100", OptionValues::Whole(1, 1 << 32), "optimizer steps"),
        ("accumulation", "4", OptionValues::Whole(1, 4096), "iterations of a step"),
        ("step-ms", "356.7", OptionValues::Number(0.001, 1e9), "milliseconds of an iteration"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let steps = job.units.unwrap_or(settings.whole("steps")).max(1);
    let accumulation = settings.whole("accumulation");
    let mean = settings.number("step-ms");
    let curve = LossCurve { start: 10.98, floor: 4.4, steps: 80.0, noise: 0.02 };
    job.log.line("Number of trainable parameters: 14,067,712");
    job.log.line("Seed set to 42");
    let mut total = 0.0;
    for step in 1..=steps {
        let time = mean * (1.0 + 0.01 * job.random.bounded_normal());
        total += time * accumulation as f64 / 1000.0;
        let left = (steps - step) as f64 * mean * accumulation as f64 / 1000.0;
        let loss = curve.at(step as f64, &mut job.random);
        job.log.text("Epoch 1 | iter ").whole(step * accumulation).text(" step ").whole(step);
        job.log.text(" | loss train: ").fixed(loss, 3).text(", val: n/a | iter time: ").fixed(time, 2);
        job.log.text(" ms (step) remaining time: ").span(left).end();
        if step % 50 == 0 {
            let loss = curve.smooth(step as f64) + 0.05;
            say!(
                job.log,
                "iter {}: val loss {loss:.4}, val time: {:.2} ms",
                step * accumulation,
                mean * 21.0
            );
        }
    }
    let loss = curve.smooth(steps as f64) + 0.05;
    say!(job.log, "Final evaluation | val loss: {loss:.3} | val ppl: {:.3}", loss.exp());
    say!(job.log, "Training time: {total:.2}s");
    job.log.line("Memory used: 21.30 GB");
}
