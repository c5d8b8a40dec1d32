//! How much an agreement says: where many values are on offer, nearly any number agrees with one of them.

use crate::interval::Interval;
use crate::quantity::Quantity;

/// Numbers from less than half to more than twice a stated one might have been written instead.
const REACH: f64 = 2.5;
/// What the comparison lets pass besides the written digits.
const SLACK: f64 = 0.012;

/// The share of the numbers around a stated one, on a scale of ratios, that agree with one of some values.
pub fn coverage(quantity: &Quantity, values: impl Iterator<Item = Interval>) -> f64 {
    let (low, high) = (quantity.value / REACH, quantity.value * REACH);
    if !(low > 0.0 && high.is_finite()) {
        return 1.0;
    }
    let half = 0.5 * (quantity.high - quantity.low);
    let widened = values.filter(|value| value.relative_width() <= 0.7).map(|value| {
        let slack = half + SLACK * value.middle().abs();
        (value.low - slack, value.high + slack)
    });
    let inside = widened.filter(|(one, other)| *other > low && *one < high);
    let mut ranges: Vec<(f64, f64)> =
        inside.map(|(one, other)| (one.max(low).ln(), other.min(high).ln())).collect();
    ranges.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut covered, mut reached) = (0.0, f64::NEG_INFINITY);
    for (one, other) in ranges {
        if other > reached {
            covered += other - one.max(reached);
            reached = other;
        }
    }
    covered / (high / low).ln()
}
