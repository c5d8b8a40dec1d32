//! What the header of a column says: its unit and its words.

use crate::unit::{Unit, leading_unit, singular};

/// The unit that a header states.
pub fn header_unit(header: &str) -> Unit {
    let header = header.trim();
    // `min` beside `max` is a minimum.
    if header.eq_ignore_ascii_case("min") {
        return Unit::none();
    }
    for (open, close) in [('(', ')'), ('[', ']')] {
        for piece in header.split(open).skip(1) {
            let inner = piece.split(close).next().unwrap_or_default().trim();
            if let Some((unit, length)) = leading_unit(inner)
                && (length == inner.len() || unit.is_relative())
                && (!unit.is_count() || unit.scale != 1.0 || unit.is_relative())
            {
                let outer = header.split(open).next().unwrap_or_default().trim();
                return with_counted(unit, outer);
            }
        }
    }
    if header.contains('%') {
        return leading_unit("%").map(|(unit, _)| unit).unwrap_or_else(Unit::none);
    }
    let plain = header.split(['(', '[', ',']).next().unwrap_or_default().trim();
    if let Some(unit) = tail_unit(plain) {
        return unit;
    }
    // `generation, tokens/s`: it stands behind a comma.
    if let Some((_, last)) = header.rsplit_once(',') {
        let seconds = last.ends_with(" s").then_some("s").and_then(tail_unit);
        if let Some(unit) = seconds.or_else(|| tail_unit(last.trim())) {
            return unit;
        }
    }
    // `MB/s total`: the unit leads.
    if let Some((unit, length)) = leading_unit(plain)
        && plain.get(..length).is_some_and(|unit| unit.contains('/'))
        && plain.get(length..).is_some_and(|rest| rest.starts_with(' '))
        && !unit.is_count()
    {
        return unit;
    }
    Unit::none()
}

/// `tokens (M)`: the multiplier stands in brackets, the counted thing before them.
fn with_counted(unit: Unit, outer: &str) -> Unit {
    if unit.is_none()
        && unit.scale != 1.0
        && let Some((counted, length)) = leading_unit(outer)
        && length == outer.len()
    {
        return Unit { scale: counted.scale * unit.scale, ..counted };
    }
    unit
}

/// A unit that makes up the end of a header: `tokens/s`, `epoch time in s`, `latency_ms`, `images per second`.
fn tail_unit(header: &str) -> Option<Unit> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend(
        header
            .char_indices()
            .filter(|(_, one)| *one == ' ' || *one == '_')
            .map(|(at, one)| at + one.len_utf8()),
    );
    for start in starts {
        let tail = header.get(start..)?;
        let tail = spelled_right(tail);
        let Some((unit, length)) = leading_unit(tail) else { continue };
        let spelled = tail.get(..length).unwrap_or_default();
        let is_whole = length == tail.len();
        // A lone letter at the end of a header is rarely a unit, except behind `in` or an underscore.
        let clear = spelled.len() > 1
            || header.get(..start).is_some_and(|head| head.ends_with("in ") || head.ends_with('_'))
            || start == 0;
        if is_whole && clear && !unit.times && (!unit.is_count() || unit.percent || spelled.contains('/')) {
            return Some(unit);
        }
    }
    None
}

/// Gives the columns of counts a unit where another column has a rate or a price of the same things: `output tokens`
/// beside `output tokens/s`.
pub(super) fn count_things(headers: &[String], units: &mut [Unit]) {
    let prices: Vec<Unit> = headers.iter().filter_map(|header| price_of(header)).collect();
    let rated: Vec<Unit> = units.iter().filter(|unit| unit.is_rate()).cloned().chain(prices).collect();
    for (header, unit) in headers.iter().zip(units.iter_mut()).filter(|(_, unit)| unit.is_none()) {
        let plain = header.split(['(', '[', ',']).next().unwrap_or_default();
        let counted = plain.split_whitespace().filter(|word| word.len() > 3 && word.ends_with('s'));
        let mut counted = counted.map(|word| singular(&word.to_lowercase()));
        let noun = counted.find(|noun| rated.iter().any(|rate| rate.counts(noun)));
        if let Some((thing, _)) = noun.as_deref().and_then(leading_unit).filter(|(thing, _)| thing.is_count())
        {
            *unit = Unit { scale: unit.scale, ..thing };
        }
    }
}

