//! llama-bench: a table in which a rate carries its deviation.

use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "llama-bench",
    summary: "llama-bench: the table of prompt and generation rates with `±`",
    options: log_options![
        ("threads", "8", OptionValues::Whole(1, 4096), "threads"),
        ("commas", "false", FLAG, "thousands separated by commas"),
        ("rows", "4", OptionValues::Whole(1, 1 << 32), "rows"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    const TESTS: [(&str, f64); 4] = [("pp512", 1071.2), ("tg128", 64.3), ("pp1024", 1033.9), ("tg256", 63.1)];
    let threads = job.settings.whole("threads");
    job.log.line(
        "| model                          |       size |     params | backend    | threads |          test |                  t/s |",
    );
    job.log.line(
        "| ------------------------------ | ---------: | ---------: | ---------- | ------: | ------------: | -------------------: |",
    );
    for row in 0..job.units.unwrap_or(job.settings.whole("rows")) {
        let (test, mean) = TESTS.get((row % 4) as usize).copied().unwrap_or_default();
        let mean = mean * (1.0 + 0.01 * job.random.bounded_normal());
        let deviation = mean * job.random.between(0.002, 0.006);
        let rate = match job.settings.flag("commas") && mean >= 1000.0 {
            true => format!("{},{:06.2}", (mean / 1000.0).floor(), mean % 1000.0),
            false => format!("{mean:.2}"),
        };
        let cell = format!("{rate} ± {deviation:.2}");
        say!(
            job.log,
            "| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CPU        | {threads:>7} | {test:>13} | {cell:>20} |"
        );
    }
    job.log.line("");
    job.log.line("build: 5a0e3ef6 (4400)");
}
