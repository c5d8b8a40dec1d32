//! The canonical names of metrics and settings. Whatever a log calls a number, it is stored under one of these,
//! so that two logs can be set side by side.

use crate::{Direction, Unit};

/// One canonical metric.
#[derive(Debug, Clone, Copy)]
pub struct Canonical {
    pub name: &'static str,
    /// Its base unit, as it is written.
    pub unit: &'static str,
    /// Which direction is better, where that can be said.
    pub better: Option<Direction>,
    pub summary: &'static str,
}

macro_rules! canonical {
    ($($constant:ident = $name:literal, $unit:literal, $better:expr, $summary:literal;)*) => {
        $(#[doc = $summary] pub const $constant: &str = $name;)*
        /// All canonical metrics, in the order of the documentation.
        pub const METRICS: &[Canonical] =
            &[$(Canonical { name: $name, unit: $unit, better: $better, summary: $summary }),*];
    };
}

const LOWER: Option<Direction> = Some(Direction::Lower);
const HIGHER: Option<Direction> = Some(Direction::Higher);

canonical! {
    LOSS_TRAIN = "loss.train", "", LOWER, "Training loss at a step.";
    LOSS_FINAL = "loss.final", "", LOWER, "Training loss at the end, as the log states it.";
    LOSS_MEAN = "loss.mean", "", LOWER, "Mean training loss over the run.";
    LOSS_EVAL = "loss.eval", "", LOWER, "Loss on held-out data.";
    LOSS_TEST = "loss.test", "", LOWER, "Loss on test data.";
    ACCURACY = "accuracy", "fraction", HIGHER, "Share of right answers on held-out data.";
    PERPLEXITY = "perplexity", "", LOWER, "Perplexity on held-out data.";
    QUALITY = "quality", "", HIGHER, "Any other quality score, for example a correlation.";
    EPOCH_S = "epoch_s", "s", LOWER, "Seconds per epoch.";
    EPOCH = "epoch", "", None, "Epoch, whole or fractional, at a step.";
    STEPS = "steps", "steps", None, "Steps done.";
    SAMPLES = "samples", "samples", None, "Samples processed.";
    TOKENS = "tokens", "tokens", None, "Tokens processed in training.";
    SAMPLES_PER_S_INSTANT = "samples_per_s.instant", "samples/s", HIGHER, "Samples per second since the last report.";
    SAMPLES_PER_S_LOOP = "samples_per_s.loop", "samples/s", HIGHER, "Samples per second over the loop alone.";
    SAMPLES_PER_S_FIT = "samples_per_s.fit", "samples/s", HIGHER, "Samples per second over the whole fit, with compile, staging and checkpoints.";
    SAMPLES_PER_S_JOB = "samples_per_s.job", "samples/s", HIGHER, "Samples per second over the whole job, with queue and start-up.";
    SAMPLES_PER_S_EVAL = "samples_per_s.eval", "samples/s", HIGHER, "Samples per second of evaluation.";
    SAMPLES_PER_S = "samples_per_s", "samples/s", HIGHER, "Samples per second over a time that the evidence does not name.";
    TOKENS_PER_S = "tokens_per_s", "tokens/s", HIGHER, "Tokens per second of training.";
    TOKENS_PER_S_DEVICE = "tokens_per_s.device", "tokens/s", HIGHER, "Tokens per second of training on one device.";
    OUTPUT_THROUGHPUT = "output_throughput", "tokens/s", HIGHER, "Generated tokens per second.";
    PROMPT_THROUGHPUT = "prompt_throughput", "tokens/s", HIGHER, "Prompt tokens per second.";
    TOTAL_TOKEN_THROUGHPUT = "total_token_throughput", "tokens/s", HIGHER, "Prompt and generated tokens per second together.";
    TOKENS_PER_S_UNNAMED = "tokens_per_s.unnamed", "tokens/s", HIGHER, "Tokens per second of an endpoint that does not say which tokens it counts.";
    STEPS_PER_S = "steps_per_s", "steps/s", HIGHER, "Steps per second.";
    ITERATIONS_PER_S = "iterations_per_s", "iterations/s", HIGHER, "Iterations of a progress bar per second.";
    STEP_S = "step_s", "s", LOWER, "Seconds per step.";
    REQUEST_THROUGHPUT = "request_throughput", "requests/s", HIGHER, "Requests per second.";
    INFERENCES_PER_S = "inferences_per_s", "inferences/s", HIGHER, "Inferences per second, measured from outside.";
    INFERENCES_PER_S_ESTIMATED = "inferences_per_s.estimated", "inferences/s", HIGHER, "Inferences per second that a compiler predicts.";
    BYTES_PER_S = "bytes_per_s", "B/s", HIGHER, "Bytes per second: copying, hashing, reading.";
    FLOPS_PER_S = "flops_per_s", "FLOP/s", HIGHER, "Floating-point operations per second and device.";
    MFU = "mfu", "fraction", HIGHER, "Share of the device's peak that the model's arithmetic reaches.";
    EFFICIENCY = "efficiency", "fraction", HIGHER, "Share of perfect scaling.";
    SPEEDUP = "speedup", "", HIGHER, "How many times the base.";
    E2E = "e2e", "s", LOWER, "Seconds from request to last byte.";
    TTFT = "ttft", "s", LOWER, "Seconds to the first token.";
    TPOT = "tpot", "s", LOWER, "Seconds per output token after the first.";
    ITL = "itl", "s", LOWER, "Seconds between two chunks of output.";
    LATENCY = "latency", "s", LOWER, "Seconds of one inference.";
    LATENCY_ESTIMATED = "latency.estimated", "s", LOWER, "Latency that a compiler predicts.";
    DURATION_LOOP = "duration.loop", "s", LOWER, "Seconds of the loop alone.";
    DURATION_FIT = "duration.fit", "s", LOWER, "Seconds of the whole fit.";
    DURATION_JOB = "duration.job", "s", LOWER, "Seconds of the whole job.";
    DURATION_SCRIPT = "duration.script", "s", LOWER, "Seconds that a script says it took, whatever it did.";
    DURATION_REPORTED = "duration.reported", "s", LOWER, "Seconds that the evidence states without saying what they span.";
    DURATION_COMPILE = "duration.compile", "s", LOWER, "Seconds of compilation.";
    DURATION_EVAL = "duration.eval", "s", LOWER, "Seconds of evaluation.";
    DURATION_QUEUE = "duration.queue", "s", LOWER, "Seconds in a queue.";
    TIME_FORWARD = "time.forward", "s", LOWER, "Seconds of one forward pass.";
    TIME_FORWARD_BACKWARD = "time.forward_backward", "s", LOWER, "Seconds of one forward and backward pass.";
    TIME_STEP = "time.step", "s", LOWER, "Seconds of one full step with the optimizer.";
    TIME_ITERATION = "time.iteration", "s", LOWER, "Seconds of one iteration of a built-in workload, of whatever it does.";
    TIME_FIRST = "time.first", "s", LOWER, "Seconds of the very first iteration, warm-up or not.";
    TIMING = "timing", "s", LOWER, "A time of which the evidence does not say more.";
    PARAMETERS = "parameters", "", None, "Parameters of the model.";
    PARAMETERS_WITHOUT_HEAD = "parameters.without_head", "", None, "Parameters of the model without its output matrix.";
    PARAMETERS_TRAINABLE = "parameters.trainable", "", None, "Parameters that are trained.";
    TOKENS_PROMPT = "tokens.prompt", "tokens", None, "Prompt tokens.";
    TOKENS_OUTPUT = "tokens.output", "tokens", None, "Generated tokens.";
    TOKENS_REASONING = "tokens.reasoning", "tokens", None, "Generated tokens that are not shown.";
    TOKENS_TOTAL = "tokens.total", "tokens", None, "Prompt and generated tokens together.";
    TOKENS_RESPONSE = "tokens.response", "tokens", None, "Tokens that a write-up calls the response.";
    REQUESTS = "requests", "requests", None, "Requests made.";
    REQUESTS_FAILED = "requests.failed", "requests", LOWER, "Requests that failed.";
    SUCCESS = "success", "fraction", HIGHER, "Share of requests that succeeded.";
    LEARNING_RATE = "learning_rate", "", None, "Learning rate at a step.";
    GRADIENT_NORM = "gradient_norm", "", None, "Norm of the gradient at a step.";
    MEMORY_PEAK = "memory.peak", "B", LOWER, "Largest memory of the process or device.";
    MEMORY = "memory", "B", LOWER, "Memory in use.";
    UTILIZATION = "utilization", "fraction", HIGHER, "Share of the device in use.";
    CACHE_USE = "cache_use", "fraction", None, "Share of a key-value cache in use.";
    POWER = "power", "W", LOWER, "Power drawn.";
    TEMPERATURE = "temperature", "°C", LOWER, "Temperature.";
    ENERGY = "energy", "J", LOWER, "Energy used.";
    GPU_POWER = "gpu.power", "W", LOWER, "Mean power of all GPUs of the machine together during a run, measured by the launcher.";
    GPU_ENERGY = "gpu.energy", "J", LOWER, "Energy of all GPUs of the machine during a run, measured by the launcher.";
    GPU_UTILIZATION = "gpu.utilization", "fraction", HIGHER, "Mean utilization of the GPUs during a run, measured by the launcher.";
    GPU_CLOCK = "gpu.clock", "Hz", None, "Mean clock of the GPUs' processors during a run, measured by the launcher.";
    GPU_MEMORY = "gpu.memory", "B", LOWER, "Peak memory in use on all GPUs of the machine during a run, measured by the launcher.";
    PARITY_LOSS = "parity.loss", "", None, "Loss of the first iteration, by which engines are checked against each other.";
    PARITY_OUTPUT = "parity.output", "", None, "Root mean square of the outputs of the first iteration, likewise.";
    PARITY_GRADIENT = "parity.gradient", "", None, "Norm of all gradients of the first iteration, likewise.";
    LOGITS = "logits", "", None, "Outputs of a classifier before the softmax, as a series.";
    PROBABILITIES = "probabilities", "fraction", None, "Outputs of a classifier after the softmax, as a series.";
}

/// The present name of a metric, for records that were written when some metrics had other names.
pub fn present(name: &str) -> &str {
    match name {
        "latency.e2e" => E2E,
        "latency.ttft" => TTFT,
        "latency.tpot" => TPOT,
        "latency.itl" => ITL,
        "tokens_per_s.output" => OUTPUT_THROUGHPUT,
        "tokens_per_s.total" => TOTAL_TOKEN_THROUGHPUT,
        "tokens_per_s.prompt" => PROMPT_THROUGHPUT,
        "requests_per_s" => REQUEST_THROUGHPUT,
        "utilisation" => UTILIZATION,
        // Middles of requests have the name that other clients give them.
        "ttft.median" | "latency.ttft.median" => "ttft.p50",
        "ttfo.median" | "latency.ttfo.median" => "ttfo.p50",
        "tpot.median" | "latency.tpot.median" => "tpot.p50",
        "itl.median" | "latency.itl.median" => "itl.p50",
        "e2e.median" | "latency.e2e.median" => "e2e.p50",
        other => other.strip_prefix("latency.").filter(|rest| rest.contains('.')).unwrap_or(other),
    }
}

/// What is known of a canonical metric; none for names that are not canonical.
pub fn canonical(name: &str) -> Option<&'static Canonical> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// The base unit of a canonical metric, and a bare number for others.
pub fn unit(name: &str) -> Unit {
    canonical(name).map_or(Unit::One, |metric| Unit::parse(metric.unit).0)
}

/// Canonical names of settings.
pub mod setting {
    /// Samples per step, over all devices.
    pub const BATCH_SIZE: &str = "batch_size";
    /// Samples a test step takes.
    pub const TEST_BATCH_SIZE: &str = "test_batch_size";
    /// Samples one device takes at once.
    pub const MICRO_BATCH_SIZE: &str = "micro_batch_size";
    /// Passes over the data.
    pub const EPOCHS: &str = "epochs";
    /// Steps of the optimizer.
    pub const STEPS: &str = "steps";
    /// Steps of one epoch, as a progress bar counts them.
    pub const STEPS_PER_EPOCH: &str = "steps_per_epoch";
    pub const LEARNING_RATE: &str = "learning_rate";
    /// The number of a Slurm job. It names a run and sets nothing, so runs that differ in it alone are repeats.
    pub const JOB: &str = "slurm_job";
    /// Tasks (processes) of a job.
    pub const TASKS: &str = "tasks";
    pub const TASKS_PER_NODE: &str = "tasks_per_node";
    /// Nodes of a job.
    pub const NODES: &str = "nodes";
    /// Accelerators in use.
    pub const DEVICES: &str = "devices";
    /// The kind of device, for example `CPU` or `CUDA`.
    pub const DEVICE: &str = "device";
    /// Tokens of a sequence.
    pub const SEQUENCE_LENGTH: &str = "sequence_length";
    /// The model's name or size.
    pub const MODEL: &str = "model";
    /// Streams or requests in flight.
    pub const CONCURRENCY: &str = "concurrency";
    pub const THREADS: &str = "threads";
    /// Random seed.
    pub const SEED: &str = "seed";
    /// Numeric precision.
    pub const PRECISION: &str = "precision";
    /// Whether iterations came before the ones that count.
    pub const WARMUP: &str = "warmup";
    /// Whether a profiler was attached.
    pub const PROFILER: &str = "profiler";
    /// Whether the compiled program came from a cache.
    pub const COMPILE_CACHE: &str = "compile_cache";
    /// Width of the model.
    pub const D_MODEL: &str = "d_model";
    /// Width of the feed-forward layer.
    pub const D_FF: &str = "d_ff";
    pub const LAYERS: &str = "layers";
    /// Attention heads.
    pub const HEADS: &str = "heads";
    /// Vocabulary size.
    pub const VOCABULARY: &str = "vocabulary";
    /// Requests or prompts in all.
    pub const REQUESTS: &str = "requests";
    /// Classes of a classifier.
    pub const CLASSES: &str = "classes";
    /// Where the inputs came from.
    pub const INPUT: &str = "input";
    /// Who computes a built-in workload.
    pub const ENGINE: &str = "engine";
    /// The file that a built-in workload writes its profile to; empty without one.
    pub const PROFILE: &str = "profile";
    /// Settings of built-in workloads that say how a thing is computed, and not what.
    pub const HOW: [&str; 10] =
        [ENGINE, DEVICE, "mode", THREADS, "checkpointing", "python", PROFILE, "iterations", WARMUP, "paced"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_units_are_base_units() {
        for (index, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..index].iter().all(|other| other.name != metric.name), "{}", metric.name);
            assert_eq!(Unit::parse(metric.unit).1, 1.0, "{}", metric.name);
        }
    }
}
