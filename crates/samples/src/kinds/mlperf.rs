//! MLPerf training: `:::MLLOG` lines, each a JSON object.

use crate::calendar::Clock;
use crate::curve::LossCurve;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "mlperf",
    summary: "MLPerf `:::MLLOG` lines: settings, run_start, blocks, accuracies, run_stop with its status",
    options: log_options![
        ("status", "success", OptionValues::Words(&["success", "aborted"]), "what run_stop says"),
        ("blocks", "8", OptionValues::Whole(1, 1 << 32), "blocks of training, each with an evaluation"),
        ("batch-size", "3584", OptionValues::Whole(1, 1 << 16), "samples per step, over all devices"),
        ("rate", "22180", OptionValues::Number(0.01, 1e9), "samples per second"),
        ("target", "0.72", OptionValues::Number(0.0, 1.0), "the accuracy to be reached"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    const BLOCK: u64 = 450_000;
    let settings = job.settings;
    let blocks = job.units.unwrap_or(settings.whole("blocks")).max(1);
    let (target, aborted) = (settings.number("target"), settings.word("status") == "aborted");
    let rate = settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal());
    let mut clock = Clock::some(&mut job.random);
    entry(job, clock, "POINT_IN_TIME", "submission_benchmark", "\"bert\"", "{}");
    entry(job, clock, "POINT_IN_TIME", "submission_org", "\"Sample\"", "{}");
    entry(job, clock, "POINT_IN_TIME", "seed", "1234", "{}");
    let batch = settings.whole("batch-size").to_string();
    entry(job, clock, "POINT_IN_TIME", "global_batch_size", &batch, "{}");
    entry(job, clock, "INTERVAL_START", "init_start", "null", "{}");
    clock.pass(34.0);
    entry(job, clock, "INTERVAL_END", "init_stop", "null", "{}");
    entry(job, clock, "INTERVAL_START", "run_start", "null", "{}");
    // The quality rises to its goal at the end, or stays below it when the run is given up.
    let reach = if aborted { 0.94 } else { 1.004 };
    let curve = LossCurve { start: 0.3, floor: target * reach, steps: blocks as f64 / 6.0, noise: 0.0 };
    for block in 1..=blocks {
        let from = (block - 1) * BLOCK;
        entry(
            job,
            clock,
            "INTERVAL_START",
            "block_start",
            "null",
            &format!("{{\"first_epoch_num\": {from}}}"),
        );
        clock.pass(BLOCK as f64 / (rate * (1.0 + 0.003 * job.random.bounded_normal())));
        let throughput = format!("{{\"throughput\": {rate:.2}}}");
        let at = format!("{{\"step\": {}}}", block * BLOCK);
        entry(job, clock, "POINT_IN_TIME", "tracked_stats", &throughput, &at);
        let quality = curve.smooth(block as f64);
        let at = format!("{{\"epoch_num\": {}}}", block * BLOCK);
        entry(job, clock, "POINT_IN_TIME", "eval_accuracy", &format!("{quality:.6}"), &at);
        entry(job, clock, "INTERVAL_END", "block_stop", "null", &format!("{{\"first_epoch_num\": {from}}}"));
    }
    let status = format!("{{\"status\": \"{}\"}}", settings.word("status"));
    entry(job, clock, "INTERVAL_END", "run_stop", "null", &status);
    let samples = blocks * BLOCK;
    entry(job, clock, "POINT_IN_TIME", "train_samples", &samples.to_string(), "{}");
}

fn entry(job: &mut SampleJob<'_, '_>, clock: Clock, event: &str, key: &str, value: &str, metadata: &str) {
    say!(
        job.log,
        ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"{event}\", \"key\": \"{key}\", \"value\": \
         {value}, \"metadata\": {metadata}}}",
        clock.millis()
    );
}
