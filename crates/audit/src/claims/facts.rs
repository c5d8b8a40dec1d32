//! The numbers of a document that others may be computed from, and what two or three of them give.

use super::naming::named_rows;
use super::pairs::{Pool, cell_operand, operand, side};
use super::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::MOST_PAIRED_ROWS;
use crate::interval::Interval;
use crate::number::shown;
use crate::quantity::{Quantity, count_word};
use crate::unit::{Unit, leading_unit};

/// A number that others may be computed from.
#[derive(Debug, Clone)]
pub struct Fact {
    pub interval: Interval,
    pub unit: Unit,
    pub operand: Operand,
    /// In the sentence, or in a row that it names.
    pub near: bool,
    /// In the sentence itself.
    pub own: bool,
    /// In the paragraph, or in a row that the paragraph names.
    pub local: bool,
    /// Numbers of listings may lack the unit that the text gives them.
    pub untyped: bool,
}

/// Numbers that are combined with one another.
const MOST_FACTS: usize = 400;
pub const MOST_LOCAL: usize = 48;

/// The numbers of a document, with how close they are to the sentence.
pub fn facts(sentence: &Sentence, context: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> Vec<Fact> {
    let mut found = Vec::new();
    let line = sentence.line_of(quantity);
    for other in pool.sentences {
        let own = other.block == sentence.block && other.text == sentence.text;
        let local = sentence.block.wrapping_sub(other.block) <= 1;
        for one in &other.quantities {
            if own && one.start == quantity.start || one.unit.points {
                continue;
            }
            let read = side(one);
            let fact = Fact {
                interval: read.interval,
                unit: one.unit.clone(),
                operand: operand(other, one),
                near: own,
                own,
                local,
                untyped: false,
            };
            found.push(fact);
        }
    }
    found.extend(spelled(sentence));
    found.extend(calendar(sentence));
    for grid in pool.grids {
        let named = named_rows(sentence, grid);
        let nearby = named_rows(context, grid);
        for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
            for column in grid.numeric() {
                let (Some(cell), Some(operand)) = (grid.cell(row, column), cell_operand(grid, row, column))
                else {
                    continue;
                };
                // A list is a table too; its own line is no evidence for itself.
                if grid.is_list() && cell.line == line {
                    continue;
                }
                found.push(Fact {
                    interval: cell.interval(),
                    unit: cell.unit.clone(),
                    operand,
                    near: named.contains(&row) && named.len() <= 3,
                    own: false,
                    local: nearby.contains(&row) || grid.rows.len() <= 3,
                    untyped: false,
                });
            }
        }
    }
    for (line, listed) in pool.listed {
        for one in listed {
            found.push(Fact {
                interval: side(one).interval,
                unit: one.unit.clone(),
                operand: Operand { text: one.text.clone(), value: one.value, line: *line },
                near: false,
                own: false,
                local: true,
                untyped: one.unit.is_none(),
            });
        }
    }
    found.truncate(MOST_FACTS);
    found
}

/// The numbers that the words of a sentence imply.
pub fn implied(sentence: &Sentence) -> Vec<f64> {
    spelled(sentence).iter().chain(&calendar(sentence)).map(|fact| fact.operand.value).collect()
}

/// Small numbers in words: `across four cards`, `two minutes each`.
fn spelled(sentence: &Sentence) -> Vec<Fact> {
    let words: Vec<&str> = sentence.text.split_whitespace().collect();
    let plain = |word: &str| word.trim_matches(|one: char| !one.is_alphanumeric()).to_owned();
    let counts = words.iter().enumerate().flat_map(|(at, word)| {
        let next = words.get(at + 1).map(|next| plain(next)).unwrap_or_default();
        let time = leading_unit(&next).filter(|(unit, length)| unit.is_time() && *length == next.len());
        let unit = time.map_or(Unit::none(), |(unit, _)| unit);
        let pieces = word.split(|one: char| !one.is_alphanumeric());
        let counts: Vec<(String, f64, Unit)> = pieces
            .filter_map(|piece| Some((piece, count_word(piece).filter(|count| *count > 1.0)?)))
            .map(|(piece, count)| (piece.to_owned(), count, unit.clone()))
            .collect();
        counts
    });
    // `an 8-GPU machine`: no quantity of its own, but a factor.
    let glued = words.iter().filter_map(|word| {
        let (number, _) = word.trim_start_matches('(').split_once('-')?;
        let count = number.parse::<u32>().ok().filter(|count| *count > 1)?;
        Some((number.to_owned(), f64::from(count), Unit::none()))
    });
    let counts = counts.chain(glued);
    let fact = |(text, count, unit): (String, f64, Unit)| Fact {
        interval: Interval::exact(count * unit.factor()),
        unit,
        operand: Operand { text, value: count, line: sentence.line_at(0) },
        near: true,
        own: true,
        local: true,
        untyped: false,
    };
    counts.map(fact).collect()
}

