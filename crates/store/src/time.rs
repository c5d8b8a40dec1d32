//! Points in time as people read them.

use jiff::Timestamp;

/// Seconds since 1970 UTC as `2026-03-01 12:34:56 UTC`; the number itself where that is beyond the calendar.
pub fn utc(seconds: f64) -> String {
    match Timestamp::from_second(seconds.floor() as i64) {
        Ok(at) if seconds.is_finite() && seconds >= 0.0 => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        _ => format!("{seconds} s after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_are_right() {
        assert_eq!(utc(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400.0), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_772_368_496.7), "2026-03-01 12:34:56 UTC");
        assert_eq!(utc(253_400_000_000.0), "9999-12-05 08:53:20 UTC");
        assert_eq!(utc(f64::NAN), "NaN s after 1970");
        assert_eq!(utc(1e15), "1000000000000000 s after 1970");
        assert_eq!(utc(-1.0), "-1 s after 1970");
    }
}
