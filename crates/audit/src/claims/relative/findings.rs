//! What is said of a relative number.

use assay_model::Source;

use crate::claims::pairs::{Candidate, operand};
use crate::claims::prior::{Bearing, Judged};
use crate::claims::relation::Relation;
use crate::claims::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::number::shown;
use crate::quantity::Quantity;
use crate::{Class, Finding};

fn source(sentence: &Sentence, quantity: &Quantity) -> Source {
    Source::new(sentence.file.clone(), sentence.line_of(quantity))
}

fn stated(sentence: &Sentence, quantity: &Quantity) -> Operand {
    operand(sentence, quantity)
}

pub fn supported(sentence: &Sentence, quantity: &Quantity, candidate: &Candidate) -> Finding {
    let value = computed(quantity, candidate);
    let mut sources = vec![source(sentence, quantity)];
    sources.extend(places(sentence, &candidate.operands));
    Finding {
        class: Class::Comparison,
        level: Level::Supported,
        summary: format!("`{}` is {} = {value}", quantity.text, candidate.formula),
        arithmetic: vec![format!("{} = {value}", candidate.formula)],
        sources,
        operands: candidate.operands.clone(),
        advice: String::new(),
    }
}

/// The computed value in the way the claim is written.
pub fn computed(quantity: &Quantity, candidate: &Candidate) -> String {
    let value = candidate.value.middle();
    if quantity.unit.percent || quantity.unit.points {
        format!("{} %", shown(value * 100.0))
    } else {
        shown(value)
    }
}

fn places(sentence: &Sentence, operands: &[Operand]) -> Vec<Source> {
    let mut found: Vec<Source> = Vec::new();
    for operand in operands {
        let place = Source::new(sentence.file.clone(), operand.line);
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

pub fn not_checked(sentence: &Sentence, quantity: &Quantity) -> Finding {
    Finding {
        class: Class::Comparison,
        level: Level::NotChecked,
        summary: format!("what `{}` compares is not clear from the document", quantity.text),
        arithmetic: Vec::new(),
        sources: vec![source(sentence, quantity)],
        operands: vec![stated(sentence, quantity)],
        advice: "name the two numbers that are compared".to_owned(),
    }
}

/// No reading gives the number: says which come nearest.
pub fn failed(
    sentence: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    candidates: &[&Candidate],
    level: Level,
) -> Finding {
    let distance = |candidate: &Candidate| {
        let (one, other) = (candidate.value.middle(), quantity.value);
        if one > 0.0 && other > 0.0 { (one / other).ln().abs() } else { (one - other).abs() }
    };
    let mut nearest: Vec<&Candidate> = candidates.to_vec();
    nearest.sort_by(|one, other| distance(one).total_cmp(&distance(other)));
    let shown_pairs: Vec<String> = nearest
        .iter()
        .take(3)
        .map(|candidate| format!("{} gives {}", candidate.formula, computed(quantity, candidate)))
        .collect();
    let mut sources = vec![source(sentence, quantity)];
    for candidate in nearest.iter().take(40) {
        for place in places(sentence, &candidate.operands) {
            if !sources.contains(&place) {
                sources.push(place);
            }
        }
    }
    let word = match relation {
        Relation::Times => "factor",
        Relation::Points => "difference",
        _ => "percentage",
    };
    Finding {
        class: Class::Comparison,
        level,
        summary: format!(
            "no pair of numbers gives the {word} `{}`; {}",
            quantity.text,
            shown_pairs.first().cloned().unwrap_or_default()
        ),
        arithmetic: shown_pairs,
        sources,
        operands: nearest.first().map(|candidate| candidate.operands.clone()).unwrap_or_default(),
        advice: "recompute it, or name the two numbers that are compared".to_owned(),
    }
}

pub fn impossible(sentence: &Sentence, quantity: &Quantity) -> Finding {
    Finding {
        class: Class::Comparison,
        level: Level::Contradicted,
        summary: format!(
            "a reduction of {} is impossible: more than 100 % cannot be taken away",
            quantity.text
        ),
        arithmetic: vec![format!("{} > 100 %", quantity.text)],
        sources: vec![source(sentence, quantity)],
        operands: vec![stated(sentence, quantity)],
        advice: "a value that falls to a quarter is 75 % lower, or 4 times smaller".to_owned(),
    }
}

/// A heading says what the text below it does not.
pub fn headline(sentence: &Sentence, quantity: &Quantity) -> Judged {
    let finding = Finding {
        class: Class::Comparison,
        level: Level::Doubtful,
        summary: format!("nothing below the heading gives its `{}`", quantity.text),
        arithmetic: Vec::new(),
        sources: vec![source(sentence, quantity)],
        operands: vec![stated(sentence, quantity)],
        advice: "say in the text where it comes from".to_owned(),
    };
    Judged::new(finding, Bearing::Named)
}
