//! Columns of ratios or changes of another column: against one row, the row before, or a third column.

mod shared;

use super::interval;
use crate::checks::Check;
use crate::grid::{ColumnKind, Grid};
use crate::interval::Interval;

/// What the ratios are taken against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Row(usize),
    Before,
    /// The same row of another column: `| 3.42 s | 2.08 s | -39 % |`.
    Column(usize),
    /// The largest or the smallest of the other columns of the row: `speedup over the fastest other`.
    Extreme {
        largest: bool,
    },
}

/// How a cell follows from its own value and the base's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// value / base
    Ratio,
    /// base / value
    Inverse,
    /// value / base - 1
    Change,
    /// 1 - value / base
    Saving,
    /// base / value - 1
    InverseChange,
    /// value - base
    Difference,
}

/// One way to read a column of ratios, and the rows that fit it.
struct Reading {
    kept: Vec<usize>,
    failed: Vec<usize>,
    source: usize,
    form: Form,
    base: Base,
}

const FORMS: [Form; 6] =
    [Form::Ratio, Form::Inverse, Form::Change, Form::Saving, Form::InverseChange, Form::Difference];
/// The most rows of a table that are compared with one another.
const MOST_ROWS: usize = 60;

pub(super) fn check(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    if grid.rows.len() > MOST_ROWS || grid.rows.len() < 2 {
        return;
    }
    for target in grid.measures() {
        if !is_relative(grid, target) {
            continue;
        }
        let settled = best(grid, target).is_some_and(|best| settle(grid, target, &best, broken, holds));
        if !settled {
            shared::check(grid, target, broken, holds);
        }
    }
}

/// The columns that ratios may be of.
fn sources(grid: &Grid, target: usize) -> Vec<usize> {
    let usable = |source: &usize| {
        let percent_of_plain =
            grid.columns[*source].unit.is_relative() && !grid.columns[target].unit.is_relative();
        *source != target && grid.lawful(*source) && !percent_of_plain
    };
    grid.measures().filter(usable).collect()
}

/// The reading of a column that most rows keep.
fn best(grid: &Grid, target: usize) -> Option<Reading> {
    let mut best: Option<Reading> = None;
    let signed = is_signed(grid, target);
    for source in sources(grid, target) {
        let unit = &grid.columns[source].unit;
        let alike: Vec<usize> = grid
            .measures()
            .filter(|column| {
                *column != source && *column != target && grid.columns[*column].unit.same_symbols(unit)
            })
            .collect();
        for form in FORMS {
            if form == Form::Difference && !signed {
                continue;
            }
            let rows = (0..grid.rows.len()).map(Base::Row).chain([Base::Before]);
            let rows = rows.filter(|_| grid.rows.len() >= 3);
            let is_ratio = matches!(form, Form::Ratio | Form::Inverse);
            // Ratios of two columns are products; only changes are looked for here.
            let columns = alike.iter().copied().filter(|_| !is_ratio).map(Base::Column);
            let extremes = [true, false].map(|largest| Base::Extreme { largest });
            let extremes = extremes.into_iter().filter(|_| alike.len() >= 2 && form != Form::Difference);
            for base in rows.chain(columns).chain(extremes) {
                let (kept, failed) = tally(grid, source, target, form, base);
                let better = best.as_ref().is_none_or(|best| kept.len() > best.kept.len());
                if kept.len() >= 2 && kept.len() > failed.len() && better {
                    best = Some(Reading { kept, failed, source, form, base });
                }
            }
        }
    }
    best
}

/// Notes what keeps a reading and reports what breaks it. False where chance may be the reason that rows keep it.
fn settle(
    grid: &Grid,
    target: usize,
    reading: &Reading,
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) -> bool {
    let Reading { kept, failed, source, form, base } = reading;
    let (source, form, base) = (*source, *form, *base);
    let tries = (grid.columns.len() * FORMS.len() * (grid.rows.len() + 1)) as f64;
    let agreement = |row: &usize| {
        let width = interval(grid, *row, target).map_or(1.0, Interval::relative_width);
        let wanted = wanted(grid, (source, target), *row, form, base).map_or(1.0, Interval::relative_width);
        ((width + wanted) / 2.3).min(1.0)
    };
    let chance = tries * kept.iter().map(agreement).product::<f64>();
    // One wrong value of a series of changes breaks its own row and the next.
    let one_value = base == Base::Before
        && matches!(failed.as_slice(), [first, second] if second - first == 1 && kept.len() >= 2);
    if failed.len() > 1 + kept.len() / 5 && !one_value || chance > 0.02 {
        return false;
    }
    holds.extend(kept.iter().flat_map(|row| [(*row, target), (*row, source)]));
    // `+7.5 pp` among changes in percent is a difference.
    let other = |row: &usize| {
        form != Form::Difference && grid.cell(*row, target).is_some_and(|cell| cell.unit.points)
            || grid.cell(*row, target).is_some_and(|cell| cell.has_note())
    };
    let reported = if one_value { &failed[..1] } else { failed.as_slice() };
    for row in reported.iter().copied().filter(|row| !other(row)) {
        let value = wanted(grid, (source, target), row, form, base).map(Interval::middle);
        let scale =
            grid.cell(row, target).map_or(grid.columns[target].unit.factor(), |cell| cell.unit.factor());
        broken.push(Check {
            row,
            others: match base {
                Base::Row(base) => vec![base],
                Base::Before => row.checked_sub(1).into_iter().collect(),
                Base::Column(_) | Base::Extreme { .. } => Vec::new(),
            },
            columns: match base {
                Base::Column(other) => vec![target, source, other],
                _ => vec![target, source],
            },
            expected: value.map(|value| (target, value / scale)).into_iter().collect(),
            law: formula(grid, source, target, form, base),
            kept: kept.len(),
            factor: 1.0,
            certain: kept.len() >= 3,
        });
    }
    true
}

