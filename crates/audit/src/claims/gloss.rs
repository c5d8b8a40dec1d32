//! A number in words with the exact one behind it in brackets: `about a third (34 %)`.

use assay_model::Source;

use super::pairs::operand;
use super::sentence::Sentence;
use crate::finding::Level;
use crate::quantity::{Bound, Quantity};
use crate::{Class, Finding};

/// How far the exact number may be from the words.
const SLACK: f64 = 0.2;
/// Words between the two.
const MOST_WORDS: usize = 6;

/// Checks the glosses of a sentence.
pub fn check(sentence: &Sentence) -> Vec<Finding> {
    let pairs = sentence.quantities.iter().zip(sentence.quantities.iter().skip(1));
    pairs.filter_map(|(words, exact)| gloss(sentence, words, exact)).collect()
}

fn gloss(sentence: &Sentence, words: &Quantity, exact: &Quantity) -> Option<Finding> {
    let between = sentence.text.get(words.end..exact.start)?;
    let behind = sentence.text.get(exact.end..)?.trim_start();
    let inner = between.trim_end();
    let bracketed = inner.ends_with('(') && behind.starts_with(')');
    // `failed three times (2.5 %)` counts.
    let relative = exact.unit.percent && words.value < 1.5 || exact.unit.times;
    let few = inner.split_whitespace().count() <= MOST_WORDS && inner.matches('(').count() == 1;
    if !(words.in_words && words.unit.times && !exact.in_words && relative && bracketed && few) {
        return None;
    }
    if inner.contains([',', ';', '.', ':']) || agrees(words, exact) {
        return None;
    }
    let lines = [sentence.line_of(words), sentence.line_of(exact)];
    let mut sources: Vec<Source> =
        lines.iter().map(|line| Source::new(sentence.file.clone(), *line)).collect();
    sources.dedup();
    Some(Finding {
        class: Class::Restatement,
        level: Level::Doubtful,
        summary: format!("`{}` is not `{}`", exact.text, words.text),
        arithmetic: Vec::new(),
        sources,
        operands: vec![operand(sentence, words), operand(sentence, exact)],
        advice: "correct one of the two".to_owned(),
    })
}

/// Whether the two may say the same: as it is, as what is left, as what is added, or the other way around.
fn agrees(words: &Quantity, exact: &Quantity) -> bool {
    let value = exact.value;
    let inverse = if value > 0.0 { 1.0 / value } else { 0.0 };
    let readings =
        if exact.unit.percent { [value, 1.0 - value, 1.0 + value] } else { [value, inverse, value] };
    let (low, high) = (words.low * (1.0 - SLACK), words.high * (1.0 + SLACK));
    readings.into_iter().any(|reading| match words.bound {
        Some(Bound::Above) => reading >= low,
        Some(Bound::Below) => reading <= high,
        None => (low..=high).contains(&reading),
    })
}
