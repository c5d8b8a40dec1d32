//! Product laws: a constant times columns with exponents -1 and 1 that holds in most rows.

use super::{Constant, interval};
use crate::checks::Check;
use crate::grid::{ColumnKind, Grid};
use crate::interval::Interval;
use crate::number::shown;
use crate::unit::Unit;

/// Columns that are combined; a table with more is searched in its first ones.
const MOST_COLUMNS: usize = 12;
/// Rows in which laws are looked for; they are then applied to all.
const SAMPLED_ROWS: usize = 64;
/// Rows that a law of four columns needs.
const LEAST_ROWS_OF_FOUR: usize = 8;
/// The chance at which a law in random numbers is taken for one.
const CHANCE: f64 = 2e-3;
/// The same for a law that the units make one expect.
const UNIT_CHANCE: f64 = 0.02;
/// The share of rows that may break a law.
const MOST_BROKEN: f64 = 0.34;

/// A law: the product of the columns with their exponents is the constant.
#[derive(Debug, Clone)]
struct Law {
    terms: Vec<(usize, i32)>,
    constant: Interval,
    /// The constant is 1 (after units) or a number of the text.
    explained: bool,
    /// How likely random numbers would look like it.
    chance: f64,
    /// The units of the columns make one expect it.
    typed: bool,
}

pub(super) fn check(
    grid: &Grid,
    constants: &[Constant],
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let columns: Vec<usize> =
        grid.numeric().filter(|column| grid.lawful(*column)).take(MOST_COLUMNS).collect();
    for rows in groups(grid) {
        search(grid, &columns, &rows, constants, broken, holds);
    }
}

/// The rows of the whole table, and those of each name that several rows have.
fn groups(grid: &Grid) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![(0..grid.rows.len()).collect()];
    if grid.rows.len() <= SAMPLED_ROWS {
        let mut labels: Vec<&str> = grid.rows.iter().map(|row| row.label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        if labels.len() > 1 && labels.len() < grid.rows.len() {
            let rows_of =
                |label: &str| (0..grid.rows.len()).filter(|row| grid.rows[*row].label == label).collect();
            groups.extend(labels.into_iter().map(rows_of));
        }
    }
    groups.retain(|rows| rows.len() >= 2);
    groups
}

/// Looks for laws in some rows and applies them to these.
fn search(
    grid: &Grid,
    columns: &[usize],
    members: &[usize],
    constants: &[Constant],
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let rows: Vec<usize> = sampled(members.len()).into_iter().map(|index| members[index]).collect();
    let positive = |row: usize, column: usize| interval(grid, row, column).filter(|cell| cell.is_positive());
    let cells: Vec<Vec<Option<Interval>>> =
        columns.iter().map(|column| rows.iter().map(|row| positive(*row, *column)).collect()).collect();
    let mut combinations = combinations(columns.len());
    // A handful of rows does not show a law of four columns from chance.
    combinations.retain(|terms| terms.len() < 4 || rows.len() >= LEAST_ROWS_OF_FOUR);
    // What was chosen follows no law.
    let measured = |(column, _): &(usize, i32)| grid.columns[columns[*column]].kind == ColumnKind::Measure;
    combinations.retain(|terms| terms.iter().any(measured));
    let tries = |terms: &[(usize, i32)]| {
        combinations.iter().filter(|other| (other.len() < 4) == (terms.len() < 4)).count() as f64
    };
    let tries = (tries(&[]), tries(&[(0, 1); 4]));
    let of = |terms: &Vec<(usize, i32)>| if terms.len() < 4 { tries.0 } else { tries.1 };
    let plain: Vec<Interval> = constants.iter().filter(|one| one.telling).map(|one| one.interval).collect();
    let typed = typed(grid, columns, &combinations, constants);
    let laws = combinations.iter().zip(&typed).filter_map(|(terms, typed)| {
        let by_units = law_of_units(&cells, terms, typed);
        by_units
            .or_else(|| law(&cells, terms, &plain, of(terms)))
            .filter(|law| !is_equality(grid, columns, law))
    });
    let mut laws: Vec<Law> = laws.collect();
    laws.sort_by(|one, other| one.chance.total_cmp(&other.chance));
    for law in &laws {
        apply(grid, columns, members, law, broken, holds);
    }
}

