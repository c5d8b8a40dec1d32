//! How many steps, bars or runs make a sample of a given size.

/// What would be longer than about this many bytes is not measured but extrapolated.
const MOST_MEASURED: f64 = 250e6;

/// The number of parts with which `length` comes nearest to `size`.
///
/// A part is longer where its number has more digits, so the length is nearly linear within each decade of the count,
/// and the slope grows by about the same from decade to decade. The first decades are measured, the others follow from
/// that. Measuring stops when the size is reached: small samples cost little.
pub(crate) fn units(size: u64, length: impl Fn(u64) -> u64) -> u64 {
    let size = size as f64;
    let (mut low, mut low_length) = (1_u64, length(1) as f64);
    let (mut slope, mut growth) = (0.0_f64, 0.0_f64);
    loop {
        if low_length >= size {
            return low;
        }
        let high = low.saturating_mul(10);
        let width = (high - low) as f64;
        let high_length = if low_length * 10.0 <= MOST_MEASURED {
            let measured = length(high) as f64;
            let next = (measured - low_length) / width;
            growth = if slope > 0.0 { (next - slope).max(0.0) } else { 0.0 };
            slope = next;
            measured
        } else {
            slope += growth;
            low_length + slope * width
        };
        // A part that adds no byte is none: such a sample cannot grow.
        if slope < 1.0 || high == u64::MAX {
            return 1;
        }
        if high_length >= size {
            return low + ((size - low_length) / slope).round() as u64;
        }
        (low, low_length) = (high, high_length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of 50 bytes with their number in front, after a head of 1000 bytes.
    fn length(units: u64) -> u64 {
        1000 + (1..=units).map(|unit| 50 + unit.ilog10() as u64 + 1).sum::<u64>()
    }

    #[test]
    fn any_size_is_met_within_five_per_cent() {
        for size in [5_000, 100_000, 3_000_000, 70_000_000] {
            let reached = length(units(size, length));
            assert!(reached.abs_diff(size) * 20 < size, "{size}: {reached}");
        }
    }

    #[test]
    fn a_head_that_is_too_long_gives_the_least() {
        assert_eq!(units(10, length), 1);
        assert_eq!(units(10, |_| 3), 1);
    }
}
