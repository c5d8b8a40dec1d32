//! Product laws: a constant times columns with small exponents that holds in most rows.

mod span;
mod terms;

use super::{Constant, interval};
use crate::checks::Check;
use crate::grid::{ColumnKind, Grid, is_statistic, is_uncertainty};
use crate::number::shown;
use crate::unit::Unit;
use span::Span;
use terms::{SIZES, Terms, combinations, size};

/// Columns that are combined; a table with more is searched in its first ones.
const MOST_COLUMNS: usize = 12;
/// Rows in which laws are looked for; they are then applied to all.
const SAMPLED_ROWS: usize = 64;
/// The chance at which a law in random numbers is taken for one.
const CHANCE: f64 = 2e-3;
/// The same for a law that the units make one expect.
const UNIT_CHANCE: f64 = 0.02;
/// The share of rows that may break a law.
const MOST_BROKEN: f64 = 0.34;

/// A law: the product of the columns with their exponents is the constant.
#[derive(Debug, Clone)]
struct Law {
    terms: Terms,
    constant: Span,
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
    let measured = |column: &usize| !is_uncertainty(&grid.columns[*column].header);
    let lawful = grid.numeric().filter(|column| grid.lawful(*column)).filter(measured);
    let columns: Vec<usize> = lawful.take(MOST_COLUMNS).collect();
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
    let span = |row: usize, column: usize| interval(grid, row, column).and_then(Span::of);
    let cells: Vec<Vec<Option<Span>>> =
        columns.iter().map(|column| rows.iter().map(|row| span(*row, *column)).collect()).collect();
    let combinations = combinations(grid, columns, rows.len());
    let mut tries = [0.0; SIZES];
    combinations.iter().for_each(|terms| tries[size(terms)] += 1.0);
    let telling = constants.iter().filter(|one| one.telling).filter_map(|one| Span::of(one.interval));
    // A number that every row repeats is as good as one of the text.
    let plain: Vec<Span> = telling
        .chain(cells.iter().filter_map(|column| repeated(column)))
        .chain(columns.iter().filter_map(|column| whole(grid, *column, members)))
        .collect();
    let neutral: Vec<Vec<usize>> = columns.iter().map(|column| neutral_rows(grid, *column, &rows)).collect();
    let typed = typed(grid, columns, &combinations, constants);
    let laws = combinations.iter().zip(&typed).filter_map(|(terms, typed)| {
        let evidence = Evidence { cells: &cells, constants: &plain, neutral: &neutral };
        law_of_units(&cells, terms, typed)
            .or_else(|| law(&evidence, terms, tries[size(terms)]))
            .filter(|law| !is_equality(grid, columns, law))
    });
    let mut laws: Vec<Law> = laws.collect();
    laws.sort_by(|one, other| one.chance.total_cmp(&other.chance));
    for law in &laws {
        apply(grid, columns, members, law, broken, holds);
    }
}

/// The value of a column that all rows share.
fn repeated(column: &[Option<Span>]) -> Option<Span> {
    let mut cells = column.iter().flatten();
    let first = *cells.next()?;
    (column.iter().flatten().count() >= 3 && cells.all(|cell| *cell == first)).then_some(first)
}

/// The sum of a column, which shares are of.
fn whole(grid: &Grid, column: usize, members: &[usize]) -> Option<Span> {
    let adds = !grid.columns[column].unit.is_relative() && members.len() <= SAMPLED_ROWS;
    let cells: Option<Vec<_>> = members.iter().map(|row| interval(grid, *row, column)).collect();
    let cells = cells.filter(|cells| adds && cells.len() >= 3)?;
    Span::of(cells.into_iter().reduce(|sum, cell| sum.plus(cell))?)
}

/// The rows in which a column of ratios says 1.00 or 100 %: what the others are held against.
fn neutral_rows(grid: &Grid, column: usize, rows: &[usize]) -> Vec<usize> {
    let unit = &grid.columns[column].unit;
    let ratio = unit.is_relative() || unit.is_none() && grid.columns[column].kind == ColumnKind::Measure;
    let is_one = |row: &usize| grid.cell(*row, column).is_some_and(|cell| (cell.value - 1.0).abs() < 1e-9);
    let found: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| ratio && is_one(row)).map(|(index, _)| index).collect();
    if found.len() == 1 { found } else { Vec::new() }
}

