//! Absolute numbers in prose: restated from a table, or computed from other numbers.
//!
//! A number without a source in the document is usually new information. It is doubtful only where the text says that
//! it was computed (`that's 62 tokens/s`), or where the sentence names the row and the metric of a cell that holds
//! another value.

use assay_model::Source;

use super::expected::{Expectation, adds_condition, expectations};
use super::naming::{named_columns, named_rows, subject_rows};
use super::pairs::{Pool, cell_operand, operand, side};
use super::prior::{Bearing, Judged};
use super::relative::excused;
use super::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::grid::{Grid, MOST_PAIRED_ROWS};
use crate::interval::Interval;
use crate::number::shown;
use crate::quantity::{Quantity, count_word};
use crate::unit::Unit;
use crate::{Class, Finding};

/// A number that others may be computed from.
#[derive(Debug, Clone)]
struct Fact {
    interval: Interval,
    unit: Unit,
    operand: Operand,
    /// In the sentence, or in a row that it names.
    near: bool,
    /// In the sentence itself.
    own: bool,
    /// In the paragraph, or in a row that the paragraph names.
    local: bool,
    /// Numbers of listings may lack the unit that the text gives them.
    untyped: bool,
}

/// Numbers that are combined with one another.
const MOST_FACTS: usize = 400;
const MOST_LOCAL: usize = 48;

/// Checks the absolute numbers of a sentence.
pub fn check(sentence: &Sentence, context: &Sentence, pool: &Pool<'_>) -> Vec<Judged> {
    let mut found = Vec::new();
    let candidates = sentence.quantities.iter().filter(|quantity| {
        !quantity.unit.is_relative() && !quantity.in_words && quantity.value > 0.0 && quantity.bound.is_none()
    });
    for quantity in candidates.filter(|quantity| !quantity.range && !is_cell(sentence, quantity, pool)) {
        let expected = expected_cells(sentence, context, quantity, pool);
        let computed = is_computed(sentence, quantity);
        let expectations =
            if expected.is_empty() { expectations(sentence, context, quantity, pool) } else { Vec::new() };
        if expected.is_empty() && expectations.is_empty() && !computed {
            continue;
        }
        let facts = facts(sentence, context, quantity, pool);
        let finding = judge(sentence, quantity, &facts, &expected, &expectations, computed);
        if finding.level == Level::NotChecked && computed && is_loose_orphan(sentence, quantity, &facts) {
            let own: Vec<&Fact> = facts.iter().filter(|fact| fact.own).collect();
            found.push(Judged::new(orphan(sentence, quantity, &own), Bearing::Loose));
            continue;
        }
        // What is only computed says nothing about how the author copies numbers.
        let bearing = match (expected.is_empty(), expectations.is_empty()) {
            (false, _) => Bearing::Named,
            (_, false) => Bearing::Loose,
            _ => Bearing::Firm,
        };
        found.push(Judged::new(finding, bearing));
    }
    found
}

/// Whether a number is itself a cell of a list that was read as a table.
fn is_cell(sentence: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    let line = sentence.line_of(quantity);
    pool.grids.iter().filter(|grid| grid.file == sentence.file && grid.rows.len() <= MOST_PAIRED_ROWS).any(
        |grid| {
            let rows = grid.rows.iter().filter(|row| row.line == line);
            rows.flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.value == quantity.value)
        },
    )
}

