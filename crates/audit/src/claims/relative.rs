//! Percentages, factors and differences in prose against the numbers they compare.

mod evidence;
mod findings;

use super::linking::{self, Around};
use super::metric::Metric;
use super::naming::{named_columns, named_rows, subject_rows};
use super::outsider::{names_outsider, names_side};
use super::pairs::{Candidate, Pool, Tier};
use super::prior::{Bearing, Judged};
use super::relation::{Match, Relation, compare, relation};
use super::sentence::Sentence;
use crate::finding::Level;
use crate::grid::Grid;
use crate::quantity::Quantity;
use evidence::{Evidence, restatements};
use findings::{computed, failed, headline, impossible, not_checked, supported};

/// Checks the relative numbers of a sentence. `context` is the sentence with those before it in its paragraph.
pub fn check(sentence: &Sentence, context: &Sentence, pool: &Pool<'_>) -> Vec<Judged> {
    let claims = sentence.quantities.iter().filter_map(|quantity| {
        let relation = relation(sentence, quantity).filter(|_| !is_quoted(sentence, quantity))?;
        let mut quantity = quantity.clone();
        // A sign says in which direction; the size is what is compared.
        if quantity.value < 0.0 {
            (quantity.value, quantity.written) = (-quantity.value, -quantity.written);
            (quantity.low, quantity.high) = (-quantity.high, -quantity.low);
        }
        let judged = claim(sentence, context, &quantity, relation, pool);
        Some(linked(judged, sentence, &quantity, relation, pool))
    });
    claims.collect()
}

/// Whether a number stands inside quotation marks: somebody else's words, or ones that the author takes back.
fn is_quoted(sentence: &Sentence, quantity: &Quantity) -> bool {
    let head = sentence.text.get(..quantity.start).unwrap_or_default();
    let tail = sentence.text.get(quantity.end..).unwrap_or_default();
    head.matches('"').count() % 2 == 1 && tail.contains('"')
        || head.matches('“').count() > head.matches('”').count() && tail.contains('”')
}

/// Weighs a verdict against what the words around the number point at.
fn linked(
    judged: Judged,
    sentence: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    pool: &Pool<'_>,
) -> Judged {
    let around = Around::new(sentence, quantity, pool);
    let links = linking::relative(&around, quantity, relation);
    let elsewhere = points_elsewhere(sentence, quantity, relation, pool);
    let judged = if is_unfounded(&judged, sentence, quantity, relation, pool) && links.agreeing.is_none() {
        headline(sentence, quantity)
    } else {
        judged.weighed(&links)
    };
    let Some(top) = links.missed_comparison(quantity, relation, elsewhere) else {
        // Two named rows alone do not say what is compared.
        let metric = Metric::of(sentence, quantity).is_named();
        let unnamed = !metric && links.top.is_some_and(|top| !top.named) && relation.is_comparison();
        let doubt = judged.finding.level == Level::Doubtful && judged.bearing != Bearing::Firm;
        let finding = if unnamed && doubt { not_checked(sentence, quantity) } else { judged.finding };
        return Judged { finding, ..judged };
    };
    let vague = quantity.in_words && !quantity.hedged && relation != Relation::Times;
    let guarded = vague
        || quantity.range
        || quantity.bound.is_some()
        || excused(sentence)
        || names_outsider(sentence, quantity, pool);
    if judged.finding.level <= Level::Doubtful {
        return if guarded { judged } else { judged.linked(&links) };
    }
    if guarded {
        return Judged { finding: not_checked(sentence, quantity), ..judged };
    }
    let candidate = Candidate {
        tier: Tier::Named,
        value: top.value,
        formula: around.formula(&top),
        operands: around.operands(&top),
        derived: false,
    };
    let mut finding = failed(sentence, quantity, relation, &[&candidate], Level::Doubtful);
    let given = computed(quantity, &candidate);
    finding.summary = format!(
        "`{}` does not follow from what it seems to compare: {} gives {given}",
        quantity.text, candidate.formula
    );
    Judged { finding, bearing: Bearing::Linked, ..judged }.linked(&links)
}

