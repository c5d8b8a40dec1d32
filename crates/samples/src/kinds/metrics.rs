//! Lines that hold nothing but `name=value` pairs.

use crate::curve::LossCurve;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "metrics",
    summary: "name=value lines: a loss and a rate a step, then an accuracy",
    options: log_options![
        ("steps", "10", OptionValues::Whole(1, 1 << 32), "lines"),
        ("rate", "812.5", OptionValues::Number(0.001, 1e9), "samples per second"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let curve = LossCurve { start: 2.3, floor: 0.2, steps: 20.0, noise: 0.01 };
    for step in 1..=job.units.unwrap_or(job.settings.whole("steps")) {
        let loss = curve.at(step as f64, &mut job.random);
        let rate = job.settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal());
        job.log.text("step=").whole(step).text(" loss=").fixed(loss, 4).text(" rate=").fixed(rate, 2);
        job.log.text(" samples/s").end();
    }
    say!(job.log, "accuracy={:.1}%", 97.0 + job.random.bounded_normal());
}
