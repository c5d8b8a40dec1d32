//! The loop of one thread: it waits until sockets are ready or something is due.
//!
//! Because the kernel stamps bytes when they arrive, nobody needs to be woken for every token. While many sockets are
//! busy the loop sleeps for a short, fixed time and then reads all that are ready in one go; that saves most wake-ups.
//! The time must stay below the gap between two packets of one socket, for of packets that wait together only the last
//! stamp is left. So the loop learns the smallest gaps and stays at two thirds of them, and never sleeps longer than one
//! and a half milliseconds. While little goes on it waits for the sockets themselves. A thread that needs most of its
//! core gathers longer, if that saves reads: it would be late anyway, and fewer reads let it keep up; what is merged by
//! that is counted.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::pacer::{Pacer, SPIN_NS};

/// The longest time between two rounds of reading.
const LONGEST_TICK_NS: i64 = 1_500_000;
/// The longest time of a thread that can hardly keep up.
const STRETCHED_TICK_NS: i64 = 4_000_000;
/// How often a thread looks at how much of its core it needs.
const CORE_USE_NS: i64 = 20_000_000;
/// Below this, sleeping costs more than it saves.
const SHORTEST_TICK_NS: i64 = 100_000;
/// The longest that the loop waits, so that a request to stop is seen soon.
const LONGEST_WAIT_NS: i64 = 50_000_000;
/// Sockets that are reported at a time.
const EVENTS: usize = 1024;
/// The name of the timer among the sockets.
const TIMER: u64 = u64::MAX;

/// A socket that is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ready {
    /// The name it was registered with.
    pub name: u64,
    /// It can be read, or has ended or failed, which reading shows.
    pub readable: bool,
    /// It can be written.
    pub writable: bool,
    /// The other side has said its last, or the connection broke.
    pub ended: bool,
}

/// Waits for sockets and for moments.
pub(crate) struct Reactor {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    pacer: Pacer,
    /// What the timer is set to.
    armed_ns: Option<i64>,
    gap: Gap,
    core_use: CoreUse,
    /// When the last round of reading began.
    round_ns: i64,
    /// Sockets that were ready in the last round.
    busy: usize,
    /// How long the thread has waited awake, with nothing to do.
    spun_ns: i64,
}

impl Reactor {
    /// A loop without sockets.
    pub(crate) fn new() -> io::Result<Reactor> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let pacer = Pacer::new(SPIN_NS)?;
        epoll::add(&epoll, pacer.as_fd(), epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
        Ok(Reactor {
            epoll,
            events: Vec::with_capacity(EVENTS),
            pacer,
            armed_ns: None,
            gap: Gap::default(),
            core_use: CoreUse::default(),
            round_ns: 0,
            busy: 0,
            spun_ns: 0,
        })
    }

    /// Watches a socket, for writing too if asked.
    pub(crate) fn watch(&self, socket: BorrowedFd<'_>, name: u64, writable: bool) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(name), flags(writable))?)
    }

    /// Changes whether a socket is watched for writing.
    pub(crate) fn watch_again(&self, socket: BorrowedFd<'_>, name: u64, writable: bool) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, epoll::EventData::new_u64(name), flags(writable))?)
    }

    /// Learns the time between two reads of a socket that brought some pieces.
    pub(crate) fn learn(&mut self, between_ns: i64, pieces: u32) {
        self.gap.learn(between_ns / i64::from(pieces.max(1)));
    }

    /// Learns how long a whole request took, so that short ones are not made longer by waiting.
    pub(crate) fn learn_request(&mut self, took_ns: i64) {
        self.gap.learn(took_ns / 10);
    }

    /// Waits until a socket is ready or `due_ns` of the monotonic clock has come, and appends what is ready.
    pub(crate) fn wait(&mut self, due_ns: Option<i64>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let now = monotonic_ns();
        let tick = match self.gap.is_long() {
            true => self.gap.tick_ns(),
            false => self.core_use.stretched(self.gap.tick_ns(), now),
        };
        let due = due_ns.unwrap_or(i64::MAX).min(now + LONGEST_WAIT_NS);
        let gathers = self.busy >= 2 && tick > 0;
        let timeout = if gathers {
            // What is due must not be late: the sleep ends a little before it.
            let end = (self.round_ns + tick).min(due - SPIN_NS);
            if end > now {
                sleep_until(end)?;
            }
            Some(Timespec { tv_sec: 0, tv_nsec: 0 })
        } else if self.pacer.is_close(due, now) {
            Some(Timespec { tv_sec: 0, tv_nsec: 0 })
        } else {
            // A timer that goes off too early does no harm, and setting it again would cost a call each time.
            if self.armed_ns.is_none_or(|armed| armed > due) {
                self.pacer.arm(due)?;
                self.armed_ns = Some(due);
            }
            None
        };
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.take(ready);
        if ready.is_empty() && due_ns.is_some() {
            self.spun_ns += self.pacer.spin(due) - self.round_ns;
        }
        Ok(())
    }

    /// How long the thread has waited awake: CPU time that it did not need.
    pub(crate) fn spun_ns(&self) -> i64 {
        self.spun_ns
    }

    fn take(&mut self, ready: &mut Vec<Ready>) {
        self.round_ns = monotonic_ns();
        self.busy = 0;
        for event in &self.events {
            let (name, flags) = (event.data.u64(), event.flags);
            if name == TIMER {
                // A timer that has gone off stays ready until it is set again.
                self.armed_ns = None;
                let _ = self.pacer.disarm();
                continue;
            }
            self.busy += 1;
            let ended = epoll::EventFlags::HUP | epoll::EventFlags::ERR | epoll::EventFlags::RDHUP;
            ready.push(Ready {
                name,
                readable: flags.intersects(epoll::EventFlags::IN | ended),
                writable: flags.intersects(epoll::EventFlags::OUT),
                ended: flags.intersects(ended),
            });
        }
    }
}

