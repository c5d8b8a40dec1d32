//! Percentages, factors and differences in prose against the numbers they compare.

use assay_model::Source;

use super::linking::{self, Around};
use super::metric::Metric;
use super::naming::{named_columns, named_rows, subject_rows};
use super::outsider::{names_outsider, names_side};
use super::pairs::{Candidate, Pool, Tier, cell_operand};
use super::prior::{Bearing, Judged};
use super::relation::{Match, Relation, compare, relation};
use super::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::grid::{ColumnKind, Grid, MOST_PAIRED_ROWS};
use crate::interval::Interval;
use crate::number::shown;
use crate::quantity::Quantity;
use crate::{Class, Finding};

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
    let judged = judged.weighed(&links);
    let Some(top) = links.missed_comparison(relation, elsewhere) else {
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
        let bearing = match (bearing, agrees_anywhere(sentence, quantity, relation, pool)) {
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
    // Searching the whole document costs the most, so it comes last.
    if !clear
        || nearest.is_empty()
        || points_elsewhere(sentence, quantity, relation, pool)
        || evidence.best(Tier::Table) >= Match::Near
        || evidence.best(Tier::OtherMetric) >= Match::Near
        || agrees_anywhere(sentence, quantity, relation, pool)
    {
        return Judged::new(not_checked(sentence, quantity), Bearing::Loose);
    }
    Judged::new(failed(sentence, quantity, relation, &nearest, Level::Doubtful), Bearing::Loose)
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

/// What may bear on a claim, from all tiers but the last.
struct Evidence<'a> {
    quantity: &'a Quantity,
    candidates: Vec<Candidate>,
    /// The words behind the claim name one row: `6 % longer than with AdamW`, `31 % of F16`.
    reference: bool,
    /// The clause names one row of one table, and its words say which metric is compared.
    sole_row: bool,
    /// The sentence names two rows or two columns of a table.
    names_two: bool,
    /// The joined pair stands right before the claim: `71.5 → 86.0 %, so 14.5 points`.
    beside_pair: bool,
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

impl Evidence<'_> {
    fn tier(&self, tier: Tier) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(move |candidate| candidate.tier == tier)
    }

    fn agreeing(&self, tier: Tier) -> Option<&Candidate> {
        let agrees = |candidate: &&Candidate| compare(self.quantity, candidate.value) == Match::Agrees;
        let direct = self.tier(tier).filter(|candidate| !candidate.derived).find(agrees);
        direct.or_else(|| self.tier(tier).find(agrees))
    }

    fn best(&self, tier: Tier) -> Match {
        self.tier(tier).map(|candidate| compare(self.quantity, candidate.value)).max().unwrap_or(Match::Far)
    }

    /// Whether a candidate of a tier gives the number under another reading of its words.
    fn agrees_as(&self, relation: Relation, tier: Tier) -> bool {
        relation == Relation::Less
            && self.tier(tier).any(|candidate| {
                let ratio = candidate.value.middle();
                let saved = ratio / (1.0 + ratio);
                (self.quantity.low..=self.quantity.high).contains(&saved)
            })
    }

    /// Whether the sentence has exactly one pair of numbers of one kind.
    fn sole_pair(&self) -> bool {
        let mut pairs = self.tier(Tier::Sentence).filter(|candidate| !candidate.derived);
        let Some(first) = pairs.next() else { return false };
        pairs.all(|other| other.operands == first.operands)
    }

    fn has(&self, tier: Tier) -> bool {
        self.tier(tier).any(|candidate| !candidate.derived)
    }

    fn of(&self, tier: Tier) -> Vec<&Candidate> {
        self.tier(tier).filter(|candidate| !candidate.derived).collect()
    }
}

/// `12 % of its 25 Gbit/s link`: a number follows `of`.
fn is_of_number(sentence: &Sentence, quantity: &Quantity) -> bool {
    let next = sentence.quantities.iter().find(|other| other.start >= quantity.end);
    let between = next.and_then(|next| sentence.text.get(quantity.end..next.start)).unwrap_or_default();
    let words: Vec<&str> = between.split_whitespace().collect();
    quantity.unit.percent && words.first() == Some(&"of") && words.len() <= 3
}

/// Cells that hold percentages or shares, and what is missing to the whole.
fn restatements(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for grid in pool.grids {
        let named = named_rows(sentence, grid);
        let nearby = named_rows(context, grid);
        let mut columns = named_columns(sentence, grid);
        // The only column of percentages needs no name.
        let percents: Vec<usize> =
            grid.measures().filter(|column| grid.columns[*column].unit.percent).collect();
        if let [only] = percents.as_slice() {
            columns.push(*only);
        }
        for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
            for column in grid.measures() {
                let Some(cell) = grid.cell(row, column) else { continue };
                let share = cell.unit.percent || cell.unit.is_none() && (0.0..=1.0).contains(&cell.value);
                let Some(operand) = cell_operand(grid, row, column).filter(|_| share) else { continue };
                let percent = grid.columns[column].kind == ColumnKind::Measure && columns.contains(&column);
                let tier = match (named.contains(&row) && named.len() <= 3, percent) {
                    (true, true) => Tier::Named,
                    (true, false) | (_, true) => Tier::NamedRow,
                    _ if nearby.contains(&row) => Tier::NamedRow,
                    _ => Tier::Table,
                };
                let value = cell.interval();
                let rest = Interval::exact(1.0).minus(value);
                let make = |value: Interval, formula: String, derived: bool| Candidate {
                    tier,
                    value,
                    formula,
                    operands: vec![operand.clone()],
                    derived,
                };
                // A percentage of another size is another thing.
                let near = (1.0 / 1.8..=1.8).contains(&(quantity.value / cell.value));
                found.push(make(value, operand.text.clone(), tier != Tier::Named || !near));
                found.push(make(rest, format!("1 - {}", operand.text), true));
            }
        }
    }
    for (line, listed) in pool.listed {
        let shares = |other: &&Quantity| other.unit.percent || other.unit.is_none() && !other.is_integer();
        for other in listed.iter().filter(shares) {
            let operand = Operand { text: other.text.clone(), value: other.value, line: *line };
            found.push(Candidate {
                tier: Tier::NamedRow,
                value: Interval::new(other.low, other.high),
                formula: other.text.clone(),
                operands: vec![operand],
                derived: true,
            });
        }
    }
    for other in pool.sentences {
        let same = |one: &&Quantity| {
            one.unit.percent && (one.start != quantity.start || other.text != sentence.text)
        };
        for one in other.quantities.iter().filter(same) {
            found.push(Candidate {
                tier: Tier::Table,
                value: Interval::new(one.low, one.high),
                formula: one.text.clone(),
                operands: vec![super::pairs::operand(other, one)],
                derived: true,
            });
        }
    }
    found
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

fn source(sentence: &Sentence, quantity: &Quantity) -> Source {
    Source::new(sentence.file.clone(), sentence.line_of(quantity))
}

fn stated(sentence: &Sentence, quantity: &Quantity) -> Operand {
    super::pairs::operand(sentence, quantity)
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
        operands: vec![stated(sentence, quantity)],
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
        operands: vec![stated(sentence, quantity)],
        advice: "a value that falls to a quarter is 75 % lower, or 4 times smaller".to_owned(),
    }
}
