//! nanoGPT: `iter` lines with a utilization that is -100 % until it is known, `step` lines with both losses.

use crate::curve::LossCurve;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "nanogpt",
    summary: "nanoGPT: iter lines with loss, time and mfu, step lines with train and val loss",
    options: log_options![
        ("steps", "2000", OptionValues::Whole(1, 1 << 32), "iterations"),
        ("log-every", "10", OptionValues::Whole(1, 1 << 16), "iterations between two lines"),
        ("eval-every", "500", OptionValues::Whole(1, 1 << 30), "iterations between two evaluations"),
        ("step-ms", "135.2", OptionValues::Number(0.001, 1e9), "milliseconds of an iteration"),
        ("compile", "true", FLAG, "the first iteration holds the compilation"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let every = settings.whole("log-every").max(1);
    let lines = job.units.unwrap_or(settings.whole("steps").div_ceil(every)).max(1);
    let evaluation = settings.whole("eval-every").max(1);
    let mean = settings.number("step-ms");
    let curve = LossCurve { start: 10.95, floor: 2.9, steps: 600.0, noise: 0.03 };
    job.log.line("number of parameters: 123.59M");
    if settings.flag("compile") {
        job.log.line("compiling the model... (takes a ~minute)");
    }
    for line in 0..=lines {
        let step = line * every;
        if step.is_multiple_of(evaluation) {
            let loss = curve.smooth(step as f64);
            say!(job.log, "step {step}: train loss {loss:.4}, val loss {:.4}", loss + 0.04);
        }
        let mut time = mean * (1.0 + 0.01 * job.random.bounded_normal());
        if line == 0 && settings.flag("compile") {
            time += 31_000.0;
        }
        let loss = curve.at(step as f64, &mut job.random);
        job.log.text("iter ").whole(step).text(": loss ").fixed(loss, 4).text(", time ").fixed(time, 2);
        // The first five lines have no utilization yet; the tool prints -100 % then.
        let utilization = if line < 5 { -100.0 } else { 38.11 * mean / time };
        job.log.text("ms, mfu ").fixed(utilization, 2).text("%").end();
    }
}
