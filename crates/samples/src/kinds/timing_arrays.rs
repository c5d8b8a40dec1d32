//! Arrays of times as NumPy prints them, wrapped over lines, with or without the slow first one.

use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::Log;
use assay_random::Random;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "timing-arrays",
    summary: "NumPy arrays of milliseconds per iteration: `forward [139.71225545 …]`",
    options: log_options![
        ("samples", "10", OptionValues::Whole(1, 1 << 20), "times in an array"),
        ("forward-ms", "139.6", OptionValues::Number(0.001, 1e9), "milliseconds of a forward pass"),
        (
            "backward-ms",
            "520.8",
            OptionValues::Number(0.001, 1e9),
            "milliseconds of a forward and backward pass"
        ),
        ("warmup", "true", FLAG, "whether iterations came before those that count; else the first is slow"),
        ("outlier", "false", FLAG, "one time far from the others"),
        ("runs", "1", OptionValues::Whole(1, 10_000), "pairs of arrays"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let samples = settings.whole("samples");
    for _ in 0..job.units.unwrap_or(settings.whole("runs")) {
        for (name, mean, slow) in [
            ("forward", settings.number("forward-ms"), 12.6),
            ("forward-backward", settings.number("backward-ms"), 1.77),
        ] {
            let mut times = times(samples, mean, &mut job.random);
            if !settings.flag("warmup") {
                times.first_mut().into_iter().for_each(|first| *first = mean * slow);
            }
            if settings.flag("outlier") {
                times.last_mut().into_iter().for_each(|last| *last = mean * 1.137);
            }
            array(job.log, name, &times);
        }
    }
}

/// Milliseconds of warm iterations around a mean.
pub(super) fn times(samples: u64, mean: f64, random: &mut Random) -> Vec<f64> {
    (0..samples).map(|_| mean * (1.0 + 0.0005 * random.bounded_normal())).collect()
}

/// An array with its name, wrapped as NumPy wraps it: 75 characters, all numbers equally wide.
pub(super) fn array(log: &mut Log<'_>, name: &str, times: &[f64]) {
    let texts: Vec<String> = times.iter().map(|time| format!("{time:.8}")).collect();
    let width = texts.iter().map(String::len).max().unwrap_or_default();
    log.text(name).text(" [");
    let mut column = 1;
    for (index, text) in texts.iter().enumerate() {
        if index > 0 && column + width + 1 > 75 {
            log.end();
            log.text(" ");
            column = 1;
        } else if index > 0 {
            log.text(" ");
            column += 1;
        }
        log.add(format_args!("{text:>width$}"));
        column += width;
    }
    log.text("]").end();
}
