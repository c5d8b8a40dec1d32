//! Percentages and factors in sentences, computed again from the numbers in the same sentence or from the tables of
//! the same section.

use assay_model::{Document, Quantity, Statement, Table, Unit, names};

use super::super::claims;
use super::super::facts;
use super::super::grid::{self, Field};
use super::super::written::{self, Range};
use super::super::{Class, Finding, Standing, wording};

/// Words that make a percentage a change between two numbers.
const CHANGE: [&str; 27] = [
    "varia", "differ", "faster", "slower", "higher", "lower", "increase", "decrease", "reduc", "improve",
    "gain", "drop", "more", "less", "longer", "shorter", "overhead", "spread", "growth", "grew", "grow",
    "saving", "saves", "efficien", "scal", "speed", "better",
];

/// What a stated number can stand for beyond rounding: the last digit may be off by one.
const SLIP: f64 = 3.0;

pub(super) fn check(document: &Document) -> Vec<Finding> {
    let statements = document.statements.iter();
    statements
        .flat_map(|statement| percentages(statement).into_iter().chain(factors(document, statement)))
        .collect()
}

/// Whether a sentence has one of some words, by how they begin.
fn has_word(text: &str, beginnings: &[&str]) -> bool {
    let lower = text.to_lowercase();
    lower
        .split(|character: char| !character.is_alphanumeric())
        .any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
}

/// The two numbers that a sentence compares.
struct Pair {
    one: Range,
    other: Range,
    /// Whether the sentence has no others that may be meant.
    only: bool,
}

/// A range, or two numbers of one unit, or the ends of several.
fn pair(statement: &Statement) -> Option<Pair> {
    let range_of = |quantity: &Quantity, value: f64| written::of_text(&quantity.text, value, false);
    let measured = || statement.quantities.iter().filter(|quantity| is_measure(&quantity.unit));
    if let Some((quantity, to)) = measured().find_map(|quantity| Some((quantity, quantity.to?))) {
        let only = measured().count() == 1;
        return Some(Pair { one: range_of(quantity, quantity.value), other: range_of(quantity, to), only });
    }
    let plain: Vec<&Quantity> = measured().collect();
    let first = plain.first()?;
    if plain.len() < 2 || plain.iter().any(|quantity| quantity.unit != first.unit) {
        return None;
    }
    let by_value = |a: &&&Quantity, b: &&&Quantity| a.value.total_cmp(&b.value);
    let (low, high) = plain.iter().min_by(by_value).zip(plain.iter().max_by(by_value))?;
    Some(Pair { one: range_of(low, low.value), other: range_of(high, high.value), only: plain.len() == 2 })
}

/// Whether a unit is that of something measured, rather than of a share or a factor.
fn is_measure(unit: &Unit) -> bool {
    match unit {
        Unit::Seconds | Unit::PerSecond(_) | Unit::Bytes => true,
        Unit::Other(name) => name != "times",
        Unit::One | Unit::Fraction | Unit::Count(_) => false,
    }
}

/// What two numbers may be to one another, as a share.
fn shares(one: Range, other: Range) -> Vec<(Range, String)> {
    let mut shares = Vec::new();
    let (a, b) = (wording::plain(one.value()), wording::plain(other.value()));
    let difference = if one.value() > other.value() { one.minus(other) } else { other.minus(one) };
    let (high, low) = if one.value() > other.value() { (&a, &b) } else { (&b, &a) };
    let mut push = |range: Option<Range>, text: String| shares.extend(range.map(|range| (range, text)));
    if let Some(difference) = difference {
        push(difference.over(one), format!("({high} − {low}) / {a}"));
        push(difference.over(other), format!("({high} − {low}) / {b}"));
        let mean = one.plus(other).and_then(|sum| sum.over(Range::exact(2.0)));
        push(mean.and_then(|mean| difference.over(mean)), format!("({high} − {low}) / (({a} + {b}) / 2)"));
    }
    push(one.over(other), format!("{a} / {b}"));
    push(other.over(one), format!("{b} / {a}"));
    shares
}

fn percentages(statement: &Statement) -> Vec<Finding> {
    if !has_word(&statement.text, &CHANGE) {
        return Vec::new();
    }
    let is_percent = |quantity: &Quantity| quantity.unit == Unit::Fraction && quantity.to.is_none();
    let mut percents = statement.quantities.iter().filter(|quantity| is_percent(quantity));
    let (Some(percent), None) = (percents.next(), percents.next()) else { return Vec::new() };
    let Some(Pair { one, other, only }) = pair(statement) else { return Vec::new() };
    let stated = written::of_text(&percent.text, percent.value, false);
    let found = verdict(statement, percent, stated, &shares(one, other));
    found.into_iter().filter(|finding| only || finding.standing == Standing::Supported).collect()
}

