//! How a percentage, a factor or a difference of prose relates two numbers.

use super::sentence::Sentence;
use crate::interval::Interval;
use crate::quantity::{Bound, Quantity};

/// What a relative number says about two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `1.6 times as fast`: the larger over the smaller.
    Times,
    /// `19 % longer`: the larger over the smaller, minus one.
    More,
    /// `30 % less`: one minus the smaller over the larger.
    Less,
    /// `44 % faster`: what takes 44 % less time is 79 % faster.
    Faster,
    /// `7 % ahead`, `a gain of 7 %`: either of the two.
    Change,
    /// `31 % of F16`, `half the speed`: one over the other.
    Share,
    /// `1.5 percentage points`: a difference of percentages.
    Points,
    /// `a parallel efficiency of 76 %`: how much of the ideal growth a rate has.
    Efficiency,
    /// A percentage that is no comparison: a rate of hits, a share, an accuracy.
    Value,
}

const MORE: [&str; 16] = [
    "plus",
    "above",
    "more",
    "higher",
    "longer",
    "larger",
    "greater",
    "bigger",
    "increase",
    "increases",
    "increased",
    "grows",
    "grew",
    "rose",
    "rises",
    "additional",
];
const LESS: [&str; 33] = [
    "minus",
    "below",
    "lose",
    "loses",
    "lost",
    "off",
    "less",
    "lower",
    "shorter",
    "fewer",
    "cheaper",
    "smaller",
    "reduction",
    "reduces",
    "reduced",
    "drop",
    "drops",
    "dropped",
    "saving",
    "saves",
    "saved",
    "save",
    "falls",
    "fell",
    "fallen",
    "decrease",
    "decreased",
    "shrinks",
    "shrank",
    "shorten",
    "shortens",
    "shortened",
    "loss",
];
const EITHER: [&str; 24] = [
    "earlier",
    "sooner",
    "faster",
    "quicker",
    "slower",
    "ahead",
    "behind",
    "better",
    "worse",
    "gain",
    "gains",
    "gained",
    "improvement",
    "improves",
    "improved",
    "beats",
    "speed-up",
    "speedup",
    "overhead",
    "cut",
    "cuts",
    "outperforms",
    "boost",
    "degradation",
];

