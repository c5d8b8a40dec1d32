//! Rates and counts that follow from other columns of their row, or from a number in the text around the table.

use assay_model::{Document, Role, Table, Unit, names};

use super::super::grid::{self, Entry, Field};
use super::super::written::Range;
use super::super::{Class, Finding, Standing, wording};
use super::column::{self, Candidate, Held, Predicted, Stated};
use super::formula::{self, FORMULAS, Formula, TOKENS_BOTH};

/// How far a rate may be from its count over its seconds.
const TOLERANCE: f64 = 0.01;

pub(super) fn check(document: &Document, table: &Table) -> Vec<Finding> {
    let entries = grid::entries(table);
    let mut findings = Vec::new();
    let mut supported: Vec<(String, Finding)> = Vec::new();
    let mut apart = Vec::new();
    for (index, metric, header) in targets(&entries) {
        let stated: Vec<Option<Stated>> = entries
            .iter()
            .map(|entry| entry.at(index).and_then(|field| Stated::new(document, &entry.label, field)))
            .collect();
        let candidates = candidates(document, table, &entries, index, metric);
        let agrees = |stated: Range, predicted: Range| predicted.widened(TOLERANCE).meets(stated);
        let Some(held) = column::best(&stated, &candidates, agrees) else { continue };
        if held.misses.is_empty() {
            supported.push((metric.to_owned(), support(header, &stated, &held)));
        } else if held.fits.len() * 2 >= held.rows() && (held.candidate.strict || held.fits.len() >= 2) {
            findings.push(contradict(header, &entries, &stated, &held));
        } else if held.fits.len() * 2 >= held.rows() && held.candidate.telling {
            let mut finding = contradict(header, &entries, &stated, &held);
            finding.standing = Standing::Doubtful;
            findings.push(finding);
        } else if held.fits.is_empty() && held.candidate.strict {
            apart.push((metric.to_owned(), none_fit(header, &stated, &held)));
        }
    }
    // A rate that follows from count and time explains what the time is; another rate of the same thing is then a
    // matter of scope.
    let thing = |metric: &str| metric.split('.').next().unwrap_or(metric).to_owned();
    let explained: Vec<String> = supported.iter().map(|(metric, _)| thing(metric)).collect();
    findings.extend(
        apart.into_iter().filter(|(metric, _)| !explained.contains(&thing(metric))).map(|(_, found)| found),
    );
    findings.extend(joined(supported.into_iter().map(|(_, finding)| finding).collect()));
    findings
}

/// The columns that some formula may give: place, metric and header. A rate that no metric fits has its header for a
/// name.
fn targets<'a>(entries: &[Entry<'a>]) -> Vec<(usize, &'a str, &'a str)> {
    let mut targets: Vec<(usize, &str, &str)> = Vec::new();
    for field in entries.iter().flat_map(|entry| &entry.fields) {
        if targets.iter().any(|(index, _, _)| *index == field.index) {
            continue;
        }
        match field.role {
            Role::Metric(metric) if FORMULAS.iter().any(|formula| formula.is_for(metric)) => {
                targets.push((field.index, metric, field.header));
            }
            Role::Metric(_) | Role::Unknown if matches!(field.measured(), Some((_, Unit::PerSecond(_)))) => {
                targets.push((field.index, field.metric().unwrap_or(field.header), field.header));
            }
            _ => {}
        }
    }
    targets
}

fn candidates(
    document: &Document,
    table: &Table,
    entries: &[Entry<'_>],
    index: usize,
    metric: &str,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for formula in FORMULAS.iter().filter(|formula| formula.is_for(metric)) {
        let none = [""];
        let divisors = if formula.over.is_empty() { &none[..] } else { formula.over };
        for over in divisors {
            candidates.extend(candidate(document, table, entries, index, formula, over));
        }
    }
    candidates.extend(by_units(entries, index));
    candidates
}

/// A rate of some thing as a column that counts the thing over a column of seconds, whatever they are called. Only
/// where one of them has no name, since the formulas see to the others.
fn by_units(entries: &[Entry<'_>], index: usize) -> Vec<Candidate> {
    let Some(first) =
        entries.iter().find(|entry| entry.at(index).is_some_and(|field| field.range().is_some()))
    else {
        return Vec::new();
    };
    let Some((_, Unit::PerSecond(thing))) = first.at(index).and_then(Field::measured) else {
        return Vec::new();
    };
    // Tokens of several kinds stand in one row, and a latency is the time of one of many requests: neither tells
    // which of them belong together.
    let counts = |field: &&Field<'_>| match field.measured() {
        Some((_, Unit::Bytes)) => thing == "B",
        Some((_, Unit::Count(other))) => other == thing && other != "tokens",
        _ => false,
    };
    let lasts = |field: &&Field<'_>| {
        let whole =
            field.metric().is_none_or(|metric| metric.starts_with("duration.") || metric == names::TIMING);
        whole && matches!(field.measured(), Some((_, Unit::Seconds)))
    };
    let mut candidates = Vec::new();
    for over in first.fields.iter().filter(counts) {
        for under in first.fields.iter().filter(lasts) {
            let named = over.metric().is_some()
                && under.metric().is_some()
                && first.at(index).is_some_and(|field| field.metric().is_some());
            if named {
                continue;
            }
            let row = |entry: &Entry<'_>| {
                let (rate, over, under) = (entry.at(index)?, entry.at(over.index)?, entry.at(under.index)?);
                // The rate as it is stated may be in a larger unit; the prediction is brought to it.
                let scale = rate.measured()?.0.over(rate.range()?)?.value();
                let range = over.measured()?.0.over(under.measured()?.0)?.over(Range::exact(scale))?;
                Some(Predicted {
                    range,
                    text: format!("{} / {}", column::operand(over), column::operand(under)),
                })
            };
            let formula = format!("{} / {}", over.header.trim(), under.header.trim());
            candidates.push(Candidate {
                formula,
                rows: entries.iter().map(row).collect(),
                strict: true,
                telling: true,
            });
        }
    }
    candidates
}