/// Compares a stated share or factor with all that it may be.
fn verdict(
    statement: &Statement,
    quantity: &Quantity,
    stated: Range,
    ways: &[(Range, String)],
) -> Option<Finding> {
    let near = |way: &(Range, String)| way.0.meets(Range::around(stated.value(), stated.half() * SLIP));
    let distance = |way: &(Range, String)| (way.0.value() - stated.value()).abs();
    let written = quantity.text.trim();
    if let Some((range, text)) =
        ways.iter().find(|way| way.0.meets(stated)).or(ways.iter().find(|way| near(way)))
    {
        return Some(finding(
            statement,
            Standing::Supported,
            format!("The stated {written} follows from its own numbers."),
            format!("{text} = {}", in_unit(range.value(), quantity)),
        ));
    }
    let (range, text) = ways.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(finding(
        statement,
        Standing::Contradicted,
        format!("The stated {written} does not follow from the numbers beside it."),
        format!("the nearest is {text} = {}", in_unit(range.value(), quantity)),
    ))
}

fn in_unit(value: f64, quantity: &Quantity) -> String {
    if quantity.unit == Unit::Fraction { wording::percent(value) } else { wording::rough(value) }
}

fn finding(statement: &Statement, standing: Standing, summary: String, arithmetic: String) -> Finding {
    let advice = match standing {
        Standing::Contradicted => {
            "Compute it again from the numbers that it is about, and say which they are."
        }
        _ => "",
    };
    Finding {
        class: Class::Arithmetic,
        standing,
        summary,
        arithmetic: vec![arithmetic],
        sources: vec![facts::place(statement)],
        advice: advice.to_owned(),
    }
}

fn is_factor(quantity: &Quantity) -> bool {
    matches!(&quantity.unit, Unit::Other(name) if name == "times")
        && quantity.to.is_none()
        && quantity.value > 0.0
}

fn factors(document: &Document, statement: &Statement) -> Vec<Finding> {
    let factors: Vec<&Quantity> =
        statement.quantities.iter().filter(|quantity| is_factor(quantity)).collect();
    if factors.is_empty() {
        return Vec::new();
    }
    let own = pair(statement).filter(|pair| pair.only && factors.len() == 1);
    let ways = match &own {
        Some(pair) => quotients(pair.one, pair.other),
        None => from_tables(document, statement),
    };
    // With many numbers to choose from, a factor that matches none of them may well be about something else.
    let beside = document.tables.iter().any(|table| table.headings == statement.headings);
    let few = beside && ways.len() <= 6 && has_word(&statement.text, &SPEED);
    let found = factors.iter().filter_map(|factor| {
        verdict(statement, factor, written::of_text(&factor.text, factor.value, false), &ways)
    });
    joined(found.filter(|finding| finding.standing == Standing::Supported || own.is_some() || few).collect())
}

/// Words that are about times and rates.
const SPEED: [&str; 8] = ["fast", "slow", "speed", "quick", "outperform", "throughput", "latenc", "rate"];

/// Whether a sentence may speak of a column: a word of the header is in it, or it is about speed and so is the column.
fn is_about(statement: &Statement, field: &Field<'_>) -> bool {
    let unit = field.metric().map(names::unit);
    let speed = matches!(unit, Some(Unit::Seconds | Unit::PerSecond(_))) && has_word(&statement.text, &SPEED);
    let lower = field.header.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| word.len() >= 4);
    speed || words.into_iter().any(|word| has_word(&statement.text, &[word]))
}

fn quotients(one: Range, other: Range) -> Vec<(Range, String)> {
    let (a, b) = (wording::plain(one.value()), wording::plain(other.value()));
    let ways = [(one.over(other), format!("{a} / {b}")), (other.over(one), format!("{b} / {a}"))];
    ways.into_iter().filter_map(|(range, text)| Some((range?, text))).collect()
}

/// All quotients of two numbers of one kind in the tables of the same section.
fn from_tables(document: &Document, statement: &Statement) -> Vec<(Range, String)> {
    let near = |table: &&Table| claims::shares_section(&statement.headings, &table.headings);
    let mut ways = Vec::new();
    for table in document.tables.iter().filter(near) {
        let entries = grid::entries(table);
        for (place, one) in entries.iter().enumerate() {
            for other in entries.iter().skip(place + 1).take(50) {
                for field in
                    one.fields.iter().filter(|field| field.name().is_some() && is_about(statement, field))
                {
                    let pair = field.range().zip(other.at(field.index).and_then(|field| field.range()));
                    ways.extend(pair.into_iter().flat_map(|(one, other)| quotients(one, other)));
                }
            }
        }
        if ways.len() > 10_000 {
            break;
        }
    }
    ways
}

/// One finding for all factors of a sentence that agree.
fn joined(findings: Vec<Finding>) -> Vec<Finding> {
    let (agree, mut rest): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.standing == Standing::Supported);
    let mut agree = agree.into_iter();
    if let Some(mut first) = agree.next() {
        for other in agree {
            if !first.arithmetic.iter().any(|line| other.arithmetic.contains(line)) {
                first.arithmetic.extend(other.arithmetic);
            }
        }
        rest.push(first);
    }
    rest
}