/// Whether a law says that two columns of one unit are equal: a target and what was reached are, until they are not.
fn is_equality(grid: &Grid, columns: &[usize], law: &Law) -> bool {
    let [(one, first), (other, second)] = law.terms.as_slice() else { return false };
    let column = |column: usize| &grid.columns[columns[column]];
    let named = |one: usize| is_statistic(&column(one).header);
    // Minimum and mean of a steady measurement have nearly one ratio.
    let alike = law.constant.meets(Span::ONE) || !law.explained && (named(*one) || named(*other));
    first != second && alike && column(*one).unit.same_symbols(&column(*other).unit)
}

/// Rows spread evenly over a table.
fn sampled(rows: usize) -> Vec<usize> {
    if rows <= SAMPLED_ROWS {
        return (0..rows).collect();
    }
    (0..SAMPLED_ROWS).map(|index| index * rows / SAMPLED_ROWS).collect()
}

/// The constants that the units of each combination allow: 1 where they cancel, numbers of the text in the unit that
/// remains. Columns without a unit say nothing.
fn typed(grid: &Grid, columns: &[usize], combinations: &[Terms], constants: &[Constant]) -> Vec<Vec<Span>> {
    let of = |terms: &Terms| {
        if terms.len() > 3 || size(terms) > terms.len() {
            return Vec::new();
        }
        if is_share_of_whole(grid, columns, terms) {
            return vec![Span::ONE];
        }
        let mut unit = Unit::none();
        for (column, exponent) in terms {
            let own = &grid.columns[columns[*column]].unit;
            if own.is_none() || own.is_relative() {
                return Vec::new();
            }
            unit = if *exponent > 0 { unit.times(own) } else { unit.over(own) };
        }
        let same: bool = terms.windows(2).all(|pair| {
            let unit = |index: usize| &grid.columns[columns[pair[index].0]].unit;
            unit(0).same_symbols(unit(1))
        });
        // Two times or two sizes are rarely equal; a rate and its inverse are.
        if unit.is_none() && !same {
            return vec![Span::ONE];
        }
        let inverse = Unit::none().over(&unit);
        let matching = constants.iter().filter(|one| !one.unit.is_none()).filter_map(|one| {
            if one.unit.same_symbols(&unit) {
                Span::of(one.interval)
            } else if one.unit.same_symbols(&inverse) {
                Span::of(one.interval).map(Span::inverse)
            } else {
                None
            }
        });
        matching.collect()
    };
    combinations.iter().map(of).collect()
}

/// `miss rate` beside `misses` and `accesses`: a column of percentages that shares a word with one of two counts.
fn is_share_of_whole(grid: &Grid, columns: &[usize], terms: &Terms) -> bool {
    let column = |(index, _): &(usize, i32)| &grid.columns[columns[*index]];
    let is_share = |term: &&(usize, i32)| column(term).unit.percent;
    let shares: Vec<_> = terms.iter().filter(is_share).collect();
    let parts: Vec<_> = terms.iter().filter(|term| !is_share(term)).collect();
    let ([share], [one, other]) = (shares.as_slice(), parts.as_slice()) else { return false };
    let part = if one.1 == share.1 { other } else { one };
    let beginning = |word: &String| word.chars().take(4).collect::<String>();
    let shared = column(share)
        .words
        .iter()
        .filter(|word| word.len() > 3)
        .any(|word| column(part).words.iter().any(|own| beginning(own) == beginning(word)));
    shared && one.1 == -other.1 && column(one).unit.same_symbols(&column(other).unit)
}

/// The law that the units of the columns make one expect. Half of the rows may break it.
fn law_of_units(cells: &[Vec<Option<Span>>], terms: &[(usize, i32)], typed: &[Span]) -> Option<Law> {
    if typed.is_empty() {
        return None;
    }
    let rows = cells.first()?.len();
    let products: Vec<Span> = (0..rows).filter_map(|row| product(cells, terms, row)).collect();
    let (constant, holding) = typed
        .iter()
        .map(|constant| (*constant, agreeing(&products, *constant)))
        .max_by_key(|(_, holding)| *holding)?;
    let total = products.len();
    if total < 2 || holding == 0 || 2 * (total - holding) > total {
        return None;
    }
    let width = products.iter().map(|product| product.width()).fold(0.0, f64::max);
    let agrees = (width / DECADE).clamp(1e-7, 1.0);
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

/// The logarithm of ten: what the width of a product is held against.
const DECADE: f64 = std::f64::consts::LN_10;

/// The product of a row's cells.
fn product(cells: &[Vec<Option<Span>>], terms: &[(usize, i32)], row: usize) -> Option<Span> {
    terms.iter().try_fold(Span::ONE, |product, (column, exponent)| {
        Some(product.times(cells[*column][row]?, *exponent))
    })
}

/// What laws are looked for in.
struct Evidence<'a> {
    cells: &'a [Vec<Option<Span>>],
    /// Numbers of the text, and numbers that every row repeats.
    constants: &'a [Span],
    /// For each column the row in which its ratio is 1.
    neutral: &'a [Vec<usize>],
}

