//! Points in time as people read them.

/// Seconds since 1970 UTC as `2026-03-01 12:34:56 UTC`; the number itself where that is beyond the calendar.
pub fn utc(seconds: f64) -> String {
    if !(0.0..=253_402_300_799.0).contains(&seconds) {
        return format!("{seconds} s after 1970");
    }
    let whole = seconds as u64;
    let (days, second) = (whole / 86_400, whole % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of a day counted from 1970-01-01. Counts in years that begin in March, so that the leap
/// day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / DAYS_OF_400_YEARS, shifted % DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_are_right() {
        assert_eq!(utc(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400.0), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_772_368_496.7), "2026-03-01 12:34:56 UTC");
        assert_eq!(utc(253_402_300_799.0), "9999-12-31 23:59:59 UTC");
        assert_eq!(utc(-1.0), "-1 s after 1970");
    }
}
