//! Points in time as logs write them.

use assay_random::Random;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const MILLIS_OF_DAY: u64 = 86_400_000;

/// A clock that only goes forward, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Clock {
    millis: u64,
    /// What is left over below a millisecond, so that many short steps do not lose time.
    rest: f64,
}

/// A point in time taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    pub(crate) milli: u64,
}

impl Clock {
    /// Some working hour of 2024 or 2025.
    pub(crate) fn some(random: &mut Random) -> Self {
        const START_OF_2024: u64 = 1_704_067_200_000;
        let day = random.below(700);
        let time = random.whole(7 * 3_600_000, 17 * 3_600_000);
        Self { millis: START_OF_2024 + day * MILLIS_OF_DAY + time, rest: 0.0 }
    }

    /// Lets `seconds` pass.
    pub(crate) fn pass(&mut self, seconds: f64) {
        let passed = seconds.max(0.0) * 1000.0 + self.rest;
        let whole = passed.floor();
        self.millis += whole as u64;
        self.rest = passed - whole;
    }

    /// The point in time `seconds` later.
    pub(crate) fn after(mut self, seconds: f64) -> Self {
        self.pass(seconds);
        self
    }

    /// Seconds since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> f64 {
        (self.millis as f64 - earlier.millis as f64 + self.rest - earlier.rest) / 1000.0
    }

    /// Milliseconds since 1970.
    pub(crate) fn millis(self) -> u64 {
        self.millis
    }

    /// Whole days since 1970.
    pub(crate) fn day(self) -> u64 {
        self.millis / MILLIS_OF_DAY
    }

    /// The point in time in the civil calendar, in UTC.
    fn civil(self) -> DateTime {
        let timestamp = Timestamp::from_millisecond(self.millis as i64).unwrap_or_default();
        TimeZone::UTC.to_datetime(timestamp)
    }

    pub(crate) fn moment(self) -> Moment {
        let civil = self.civil();
        Moment {
            year: civil.year() as u64,
            month: civil.month() as u64,
            day: civil.day() as u64,
            hour: civil.hour() as u64,
            minute: civil.minute() as u64,
            second: civil.second() as u64,
            milli: civil.millisecond() as u64,
        }
    }

    /// `2024-03-30 14:09:43`.
    pub(crate) fn plain(self) -> String {
        self.civil().strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// `2024-03-30T14:09:43`, as Slurm writes it.
    pub(crate) fn slurm(self) -> String {
        self.plain().replacen(' ', "T", 1)
    }

    /// `2024-03-30T14:09:43.123456Z`; the microseconds beyond the milliseconds are made up from the seconds.
    pub(crate) fn iso(self) -> String {
        let Moment { second, milli, .. } = self.moment();
        format!("{}.{milli:03}{:03}Z", self.slurm(), (milli * 7 + second * 13) % 1000)
    }

    /// `14:09:43.663`.
    pub(crate) fn time_of_day(self) -> String {
        let Moment { hour, minute, second, milli, .. } = self.moment();
        format!("{hour:02}:{minute:02}:{second:02}.{milli:03}")
    }

    /// `Sat Mar 30 14:09:43 2024`.
    pub(crate) fn unix(self) -> String {
        self.civil().strftime("%a %b %e %H:%M:%S %Y").to_string()
    }
}

/// `1:02:03`, or `2 days, 1:02:03`: a span as Python writes it.
pub(crate) fn python_span(target: &mut Vec<u8>, seconds: f64) {
    let seconds = seconds.max(0.0) as u64;
    let days = seconds / 86_400;
    if days > 0 {
        crate::number::whole(target, days, 1);
        target.extend_from_slice(if days == 1 { b" day, " } else { b" days, " });
    }
    crate::number::whole(target, seconds % 86_400 / 3600, 1);
    target.push(b':');
    crate::number::whole(target, seconds / 60 % 60, 2);
    target.push(b':');
    crate::number::whole(target, seconds % 60, 2);
}

/// `01:02:03`, or `2-01:02:03`: a span as Slurm writes it.
pub(crate) fn slurm_span(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    match seconds / 86_400 {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        days => format!("{days}-{hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_right() {
        let clock = Clock { millis: 1_711_807_783_663, rest: 0.0 };
        assert_eq!(clock.plain(), "2024-03-30 14:09:43");
        assert_eq!(clock.slurm(), "2024-03-30T14:09:43");
        assert_eq!(clock.unix(), "Sat Mar 30 14:09:43 2024");
        assert_eq!(clock.time_of_day(), "14:09:43.663");
        let leap = Clock { millis: 951_782_400_000, rest: 0.0 };
        assert_eq!(leap.plain(), "2000-02-29 00:00:00");
    }

    #[test]
    fn short_steps_lose_no_time() {
        let start = Clock { millis: 0, rest: 0.0 };
        let mut clock = start;
        for _ in 0..10_000 {
            clock.pass(0.000_3);
        }
        assert!((clock.since(start) - 3.0).abs() < 0.001);
        clock.pass(-1.0);
        assert!(clock.since(start) >= 2.999);
    }

    #[test]
    fn spans_are_written_as_python_and_slurm_do() {
        let mut text = Vec::new();
        python_span(&mut text, 90_061.9);
        assert_eq!(text, b"1 day, 1:01:01");
        assert_eq!(slurm_span(3661.0), "01:01:01");
        assert_eq!(slurm_span(176_461.0), "2-01:01:01");
    }
}
