//! Timestamps in log lines. Logs write them in many ways, some without a date, some without a zone, and some mix
//! local time and UTC on one line; a stamp says what it lacks.

use jiff::civil::{Date, date};

/// A timestamp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp {
    /// Seconds since 1970 where there is a date, else since midnight.
    pub seconds: f64,
    /// Whether there is a date.
    pub dated: bool,
    /// Whether there is a zone.
    pub zoned: bool,
}

const DAY: f64 = 86_400.0;
const EPOCH: Date = date(1970, 1, 1);

impl Stamp {
    /// Seconds after another stamp. Stamps of which one lacks its date are taken to lie within a day, the later one
    /// after the earlier one.
    pub fn after(self, earlier: Stamp) -> f64 {
        if self.dated && earlier.dated {
            return self.seconds - earlier.seconds;
        }
        let difference = self.seconds.rem_euclid(DAY) - earlier.seconds.rem_euclid(DAY);
        // A clock that steps back a little is a clock that steps back; only half a day or more is a midnight.
        if difference < -DAY / 2.0 { difference + DAY } else { difference }
    }
}

/// Keys under which programs print when something was, as seconds since 1970.
const MOMENTS: [&str; 9] =
    ["ts", "t", "time", "timestamp", "wall time", "walltime", "unix time", "epoch time", "date"];

/// Whether a number without a unit under such words is a moment of the years 2008 to 2039 and no measurement: seconds
/// since 1970, or thousandths, millionths or billionths of them.
pub(crate) fn is_moment(spoken: &str, value: f64) -> bool {
    let recent = |scale: f64| (1.2e9..2.2e9).contains(&(value / scale));
    MOMENTS.contains(&spoken) && [1.0, 1e3, 1e6, 1e9].into_iter().any(recent)
}

/// The stamp at the start of a line, after blanks and an opening bracket.
pub fn leading(line: &[u8]) -> Option<Stamp> {
    let start = line.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'[' | b'('))?;
    let rest = line.get(start..)?;
    dated(rest).or_else(|| undated(rest)).map(|(stamp, _)| stamp)
}

/// The first stamp anywhere in a line. What a progress bar shows as elapsed or remaining is none.
pub fn find(line: &[u8]) -> Option<Stamp> {
    if let Some(stamp) = leading(line) {
        return Some(stamp);
    }
    memchr::memchr_iter(b':', line).find_map(|colon| {
        let hours = colon.checked_sub(2)?;
        let (stamp, length) = undated(line.get(hours..)?)?;
        let before = hours.checked_sub(1).and_then(|place| line.get(place));
        let behind = line.get(hours + length);
        if before.is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'<' | b':' | b'.'))
            || matches!(behind, Some(b'<' | b':'))
        {
            return None;
        }
        let date = hours.checked_sub(11).and_then(|place| dated(line.get(place..)?));
        Some(date.map_or(stamp, |(dated, _)| dated))
    })
}

/// `2024-03-30 14:09:43,663`, `2024-04-08T09:03:33.195878Z`, `2024/03/30 14:09:43`, with the bytes it takes.
fn dated(text: &[u8]) -> Option<(Stamp, usize)> {
    let separator = *text.get(4)?;
    if !matches!(separator, b'-' | b'/')
        || *text.get(7)? != separator
        || !matches!(text.get(10)?, b' ' | b'T')
    {
        return None;
    }
    let (year, month, day) = (digits(text, 0, 4)?, digits(text, 5, 2)?, digits(text, 8, 2)?);
    let (time, mut length) = undated(text.get(11..)?)?;
    length += 11;
    let (offset, zone) = zone(text.get(length..)?);
    let seconds = days(year, month, day)? as f64 * DAY + time.seconds;
    let stamp = Stamp { seconds: seconds - offset.unwrap_or(0.0), dated: true, zoned: offset.is_some() };
    Some((stamp, length + zone))
}

