//! DeepSpeed: step lines of the engine and rate lines of its timer.

use crate::calendar::Clock;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "deepspeed",
    summary: "DeepSpeed: step and learning-rate lines, RunningAvgSamplesPerSec lines with memory",
    options: log_options![
        ("steps", "200", OptionValues::Whole(1, 1 << 32), "global steps"),
        ("log-every", "10", OptionValues::Whole(1, 1 << 16), "steps between two reports"),
        ("batch-size", "64", OptionValues::Whole(1, 1 << 16), "samples per step"),
        ("rate", "61.2", OptionValues::Number(0.001, 1e9), "samples per second"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let every = settings.whole("log-every").max(1);
    let lines = job.units.unwrap_or(settings.whole("steps").div_ceil(every)).max(1);
    let rate = settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal());
    let samples = (every * settings.whole("batch-size")) as f64;
    let mut clock = Clock::some(&mut job.random);
    let mut elapsed = 0.0;
    for line in 1..=lines {
        let step = line * every;
        let seconds = samples / (rate * (1.0 + 0.005 * job.random.bounded_normal()));
        elapsed += seconds;
        clock.pass(seconds);
        say!(
            job.log.text("[").stamp(clock).text("] [INFO] [logging.py:96:log_dist] [Rank 0] "),
            "step={step}, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]"
        );
        say!(
            job.log.text("[").stamp(clock).text("] [INFO] [timer.py:260:stop] "),
            "epoch=0/micro_step={step}/global_step={step}, RunningAvgSamplesPerSec={}, CurrSamplesPerSec={}, \
             MemAllocated=2.51GB, MaxMemAllocated=11.24GB",
            samples * line as f64 / elapsed,
            samples / seconds
        );
    }
}
