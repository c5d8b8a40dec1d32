//! Numbers as text, fast: a gigabyte of log is ten million lines of them.

/// Powers of ten for the decimals that logs use.
const SCALES: [f64; 13] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];

/// Appends an integer with at least `digits` digits.
pub(crate) fn whole(target: &mut Vec<u8>, mut value: u64, digits: usize) {
    let mut text = [b'0'; 20];
    let mut used = 0;
    for place in text.iter_mut().rev() {
        *place = b'0' + (value % 10) as u8;
        value /= 10;
        used += 1;
        if value == 0 && used >= digits {
            break;
        }
    }
    target.extend_from_slice(text.get(text.len() - used..).unwrap_or_default());
}

/// Appends a number with `decimals` digits after the point. Ties go to the even digit, as in most languages' `%.5f`.
pub(crate) fn fixed(target: &mut Vec<u8>, value: f64, decimals: usize) {
    use std::io::Write;

    let scale = SCALES.get(decimals).copied().unwrap_or(1e12);
    let scaled = (value.abs() * scale).round_ties_even();
    // NaN and what does not fit an integer take the long way; a vector never refuses bytes.
    if scaled.is_nan() || scaled >= 1e18 {
        let _ = write!(target, "{value:.decimals$}");
        return;
    }
    if value < 0.0 && scaled > 0.0 {
        target.push(b'-');
    }
    let (scaled, scale) = (scaled as u64, scale as u64);
    whole(target, scaled / scale, 1);
    if decimals > 0 {
        target.push(b'.');
        whole(target, scaled % scale, decimals);
    }
}

/// An integer with commas between thousands.
pub(crate) fn with_commas(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut target = Vec::new();
        write(&mut target);
        String::from_utf8(target).unwrap()
    }

    #[test]
    fn known_numbers_are_right() {
        assert_eq!(text(|target| whole(target, 0, 1)), "0");
        assert_eq!(text(|target| whole(target, 7, 3)), "007");
        assert_eq!(text(|target| whole(target, u64::MAX, 2)), u64::MAX.to_string());
        assert_eq!(text(|target| fixed(target, 9.390625, 5)), "9.39062");
        assert_eq!(text(|target| fixed(target, 7.796875, 5)), "7.79688");
        assert_eq!(text(|target| fixed(target, -0.004, 2)), "0.00");
        assert_eq!(text(|target| fixed(target, -1.256, 2)), "-1.26");
        assert_eq!(text(|target| fixed(target, f64::NAN, 2)), "NaN");
        assert_eq!(text(|target| fixed(target, f64::INFINITY, 2)), "inf");
        assert_eq!(with_commas(999), "999");
        assert_eq!(with_commas(1_071_234), "1,071,234");
    }

    proptest! {
        #[test]
        fn fixed_agrees_with_the_standard_library(value in -1e9_f64..1e9, decimals in 0_usize..6) {
            let expected: f64 = format!("{value:.decimals$}").parse().unwrap();
            let written: f64 = text(|target| fixed(target, value, decimals)).parse().unwrap();
            prop_assert!((expected - written).abs() <= 1.01 * 10_f64.powi(-(decimals as i32)));
        }

        #[test]
        fn whole_agrees_with_the_standard_library(value: u64) {
            prop_assert_eq!(text(|target| whole(target, value, 1)), value.to_string());
        }
    }
}
