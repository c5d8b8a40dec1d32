//! Percentages, factors and differences in prose against the numbers they compare.

use assay_model::Source;

use super::evidence::{Candidate, Pool, Tier};
use super::relation::{Match, Relation, compare, relation};
use super::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::number::shown;
use crate::quantity::Quantity;
use crate::{Class, Finding};

/// Checks the relative numbers of a sentence. `context` is the sentence with those before it in its paragraph.
pub fn check(sentence: &Sentence, context: &Sentence, pool: &Pool<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for quantity in &sentence.quantities {
        if let Some(relation) = relation(sentence, quantity) {
            found.extend(claim(sentence, context, quantity, relation, pool));
        }
    }
    found
}

fn claim(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    pool: &Pool<'_>,
) -> Option<Finding> {
    if relation == Relation::Less && quantity.value > 1.0 {
        return Some(impossible(sentence, quantity));
    }
    let evidence = Evidence { quantity, candidates: candidates(sentence, context, quantity, relation, pool) };
    let pointed = points_elsewhere(sentence, quantity, relation);
    let clear = !quantity.in_words && quantity.bound.is_none() && !excused(sentence) && !pointed;
    for tier in [Tier::Clause, Tier::NamedRows, Tier::Beside, Tier::NamedRow] {
        if let Some(candidate) = evidence.agreeing(tier) {
            return Some(supported(sentence, quantity, candidate));
        }
        if evidence.is_close(tier) {
            return Some(not_checked(sentence, quantity));
        }
        let strict = match tier {
            Tier::Clause => relation != Relation::Value && !excused(sentence),
            Tier::NamedRows => relation != Relation::Value && !excused(sentence) && !pointed,
            Tier::NamedRow => relation != Relation::Value && clear && !evidence.directly_near(Tier::Table),
            _ => false,
        };
        // Numbers beside the claim may be what it is about, whatever the rows are that it names.
        let other = match tier {
            Tier::Clause => evidence.best(Tier::NamedRows).max(evidence.best(Tier::NamedRow)),
            _ => evidence.best(Tier::Beside),
        };
        let other = other >= Match::Near;
        if strict && !other && evidence.has(tier) {
            let level = if tier == Tier::Clause { Level::Contradicted } else { Level::Doubtful };
            return Some(failed(sentence, quantity, relation, &evidence.of(tier), level));
        }
    }
    let nearest = evidence.of(Tier::Table);
    let decided = relation == Relation::Value || !clear || nearest.is_empty();
    // Searching the whole document costs the most, so it comes last.
    let agrees = |one: &Candidate| compare(quantity, one.value) >= Match::Near;
    if decided
        || evidence.best(Tier::Table) >= Match::Near
        || pool.document(sentence, quantity, relation).iter().any(agrees)
    {
        return Some(not_checked(sentence, quantity));
    }
    Some(failed(sentence, quantity, relation, &nearest, Level::Doubtful))
}

/// What may bear on a claim, from all tiers but the last.
struct Evidence<'a> {
    quantity: &'a Quantity,
    candidates: Vec<Candidate>,
}

impl Evidence<'_> {
    fn tier(&self, tier: Tier) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(move |candidate| candidate.tier == tier)
    }

    fn agreeing(&self, tier: Tier) -> Option<&Candidate> {
        self.tier(tier).find(|candidate| compare(self.quantity, candidate.value) == Match::Agrees)
    }

    fn best(&self, tier: Tier) -> Match {
        self.tier(tier).map(|candidate| compare(self.quantity, candidate.value)).max().unwrap_or(Match::Far)
    }

    fn is_close(&self, tier: Tier) -> bool {
        self.best(tier) >= Match::Near
    }

    /// Whether two cells alone come near the claim.
    fn directly_near(&self, tier: Tier) -> bool {
        let mut direct = self.tier(tier).filter(|candidate| !candidate.derived);
        direct.any(|candidate| compare(self.quantity, candidate.value) >= Match::Near)
    }

    fn has(&self, tier: Tier) -> bool {
        self.tier(tier).any(|candidate| !candidate.derived)
    }

    fn of(&self, tier: Tier) -> Vec<&Candidate> {
        self.tier(tier).filter(|candidate| !candidate.derived).collect()
    }
}

fn candidates(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    pool: &Pool<'_>,
) -> Vec<Candidate> {
    let mut found = pool.clause(sentence, quantity, relation);
    found.extend(pool.beside(sentence, quantity, relation));
    found.extend(pool.rows(sentence, context, relation));
    found.extend(pool.within_rows(sentence, relation));
    found
}

/// Whether the sentence is about something that the document need not contain: a guess, a plan, somebody else.
fn excused(sentence: &Sentence) -> bool {
    ["would", "expect", "estimate", "projection", "hope", "plan", "typically", "usually", "probably"]
        .iter()
        .any(|word| sentence.mentions(word))
}

/// `2.5 times that`, `five times the spread`: what is multiplied is named by the words behind, not by the rows.
fn points_elsewhere(sentence: &Sentence, quantity: &Quantity, relation: Relation) -> bool {
    let after = sentence.words_after(quantity.end);
    let rates =
        ["speed", "rate", "throughput", "performance", "tokens", "time", "images", "samples", "requests"];
    match after.first().map(String::as_str) {
        Some("that" | "this" | "what" | "those") => true,
        Some("the" | "its" | "our") if relation == Relation::Times => {
            !after.iter().skip(1).take(2).any(|word| rates.contains(&word.as_str()))
        }
        _ => false,
    }
}

fn source(sentence: &Sentence, quantity: &Quantity) -> Source {
    Source::new(sentence.file.clone(), sentence.line_of(quantity))
}

fn stated(quantity: &Quantity) -> Operand {
    Operand { text: quantity.text.clone(), value: quantity.value, line: 0 }
}

fn supported(sentence: &Sentence, quantity: &Quantity, candidate: &Candidate) -> Finding {
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
fn computed(quantity: &Quantity, candidate: &Candidate) -> String {
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

fn not_checked(sentence: &Sentence, quantity: &Quantity) -> Finding {
    Finding {
        class: Class::Comparison,
        level: Level::NotChecked,
        summary: format!("what `{}` compares is not clear from the document", quantity.text),
        arithmetic: Vec::new(),
        sources: vec![source(sentence, quantity)],
        operands: vec![stated(quantity)],
        advice: "name the two numbers that are compared".to_owned(),
    }
}

/// No reading gives the number: says which come nearest.
fn failed(
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

fn impossible(sentence: &Sentence, quantity: &Quantity) -> Finding {
    Finding {
        class: Class::Comparison,
        level: Level::Contradicted,
        summary: format!(
            "a reduction of {} is impossible: more than 100 % cannot be taken away",
            quantity.text
        ),
        arithmetic: vec![format!("{} > 100 %", quantity.text)],
        sources: vec![source(sentence, quantity)],
        operands: vec![stated(quantity)],
        advice: "a value that falls to a quarter is 75 % lower, or 4 times smaller".to_owned(),
    }
}
