//! Rows that are sums or means of the rows above them: totals, subtotals, averages.

use super::interval;
use super::sum::scale;
use crate::checks::Check;
use crate::grid::Grid;
use crate::interval::Interval;

/// What a row is of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
    Mean,
    Median,
}

/// The longest table with totals.
const MOST_ROWS: usize = 400;
/// Rows called a total that are looked at in one table.
const MOST_TOTALS: usize = 40;
/// The chance at which columns of random numbers would add up to an unnamed row.
const CHANCE: f64 = 1e-4;

pub(super) fn check(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let rows = grid.rows.len();
    if !(3..=MOST_ROWS).contains(&rows) {
        return;
    }
    let named: Vec<(usize, Kind)> =
        (0..rows).filter_map(|row| Some((row, kind(&grid.rows[row].label)?))).take(MOST_TOTALS).collect();
    let is_named = |row: usize| named.iter().any(|(other, _)| *other == row);
    let tallies: Vec<(usize, Vec<Tally>)> = named
        .iter()
        .map(|(row, kind)| {
            let sets = members(rows, *row, &named).into_iter();
            (*row, sets.map(|(mode, set)| Tally { mode, ..tally(grid, *row, set, *kind) }).collect())
        })
        .collect();
    // What the totals of this table are of: where most of them add up.
    let all = || tallies.iter().flat_map(|(_, tallies)| tallies);
    let kept_as =
        |mode: Mode| -> usize { all().filter(|one| one.mode == mode).map(|one| one.kept.len()).sum() };
    let chosen: Vec<(usize, &Tally, bool)> = tallies
        .iter()
        .filter_map(|(row, tallies)| {
            let best = tallies.iter().max_by_key(|tally| tally.kept.len())?;
            let only = tallies.len() == 1 || agree(tallies);
            if !best.kept.is_empty() || only {
                return Some((*row, best, only));
            }
            let usual = tallies.iter().filter(|tally| kept_as(tally.mode) > 0);
            let by_others = usual.max_by_key(|tally| kept_as(tally.mode))?;
            Some((*row, by_others, true))
        })
        .collect();
    for (row, tally, _) in &chosen {
        hold(*row, tally, holds);
    }
    for (row, tally, only) in chosen {
        report(grid, row, tally, only, broken, holds);
    }
    // A last row that adds up in several columns is a total whatever it is called.
    let last = rows - 1;
    if !is_named(last) && !named.iter().any(|(row, _)| row + 1 == last) && !grid.is_list() {
        let found = tally(grid, last, (0..last).filter(|row| !is_named(*row)).collect(), Kind::Sum);
        if found.kept.len() >= 2 && found.chance < CHANCE && found.failed.len() * 2 < found.kept.len() {
            hold(last, &found, holds);
            report(grid, last, &found, false, broken, holds);
        }
    }
}

/// Whether all rows that a total may be of give the same.
fn agree(tallies: &[Tally]) -> bool {
    let Some((first, rest)) = tallies.split_first() else { return false };
    rest.iter().all(|other| {
        first.failed.len() == other.failed.len()
            && first.failed.iter().zip(&other.failed).all(|((one, value), (two, second))| {
                one == two && (value - second).abs() <= 0.005 * value.abs()
            })
    })
}

/// Notes the cells that a total is made of.
fn hold(row: usize, tally: &Tally, holds: &mut Vec<(usize, usize)>) {
    holds.extend(tally.kept.iter().map(|column| (row, *column)));
    holds.extend(
        tally.members.iter().flat_map(|member| tally.kept.iter().map(move |column| (*member, *column))),
    );
}

/// What the label of a row says.
fn kind(label: &str) -> Option<Kind> {
    let label = label.to_lowercase();
    label.split(|one: char| !(one.is_alphanumeric() || one == 'Σ')).find_map(|word| match word {
        "total" | "totals" | "sum" | "subtotal" | "overall" | "all" | "together" | "Σ" | "σ" => {
            Some(Kind::Sum)
        }
        "mean" | "average" | "avg" => Some(Kind::Mean),
        "median" => Some(Kind::Median),
        _ => None,
    })
}

/// Which rows a total is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Those since the last total, or all below one that leads.
    Section,
    /// All above that are no totals.
    Above,
    /// The totals above.
    Totals,
}

/// The rows that a total may be of.
fn members(rows: usize, row: usize, named: &[(usize, Kind)]) -> Vec<(Mode, Vec<usize>)> {
    let is_named = |row: &usize| named.iter().any(|(other, _)| other == row);
    let plain = |range: std::ops::Range<usize>| range.filter(|row| !is_named(row)).collect::<Vec<usize>>();
    let before: Vec<usize> = named.iter().map(|(row, _)| *row).filter(|other| *other < row).collect();
    let start = before.last().map_or(0, |last| last + 1);
    let section = if row == 0 { plain(1..rows) } else { plain(start..row) };
    let mut sets = vec![(Mode::Section, section), (Mode::Above, plain(0..row)), (Mode::Totals, before)];
    sets.dedup_by(|later, earlier| later.1 == earlier.1);
    sets.retain(|(_, set)| set.len() >= 2);
    sets
}

