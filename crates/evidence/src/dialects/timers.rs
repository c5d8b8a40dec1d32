//! Tools that time a whole command: `perf stat`, the shell's `time`, and `/usr/bin/time`.

use assay_model::{Unit, names};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{clock_seconds, number};
use crate::vocabulary::words;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "timers",
    title: "perf stat and time",
    summary: "counters of `perf stat`, and the times that a shell's `time` or `/usr/bin/time` prints behind a command",
    needles: &[
        PERF,
        "cycles",
        "instructions",
        "branches",
        "-misses",
        "-loads",
        "-faults",
        "-references",
        "task-clock",
        "cpu-clock",
        "context-switches",
        "cpu-migrations",
        "seconds time elapsed",
        "seconds user",
        "seconds sys",
        "real\t",
        "user\t",
        "sys\t",
        "real  ",
        "user  ",
        "sys  ",
        "Elapsed (wall clock) time",
        "Maximum resident set size",
        "User time (seconds)",
        "System time (seconds)",
        "maxresident)k",
    ],
    shapes: &[
        Shape {
            text: " Performance counter stats for './solve':\n\n    1,250.50 msec task-clock   #    0.998 CPUs utilized\n \
                   4,000,000,000      cycles       #    3.199 GHz\n 6,000,000,000      instructions #    1.50  insn per cycle\n \
                   12,000      branch-misses   #    0.40% of all branches\n\n       1.253000000 seconds time elapsed",
            reads: "duration.task_clock, cycles, instructions, instructions_per_cycle, branch_misses, duration.wall",
        },
        Shape {
            text: "real\t0m11.775s\nuser\t0m7.504s\nsys\t0m3.356s",
            reads: "duration.wall, duration.user, duration.system",
        },
        Shape {
            text: "\tUser time (seconds): 7.50\n\tSystem time (seconds): 3.36\n\t\
                   Elapsed (wall clock) time (h:mm:ss or m:ss): 0:11.77\n\tMaximum resident set size (kbytes): 2048",
            reads: "duration.user, duration.system, duration.wall, memory.peak",
        },
        Shape {
            text: "7.50user 3.36system 0:11.77elapsed 92%CPU (0avgtext+0avgdata 2048maxresident)k",
            reads: "duration.user, duration.system, duration.wall, memory.peak",
        },
    ],
    derived: &[],
    notes: &[
        "Counters are read below the line `Performance counter stats for`; each keeps the name of its event.",
    ],
    reader: || Box::<TimersReader>::default(),
};

const PERF: &str = "Performance counter stats for";

#[derive(Default)]
struct TimersReader {
    /// Whether counters of `perf stat` follow.
    counters: bool,
}

impl DialectReader for TimersReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text.trim();
        if text.contains(PERF) {
            self.counters = true;
            return Taken::Part;
        }
        if shell_time(text, facts) || gnu_time(text, facts) || short_time(text, facts) {
            return Taken::Whole;
        }
        if self.counters && (elapsed(text, facts) || counter(text, facts)) {
            return Taken::Whole;
        }
        Taken::Nothing
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = TimersReader::default();
    }
}

fn seconds(name: &str, value: f64, facts: &mut Facts<'_>) {
    facts.value(Value { unit: Some(&Unit::Seconds), ..Value::reported(name, value) });
}

fn kibibytes(value: f64, facts: &mut Facts<'_>) {
    let unit = Unit::Bytes;
    facts.value(Value { unit: Some(&unit), ..Value::reported(names::MEMORY_PEAK, value * 1024.0) });
}

