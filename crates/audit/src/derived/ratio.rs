//! Ratios: speed-ups, efficiencies and cells such as `3.07× faster`, computed from the numbers beside them.

use assay_model::{Document, Role, Table, Unit, names};

use super::super::grid::{self, Entry, Field};
use super::super::written::Range;
use super::super::{Class, Finding, Standing, wording};
use super::column::{self, Candidate, Held, Predicted, Stated};

/// A ratio of means and a mean of ratios differ by about this much; less than it is a slip, not a contradiction.
const SLIP: f64 = 0.01;

/// Settings that say how many workers share the work.
const WORKERS: [&str; 4] =
    [names::setting::TASKS, names::setting::DEVICES, names::setting::NODES, names::setting::THREADS];

pub(super) fn check(document: &Document, table: &Table) -> Vec<Finding> {
    let entries = grid::entries(table);
    let mut findings = Vec::new();
    if table.transposed {
        findings.extend(across(document, table));
    }
    for (index, kind) in targets(&entries) {
        let stated: Vec<Option<Stated>> = entries
            .iter()
            .map(|entry| entry.at(index).and_then(|field| Stated::new(document, &entry.label, field)))
            .collect();
        let header = entries.iter().find_map(|entry| entry.at(index)).map_or("", |field| field.header);
        let candidates = candidates(&entries, &stated, index, kind);
        findings.extend(verdict(header, &stated, &candidates));
    }
    findings
}

/// What kind of ratio a column holds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// How many times the base.
    Speedup,
    /// Share of perfect scaling.
    Efficiency,
    /// Some ratio of other numbers.
    Any,
}

