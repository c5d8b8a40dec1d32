//! PyTorch Lightning: epoch bars with metrics behind the rate, and the end of the fit.

use crate::bar::Bar;
use crate::curve::LossCurve;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "lightning",
    summary: "PyTorch Lightning: model summary, epoch bars with train_loss, test table",
    options: log_options![
        ("epochs", "3", OptionValues::Whole(1, 1 << 32), "epochs"),
        ("steps", "200", OptionValues::Whole(1, 1 << 30), "steps of an epoch"),
        ("rate", "9.95", OptionValues::Number(0.001, 1e9), "steps per second"),
        ("raw", "true", FLAG, "every state of the bar after a carriage return, not only the last one"),
        ("test", "true", FLAG, "a table of test metrics at the end"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let (steps, raw) = (settings.whole("steps"), settings.flag("raw"));
    let epochs = job.units.unwrap_or(settings.whole("epochs"));
    job.log.lines(
        "GPU available: True (cuda), used: True\nTPU available: False, using: 0 TPU cores\n\
         LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]\n\n  | Name  | Type       | Params\n\
         -------------------------------------\n0 | model | SampleNet  | 1.2 M \n\
         -------------------------------------\n1.2 M     Trainable params\n0         Non-trainable params\n\
         1.2 M     Total params",
    );
    let curve = LossCurve { start: 2.35, floor: 0.11, steps: 2.0 * steps as f64, noise: 0.02 };
    let mut loss = curve.start;
    for epoch in 0..epochs {
        let each = 1.0 / (settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal()));
        let label = format!("Epoch {epoch}");
        for done in (0..=steps).step_by(20).chain((steps % 20 != 0).then_some(steps)) {
            if !raw && done < steps {
                continue;
            }
            if raw && done > 0 {
                job.log.text("\r");
            }
            let elapsed = each * done as f64;
            Bar { label: &label, done, total: steps, elapsed, each, width: 10, unit: "it" }.open(job.log);
            loss = curve.at((epoch.min(1 << 20) * steps + done) as f64, &mut job.random).max(0.001);
            job.log.text(", v_num=0, train_loss=").fixed(loss, 3).text("]");
        }
        job.log.end();
    }
    say!(job.log, "`Trainer.fit` stopped: `max_epochs={epochs}` reached.");
    if settings.flag("test") {
        let rule = "─".repeat(57);
        let accuracy = 0.97 + 0.004 * job.random.bounded_normal();
        job.log.line(&rule);
        job.log.line("       Test metric             DataLoader 0");
        job.log.line(&rule);
        say!(job.log, "        test_acc            {accuracy:.16}");
        say!(job.log, "        test_loss           {:.16}", loss * 1.1);
        job.log.line(&rule);
    }
}