fn judge(
    sentence: &Sentence,
    quantity: &Quantity,
    facts: &[Fact],
    expected: &[Operand],
    expectations: &[Expectation],
    computed: bool,
) -> Finding {
    let agrees = |one: &&Expectation| stated(quantity).meets(one.interval.widened(0.004));
    if let Some(expectation) = expectations.iter().find(agrees) {
        return finding(sentence, quantity, Level::Supported, &expectation.formula);
    }
    if let Some(formula) = restated(quantity, facts) {
        return finding(sentence, quantity, Level::Supported, &formula);
    }
    let near: Vec<&Fact> = facts.iter().filter(|fact| fact.near).take(MOST_LOCAL).collect();
    let written = near.iter().filter(|fact| !fact.unit.is_relative()).count();
    let local = facts.iter().filter(|fact| fact.near || fact.local && (written < 2 || !fact.untyped));
    let local: Vec<&Fact> = local.take(MOST_LOCAL).collect();
    // A cell that the sentence points at is excused by numbers of the sentence, not by other cells.
    let any = expected.is_empty() || quantity.unit.is_none();
    let own: Vec<&Fact> = near.iter().copied().filter(|fact| fact.own || any).collect();
    if let Some(formula) = combined(quantity, &own, &near) {
        return finding(sentence, quantity, Level::Supported, &formula);
    }
    let unclear = excused(sentence) || quantity.hedged && quantity.value < 20.0;
    if !unclear
        && !expectations.is_empty()
        && !speaks_of_others(sentence, quantity)
        && triple(quantity, &near).is_none()
    {
        return fails(sentence, quantity, expectations);
    }
    if expected.is_empty() && triple(quantity, &near).is_some() {
        return finding(sentence, quantity, Level::NotChecked, "");
    }
    if !unclear && !expected.is_empty() && !speaks_of_others(sentence, quantity) {
        return disagrees(sentence, quantity, expected);
    }
    let inputs = local.iter().filter(|fact| fact.unit.is_none() || !fact.unit.is_relative()).count();
    let all: Vec<&Fact> = facts.iter().filter(|fact| written < 2 || fact.near || fact.local).collect();
    let somehow = || {
        combined_any(quantity, &local, &all)
            || triple(quantity, &local).is_some()
            || is_statistic(quantity, facts)
    };
    if !computed || unclear || inputs < 2 || somehow() {
        return finding(sentence, quantity, Level::NotChecked, "");
    }
    orphan(sentence, quantity, &near)
}

/// A number that the text says was computed, beside at least two others of its sentence that do not give it. Three
/// numbers from anywhere nearly always do, so that is no excuse here; the rest of the document decides.
fn is_loose_orphan(sentence: &Sentence, quantity: &Quantity, facts: &[Fact]) -> bool {
    let own: Vec<&Fact> = facts.iter().filter(|fact| fact.own && !fact.unit.is_relative()).collect();
    let near: Vec<&Fact> = facts.iter().filter(|fact| fact.near).take(MOST_LOCAL).collect();
    let local: Vec<&Fact> =
        facts.iter().filter(|fact| fact.near || fact.local).take(2 * MOST_LOCAL).collect();
    let measured = own.iter().filter(|fact| !fact.unit.is_none()).count();
    own.len() >= 2
        && measured >= 1
        && !excused(sentence)
        && restated(quantity, facts).is_none()
        && combined(quantity, &near, &local).is_none()
        && triple(quantity, &near).is_none()
}

/// The cells that a sentence points at by row and metric.
fn expected_cells(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
) -> Vec<Operand> {
    let mut found = Vec::new();
    // Numbers without a unit must have the digits of a measurement.
    let digits = quantity.text.chars().filter(char::is_ascii_digit).count();
    if quantity.unit.is_count() && (quantity.is_integer() || digits < 3 || !quantity.unit.is_none()) {
        return found;
    }
    if adds_condition(sentence, quantity, pool) {
        return found;
    }
    let line = sentence.line_of(quantity);
    let bare = quantity.unit.is_none();
    let fits = |grid: &Grid, column: usize| {
        let unit = &grid.columns[column].unit;
        bare || unit.same_measure(&quantity.unit) && unit.same_things(&quantity.unit)
    };
    let alike: usize =
        pool.grids.iter().map(|grid| grid.measures().filter(|column| fits(grid, *column)).count()).sum();
    for grid in pool.grids {
        let rows = subject_rows(sentence, context, quantity.start, grid);
        if rows.len() != 1 {
            continue;
        }
        let columns = named_columns(sentence, grid);
        for column in grid.measures().filter(|column| fits(grid, *column)) {
            // The only column of a rate such as tokens/s needs no name; times and sizes are of many things.
            let rate = quantity.unit.is_rate() && alike == 1 && !quantity.unit.counts_nothing();
            if columns.contains(&column) || rate {
                let cells = rows.iter().filter_map(|row| cell_operand(grid, *row, column));
                // A value of another size is another thing, not a wrong copy.
                let most = if bare { 1.8 } else { 4.0 };
                let close = |cell: &Operand| {
                    let ratio = quantity.written / cell.value;
                    let ratio = if bare {
                        ratio * grid.columns[column].unit.factor()
                    } else {
                        quantity.value / cell.value
                    };
                    (1.0 / most..=most).contains(&ratio)
                };
                found.extend(cells.filter(close).filter(|cell| cell.line != line));
            }
        }
    }
    found
}