/// Whether a heading promises a change that nothing in the document gives: headings repeat what is below them.
fn is_unfounded(
    judged: &Judged,
    sentence: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    pool: &Pool<'_>,
) -> bool {
    let says = |other: &Quantity| other.unit.is_relative() && (other.value - quantity.value).abs() < 1e-9;
    let repeats = |other: &Sentence| !other.heading && other.quantities.iter().any(says);
    let compares =
        |other: &Sentence| !other.heading && other.quantities.iter().any(|one| one.unit.is_relative());
    let exact = !quantity.in_words && !quantity.hedged && !quantity.range && quantity.bound.is_none();
    sentence.heading
        && exact
        && relation.is_comparison()
        && judged.finding.level == Level::NotChecked
        && !excused(sentence)
        && pool.sentences.iter().any(compares)
        && !pool.sentences.iter().any(repeats)
        && !agrees_anywhere(sentence, quantity, relation, pool)
}

fn claim(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    pool: &Pool<'_>,
) -> Judged {
    if relation == Relation::Less && quantity.value > 1.0 {
        return Judged::new(impossible(sentence, quantity), Bearing::Firm);
    }
    let mut candidates = pool.clause(sentence, quantity, relation);
    candidates.extend(pool.beside(sentence, quantity, relation));
    candidates.extend(pool.cells(sentence, context, quantity, relation));
    if matches!(relation, Relation::Value | Relation::Share | Relation::Efficiency) {
        candidates.extend(restatements(sentence, context, quantity, pool));
    }
    let evidence = Evidence {
        beside_pair: is_beside_pair(sentence, quantity),
        quantity,
        candidates,
        reference: has_reference(sentence, quantity, pool),
        sole_row: has_sole_row(sentence, context, quantity, pool),
        names_two: pool
            .grids
            .iter()
            .any(|grid| named_rows(sentence, grid).len() > 1 || named_columns(sentence, grid).len() > 1),
    };
    let tiers = [Tier::Clause, Tier::Named, Tier::Sentence, Tier::Beside, Tier::NamedRow];
    // What a joining word compares in the sentence is not excused by numbers elsewhere.
    let joined = evidence.has(Tier::Clause)
        && (relation.is_comparison() || relation == Relation::Value)
        && !names_side(sentence, quantity);
    let tiers = if joined { &[Tier::Clause, Tier::Sentence][..] } else { &tiers[..] };
    for tier in tiers {
        if let Some(candidate) = evidence.agreeing(*tier) {
            // Many values are above a bound or within a range; only what the sentence names says that this one is.
            let wide = quantity.bound.is_some() || quantity.range;
            let clear = !wide || *tier <= Tier::Sentence && !candidate.derived && relation != Relation::Value;
            let finding = if clear {
                supported(sentence, quantity, candidate)
            } else {
                not_checked(sentence, quantity)
            };
            return Judged::new(finding, Bearing::Named);
        }
    }
    if excused(sentence)
        || quantity.range
        || names_outsider(sentence, quantity, pool)
        || tiers.iter().any(|tier| evidence.best(*tier) >= Match::Near)
    {
        return Judged::new(not_checked(sentence, quantity), Bearing::Loose);
    }
    if let Some((tier, mut level, bearing)) = strict(&evidence, sentence, quantity, relation, pool) {
        // `71 % faster` for 71 % less time is a confusion of words, not of numbers.
        if relation == Relation::Faster && evidence.agrees_as(Relation::Less, tier) {
            level = Level::Doubtful;
        }
        let follows = bearing == Bearing::Firm && tier == Tier::Clause && follows_closely(sentence, quantity);
        let bearing = match (bearing, !follows && agrees_anywhere(sentence, quantity, relation, pool)) {
            (bearing, false) => bearing,
            (Bearing::Named, true) => Bearing::Guess,
            (_, true) => return Judged::new(not_checked(sentence, quantity), Bearing::Loose),
        };
        let finding = failed(sentence, quantity, relation, &evidence.of(tier), level);
        return Judged::new(finding, bearing);
    }
    let mut nearest: Vec<&Candidate> = evidence.of(Tier::Table);
    if nearest.is_empty() {
        nearest = evidence.of(Tier::Beside);
    }
    let clear = relation.is_comparison()
        && relation != Relation::Share
        && !quantity.in_words
        && quantity.bound.is_none();
    // A percentage of another size is of something else.
    let of_size =
        |candidate: &&Candidate| (0.1..=10.0).contains(&(candidate.value.middle() / quantity.value));
    // Searching the whole document costs the most, so it comes last.
    if !clear
        || !nearest.iter().any(of_size)
        || points_elsewhere(sentence, quantity, relation, pool)
        || evidence.best(Tier::Table) >= Match::Near
        || evidence.best(Tier::OtherMetric) >= Match::Near
        || agrees_anywhere(sentence, quantity, relation, pool)
    {
        return Judged::new(not_checked(sentence, quantity), Bearing::Loose);
    }
    Judged::new(failed(sentence, quantity, relation, &nearest, Level::Doubtful), Bearing::Loose)
}

