//! Waiting for an absolute moment, to within a fraction of a millisecond.
//!
//! A timer of the kernel wakes a thread late by its slack (50 µs unless lowered) and by the time the scheduler takes.
//! The pacer sets the slack to the smallest one, lets the timer go off a little early and spins for the rest. Moments
//! are absolute, so an error never adds up. It offers its timer as a file descriptor, for an event loop that waits for
//! sockets as well, and a plain blocking wait.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::clock::monotonic_ns;

/// How long to spin before a moment, unless set otherwise: in a virtual machine a sleeping thread may be woken a good part
/// of a millisecond late.
pub const SPIN_NS: i64 = 300_000;

/// Waits for absolute moments of the monotonic clock.
#[derive(Debug)]
pub struct Pacer {
    timer: OwnedFd,
    spin_ns: i64,
}

impl Pacer {
    /// A pacer for the calling thread, whose timer slack is set to one nanosecond. It spins for at most `spin_ns`
    /// before a moment; 0 leaves everything to the timer.
    pub fn new(spin_ns: i64) -> io::Result<Self> {
        // A system that refuses this only wakes later, which the spinning may still make up for.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self { timer: timerfd_create(TimerfdClockId::Monotonic, flags)?, spin_ns })
    }

    /// Makes the file descriptor ready shortly before `moment_ns`: early by the time that is left for spinning.
    /// A moment that has passed makes it ready at once. Arming again takes the place of what was armed before.
    pub fn arm(&self, moment_ns: i64) -> io::Result<()> {
        // Zero would disarm the timer.
        let at = (moment_ns - self.spin_ns).max(1);
        let value = Timespec { tv_sec: at / 1_000_000_000, tv_nsec: at % 1_000_000_000 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Makes the file descriptor never ready, until armed again.
    pub fn disarm(&self) -> io::Result<()> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(
            &self.timer,
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: zero, it_value: zero },
        )?;
        Ok(())
    }

    /// Spins until `moment_ns` if it is close enough. Gives the time now: below `moment_ns` if it is still too far.
    pub fn spin(&self, moment_ns: i64) -> i64 {
        let mut now = monotonic_ns();
        while now < moment_ns && moment_ns - now <= self.spin_ns {
            std::hint::spin_loop();
            now = monotonic_ns();
        }
        now
    }

    /// Whether `moment_ns` is so close that [`Pacer::spin`] would wait for it.
    pub fn is_close(&self, moment_ns: i64, now_ns: i64) -> bool {
        moment_ns <= now_ns.saturating_add(self.spin_ns)
    }

    /// Blocks until `moment_ns`. Gives the time now.
    pub fn wait(&self, moment_ns: i64) -> io::Result<i64> {
        loop {
            let now = self.spin(moment_ns);
            if now >= moment_ns {
                return Ok(now);
            }
            self.arm(moment_ns)?;
            let mut ready = [rustix::event::PollFd::new(&self.timer, rustix::event::PollFlags::IN)];
            match rustix::event::poll(&mut ready, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Pacer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_never_come_early() {
        let pacer = Pacer::new(SPIN_NS).unwrap();
        let begin = monotonic_ns();
        for step in 1..=50 {
            let moment = begin + step * 300_000;
            assert!(pacer.wait(moment).unwrap() >= moment);
        }
    }

    #[test]
    fn a_moment_that_has_passed_is_at_once() {
        let pacer = Pacer::new(0).unwrap();
        let before = monotonic_ns();
        assert!(pacer.wait(before - 1_000_000).unwrap() >= before);
        pacer.arm(0).unwrap();
        let mut ready = [rustix::event::PollFd::new(&pacer, rustix::event::PollFlags::IN)];
        assert_eq!(rustix::event::poll(&mut ready, Some(&Timespec { tv_sec: 5, tv_nsec: 0 })).unwrap(), 1);
    }

    #[test]
    fn only_close_moments_are_spun_for() {
        let pacer = Pacer::new(1_000).unwrap();
        let far = monotonic_ns() + 3_600_000_000_000;
        assert!(pacer.spin(far) < far);
        assert!(pacer.is_close(5_000, 4_000));
        assert!(!pacer.is_close(5_001, 4_000));
    }
}