/// Whether a law says that two columns of one unit are equal: a target and what was reached are, until they are not.
fn is_equality(grid: &Grid, columns: &[usize], law: &Law) -> bool {
    let [(one, first), (other, second)] = law.terms.as_slice() else { return false };
    let unit = |column: usize| &grid.columns[columns[column]].unit;
    first != second && law.constant.meets(Interval::exact(1.0)) && unit(*one).same_symbols(unit(*other))
}

/// Rows spread evenly over a table.
fn sampled(rows: usize) -> Vec<usize> {
    if rows <= SAMPLED_ROWS {
        return (0..rows).collect();
    }
    (0..SAMPLED_ROWS).map(|index| index * rows / SAMPLED_ROWS).collect()
}

/// Two to four columns with exponents, each law once.
fn combinations(columns: usize) -> Vec<Vec<(usize, i32)>> {
    let mut found = Vec::new();
    for one in 0..columns {
        for two in one + 1..columns {
            for sign in [1, -1] {
                found.push(vec![(one, 1), (two, sign)]);
            }
            for three in two + 1..columns {
                for (second, third) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                    found.push(vec![(one, 1), (two, second), (three, third)]);
                    // Throughput × time = batch × length.
                    for four in three + 1..columns {
                        for fourth in [1, -1] {
                            found.push(vec![(one, 1), (two, second), (three, third), (four, fourth)]);
                        }
                    }
                }
            }
        }
    }
    found
}

/// The constants that the units of each combination allow: 1 where they cancel, numbers of the text in the unit that
/// remains. Columns without a unit say nothing.
fn typed(
    grid: &Grid,
    columns: &[usize],
    combinations: &[Vec<(usize, i32)>],
    constants: &[Constant],
) -> Vec<Vec<Interval>> {
    let of = |terms: &Vec<(usize, i32)>| {
        let mut unit = Unit::none();
        for (column, exponent) in terms {
            let own = &grid.columns[columns[*column]].unit;
            if own.is_none() || own.is_relative() {
                return Vec::new();
            }
            unit = if *exponent > 0 { unit.times(own) } else { unit.over(own) };
        }
        if terms.len() > 3 {
            return Vec::new();
        }
        let same: bool = terms.windows(2).all(|pair| {
            let unit = |index: usize| &grid.columns[columns[pair[index].0]].unit;
            unit(0).same_symbols(unit(1))
        });
        // Two times or two sizes are rarely equal; a rate and its inverse are.
        if unit.is_none() && !same {
            return vec![Interval::exact(1.0)];
        }
        let inverse = Unit::none().over(&unit);
        let matching = constants.iter().filter(|one| !one.unit.is_none()).filter_map(|one| {
            if one.unit.same_symbols(&unit) {
                Some(one.interval)
            } else if one.unit.same_symbols(&inverse) {
                Interval::exact(1.0).over(one.interval)
            } else {
                None
            }
        });
        matching.collect()
    };
    combinations.iter().map(of).collect()
}

/// The law that the units of the columns make one expect. Half of the rows may break it.
fn law_of_units(cells: &[Vec<Option<Interval>>], terms: &[(usize, i32)], typed: &[Interval]) -> Option<Law> {
    let rows = cells.first()?.len();
    let products: Vec<Interval> = (0..rows).filter_map(|row| product(cells, terms, row)).collect();
    let (constant, holding) = typed
        .iter()
        .map(|constant| (*constant, agreeing(&products, *constant)))
        .max_by_key(|(_, holding)| *holding)?;
    let total = products.len();
    if total < 2 || holding == 0 || 2 * (total - holding) > total {
        return None;
    }
    let width = products.iter().map(|product| product.relative_width()).fold(0.0, f64::max);
    let agrees = (width / 2.3).clamp(1e-7, 1.0);
    let tries = typed.len() as f64;
    let chance = tries * binomial(total, holding) * agrees.powi(i32::try_from(holding).unwrap_or(i32::MAX));
    (chance < UNIT_CHANCE).then(|| Law {
        terms: terms.to_vec(),
        constant,
        explained: true,
        chance,
        typed: true,
    })
}

