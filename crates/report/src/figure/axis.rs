//! Axes: from values to places, with ticks at numbers that people like.

use assay_model::Unit;

use crate::number::Scale;

/// A straight axis from a range of values to a range of places.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis over the range; a range without width is widened, so that every value has a place.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Axis {
        let (mut low, mut high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
        if high - low <= f64::EPSILON * low.abs().max(high.abs()) {
            let margin = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
            low -= margin;
            high += margin;
        }
        Axis { low, high, from, to }
    }

    /// Widens the axis by a share of its range at both ends.
    pub fn padded(mut self, share: f64) -> Axis {
        let margin = (self.high - self.low) * share;
        self.low -= margin;
        self.high += margin;
        self
    }

    /// The place of a value, held inside the axis.
    pub fn place(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Whether a value lies on the axis.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// About this many ticks inside the axis, at multiples of 1, 2 or 5 of a power of ten.
    pub fn ticks(&self, about: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / about.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough);
        let Some(step) = step.filter(|step| *step > 0.0 && step.is_finite()) else { return Vec::new() };
        let first = (self.low / step).ceil();
        // A range far from zero may be too narrow for its numbers; the count is bounded whatever they are.
        let mut ticks: Vec<f64> = (0..=2 * about)
            .map(|index| (first + index as f64) * step)
            .take_while(|tick| *tick <= self.high)
            .collect();
        ticks.dedup();
        ticks
    }

    /// The ticks with their texts: one scale and one count of digits for all.
    pub fn labels(&self, unit: &Unit, about: usize) -> (Scale, Vec<(f64, String)>) {
        let ticks = self.ticks(about);
        let scale = Scale::for_value(unit, self.low.abs().max(self.high.abs()));
        let step = ticks.windows(2).next().and_then(|pair| Some(pair.last()? - pair.first()?)).unwrap_or(0.0)
            / scale.divisor;
        let decimals = if step > 0.0 { (-step.log10().floor()).clamp(0.0, 9.0) as usize } else { 2 };
        let large = self.low.abs().max(self.high.abs()) / scale.divisor >= 1e7;
        let show = |tick: f64| {
            if large { format!("{:.2e}", tick / scale.divisor) } else { scale.show(tick, decimals) }
        };
        let labels = ticks.into_iter().map(|tick| (tick, show(tick))).collect();
        (scale, labels)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_stand_at_round_numbers() {
        let axis = Axis::new((0.0, 4240.6), (0.0, 700.0));
        assert_eq!(axis.ticks(5), [0.0, 1000.0, 2000.0, 3000.0, 4000.0]);
        let axis = Axis::new((7.1, 9.4), (0.0, 200.0));
        let labels: Vec<String> = axis.labels(&Unit::One, 5).1.into_iter().map(|(_, text)| text).collect();
        assert_eq!(labels, ["7.5", "8.0", "8.5", "9.0"]);
        let axis = Axis::new((0.9713, 0.9872), (0.0, 200.0));
        let (scale, labels) = axis.labels(&Unit::Fraction, 4);
        assert_eq!((scale.name.as_str(), labels[0].1.as_str()), ("%", "97.5"));
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_and_ticks_are_few(low in any::<f64>(), high in any::<f64>(), value in any::<f64>()) {
            prop_assume!(low.is_finite() && high.is_finite());
            let axis = Axis::new((low.min(high), low.max(high)), (10.0, 90.0)).padded(0.05);
            let place = axis.place(value);
            prop_assert!(value.is_nan() || (10.0..=90.0).contains(&place), "{}", place);
            prop_assert!(axis.ticks(5).len() <= 11);
            for (_, text) in axis.labels(&Unit::One, 5).1 {
                prop_assert!(text.len() < 24, "{}", text);
            }
        }
    }
}