/// A constant that a law may have.
struct Candidate {
    constant: Span,
    holding: usize,
    /// It is known from elsewhere.
    explained: bool,
    /// How many constants were tried.
    tries: f64,
    /// Rows that agree because the constant was taken from them.
    free: usize,
}

/// The law that most rows keep, if chance does not explain it.
fn law(evidence: &Evidence<'_>, terms: &[(usize, i32)], tries: f64) -> Option<Law> {
    let cells = evidence.cells;
    // A column that never changes belongs to the constant.
    for (column, _) in terms {
        let mut values = cells[*column].iter().flatten().map(|cell| cell.middle());
        let first = values.next()?;
        if values.all(|value| value == first) {
            return None;
        }
    }
    let rows = cells.first()?.len();
    let products: Vec<Option<Span>> = (0..rows).map(|row| product(cells, terms, row)).collect();
    let candidates = candidates(evidence, terms, &products);
    let products: Vec<Span> = products.into_iter().flatten().collect();
    let total = products.len();
    if total < 2 {
        return None;
    }
    let width = products.iter().map(|product| product.width()).fold(0.0, f64::max);
    // How likely a row agrees by chance: its width against a factor of ten.
    let mut best: Option<Law> = None;
    for candidate in candidates {
        let Candidate { constant, holding, explained, free, .. } = candidate;
        let (least, change) = if explained { (2, 0.005) } else { (3, 0.03) };
        if holding < least || (total - holding) as f64 > MOST_BROKEN * total as f64 {
            continue;
        }
        let mut widths: Vec<f64> = products
            .iter()
            .filter(|product| product.meets(constant))
            .map(|product| (product.width() / DECADE).clamp(1e-7, 1.0))
            .collect();
        widths.sort_by(|one, other| other.total_cmp(one));
        let agree: f64 = widths.iter().take(holding - free.min(holding)).product();
        let chance = tries * candidate.tries * binomial(total, holding) * agree;
        let better = best.as_ref().is_none_or(|law: &Law| chance < law.chance);
        if chance < CHANCE && better && varies(width, cells, terms, change) {
            best = Some(Law { terms: terms.to_vec(), constant, explained, chance, typed: false });
        }
    }
    best
}

/// The constants that a law may have. One that is 1, a number of the text or given by a row of reference is better
/// evidence than one that only these rows share.
fn candidates(evidence: &Evidence<'_>, terms: &[(usize, i32)], products: &[Option<Span>]) -> Vec<Candidate> {
    let known: Vec<Span> = products.iter().flatten().copied().collect();
    let holding = |constant: Span| agreeing(&known, constant);
    let one =
        Candidate { constant: Span::ONE, holding: holding(Span::ONE), explained: true, tries: 1.0, free: 0 };
    let mut found = vec![one];
    if terms.len() <= 3 && known.len() <= SAMPLED_ROWS {
        // A law is looked for in one direction; the text may give its constant in the other.
        let low = known.iter().map(|product| product.low).fold(f64::INFINITY, f64::min) - 1.1;
        let high = known.iter().map(|product| product.high).fold(f64::NEG_INFINITY, f64::max) + 1.1;
        // Only numbers of about this size could have agreed.
        let possible = || {
            let both = evidence.constants.iter().flat_map(|constant| [*constant, constant.inverse()]);
            both.filter(|one| one.low <= high && low <= one.high)
        };
        let named = possible().map(|constant| (constant, holding(constant)));
        if let Some((constant, holding)) = named.max_by_key(|(_, holding)| *holding) {
            let tries = possible().count().max(1) as f64;
            found.push(Candidate { constant, holding, explained: true, tries, free: 0 });
        }
        // Bytes of a number, flops of a multiplication and addition: small whole numbers and powers of two.
        let round = ROUND.iter().map(|value| value.ln()).flat_map(|log| [log, -log]);
        let round = round.map(|log| Span { low: log, high: log }).map(|one| (one, holding(one)));
        if let Some((constant, holding)) = round.max_by_key(|(_, holding)| *holding) {
            let tries = 2.0 * ROUND.len() as f64;
            found.push(Candidate { constant, holding, explained: true, tries, free: 0 });
        }
        let references = terms.iter().flat_map(|(column, _)| &evidence.neutral[*column]);
        let references = references.filter_map(|row| products.get(*row).copied().flatten());
        found.extend(references.map(|constant| Candidate {
            constant,
            holding: holding(constant),
            explained: true,
            tries: 1.0,
            free: 1,
        }));
    }
    // Four columns with any constant fit too much.
    if terms.len() < 4 {
        let (constant, holding) = crowded(&known);
        found.push(Candidate { constant, holding, explained: false, tries: 1.0, free: 1 });
    }
    found
}

