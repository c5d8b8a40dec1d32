//! Numbers in words, and words that say how exact a number is.

use super::{Bound, Quantity, WORDS_BEFORE, ending};
use crate::unit::Unit;

const ONES: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// The value of a number word up to twenty.
pub fn count_word(word: &str) -> Option<f64> {
    let lower = word.to_lowercase();
    match lower.as_str() {
        "thirty" => return Some(30.0),
        "forty" => return Some(40.0),
        "fifty" => return Some(50.0),
        "hundred" => return Some(100.0),
        "dozen" => return Some(12.0),
        _ => {}
    }
    ONES.iter().position(|one| *one == lower).map(|value| value as f64)
}

/// The value of a fraction word: `half`, `third`, `quarters`.
pub fn fraction_word(word: &str) -> Option<f64> {
    let lower = word.to_lowercase();
    let single = lower.strip_suffix('s').unwrap_or(&lower);
    Some(match single {
        "half" | "halve" | "halved" => 0.5,
        "third" => 1.0 / 3.0,
        "quarter" | "fourth" => 0.25,
        "fifth" => 0.2,
        "sixth" => 1.0 / 6.0,
        "seventh" => 1.0 / 7.0,
        "eighth" => 0.125,
        "ninth" => 1.0 / 9.0,
        "tenth" => 0.1,
        "nineteenth" => 1.0 / 19.0,
        "twentieth" => 0.05,
        _ => return None,
    })
}

/// The quantity that the words at a position spell: a factor, a fraction, or a count with a noun behind it.
pub(super) fn quantity_at(text: &str, at: usize) -> Option<Quantity> {
    let rest = text.get(at..)?;
    let words: Vec<(usize, &str)> = rest
        .split(|character: char| !(character.is_alphanumeric() || character == '\''))
        .map(|word| (word.as_ptr() as usize - rest.as_ptr() as usize, word))
        .filter(|(_, word)| !word.is_empty())
        .take(6)
        .collect();
    let word = |index: usize| words.get(index).map_or("", |(_, word)| *word);
    let end = |index: usize| at + words.get(index).map_or(0, |(start, word)| start + word.len());
    let adjacent = |index: usize| {
        let (Some((one, first)), Some((two, _))) = (words.get(index), words.get(index + 1)) else {
            return false;
        };
        rest.get(one + first.len()..*two).is_some_and(|between| between == " " || between == "-")
    };
    let first = word(0).to_lowercase();
    let spelled = |value: f64, slack: f64, last: usize| {
        Some(spelled(text, at, end(last), value, slack, Unit { scale: 1.0, times: true, ..Unit::default() }))
    };
    match first.as_str() {
        "twice" => return spelled(2.0, 0.06, 0),
        "double" | "doubled" | "doubles" => return spelled(2.0, 0.08, 0),
        "triple" | "tripled" | "triples" | "thrice" => return spelled(3.0, 0.08, 0),
        "quadrupled" | "quadruples" => return spelled(4.0, 0.08, 0),
        "halved" | "halves" => return spelled(0.5, 0.08, 0),
        "tenfold" => return spelled(10.0, 0.1, 0),
        "half" if adjacent(0) && word(1) == "a" && ["percent", "per"].contains(&word(2)) => {
            let unit = Unit { scale: 0.01, percent: true, ..Unit::default() };
            let last = if word(2) == "per" { 3 } else { 2 };
            let mut half = spelled_exact(text, at, end(last), 0.5, unit);
            (half.low, half.high) = (0.0035, 0.0065);
            return Some(half);
        }
        "half" if adjacent(0) && ["the", "of", "as"].contains(&word(1)) && word(2) != "times" => {
            return spelled(0.5, 0.06, 0);
        }
        "an" if rest.starts_with("an order of magnitude") => return spelled(10.0, 0.5, 3),
        _ => {}
    }
    let numerator = if first == "a" { Some(1.0) } else { count_word(&first) };
    let numerator = numerator.filter(|_| adjacent(0))?;
    if word(1) == "and"
        && word(2) == "a"
        && word(3) == "half"
        && ["times", "hours"].contains(&word(4))
        && word(4) == "times"
    {
        return spelled(numerator + 0.5, 0.04, 4);
    }
    if let Some(fraction) = fraction_word(word(1)).filter(|_| word(1) != "half" || first == "a") {
        return spelled(numerator * fraction, 0.05, 1);
    }
    if first == "a" {
        return None;
    }
    match word(1) {
        "times" | "fold" => spelled(numerator, 0.05, 1),
        "per" if word(2) == "cent" => {
            let unit = Unit { scale: 0.01, percent: true, ..Unit::default() };
            Some(spelled_exact(text, at, end(2), numerator, unit))
        }
        "percent" => {
            let unit = Unit { scale: 0.01, percent: true, ..Unit::default() };
            Some(spelled_exact(text, at, end(1), numerator, unit))
        }
        "percentage" if word(2).starts_with("point") => {
            let unit = Unit { scale: 0.01, points: true, ..Unit::default() };
            Some(spelled_exact(text, at, end(2), numerator, unit))
        }
        _ => None,
    }
}

