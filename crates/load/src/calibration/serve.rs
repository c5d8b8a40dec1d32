//! The loop of the calibration endpoint: one thread that accepts, reads requests and writes what is due.

use std::collections::VecDeque;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::net::SocketFlags;

use super::connections::{Connections, Work};
use super::reply::{self, Asked, Replies, Reply, Then};
use super::request::{self, Parsed};
use super::schedule::{Close, MockSchedule};
use super::sends::Book;
use super::stream::StreamProgress;
use super::summary::CalibrationSummary;
use super::transport::Transport;
use super::wheel::{Timer, Wheel};
use crate::clock::{Clock, monotonic_ns};
use crate::pacer::Pacer;
use crate::socket::Socket;

/// How often the stop flag is looked at when nothing else happens.
const LOOK_NS: i64 = 20_000_000;
/// Marks of what is not a connection.
const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
/// A stamp of the kernel that is further away than this is wrong because of a step of the real-time clock.
const OLDEST_NS: i64 = 5_000_000_000;

/// The loop.
pub(super) struct Serve {
    listener: TcpListener,
    epoll: rustix::fd::OwnedFd,
    pacer: Pacer,
    armed_ns: i64,
    wheel: Wheel,
    clock: Clock,
    tls: Option<Arc<rustls::ServerConfig>>,
    replies: Replies,
    book: Book,
    summary: CalibrationSummary,
    /// Requests that are worked on, and how many may be.
    pub(super) in_flight: u32,
    pub(super) slots: u32,
    /// Connections whose requests wait for a slot, by place and generation.
    pub(super) waiting: VecDeque<(u32, u32)>,
    pub(super) connections: Connections,
    scratch: Vec<u8>,
}

impl Serve {
    pub(super) fn new(
        listener: TcpListener,
        schedule: MockSchedule,
        tls: Option<Arc<rustls::ServerConfig>>,
        book: Book,
        spin_ns: i64,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let pacer = Pacer::new(spin_ns)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let edge = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        // WorkloadEvent at each expiry, so the timer need not be read.
        epoll::add(&epoll, &pacer, epoll::EventData::new_u64(TIMER), edge)?;
        Ok(Self {
            listener,
            epoll,
            pacer,
            armed_ns: 0,
            wheel: Wheel::new(monotonic_ns()),
            clock: Clock::since(0),
            tls,
            slots: schedule.slots.unwrap_or(u32::MAX).max(1),
            waiting: VecDeque::new(),
            replies: Replies::new(schedule, book.is_open()),
            book,
            summary: CalibrationSummary::default(),
            in_flight: 0,
            connections: Connections::default(),
            scratch: Vec::new(),
        })
    }

    /// Serves until it is stopped.
    pub(super) fn run(mut self, stop: &AtomicBool) -> io::Result<CalibrationSummary> {
        let mut due = Vec::new();
        let mut events = Vec::with_capacity(1024);
        while !stop.load(Ordering::Relaxed) {
            let now = monotonic_ns();
            self.wheel.take(now, &mut due);
            for timer in due.drain(..) {
                self.fire(timer)?;
            }
            self.admit()?;
            let wait = self.wait_ns()?;
            let timeout = Timespec { tv_sec: 0, tv_nsec: wait };
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in events.drain(..) {
                let data = event.data;
                match data.u64() {
                    LISTENER => self.accept()?,
                    TIMER => {}
                    mark => self.ready(mark as u32, (mark >> 32) as u32, event.flags)?,
                }
            }
        }
        self.finish()
    }

    /// Keeps what unfinished streams have sent, and ends.
    fn finish(mut self) -> io::Result<CalibrationSummary> {
        for place in self.connections.places() {
            self.end_work(place, false)?;
        }
        self.summary.streams = self.book.close()?;
        Ok(self.summary)
    }

    /// How long to wait for sockets, with the timer armed for what is due later.
    fn wait_ns(&mut self) -> io::Result<i64> {
        let Some(due) = self.wheel.next_due() else { return Ok(LOOK_NS) };
        if self.pacer.is_close(due, monotonic_ns()) {
            return Ok(0);
        }
        if self.armed_ns != due {
            self.pacer.arm(due)?;
            self.armed_ns = due;
        }
        Ok(LOOK_NS)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let descriptor = match rustix::net::accept_with(&self.listener, flags) {
                Ok(descriptor) => descriptor,
                // Out of descriptors: those that wait are accepted when others have gone.
                Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE | rustix::io::Errno::AGAIN) => {
                    return Ok(());
                }
                // The client has gone already.
                Err(rustix::io::Errno::CONNABORTED | rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let Ok(transport) =
                Socket::accepted(descriptor).and_then(|socket| Transport::new(socket, self.tls.as_ref()))
            else {
                continue;
            };
            let (place, generation) = self.connections.insert(transport);
            let Some(connection) = self.connections.at(place) else { continue };
            let mark = u64::from(generation) << 32 | u64::from(place);
            let flags = epoll::EventFlags::IN
                | epoll::EventFlags::OUT
                | epoll::EventFlags::RDHUP
                | epoll::EventFlags::ET;
            epoll::add(&self.epoll, &connection.transport, epoll::EventData::new_u64(mark), flags)?;
            self.summary.connections += 1;
        }
    }