/// Which columns of a total follow from its rows.
struct Tally {
    mode: Mode,
    members: Vec<usize>,
    kind: Kind,
    kept: Vec<usize>,
    /// Columns with what they would have to hold.
    failed: Vec<(usize, f64)>,
    chance: f64,
}

fn tally(grid: &Grid, row: usize, members: Vec<usize>, kind: Kind) -> Tally {
    let mut found =
        Tally { mode: Mode::Above, members, kind, kept: Vec::new(), failed: Vec::new(), chance: 1.0 };
    for column in grid.numeric().filter(|column| !is_quantile(&grid.columns[*column].header)) {
        let Some(cell) = interval(grid, row, column) else { continue };
        let cells: Vec<Interval> =
            found.members.iter().filter_map(|member| interval(grid, *member, column)).collect();
        if cells.len() < 2 {
            continue;
        }
        let value = combined(&cells, kind);
        // Every mean of equal values is that value, and a sum of one part is this part.
        let slack = (cell.high - cell.low) + (value.high - value.low);
        let varied = match kind {
            Kind::Sum => cells.iter().filter(|cell| cell.middle().abs() > 2.0 * slack).count() >= 2,
            _ => cells.iter().any(|cell| cell.middle() != cells[0].middle()),
        };
        if cell.meets(value) {
            if varied {
                found.kept.push(column);
                found.chance *= (cell.relative_width() + value.relative_width()).min(1.0);
            }
        } else if cells.len() == found.members.len() && !value.widened(0.015).meets(cell) {
            found.failed.push((column, value.middle()));
        }
    }
    found
}

fn combined(cells: &[Interval], kind: Kind) -> Interval {
    let sum = cells.iter().fold(Interval::exact(0.0), |sum, cell| sum.plus(*cell));
    let count = cells.len() as f64;
    match kind {
        Kind::Sum => sum,
        Kind::Mean => Interval::new(sum.low / count, sum.high / count),
        Kind::Median => {
            let median = |end: fn(&Interval) -> f64| {
                assay_stats::median(&cells.iter().map(end).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
            };
            Interval::new(median(|cell| cell.low), median(|cell| cell.high))
        }
    }
}

/// Whether a header names a quantile or an extreme, which neither add up nor average.
fn is_quantile(header: &str) -> bool {
    let header = header.to_lowercase();
    let mut words = header.split(|one: char| !one.is_alphanumeric());
    words.any(|word| {
        let digits = word.strip_prefix('p').unwrap_or_default();
        matches!(word, "median" | "max" | "min" | "maximum" | "minimum" | "peak")
            || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Reports the columns that do not add up where others do. `only`: the rows it is of are not in doubt.
fn report(
    grid: &Grid,
    row: usize,
    tally: &Tally,
    only: bool,
    broken: &mut Vec<Check>,
    holds: &[(usize, usize)],
) {
    let name = match tally.kind {
        Kind::Sum => "total",
        Kind::Mean => "mean",
        Kind::Median => "median",
    };
    for (column, value) in &tally.failed {
        let unit = &grid.columns[*column].unit;
        // A rate or a percentage does not add up, and a mean may be weighted: only other columns say otherwise.
        let adds = !unit.is_rate() && !unit.is_relative();
        let is_sum = tally.kind == Kind::Sum;
        // Beside means, counts are often added up.
        let added = || {
            let parts = tally.members.iter().filter_map(|member| interval(grid, *member, *column));
            let sum = parts.fold(Interval::exact(0.0), |sum, cell| sum.plus(cell));
            interval(grid, row, *column).is_some_and(|cell| cell.widened(0.015).meets(sum))
        };
        if !is_sum && added() {
            continue;
        }
        let called = grid.rows[row].label.to_lowercase();
        let clearly = ["total", "sum"].iter().any(|word| called.contains(word));
        if tally.kept.is_empty() && !(adds && is_sum && only && clearly) || !adds && is_sum {
            continue;
        }
        broken.push(Check {
            row,
            others: tally.members.clone(),
            columns: vec![*column],
            // A subtotal that its own total confirms is right; then a part is wrong.
            expected: match holds.contains(&(row, *column)) {
                true => Vec::new(),
                false => vec![(*column, value / scale(grid, row, *column))],
            },
            law: format!(
                "{} = {name} of the {} rows above",
                grid.columns[*column].header,
                tally.members.len()
            ),
            kept: tally.kept.len(),
            factor: 1.0,
            certain: !tally.kept.is_empty() && only,
        });
    }
}
