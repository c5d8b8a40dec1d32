//! Ratios and changes against a reference that the rows share but the table does not have: it is not in the table,
//! or its cell there is wrong.

use super::{FORMS, Form, interval, is_signed, sources};
use crate::checks::Check;
use crate::grid::Grid;
use crate::interval::Interval;

/// The chance at which rows of random numbers share a reference.
const CHANCE: f64 = 1e-3;

/// The reference that most rows of a column share.
struct Shared {
    source: usize,
    form: Form,
    base: Interval,
    kept: Vec<usize>,
    failed: Vec<usize>,
    chance: f64,
}

pub(super) fn check(grid: &Grid, target: usize, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let tries = (grid.columns.len() * FORMS.len()) as f64;
    let found = sources(grid, target)
        .into_iter()
        .flat_map(|source| FORMS.into_iter().filter_map(move |form| shared(grid, source, target, form)));
    let best = found.min_by(|one, other| one.chance.total_cmp(&other.chance));
    let Some(best) = best.filter(|best| best.chance * tries < CHANCE) else { return };
    let Shared { source, form, base, kept, failed, .. } = best;
    // The row without a ratio is the reference itself.
    let is_reference = |row: &usize| match grid.cell(*row, target) {
        None => grid.cell(*row, source).is_some(),
        Some(cell) => cell.value == if matches!(form, Form::Ratio | Form::Inverse) { 1.0 } else { 0.0 },
    };
    let references: Vec<usize> = (0..grid.rows.len()).filter(is_reference).collect();
    let failed: Vec<usize> = failed.into_iter().filter(|row| !references.contains(row)).collect();
    let wrong = match references.as_slice() {
        [row] => {
            let own = interval(grid, *row, source);
            own.filter(|own| !own.widened(0.02).meets(base)).map(|_| *row)
        }
        _ => None,
    };
    // A ratio that is off as well says that the rows are of different things.
    if !failed.is_empty() {
        return;
    }
    holds.extend(kept.iter().flat_map(|row| [(*row, target), (*row, source)]));
    let name = |column: usize| grid.columns[column].header.as_str();
    let law = format!("the {} that {} rows of {} are relative to", name(source), kept.len(), name(target));
    if let Some(row) = wrong {
        let scale = grid.cell(row, source).map_or(1.0, |cell| cell.unit.factor());
        broken.push(Check {
            row,
            others: kept.clone(),
            columns: vec![source],
            expected: vec![(source, base.middle() / scale)],
            law,
            kept: kept.len(),
            factor: 1.0,
            certain: false,
        });
    }
}

/// A row and the reference that its ratio implies.
type Implied = (usize, Interval);

/// The reference that most rows imply, if enough do.
fn shared(grid: &Grid, source: usize, target: usize, form: Form) -> Option<Shared> {
    if form == Form::Difference && !is_signed(grid, target) {
        return None;
    }
    let implied: Vec<(usize, Interval)> =
        (0..grid.rows.len()).filter_map(|row| Some((row, base(grid, source, target, row, form)?))).collect();
    let (low, high) = implied.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), (_, one)| {
        (low.min(one.middle()), high.max(one.middle()))
    });
    // Each interval is tried as the place where the others meet.
    let meeting = |at: &Interval| implied.iter().filter(|(_, one)| one.meets(*at)).count();
    let ends = implied.iter().map(|(_, one)| Interval::exact(one.low));
    let at = ends.max_by_key(meeting)?;
    let (kept, failed): (Vec<Implied>, Vec<Implied>) =
        implied.iter().copied().partition(|(_, one)| one.meets(at));
    let base = kept.iter().fold(None, |base: Option<Interval>, (_, one)| {
        let base = base.unwrap_or(*one);
        Some(Interval::new(base.low.max(one.low), base.high.min(one.high)))
    })?;
    // The values themselves must differ, or everything is relative to anything.
    let values = kept.iter().filter_map(|(row, _)| interval(grid, *row, source)).map(Interval::middle);
    let (least, most) =
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), one| (low.min(one), high.max(one)));
    if kept.len() < 3 || failed.len() > 1 || most < 1.1 * least || !(low > 0.0 && high.is_finite()) {
        return None;
    }
    let widths = kept.iter().map(|(_, one)| (one.relative_width() / 2.3).min(1.0));
    // One of them fixed the reference.
    let widest = widths.clone().fold(0.0, f64::max).max(1e-9);
    let chance = widths.product::<f64>() / widest;
    let rows = |set: Vec<Implied>| set.into_iter().map(|(row, _)| row).collect();
    Some(Shared { source, form, base, kept: rows(kept), failed: rows(failed), chance })
}

/// What a row's ratio says that it is relative to.
fn base(grid: &Grid, source: usize, target: usize, row: usize, form: Form) -> Option<Interval> {
    let (own, ratio) = (interval(grid, row, source)?, interval(grid, row, target)?);
    let one = Interval::exact(1.0);
    let base = match form {
        Form::Ratio => own.over(ratio),
        Form::Inverse => Some(own.times(ratio)),
        Form::Change => own.over(one.plus(ratio)),
        Form::Saving => own.over(one.minus(ratio)),
        Form::InverseChange => Some(own.times(one.plus(ratio))),
        Form::Difference => Some(own.minus(ratio)),
    }?;
    base.is_positive().then_some(base)
}