/// What a column of prices is for each of: `price per instance hour`, `per million abstracts`.
pub(super) fn price_of(header: &str) -> Option<Unit> {
    let lower = header.to_lowercase();
    let at = if lower.starts_with("per ") { 4 } else { lower.find(" per ")? + 5 };
    let tail = header.get(at..)?.trim();
    let words = tail.match_indices(' ').map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(words)
        .find_map(|from| {
            let text = tail.get(from..)?;
            leading_unit(text).filter(|(unit, length)| *length == text.len() && !unit.is_relative())
        })
        .map(|(unit, _)| unit)
}

/// Names of columns are often in small letters: `kwh`, `peak_gib`.
fn spelled_right(unit: &str) -> &str {
    match unit {
        "kwh" => "kWh",
        "wh" => "Wh",
        "kb" => "kB",
        "mb" => "MB",
        "gb" => "GB",
        "tb" => "TB",
        "mib" => "MiB",
        "gib" => "GiB",
        "gflops" => "GFLOPS",
        "tflops" => "TFLOPS",
        other => other,
    }
}

/// Words that name nothing.
const EMPTY_WORDS: [&str; 35] = [
    "same", "the", "a", "an", "of", "in", "on", "at", "for", "and", "or", "with", "to", "per", "by", "is",
    "vs", "from", "as", "we", "it", "its", "than", "was", "are", "be", "that", "this", "our", "only", "one",
    "no", "not", "so", "all",
];

/// The words of a text that may name something, in lower case and in the singular.
pub fn words(text: &str) -> Vec<String> {
    text.split(|one: char| !(one.is_alphanumeric() || "._+-=".contains(one)))
        .flat_map(|word| {
            let whole = word.trim_matches(|one: char| !one.is_alphanumeric() && one != '+');
            let mut pieces = vec![whole];
            if whole.contains(['-', '_', '=']) {
                pieces.extend(whole.split(['-', '_', '=']).filter(|piece| piece.len() > 1));
            }
            pieces
        })
        .filter(|word| !word.is_empty())
        .map(|word| singular(&word.to_lowercase()))
        .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
        .collect()
}

/// Whether a header names a statistic.
pub fn is_statistic(header: &str) -> bool {
    let names = [
        "mean", "average", "avg", "median", "min", "max", "std", "stdev", "sd", "sum", "total", "p50", "p90",
        "p95", "p99",
    ];
    has_word(header, &names)
}

fn has_word(header: &str, names: &[&str]) -> bool {
    let header = header.to_lowercase();
    header.split(|one: char| !one.is_alphanumeric()).any(|word| names.contains(&word))
}

/// Whether a header names how far values spread, or an end of their interval. Noise follows no law: that its ratios are
/// equal in some rows is chance.
pub fn is_uncertainty(header: &str) -> bool {
    let names = [
        "spread",
        "std",
        "stdev",
        "sd",
        "stderr",
        "sem",
        "ci",
        "low",
        "high",
        "lower",
        "upper",
        "confidence",
    ];
    has_word(header, &names)
}

/// `job 1`, `seed 0`, `run3`, `r2`: a repeat by its number.
pub fn is_numbered(header: &str) -> bool {
    let header = header.trim().to_lowercase();
    let digits = header.chars().rev().take_while(char::is_ascii_digit).count();
    let stem = header.get(..header.len() - digits).unwrap_or_default();
    let stem = stem.trim_end_matches([' ', '#', '_', '-']);
    let repeats = [
        "run", "job", "seed", "trial", "repeat", "rep", "fold", "r", "round", "try", "sample", "call",
        "process",
    ];
    (1..=2).contains(&digits) && repeats.contains(&stem)
}
