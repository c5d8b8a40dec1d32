//! The one clock of a load: seconds since it began, on the monotonic clock. Kernel timestamps are on the real-time
//! clock and are converted by an offset that is sampled before every batch of reads, so that a step of the real-time
//! clock affects one batch at most.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of one second.
const SECOND_NS: i64 = 1_000_000_000;

/// The monotonic clock, from the beginning of a load, with the offset of the real-time clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Monotonic time of the beginning.
    began_ns: i64,
    /// Monotonic time minus real time.
    offset_ns: i64,
}

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Clock {
        Clock::since(monotonic_ns())
    }

    /// A clock that began at this time of the monotonic clock.
    pub fn since(began_ns: i64) -> Clock {
        Clock { began_ns, offset_ns: offset_ns() }
    }

    /// When the clock began, in nanoseconds of the monotonic clock, which all processes of a machine share.
    pub fn began_ns(&self) -> i64 {
        self.began_ns
    }

    /// Nanoseconds since the beginning.
    pub fn now_ns(&self) -> i64 {
        monotonic_ns() - self.began_ns
    }

    /// Seconds since the beginning.
    pub fn now_s(&self) -> f64 {
        seconds(self.now_ns())
    }

    /// Samples the offset of the real-time clock again, and gives the time since the beginning in nanoseconds.
    pub fn sample(&mut self) -> i64 {
        self.offset_ns = offset_ns();
        self.now_ns()
    }

    /// A time of the real-time clock as nanoseconds since the beginning.
    pub fn of_real_ns(&self, real_ns: i64) -> i64 {
        real_ns + self.offset_ns - self.began_ns
    }
}

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Seconds as nanoseconds.
pub fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// The monotonic clock in nanoseconds.
pub fn monotonic_ns() -> i64 {
    nanoseconds_of(ClockId::Monotonic)
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    nanoseconds_of(ClockId::ThreadCPUTime)
}

/// Monotonic time minus real time. A pause between the two readings would be taken for an offset, so the real-time
/// clock is read between two readings of the other, again if they differ too much.
fn offset_ns() -> i64 {
    let mut best = (i64::MAX, 0);
    for _ in 0..4 {
        let before = monotonic_ns();
        let real = nanoseconds_of(ClockId::Realtime);
        let after = monotonic_ns();
        best = best.min((after - before, before + (after - before) / 2 - real));
        if best.0 < 2_000 {
            break;
        }
    }
    best.1
}

fn nanoseconds_of(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * SECOND_NS + time.tv_nsec
}

/// Date and time in UTC, as `2026-01-31T12:00:00Z`.
pub fn date() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}

/// Nanoseconds since 1970 of what [`date`] wrote.
pub fn nanoseconds_of_date(date: &str) -> Option<i128> {
    date.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_nanosecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_tell_the_same_time() {
        let mut clock = Clock::start();
        let now = clock.sample();
        let stamp = clock.of_real_ns(nanoseconds_of(ClockId::Realtime));
        assert!((stamp - now).abs() < 50_000_000, "{stamp} {now}");
        assert!(clock.now_s() >= seconds(now));
        assert_eq!(nanoseconds(seconds(1_234_567_891)), 1_234_567_891);
    }
}
