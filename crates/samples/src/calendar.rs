//! Points in time as logs write them.

use assay_random::Random;

const MILLIS_OF_DAY: u64 = 86_400_000;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

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

    /// The parts. Counts in years that begin in March, so that the leap day is the last of its year.
    pub(crate) fn moment(self) -> Moment {
        let (days, time) = (self.millis / MILLIS_OF_DAY, self.millis % MILLIS_OF_DAY);
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Moment {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: time / 3_600_000,
            minute: time / 60_000 % 60,
            second: time / 1000 % 60,
            milli: time % 1000,
        }
    }

    /// `2024-03-30 14:09:43`.
    pub(crate) fn plain(self) -> String {
        let Moment { year, month, day, hour, minute, second, .. } = self.moment();
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
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
        let Moment { year, month, day, hour, minute, second, .. } = self.moment();
        let weekday = WEEKDAYS.get((self.day() % 7) as usize).copied().unwrap_or_default();
        let month = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
        format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
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
