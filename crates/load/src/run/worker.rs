//! One thread of a load: connections, and the requests on them.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::schedule::{RequestSchedule, ScheduledRequest};
use super::slot::{Request, Round, Slot, name, note};
use super::tally::{EvenSample, thin};
use super::{Common, LoadError};
use crate::clock::{nanoseconds, seconds, thread_cpu_ns};
use crate::connection::{Connection, Shared};
use crate::exchange::{Buffers, Flight, Keeping, RequestEnd};
use crate::fault::{Fault, FaultKind};
use crate::reactor::{Reactor, Ready};
use crate::record::{Exchange, Health};

/// How often deadlines are looked at and samples are taken.
const CHORES_NS: i64 = 20_000_000;
/// Bytes of answers that all streams of a thread together may gather before they are looked at.
const GATHERED_BYTES: usize = 4 << 20;

/// Does the part of one thread.
pub(super) fn work(common: &Common<'_>, thread: usize) -> Result<Health, LoadError> {
    let mut worker = Worker::new(common, thread)?;
    worker.run()?;
    Ok(worker.health())
}

struct Worker<'a> {
    common: &'a Common<'a>,
    thread: usize,
    shared: Rc<Shared>,
    reactor: Reactor,
    schedule: RequestSchedule<'a>,
    slots: Vec<Option<Box<Slot>>>,
    free: Vec<usize>,
    /// Connections without a request, for each endpoint.
    idle: Vec<Vec<(usize, u32)>>,
    generation: u32,
    in_flight: usize,
    most_in_flight: usize,
    keeping: Keeping,
    buffers: Vec<Buffers>,
    health: Health,
    client_lag: EvenSample,
    schedule_lag: EvenSample,
    chores_ns: i64,
}

