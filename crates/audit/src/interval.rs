//! Intervals of what printed digits allow.

/// Numbers from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn new(one: f64, other: f64) -> Interval {
        Interval { low: one.min(other), high: one.max(other) }
    }

    pub fn exact(value: f64) -> Interval {
        Interval { low: value, high: value }
    }

    pub fn middle(self) -> f64 {
        0.5 * (self.low + self.high)
    }

    pub fn times(self, other: Interval) -> Interval {
        let products =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        Interval {
            low: products.iter().copied().fold(f64::INFINITY, f64::min),
            high: products.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// None where the divisor may be zero.
    pub fn over(self, other: Interval) -> Option<Interval> {
        (other.low > 0.0 || other.high < 0.0)
            .then(|| self.times(Interval::new(1.0 / other.low, 1.0 / other.high)))
    }

    pub fn plus(self, other: Interval) -> Interval {
        Interval { low: self.low + other.low, high: self.high + other.high }
    }

    pub fn minus(self, other: Interval) -> Interval {
        Interval { low: self.low - other.high, high: self.high - other.low }
    }

    pub fn meets(self, other: Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// The interval with a share of its middle added on both sides.
    pub fn widened(self, share: f64) -> Interval {
        let slack = share * self.middle().abs();
        Interval { low: self.low - slack, high: self.high + slack }
    }

    /// The width in proportion to the middle.
    pub fn relative_width(self) -> f64 {
        let middle = self.middle().abs();
        if middle > 0.0 { (self.high - self.low) / middle } else { f64::INFINITY }
    }

    pub fn is_positive(self) -> bool {
        self.low > 0.0 && self.high.is_finite()
    }
}
