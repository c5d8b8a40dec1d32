//! Cuts a key or a header into words and a unit.

use std::borrow::Cow;

use super::{PrintedUnit, Vocabulary};
use crate::writeup::vocabulary::words::words as plain_words;

/// The words of a phrase. Abbreviations with a small letter in front are one word; compounds are several.
pub fn words(text: &str) -> Vec<String> {
    Vocabulary::current().parted(cut(text))
}

/// The words of a phrase, compounds whole.
pub(super) fn cut(text: &str) -> Vec<String> {
    if let Some(text) = text.contains('@').then(|| spelled_out(text)).flatten() {
        return plain_words(&text);
    }
    let text = &*with_percentiles(text);
    // LightGBM prints `valid_0's auc`.
    if text.contains('\'') && (text.contains("'s ") || text.ends_with("'s")) {
        return cut(&text.replace("'s ", " ").trim_end_matches("'s").replace('\'', " "));
    }
    let has_capitals = text.bytes().any(|byte| byte.is_ascii_uppercase());
    if has_capitals && ["mAP", "IoU", "F1", "ROC"].iter().any(|odd| text.contains(odd)) {
        let text =
            text.replace("mAP", "map").replace("mIoU", "miou").replace("IoU", "iou").replace("ROC", "roc");
        return plain_words(&text);
    }
    join_percentiles(plain_words(text), text)
}

/// `50.0th percentile latency` as `p50 latency`.
pub fn with_percentiles(text: &str) -> Cow<'_, str> {
    // Nearly every text is a word or two.
    let is_long = text.len() > "th percentile".len();
    let found = || text.find("th percentile").or_else(|| text.find("th Percentile"));
    let Some(place) = is_long.then(found).flatten() else {
        return Cow::Borrowed(text);
    };
    let (head, tail) = text.split_at(place);
    let start = head.rfind(|letter: char| !(letter.is_ascii_digit() || letter == '.')).map_or(0, |at| at + 1);
    let share = head.get(start..).and_then(|digits| digits.parse::<f64>().ok());
    let (Some(share), Some(before), Some(behind)) =
        (share, head.get(..start), tail.get("th percentile".len()..))
    else {
        return Cow::Borrowed(text);
    };
    if share >= 100.0 {
        return Cow::Owned(format!("{before}max{behind}"));
    }
    Cow::Owned(format!("{before}p{share}{behind}"))
}

/// Joins the parts of `p99.9` again, which a point parts.
fn join_percentiles(spoken: Vec<String>, text: &str) -> Vec<String> {
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut found: Vec<String> = Vec::with_capacity(spoken.len());
    for word in spoken {
        match found.last_mut() {
            Some(last)
                if digits(&word)
                    && last.strip_prefix('p').is_some_and(digits)
                    && text.to_ascii_lowercase().contains(&format!("{last}.{word}")) =>
            {
                last.push('.');
                last.push_str(&word);
            }
            _ => found.push(word),
        }
    }
    found
}

/// `P@1` and `R@5` are precision and recall among the first answers.
fn spelled_out(text: &str) -> Option<String> {
    let (head, tail) = text.split_once('@')?;
    let (before, letter) = head.split_at_checked(head.len().checked_sub(1)?)?;
    let word = match letter {
        "P" | "p" => "precision",
        "R" | "r" => "recall",
        _ => return None,
    };
    let alone = !before.ends_with(|letter: char| letter.is_alphanumeric());
    (alone && tail.starts_with(|digit: char| digit.is_ascii_digit()))
        .then(|| format!("{before}{word} {tail}"))
}

/// Splits `Latency (ms)`, `Rate [samples/s]`, `time_ms` and `Size, MB` into words and unit.
pub fn split_unit(text: &str) -> (String, Option<PrintedUnit>) {
    if let Some(unit) = PrintedUnit::of_header(text.trim()) {
        return (String::new(), Some(unit));
    }
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((head, tail)) = text.split_once(open)
            && let Some((inside, behind)) = tail.split_once(close)
            && let Some(unit) = PrintedUnit::parse(inside)
        {
            return (format!("{head} {behind}"), Some(unit));
        }
    }
    // `hsv_s` is not a time: a single letter behind an underscore is a name more often than a unit.
    if let Some((head, tail)) = text.rsplit_once([',', '_', ' '])
        && !(tail == "s" && text.ends_with("_s") && !is_timed(head))
        // `steps_per_sec` is a rate.
        && !head.to_ascii_lowercase().ends_with("per")
        && matches!(
            tail,
            "ms" | "us"
                | "ns"
                | "sec"
                | "secs"
                | "seconds"
                | "s"
                | "mb"
                | "MB"
                | "gb"
                | "GB"
                | "GiB"
                | "MiB"
                | "pct"
                | "%"
        )
    {
        let tail = match tail {
            "mb" => "MB",
            "gb" => "GB",
            "pct" => "%",
            other => other,
        };
        return (head.to_owned(), PrintedUnit::parse(tail));
    }
    if let Some((head, tail)) = text.rsplit_once(' ')
        && tail.contains('/')
        && let Some(unit) = PrintedUnit::parse(tail).filter(PrintedUnit::is_telling)
    {
        return (head.to_owned(), Some(unit));
    }
    // `GFLOP/s Summary`: a rate before the words that say of what.
    if let Some((head, tail)) = text.split_once(' ')
        && let Some(unit) = PrintedUnit::of_header(head)
    {
        return (tail.to_owned(), Some(unit));
    }
    if let Some(head) = text.strip_suffix('%') {
        return (head.to_owned(), PrintedUnit::parse("%"));
    }
    (text.to_owned(), None)
}

/// Whether words speak of a time, so that an `_s` behind them is its unit: `time_total_s`.
fn is_timed(head: &str) -> bool {
    words(head).iter().any(|word| {
        ["time", "duration", "latency", "elapsed", "runtime", "walltime", "wall", "ttft"]
            .contains(&word.as_str())
    })
}