/// What one formula gives for every row.
fn candidate(
    document: &Document,
    table: &Table,
    entries: &[Entry<'_>],
    index: usize,
    formula: &Formula,
    over: &str,
) -> Option<Candidate> {
    let mut around = false;
    let mut words = String::new();
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        let group = entry.at(index).map_or("", |field| field.group);
        let factors: Option<Vec<Operand>> =
            formula.product.iter().map(|name| operand(document, table, entry, group, name)).collect();
        let divisor = if over.is_empty() { None } else { Some(operand(document, table, entry, group, over)) };
        let (Some(factors), true) = (factors, !matches!(divisor, Some(None))) else {
            rows.push(None);
            continue;
        };
        let divisor = divisor.flatten();
        around |= factors.iter().chain(&divisor).any(|operand| operand.around);
        words = said(&factors, divisor.as_ref(), |operand| operand.header.clone());
        rows.push(predicted(&factors, divisor.as_ref()));
    }
    let target = entries.iter().find_map(|entry| entry.at(index)).and_then(Field::metric).unwrap_or_default();
    let same_scope = match (formula::scope(target), formula::scope(over)) {
        (Some(rate), Some(time)) => rate == time,
        // An instant is never the whole of a time, and the loop is seldom all of a time that is not named.
        (Some(rate), None) => rate != "instant" && rate != "loop",
        _ => true,
    };
    let strict = formula.strict && !around && same_scope;
    let telling = formula.product.len() + formula.over.len().min(1) >= 2;
    rows.iter().any(Option::is_some).then_some(Candidate { formula: words, rows, strict, telling })
}

/// A number that a formula takes.
struct Operand {
    range: Range,
    text: String,
    header: String,
    /// Whether it stands in the text around the table.
    around: bool,
}

fn operand(
    document: &Document,
    table: &Table,
    entry: &Entry<'_>,
    group: &str,
    name: &str,
) -> Option<Operand> {
    if name == TOKENS_BOTH {
        let prompt = operand(document, table, entry, group, names::TOKENS_PROMPT)?;
        let output = operand(document, table, entry, group, names::TOKENS_OUTPUT)?;
        return Some(Operand {
            range: prompt.range.plus(output.range)?,
            text: format!("({} + {})", prompt.text, output.text),
            header: format!("({} + {})", prompt.header, output.header),
            around: prompt.around || output.around,
        });
    }
    let called = match name {
        names::TOKENS_OUTPUT => entry.tokens_called(&["output", "generated"]),
        names::TOKENS_PROMPT => entry.tokens_called(&["prompt", "input"]),
        _ => None,
    };
    if let Some(field) = entry.find(name, group).or(called) {
        let (text, header) = (column::operand(field), field.header.trim().to_owned());
        return Some(Operand { range: field.range()?, text, header, around: false });
    }
    // A time or a rate of one row is never given by the text for all of them.
    if !matches!(names::unit(name), Unit::One | Unit::Count(_)) {
        return None;
    }
    let (value, source) = grid::nearby(document, table, name)?;
    let header = format!("{} ({}, line {})", name.replace('_', " "), wording::plain(value), source.line);
    Some(Operand { range: Range::exact(value), text: wording::plain(value), header, around: true })
}

fn said(factors: &[Operand], divisor: Option<&Operand>, word: impl Fn(&Operand) -> String) -> String {
    let product = match factors.is_empty() {
        true => "1".to_owned(),
        false => factors.iter().map(&word).collect::<Vec<_>>().join(" × "),
    };
    match divisor {
        Some(divisor) => format!("{product} / {}", word(divisor)),
        None => product,
    }
}

fn predicted(factors: &[Operand], divisor: Option<&Operand>) -> Option<Predicted> {
    let mut range = Range::exact(1.0);
    for factor in factors {
        range = range.times(factor.range)?;
    }
    if let Some(divisor) = divisor {
        range = range.over(divisor.range)?;
    }
    Some(Predicted { range, text: said(factors, divisor, |operand| operand.text.clone()) })
}