/// Whether the sentence reports something besides the table: earlier values, limits, spreads.
fn speaks_of_others(sentence: &Sentence, quantity: &Quantity) -> bool {
    const WORDS: [&str; 39] = [
        "last",
        "ago",
        "before",
        "earlier",
        "previou",
        "previous",
        "old",
        "former",
        "formerly",
        "originally",
        "vendor",
        "published",
        "spread",
        "within",
        "differ",
        "differed",
        "limit",
        "cap",
        "peak",
        "tolerance",
        "deviation",
        "another",
        "more",
        "les",
        "less",
        "saved",
        "save",
        "saving",
        "gap",
        "difference",
        "overhead",
        "theoretical",
        "minu",
        "minus",
        "drop",
        "falls",
        "fall",
        "gain",
        "alone",
    ];
    let clause = sentence.clause_at(quantity.start);
    WORDS.iter().any(|word| clause.mentions(word))
}

/// Whether the text says that a number was computed: a connective before it with nothing but words between.
pub fn is_computed(sentence: &Sentence, quantity: &Quantity) -> bool {
    const CONNECTIVES: [&str; 21] = [
        "an average of ",
        "on average ",
        "so ",
        "that's ",
        "that is ",
        "i.e. ",
        "i.e., ",
        "which is ",
        "thus ",
        "hence ",
        "therefore ",
        "correspond to ",
        "corresponds to ",
        "amounts to ",
        "comes to ",
        "equals ",
        "leaves ",
        "altogether ",
        "this gives ",
        "makes it ",
        "or ",
    ];
    // Formulas hold factors that are no numbers: `$6N$`. A dollar before a digit is money.
    let mut dollars = sentence.text.match_indices('$');
    let formula = dollars
        .any(|(at, _)| !sentence.text[at + 1..].trim_start().starts_with(|next: char| next.is_ascii_digit()));
    if formula {
        return false;
    }
    let head = sentence.text.get(..quantity.start).unwrap_or_default();
    let from =
        sentence.quantities.iter().filter(|other| other.end <= quantity.start).map(|other| other.end).max();
    let clause = head.get(from.unwrap_or(0)..).unwrap_or_default().to_lowercase();
    let mark = CONNECTIVES.iter().filter_map(|mark| {
        let at = clause.rfind(mark)?;
        let starts = at == 0 || clause[..at].ends_with([' ', '(', ',']);
        starts.then_some((at + mark.len(), *mark))
    });
    let Some((end, mark)) = mark.max_by_key(|(end, _)| *end) else {
        return is_apposition(sentence, quantity);
    };
    let words = clause[end..].split_whitespace().count();
    // `or` joins a number to its other form only directly behind it.
    words <= if mark == "or " { 1 } else { 5 }
        && (mark != "or " || from.is_some())
        && !clause[end..].contains(';')
}

/// `took 2 hours and 5 minutes, 427 MB/s`: a number directly behind another of a different kind restates it.
fn is_apposition(sentence: &Sentence, quantity: &Quantity) -> bool {
    let before = sentence.quantities.iter().filter(|other| other.end <= quantity.start).next_back();
    before.is_some_and(|other| {
        let between = sentence.text.get(other.end..quantity.start).unwrap_or_default();
        let measured = |one: &Quantity| !one.unit.is_count() && !one.unit.is_relative();
        between == ", " && measured(other) && measured(quantity) && !other.unit.same_measure(&quantity.unit)
    })
}