/// Whether a relative number follows right behind the numbers that it compares: `from 14.2 to 9.95 s, minus 30 %`. No
/// chance elsewhere in the document excuses it.
fn follows_closely(sentence: &Sentence, quantity: &Quantity) -> bool {
    let before = sentence.quantities.iter().rfind(|other| other.end <= quantity.start);
    let gap = before.and_then(|other| sentence.text.get(other.end..quantity.start)).unwrap_or("...;");
    gap.len() <= 24 && !gap.contains([';', '.', ':']) && !gap.contains(" and ")
}

/// Whether any two numbers of the document give a relative number: its author may mean them. On documents that nobody
/// had tuned for, doubts about such numbers were wrong as often as right.
fn agrees_anywhere(sentence: &Sentence, quantity: &Quantity, relation: Relation, pool: &Pool<'_>) -> bool {
    let pairs = pool.document(sentence, quantity, relation);
    pairs.iter().any(|pair| compare(quantity, pair.value) >= Match::Near)
}

/// The tier whose referents are clear and give something else, and how sure that is.
fn strict(
    evidence: &Evidence<'_>,
    sentence: &Sentence,
    quantity: &Quantity,
    relation: Relation,
    pool: &Pool<'_>,
) -> Option<(Tier, Level, Bearing)> {
    let comparison = relation.is_comparison();
    let other = comparison && evidence.best(Tier::OtherMetric) >= Match::Near;
    let excused = other && !evidence.beside_pair;
    if evidence.has(Tier::Clause) && (comparison || relation == Relation::Value) && !excused {
        let sure = comparison && !names_side(sentence, quantity);
        return Some((Tier::Clause, if sure { Level::Contradicted } else { Level::Doubtful }, Bearing::Firm));
    }
    if points_elsewhere(sentence, quantity, relation, pool) || other {
        return None;
    }
    // `12 % of its 25 Gbit/s link`: the only two numbers of one kind in the sentence.
    if relation == Relation::Share && evidence.sole_pair() && is_of_number(sentence, quantity) {
        return Some((Tier::Sentence, Level::Doubtful, Bearing::Firm));
    }
    let computed = comparison || matches!(relation, Relation::Value | Relation::Efficiency);
    let vague = quantity.in_words && (relation != Relation::Times || quantity.hedged);
    let exact = quantity.bound.is_none() && !vague;
    let against_base = relation == Relation::Efficiency && evidence.best(Tier::Table) >= Match::Near;
    if evidence.has(Tier::Named) && computed && exact && !against_base {
        let bearing = if evidence.names_two { Bearing::Named } else { Bearing::Likely };
        return Some((Tier::Named, Level::Doubtful, bearing));
    }
    // One row alone leaves the other side open, unless the words behind the number name it.
    // An efficiency is against the smallest system, whatever else the sentence names.
    let efficiency = relation == Relation::Efficiency && evidence.best(Tier::Table) == Match::Far;
    let one_row = comparison && (evidence.reference || evidence.sole_row) || efficiency;
    if evidence.has(Tier::NamedRow) && one_row && exact && !quantity.in_words {
        let bearing = if evidence.reference { Bearing::Named } else { Bearing::Loose };
        return Some((Tier::NamedRow, Level::Doubtful, bearing));
    }
    None
}