/// `real 0m11.775s`, or `real 11.78` as POSIX has it.
fn shell_time(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some((word, rest)) = text.split_once(['\t', ' ']) else { return false };
    let name = match word {
        "real" => "duration.wall",
        "user" => "duration.user",
        "sys" => "duration.system",
        _ => return false,
    };
    let rest = rest.trim();
    let (minutes, rest) = match rest.split_once('m') {
        Some((minutes, rest)) => (minutes.parse::<f64>().ok(), rest),
        None => (Some(0.0), rest),
    };
    let value = rest.strip_suffix('s').unwrap_or(rest).replace(',', ".").parse::<f64>().ok();
    let (Some(minutes), Some(value)) = (minutes, value) else { return false };
    if !(minutes.is_finite() && value.is_finite()) {
        return false;
    }
    seconds(name, minutes * 60.0 + value, facts);
    true
}

/// The lines of `/usr/bin/time -v`.
fn gnu_time(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some((key, value)) = text.rsplit_once(": ") else { return false };
    let name = match key {
        "User time (seconds)" => "duration.user",
        "System time (seconds)" => "duration.system",
        "Elapsed (wall clock) time (h:mm:ss or m:ss)" => "duration.wall",
        "Maximum resident set size (kbytes)" => {
            let Some((value, _)) = number(value) else { return false };
            kibibytes(value, facts);
            return true;
        }
        _ => return false,
    };
    let Some(value) = clock_seconds(value) else { return false };
    seconds(name, value, facts);
    true
}

/// The one line of `/usr/bin/time`.
fn short_time(text: &str, facts: &mut Facts<'_>) -> bool {
    let mut found = false;
    for word in text.split([' ', '(', '+']) {
        let ends = [("user", "duration.user"), ("system", "duration.system"), ("elapsed", "duration.wall")];
        for (end, name) in ends {
            if let Some(value) = word.strip_suffix(end).and_then(clock_seconds) {
                seconds(name, value, facts);
                found = true;
            }
        }
        if let Some((value, _)) = word.strip_suffix("maxresident)k").and_then(number) {
            kibibytes(value, facts);
        }
    }
    found
}

/// `1.253 seconds time elapsed`, with the spread of several runs or without.
fn elapsed(text: &str, facts: &mut Facts<'_>) -> bool {
    let name = if text.contains("seconds time elapsed") {
        "duration.wall"
    } else if text.ends_with("seconds user") {
        "duration.user"
    } else if text.ends_with("seconds sys") {
        "duration.system"
    } else {
        return false;
    };
    let Some((value, _)) = number(text) else { return false };
    seconds(name, value, facts);
    true
}

/// `4,000,000,000  cycles:u  # 3.199 GHz`.
fn counter(text: &str, facts: &mut Facts<'_>) -> bool {
    let (stated, comment) = text.split_once('#').unwrap_or((text, ""));
    let Some(end) = stated.find([' ', '\t']) else { return false };
    let (written, rest) = stated.split_at(end);
    if !written.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    // Some locales part digits in groups of two, so commas are dropped rather than read.
    let Ok(value) = written.replace(',', "").parse::<f64>() else { return false };
    let mut event = rest.trim();
    let milliseconds = event.strip_prefix("msec ").map(str::trim_start);
    event = milliseconds.unwrap_or(event);
    let in_milliseconds = milliseconds.is_some() || event.ends_with("(msec)");
    let event = event.split([':', '(']).next().unwrap_or_default().trim();
    if event.is_empty() || event.contains(' ') {
        return false;
    }
    let slug =
        event.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).collect::<Vec<_>>().join("_");
    let slug = slug.trim_matches('_');
    match (slug, in_milliseconds) {
        ("task_clock" | "cpu_clock", true) => seconds(&format!("duration.{slug}"), value * 1e-3, facts),
        // Newer versions count these in nanoseconds.
        ("task_clock" | "cpu_clock", false) => seconds(&format!("duration.{slug}"), value * 1e-9, facts),
        _ => facts.report(slug, value),
    }
    if let Some((value, rest)) = number(comment.trim())
        && words(rest).starts_with(&["insn".to_owned(), "per".to_owned(), "cycle".to_owned()])
    {
        facts.report("instructions_per_cycle", value);
    }
    true
}
