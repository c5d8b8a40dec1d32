//! Intervals of logarithms: products of positive intervals are sums of these.

use crate::interval::Interval;

/// The logarithms of the ends of a positive interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub low: f64,
    pub high: f64,
}

impl Span {
    /// None where the interval is not positive.
    pub fn of(interval: Interval) -> Option<Span> {
        interval.is_positive().then(|| Span { low: interval.low.ln(), high: interval.high.ln() })
    }

    /// The span of the number 1.
    pub const ONE: Span = Span { low: 0.0, high: 0.0 };

    /// The product with a power of another.
    pub fn times(self, other: Span, exponent: i32) -> Span {
        let by = f64::from(exponent);
        let (low, high) = if exponent > 0 { (other.low, other.high) } else { (other.high, other.low) };
        Span { low: self.low + by * low, high: self.high + by * high }
    }

    pub fn inverse(self) -> Span {
        Span { low: -self.high, high: -self.low }
    }

    /// Rounding of sums is no disagreement.
    pub fn meets(self, other: Span) -> bool {
        self.low <= other.high + 1e-9 && other.low <= self.high + 1e-9
    }

    pub fn widened(self, share: f64) -> Span {
        Span { low: self.low - share, high: self.high + share }
    }

    pub fn middle(self) -> f64 {
        0.5 * (self.low + self.high)
    }

    /// The relative width of the interval.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    pub fn value(self) -> f64 {
        self.middle().exp()
    }
}
