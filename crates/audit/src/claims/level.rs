//! Absolute numbers in prose: restated from a table, or computed from other numbers.
//!
//! A number without a source in the document is usually new information. It is doubtful only where the text says that
//! it was computed (`that's 62 tokens/s`), or where the sentence names the row and the metric of a cell that holds
//! another value.

use assay_model::Source;

use super::expected::{Expectation, adds_condition, decimals, expectations};
use super::facts::{Fact, MOST_LOCAL, combined, combined_any, facts, is_statistic, restated, stated, triple};
use super::linking::{self, Around, Place};
use super::naming::{named_columns, subject_rows};
use super::pairs::{Pool, cell_operand, operand};
use super::prior::{Bearing, Judged};
use super::relative::excused;
use super::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::grid::Grid;
use crate::number::shown;
use crate::quantity::{Quantity, ending};
use crate::{Class, Finding};

/// Checks the absolute numbers of a sentence. Numbers that are no claims but repeat what the words around them point at
/// are counted.
pub fn check(sentence: &Sentence, context: &Sentence, pool: &Pool<'_>, agreeing: &mut usize) -> Vec<Judged> {
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
            found.extend(linked(None, sentence, context, quantity, pool, agreeing));
            continue;
        }
        let facts = facts(sentence, context, quantity, pool);
        let finding = judge(sentence, quantity, &facts, &expected, &expectations, computed);
        // What is only computed says nothing about how the author copies numbers.
        let bearing = match finding.level {
            _ if !expected.is_empty() => Bearing::Named,
            Level::Contradicted | Level::Doubtful => Bearing::Guess,
            _ => Bearing::Loose,
        };
        found.extend(linked(
            Some(Judged::new(finding, bearing)),
            sentence,
            context,
            quantity,
            pool,
            agreeing,
        ));
    }
    // Two numbers of a sentence that both differ from what it seems to name are about something else.
    let of_cell = |one: &Judged| matches!(one.bearing, Bearing::Named | Bearing::Linked | Bearing::Pointed);
    let differs = |one: &Judged| of_cell(one) && one.finding.level <= Level::Doubtful;
    if found.iter().filter(|one| differs(one)).count() > 1 {
        for one in found.iter_mut().filter(|one| differs(one)) {
            one.finding = super::prior::not_checked(one.finding.clone());
        }
    }
    found
}

/// Weighs a verdict against what the words around the number point at.
fn linked(
    judged: Option<Judged>,
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
    agreeing: &mut usize,
) -> Option<Judged> {
    let around = Around::new(sentence, quantity, pool);
    let links = linking::absolute(&around, quantity);
    *agreeing += usize::from(judged.is_none() && links.agrees());
    let judged = judged.map(|judged| judged.weighed(&links));
    let Some(top) = links.missed_value(quantity) else { return judged };
    let difference = top.sign == '-';
    if is_repeated(sentence, quantity, pool) {
        return judged;
    }
    if excused(sentence)
        || adds_condition(sentence, quantity, pool)
        || speaks_of_others(sentence, quantity) && !difference
    {
        return judged;
    }
    // A number that three others give may be about these; where the top is of the sentence, so must they be.
    let of_cells = matches!(top.one, Place::Cell(..) | Place::Column(..))
        && !matches!(top.other, Some(Place::Written(..) | Place::Implied(_)));
    let facts = facts(sentence, context, quantity, pool);
    let may_be = |fact: &&Fact| if of_cells { fact.near || fact.local } else { fact.own };
    let others: Vec<&Fact> = facts.iter().filter(may_be).take(MOST_LOCAL).collect();
    if triple(quantity, &others).is_some() {
        return judged;
    }
    if let Some(doubt) = judged.filter(|judged| judged.finding.level <= Level::Doubtful) {
        return Some(doubt.linked(&links));
    }
    let formula = around.formula(&top);
    let mut found = finding(sentence, quantity, Level::Doubtful, &formula);
    let given = match top.other {
        Some(_) => format!("{formula} = {}", shown(top.value.middle() / quantity.unit.factor())),
        None => formula,
    };
    found.summary =
        format!("`{}` is not what the numbers that it seems to come from give: {given}", quantity.text);
    found.arithmetic = vec![given];
    let operands = around.operands(&top);
    for operand in &operands {
        let place = Source::new(sentence.file.clone(), operand.line);
        if !found.sources.contains(&place) {
            found.sources.push(place);
        }
    }
    found.operands.extend(operands);
    found.advice = "recompute it, or name the numbers that it comes from".to_owned();
    Some(Judged::new(found, Bearing::Linked))
}

