//! Pairs of numbers that a word of the sentence joins.

use super::{Candidate, JOINTS, Pool, Tier, candidates, operand, side};
use crate::claims::metric::Metric;
use crate::claims::relation::Relation;
use crate::claims::sentence::Sentence;
use crate::quantity::Quantity;

impl Pool<'_> {
    /// The pairs of a sentence that a word joins. The claim itself is no operand, and settings that name rows are none.
    pub fn clause(&self, sentence: &Sentence, claim: &Quantity, relation: Relation) -> Vec<Candidate> {
        let mut found = Vec::new();
        let own = &sentence.quantities;
        let metric = Metric::of(sentence, claim);
        for (one, other) in neighbors(own, claim) {
            if one.in_words || other.in_words || !is_nearest(own, claim, one.start, other.end) {
                continue;
            }
            let between = sentence.text.get(one.end..other.start).unwrap_or_default();
            // `471 of 515 recordings` beside `91.5 %`.
            let gap = if claim.end <= one.start { claim.end..one.start } else { other.end..claim.start };
            let gap = sentence.text.get(gap).unwrap_or("...;");
            let close = gap.len() <= 40 && !gap.contains(';');
            let part = relation == Relation::Value && is_part(between) && claim.unit.percent && close;
            if !part && (relation == Relation::Value || !joins(between)) {
                continue;
            }
            let (a, b) = same_unit(one, other);
            let percent = a.unit.percent && b.unit.percent;
            let fits = match relation {
                Relation::Points => percent || a.unit.is_none(),
                _ => !a.unit.is_relative() || percent && relation != Relation::Times,
            };
            // `from 12 ms to 9 ms, and the throughput rises by 40 %`: the pair is about something else.
            let other_metric =
                relation.is_comparison() && !a.unit.is_relative() && !metric.fits_unit(&a.unit);
            if !fits || other_metric || !a.unit.same_measure(&b.unit) || self.are_settings(&a, &b) {
                continue;
            }
            let counts = a.unit.is_count() && a.is_integer() && b.is_integer();
            let share = matches!(relation, Relation::Share | Relation::Value) && is_part(between);
            if counts && !strong_joint(between) && !share {
                continue;
            }
            let operands = vec![operand(sentence, &a), operand(sentence, &b)];
            found.extend(candidates(Tier::Clause, relation, &side(&a), &side(&b), operands, false));
        }
        if let Some((part, whole)) = share_in_brackets(sentence, claim) {
            let operands = vec![operand(sentence, part), operand(sentence, whole)];
            found.extend(candidates(Tier::Clause, relation, &side(part), &side(whole), operands, false));
        }
        found
    }
}

/// `of 5,153 questions it answers 2,998 right (58.2 %)`: the only two counts of the sentence, the part right before its share.
fn share_in_brackets<'a>(sentence: &'a Sentence, claim: &Quantity) -> Option<(&'a Quantity, &'a Quantity)> {
    let is_count =
        |one: &&Quantity| one.unit.is_count() && one.is_integer() && !one.in_words && one.value >= 10.0;
    let counts: Vec<&Quantity> = sentence.quantities.iter().filter(is_count).collect();
    let [whole, part] = counts.as_slice() else { return None };
    let between = sentence.text.get(part.end..claim.start)?;
    let words = between.strip_suffix('(')?;
    let direct = words.split_whitespace().count() <= 3 && !words.contains([',', ';', '.', ':', '(']);
    (claim.unit.percent && direct && part.value < whole.value).then_some((*part, *whole))
}

/// Numbers beside each other, and those with only a count or a relative number between them: `2.6 kWh on 16 devices against
/// 5.8 kWh`.
fn neighbors<'a>(
    own: &'a [Quantity],
    claim: &'a Quantity,
) -> impl Iterator<Item = (&'a Quantity, &'a Quantity)> {
    let measured = |one: &Quantity| !one.unit.is_count() && !one.unit.is_relative();
    let listed = own.iter().enumerate().filter(|(_, one)| one.start != claim.start);
    listed.flat_map(move |(at, one)| {
        let next = own.get(at + 1).filter(|other| other.start != claim.start);
        let alike = own.get(at + 2).filter(|other| {
            let passed =
                own.get(at + 1).is_some_and(|passed| passed.start != claim.start && !measured(passed));
            passed && measured(one) && one.unit == other.unit
        });
        next.into_iter().chain(alike).map(move |other| (one, other))
    })
}

/// Whether no other relative number of the sentence is nearer to a pair than the claim.
pub fn is_nearest(own: &[Quantity], claim: &Quantity, start: usize, end: usize) -> bool {
    let distance = |quantity: &Quantity| {
        if quantity.end <= start { start - quantity.end } else { quantity.start.saturating_sub(end) }
    };
    own.iter().filter(|other| other.unit.is_relative()).all(|other| distance(other) >= distance(claim))
}

/// Whether a text joins two numbers of one comparison.
fn joins(between: &str) -> bool {
    let text = between.to_lowercase();
    if between.chars().count() > 48 {
        return false;
    }
    let bare = text.trim().trim_start_matches([',', '(']).trim();
    JOINTS.iter().any(|joint| {
        bare == *joint
            || bare.starts_with(&format!("{joint} "))
            || bare.ends_with(&format!(" {joint}"))
            || bare.contains(&format!(" {joint} "))
    })
}

/// `471 of 515`, `3,150 of the 5,000 EUR`.
fn is_part(between: &str) -> bool {
    let words: Vec<&str> = between.split_whitespace().collect();
    matches!(words.as_slice(), ["of"] | ["of", "the" | "our" | "its" | "all" | "their" | "his" | "these"])
}

/// Whether a text joins two plain counts, which often stand beside each other without being compared.
fn strong_joint(between: &str) -> bool {
    let text = between.to_lowercase();
    ["instead of", "against", "versus", "vs", "->", "→", "compared", "rather than"]
        .iter()
        .any(|joint| text.contains(joint))
}

/// The unit of the second number is the first one's too where that has none: `from 13.0 to 9.1 tokens/s`.
fn same_unit(one: &Quantity, other: &Quantity) -> (Quantity, Quantity) {
    let (mut a, mut b) = (one.clone(), other.clone());
    let borrow = |to: &mut Quantity, from: &Quantity| {
        let scale = if from.unit.scale == 0.0 { 1.0 } else { from.unit.scale };
        to.value = to.written * scale;
        (to.low, to.high) = (to.low * scale, to.high * scale);
        to.unit = from.unit.clone();
    };
    if a.unit.is_none() && a.unit.scale == 1.0 && !b.unit.is_count() {
        borrow(&mut a, other);
    } else if b.unit.is_none() && b.unit.scale == 1.0 && !a.unit.is_count() {
        borrow(&mut b, one);
    }
    (a, b)
}
