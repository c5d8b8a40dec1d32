//! Tables as algebra: laws between columns are discovered in the numbers, and rows that break one are reported.
//!
//! | file | holds |
//! |---|---|
//! | `product.rs` | a column is a constant times others with exponents -1 and 1 |
//! | `reference.rs` | a column of ratios or changes against one row, or against the row before |
//! | `samples.rs` | statistics of samples that other tables and lines list |
//! | `sum.rs` | columns that are sums, means or statistics of others, side by side or running down |
//! | `trend.rs` | settings in equal steps, and single values far from a smooth curve |
//! | `total.rs` | rows that are sums or means of the rows above |
//! | `exponential.rs` | a column that is the exponential of another: loss and perplexity |
//! | `granularity.rs` | shares of a known count, which are multiples of one part of it |
//! | `joined.rs` | laws between the columns of two tables whose rows have the same names |
//! | `order.rs` | percentiles in order, minimum, mean and maximum, spreads, shares |

mod exponential;
mod granularity;
mod joined;
mod order;
mod product;
mod reference;
mod samples;
mod sum;
mod total;
mod trend;

use crate::checks::{Check, Checks};
use crate::grid::{Cell, Column, ColumnKind, Grid};
use crate::interval::Interval;
use crate::quantity::leading_number;
use crate::unit::Unit;

pub use joined::check as check_joined;
pub use samples::{check as check_samples, check_line};

/// A number of the text that a law may contain.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    pub interval: Interval,
    /// Written as 20 or more: smaller numbers are the constant of too many laws.
    pub telling: bool,
    pub unit: Unit,
}

/// Checks one table. `constants` are the numbers of the text around it.
pub fn check(grid: &Grid, constants: &[Constant], checks: &mut Checks) {
    let mut broken: Vec<Check> = Vec::new();
    let mut holds: Vec<(usize, usize)> = Vec::new();
    order::check(grid, &mut broken);
    sum::check(grid, &mut broken, &mut holds);
    total::check(grid, &mut broken, &mut holds);
    reference::check(grid, &mut broken, &mut holds);
    exponential::check(grid, &mut broken, &mut holds);
    granularity::check(grid, constants, &mut broken);
    match numbered_names(grid) {
        Some(wider) => product::check(&wider, constants, &mut broken, &mut holds),
        None => product::check(grid, constants, &mut broken, &mut holds),
    }
    broken.iter_mut().for_each(|check| check.columns.retain(|column| *column < grid.columns.len()));
    trend::check(grid, &holds, &mut broken);
    checks.settle(grid, broken, &holds);
}

/// A table whose rows are named by numbers (`1.3B`, `13B`; `4 nodes`, `8 nodes`) with these as a column of settings:
/// the names of models and machines enter the laws of their rows.
fn numbered_names(grid: &Grid) -> Option<Grid> {
    let rows = grid.rows.len();
    if !(3..=MOST_NAMED_ROWS).contains(&rows) {
        return None;
    }
    let numbers: Option<Vec<(f64, &str)>> = grid
        .rows
        .iter()
        .map(|row| {
            let number = leading_number(&row.label)?;
            let rest = row.label.get(number.length..)?.trim();
            let plain = !rest.is_empty() && rest.chars().all(|one| one.is_alphabetic());
            (plain && number.value > 0.0).then_some((number.value, rest))
        })
        .collect();
    let numbers = numbers?;
    let (first, suffix) = *numbers.first()?;
    if numbers.iter().any(|(_, rest)| *rest != suffix) || numbers.iter().all(|(value, _)| *value == first) {
        return None;
    }
    let mut wider = grid.clone();
    wider.columns.push(Column {
        header: suffix.to_owned(),
        unit: Unit::none(),
        kind: ColumnKind::Setting,
        words: Vec::new(),
    });
    for (row, (value, _)) in wider.rows.iter_mut().zip(&numbers) {
        let cell = Cell::read(&value.to_string(), &Unit::none(), row.line);
        row.cells.push(cell.map(|mut cell| {
            cell.make_exact();
            cell
        }));
        row.texts.push(row.label.clone());
    }
    Some(wider)
}

/// The longest table whose names are read as numbers.
const MOST_NAMED_ROWS: usize = 60;

/// The interval of a cell in base units.
fn interval(grid: &Grid, row: usize, column: usize) -> Option<Interval> {
    grid.cell(row, column).map(|cell| Interval::new(cell.low, cell.high))
}
