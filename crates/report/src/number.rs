//! Values in readable units, with as many digits as their interval deserves.

use assay_model::Unit;

/// A scale that a column of values is shown in.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Divide a base value by this.
    pub divisor: f64,
    /// What the shown unit is called.
    pub name: String,
}

impl Scale {
    /// The scale in which values of about this size are easy to read.
    pub fn for_value(unit: &Unit, typical: f64) -> Scale {
        let size = typical.abs();
        match unit {
            Unit::Seconds => seconds_scale(size),
            Unit::Bytes => bytes_scale(size, ""),
            Unit::PerSecond(thing) if thing == "B" => bytes_scale(size, "/s"),
            Unit::PerSecond(thing) if thing == "FLOP" => {
                let (divisor, prefix) = decimal(size);
                Scale { divisor, name: format!("{prefix}FLOP/s") }
            }
            Unit::Fraction => Scale { divisor: 0.01, name: "%".to_owned() },
            other => Scale { divisor: 1.0, name: other.to_string() },
        }
    }

    /// The one scale of a column: that in which the middle of its values is easy to read.
    pub fn for_column(unit: &Unit, values: impl Iterator<Item = f64>) -> Scale {
        let mut sizes: Vec<f64> = values.map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        Scale::for_value(unit, sizes.get(sizes.len() / 2).copied().unwrap_or(1.0))
    }

    /// A column's name with its unit.
    pub fn titled(&self, name: &str) -> String {
        match self.name.as_str() {
            "" => name.to_owned(),
            "unknown" => format!("{name} [unit not stated]"),
            unit => format!("{name} [{unit}]"),
        }
    }

    /// A bare value in this scale, with four significant digits.
    pub fn shown(&self, value: f64) -> String {
        self.show(value, self.decimals(value, value, value))
    }

    /// A value in this scale, with this number of decimals.
    pub fn show(&self, value: f64, decimals: usize) -> String {
        let shown = value / self.divisor;
        // Rounding may leave a minus sign on zero.
        let text = format!("{shown:.decimals$}");
        if text.trim_start_matches(['-', '0', '.']).is_empty() {
            text.trim_start_matches('-').to_owned()
        } else {
            text
        }
    }

    /// Digits after the point that show an interval's width with two digits, and a bare value with four.
    pub fn decimals(&self, center: f64, low: f64, high: f64) -> usize {
        let width = (high - low).abs() / self.divisor;
        let center = center.abs() / self.divisor;
        let needed =
            if width > 0.0 && width.is_finite() { 1 - magnitude(width) } else { 3 - magnitude(center) };
        // Nobody reads more than six significant digits, however narrow the interval.
        let most = (5 - magnitude(center)).max(0);
        usize::try_from(needed.clamp(0, most)).unwrap_or(0)
    }
}

fn magnitude(value: f64) -> i64 {
    if value > 0.0 && value.is_finite() { value.log10().floor() as i64 } else { 0 }
}

fn seconds_scale(size: f64) -> Scale {
    let (divisor, name) = match size {
        size if size == 0.0 || size >= 1.0 => (1.0, "s"),
        size if size >= 1e-3 => (1e-3, "ms"),
        size if size >= 1e-6 => (1e-6, "µs"),
        _ => (1e-9, "ns"),
    };
    Scale { divisor, name: name.to_owned() }
}

fn bytes_scale(size: f64, suffix: &str) -> Scale {
    // Memory comes in binary units, rates in decimal ones, as people write them.
    let (divisor, name) = if suffix.is_empty() {
        match size {
            size if size >= 1024f64.powi(3) => (1024f64.powi(3), "GiB"),
            size if size >= 1024f64.powi(2) => (1024f64.powi(2), "MiB"),
            size if size >= 1024.0 => (1024.0, "KiB"),
            _ => (1.0, "B"),
        }
    } else {
        match size {
            size if size >= 1e9 => (1e9, "GB"),
            size if size >= 1e6 => (1e6, "MB"),
            size if size >= 1e3 => (1e3, "kB"),
            _ => (1.0, "B"),
        }
    };
    Scale { divisor, name: format!("{name}{suffix}") }
}

fn decimal(size: f64) -> (f64, &'static str) {
    match size {
        size if size >= 1e12 => (1e12, "T"),
        size if size >= 1e9 => (1e9, "G"),
        size if size >= 1e6 => (1e6, "M"),
        _ => (1.0, ""),
    }
}

