//! Distributions. The special functions come from `statrs`; the incomplete beta function is written out here since
//! that crate stops its continued fraction after 140 terms, which is too few beyond some ten thousand samples.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// Φ(z), the standard normal distribution function, to ten digits.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// 1 − Φ(z), without the loss of digits that the subtraction has for large z. To ten digits.
pub(crate) fn normal_upper(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Φ⁻¹(p) for 0 < p < 1; `None` outside.
pub(crate) fn normal_quantile(probability: f64) -> Option<f64> {
    (probability > 0.0 && probability < 1.0).then(|| Normal::standard().inverse_cdf(probability))
}

/// The quantile of Student's t with `freedom` degrees of freedom, for 0 < p < 1.
pub(crate) fn student_quantile(probability: f64, freedom: f64) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let value = student.inverse_cdf(probability);
    value.is_finite().then_some(value)
}

/// P(|T| ≥ |t|) for Student's t: I_x(ν/2, ½) at x = ν/(ν + t²).
pub(crate) fn student_two_sided(t: f64, freedom: f64) -> Option<f64> {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// P(F ≥ f) for Fisher's F: I_x(ν₂/2, ν₁/2) at x = ν₂/(ν₂ + ν₁·f).
pub(crate) fn f_upper(f: f64, freedom: f64, freedom_of_error: f64) -> Option<f64> {
    let x = freedom_of_error / (freedom_of_error + freedom * f.max(0.0));
    incomplete_beta(freedom_of_error / 2.0, freedom / 2.0, x)
}

/// P(X ≤ k) for X binomial with `trials` and `probability`: I_{1−q}(n − k, k + 1). `k` is signed so that callers may
/// ask for one less than the lowest rank.
pub(crate) fn binomial_cdf(k: i64, trials: usize, probability: f64) -> Option<f64> {
    if k < 0 {
        return Some(0.0);
    }
    if k >= i64::try_from(trials).ok()? {
        return Some(1.0);
    }
    incomplete_beta(trials as f64 - k as f64, k as f64 + 1.0, 1.0 - probability)
}

/// The smallest k with P(X ≤ k) ≥ `level`, by bisection.
pub(crate) fn binomial_quantile(level: f64, trials: usize, probability: f64) -> Option<usize> {
    let (mut low, mut high) = (0_usize, trials);
    while low < high {
        let middle = low + (high - low) / 2;
        if binomial_cdf(i64::try_from(middle).ok()?, trials, probability)? >= level {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// The regularized incomplete beta function I_x(a, b), by the continued fraction of Numerical Recipes 6.4 (Lentz's
/// method). `None` outside its domain and where the fraction does not converge.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> Option<f64> {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return None;
    }
    if x == 0.0 || x == 1.0 {
        return Some(x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast only below the mean; above it the mirrored one does.
    if x < (a + 1.0) / (a + b + 2.0) {
        Some((front * beta_fraction(a, b, x)? / a).clamp(0.0, 1.0))
    } else {
        Some((1.0 - front * beta_fraction(b, a, 1.0 - x)? / b).clamp(0.0, 1.0))
    }
}

/// The continued fraction of the incomplete beta function. It needs about √max(a, b) terms.
fn beta_fraction(a: f64, b: f64, x: f64) -> Option<f64> {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let terms = 200 + (20.0 * a.max(b).sqrt()) as u64;
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = denominator;
    for term in 1..=terms {
        let m = term as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            change = denominator * numerator;
            fraction *= change;
        }
        if (change - 1.0).abs() <= f64::EPSILON {
            return Some(fraction);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs().max(f64::MIN_POSITIVE)
    }

    #[test]
    fn beta_of_whole_numbers() {
        // I_x(1, b) = 1 − (1 − x)^b and I_x(a, 1) = x^a.
        assert!(close(incomplete_beta(1.0, 3.0, 0.2).unwrap(), 1.0 - 0.8_f64.powi(3), 1e-14));
        assert!(close(incomplete_beta(5.0, 1.0, 0.7).unwrap(), 0.7_f64.powi(5), 1e-14));
        assert_eq!(incomplete_beta(0.0, 1.0, 0.5), None);
        assert_eq!(incomplete_beta(1.0, 1.0, f64::NAN), None);
    }

    #[test]
    fn fishers_f_matches_tables() {
        // scipy.stats.f.sf(7.708647422176786, 1, 4) and of (3.0, 2, 10).
        assert!(close(f_upper(7.708_647_422_176_786, 1.0, 4.0).unwrap(), 0.05, 1e-9));
        assert!(close(f_upper(3.0, 2.0, 10.0).unwrap(), 0.095_367_431_640_625, 1e-9));
    }

    #[test]
    fn large_samples_converge() {
        let half = binomial_cdf(500_000, 1_000_000, 0.5).unwrap();
        assert!((half - 0.500_398_94).abs() < 1e-6, "{half}");
        assert_eq!(binomial_quantile(0.5, 1_000_000, 0.5), Some(500_000));
    }

    #[test]
    fn binomial_matches_counting() {
        // P(X ≤ 3) of ten coin tosses: (1 + 10 + 45 + 120) / 1024.
        assert!(close(binomial_cdf(3, 10, 0.5).unwrap(), 176.0 / 1024.0, 1e-14));
        assert_eq!(binomial_cdf(-1, 10, 0.5), Some(0.0));
        assert_eq!(binomial_cdf(10, 10, 0.5), Some(1.0));
    }

    #[test]
    fn student_quantile_matches_tables() {
        // scipy.stats.t.ppf(0.975, freedom)
        for (freedom, expected) in [
            (1.0, 12.706_204_736_174_694),
            (9.0, 2.262_157_162_798_205),
            (13.2, 2.157_045_974_113_142_7),
            (99.0, 1.984_216_951_586_417_4),
            (10_000.0, 1.960_201_239_890_626),
        ] {
            let value = student_quantile(0.975, freedom).unwrap();
            assert!(close(value, expected, 1e-11), "{freedom}: {value}");
            assert!(close(-student_quantile(0.025, freedom).unwrap(), expected, 1e-11));
        }
        assert!(student_quantile(0.5, 3.0).unwrap().abs() < 1e-12);
        assert_eq!(student_quantile(1.0, 3.0), None);
        assert_eq!(student_quantile(0.9, 0.0), None);
    }
}
