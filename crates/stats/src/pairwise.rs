//! Order statistics of all pairs of two groups, without writing the pairs down.

/// The `rank`-th smallest (from 1) of `combine(b, o)` over all pairs of `base` and `other`, both sorted ascending.
///
/// `combine` must not fall when `other` grows and not rise when `base` grows; rounding does not disturb that for
/// differences and for ratios of positive values. The result is one of the pairs' values, exactly: the search halves
/// the ordered range of floating-point numbers, at most 64 times, and each step counts pairs in one sweep.
///
/// `None` if a group is empty, the rank is out of range, or the value is not finite.
pub(crate) fn kth(base: &[f64], other: &[f64], rank: usize, combine: fn(f64, f64) -> f64) -> Option<f64> {
    if rank == 0 || rank > base.len().checked_mul(other.len())? {
        return None;
    }
    let mut low = key(combine(*base.last()?, *other.first()?));
    let mut high = key(combine(*base.first()?, *other.last()?));
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_up_to(value(middle), base, other, combine) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Adding zero turns −0.0 into 0.0.
    let found = value(low) + 0.0;
    found.is_finite().then_some(found)
}

/// How many pairs combine to at most `limit`. The share of `other` that does can only grow along `base`.
fn pairs_up_to(limit: f64, base: &[f64], other: &[f64], combine: fn(f64, f64) -> f64) -> usize {
    let mut reached = 0;
    let mut pairs = 0;
    for b in base {
        while other.get(reached).is_some_and(|o| combine(*b, *o) <= limit) {
            reached += 1;
        }
        pairs += reached;
    }
    pairs
}

const SIGN: u64 = 1 << 63;

/// Maps floating-point numbers to integers of the same order.
fn key(value: f64) -> u64 {
    // Both zeros must get one key, since they compare as equal.
    let bits = (value + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The inverse of [`key`].
fn value(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn difference(base: f64, other: f64) -> f64 {
        other - base
    }

    #[test]
    fn ranks_out_of_range_are_refused() {
        assert_eq!(kth(&[1.0], &[2.0], 0, difference), None);
        assert_eq!(kth(&[1.0], &[2.0], 2, difference), None);
        assert_eq!(kth(&[], &[2.0], 1, difference), None);
        assert_eq!(kth(&[-f64::MAX], &[f64::MAX], 1, difference), None);
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            mut base in prop::collection::vec(-1e3..1e3_f64, 1..12),
            mut other in prop::collection::vec(-1e3..1e3_f64, 1..12),
        ) {
            base.sort_unstable_by(f64::total_cmp);
            other.sort_unstable_by(f64::total_cmp);
            let mut pairs: Vec<f64> = base.iter().flat_map(|b| other.iter().map(move |o| o - b)).collect();
            pairs.sort_unstable_by(f64::total_cmp);
            for (index, expected) in pairs.iter().enumerate() {
                prop_assert_eq!(kth(&base, &other, index + 1, difference), Some(*expected));
            }
        }
    }
}