    /// A connection can be read or written.
    fn ready(&mut self, place: u32, generation: u32, flags: epoll::EventFlags) -> io::Result<()> {
        let Some(connection) = self.connections.find(place, generation) else { return Ok(()) };
        if flags.contains(epoll::EventFlags::OUT) && !connection.transport.is_clear() {
            match connection.transport.flush() {
                Ok(false) => {}
                Ok(true) if connection.close && matches!(connection.work, Work::Idle) => {
                    return self.close(place);
                }
                // What is due by now is sent in the next turn.
                Ok(true) => {
                    if let Work::Stream(_) = connection.work {
                        self.wheel.insert(Timer { due_ns: 0, slot: place, generation });
                    }
                }
                Err(_) => return self.close(place),
            }
        }
        let readable = epoll::EventFlags::IN
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::HUP
            | epoll::EventFlags::ERR;
        if !flags.intersects(readable) {
            return Ok(());
        }
        let Some(connection) = self.connections.find(place, generation) else { return Ok(()) };
        let Ok(arrival) = connection.transport.read(&mut connection.input) else { return self.close(place) };
        if let Some(real_ns) = arrival.real_ns {
            let now = self.clock.sample();
            let stamp = self.clock.of_real_ns(real_ns);
            connection.arrived_ns = if (now - OLDEST_NS..=now).contains(&stamp) { stamp } else { now };
        } else if !arrival.ended {
            connection.arrived_ns = monotonic_ns();
        }
        if arrival.ended {
            return self.close(place);
        }
        self.read_requests(place)
    }