/// A socket is reported when something comes and not again while it is there, which saves a look at every socket that
/// was read: whoever reads less than everything has to remember.
fn flags(writable: bool) -> epoll::EventFlags {
    let read = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    if writable { read | epoll::EventFlags::OUT } else { read }
}

fn sleep_until(moment_ns: i64) -> io::Result<()> {
    let moment = Timespec { tv_sec: moment_ns / 1_000_000_000, tv_nsec: moment_ns % 1_000_000_000 };
    match clock_nanosleep_absolute(ClockId::Monotonic, &moment) {
        Ok(()) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The small gaps between packets of one socket: an estimate that follows shorter gaps quickly and longer ones slowly.
#[derive(Debug)]
struct Gap {
    low_ns: i64,
}

impl Default for Gap {
    /// Nothing has been seen: begin carefully, without gathering.
    fn default() -> Gap {
        Gap { low_ns: SHORTEST_TICK_NS }
    }
}

impl Gap {
    fn learn(&mut self, gap_ns: i64) {
        let difference = gap_ns.min(20 * LONGEST_TICK_NS) - self.low_ns;
        self.low_ns +=
            if difference < 0 { difference / 4 } else { (difference / 64).min(LONGEST_TICK_NS / 24) };
    }

    /// Whether gathering longer would bring no more in one read.
    fn is_long(&self) -> bool {
        self.low_ns > STRETCHED_TICK_NS
    }

    /// How long to gather; 0 if that is not worth it.
    fn tick_ns(&self) -> i64 {
        let tick = (self.low_ns * 2 / 3).min(LONGEST_TICK_NS);
        if tick < SHORTEST_TICK_NS { 0 } else { tick }
    }
}

/// How much of its core the thread needs, and how much longer it gathers because of that.
#[derive(Debug, Default)]
struct CoreUse {
    since_ns: i64,
    used_ns: i64,
    /// The gathering time is doubled so often.
    doublings: u32,
}

impl CoreUse {
    /// A gathering time, made longer if the thread can hardly keep up.
    fn stretched(&mut self, tick_ns: i64, now_ns: i64) -> i64 {
        if now_ns - self.since_ns >= CORE_USE_NS {
            // The time that the thread ran, and not the time that passed: another program on the same core is no reason.
            let used = thread_cpu_ns();
            self.weigh(used - self.used_ns, now_ns - self.since_ns);
            (self.since_ns, self.used_ns) = (now_ns, used);
        }
        match self.doublings {
            0 => tick_ns,
            doublings => (tick_ns.max(SHORTEST_TICK_NS) << doublings).min(STRETCHED_TICK_NS),
        }
    }

    fn weigh(&mut self, used_ns: i64, passed_ns: i64) {
        if used_ns * 2 > passed_ns {
            self.doublings = (self.doublings + 1).min(5);
        } else if used_ns * 5 < passed_ns {
            self.doublings = self.doublings.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_tick_stays_below_the_smallest_gaps() {
        let mut gap = Gap::default();
        assert_eq!(gap.tick_ns(), 0);
        (0..500).for_each(|_| gap.learn(20_000_000));
        assert_eq!(gap.tick_ns(), LONGEST_TICK_NS);
        (0..40).for_each(|_| gap.learn(600_000));
        assert!((390_000..440_000).contains(&gap.tick_ns()), "{}", gap.tick_ns());
        (0..40).for_each(|_| gap.learn(5_000));
        assert_eq!(gap.tick_ns(), 0);
        // One short gap among long ones, as at the end of a stream, is no reason to read all the time.
        (0..500).for_each(|_| gap.learn(2_000_000));
        gap.learn(0);
        assert!(gap.tick_ns() > 500_000, "{}", gap.tick_ns());
    }

    #[test]
    fn a_thread_that_can_hardly_keep_up_gathers_longer() {
        let mut core_use = CoreUse::default();
        core_use.weigh(80, 100);
        core_use.weigh(80, 100);
        core_use.since_ns = 1;
        assert_eq!(core_use.stretched(0, 2), 4 * SHORTEST_TICK_NS);
        assert_eq!(core_use.stretched(LONGEST_TICK_NS, 2), STRETCHED_TICK_NS);
        core_use.weigh(30, 100);
        assert_eq!(core_use.doublings, 2);
        (0..5).for_each(|_| core_use.weigh(10, 100));
        assert_eq!(core_use.stretched(0, 2), 0);
    }

    #[test]
    fn moments_and_sockets_end_the_waiting() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut reactor = Reactor::new().unwrap();
        reactor.watch(near.as_fd(), 7, false).unwrap();
        let mut ready = Vec::new();
        for _ in 0..3 {
            let due = monotonic_ns() + 3_000_000;
            while monotonic_ns() < due {
                reactor.wait(Some(due), &mut ready).unwrap();
            }
            assert_eq!(ready, []);
        }
        far.write_all(b"x").unwrap();
        reactor.wait(None, &mut ready).unwrap();
        assert_eq!(ready, [Ready { name: 7, readable: true, writable: false, ended: false }]);
        ready.clear();
        reactor.watch_again(near.as_fd(), 7, true).unwrap();
        reactor.wait(None, &mut ready).unwrap();
        assert!(ready[0].writable);
    }
}