/// The product of a row's cells.
fn product(cells: &[Vec<Option<Interval>>], terms: &[(usize, i32)], row: usize) -> Option<Interval> {
    terms.iter().try_fold(Interval::exact(1.0), |product, (column, exponent)| {
        let cell = cells[*column][row]?;
        if *exponent > 0 { Some(product.times(cell)) } else { product.over(cell) }
    })
}

/// The law that most rows keep, if chance does not explain it.
fn law(
    cells: &[Vec<Option<Interval>>],
    terms: &[(usize, i32)],
    constants: &[Interval],
    tries: f64,
) -> Option<Law> {
    // A column that never changes belongs to the constant.
    for (column, _) in terms {
        let mut values = cells[*column].iter().flatten().map(|cell| cell.middle());
        let first = values.next()?;
        if values.all(|value| value == first) {
            return None;
        }
    }
    let rows = cells.first()?.len();
    let products: Vec<Interval> = (0..rows).filter_map(|row| product(cells, terms, row)).collect();
    if products.len() < 2 {
        return None;
    }
    let total = products.len();
    // A constant that is 1 or a number of the text is better evidence than one that only these rows share.
    let mut options: Vec<(Interval, usize, bool, f64)> = Vec::new();
    let one = Interval::exact(1.0);
    options.push((one, agreeing(&products, one), true, 1.0));
    if terms.len() == 2 && total <= SAMPLED_ROWS {
        // A law is looked for in one direction; the text may give its constant in the other.
        let one = Interval::exact(1.0);
        let inverse = constants.iter().filter_map(|constant| one.over(*constant));
        let constants: Vec<Interval> = constants.iter().copied().chain(inverse).collect();
        let named = constants.iter().map(|constant| (*constant, agreeing(&products, *constant)));
        if let Some((constant, holding)) = named.max_by_key(|(_, holding)| *holding) {
            // Only numbers of about this size could have agreed.
            let low = products.iter().map(|product| product.low).fold(f64::INFINITY, f64::min) / 3.0;
            let high = products.iter().map(|product| product.high).fold(0.0, f64::max) * 3.0;
            let possible = constants.iter().filter(|one| one.meets(Interval::new(low, high))).count();
            options.push((constant, holding, true, possible.max(1) as f64));
        }
    }
    // Four columns with any constant fit too much.
    if terms.len() < 4 {
        let (shared, holding) = crowded(&products);
        options.push((shared, holding, false, 1.0));
    }
    let width = products.iter().map(|product| product.relative_width()).fold(0.0, f64::max);
    // How likely a row agrees by chance: its width against a factor of ten.
    let mut best: Option<Law> = None;
    for (constant, holding, explained, more) in options {
        let (least, free, change) = if explained { (2, 0, 0.005) } else { (3, 1, 0.03) };
        if holding < least || (total - holding) as f64 > MOST_BROKEN * total as f64 {
            continue;
        }
        let agreements = holding - free;
        let mut widths: Vec<f64> = products
            .iter()
            .filter(|product| product.meets(constant))
            .map(|product| (product.relative_width() / 2.3).clamp(1e-7, 1.0))
            .collect();
        widths.sort_by(|one, other| other.total_cmp(one));
        let agree: f64 = widths.iter().take(agreements).product();
        let chance = tries * more * binomial(total, holding) * agree;
        let better = best.as_ref().is_none_or(|law: &Law| chance < law.chance);
        if chance < CHANCE && better && varies(width, cells, terms, change) {
            best = Some(Law { terms: terms.to_vec(), constant, explained, chance, typed: false });
        }
    }
    best
}

/// How many products may be a constant.
fn agreeing(products: &[Interval], constant: Interval) -> usize {
    products.iter().filter(|product| product.meets(constant)).count()
}

/// Whether the columns of a law change by much more than their digits allow; otherwise nearly constant columns make a
/// law of nothing.
fn varies(width: f64, cells: &[Vec<Option<Interval>>], terms: &[(usize, i32)], least: f64) -> bool {
    terms.iter().all(|(column, _)| {
        let values = || cells[*column].iter().flatten().map(|cell| cell.middle());
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(0.0, f64::max);
        high / low - 1.0 > (4.0 * width).max(least)
    })
}

