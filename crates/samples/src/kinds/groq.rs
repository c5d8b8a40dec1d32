//! Groq proof points: a build from cache or from scratch, then a table in which one pair of columns is an estimate.

use crate::bar::Bar;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;
use assay_random::Random;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "groq",
    summary: "a Groq proof point: build, inference on chip and CPU, the table with measured and estimated columns",
    options: log_options![
        ("cached", "true", FLAG, "whether the build was found in the cache"),
        ("no-input", "true", FLAG, "the notice that the benchmark took the inputs of the compilation"),
        ("rebuild", "false", FLAG, "the warning that the model changed and is built again"),
        ("accuracy", "77.47", OptionValues::Number(0.0, 100.0), "accuracy of both rows in per cent"),
        ("samples", "2210", OptionValues::Whole(1, 1 << 32), "inputs in the data set"),
        ("runs", "1", OptionValues::Whole(1, 10_000), "runs one after another"),
    ],
    compose,
};

/// The rows of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroqRun {
    /// Inferences a second on the CPU.
    pub(crate) cpu: f64,
    /// Inferences a second on the chip, measured from outside.
    pub(crate) chip: f64,
    /// Inferences a second on the chip as the compiler predicts; the same in every run of a build.
    pub(crate) estimate: f64,
}

impl GroqRun {
    fn new(random: &mut Random) -> Self {
        Self {
            cpu: 451.0 + 3.0 * random.bounded_normal(),
            chip: 17_900.0 + 900.0 * random.bounded_normal(),
            estimate: 37_576.72,
        }
    }
}

/// The runs of the log that this seed gives.
pub(crate) fn runs(seed: u64, count: u64) -> Vec<GroqRun> {
    let mut random = Random::stream(seed, KIND.name);
    (0..count).map(|_| GroqRun::new(&mut random.fork())).collect()
}

fn compose(job: &mut SampleJob<'_, '_>) {
    for _ in 0..job.units.unwrap_or(job.settings.whole("runs")) {
        let mut random = job.random.fork();
        let run = GroqRun::new(&mut random);
        write_run(job, run);
    }
}

fn write_run(job: &mut SampleJob<'_, '_>, run: GroqRun) {
    let (log, settings) = (&mut *job.log, job.settings);
    log.line("");
    if settings.flag("rebuild") {
        log.line(
            "Warning: build_model() found a sample build with other input shapes and decided to rebuild",
        );
    }
    if settings.flag("cached") && !settings.flag("rebuild") {
        log.line("Woohoo! Build \"bert_tiny\" (build_name auto-selected) found in cache. Loading it!");
    } else {
        log.line("Building \"bert_tiny\"");
        for stage in [
            "Exporting PyTorch to ONNX",
            "Optimizing ONNX file",
            "Checking for Op support",
            "Converting to FP16",
            "Compiling model",
            "Assembling model",
        ] {
            log.text("    ✓ ").text(stage).end();
        }
        log.line("");
        log.line("Woohoo! Saved to ~/.cache/groqflow/bert_tiny");
    }
    log.line("Preprocessing data.");
    log.line("");
    if settings.flag("no-input") {
        log.line(
            "Info: No inputs received for benchmark. Using the inputs provided during model compilation.",
        );
    }
    log.line("Running inference on GroqChip.");
    log.line("Running inference using PyTorch model (CPU).");
    let samples = settings.whole("samples");
    let each = 1.0 / run.cpu;
    let elapsed = samples as f64 * each;
    Bar { label: "", done: samples, total: samples, elapsed, each, width: 40, unit: "it" }.draw(log);
    log.end();
    table(job, run);
    job.log.line("Proof point /home/sample-user/groqflow/proof_points/bert/bert_tiny.py finished!");
}

fn table(job: &mut SampleJob<'_, '_>, run: GroqRun) {
    const RULE: &str = "+--------+----------+-------------------------+----------------+----------------------+-------------+";
    let accuracy = format!("{:.2}%", job.settings.number("accuracy"));
    let log = &mut *job.log;
    log.line(RULE);
    log.line("| Source | Accuracy | end-to-end latency (ms) | end-to-end IPS | on-chip latency (ms) | on-chip IPS |");
    log.line(RULE);
    for (source, measured, estimated) in [("cpu", run.cpu, None), ("groq", run.chip, Some(run.estimate))] {
        let latency = format!("{:.2}", 1000.0 / measured);
        let rate = format!("{measured:.2}");
        let estimated_latency = estimated.map_or("--".to_owned(), |rate| format!("{:.2}", 1000.0 / rate));
        let estimated_rate = estimated.map_or("--".to_owned(), |rate| format!("{rate:.2}"));
        say!(
            log,
            "|{source:^8}|{accuracy:^10}|{latency:^25}|{rate:^16}|{estimated_latency:^22}|{estimated_rate:^13}|"
        );
    }
    log.line(RULE);
}