fn spelled(text: &str, start: usize, end: usize, value: f64, slack: f64, unit: Unit) -> Quantity {
    Quantity {
        value,
        low: value * (1.0 - slack),
        high: value * (1.0 + slack),
        written: value,
        unit,
        text: text.get(start..end).unwrap_or_default().to_owned(),
        start,
        end,
        in_words: true,
        hedged: false,
        bound: None,
        range: false,
    }
}

fn spelled_exact(text: &str, start: usize, end: usize, value: f64, unit: Unit) -> Quantity {
    let scale = unit.scale;
    let mut quantity = spelled(text, start, end, value * scale, 0.0, unit);
    (quantity.low, quantity.high, quantity.written) = ((value - 0.5) * scale, (value + 0.5) * scale, value);
    quantity
}

/// Widens the interval of a quantity by the words before it.
pub(super) fn hedge(quantity: &mut Quantity, text: &str) {
    let head = ending(text.get(..quantity.start).unwrap_or_default().trim_end(), WORDS_BEFORE).to_lowercase();
    let head =
        head.strip_suffix(" a").or(head.strip_suffix(" the")).or(head.strip_suffix(" an")).unwrap_or(&head);
    let ends = |words: &[&str]| {
        words.iter().any(|word| {
            head.strip_suffix(word).is_some_and(|before| !before.ends_with(|one: char| one.is_alphanumeric()))
        })
    };
    let value = quantity.value.abs();
    if head.ends_with(['~', '≈'])
        || ends(&[
            "about",
            "roughly",
            "around",
            "approximately",
            "some",
            "circa",
            "ca.",
            "approx.",
            "close to",
            "approx",
        ])
    {
        quantity.hedged = true;
        quantity.low -= 0.05 * value;
        quantity.high += 0.05 * value;
    } else if ends(&["nearly", "almost", "just under", "a bit less than", "just below", "not quite"]) {
        quantity.hedged = true;
        quantity.low -= 0.1 * value;
        quantity.high += 0.01 * value;
    } else if ends(&["just over", "slightly more than", "a little over", "a good", "slightly above"]) {
        quantity.hedged = true;
        quantity.high += 0.1 * value;
    } else if ends(&[
        "more than",
        "over",
        "above",
        "at least",
        "exceeds",
        "beyond",
        "exceeding",
        "greater than",
        "well over",
        ">",
        "≥",
    ]) {
        quantity.bound = Some(Bound::Above);
    } else if ends(&[
        "less than",
        "under",
        "below",
        "at most",
        "not even",
        "up to",
        "within",
        "fewer than",
        "no more than",
        "<",
        "≤",
    ]) {
        quantity.bound = Some(Bound::Below);
    }
}
