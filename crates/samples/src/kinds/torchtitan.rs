//! torchtitan: step lines with memory, tokens per second and utilization, thousands separated by commas.

use crate::calendar::Clock;
use crate::curve::LossCurve;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;
use crate::number::with_commas;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "torchtitan",
    summary: "torchtitan: step lines with loss, memory, tps, tflops and mfu",
    options: log_options![
        ("steps", "100", OptionValues::Whole(1, 1 << 32), "training steps"),
        ("log-every", "10", OptionValues::Whole(1, 1 << 16), "steps between two lines"),
        ("rate", "6123", OptionValues::Number(0.01, 1e9), "tokens per second and device"),
        ("batch-size", "8", OptionValues::Whole(1, 1 << 16), "sequences a step and device"),
        ("sequence-length", "2048", OptionValues::Whole(1, 1 << 24), "tokens of a sequence"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let every = settings.whole("log-every").max(1);
    let lines = job.units.unwrap_or(settings.whole("steps").div_ceil(every)).max(1);
    let (batch, length) = (settings.whole("batch-size"), settings.whole("sequence-length"));
    let mut clock = Clock::some(&mut job.random);
    let curve = LossCurve { start: 12.2, floor: 6.6, steps: 45.0, noise: 0.02 };
    say!(
        job.log.text("[titan] ").stamp(clock).text(" - root - INFO - "),
        "Training starts at step 1, with local batch size {batch}, global batch size {batch}, sequence length \
         {length}, total steps {}",
        lines * every
    );
    for line in 0..=lines {
        let step = if line == 0 { 1 } else { line * every };
        if line > 0 && step == 1 {
            continue;
        }
        // The first step holds the start-up.
        let slower = if line == 0 { 6.0 } else { 1.0 };
        let rate = settings.number("rate") * (1.0 + 0.004 * job.random.bounded_normal()) / slower;
        let steps = if line == 0 { 1 } else { every };
        clock.pass((steps * batch * length) as f64 / rate);
        let loss = curve.at(step as f64, &mut job.random);
        say!(
            job.log.text("[titan] ").stamp(clock).text(" - root - INFO - "),
            "step: {step:2}  loss: {loss:7.4}  grad_norm: {:7.4}  memory: 20.10GiB(25.38%)  tps: {}  tflops: {:.2}  \
             mfu: {:.2}%",
            1.3 + 0.1 * job.random.bounded_normal(),
            with_commas(rate.round() as u64),
            rate * 0.0181,
            rate * 0.0058
        );
    }
    job.log.text("[titan] ").stamp(clock).text(" - root - INFO - Training completed").end();
}
