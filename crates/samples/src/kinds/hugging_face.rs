//! Hugging Face Trainer: dictionaries of losses, the summary dictionary, the block of metrics.

use crate::bar::Bar;
use crate::curve::LossCurve;
use crate::kind::{SampleJob, SampleKind};
use crate::log::say;

/// What can be chosen about a trainer's log; machines differ in how many samples per second are usual.
macro_rules! trainer_options {
    ($rate:literal) => {
        crate::kind::log_options![
            ("steps", "125", crate::kind::OptionValues::Whole(1, 1 << 32), "training steps"),
            (
                "log-every",
                "5",
                crate::kind::OptionValues::Whole(1, 1 << 16),
                "steps between two dictionaries"
            ),
            ("batch-size", "8", crate::kind::OptionValues::Whole(1, 1 << 16), "samples per step"),
            ("epochs", "1", crate::kind::OptionValues::Whole(1, 10_000), "passes over the data"),
            ("rate", $rate, crate::kind::OptionValues::Number(0.001, 1e9), "samples per second"),
            ("bars", "false", crate::kind::FLAG, "progress bars between the dictionaries"),
            ("quoted", "false", crate::kind::FLAG, "numbers in quotes, as newer versions print them"),
            ("wrapped", "false", crate::kind::FLAG, "the summary dictionary runs over several lines"),
            ("eval", "true", crate::kind::FLAG, "an evaluation at the end"),
        ]
    };
}

pub(super) use trainer_options;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "hugging-face",
    summary: "Hugging Face Trainer: loss dictionaries, train_runtime dictionary, `***** train metrics *****`",
    options: trainer_options!("3.663"),
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    compose_with(job, false);
}

/// The log, with the memory that the Gaudi trainer adds or without.
pub(super) fn compose_with(job: &mut SampleJob<'_, '_>, gaudi: bool) {
    let settings = job.settings;
    let every = settings.whole("log-every").max(1);
    let lines = job.units.unwrap_or(settings.whole("steps").div_ceil(every)).max(1);
    let steps = lines * every;
    let (batch, epochs) = (settings.whole("batch-size"), settings.whole("epochs") as f64);
    let rate = settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal());
    let samples = steps * batch;
    let seconds = samples as f64 / rate;
    let quote = if settings.flag("quoted") { "'" } else { "" };
    let curve = LossCurve { start: 4.1, floor: 2.05, steps: steps as f64 / 4.0, noise: 0.03 };
    let mut sum = 0.0;
    for line in 1..=lines {
        let step = line * every;
        let done = step as f64 / steps as f64;
        let loss = curve.at(step as f64, &mut job.random);
        sum += loss;
        if settings.flag("bars") {
            let each = seconds / steps as f64;
            let elapsed = seconds * done;
            job.log.text("\r");
            Bar { label: "", done: step, total: steps, elapsed, each, width: 10, unit: "it" }.draw(job.log);
            job.log.end();
        }
        let log = &mut *job.log;
        log.text("{'loss': ").text(quote).fixed(loss, 4).text(quote);
        log.text(", 'grad_norm': ").text(quote).fixed(1.2 + 0.2 * job.random.bounded_normal(), 4).text(quote);
        log.text(", 'learning_rate': ").text(quote).text(&python(5e-5 * (1.0 - done))).text(quote);
        log.text(", 'epoch': ").text(quote).fixed(done * epochs, 2).text(quote);
        if gaudi {
            log.text(", 'memory_allocated (GB)': 5.71, 'max_memory_allocated (GB)': 19.93");
            log.text(", 'total_memory_available (GB)': 94.62");
        }
        log.text("}").end();
    }
    let mean = sum / lines as f64;
    summary(job, &TrainingSummary { samples, seconds, rate, steps, mean, epochs, gaudi });
}

/// A small number as Python writes it: two digits of exponent at least.
fn python(value: f64) -> String {
    let text = format!("{value:.3e}");
    match text.split_once("e-") {
        Some((mantissa, exponent)) => format!("{mantissa}e-{exponent:0>2}"),
        None => "0.000e+00".to_owned(),
    }
}

struct TrainingSummary {
    samples: u64,
    seconds: f64,
    rate: f64,
    steps: u64,
    mean: f64,
    epochs: f64,
    gaudi: bool,
}

fn summary(job: &mut SampleJob<'_, '_>, summary: &TrainingSummary) {
    let TrainingSummary { samples, seconds, rate, steps, mean, epochs, gaudi } = summary;
    let steps_rate = *steps as f64 / seconds;
    let memory = if *gaudi { ", 'max_memory_allocated (GB)': 19.93" } else { "" };
    let between = if job.settings.flag("wrapped") { ",\n " } else { ", " };
    let text = [
        format!("{{'train_runtime': {seconds:.4}"),
        format!("'train_samples_per_second': {rate:.3}"),
        format!("'train_steps_per_second': {steps_rate:.3}"),
        format!("'train_loss': {mean}"),
        format!("'epoch': {epochs:.1}{memory}}}"),
    ]
    .join(between);
    job.log.lines(&text);
    job.log.line("***** train metrics *****");
    say!(job.log, "  epoch                    = {epochs:>10.1}");
    if *gaudi {
        job.log.line("  max_memory_allocated (GB) =     19.93");
    }
    say!(job.log, "  train_loss               = {mean:>10.4}");
    let minutes = (*seconds / 60.0).floor();
    let runtime =
        format!("{}:{:02}:{:05.2}", (minutes / 60.0).floor(), minutes % 60.0, seconds - minutes * 60.0);
    say!(job.log, "  train_runtime            = {runtime:>10}");
    say!(job.log, "  train_samples            = {samples:>10}");
    say!(job.log, "  train_samples_per_second = {rate:>10.3}");
    say!(job.log, "  train_steps_per_second   = {steps_rate:>10.3}");
    if !job.settings.flag("eval") {
        return;
    }
    let held_out = 512.0;
    let runtime = held_out / (rate * 2.6);
    let loss = mean * 0.97;
    let accuracy = 0.43 + 0.01 * job.random.bounded_normal();
    say!(
        job.log,
        "{{'eval_loss': {loss:.6}, 'eval_accuracy': {accuracy:.4}, 'eval_runtime': {runtime:.4}, \
         'eval_samples_per_second': {:.3}, 'epoch': {epochs:.1}}}",
        rate * 2.6
    );
    job.log.line("***** eval metrics *****");
    say!(job.log, "  eval_accuracy           = {accuracy:>10.4}");
    say!(job.log, "  eval_loss               = {loss:>10.4}");
    say!(job.log, "  perplexity              = {:>10.4}", loss.exp());
}
