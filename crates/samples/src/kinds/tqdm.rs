//! Bare progress bars with carriage returns, an epoch to a line.

use crate::bar::Bar;
use crate::curve::LossCurve;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};

pub(crate) const KIND: SampleKind = SampleKind {
    name: "tqdm",
    summary: "tqdm progress bars, every state after a carriage return, one line an epoch",
    options: log_options![
        ("epochs", "3", OptionValues::Whole(1, 1 << 32), "bars one after another"),
        ("steps", "200", OptionValues::Whole(1, 1 << 30), "steps of a bar"),
        ("rate", "45.5", OptionValues::Number(0.001, 1e9), "steps per second"),
        ("loss", "true", FLAG, "the loss stands behind the rate"),
        ("width", "10", OptionValues::Whole(1, 200), "characters of the bar itself"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let (steps, width) = (settings.whole("steps"), settings.whole("width"));
    let with_loss = settings.flag("loss");
    let curve = LossCurve { start: 2.4, floor: 0.08, steps: 1.5 * steps as f64, noise: 0.01 };
    for epoch in 0..job.units.unwrap_or(settings.whole("epochs")) {
        let each = 1.0 / (settings.number("rate") * (1.0 + 0.02 * job.random.bounded_normal()));
        for done in 0..=steps {
            if done > 0 {
                job.log.text("\r");
            }
            let elapsed = each * done as f64;
            let bar = Bar { label: "Training", done, total: steps, elapsed, each, width, unit: "it" };
            if with_loss && done > 0 {
                bar.open(job.log);
                let loss = curve.at((epoch.min(1 << 20) * steps + done) as f64, &mut job.random);
                job.log.text(", loss=").fixed(loss.max(0.001), 3).text("]");
            } else {
                bar.draw(job.log);
            }
        }
        job.log.end();
    }
}
