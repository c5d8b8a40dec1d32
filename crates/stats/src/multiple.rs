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

/// Benjamini and Hochberg's adjusted p-values, in the order given: pᵢ' = minₖ≥ᵢ min(1, m·p₍ₖ₎/k). They bound the
/// expected share of false alarms among those raised: for exploring.
///
/// `None` if a value does not lie between 0 and 1. An empty family stays empty.
///
/// Source: Benjamini & Hochberg, 1995. Oracle: statsmodels `multipletests(method='fdr_bh')`.
pub fn benjamini_hochberg(p_values: &[f64]) -> Option<Vec<f64>> {
    let order = ascending(p_values)?;
    let count = p_values.len();
    let mut adjusted = vec![0.0; count];
    let mut lowest = 1.0_f64;
    for (place, index) in order.into_iter().enumerate().rev() {
        lowest = lowest.min(count as f64 * p_values.get(index)? / (place + 1) as f64);
        *adjusted.get_mut(index)? = lowest;
    }
    Some(adjusted)
}

/// The indices by ascending value; `None` if a value is no probability.
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
        assert_eq!(benjamini_hochberg(&[0.04]), Some(vec![0.04]));
        assert_eq!(holm(&[]), Some(Vec::new()));
    }

    #[test]
    fn refuses_what_is_no_probability() {
        assert_eq!(holm(&[0.1, 1.5]), None);
        assert_eq!(benjamini_hochberg(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn adjusting_never_lowers_and_holm_is_stricter(
            p_values in prop::collection::vec(0.0..=1.0_f64, 1..20),
        ) {
            let (strict, mild) = (holm(&p_values).unwrap(), benjamini_hochberg(&p_values).unwrap());
            for ((raw, strict), mild) in p_values.iter().zip(strict).zip(mild) {
                prop_assert!(*raw <= mild + 1e-15 && mild <= strict + 1e-12 && strict <= 1.0);
            }
        }
    }
}