/// The numbers of a document, with how close they are to the sentence.
fn facts(sentence: &Sentence, context: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> Vec<Fact> {
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
                if cell.line == line {
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

/// Small numbers in words: `across four cards`.
fn spelled(sentence: &Sentence) -> Vec<Fact> {
    let words = sentence.text.split(|one: char| !one.is_alphanumeric());
    let counts = words.filter_map(|word| Some((word, count_word(word).filter(|count| *count > 1.0)?)));
    // `an 8-GPU machine`: no quantity of its own, but a factor.
    let glued = sentence.text.split_whitespace().filter_map(|word| {
        let (number, _) = word.trim_start_matches('(').split_once('-')?;
        Some((number, number.parse::<u32>().ok().filter(|count| *count > 1)?.into()))
    });
    let counts = counts.chain(glued);
    let fact = |(word, count): (&str, f64)| Fact {
        interval: Interval::exact(count),
        unit: Unit::none(),
        operand: Operand { text: word.to_owned(), value: count, line: sentence.line_at(0) },
        near: true,
        own: true,
        local: true,
        untyped: false,
    };
    counts.map(fact).collect()
}

/// What turns an hour, a day or a month into a longer time, where the sentence speaks of one.
fn calendar(sentence: &Sentence) -> Vec<Fact> {
    const TIMES: [(&str, &[f64]); 6] = [
        ("year", &[12.0, 52.0, 365.0, 8760.0]),
        ("month", &[12.0, 30.0, 720.0, 730.0]),
        ("week", &[7.0, 52.0, 168.0]),
        ("day", &[7.0, 24.0, 365.0]),
        ("night", &[7.0, 30.0, 365.0]),
        ("hour", &[24.0]),
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

fn stated(quantity: &Quantity) -> Interval {
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
fn restated(quantity: &Quantity, facts: &[Fact]) -> Option<String> {
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
fn combined(quantity: &Quantity, one: &[&Fact], other: &[&Fact]) -> Option<String> {
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

fn combined_any(quantity: &Quantity, local: &[&Fact], all: &[&Fact]) -> bool {
    combined(quantity, local, all).is_some()
}

/// The three numbers that give a quantity.
fn triple(quantity: &Quantity, local: &[&Fact]) -> Option<String> {
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
fn is_statistic(quantity: &Quantity, facts: &[Fact]) -> bool {
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

fn finding(sentence: &Sentence, quantity: &Quantity, level: Level, formula: &str) -> Finding {
    let summary = match level {
        Level::Supported => format!("`{}` is {formula}", quantity.text),
        _ => format!("where `{}` comes from is not clear from the document", quantity.text),
    };
    Finding {
        class: Class::Restatement,
        level,
        summary,
        arithmetic: if formula.is_empty() { Vec::new() } else { vec![formula.to_owned()] },
        sources: vec![Source::new(sentence.file.clone(), sentence.line_of(quantity))],
        operands: vec![operand(sentence, quantity)],
        advice: String::new(),
    }
}

/// The cell that the sentence names holds another value.
fn disagrees(sentence: &Sentence, quantity: &Quantity, expected: &[Operand]) -> Finding {
    let cells: Vec<&str> = expected.iter().map(|operand| operand.text.as_str()).collect();
    let mut found = finding(sentence, quantity, Level::Doubtful, &cells.join("; "));
    found.summary = format!("`{}` is not what the table has: {}", quantity.text, cells.join("; "));
    for operand in expected {
        let place = Source::new(sentence.file.clone(), operand.line);
        if !found.sources.contains(&place) {
            found.sources.push(place);
        }
    }
    found.operands.extend(expected.iter().cloned());
    found.advice = "correct one of the two, or say what is different".to_owned();
    found
}

/// The words make one expect other values, and the number is found nowhere else.
fn fails(sentence: &Sentence, quantity: &Quantity, expectations: &[Expectation]) -> Finding {
    let distance = |one: &Expectation| (one.interval.middle() / quantity.value).ln().abs();
    let mut nearest: Vec<&Expectation> = expectations.iter().collect();
    nearest.sort_by(|one, other| distance(one).total_cmp(&distance(other)));
    let value = |one: &Expectation| match one.operands.as_slice() {
        [_] => one.formula.clone(),
        _ => format!("{} = {}", one.formula, shown(one.interval.middle() / quantity.unit.factor())),
    };
    let given: Vec<String> = nearest.iter().take(3).map(|one| value(one)).collect();
    let mut found = finding(sentence, quantity, Level::Doubtful, "");
    found.summary =
        format!("`{}` is found nowhere else; the document gives {}", quantity.text, given.join("; "));
    found.arithmetic = given;
    for operand in nearest.iter().flat_map(|one| &one.operands).take(12) {
        let place = Source::new(sentence.file.clone(), operand.line);
        if !found.sources.contains(&place) {
            found.sources.push(place);
        }
        found.operands.push(operand.clone());
    }
    found.advice = "correct one of the two, or say what is different".to_owned();
    found
}

/// Nothing in the document gives a number that the text says was computed.
fn orphan(sentence: &Sentence, quantity: &Quantity, near: &[&Fact]) -> Finding {
    let mut found = finding(sentence, quantity, Level::Doubtful, "");
    let inputs: Vec<&str> = near.iter().take(4).map(|fact| fact.operand.text.as_str()).collect();
    found.summary = format!(
        "nothing in the document gives `{}`; beside it stand {}",
        quantity.text,
        if inputs.is_empty() { shown(quantity.value) } else { inputs.join(", ") }
    );
    for fact in near {
        let place = Source::new(sentence.file.clone(), fact.operand.line);
        if !found.sources.contains(&place) {
            found.sources.push(place);
        }
    }
    found.operands.extend(near.iter().take(12).map(|fact| fact.operand.clone()));
    found.advice = "recompute it, or name the numbers that it comes from".to_owned();
    found
}
