//! A mean outside of the range that its sentence states: `between 28.4 and 33.0 GiB/s, mean 33.7`.

use assay_model::Source;

use super::pairs::operand;
use super::sentence::Sentence;
use crate::finding::Level;
use crate::quantity::Quantity;
use crate::{Class, Finding};

/// How far behind the range the mean may stand, in bytes.
const REACH: usize = 40;

/// Checks the ranges of a sentence.
pub fn check(sentence: &Sentence) -> Vec<Finding> {
    let pairs = sentence.quantities.windows(2);
    pairs.filter_map(|pair| outside(sentence, pair.first()?, pair.last()?)).collect()
}

fn outside(sentence: &Sentence, one: &Quantity, other: &Quantity) -> Option<Finding> {
    let head = sentence.text.get(..one.start)?.trim_end().to_lowercase();
    let joint = sentence.text.get(one.end..other.start)?.trim();
    let is_range = head.ends_with("between") && joint == "and" || head.ends_with("from") && joint == "to";
    if !is_range || one.value >= other.value || one.unit != other.unit || one.hedged || other.hedged {
        return None;
    }
    let mean = sentence.quantities.iter().find(|mean| {
        let before = sentence.words_before(mean.start);
        let named =
            before.iter().rev().take(2).any(|word| ["mean", "average", "median"].contains(&word.as_str()));
        let alike = mean.unit.is_none() || mean.unit == one.unit;
        named && alike && mean.start >= other.end && mean.start - other.end <= REACH
    })?;
    let scale = if mean.unit.is_none() { one.unit.factor() } else { 1.0 };
    let (low, high) = (mean.low * scale, mean.high * scale);
    let size = mean.value * scale / other.value;
    let is_outside = high < one.low || low > other.high;
    if !is_outside || !(0.2..5.0).contains(&size) {
        return None;
    }
    Some(Finding {
        class: Class::SampleStatistic,
        level: Level::Doubtful,
        summary: format!("`{}` is outside of the range from {} to {}", mean.text, one.text, other.text),
        arithmetic: Vec::new(),
        sources: vec![Source::new(sentence.file.clone(), sentence.line_of(mean))],
        operands: [one, other, mean].map(|quantity| operand(sentence, quantity)).to_vec(),
        advice: "correct one of the three".to_owned(),
    })
}