/// The relation that a quantity states; none for a quantity that is not relative, or a `times` that counts repeats.
pub fn relation(sentence: &Sentence, quantity: &Quantity) -> Option<Relation> {
    if quantity.unit.points {
        let percentage = quantity.text.contains("percentage") || quantity.text.contains("pp");
        return (percentage || quantity.written < 60.0).then_some(Relation::Points);
    }
    if quantity.unit.times {
        return factor(sentence, quantity);
    }
    if !quantity.unit.percent {
        return None;
    }
    let after = sentence.words_after(quantity.end);
    let before = sentence.words_before(quantity.start);
    let near_after = after.iter().take(2);
    // A level of confidence compares nothing.
    if near_after.clone().any(|word| word.starts_with("confiden") || word.starts_with("interval")) {
        return None;
    }
    // A margin follows from how far values spread, not from two of them.
    let head = sentence.text.get(..quantity.start).unwrap_or_default();
    if ["±", "+/-"].iter().any(|sign| head.trim_end().ends_with(sign)) {
        return None;
    }
    // `4 -> 8 workers: +30 %`.
    if let Some(sign) = head.chars().next_back()
        && !quantity.range
    {
        match sign {
            '+' => return Some(Relation::More),
            '-' | '−' if quantity.value < 0.0 => return Some(Relation::Less),
            _ => {}
        }
    }
    let near_before: Vec<&String> = before.iter().rev().take(4).collect();
    if near_before.iter().any(|word| word.starts_with("interval")) {
        return None;
    }
    if near_after.clone().any(|word| word == "faster" || word == "quicker") {
        return Some(Relation::Faster);
    }
    for word in near_after.clone() {
        if let Some(found) = direction(word) {
            return Some(found);
        }
    }
    // `1.7 % over the last one`.
    if after.first().is_some_and(|word| word == "over") {
        return Some(Relation::Change);
    }
    if after.first().is_some_and(|word| word == "of") {
        // `saves 5 % of the time`.
        let verb =
            near_before.first().and_then(|word| direction(word)).filter(|found| *found == Relation::Less);
        return Some(verb.unwrap_or(Relation::Share));
    }
    // `falls from 95 % to 76 %`: two levels, no change.
    if is_level(sentence, quantity, near_before.first().map(|word| word.as_str())) {
        let efficiency = sentence.words.iter().any(|word| word == "efficiency");
        return Some(if efficiency { Relation::Efficiency } else { Relation::Value });
    }
    let joined = near_before.first().is_some_and(|word| {
        ["by", "of", "another", "to", "even", "roughly", "about", "only", "around", "just"]
            .contains(&word.as_str())
    });
    let verb = near_before.first().is_some_and(|word| direction(word).is_some());
    if joined || verb || before.len() <= 4 {
        let to = near_before.first().is_some_and(|word| *word == "to");
        for word in &near_before {
            match direction(word) {
                Some(_) if to => return Some(Relation::Share),
                Some(found) => return Some(found),
                None => {}
            }
        }
    }
    let by = before.iter().rev().find(|word| !HEDGES.contains(&word.as_str()));
    if by.is_some_and(|word| word == "by") {
        return Some(Relation::Change);
    }
    let efficiency = sentence.words.iter().any(|word| word == "efficiency");
    Some(if efficiency { Relation::Efficiency } else { Relation::Value })
}

/// Whether a percentage is one end of `from 95 % at two GPUs to 76 % at eight`.
fn is_level(sentence: &Sentence, quantity: &Quantity, before: Option<&str>) -> bool {
    let percent = |other: &&Quantity| other.unit.percent;
    match before {
        Some("from") => {
            let next = sentence.quantities.iter().filter(percent).find(|other| other.start >= quantity.end);
            next.and_then(|next| sentence.text.get(..next.start))
                .is_some_and(|head| head.trim_end().ends_with(" to"))
        }
        Some("to") => {
            let last = sentence.quantities.iter().filter(percent).rfind(|other| other.end <= quantity.start);
            last.and_then(|last| sentence.text.get(..last.start))
                .is_some_and(|head| head.trim_end().ends_with("from"))
        }
        _ => false,
    }
}

/// Words between a preposition and its number.
const HEDGES: [&str; 7] = ["about", "roughly", "around", "nearly", "almost", "some", "approximately"];

fn direction(word: &str) -> Option<Relation> {
    if MORE.contains(&word) {
        Some(Relation::More)
    } else if LESS.contains(&word) {
        Some(Relation::Less)
    } else if EITHER.contains(&word) {
        Some(Relation::Change)
    } else {
        None
    }
}

