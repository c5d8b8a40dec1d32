//! Graphcore application logs: compilation, then a bar whose label carries step, loss and accuracy.

use crate::bar::Bar;
use crate::calendar::Clock;
use crate::curve::LossCurve;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "graphcore-app",
    summary: "a Graphcore application: compilation, a bar with loss and throughput, the training metrics",
    options: log_options![
        ("steps", "150", OptionValues::Whole(1, 1 << 32), "training steps"),
        ("batch-size", "16", OptionValues::Whole(1, 1 << 16), "samples per step, over all replicas"),
        ("rate", "750", OptionValues::Number(0.01, 1e9), "samples per second"),
        ("compile-s", "98", OptionValues::Number(0.0, 1e5), "seconds of compilation or loading"),
        (
            "raw",
            "true",
            FLAG,
            "every state of the bar after a carriage return; else every tenth on a line of its own"
        ),
        ("gc-monitor", "false", FLAG, "a table of the devices after it"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let steps = job.units.unwrap_or(settings.whole("steps")).max(1);
    let batch = settings.whole("batch-size");
    let rate = settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal());
    let compile = settings.number("compile-s") * (1.0 + 0.01 * job.random.bounded_normal());
    let clock = Clock::some(&mut job.random);
    let rule = "-".repeat(59);

    job.log.line("---------- Compilation/Loading from Cache Started ---------");
    say!(
        job.log,
        "[{}] [poptorch:cpp] [warning] [DISPATCHER] Type coerced from Long to Int for tensor id 372",
        clock.time_of_day()
    );
    Bar {
        label: "Graph compilation",
        done: 100,
        total: 100,
        elapsed: compile * 0.94,
        each: 0.0,
        width: 10,
        unit: "",
    }
    .draw(job.log);
    job.log.end();
    say!(job.log, "Compiled/Loaded model in {compile} secs");
    job.log.line(&rule);
    job.log.line("--------------------- Training Started --------------------");

    let elapsed = train(job, steps, batch, rate);
    job.log.line(&rule);
    job.log.line("-------------------- Training Metrics ---------------------");
    say!(job.log, "global_batch_size: {batch}");
    job.log.line("device_iterations: 1");
    say!(job.log, "training_steps: {steps}");
    say!(job.log, "Training time: {elapsed:.3} secs");
    job.log.line(&rule);
    if settings.flag("gc-monitor") {
        monitor(job);
    }
}

/// The bar from first to last step; gives the seconds it took.
fn train(job: &mut SampleJob<'_, '_>, steps: u64, batch: u64, rate: f64) -> f64 {
    let curve = LossCurve { start: 10.8, floor: 7.35, steps: 40.0, noise: 0.03 };
    let each = batch as f64 / rate;
    let raw = job.settings.flag("raw");
    let mut elapsed = 0.0;
    for step in 0..steps {
        let seconds = each * (1.0 + 0.01 * job.random.bounded_normal());
        elapsed += seconds;
        let total = curve.at(step as f64, &mut job.random);
        if !raw && step % 10 != 9 && step + 1 < steps {
            continue;
        }
        if raw {
            job.log.text("\r");
        }
        let label = format!(
            "Step: {step} / {} - LR: 1.00e-03 - total loss: {total:.3} - mlm_loss: {:.3} - nsp_loss: {:.3} - mlm_acc: \
             {:.3} % - nsp_acc: 0.875 %",
            steps - 1,
            total * 0.95,
            total * 0.05,
            0.161 * (1.0 - (-(step as f64) / 50.0).exp())
        );
        Bar { label: &label, done: step, total: steps, elapsed, each, width: 10, unit: "it" }.open(job.log);
        job.log.text(", throughput: ").fixed(batch as f64 / seconds, 1).text(" samples/sec]");
        // A bar is broken by other output now and then; without this a long log would be a single line.
        if !raw || step % 50 == 49 || step + 1 == steps {
            job.log.end();
        }
    }
    elapsed
}

fn monitor(job: &mut SampleJob<'_, '_>) {
    const WIDE: &str =
        "+--------------------------------------------------------------+-----------------------+";
    const NARROW: &str =
        "+----+------------------------------+--------------+-----------+-----------+-----------+";
    job.log.line(WIDE);
    job.log.line("|      IPUs in sample_2616 attached from other namespaces      |         Board         |");
    job.log.line(NARROW);
    job.log.line("| ID |       Application host       |    Clock     |   Temp    |   Temp    |   Power   |");
    job.log.line(NARROW);
    for device in 0..4 {
        say!(
            job.log,
            "| {device:<2} |        sample-node-02        |   1850MHz    |  {:.1} C   |  {:.1} C   |  {:>5.1} W  |",
            job.random.between(22.0, 31.0),
            job.random.between(19.0, 26.0),
            job.random.between(85.0, 140.0)
        );
    }
    job.log.line(NARROW);
}