fn targets(entries: &[Entry<'_>]) -> Vec<(usize, Kind)> {
    let mut targets: Vec<(usize, Kind)> = Vec::new();
    for field in entries.iter().flat_map(|entry| &entry.fields) {
        let kind = match field.role {
            Role::Ratio => Kind::Any,
            Role::Metric(name) if name == names::SPEEDUP => Kind::Speedup,
            Role::Metric(name) if name == names::EFFICIENCY => Kind::Efficiency,
            _ => continue,
        };
        if !targets.iter().any(|(index, _)| *index == field.index) {
            targets.push((field.index, kind));
        }
    }
    targets
}

fn candidates(entries: &[Entry<'_>], stated: &[Option<Stated>], index: usize, kind: Kind) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    if let Some(base) = base_row(entries, stated, kind) {
        candidates.extend(against_base(entries, base, index, kind));
    }
    if kind != Kind::Efficiency {
        candidates.extend(beside(entries, index));
    }
    candidates
}

/// The row that all others are compared with: the one whose ratio is stated as 1, with the fewest workers if there
/// are several.
fn base_row(entries: &[Entry<'_>], stated: &[Option<Stated>], kind: Kind) -> Option<usize> {
    let is_one = |stated: &Option<Stated>| stated.as_ref().is_some_and(|stated| stated.range.value() == 1.0);
    let ones: Vec<usize> =
        stated.iter().enumerate().filter(|(_, stated)| is_one(stated)).map(|(row, _)| row).collect();
    let workers = |row: &usize| entries.get(*row).and_then(workers).map_or(f64::INFINITY, |(value, _)| value);
    let fewest = |rows: &[usize]| rows.iter().copied().min_by(|a, b| workers(a).total_cmp(&workers(b)));
    match (kind, ones.is_empty()) {
        (_, false) => fewest(&ones),
        // The base of an efficiency may be left out or be a dash: it is the fewest workers then.
        (Kind::Efficiency, true) => fewest(&(0..entries.len()).collect::<Vec<_>>()),
        (_, true) => None,
    }
}

fn workers(entry: &Entry<'_>) -> Option<(f64, String)> {
    let field = WORKERS.iter().find_map(|name| entry.find(name, ""))?;
    let value = field.cell.value.filter(|value| *value > 0.0)?;
    Some((value, column::operand(field)))
}

/// Ratios of a time or rate column to its value in the base row.
fn against_base(entries: &[Entry<'_>], base: usize, target: usize, kind: Kind) -> Vec<Candidate> {
    let Some(base_entry) = entries.get(base) else { return Vec::new() };
    let mut candidates = Vec::new();
    for field in base_entry.fields.iter().filter(|field| field.index != target) {
        let Some(is_rate) = is_speed(field) else { continue };
        for upside in [is_rate, !is_rate] {
            if upside != is_rate && kind != Kind::Any {
                continue;
            }
            candidates.push(base_candidate(entries, base, field, upside, kind, false));
            if kind == Kind::Efficiency && !is_rate {
                // With as much work for each worker, a constant time is perfect scaling.
                candidates.push(base_candidate(entries, base, field, upside, kind, true));
            }
        }
    }
    candidates
}

fn base_candidate(
    entries: &[Entry<'_>],
    base: usize,
    field: &Field<'_>,
    upside: bool,
    kind: Kind,
    weak: bool,
) -> Candidate {
    let header = field.header.trim();
    let row = |(row, entry): (usize, &Entry<'_>)| {
        if row == base {
            return None;
        }
        let mine = entry.at(field.index)?;
        let (over, under) = if upside { (mine, field) } else { (field, mine) };
        let mut range = over.range()?.over(under.range()?)?;
        let mut text = format!("{} / {}", column::operand(over), column::operand(under));
        if kind == Kind::Efficiency && !weak {
            let (many, many_text) = workers(entry)?;
            let (few, few_text) = workers(entries.get(base)?)?;
            range = range.over(Range::exact(many / few))?;
            text = format!("({text}) / ({many_text} / {few_text})");
        }
        Some(Predicted { range, text })
    };
    let formula = match (kind, weak) {
        (Kind::Efficiency, false) => format!("the speed-up of `{header}` over the number of workers"),
        _ => format!("`{header}` against the base row"),
    };
    Candidate { formula, rows: entries.iter().enumerate().map(row).collect(), strict: true, telling: true }
}

/// Whether a field holds a rate (`true`) or a time (`false`); none for anything else.
fn is_speed(field: &Field<'_>) -> Option<bool> {
    let unit = match field.role {
        Role::Metric(metric) => {
            let is_it = |known: &&names::Canonical| {
                metric == known.name
                    || metric.strip_prefix(known.name).is_some_and(|rest| rest.starts_with('.'))
            };
            match names::METRICS.iter().find(is_it) {
                Some(known) => Unit::parse(known.unit).0,
                None => field.measured()?.1,
            }
        }
        Role::Unknown => field.measured()?.1,
        Role::Setting(_) | Role::Label | Role::Ratio => return None,
    };
    match unit {
        Unit::PerSecond(_) => Some(true),
        Unit::Seconds => Some(false),
        _ => None,
    }
}

/// Ratios of two columns of one row.
fn beside(entries: &[Entry<'_>], target: usize) -> Vec<Candidate> {
    let Some(first) = entries.first() else { return Vec::new() };
    let speeds: Vec<(&Field<'_>, bool)> = first
        .fields
        .iter()
        .filter(|field| field.index != target)
        .filter_map(|field| Some((field, is_speed(field)?)))
        .collect();
    let mut candidates = Vec::new();
    for (over, over_is_rate) in &speeds {
        for (under, under_is_rate) in &speeds {
            if over.index == under.index || over_is_rate != under_is_rate {
                continue;
            }
            let row = |entry: &Entry<'_>| {
                let (over, under) = (entry.at(over.index)?, entry.at(under.index)?);
                let range = over.range()?.over(under.range()?)?;
                Some(Predicted {
                    range,
                    text: format!("{} / {}", column::operand(over), column::operand(under)),
                })
            };
            let formula = format!("`{}` / `{}`", full(over), full(under));
            candidates.push(Candidate {
                formula,
                rows: entries.iter().map(row).collect(),
                strict: false,
                telling: true,
            });
        }
    }
    candidates
}

fn full(field: &Field<'_>) -> String {
    match field.group.is_empty() {
        true => field.header.trim().to_owned(),
        false => format!("{} {}", field.group, field.header.trim()),
    }
}

/// Ratio cells of a transposed table, each beside the two systems it compares.
fn across(document: &Document, table: &Table) -> Vec<Finding> {
    let systems = grid::systems(table);
    let [one, other] = systems.as_slice() else { return Vec::new() };
    let ratio = |column: &assay_model::Column| column.role == Role::Ratio;
    let Some(place) = table.columns.iter().position(ratio) else { return Vec::new() };
    let header = table.columns.get(place).map_or("", |column| column.header.as_str());
    let mut stated = Vec::new();
    let mut rows = Vec::new();
    for row in &table.rows {
        let label = row.cells.first().map_or("", |cell| cell.text.as_str());
        let field = |place: usize| {
            let cell = row.cells.get(place)?;
            Some(Field { header: label, group: "", role: &row.role, cell, index: place })
        };
        let mine = field(place).and_then(|field| Stated::new(document, label, &field));
        let pair = field(*one).zip(field(*other));
        rows.push(mine.as_ref().zip(pair).and_then(|(mine, (a, b))| nearer(mine.range, &a, &b)));
        stated.push(mine);
    }
    let candidate =
        Candidate { formula: "the ratio of the two systems".to_owned(), rows, strict: true, telling: true };
    verdict(header, &stated, std::slice::from_ref(&candidate))
}

/// The quotient of two fields, whichever way round is nearer to the ratio stated.
fn nearer(stated: Range, a: &Field<'_>, b: &Field<'_>) -> Option<Predicted> {
    let quotient = |over: &Field<'_>, under: &Field<'_>| {
        let range = over.range()?.over(under.range()?)?;
        Some(Predicted { range, text: format!("{} / {}", column::operand(over), column::operand(under)) })
    };
    let distance = |predicted: &Predicted| (predicted.range.value() / stated.value()).ln().abs();
    match (quotient(a, b), quotient(b, a)) {
        (Some(one), Some(other)) if distance(&other) < distance(&one) => Some(other),
        (one, other) => one.or(other),
    }
}

fn agrees(stated: Range, predicted: Range) -> bool {
    // One and a half of the last digit, since both numbers may have been rounded on the way.
    let room = stated.half() * 3.0;
    predicted.widened(SLIP).meets(stated) || predicted.meets(Range::around(stated.value(), room))
}

fn verdict(header: &str, stated: &[Option<Stated>], candidates: &[Candidate]) -> Vec<Finding> {
    let Some(held) = column::best(stated, candidates, agrees) else { return Vec::new() };
    let sources = candidates.iter().filter(|candidate| candidate.rows.iter().any(Option::is_some)).count();
    if held.misses.is_empty() {
        return vec![support(header, stated, &held)];
    }
    // Where there is but one thing it can be the ratio of, no other row need speak for that.
    let only = sources == 1 && held.candidate.strict;
    let mostly = held.fits.len() * 2 >= held.rows() && !held.fits.is_empty();
    if !only && !mostly {
        return Vec::new();
    }
    let mut findings = vec![Finding {
        class: Class::DerivedColumn,
        standing: Standing::Contradicted,
        summary: format!(
            "`{header}` is not {} in {} ({}).",
            held.candidate.formula,
            wording::counted(held.misses.len(), "row"),
            column::labels(stated, &held.misses)
        ),
        arithmetic: column::lines(stated, held.candidate, &held.misses),
        sources: column::sources(stated, &held.misses),
        advice: "Compute these ratios again from the numbers beside them.".to_owned(),
    }];
    if !held.fits.is_empty() {
        findings.push(support(header, stated, &held));
    }
    findings
}

fn support(header: &str, stated: &[Option<Stated>], held: &Held<'_>) -> Finding {
    let slips = slips(stated, held);
    let remark = match slips.is_empty() {
        true => String::new(),
        false => format!("; the last digit differs by rounding: {}", slips.join(", ")),
    };
    Finding {
        class: Class::DerivedColumn,
        standing: Standing::Supported,
        summary: format!(
            "`{header}` is {} in {}{remark}.",
            held.candidate.formula,
            wording::counted(held.fits.len(), "row")
        ),
        arithmetic: column::lines(stated, held.candidate, &held.fits),
        sources: column::sources(stated, &held.fits),
        advice: String::new(),
    }
}

/// Rows that agree but for a last digit.
fn slips(stated: &[Option<Stated>], held: &Held<'_>) -> Vec<String> {
    let slip = |row: &usize| {
        let stated = stated.get(*row)?.as_ref()?;
        let predicted = held.candidate.rows.get(*row)?.as_ref()?;
        let exact = predicted.range.meets(stated.range);
        (!exact).then(|| format!("{} is {}", stated.text, like(stated.range, predicted.range.value())))
    };
    held.fits.iter().filter_map(slip).collect()
}

/// A number rounded as another one is written.
fn like(stated: Range, value: f64) -> String {
    let digit = stated.half() * 2.0;
    if digit <= 0.0 {
        return wording::plain(value);
    }
    let decimals = (-digit.log10()).round().clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}