/// `3 times as fast`, `a factor of 3`, `3x faster`; not `repeated 3 times`, `64x64`, `8x A100`.
fn factor(sentence: &Sentence, quantity: &Quantity) -> Option<Relation> {
    let rest = sentence.text.get(quantity.end..).unwrap_or_default();
    let after = sentence.words_after(quantity.end);
    let next = after.first().map_or("", String::as_str);
    let fraction = quantity.value < 1.0;
    if quantity.in_words && fraction {
        let more = after.first().is_some_and(|word| direction(word).is_some());
        return Some(if more { direction(next)? } else { Relation::Share });
    }
    let before = sentence.words_before(quantity.start);
    let near: Vec<&str> = before.iter().rev().take(3).map(String::as_str).collect();
    let of_factor =
        near.iter().any(|word| ["factor", "speed-up", "speedup", "ratio", "speedups"].contains(word));
    let compares = direction(next).is_some()
        || ["as", "the", "that", "of", "what", "its", "faster", "his", "their", "our"].contains(&next);
    if of_factor || quantity.text.ends_with("-fold") {
        return Some(Relation::Times);
    }
    // `I ran it twice`: only what is compared is a factor.
    if quantity.text.eq_ignore_ascii_case("twice") && !compares {
        let bare =
            after.is_empty() && near.iter().any(|word| ["over", "than", "nearly", "almost"].contains(word));
        return bare.then_some(Relation::Times);
    }
    let glued = quantity.text.ends_with(['x', '×']);
    let spelled = quantity.in_words && !quantity.text.ends_with("times") && !quantity.text.ends_with("fold");
    if glued {
        let name = rest.trim_start().starts_with(|one: char| one.is_uppercase() || one.is_ascii_digit());
        return (!name || of_factor).then_some(Relation::Times);
    }
    if compares || of_factor || spelled {
        return Some(Relation::Times);
    }
    let ends = rest.trim_start().is_empty() || rest.trim_start().starts_with(['.', ')', ',', ';']);
    let moved = near.iter().any(|word| ["by", "almost", "nearly", "about", "roughly"].contains(word));
    (ends && moved).then_some(Relation::Times)
}

impl Relation {
    /// Whether it compares two values of one metric.
    pub fn is_comparison(self) -> bool {
        !matches!(self, Relation::Value | Relation::Efficiency)
    }

    /// What two values give under this relation; several readings may be possible.
    pub fn values(self, one: Interval, other: Interval) -> Vec<Interval> {
        let (small, large) =
            if one.middle().abs() <= other.middle().abs() { (one, other) } else { (other, one) };
        let unit = Interval::exact(1.0);
        let up = large.over(small);
        let down = small.over(large);
        let pick = |found: Vec<Option<Interval>>| found.into_iter().flatten().collect();
        match self {
            Relation::Times => pick(vec![up]),
            Relation::More | Relation::Faster => pick(vec![up.map(|ratio| ratio.minus(unit))]),
            Relation::Less => pick(vec![down.map(|ratio| unit.minus(ratio))]),
            Relation::Change => {
                pick(vec![up.map(|ratio| ratio.minus(unit)), down.map(|ratio| unit.minus(ratio))])
            }
            Relation::Share | Relation::Value | Relation::Efficiency => pick(vec![down, up]),
            Relation::Points => vec![large.minus(small)],
        }
    }
}

/// Whether a computed value agrees with a stated quantity, is close, or is far from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    Far,
    Near,
    Agrees,
}

/// Compares a stated quantity with what was computed. The zone between agreement and disagreement stays silent.
pub fn compare(quantity: &Quantity, computed: Interval) -> Match {
    let stated = Interval::new(quantity.low, quantity.high);
    let value = computed.middle();
    match quantity.bound {
        Some(Bound::Above) => {
            let over = value / quantity.value;
            return if (0.99..1.6).contains(&over) { Match::Agrees } else { Match::Far };
        }
        Some(Bound::Below) => {
            let under = value / quantity.value;
            return if (0.55..=1.01).contains(&under) { Match::Agrees } else { Match::Far };
        }
        None => {}
    }
    // A result that its own digits leave open by a third says nothing.
    if computed.relative_width() > 0.7 {
        return if stated.meets(computed) { Match::Near } else { Match::Far };
    }
    // Two roundings rarely both go to the end: most of the interval agrees, the rest is silent.
    let likely = Interval::new(
        value - 0.35 * (computed.high - computed.low),
        value + 0.35 * (computed.high - computed.low),
    );
    if stated.meets(likely) {
        return Match::Agrees;
    }
    let step = stated.high - stated.low;
    let gap = if value < stated.low { stated.low - computed.high } else { computed.low - stated.high };
    if gap <= 0.5 * step || gap <= 0.012 * value.abs() { Match::Near } else { Match::Far }
}