/// Whether another sentence has the same number: the name of a thing or a setting, which nothing gives.
fn is_repeated(sentence: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    pool.sentences.iter().any(|other| {
        let own = other.block == sentence.block && other.text == sentence.text;
        let same = |one: &&Quantity| one.value == quantity.value && one.unit == quantity.unit;
        other.quantities.iter().filter(same).count() > usize::from(own)
    })
}

/// Whether a number is itself a cell of a list that was read as a table.
fn is_cell(sentence: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    let line = sentence.line_of(quantity);
    pool.grids.iter().filter(|grid| grid.is_list() && grid.file == sentence.file).any(|grid| {
        let rows = grid.rows.iter().filter(|row| row.line == line);
        rows.flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.value == quantity.value)
    })
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
        let mut found = finding(sentence, quantity, Level::Supported, &expectation.formula);
        found.operands.extend(expectation.operands.iter().cloned());
        return found;
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
    if expected.is_empty() && triple(quantity, &near).is_some() {
        return finding(sentence, quantity, Level::NotChecked, "");
    }
    // Where two cells are meant, as a mean and a median of one thing, a third value may be meant as well.
    if !unclear && expected.len() == 1 && !speaks_of_others(sentence, quantity) {
        return disagrees(sentence, quantity, expected);
    }
    let inputs = local.iter().filter(|fact| fact.unit.is_none() || !fact.unit.is_relative()).count();
    let all: Vec<&Fact> = facts.iter().collect();
    // The numbers beside it may have been rounded.
    let about = Quantity { low: 0.96 * quantity.low, high: 1.04 * quantity.high, ..quantity.clone() };
    let somehow = || {
        combined_any(quantity, &local, &all)
            || combined_any(&about, &near, &near)
            || triple(quantity, &local).is_some()
            || is_statistic(quantity, facts)
    };
    if !computed || unclear || inputs < 2 || somehow() {
        return finding(sentence, quantity, Level::NotChecked, "");
    }
    // Small counts and what stands beside fewer than two numbers may come from anywhere.
    let own = facts.iter().filter(|fact| fact.own && !fact.unit.is_relative());
    let measured = own.clone().filter(|fact| !fact.unit.is_none()).count();
    let digits = quantity.text.chars().filter(char::is_ascii_digit).count();
    if own.count() < 2 || measured == 0 || quantity.unit.is_count() && digits < 3 {
        return finding(sentence, quantity, Level::NotChecked, "");
    }
    orphan(sentence, quantity, &near)
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
                let alike = |row: &&usize| {
                    let cell = grid.cell(**row, column);
                    !bare || cell.is_some_and(|cell| decimals(&quantity.text) <= decimals(&cell.text))
                };
                let cells = rows.iter().filter(alike).filter_map(|row| cell_operand(grid, *row, column));
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
                found.extend(cells.filter(close).filter(|cell| !grid.is_list() || cell.line != line));
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
    // `12 checkpoints, 4.9 GB each = 58.8 GB`.
    if from.is_some()
        && clause.ends_with("= ")
        && clause.len() <= 30
        && !clause.contains([',', ';', '(', ':'])
    {
        let head = clause.trim_end_matches("= ").trim();
        let before = ending(sentence.text.get(..quantity.start).unwrap_or_default(), 48);
        let written_out =
            before.contains(['×', '*', '/', '^', '·', '+', '(', '$', '{']) || before.contains(" x ");
        return !written_out && (head.is_empty() || head == "each" || head.starts_with("each "));
    }
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
    let before = sentence.quantities.iter().rfind(|other| other.end <= quantity.start);
    before.is_some_and(|other| {
        let between = sentence.text.get(other.end..quantity.start).unwrap_or_default();
        let measured = |one: &Quantity| !one.unit.is_count() && !one.unit.is_relative();
        // Work and time, or a time and a rate; other neighbors are a list of inputs.
        let related = other.unit.is_time() && quantity.unit.is_rate();
        between == ", " && related && measured(other) && measured(quantity)
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
