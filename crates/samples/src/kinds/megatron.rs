//! Megatron-LM: one long line an iteration, with bars between its fields.

use crate::calendar::Clock;
use crate::curve::LossCurve;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "megatron",
    summary: "Megatron-LM: iteration lines with time, throughput and loss, validation lines",
    options: log_options![
        ("steps", "100", OptionValues::Whole(1, 1 << 32), "iterations"),
        ("log-every", "10", OptionValues::Whole(1, 1 << 16), "iterations between two lines"),
        ("batch-size", "512", OptionValues::Whole(1, 1 << 16), "samples per iteration, over all devices"),
        ("step-ms", "13372.8", OptionValues::Number(0.01, 1e9), "milliseconds of an iteration"),
        ("devices", "8", OptionValues::Whole(1, 1 << 20), "devices"),
        ("pairs", "false", FLAG, "time and throughput as current/mean pairs"),
        ("eval", "true", FLAG, "a validation at the end"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let every = settings.whole("log-every").max(1);
    let lines = job.units.unwrap_or(settings.whole("steps").div_ceil(every)).max(1);
    let (steps, batch) = (lines * every, settings.whole("batch-size"));
    let mean = settings.number("step-ms") * (1.0 + 0.004 * job.random.bounded_normal());
    let mut clock = Clock::some(&mut job.random);
    let curve = LossCurve { start: 10.9, floor: 6.2, steps: 60.0, noise: 0.02 };
    say!(
        job.log,
        "using world size: {}, data-parallel size: {0}, tensor-model-parallel size: 1",
        settings.whole("devices")
    );
    say!(job.log, "training ...");
    let mut total = 0.0;
    for line in 1..=lines {
        let step = line * every;
        let time = mean * (1.0 + 0.003 * job.random.bounded_normal());
        total += time;
        clock.pass(time * every as f64 / 1000.0);
        let loss = curve.at(step as f64, &mut job.random);
        say_step(job, clock, step, steps, batch, time, total / line as f64, loss);
    }
    if settings.flag("eval") {
        let loss = curve.smooth(steps as f64) + 0.03;
        let rule = "-".repeat(110);
        job.log.line(&rule);
        say!(
            job.log,
            " validation loss at iteration {steps} | lm loss value: {} | lm loss PPL: {} | ",
            scientific(loss),
            scientific(loss.exp())
        );
        job.log.line(&rule);
    }
}

#[expect(clippy::too_many_arguments, reason = "one line has that many fields")]
fn say_step(
    job: &mut SampleJob<'_, '_>,
    clock: Clock,
    step: u64,
    steps: u64,
    batch: u64,
    time: f64,
    mean: f64,
    loss: f64,
) {
    // 155.2 TFLOP/s and device belong to the default time; the product of both is constant.
    let work = 155.2 * 13_372.8;
    let log = &mut *job.log;
    log.add(format_args!(
        " [{}] iteration {step:8}/{steps:8} | consumed samples: {:12} | elapsed time per iteration (ms): ",
        clock.plain(),
        step * batch
    ));
    log.fixed(time, 1);
    if job.settings.flag("pairs") {
        log.text("/").fixed(mean, 1);
    }
    log.text(" | throughput per GPU (TFLOP/s/GPU): ").fixed(work / time, 1);
    if job.settings.flag("pairs") {
        log.text("/").fixed(work / mean, 1);
    }
    say!(
        log,
        " | learning rate: 1.500000E-05 | global batch size: {batch:5} | lm loss: {} | loss scale: 1.0 | grad norm: \
         {:.3} | number of skipped iterations:   0 | number of nan iterations:   0 |",
        scientific(loss),
        2.1 + 0.2 * job.random.bounded_normal()
    );
}

/// `8.123456E+00`.
fn scientific(value: f64) -> String {
    let text = format!("{value:.6E}");
    match text.split_once('E') {
        Some((mantissa, exponent)) => match exponent.strip_prefix('-') {
            Some(digits) => format!("{mantissa}E-{digits:0>2}"),
            None => format!("{mantissa}E+{exponent:0>2}"),
        },
        None => text,
    }
}