/// What turns an hour, a day or a month into a longer time, where the sentence speaks of one.
fn calendar(sentence: &Sentence) -> Vec<Fact> {
    const TIMES: [(&str, &[f64]); 7] = [
        ("year", &[12.0, 52.0, 365.0, 8760.0]),
        ("month", &[12.0, 30.0, 720.0, 730.0]),
        ("week", &[7.0, 52.0, 168.0]),
        ("day", &[7.0, 24.0, 365.0, 86_400.0]),
        ("night", &[7.0, 30.0, 365.0]),
        ("hour", &[24.0, 60.0, 3600.0]),
        ("minute", &[60.0]),
    ];
    let named = TIMES.iter().filter(|(word, _)| sentence.mentions(word));
    let fact = |count: &f64| Fact {
        interval: Interval::exact(*count),
        unit: Unit::none(),
        operand: Operand { text: shown(*count), value: *count, line: sentence.line_at(0) },
        near: true,
        own: true,
        local: true,
        untyped: false,
    };
    named.flat_map(|(_, counts)| counts.iter().map(fact)).collect()
}

pub fn stated(quantity: &Quantity) -> Interval {
    Interval::new(quantity.low, quantity.high).widened(0.006)
}

/// Whether two units measure the same; operations counted for a model are plain counts.
fn fits(one: &[i8], wanted: &Unit) -> bool {
    let mut wanted = wanted.measure_exponents();
    let mut one: Vec<i8> = one.to_vec();
    for exponents in [&mut wanted[..], &mut one[..]] {
        exponents[2] = 0;
    }
    wanted[..] == one[..]
}

/// The number where the document has it already.
pub fn restated(quantity: &Quantity, facts: &[Fact]) -> Option<String> {
    let stated = stated(quantity);
    // The same digits in the row that the sentence names: `$3.29` for a column of dollars per hour.
    let digits =
        |text: &str| text.chars().filter(|one| one.is_ascii_digit() || *one == '.').collect::<String>();
    let own = digits(quantity.text.split_whitespace().next().unwrap_or_default());
    let copied = |fact: &&Fact| {
        own.len() >= 4 && fact.near && fact.operand.text.split_whitespace().any(|word| digits(word) == own)
    };
    if let Some(fact) = facts.iter().find(copied) {
        return Some(fact.operand.text.clone());
    }
    let fact = facts.iter().find(|fact| {
        let bare = quantity.unit.is_none();
        let factor = Interval::exact(1.0 / fact.unit.factor());
        (fact.untyped || bare || fits(&fact.unit.measure_exponents(), &quantity.unit))
            && (stated.meets(fact.interval)
                || fact.untyped && written(quantity).meets(fact.interval)
                || bare && stated.meets(fact.interval.times(factor)))
    })?;
    Some(fact.operand.text.clone())
}

fn written(quantity: &Quantity) -> Interval {
    let scale = if quantity.unit.scale == 0.0 { 1.0 } else { quantity.unit.scale };
    Interval::new(quantity.low / scale, quantity.high / scale).widened(0.006)
}

