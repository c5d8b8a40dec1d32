//! Units as people write them in headers, cells and sentences. A word that is no unit gives none, so that the text
//! behind a number is not taken for one.

use assay_model::Unit;

/// The unit of a factor such as `3×`.
pub fn times() -> Unit {
    Unit::Other("times".to_owned())
}

/// The unit of a number of which the evidence does not show the unit.
pub fn unknown() -> Unit {
    Unit::Other("unknown".to_owned())
}

/// Words for things that are counted: how they are written, and the one word for them.
const THINGS: &[(&str, &str)] = &[
    ("sample", "samples"),
    ("example", "samples"),
    ("image", "images"),
    ("img", "images"),
    ("bilder", "images"),
    ("张", "images"),
    ("枚", "images"),
    ("frame", "images"),
    ("sequence", "sequences"),
    ("seq", "sequences"),
    ("sentence", "sequences"),
    ("token", "tokens"),
    ("tok", "tokens"),
    ("doc", "documents"),
    ("document", "documents"),
    ("op", "operations"),
    ("request", "requests"),
    ("req", "requests"),
    ("query", "requests"),
    ("querie", "requests"),
    ("step", "steps"),
    ("iteration", "iterations"),
    ("iter", "iterations"),
    ("it", "iterations"),
    ("inference", "inferences"),
    ("batch", "batches"),
    ("batche", "batches"),
    ("epoch", "epochs"),
];

/// Words that stand behind a number without changing its scale.
const OTHERS: &[(&[&str], &str)] = &[
    (&["w", "watt", "watts"], "W"),
    (&["j", "joule", "joules"], "J"),
    (&["°c"], "°C"),
    (&["character", "characters", "char", "chars"], "characters"),
    (&["word", "words"], "words"),
    (&["epoch", "epochs"], "epochs"),
    (&["gpu", "gpus"], "GPUs"),
    (&["ipu", "ipus"], "IPUs"),
    (&["rdu", "rdus"], "RDUs"),
    (&["node", "nodes"], "nodes"),
    (&["task", "tasks"], "tasks"),
    (&["thread", "threads"], "threads"),
    (&["core", "cores"], "cores"),
    (&["layer", "layers"], "layers"),
    (&["head", "heads"], "heads"),
    (&["run", "runs"], "runs"),
    (&["repeat", "repeats"], "repeats"),
    (&["trial", "trials"], "trials"),
    (&["prompt", "prompts"], "prompts"),
    (&["user", "users"], "users"),
    (&["class", "classes"], "classes"),
    (&["device", "devices"], "devices"),
    (&["image", "images"], "images"),
    (&["batches"], "batches"),
    (&["parameter", "parameters", "params"], "parameters"),
];

/// Reads a whole text as a unit; the factor leads from the written scale to the base unit.
pub fn unit_of(text: &str) -> Option<(Unit, f64)> {
    let text = text.trim().trim_end_matches('.');
    if text.is_empty() || text.len() > 40 {
        return None;
    }
    let lower = text.to_lowercase().replace(" / ", "/").replace(" per ", "/").replace("per ", "/");
    match lower.as_str() {
        "×" | "x" | "times" | "fold" => return Some((times(), 1.0)),
        "ips" | "inf/s" => return Some((Unit::PerSecond("inferences".to_owned()), 1.0)),
        "tps" | "t/s" => return Some((Unit::PerSecond("tokens".to_owned()), 1.0)),
        "rps" | "qps" => return Some((Unit::PerSecond("requests".to_owned()), 1.0)),
        "fps" => return Some((Unit::PerSecond("frames".to_owned()), 1.0)),
        "%" | "percent" | "pct" | "per cent" => return Some((Unit::Fraction, 0.01)),
        _ => {}
    }
    if let Some(rate) = flops(&lower) {
        return Some(rate);
    }
    if let Some((above, below)) = lower.split_once('/') {
        return quotient(above, below, text);
    }
    if let Some(seconds) = seconds(&lower) {
        return Some((Unit::Seconds, seconds));
    }
    if let Some((_, thing)) = THINGS.iter().find(|(word, _)| *word == lower.trim_end_matches('s'))
        && lower != "it"
        && matches!(Unit::parse(thing).0, Unit::Count(_))
    {
        return Some(Unit::parse(thing));
    }
    if let Some((_, name)) = OTHERS.iter().find(|(words, _)| words.contains(&lower.as_str())) {
        return Some((Unit::Other((*name).to_owned()), 1.0));
    }
    bytes(text).map(|factor| (Unit::Bytes, factor))
}

fn quotient(above: &str, below: &str, text: &str) -> Option<(Unit, f64)> {
    if let Some(span) = seconds(below) {
        let written = text.split(['/', ' ']).next().unwrap_or_default();
        if let Some(factor) = bytes(written) {
            return Some((Unit::PerSecond("B".to_owned()), factor / span));
        }
        return thing(above).map(|name| (Unit::PerSecond(name.to_owned()), 1.0 / span));
    }
    // `ms/step` and `s/it`: a time for one thing.
    let span = seconds(above)?;
    thing(below).map(|_| (Unit::Seconds, span))
}

fn thing(word: &str) -> Option<&'static str> {
    let word = word.trim();
    let singular = word.strip_suffix('s').unwrap_or(word);
    THINGS.iter().find(|(name, _)| *name == word || *name == singular).map(|(_, thing)| *thing)
}