/// A single value in its own best scale, with its unit.
pub fn single(unit: &Unit, value: f64) -> String {
    let scale = Scale::for_value(unit, value);
    let text = scale.show(value, scale.decimals(value, value, value));
    if scale.name.is_empty() { text } else { format!("{text} {}", scale.name) }
}

/// A single value as a list of facts shows it: counts as integers, very large and very small bare numbers with
/// an exponent, all else in its own best scale.
pub fn fact(unit: &Unit, value: f64) -> String {
    let size = value.abs();
    let counts = matches!(unit, Unit::One | Unit::Count(_) | Unit::Other(_));
    let exponent = !value.is_finite()
        || size >= 1e15
        || (size > 0.0 && size < 1e-12)
        || (counts && size > 0.0 && size < 1e-3);
    let text = if exponent {
        trimmed(&format!("{value:.3e}"))
    } else if counts && value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        return single(unit, value);
    };
    let name = unit.to_string();
    if name.is_empty() { text } else { format!("{text} {name}") }
}

/// A number with an exponent, without the zeros that say nothing.
fn trimmed(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.to_owned(),
    }
}

/// A length of time for people: `850 ms`, `12.3 s`, `4 min 10 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match seconds {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        seconds if seconds < 60.0 => format!("{seconds:.1} s"),
        seconds if seconds < 3600.0 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Seconds as lists of phases show them: one digit behind the point, and three below one second.
pub fn seconds(value: f64) -> String {
    if value > 0.0 && value < 0.95 { format!("{value:.3}") } else { format!("{value:.1}") }
}

/// A count with its noun: `1 run`, `2 runs`.
pub fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// A share as a percentage. What is nearly everything keeps as many digits as it takes to see that it is not.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let first = if value.abs() >= 10.0 { 0 } else { 1 };
    let is_rounded_up = |decimals: i32| value < 100.0 && value + 0.5 / 10_f64.powi(decimals) >= 100.0;
    let decimals = (first..4).find(|decimals| !is_rounded_up(*decimals)).unwrap_or(4);
    if is_rounded_up(decimals) { "> 99.99 %".to_owned() } else { format!("{value:.*} %", decimals as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_a_scale_that_fits() {
        assert_eq!(single(&Unit::Seconds, 0.1396), "139.6 ms");
        assert_eq!(single(&Unit::Bytes, 107_687_936.0), "102.7 MiB");
        assert_eq!(single(&Unit::PerSecond("B".into()), 1.93e9), "1.930 GB/s");
        assert_eq!(single(&Unit::Fraction, 0.985), "98.50 %");
        assert_eq!(single(&Unit::PerSecond("samples".into()), 2924.5), "2924 samples/s");
        assert_eq!(single(&Unit::One, 1.0), "1.000");
        assert_eq!(single(&Unit::Seconds, 0.0), "0.000 s");
    }

    #[test]
    fn nearly_all_is_not_all() {
        let shares = [1.0, 0.9964, 0.99996, 0.999_999_99, 0.99, 0.5, 0.0123, 1.25];
        let shown = shares.map(percent);
        assert_eq!(shown, ["100 %", "99.6 %", "99.996 %", "> 99.99 %", "99 %", "50 %", "1.2 %", "125 %"]);
    }

    #[test]
    fn facts_are_whole_where_they_count_and_short_where_they_are_extreme() {
        assert_eq!(fact(&Unit::Count("samples".into()), 512_000.0), "512000 samples");
        assert_eq!(fact(&Unit::One, 5e-5), "5e-5");
        assert_eq!(fact(&Unit::One, 7.125), "7.125");
        assert_eq!(fact(&Unit::Seconds, 1e300), "1e300 s");
        assert_eq!(fact(&Unit::PerSecond("samples".into()), 2924.54), "2925 samples/s");
        assert_eq!(fact(&Unit::One, 0.0), "0");
    }

    #[test]
    fn digits_follow_the_interval() {
        let scale = Scale::for_value(&Unit::Seconds, 0.1396);
        assert_eq!(scale.decimals(0.1396, 0.13952, 0.13971), 2);
        assert_eq!(scale.decimals(0.1396, 0.10, 0.18), 0);
        let scale = Scale::for_value(&Unit::One, 5.0);
        assert_eq!(scale.show(-0.0001, 2), "0.00");
    }

    #[test]
    fn times_read_as_people_say_them() {
        let shown: Vec<String> = [0.85, 12.34, 250.0, 7500.0].into_iter().map(duration).collect();
        assert_eq!(shown, ["850 ms", "12.3 s", "4 min 10 s", "2 h 5 min"]);
    }
}