/// Whether a column holds ratios, percentages or differences.
fn is_relative(grid: &Grid, column: usize) -> bool {
    let found = &grid.columns[column];
    let cells = || grid.rows.iter().filter_map(|row| row.cells[column].as_ref());
    // Whole numbers without a unit count something.
    if found.unit.is_none() && cells().all(|cell| cell.is_plain_integer()) || !grid.lawful(column) {
        return false;
    }
    let small =
        grid.rows.iter().filter_map(|row| row.cells[column].as_ref()).all(|cell| cell.value.abs() < 2000.0);
    found.kind == ColumnKind::Measure && (found.unit.is_relative() || found.unit.is_count()) && small
}

/// Whether the cells are written with their sign, as differences are.
fn is_signed(grid: &Grid, column: usize) -> bool {
    let mut cells = grid.rows.iter().filter_map(|row| row.cells[column].as_ref());
    cells.any(|cell| cell.text.starts_with(['+', '-', '−']))
}

/// The rows in which the cell follows, and those in which it does not. The row of the base itself says nothing.
fn tally(grid: &Grid, source: usize, target: usize, form: Form, base: Base) -> (Vec<usize>, Vec<usize>) {
    let (mut kept, mut failed) = (Vec::new(), Vec::new());
    for row in 0..grid.rows.len() {
        if base == Base::Row(row) {
            continue;
        }
        let Some(cell) = interval(grid, row, target) else { continue };
        let Some(wanted) = wanted(grid, (source, target), row, form, base) else { continue };
        if wanted.relative_width() > 0.3 {
            continue;
        }
        if wanted.meets(cell) {
            kept.push(row);
        } else if !wanted.widened(0.02).meets(cell) {
            failed.push(row);
        }
    }
    (kept, failed)
}

fn wanted(
    grid: &Grid,
    (source, target): (usize, usize),
    row: usize,
    form: Form,
    base: Base,
) -> Option<Interval> {
    let own = interval(grid, row, source)?;
    let against = match base {
        Base::Extreme { largest } => {
            let unit = &grid.columns[source].unit;
            let others = grid.measures().filter(|column| {
                *column != source && *column != target && grid.columns[*column].unit.same_symbols(unit)
            });
            let others = others.filter_map(|column| interval(grid, row, column));
            let order = |one: &Interval, other: &Interval| one.middle().total_cmp(&other.middle());
            if largest { others.max_by(order)? } else { others.min_by(order)? }
        }
        Base::Row(base) => interval(grid, base, source)?,
        Base::Before => interval(grid, row.checked_sub(1)?, source)?,
        Base::Column(column) => interval(grid, row, column)?,
    };
    let one = Interval::exact(1.0);
    match form {
        Form::Ratio => own.over(against),
        Form::Inverse => against.over(own),
        Form::Change => own.over(against).map(|ratio| ratio.minus(one)),
        Form::Saving => own.over(against).map(|ratio| one.minus(ratio)),
        Form::InverseChange => against.over(own).map(|ratio| ratio.minus(one)),
        Form::Difference => Some(own.minus(against)),
    }
}

fn formula(grid: &Grid, source: usize, target: usize, form: Form, base: Base) -> String {
    let (target, source) = (&grid.columns[target].header, &grid.columns[source].header);
    let base = match base {
        Base::Row(row) => grid.row_name(row),
        Base::Before => "the row before".to_owned(),
        Base::Extreme { largest } => {
            let base = if largest { "the largest other" } else { "the smallest other" };
            return match form {
                Form::Inverse => format!("{target} = {base} / {source}"),
                Form::Change => format!("{target} = {source} / {base} - 1"),
                Form::Saving => format!("{target} = 1 - {source} / {base}"),
                Form::InverseChange => format!("{target} = {base} / {source} - 1"),
                Form::Ratio | Form::Difference => format!("{target} = {source} / {base}"),
            };
        }
        Base::Column(column) => {
            let base = &grid.columns[column].header;
            return match form {
                Form::Ratio => format!("{target} = {source} / {base}"),
                Form::Inverse => format!("{target} = {base} / {source}"),
                Form::Change => format!("{target} = {source} / {base} - 1"),
                Form::Saving => format!("{target} = 1 - {source} / {base}"),
                Form::InverseChange => format!("{target} = {base} / {source} - 1"),
                Form::Difference => format!("{target} = {source} - {base}"),
            };
        }
    };
    match form {
        Form::Ratio => format!("{target} = {source} / {source} of {base}"),
        Form::Inverse => format!("{target} = {source} of {base} / {source}"),
        Form::Change => format!("{target} = {source} / {source} of {base} - 1"),
        Form::Saving => format!("{target} = 1 - {source} / {source} of {base}"),
        Form::InverseChange => format!("{target} = {source} of {base} / {source} - 1"),
        Form::Difference => format!("{target} = {source} - {source} of {base}"),
    }
}
