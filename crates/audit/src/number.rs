//! Numbers in findings.

/// A number with four significant digits, and thousands separators where it is large.
pub fn shown(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e12).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = if size >= 1000.0 || size == 0.0 {
        0
    } else {
        let whole = size.log10().floor() as i32 + 1;
        usize::try_from(4 - whole).unwrap_or(0)
    };
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    if size < 1000.0 {
        return text;
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}
