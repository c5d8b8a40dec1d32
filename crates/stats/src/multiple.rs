//! Corrections for many comparisons. A family is all rows of one table for one metric.

/// Holm's adjusted p-values, in the order given: pᵢ' = maxₖ≤ᵢ min(1, (m − k + 1)·p₍ₖ₎). They bound the chance of even
/// one false alarm in the family: for gates.
///
/// `None` if a value does not lie between 0 and 1. An empty family stays empty.
///
/// Source: Holm, 1979. Oracle: statsmodels `multipletests(method='holm')`.
pub fn holm(p_values: &[f64]) -> Option<Vec<f64>> {
    let order = ascending(p_values)?;
    let count = p_values.len();
    let mut adjusted = vec![0.0; count];
    let mut highest = 0.0_f64;
    for (place, index) in order.into_iter().enumerate() {
        highest = highest.max((count - place) as f64 * p_values.get(index)?).min(1.0);
        *adjusted.get_mut(index)? = highest;
    }
    Some(adjusted)
}

/// The indices by ascending value; `None` if a value is not a probability.
fn ascending(p_values: &[f64]) -> Option<Vec<usize>> {
    if !p_values.iter().all(|value| (0.0..=1.0).contains(value)) {
        return None;
    }
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some(order.into_iter().map(|(index, _)| index).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_comparison_needs_no_correction() {
        assert_eq!(holm(&[0.04]), Some(vec![0.04]));
        assert_eq!(holm(&[]), Some(Vec::new()));
    }

    #[test]
    fn refuses_what_is_no_probability() {
        assert_eq!(holm(&[0.1, 1.5]), None);
        assert_eq!(holm(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn adjusting_never_lowers(
            p_values in prop::collection::vec(0.0..=1.0_f64, 1..20),
        ) {
            for (raw, strict) in p_values.iter().zip(holm(&p_values).unwrap()) {
                prop_assert!(*raw <= strict + 1e-15 && strict <= 1.0);
            }
        }
    }
}