/// `14:09:43`, with a fraction behind a comma or a point.
fn undated(text: &[u8]) -> Option<(Stamp, usize)> {
    if *text.get(2)? != b':' || *text.get(5)? != b':' {
        return None;
    }
    let (hour, minute, second) = (digits(text, 0, 2)?, digits(text, 3, 2)?, digits(text, 6, 2)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut seconds = f64::from(hour * 3600 + minute * 60 + second);
    let mut length = 8;
    if matches!(text.get(8), Some(b',' | b'.')) {
        let mut scale = 0.1;
        let mut place = 9;
        while let Some(digit) = text.get(place).filter(|byte| byte.is_ascii_digit()) {
            seconds += f64::from(digit - b'0') * scale;
            scale *= 0.1;
            place += 1;
        }
        if place > 9 {
            length = place;
        }
    }
    Some((Stamp { seconds, dated: false, zoned: false }, length))
}

/// The offset in seconds of `Z`, `+00:00` or ` UTC`, and the bytes it takes.
fn zone(text: &[u8]) -> (Option<f64>, usize) {
    match text {
        [b'Z', ..] => (Some(0.0), 1),
        [b' ', b'U', b'T', b'C', ..] => (Some(0.0), 4),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let wide = rest.get(2) == Some(&b':');
            let minutes = digits(rest, if wide { 3 } else { 2 }, 2);
            match (digits(rest, 0, 2), minutes) {
                (Some(hours), Some(minutes)) => {
                    let seconds = f64::from(hours * 3600 + minutes * 60);
                    let signed = if *sign == b'-' { -seconds } else { seconds };
                    (Some(signed), if wide { 6 } else { 5 })
                }
                _ => (None, 0),
            }
        }
        _ => (None, 0),
    }
}

fn digits(text: &[u8], from: usize, count: usize) -> Option<u32> {
    text.get(from..from + count)?
        .iter()
        .try_fold(0_u32, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
}

/// Days since 1970-01-01. None for a date that no calendar has, such as the 31st of June.
pub(crate) fn days(year: u32, month: u32, day: u32) -> Option<i64> {
    let date =
        Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(date.duration_since(EPOCH).as_hours() / 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(text: &str) -> Option<f64> {
        find(text.as_bytes()).map(|stamp| stamp.seconds)
    }

    #[test]
    fn stamps_of_many_shapes_are_read() {
        assert_eq!(seconds("1970-01-02 00:00:01,500 INFO: x"), Some(86_401.5));
        assert_eq!(seconds("2024-03-30T15:16:33.5Z x"), Some(1_711_811_793.5));
        assert_eq!(seconds("2024-03-30 15:16:33+01:00"), Some(1_711_811_793.0 - 3600.0));
        assert_eq!(seconds("[09:01:59.25] [module] x"), Some(32_519.25));
        assert_eq!(seconds("9.3s/it]2024-04-09 15:30:00,864 - x"), seconds("2024-04-09 15:30:00,864"));
        assert_eq!(seconds("Time: 15:29 and more"), None);
    }

    #[test]
    fn a_bar_is_no_clock() {
        assert_eq!(seconds("  0%| | 1/2551 [00:09<6:35:57, 9.32s/it]"), None);
        assert_eq!(seconds(" 50%|##| 1/2 [01:00:09<02:35:57, 9.32s/it]"), None);
    }

    #[test]
    fn midnight_is_crossed_without_dates() {
        let stamp = |text: &str| leading(text.as_bytes()).unwrap();
        assert_eq!(stamp("00:00:10").after(stamp("23:59:50")), 20.0);
        assert_eq!(stamp("00:00:10").after(stamp("00:00:12")), -2.0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = find(&bytes);
        }

        #[test]
        fn a_printed_stamp_reads_back(day in 0_i64..40_000, second in 0_u32..86_400) {
            let seconds_of_day = (second / 3600, second / 60 % 60, second % 60);
            let (hour, minute, rest) = seconds_of_day;
            // Walk the calendar instead of inverting the formula.
            let (mut year, mut left) = (1970, day);
            let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            while left >= 365 + i64::from(leap(year)) {
                left -= 365 + i64::from(leap(year));
                year += 1;
            }
            let lengths = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let mut month = 0;
            while left >= lengths[month] {
                left -= lengths[month];
                month += 1;
            }
            let text = format!("{year:04}-{:02}-{:02} {hour:02}:{minute:02}:{rest:02}", month + 1, left + 1);
            prop_assert_eq!(seconds_of(&text), Some(day as f64 * DAY + f64::from(second)));
        }
    }

    fn seconds_of(text: &str) -> Option<f64> {
        leading(text.as_bytes()).map(|stamp| stamp.seconds)
    }
}
