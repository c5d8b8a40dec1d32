//! How the audit writes numbers.

use assay_model::Unit;

/// A number with up to six significant digits and no trailing zeros.
pub(super) fn plain(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    // The magnitude lies between -5 and 14, so that the casts are exact.
    let decimals = if magnitude >= 5.0 { 0 } else { (5 - magnitude as i32).clamp(0, 10) as usize };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A number with four significant digits: for ratios, deviations and other results of arithmetic.
pub(super) fn rough(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let decimals = (3 - magnitude as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A share as percent, with one digit behind the point.
pub(super) fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

/// A value with its unit; fractions as percent.
pub(super) fn with_unit(value: f64, unit: &Unit) -> String {
    scaled(value, unit, "%", plain)
}

/// A difference or deviation of values of a unit; of fractions, in points.
pub(super) fn difference(value: f64, unit: &Unit) -> String {
    scaled(value, unit, "points", rough)
}

/// A number in the scale that people write its unit in.
fn scaled(value: f64, unit: &Unit, share: &str, written: fn(f64) -> String) -> String {
    match unit {
        Unit::One => written(value),
        Unit::Fraction => format!("{} {share}", written(value * 100.0)),
        Unit::Seconds if value != 0.0 && value.abs() < 0.1 => format!("{} ms", written(value * 1000.0)),
        Unit::PerSecond(thing) if thing == "B" => {
            let (factor, scale) = data_rate(value);
            format!("{} {scale}", written(value / factor))
        }
        other => format!("{} {other}", written(value)),
    }
}

/// The scale in which people write a rate of bytes.
fn data_rate(value: f64) -> (f64, &'static str) {
    match value.abs() {
        size if size >= 1e9 => (1e9, "GB/s"),
        size if size >= 1e6 => (1e6, "MB/s"),
        size if size >= 1e3 => (1e3, "kB/s"),
        _ => (1.0, "B/s"),
    }
}

/// `1 run`, `2 runs`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_digits() {
        assert_eq!(plain(174.285041622), "174.285");
        assert_eq!(plain(512_000.0), "512000");
        assert_eq!(plain(0.0167), "0.0167");
        assert_eq!(plain(2_048_000.0), "2048000");
        assert_eq!(rough(2.30047), "2.3");
        assert_eq!(with_unit(0.9713, &Unit::Fraction), "97.13 %");
        assert_eq!(with_unit(0.0242, &Unit::Seconds), "24.2 ms");
        assert_eq!(difference(0.0064, &Unit::Fraction), "0.64 points");
    }

    proptest::proptest! {
        #[test]
        fn any_number_is_survived(value in proptest::num::f64::ANY) {
            let _ = (plain(value), rough(value), with_unit(value, &Unit::Seconds));
        }
    }
}