impl<'a> Worker<'a> {
    fn new(common: &'a Common<'a>, thread: usize) -> Result<Worker<'a>, LoadError> {
        let load = common.load;
        let threads = load.threads.max(1);
        let most_in_flight = (load.in_flight() as usize).div_ceil(threads).max(1);
        let streams =
            if load.arrivals.streams().is_some() { most_in_flight } else { most_in_flight.min(512) };
        let talks = matches!(load.arrivals, crate::arrivals::Arrivals::Conversations(_));
        let keeping = Keeping {
            answers: load.keep_answers || common.questions.can_score(),
            text: talks || common.questions.can_count(),
            gathered: (GATHERED_BYTES / streams.max(1)).clamp(2 << 10, 16 << 10),
            limits: load.limits,
        };
        Ok(Worker {
            common,
            thread,
            shared: Rc::new(Shared::new(common.clock, streams, load.limits.header_bytes)),
            reactor: Reactor::new()?,
            schedule: RequestSchedule::new(common, thread),
            slots: Vec::new(),
            free: Vec::new(),
            idle: common.targets.iter().map(|_| Vec::new()).collect(),
            generation: 0,
            in_flight: 0,
            most_in_flight,
            keeping,
            buffers: Vec::new(),
            health: Health::default(),
            client_lag: EvenSample::default(),
            schedule_lag: EvenSample::default(),
            chores_ns: 0,
        })
    }

    fn run(&mut self) -> Result<(), LoadError> {
        let mut ready: Vec<Ready> = Vec::new();
        loop {
            let now = self.sample_clock();
            if self.common.is_stopped() {
                self.interrupt(now);
                return Ok(());
            }
            self.send_what_is_due(now);
            self.chores(now);
            if self.in_flight == 0 && self.schedule.is_over() {
                return Ok(());
            }
            let next = self.schedule.next_due_ns().filter(|_| self.in_flight < self.most_in_flight);
            let due = next.map(|due| due + self.common.clock.began_ns());
            self.reactor.wait(due, &mut ready)?;
            self.sample_clock();
            for ready in ready.drain(..) {
                let before = self.in_flight;
                self.drive(ready);
                // Many answers at once must not make a request late that is due meanwhile, or whose stream is free now.
                if self.in_flight < before || next.is_some_and(|next| next <= self.now_ns()) {
                    let now = self.now_ns();
                    self.send_what_is_due(now);
                }
            }
        }
    }

    /// Gives the time, and samples the offset of the real-time clock for the stamps that come now.
    fn sample_clock(&self) -> i64 {
        let mut clock = self.shared.clock.get();
        let now = clock.sample();
        self.shared.clock.set(clock);
        now
    }

    fn now_ns(&self) -> i64 {
        self.shared.clock.get().now_ns()
    }

    fn send_what_is_due(&mut self, mut now_ns: i64) {
        while self.in_flight < self.most_in_flight {
            let Some(job) = self.schedule.next(now_ns) else { return };
            self.start(job);
            now_ns = self.now_ns();
        }
    }

    /// Sends a request, on a connection that is free or on a new one.
    fn start(&mut self, mut job: ScheduledRequest) {
        let now = self.now_ns();
        let late_ns = job.begin(now);
        let common = self.common;
        let Some(target) = common.targets.get(job.endpoint) else { return };
        let exchange = Exchange {
            endpoint: u16::try_from(job.endpoint).unwrap_or(u16::MAX),
            index: job.index,
            warm_up: job.is_warm_up,
            conversation: match &job.talk {
                Some(talk) => Some((talk.conversation, talk.turn)),
                None if job.is_warm_up => None,
                None => common.questions.session(job.index),
            },
            intended_at_s: seconds(job.intended_ns),
            sent_at_s: seconds(now),
            attempts: job.attempts,
            ..Exchange::default()
        };
        let flight = Flight::new(exchange, self.buffers.pop().unwrap_or_default(), self.keeping);
        let (head, body) = (target.head(&job.name()), target.body(&job.question));
        let endpoint = job.endpoint;
        self.in_flight += 1;
        common.live.in_flight.fetch_add(1, Ordering::Relaxed);
        common.live.sent.fetch_add(1, Ordering::Relaxed);
        self.health.requests += 1;
        let request = Request { job, flight, started_ns: now, late_ns };
        let place = match self.connection(endpoint) {
            Ok(place) => place,
            Err(fault) => return self.over(request, Some(fault), now, None),
        };
        let Some(Some(slot)) = self.slots.get_mut(place) else { return };
        slot.last_ns = None;
        slot.request = Some(request);
        let mut round = Round::default();
        let Slot { connection, request, .. } = &mut **slot;
        connection.request(head, body, &mut |happening| note(happening, request, &mut round));
        self.after(place, round);
    }

    /// A connection that is free, or one that begins to connect.
    fn connection(&mut self, endpoint: usize) -> Result<usize, Fault> {
        while let Some((place, generation)) = self.idle.get_mut(endpoint).and_then(Vec::pop) {
            let Some(Some(slot)) = self.slots.get_mut(place) else { continue };
            if slot.generation != generation {
                continue;
            }
            // A server may have closed a connection that it promised to keep; a look at it shows that before a request is lost.
            slot.connection.drive(Ready { readable: true, ..Ready::default() }, &mut |_| {});
            if slot.connection.is_free() {
                return Ok(place);
            }
            self.close(place);
        }
        let out_of_range = || Fault::new(FaultKind::Client, "no such endpoint");
        let target = self.common.targets.get(endpoint).ok_or_else(out_of_range)?;
        let connection = Connection::open(&self.shared, target.address()?, target.trust.as_ref())?;
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.generation = self.generation.wrapping_add(1);
        let name = name(place, self.generation);
        let watched = connection.with_descriptor(|socket| self.reactor.watch(socket, name, true));
        watched.map_err(|error| Fault::new(FaultKind::Client, error.to_string()))?;
        self.health.connections += 1;
        let slot = Slot {
            connection,
            endpoint,
            generation: self.generation,
            is_watched_for_writing: true,
            was_used: false,
            request: None,
            last_ns: None,
        };
        if let Some(empty) = self.slots.get_mut(place) {
            *empty = Some(Box::new(slot));
        }
        Ok(place)
    }

    fn drive(&mut self, ready: Ready) {
        let place = (ready.name & u64::from(u32::MAX)) as usize;
        let Some(Some(slot)) = self.slots.get_mut(place) else { return };
        if name(place, slot.generation) != ready.name {
            return;
        }
        let mut round = Round::default();
        let Slot { connection, request, .. } = &mut **slot;
        connection.drive(ready, &mut |happening| note(happening, request, &mut round));
        self.after(place, round);
    }

    /// Draws the consequences of what happened on a connection.
    fn after(&mut self, place: usize, round: Round) {
        let Some(Some(slot)) = self.slots.get_mut(place) else { return };
        let lag = slot.connection.take_lag_ns();
        if round.last_ns.is_some() {
            self.client_lag.add(seconds(lag));
        }
        if let Some(request) = &mut slot.request {
            let exchange = &mut request.flight.exchange;
            exchange.lag_s = exchange.lag_s.max(seconds(lag));
            if let Some(connected) = round.connected_ns {
                exchange.connected_at_s = Some(seconds(connected));
            }
        }
        // The last read of an answer brings several things at once, which says nothing of the gaps between tokens.
        if round.ended.is_none() && round.pieces > 0 {
            if let (Some(last), Some(now)) = (slot.last_ns, round.last_ns) {
                self.reactor.learn(now - last, round.pieces);
            }
            slot.last_ns = round.last_ns;
        }
        let wants = slot.connection.wants_writable();
        if wants != slot.is_watched_for_writing && !slot.connection.is_dead() {
            slot.is_watched_for_writing = wants;
            let name = name(place, slot.generation);
            // A socket that cannot be watched shows itself as a request that gets no answer in time.
            let _ = slot.connection.with_descriptor(|socket| self.reactor.watch_again(socket, name, wants));
        }
        if let Some((fault, at_ns)) = round.ended
            && let Some(request) = slot.request.take()
        {
            self.finish(place, request, fault, at_ns);
        } else if slot.connection.is_dead() && slot.request.is_none() {
            self.close(place);
        }
    }

    /// A request has ended; its connection is used again or closed.
    fn finish(&mut self, place: usize, request: Request, fault: Option<Fault>, at_ns: i64) {
        let Some(Some(slot)) = self.slots.get_mut(place) else { return };
        let sent_ns = slot.connection.sent_ns();
        let (endpoint, generation) = (slot.endpoint, slot.generation);
        if slot.was_used && is_unseen(&request, fault.as_ref()) {
            self.close(place);
            return self.send_again(request, at_ns);
        }
        slot.was_used = true;
        if slot.connection.is_free() && !self.common.load.new_connections {
            if let Some(idle) = self.idle.get_mut(endpoint) {
                idle.push((place, generation));
            }
        } else {
            self.close(place);
        }
        self.over(request, fault, at_ns, sent_ns);
    }

    /// Sends a request once more that met a connection which the server had given up: nobody has seen it. Every such
    /// connection is lost to the pool, so this comes to an end.
    fn send_again(&mut self, request: Request, at_ns: i64) {
        let Request { job, flight, .. } = request;
        self.buffers.push(flight.end(None, at_ns).buffers);
        self.in_flight -= 1;
        self.common.live.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.common.live.sent.fetch_sub(1, Ordering::Relaxed);
        self.health.sent_again += 1;
        self.start(job);
    }

    fn close(&mut self, place: usize) {
        if self.slots.get_mut(place).and_then(Option::take).is_some() {
            self.free.push(place);
        }
    }

    /// Hands a request over that has ended, or sends it again. `sent_ns` is when its first byte was sent, if any was.
    fn over(&mut self, request: Request, fault: Option<Fault>, at_ns: i64, sent_ns: Option<i64>) {
        let Request { job, mut flight, started_ns, late_ns } = request;
        if let Some(sent) = sent_ns {
            flight.exchange.sent_at_s = seconds(sent);
        }
        let live = self.common.live;
        self.in_flight -= 1;
        live.in_flight.fetch_sub(1, Ordering::Relaxed);
        let RequestEnd { mut exchange, buffers, events, text } = flight.end(fault, at_ns);
        self.buffers.push(buffers);
        if let Some(target) = self.common.targets.get(job.endpoint) {
            // A port that has answered once speaks the right protocol.
            if exchange.status.is_none() && live.succeeded.load(Ordering::Relaxed) == 0 {
                exchange.fault = exchange.fault.map(|fault| target.diagnosed(fault));
            }
            target.redact(&mut exchange);
        }
        self.health.events += u64::from(events);
        self.health.merged += u64::from(exchange.merged_stamps);
        live.events.fetch_add(u64::from(events), Ordering::Relaxed);
        if sent_ns.is_some() && job.attempts == 1 {
            self.schedule_lag.add(seconds(late_ns));
        }
        if exchange.is_success() {
            self.reactor.learn_request(at_ns - started_ns);
        }
        let now = self.now_ns();
        if let Some(fault) = &exchange.fault {
            self.renew_token(job.endpoint, fault.kind == FaultKind::Unauthorized);
            if job.attempts <= self.common.load.retries && fault.kind.is_passing() {
                return self.schedule.again(job, fault.retry_after_s, now);
            }
        }
        if self.common.questions.can_count() {
            exchange.counted = text.as_deref().and_then(|text| self.common.questions.count(text));
        }
        self.score(&job, &mut exchange);
        self.count(&exchange);
        self.schedule.ended(job, &exchange, text.as_deref(), now);
        (self.common.finished)(&exchange);
    }

    /// Scores an answer, and forgets it unless answers are kept. Of a conversation only the first turn has right answers.
    fn score(&self, job: &ScheduledRequest, exchange: &mut Exchange) {
        let (index, turn) = exchange.conversation.unwrap_or((job.index, 0));
        if let Some(answer) = exchange.answer.as_deref().filter(|_| turn == 0 && !job.is_warm_up) {
            exchange.score = self.common.questions.score(index, answer).filter(|_| exchange.is_success());
        }
        if !self.common.load.keep_answers {
            exchange.answer = None;
        }
    }

    fn count(&self, exchange: &Exchange) {
        let (live, load) = (self.common.live, self.common.load);
        let absent_ns = self.common.absence.note(exchange.fault.as_ref(), nanoseconds(exchange.end_at_s));
        if absent_ns > nanoseconds(load.gone_after.as_secs_f64()) {
            self.common.early.get_or_init(|| super::LoadEnd::Gone);
        }
        if exchange.is_success() {
            live.succeeded.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let failed = live.failed.fetch_add(1, Ordering::Relaxed) + 1;
        if load.error_budget.is_some_and(|budget| failed > budget) {
            self.common.early.get_or_init(|| super::LoadEnd::BudgetSpent);
        }
    }

    /// What has to be done now and then.
    fn chores(&mut self, now_ns: i64) {
        if now_ns < self.chores_ns {
            return;
        }
        self.chores_ns = now_ns + CHORES_NS;
        self.end_late_requests(now_ns);
        if self.thread > 0 {
            return;
        }
        for endpoint in 0..self.common.targets.len() {
            self.renew_token(endpoint, false);
        }
        let live = self.common.live;
        let there = u32::try_from(live.in_flight.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        if let Some(asked) = self.schedule.asked(there, now_ns) {
            self.health.in_flight.push((seconds(now_ns), asked, there));
            thin(&mut self.health.in_flight);
        }
    }

    fn end_late_requests(&mut self, now_ns: i64) {
        let load = self.common.load;
        let (connect, whole) =
            (nanoseconds(load.connect_timeout.as_secs_f64()), nanoseconds(load.timeout.as_secs_f64()));
        for place in 0..self.slots.len() {
            let Some(Some(slot)) = self.slots.get_mut(place) else { continue };
            let Some(request) = &slot.request else { continue };
            let age = now_ns - request.started_ns;
            let is_connecting = slot.connection.is_connecting();
            let (kind, limit) = match request.flight.exchange.first_byte_at_s {
                _ if slot.connection.is_securing() && connect < whole => (FaultKind::Tls, connect),
                _ if is_connecting && connect < whole => (FaultKind::ConnectTimeout, connect),
                None => (FaultKind::NoAnswer, whole),
                Some(_) => (FaultKind::Timeout, whole),
            };
            if age <= limit {
                continue;
            }
            let what = if kind == FaultKind::Tls { "no answer to the TLS handshake " } else { "" };
            let fault = Fault::new(kind, format!("{what}after {:.1} s", seconds(age)));
            self.abandon(place, fault, now_ns);
        }
    }

    /// Ends the request of a connection, and the connection with it.
    fn abandon(&mut self, place: usize, fault: Fault, now_ns: i64) {
        let Some(Some(slot)) = self.slots.get_mut(place) else { return };
        let Some(request) = slot.request.take() else { return };
        let sent_ns = slot.connection.sent_ns();
        self.close(place);
        self.over(request, Some(fault), now_ns, sent_ns);
    }

    /// Ends everything that is in flight.
    fn interrupt(&mut self, now_ns: i64) {
        let message = match self.common.early.get() {
            Some(super::LoadEnd::BudgetSpent) => "too many requests failed",
            Some(super::LoadEnd::Gone) => "the server is gone",
            _ => "",
        };
        for place in 0..self.slots.len() {
            self.abandon(place, Fault::new(FaultKind::Interrupted, message), now_ns);
        }
        self.schedule.clear();
    }

    /// Gets a new token in the background if it is time for one.
    fn renew_token(&self, endpoint: usize, was_refused: bool) {
        let Some(target) = self.common.targets.get(endpoint) else { return };
        if target.token.as_ref().is_some_and(|token| token.is_due(was_refused)) {
            let target = Arc::clone(target);
            // A token that cannot be had shows itself in the next answers.
            let renew = move || target.token.as_ref().map(|token| token.renew());
            let _ = std::thread::Builder::new().spawn(renew);
        }
    }

    fn health(self) -> Health {
        let mut health = self.health;
        health.client_lag_s = self.client_lag.into_values();
        health.schedule_lag_s = self.schedule_lag.into_values();
        health.cpu_s = vec![seconds((thread_cpu_ns() - self.reactor.spun_ns()).max(0))];
        health.wall_s = vec![self.shared.clock.get().now_s()];
        health.reads = self.shared.reads.get();
        health.unstamped = self.shared.unstamped.get();
        health
    }
}

/// Whether the server closed a connection under a request without a byte of an answer.
fn is_unseen(request: &Request, fault: Option<&Fault>) -> bool {
    fault.is_some_and(|fault| fault.kind == FaultKind::Closed)
        && request.flight.exchange.first_byte_at_s.is_none()
}