/// Whether the last two numbers before a claim stand close to it and are of one unit.
fn is_beside_pair(sentence: &Sentence, quantity: &Quantity) -> bool {
    let before: Vec<&Quantity> =
        sentence.quantities.iter().filter(|other| other.end <= quantity.start).collect();
    let [.., _, last] = before.as_slice() else { return false };
    let gap = sentence.text.get(last.end..quantity.start).unwrap_or_default();
    let follows = [" so ", "i.e.", "that is", "that's", "which is", "(", "thus", "hence"];
    gap.len() <= 24 && follows.iter().any(|mark| gap.contains(mark))
}

fn has_sole_row(sentence: &Sentence, context: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    let rows = pool.grids.iter().map(|grid| subject_rows(sentence, context, quantity.start, grid).len());
    let mut named = rows.filter(|rows| *rows > 0);
    named.next() == Some(1) && named.next().is_none() && Metric::of(sentence, quantity).is_named()
}

fn has_reference(sentence: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    let mut behind = sentence.clause_at(quantity.start);
    let from = behind.text.find(&quantity.text).map_or(0, |at| at + quantity.text.len());
    let after = behind.text.split_off(from);
    behind.words = crate::grid::words(&after);
    let joins = ["than", "of", "as", "against", "over", "compared"];
    let first = after.split_whitespace().take(4).any(|word| joins.contains(&word));
    behind.text = after.clone();
    behind.quantities.clear();
    first && pool.grids.iter().any(|grid| named_rows(&behind, grid).len() == 1)
}

/// `12 % of its 25 Gbit/s link`: a number follows `of`.
fn is_of_number(sentence: &Sentence, quantity: &Quantity) -> bool {
    let next = sentence.quantities.iter().find(|other| other.start >= quantity.end);
    let between = next.and_then(|next| sentence.text.get(quantity.end..next.start)).unwrap_or_default();
    let words: Vec<&str> = between.split_whitespace().collect();
    quantity.unit.percent && words.first() == Some(&"of") && words.len() <= 3
}

/// Whether the sentence is about something that the document need not contain: a guess, a plan, somebody else.
pub fn excused(sentence: &Sentence) -> bool {
    const WORDS: [&str; 15] = [
        "would",
        "expect",
        "estimate",
        "projection",
        "hope",
        "plan",
        "typically",
        "usually",
        "probably",
        "could",
        "may",
        "might",
        "should",
        "will",
        "promised",
    ];
    WORDS.iter().any(|word| sentence.mentions(word))
}

/// `2.5 times that`, `five times the spread`: what is multiplied is named by the words behind, not by the rows.
fn points_elsewhere(sentence: &Sentence, quantity: &Quantity, relation: Relation, pool: &Pool<'_>) -> bool {
    let after = sentence.words_after(quantity.end);
    let rates =
        ["speed", "rate", "throughput", "performance", "tokens", "time", "images", "samples", "requests"];
    match after.first().map(String::as_str) {
        Some("that" | "this" | "what" | "those") => true,
        // `5 % of the traffic`: a whole that no table has.
        Some("of") if relation == Relation::Share => {
            let noun =
                after.iter().skip(1).find(|word| !["the", "its", "our", "all", "a"].contains(&word.as_str()));
            let noun = noun.map(|noun| crate::unit::singular(noun)).unwrap_or_default();
            let known = |grid: &Grid| {
                let column = grid.columns.iter().any(|column| column.words.contains(&noun));
                column || grid.rows.iter().any(|row| row.words.contains(&noun))
            };
            let counted = noun.starts_with(|one: char| one.is_ascii_digit());
            !counted && !rates.contains(&noun.as_str()) && !pool.grids.iter().copied().any(known)
        }
        Some("the" | "its" | "our") if relation == Relation::Times => {
            !after.iter().skip(1).take(2).any(|word| rates.contains(&word.as_str()))
        }
        _ => false,
    }
}
