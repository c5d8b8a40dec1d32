//! Tables as algebra: laws between columns are discovered in the numbers, and rows that break one are reported.
//!
//! | file | holds |
//! |---|---|
//! | `product.rs` | a column is a constant times others with exponents -1 and 1 |
//! | `reference.rs` | a column of ratios or changes against one row, or against the row before |
//! | `samples.rs` | statistics of samples that other tables and lines list |
//! | `sum.rs` | columns and rows that are sums or statistics of others |
//! | `order.rs` | percentiles in order, minimum, mean and maximum, spreads, shares |

mod order;
mod product;
mod reference;
mod samples;
mod sum;

use crate::checks::{Check, Checks};
use crate::grid::Grid;
use crate::interval::Interval;
use crate::unit::Unit;

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
    reference::check(grid, &mut broken, &mut holds);
    product::check(grid, constants, &mut broken, &mut holds);
    checks.settle(grid, broken, &holds);
}

/// The interval of a cell in base units.
fn interval(grid: &Grid, row: usize, column: usize) -> Option<Interval> {
    grid.cell(row, column).map(|cell| Interval::new(cell.low, cell.high))
}