fn seconds(word: &str) -> Option<f64> {
    let factor = match word.trim().trim_end_matches('.') {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "sek" | "sekunden" | "secondes" | "segundos" | "сек" | "секунд" | "秒" | "초" => 1.0,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "millis" | "мс" | "毫秒" => 1e-3,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" | "micros" | "微秒" => {
            1e-6
        }
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" | "nanos" => 1e-9,
        "min" | "mins" | "minute" | "minutes" | "minuten" | "minutos" | "мин" | "分钟" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "stunden" | "heures" | "horas" | "小时" => 3600.0,
        "ps" => 1e-12,
        "day" | "days" => 86400.0,
        _ => return None,
    };
    Some(factor)
}

fn bytes(word: &str) -> Option<f64> {
    match Unit::parse(word) {
        (Unit::Bytes, factor) => Some(factor),
        _ => None,
    }
}

fn flops(lower: &str) -> Option<(Unit, f64)> {
    let stem = lower
        .strip_suffix("/s")
        .or_else(|| lower.strip_suffix("/sec"))
        .or_else(|| lower.strip_suffix("/second"))
        .or_else(|| lower.strip_suffix("flops").and_then(|head| lower.get(..head.len() + 4)))?;
    let factor = match stem.trim_end_matches('s') {
        "flop" => 1.0,
        "mflop" => 1e6,
        "gflop" => 1e9,
        "tflop" => 1e12,
        "pflop" => 1e15,
        _ => return None,
    };
    Some((Unit::PerSecond("FLOP".to_owned()), factor))
}

/// Reads the unit that a text begins with: the unit, its factor and how many bytes it takes. The unit must end where
/// a word ends.
pub fn leading_unit(text: &str) -> Option<(Unit, f64, usize)> {
    // The longest unit has three words: `samples per second`, `samples / second`.
    let mut ends: Vec<usize> = Vec::new();
    let mut in_word = false;
    for (at, character) in text.char_indices().take(40) {
        let is_word = character.is_alphanumeric() || "%°/×".contains(character);
        if in_word && !is_word {
            ends.push(at);
            if ends.len() == 3 || character != ' ' {
                in_word = false;
                break;
            }
        }
        if !is_word && character != ' ' {
            break;
        }
        in_word = is_word;
    }
    if in_word && ends.len() < 3 {
        ends.push(text.char_indices().take(40).last().map_or(0, |(at, last)| at + last.len_utf8()));
    }
    for end in ends.iter().rev() {
        if let Some((unit, factor)) = text.get(..*end).and_then(unit_of) {
            return Some((unit, factor, *end));
        }
    }
    glued_sign(text)
}

/// `%` and `×` end by themselves, whatever follows.
fn glued_sign(text: &str) -> Option<(Unit, f64, usize)> {
    match text.chars().next() {
        Some('%') => Some((Unit::Fraction, 0.01, 1)),
        Some('×') => Some((times(), 1.0, '×'.len_utf8())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_in_headers_cells_and_sentences() {
        let per_second = |thing: &str| Unit::PerSecond(thing.to_owned());
        for (text, unit, factor) in [
            ("s", Unit::Seconds, 1.0),
            ("Seconds", Unit::Seconds, 1.0),
            ("ms", Unit::Seconds, 1e-3),
            ("samples/sec", per_second("samples"), 1.0),
            ("samples / second", per_second("samples"), 1.0),
            ("Samples per Second", per_second("samples"), 1.0),
            ("images/min", per_second("images"), 1.0 / 60.0),
            ("tok/s", per_second("tokens"), 1.0),
            ("IPS", per_second("inferences"), 1.0),
            ("TFLOPS", per_second("FLOP"), 1e12),
            ("TFLOP/s", per_second("FLOP"), 1e12),
            ("GB/s", per_second("B"), 1e9),
            ("GiB", Unit::Bytes, 1073741824.0),
            ("ms/step", Unit::Seconds, 1e-3),
            ("s/it", Unit::Seconds, 1.0),
            ("%", Unit::Fraction, 0.01),
            ("tokens", Unit::Count("tokens".into()), 1.0),
            ("×", times(), 1.0),
        ] {
            assert_eq!(unit_of(text), Some((unit, factor)), "{text}");
        }
        for text in ["", "faster", "msa", "higher", "Sophia", "it", "in", "and"] {
            assert_eq!(unit_of(text), None, "{text}");
        }
    }

    #[test]
    fn the_longest_unit_at_the_beginning_counts() {
        assert_eq!(leading_unit("samples per second, all").map(|unit| unit.2), Some(18));
        assert_eq!(leading_unit("samples/sec across").map(|unit| unit.2), Some(11));
        assert_eq!(leading_unit("seconds in the end").map(|unit| unit.2), Some(7));
        assert_eq!(leading_unit("× faster (B)").map(|unit| unit.2), Some(2));
        assert_eq!(leading_unit("%, 98").map(|unit| unit.2), Some(1));
        assert_eq!(leading_unit("msa"), None);
        assert_eq!(leading_unit("s.").map(|unit| unit.2), Some(1));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            let _ = (unit_of(&text), leading_unit(&text));
        }
    }
}