/// Numbers that laws often contain.
const ROUND: [f64; 25] = [
    2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 30.0, 32.0, 50.0, 60.0, 64.0, 100.0, 128.0,
    256.0, 512.0, 1000.0, 1024.0, 2048.0, 3600.0, 4096.0,
];

/// How many products may be a constant.
fn agreeing(products: &[Span], constant: Span) -> usize {
    products.iter().filter(|product| product.meets(constant)).count()
}

/// Whether the columns of a law change by much more than their digits allow; otherwise nearly constant columns make a
/// law of nothing.
fn varies(width: f64, cells: &[Vec<Option<Span>>], terms: &[(usize, i32)], least: f64) -> bool {
    terms.iter().all(|(column, _)| {
        let values = || cells[*column].iter().flatten().map(|cell| cell.middle());
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        (high - low).exp() - 1.0 > (4.0 * width).max(least)
    })
}

/// The interval that most products share, and how many do.
fn crowded(products: &[Span]) -> (Span, usize) {
    let mut ends: Vec<(f64, i32)> =
        products.iter().flat_map(|one| [(one.low - 1e-9, 1), (one.high + 1e-9, -1)]).collect();
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
    (Span { low, high }, usize::try_from(best).unwrap_or(0))
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
        let product = law.terms.iter().try_fold(Span::ONE, |product, (column, exponent)| {
            let cell = interval(grid, row, columns[*column]).and_then(Span::of)?;
            Some(product.times(cell, *exponent))
        });
        let Some(product) = product else { continue };
        let off = product.middle() - law.constant.middle();
        if product.meets(constant) {
            kept += 1;
            labels.push(&grid.rows[row].label);
            holds.extend(law.terms.iter().map(|(column, _)| (row, columns[*column])));
        } else if off.abs() > 0.03 && !has_note(grid, row, columns, law) {
            breaking.push((row, off.exp()));
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
    let is_one = law.constant == Span::ONE;
    let few = grid.rows.len() <= 3;
    let (least, most) = match (law.explained, law.terms.len()) {
        // Of two systems one may be enough where units and text say what the law is.
        _ if sure && few => (1, 1),
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
            (columns[*column], cell / factor.powf(1.0 / f64::from(*exponent)))
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

/// Whether a cell of a row has the mark of a footnote: the author says that it is something else.
fn has_note(grid: &Grid, row: usize, columns: &[usize], law: &Law) -> bool {
    law.terms.iter().any(|(column, _)| grid.cell(row, columns[*column]).is_some_and(|cell| cell.has_note()))
}

/// The law in words: `tokens/s × time (s) = 2,097,152`.
fn formula(grid: &Grid, columns: &[usize], law: &Law) -> String {
    let name = |(column, exponent): &&(usize, i32)| {
        let header = &grid.columns[columns[*column]].header;
        match exponent.unsigned_abs() {
            2 => format!("{header}²"),
            3 => format!("{header}³"),
            _ => header.clone(),
        }
    };
    let (up, down): (Vec<_>, Vec<_>) = law.terms.iter().partition(|(_, exponent)| *exponent > 0);
    let list = |terms: &[&(usize, i32)]| terms.iter().map(name).collect::<Vec<_>>().join(" × ");
    let up: Vec<&(usize, i32)> = up.iter().collect();
    let down: Vec<&(usize, i32)> = down.iter().collect();
    if law.explained && law.constant == Span::ONE && !down.is_empty() {
        return format!("{} = {}", list(&up), list(&down));
    }
    let quotient = match down.as_slice() {
        [] => list(&up),
        [one] => format!("{} / {}", list(&up), name(one)),
        _ => format!("{} / ({})", list(&up), list(&down)),
    };
    format!("{quotient} = {}", shown(law.constant.value()))
}
