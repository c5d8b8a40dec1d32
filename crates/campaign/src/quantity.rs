//! Durations, sizes and shares as people write them: `1 h 30 min`, `4 GiB`, `2%`.

pub use assay_model::duration::parse_duration;

/// Durations stay below this, three hundred years, so that every later conversion to a system duration is valid.
pub(crate) const LONGEST_S: f64 = 1e10;

/// Reads a size such as `4 GiB` or `500 MB`, in bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size (expected e.g. `4 GiB` or `500 MB`)");
    let parts = assay_model::duration::parts(text).ok_or_else(wrong)?;
    let [(number, unit)] = parts.as_slice() else { return Err(wrong()) };
    let factor = match *unit {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1024.0_f64.powi(2),
        "GiB" => 1024.0_f64.powi(3),
        "TiB" => 1024.0_f64.powi(4),
        "" => return Err(format!("`{text}` has no unit (expected e.g. `4 GiB`)")),
        _ => {
            return Err(format!(
                "`{unit}` is not a unit of size; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
            ));
        }
    };
    let bytes = (number * factor).round();
    match (1.0..9e18).contains(&bytes) {
        true => Ok(bytes as u64),
        false => Err(format!("`{text}` is out of range for a size")),
    }
}

/// Reads a share such as `2%` or `2 %`, as a fraction.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not a share (expected e.g. \"2%\" or 0.02)");
    let number =
        text.trim().strip_suffix('%').ok_or_else(wrong)?.trim().parse::<f64>().map_err(|_| wrong())?;
    check_share(number / 100.0)
}

/// Checks a share given as a fraction.
pub fn check_share(share: f64) -> Result<f64, String> {
    match share > 0.0 && share <= 1.0 {
        true => Ok(share),
        false => Err(format!("{} is not a share above 0% and up to 100%", show_share(share))),
    }
}

/// Seconds for people: `250 ms`, `30 s`, `15 min`, `1 h 30 min`.
pub fn show_duration(seconds: f64) -> String {
    if seconds < 1.0 {
        return format!("{} ms", trimmed(seconds * 1e3));
    }
    if !(60.0..1e12).contains(&seconds) {
        return format!("{} s", trimmed(seconds));
    }
    let whole = seconds.round() as u64;
    let parts = [(whole / 3600, "h"), (whole % 3600 / 60, "min"), (whole % 60, "s")];
    let shown: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    shown.join(" ")
}

/// Bytes for people, in binary units where they come out even or large.
pub fn show_size(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(scale, _)| bytes >= *scale) {
        Some((scale, unit)) => format!("{} {unit}", trimmed(bytes as f64 / *scale as f64)),
        None => format!("{bytes} B"),
    }
}

/// A fraction as a percentage.
pub fn show_share(share: f64) -> String {
    format!("{}%", trimmed(share * 100.0))
}

/// At most two digits after the point, no trailing zeros.
fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_read_as_people_write_them() {
        assert_eq!(parse_duration("90 s"), Ok(90.0));
        assert_eq!(parse_duration("5min"), Ok(300.0));
        assert_eq!(parse_duration("1 h 30 min"), Ok(5400.0));
        assert_eq!(parse_duration("250 ms"), Ok(0.25));
        for wrong in
            ["", "90", "s", "5 parsecs", "0 s", "1 min 2 h", "-1 s", "1 s 1 s", "1e9 d", "99999999999 d"]
        {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_and_shares() {
        assert_eq!(parse_size("4 GiB"), Ok(4 << 30));
        assert_eq!(parse_size("500MB"), Ok(500_000_000));
        assert!(parse_size("4").is_err() && parse_size("4 gigs").is_err() && parse_size("1 B 2 B").is_err());
        assert_eq!(parse_share("2%"), Ok(0.02));
        assert!(parse_share("2").is_err() && parse_share("0%").is_err() && parse_share("300%").is_err());
    }

    #[test]
    fn quantities_are_shown_short() {
        assert_eq!(show_duration(0.25), "250 ms");
        assert_eq!(show_duration(900.0), "15 min");
        assert_eq!(show_duration(5430.0), "1 h 30 min 30 s");
        assert_eq!(show_size(4 << 30), "4 GiB");
        assert_eq!(show_size(100), "100 B");
        assert_eq!(show_share(0.025), "2.5%");
    }

    proptest! {
        #[test]
        fn shown_durations_read_back(minutes in 1_u32..100_000) {
            let seconds = f64::from(minutes) * 60.0;
            prop_assert_eq!(parse_duration(&show_duration(seconds)), Ok(seconds));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (parse_duration(&text), parse_size(&text), parse_share(&text));
        }
    }
}