    /// Answers the requests that have arrived whole, one after the other.
    pub(super) fn read_requests(&mut self, place: u32) -> io::Result<()> {
        while let Some(connection) = self.connections.at(place) {
            if !matches!(connection.work, Work::Idle) || connection.input.is_empty() || connection.close {
                return Ok(());
            }
            let bytes = match request::parse(&connection.input) {
                Parsed::Partial { wants_continue } => {
                    let continues = wants_continue && !connection.was_continued;
                    connection.was_continued |= continues;
                    if continues && connection.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n").is_err() {
                        return self.close(place);
                    }
                    return Ok(());
                }
                Parsed::Bad(status, message) => {
                    connection.close = true;
                    reply::error(status, message, None, true)
                }
                Parsed::Whole(..) if connection.is_used && self.replies.close() == Close::Unannounced => {
                    return self.close(place);
                }
                Parsed::Whole(request, used) => {
                    connection.input.drain(..used);
                    connection.was_continued = false;
                    match self.begin(place, request)? {
                        Some(bytes) => bytes,
                        None => continue,
                    }
                }
            };
            self.write_answer(place, &bytes)?;
        }
        Ok(())
    }

    /// Begins to answer a request. Gives the bytes of an answer that is complete at once.
    pub(super) fn begin(
        &mut self,
        place: u32,
        request: Box<request::ParsedRequest>,
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(connection) = self.connections.at(place) else { return Ok(None) };
        if request.body.is_some() && self.in_flight >= self.slots {
            self.waiting.push_back((place, connection.generation));
            connection.work = Work::Waiting(request);
            return Ok(None);
        }
        let number = self.summary.requests + u64::from(request.body.is_some());
        let asked = Asked { request: &request, number, place, arrived_ns: connection.arrived_ns };
        let reply = self.replies.reply(&asked, &self.summary, self.in_flight);
        self.summary.requests = number;
        connection.close |= request.close || self.replies.close() == Close::Announced;
        connection.is_used = true;
        let generation = connection.generation;
        let work = match reply {
            Reply::Now(bytes) => {
                self.summary.answers += u64::from(request.body.is_some());
                return Ok(Some(bytes));
            }
            Reply::Silence => Work::Silence,
            Reply::Later(later) => {
                self.wheel.insert(Timer { due_ns: later.due_ns, slot: place, generation });
                Work::Later(later)
            }
            Reply::Stream(stream) => Work::Stream(stream),
        };
        connection.work = work;
        self.in_flight += 1;
        self.summary.most_in_flight = self.summary.most_in_flight.max(self.in_flight);
        if let Work::Stream(stream) = &mut connection.work {
            let progress = stream.begin(&mut connection.transport, &mut self.summary);
            self.follow(place, generation, progress)?;
        }
        Ok(None)
    }

    /// Something of a connection is due.
    fn fire(&mut self, timer: Timer) -> io::Result<()> {
        let Timer { slot: place, generation, .. } = timer;
        let Some(connection) = self.connections.find(place, generation) else { return Ok(()) };
        match &mut connection.work {
            Work::Stream(stream) => {
                // A full socket is waited for; its being writable again brings the stream back.
                if !connection.transport.is_clear() {
                    return Ok(());
                }
                let progress = stream.go_on(&mut connection.transport, &mut self.scratch, &mut self.summary);
                self.follow(place, generation, progress)
            }
            Work::Later(later) => {
                let (bytes, then) = (std::mem::take(&mut later.bytes), later.then);
                if then == Then::Stall {
                    connection.work = Work::Silence;
                } else {
                    self.end_work(place, true)?;
                }
                self.write_answer(place, &bytes)?;
                match then {
                    Then::Next => self.read_requests(place),
                    Then::Cut => self.close(place),
                    Then::Reset => self.reset(place),
                    Then::Stall => Ok(()),
                }
            }
            Work::Idle | Work::Waiting(_) | Work::Silence => Ok(()),
        }
    }

    /// Goes on after a stream has sent something.
    fn follow(
        &mut self,
        place: u32,
        generation: u32,
        progress: io::Result<StreamProgress>,
    ) -> io::Result<()> {
        match progress {
            Ok(StreamProgress::Due(due_ns)) => self.wheel.insert(Timer { due_ns, slot: place, generation }),
            Ok(StreamProgress::Blocked) => {}
            Ok(StreamProgress::Never) => {
                if let Some(connection) = self.connections.at(place)
                    && let Work::Stream(stream) = std::mem::replace(&mut connection.work, Work::Silence)
                {
                    self.book.keep(stream.sends)?;
                }
            }
            Ok(StreamProgress::Ended) => {
                self.end_work(place, true)?;
                self.close_if_asked(place)?;
                self.read_requests(place)?;
            }
            Ok(StreamProgress::Cut) => {
                self.end_work(place, true)?;
                self.close_roughly(place);
            }
            Ok(StreamProgress::Reset) => {
                self.end_work(place, true)?;
                self.reset(place)?;
            }
            Err(_) => self.close(place)?,
        }
        Ok(())
    }

    /// Writes an answer that is complete, and closes if that was asked for.
    pub(super) fn write_answer(&mut self, place: u32, bytes: &[u8]) -> io::Result<()> {
        let Some(connection) = self.connections.at(place) else { return Ok(()) };
        if connection.transport.write(bytes).is_err() {
            return self.close(place);
        }
        self.close_if_asked(place)
    }

    /// Closes a connection that was to end with its answer, unless part of that waits still.
    fn close_if_asked(&mut self, place: u32) -> io::Result<()> {
        match self.connections.at(place) {
            Some(connection) if connection.close && connection.transport.is_clear() => self.close(place),
            _ => Ok(()),
        }
    }

    /// The work of a connection is over: as planned, or because the client has gone.
    fn end_work(&mut self, place: u32, planned: bool) -> io::Result<()> {
        let Some(connection) = self.connections.at(place) else { return Ok(()) };
        let work = std::mem::replace(&mut connection.work, Work::Idle);
        match work {
            Work::Idle => return Ok(()),
            Work::Waiting(_) => {}
            Work::Stream(_) | Work::Later(_) | Work::Silence => self.in_flight -= 1,
        }
        if planned {
            self.summary.answers += 1;
        } else {
            self.summary.abandoned += 1;
        }
        if let Work::Stream(stream) = work {
            self.book.keep(stream.sends)?;
        }
        Ok(())
    }

    /// Closes a connection.
    fn close(&mut self, place: u32) -> io::Result<()> {
        self.end_work(place, false)?;
        if let Some(connection) = self.connections.at(place) {
            connection.transport.close();
        }
        self.close_roughly(place);
        Ok(())
    }

    /// Closes a connection without a word.
    fn close_roughly(&mut self, place: u32) {
        self.connections.remove(place);
    }

    fn reset(&mut self, place: u32) -> io::Result<()> {
        if let Some(connection) = self.connections.at(place) {
            // A system that refuses closes the connection properly, which is a cut all the same.
            let _ = connection.transport.reset_on_close();
        }
        self.close_roughly(place);
        Ok(())
    }
}