/// What two numbers give: product, quotients, sum and difference, with the exponents of their measures.
fn results(one: &Fact, other: &Fact) -> Vec<(Interval, Vec<i8>, char)> {
    let (a, b) = (one.unit.measure_exponents(), other.unit.measure_exponents());
    let join = |sign: i8| a.iter().zip(&b).map(|(one, other)| one + sign * other).collect::<Vec<i8>>();
    let inverse: Vec<i8> = join(-1).iter().map(|exponent| -exponent).collect();
    let mut found = vec![(one.interval.times(other.interval), join(1), '×')];
    found.extend(one.interval.over(other.interval).map(|value| (value, join(-1), '/')));
    found.extend(other.interval.over(one.interval).map(|value| (value, inverse, '\\')));
    if a == b {
        found.push((one.interval.plus(other.interval), a.to_vec(), '+'));
        let difference = one.interval.minus(other.interval);
        found.push((
            if difference.middle() < 0.0 { difference.times(Interval::exact(-1.0)) } else { difference },
            a.to_vec(),
            '-',
        ));
    }
    found
}

/// The two numbers that give a quantity.
pub fn combined(quantity: &Quantity, one: &[&Fact], other: &[&Fact]) -> Option<String> {
    let stated = stated(quantity);
    for first in one {
        for second in other {
            if first.operand == second.operand {
                continue;
            }
            for (value, exponents, sign) in results(first, second) {
                let bare = quantity.unit.is_none();
                let typed = fits(&exponents, &quantity.unit) || first.untyped || second.untyped || bare;
                if typed && value.relative_width() < 0.2 && stated.meets(value) {
                    return Some(match sign {
                        '\\' => format!("{} / {}", second.operand.text, first.operand.text),
                        _ => format!("{} {sign} {}", first.operand.text, second.operand.text),
                    });
                }
            }
        }
    }
    None
}

pub fn combined_any(quantity: &Quantity, local: &[&Fact], all: &[&Fact]) -> bool {
    combined(quantity, local, all).is_some()
}

/// The three numbers that give a quantity.
pub fn triple(quantity: &Quantity, local: &[&Fact]) -> Option<String> {
    let stated = stated(quantity);
    let local = local.iter().copied().filter(|fact| !fact.untyped && !fact.unit.times);
    let local: Vec<&Fact> = local.take(24).collect();
    for (index, first) in local.iter().enumerate() {
        for second in &local[index + 1..] {
            if first.operand == second.operand {
                continue;
            }
            for (value, exponents, sign) in results(first, second) {
                let joined = Fact {
                    interval: value,
                    unit: first.unit.clone(),
                    operand: first.operand.clone(),
                    near: true,
                    own: true,
                    local: true,
                    untyped: first.untyped || second.untyped,
                };
                for third in &local {
                    if third.operand == first.operand || third.operand == second.operand {
                        continue;
                    }
                    let own = third.unit.measure_exponents();
                    for (value, _, last) in results(&joined, third) {
                        let total: Vec<i8> = exponents
                            .iter()
                            .zip(&own)
                            .map(|(one, other)| match last {
                                '×' => one + other,
                                '/' => one - other,
                                '\\' => other - one,
                                _ => *one,
                            })
                            .collect();
                        let adds = "+-".contains(last) && exponents != own;
                        let typed = fits(&total, &quantity.unit) || joined.untyped || third.untyped;
                        if typed && !adds && value.relative_width() < 0.2 && stated.meets(value) {
                            return Some(format!(
                                "{} {sign} {} {last} {}",
                                first.operand.text, second.operand.text, third.operand.text
                            ));
                        }
                    }
                }
            }
        }
    }
    None
}

/// Whether a number is the sum or the mean of numbers of one line or one column.
pub fn is_statistic(quantity: &Quantity, facts: &[Fact]) -> bool {
    let stated = stated(quantity);
    let mut lines: Vec<u64> = facts.iter().map(|fact| fact.operand.line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.iter().any(|line| {
        let values: Vec<f64> = facts
            .iter()
            .filter(|fact| fact.operand.line == *line && fits(&fact.unit.measure_exponents(), &quantity.unit))
            .map(|fact| fact.interval.middle())
            .collect();
        let sum: f64 = values.iter().sum();
        values.len() > 1
            && [sum, sum / values.len() as f64].iter().any(|value| stated.meets(Interval::exact(*value)))
    })
}