fn support(header: &str, stated: &[Option<Stated>], held: &Held<'_>) -> Finding {
    Finding {
        class: Class::DerivedColumn,
        standing: Standing::Supported,
        summary: format!(
            "`{header}` is {} in {}",
            held.candidate.formula,
            match held.fits.len() {
                1 => "its row".to_owned(),
                2 => "both rows".to_owned(),
                count => format!("all {count} rows"),
            }
        ),
        arithmetic: column::lines(stated, held.candidate, &held.fits),
        sources: column::sources(stated, &held.fits),
        advice: String::new(),
    }
}

/// One finding for all columns of a table that agree.
fn joined(findings: Vec<Finding>) -> Option<Finding> {
    let mut findings = findings.into_iter();
    let mut first = findings.next()?;
    for other in findings {
        first.summary = format!("{}; {}", first.summary, other.summary);
        first.arithmetic.extend(other.arithmetic);
    }
    first.summary.push('.');
    first.arithmetic = column::limited(first.arithmetic);
    Some(first)
}

fn contradict(header: &str, entries: &[Entry<'_>], stated: &[Option<Stated>], held: &Held<'_>) -> Finding {
    let factor = match common_factor(entries, stated, held) {
        Some(words) => format!(", {words}"),
        None => String::new(),
    };
    Finding {
        class: Class::DerivedColumn,
        standing: Standing::Contradicted,
        summary: format!(
            "`{header}` is {} in {} of {} rows but not in {} ({}){factor}.",
            held.candidate.formula,
            held.fits.len(),
            held.rows(),
            wording::counted(held.misses.len(), "row"),
            column::labels(stated, &held.misses),
        ),
        arithmetic: column::lines(stated, held.candidate, &held.misses),
        sources: column::sources(stated, &held.misses),
        advice: "Compute these cells again from the raw numbers; one of each row's numbers is wrong."
            .to_owned(),
    }
}

/// No row agrees, though the table has all that the formula needs.
fn none_fit(header: &str, stated: &[Option<Stated>], held: &Held<'_>) -> Finding {
    let ratios = ratios(stated, held);
    let above = ratios.iter().all(|ratio| *ratio > 1.0);
    let constant = ratios.len() >= 2 && spread(&ratios) <= TOLERANCE;
    let (standing, words, advice) = match ratios.first() {
        Some(ratio) if constant => (
            Standing::Contradicted,
            format!("; every row is off by the same factor {}", wording::rough(*ratio)),
            "Find the factor: a batch size, a number of devices or a unit is counted twice or not at all.",
        ),
        _ if above => (
            Standing::Open,
            "; every rate is higher, so the time may cover more than the rate does".to_owned(),
            "Say what the time and the rate were taken over.",
        ),
        _ => {
            (Standing::Doubtful, String::new(), "Say what the time, the count and the rate were taken over.")
        }
    };
    Finding {
        class: Class::DerivedColumn,
        standing,
        summary: format!("`{header}` is not {} in any row{words}.", held.candidate.formula),
        arithmetic: column::lines(stated, held.candidate, &held.misses),
        sources: column::sources(stated, &held.misses),
        advice: advice.to_owned(),
    }
}

/// Stated over predicted, for the rows that do not agree.
fn ratios(stated: &[Option<Stated>], held: &Held<'_>) -> Vec<f64> {
    let ratio = |row: &usize| {
        let stated = stated.get(*row)?.as_ref()?.range.value();
        let predicted = held.candidate.rows.get(*row)?.as_ref()?.range.value();
        Some(stated / predicted).filter(|ratio| ratio.is_finite())
    };
    held.misses.iter().filter_map(ratio).collect()
}

fn spread(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low > 0.0 { high / low - 1.0 } else { f64::INFINITY }
}

/// What the rows that do not agree have in common: a setting of theirs, or a constant.
fn common_factor(entries: &[Entry<'_>], stated: &[Option<Stated>], held: &Held<'_>) -> Option<String> {
    let ratios = ratios(stated, held);
    if ratios.len() != held.misses.len() || ratios.is_empty() {
        return None;
    }
    let rows: Vec<&Entry<'_>> = held.misses.iter().filter_map(|row| entries.get(*row)).collect();
    let first = rows.first()?;
    for field in first.fields.iter().filter(|field| field.name().is_some()) {
        let same = |power: f64| {
            rows.iter().zip(&ratios).all(|(entry, ratio)| {
                let value = entry.at(field.index).and_then(|field| field.cell.value);
                value.is_some_and(|value| value > 1.0 && (ratio / value.powf(power) - 1.0).abs() <= TOLERANCE)
            })
        };
        if same(1.0) {
            return Some(format!("each too high by exactly its {}", field.header.trim()));
        }
        if same(-1.0) {
            return Some(format!("each too low by exactly its {}", field.header.trim()));
        }
    }
    let factor = ratios.first()?;
    match (ratios.len() >= 2, spread(&ratios) <= TOLERANCE) {
        (true, true) => Some(format!("each off by the factor {}", wording::rough(*factor))),
        (true, false) => None,
        (false, _) => Some(format!("off by the factor {}", wording::rough(*factor))),
    }
}
