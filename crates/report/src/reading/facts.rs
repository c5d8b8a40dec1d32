//! Small facts about runs, in the words that all shapes share.

use assay_model::{ClockKind, Origin, ReadRun, Scope, Source, Span, Status};

use crate::table::Tone;
use crate::words::clean;

/// A place in evidence, as editors understand it.
pub fn place(source: &Source) -> String {
    clean(&source.to_string())
}

/// The lines of a span.
pub fn lines(span: &Span) -> String {
    if span.last > span.first { format!("{}–{}", span.first, span.last) } else { span.first.to_string() }
}

/// The lines of a span in words.
pub fn lines_named(span: &Span) -> String {
    let word = if span.last > span.first { "lines" } else { "line" };
    format!("{word} {}", lines(span))
}

/// Where a run was found: the dialect that found most, and the platform where it is called otherwise.
pub fn dialect(run: &ReadRun) -> String {
    let mut names: Vec<&str> = run.dialects.iter().take(1).map(String::as_str).collect();
    if let Some(platform) = run.platform.as_deref()
        && !names.contains(&platform)
    {
        names.push(platform);
    }
    clean(&names.join(", "))
}

/// What a run's clock lacks; nothing for a clock that shows all.
pub fn clock(clock: ClockKind) -> Option<&'static str> {
    match clock {
        ClockKind::Absolute => None,
        ClockKind::NoZone => Some("the clock has no time zone"),
        ClockKind::NoDate => Some("the clock has no date"),
        ClockKind::Mixed => Some("clocks of two zones are mixed"),
    }
}

/// How a status is meant. A missed gate leaves the numbers valid.
pub fn status_tone(status: &Status) -> Tone {
    match status {
        Status::Succeeded => Tone::Good,
        Status::Unknown => Tone::Faint,
        Status::GateFailed { .. }
        | Status::DoesNotFit { .. }
        | Status::Interrupted
        | Status::Cancelled { .. }
        | Status::Truncated => Tone::Doubt,
        Status::Failed { .. } | Status::TimedOut { .. } | Status::Aborted { .. } => Tone::Bad,
    }
}

/// The word for what a value was taken over.
pub fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Instant => "instant",
        Scope::Loop => "loop",
        Scope::Fit => "fit",
        Scope::Job => "job",
    }
}

/// The word for how a value came about.
pub fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Measured => "measured",
        Origin::Reported => "reported",
        Origin::Derived => "derived",
        Origin::Prediction => "prediction",
    }
}