/// The interval that most products share, and how many do.
fn crowded(products: &[Interval]) -> (Interval, usize) {
    let mut ends: Vec<(f64, i32)> = products.iter().flat_map(|one| [(one.low, 1), (one.high, -1)]).collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    let (mut depth, mut best, mut low, mut high) = (0, 0, 0.0, 0.0);
    let mut reached = false;
    for (at, change) in ends {
        if change < 0 && reached {
            high = at;
            reached = false;
        }
        depth += change;
        if depth > best {
            (best, low, reached) = (depth, at, true);
        }
    }
    (Interval { low, high }, usize::try_from(best).unwrap_or(0))
}

fn binomial(total: usize, chosen: usize) -> f64 {
    let left = total - chosen;
    (0..left.min(64)).map(|index| (total - index) as f64 / (index + 1) as f64).product()
}

/// Reports the rows that break a law, and notes the cells that keep it.
fn apply(
    grid: &Grid,
    columns: &[usize],
    members: &[usize],
    law: &Law,
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let constant = law.constant.widened(0.012);
    let mut breaking = Vec::new();
    let mut kept = 0_usize;
    let mut labels: Vec<&str> = Vec::new();
    for row in members.iter().copied() {
        let product = law.terms.iter().try_fold(Interval::exact(1.0), |product, (column, exponent)| {
            let cell = interval(grid, row, columns[*column]).filter(|cell| cell.is_positive())?;
            if *exponent > 0 { Some(product.times(cell)) } else { product.over(cell) }
        });
        let Some(product) = product else { continue };
        if product.meets(constant) {
            kept += 1;
            labels.push(&grid.rows[row].label);
            holds.extend(law.terms.iter().map(|(column, _)| (row, columns[*column])));
        } else if (product.middle() / law.constant.middle()).ln().abs() > 0.03 {
            breaking.push((row, product.middle() / law.constant.middle()));
        }
    }
    // Where all rows that keep the law have one name, a row of another name is another thing.
    labels.dedup();
    let sure = law.typed && law.chance < UNIT_CHANCE / 4.0;
    if let [label] = labels.as_slice()
        && !sure
    {
        breaking.retain(|(row, _)| grid.rows[*row].label == *label);
    }
    // One row that differs from two is more often another thing than an error, and three columns with a constant of
    // their own fit a few rows by chance.
    let is_one = law.constant.low == 1.0 && law.constant.high == 1.0;
    let (least, most) = match (law.explained, law.terms.len()) {
        (true, _) if is_one => (2, usize::MAX),
        (false, 3..) => (5, 1),
        _ => (3, usize::MAX),
    };
    if kept < least || breaking.len() > most {
        return;
    }
    for (row, factor) in breaking {
        let cells: Vec<usize> = law.terms.iter().map(|(column, _)| columns[*column]).collect();
        let expected = law.terms.iter().map(|(column, exponent)| {
            let cell = grid.cell(row, columns[*column]).map_or(0.0, |cell| cell.written);
            (columns[*column], if *exponent > 0 { cell / factor } else { cell * factor })
        });
        broken.push(Check {
            row,
            others: Vec::new(),
            expected: expected.collect(),
            columns: cells,
            law: formula(grid, columns, law),
            kept,
            factor,
            // A constant that only these rows share may be a coincidence of a model.
            certain: law.chance < 1e-5 && (law.explained && kept >= 2 || kept >= 8),
        });
    }
}

/// The law in words: `tokens/s × time (s) = 2,097,152`.
fn formula(grid: &Grid, columns: &[usize], law: &Law) -> String {
    let name = |column: usize| grid.columns[columns[column]].header.clone();
    let (up, down): (Vec<_>, Vec<_>) = law.terms.iter().partition(|(_, exponent)| *exponent > 0);
    let list = |terms: &[&(usize, i32)]| {
        terms.iter().map(|(column, _)| name(*column)).collect::<Vec<_>>().join(" × ")
    };
    let up: Vec<&(usize, i32)> = up.iter().collect();
    let down: Vec<&(usize, i32)> = down.iter().collect();
    if law.explained && law.constant.low == 1.0 && law.constant.high == 1.0 && !down.is_empty() {
        return format!("{} = {}", list(&up), list(&down));
    }
    let quotient = if down.is_empty() { list(&up) } else { format!("{} / ({})", list(&up), list(&down)) };
    format!("{quotient} = {}", shown(law.constant.middle()))
}
