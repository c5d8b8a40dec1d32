//! What one thread sends when. A closed loop gives every stream its next request when the last one has ended; an open loop
//! follows its times, whatever the endpoint does.

use std::cmp::{Ordering as Order, Reverse};
use std::collections::BinaryHeap;
use std::iter::Peekable;
use std::sync::atomic::Ordering;

use super::Common;
use super::sessions::{Held, Sessions};
use crate::arrivals::{Arrivals, Conversations, Times, TraceEntry};
use crate::clock::nanoseconds;
use crate::record::Exchange;
use crate::request::{Content, Question};

/// Streams that warm an endpoint up in an open loop.
const WARM_UP_STREAMS: u32 = 8;
/// The first pause before a request is sent again, in nanoseconds; it doubles each time.
const FIRST_PAUSE_NS: i64 = 250_000_000;
/// The longest such pause.
const LONGEST_PAUSE_NS: i64 = 30_000_000_000;
/// A stream whose request could not even be sent waits at least this long: thousands of failures a second say no more
/// than ten, and leave no time for other endpoints.
const UNSENT_PAUSE_NS: i64 = 100_000_000;

/// More streams than this begin one after the other: thousands of requests at one instant would come back as waves.
const MOST_AT_ONCE: u64 = 256;
/// The time between two of them.
const STREAM_SPACING_NS: i64 = 500_000;

/// One request that is to be sent.
#[derive(Debug)]
pub(super) struct ScheduledRequest {
    pub(super) endpoint: usize,
    pub(super) index: u64,
    pub(super) is_warm_up: bool,
    /// Whether it belongs to a stream that goes on with another request.
    is_stream: bool,
    pub(super) intended_ns: i64,
    pub(super) question: Question,
    pub(super) attempts: u32,
    pub(super) talk: Option<Talk>,
    /// The session of a trace that it belongs to.
    session: Option<u64>,
}

impl ScheduledRequest {
    /// Notes that the request is made now, and gives how much later that is than meant. A stream of a closed loop sends
    /// its next request when it can: its lateness there is the client's schedule lag, and not part of the latency.
    /// Later turns of a conversation are meant for a moment, and so are requests of an open loop.
    pub(super) fn begin(&mut self, now_ns: i64) -> i64 {
        let late_ns = (now_ns - self.intended_ns).max(0);
        if self.is_stream && self.attempts == 1 && self.talk.as_ref().is_none_or(|talk| talk.turn == 0) {
            self.intended_ns = now_ns;
        }
        late_ns
    }

    /// The name under which the server can log the request.
    pub(super) fn name(&self) -> String {
        match self.is_warm_up {
            true => format!("assay-{}-warm-up", self.index),
            false => format!("assay-{}", self.index),
        }
    }
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) conversation: u64,
    pub(super) turn: u32,
    messages: Vec<(String, String)>,
}

/// Something that is known to be due.
#[derive(Debug)]
struct Due {
    at_ns: i64,
    order: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    /// A stream is free for its next request.
    Stream { endpoint: usize, is_warm_up: bool },
    /// A request that is complete: another turn, or one that is sent again.
    Job(Box<ScheduledRequest>),
}

/// The times of one endpoint in an open loop.
struct Opening {
    endpoint: usize,
    times: Peekable<Box<dyn Iterator<Item = (u64, f64)>>>,
}

/// What one thread has to send.
pub(super) struct RequestSchedule<'a> {
    common: &'a Common<'a>,
    thread: u64,
    due: BinaryHeap<Reverse<Due>>,
    openings: Vec<Opening>,
    sessions: Sessions,
    order: u64,
    has_begun: bool,
}

impl<'a> RequestSchedule<'a> {
    pub(super) fn new(common: &'a Common<'a>, thread: usize) -> RequestSchedule<'a> {
        let due = BinaryHeap::new();
        let thread = thread as u64;
        let mut schedule = RequestSchedule {
            common,
            thread,
            due,
            openings: Vec::new(),
            sessions: Sessions::default(),
            order: 0,
            has_begun: false,
        };
        let load = common.load;
        let streams = u64::from(load.arrivals.streams().unwrap_or(WARM_UP_STREAMS)).min(load.warm_up);
        schedule.add_streams(streams, true, 0);
        schedule
    }

    /// The next request that is due. Asked again until there is none.
    pub(super) fn next(&mut self, now_ns: i64) -> Option<ScheduledRequest> {
        self.begin();
        loop {
            if self.due.peek().is_none_or(|due| due.0.at_ns > now_ns) {
                return self.next_opening(now_ns);
            }
            let Reverse(due) = self.due.pop()?;
            match due.what {
                What::Job(job) => return Some(*job),
                // A stream for which nothing is left ends.
                What::Stream { endpoint, is_warm_up } => {
                    if let Some(job) = self.draw(endpoint, is_warm_up, due.at_ns, now_ns) {
                        return Some(job);
                    }
                }
            }
        }
    }

    /// When something is due next, if that is known.
    pub(super) fn next_due_ns(&mut self) -> Option<i64> {
        let began = self.common.began_ns();
        let openings = self.openings.iter_mut().filter_map(|opening| opening.times.peek());
        let opening = openings.map(|(_, at_s)| began.unwrap_or(0) + nanoseconds(*at_s)).min();
        let due = self.due.peek().map(|due| due.0.at_ns);
        let begin = began.filter(|_| !self.has_begun);
        [opening, due, begin].into_iter().flatten().min()
    }

    /// Whether nothing is left to send, except for what requests in flight cause.
    pub(super) fn is_over(&mut self) -> bool {
        self.has_begun && self.next_due_ns().is_none()
    }

    /// Takes a request that has ended: its stream goes on, its conversation too.
    pub(super) fn ended(
        &mut self,
        job: ScheduledRequest,
        exchange: &Exchange,
        text: Option<&str>,
        now_ns: i64,
    ) {
        let is_lasting = exchange.fault.as_ref().is_some_and(|fault| fault.kind.is_lasting());
        if job.is_warm_up && is_lasting {
            self.common.warm_up_failed.fetch_add(1, Ordering::AcqRel);
        }
        if job.is_warm_up && self.common.warm_up_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let all = self.common.load.warm_up.saturating_mul(self.common.targets.len() as u64);
            if self.common.warm_up_failed.load(Ordering::Acquire) == all {
                self.common.early.get_or_init(|| super::LoadEnd::WarmUpFailed);
            } else {
                // Other threads look at the time only every few milliseconds.
                let others = if self.common.load.threads > 1 { 60_000_000 } else { 0 };
                self.common.live.began_ns.store(now_ns + others, Ordering::Release);
            }
        }
        let (endpoint, is_stream, is_warm_up) = (job.endpoint, job.is_stream, job.is_warm_up);
        if let Some(session) = job.session {
            self.release(endpoint, session, nanoseconds(exchange.end_at_s).min(now_ns));
        }
        let is_unsent = exchange.fault.as_ref().is_some_and(|fault| fault.kind.is_unsent());
        let earliest_ns = if is_unsent { job.intended_ns + UNSENT_PAUSE_NS } else { 0 };
        let next =
            if exchange.is_success() { self.next_turn(job, text.unwrap_or(""), exchange) } else { None };
        match next {
            Some((job, at_ns)) => self.push(at_ns, What::Job(Box::new(job))),
            None if is_stream => {
                // The stream was free when the last byte came, not when that was noticed.
                let at_ns = nanoseconds(exchange.end_at_s).min(now_ns).max(earliest_ns);
                self.push(at_ns, What::Stream { endpoint, is_warm_up });
            }
            None => {}
        }
    }

    /// Sends a request again after a pause, or after the time that the server asked for.
    pub(super) fn again(&mut self, mut job: ScheduledRequest, asked_s: Option<f64>, now_ns: i64) {
        let pause = (FIRST_PAUSE_NS << job.attempts.clamp(1, 20).saturating_sub(1)).min(LONGEST_PAUSE_NS);
        let asked = asked_s.map_or(0, |asked| nanoseconds(asked.clamp(0.0, 3600.0)));
        job.attempts += 1;
        self.push(now_ns + pause.max(asked), What::Job(Box::new(job)));
    }

    /// Forgets everything that is left.
    pub(super) fn clear(&mut self) {
        self.due.clear();
        self.openings.clear();
        self.sessions = Sessions::default();
        self.has_begun = true;
    }

    /// Requests that are due and have not been taken.
    pub(super) fn waiting(&mut self, now_ns: i64) -> u64 {
        let began = self.common.began_ns().unwrap_or(0);
        // Counting all of an open loop that is far behind would cost more than it is worth.
        let is_late = |opening: &mut Opening| {
            opening.times.peek().is_some_and(|(_, at_s)| began + nanoseconds(*at_s) <= now_ns)
        };
        let late: u64 = self.openings.iter_mut().map(|opening| u64::from(is_late(opening))).sum();
        late + self.due.iter().filter(|due| due.0.at_ns <= now_ns).count() as u64
    }

    /// How many requests should be in flight now: none before the measured part, when nothing is left to
    /// send, and for conversations, whose users think.
    pub(super) fn asked(&mut self, there: u32, now_ns: i64) -> Option<u32> {
        let load = self.common.load;
        let since = self.common.began_ns().map(|began| now_ns - began).filter(|since| *since >= 0)?;
        match &load.arrivals {
            Arrivals::Closed { streams } => {
                let most = load.requests.unwrap_or(u64::MAX);
                let is_left = self.common.next.iter().any(|next| next.load(Ordering::Relaxed) < most);
                let begun = match spacing_ns(u64::from(*streams)) {
                    0 => *streams,
                    spacing => (*streams).min(u32::try_from(since / spacing).unwrap_or(u32::MAX)),
                };
                (is_left && since < self.end_ns())
                    .then(|| begun.saturating_mul(self.common.targets.len() as u32))
            }
            Arrivals::Conversations(_) => None,
            _ if self.is_over() => None,
            _ => Some(there.saturating_add(u32::try_from(self.waiting(now_ns)).unwrap_or(u32::MAX))),
        }
    }

    /// Begins with the measured part once the warm-up is over.
    fn begin(&mut self) {
        if self.has_begun {
            return;
        }
        let Some(began) = self.common.began_ns() else { return };
        self.has_begun = true;
        let load = self.common.load;
        match load.arrivals.streams() {
            Some(streams) => self.add_streams(u64::from(streams), false, began),
            None => self.openings = (0..load.endpoints.len()).filter_map(|one| self.opening(one)).collect(),
        }
    }

    /// Adds the streams of this thread, endpoints taking turns.
    fn add_streams(&mut self, streams: u64, is_warm_up: bool, at_ns: i64) {
        let (threads, endpoints) = (self.common.load.threads.max(1) as u64, self.common.targets.len());
        let thread = self.thread;
        let spacing = spacing_ns(streams);
        for stream in (0..streams).filter(|stream| stream % threads == thread) {
            for endpoint in 0..endpoints {
                self.push(at_ns + stream as i64 * spacing, What::Stream { endpoint, is_warm_up });
            }
        }
    }

    fn opening(&self, endpoint: usize) -> Option<Opening> {
        let load = self.common.load;
        let times: Times = load.arrivals.times(load.seed)?;
        let (threads, thread) = (load.threads.max(1) as u64, self.thread);
        let end_at_s = load.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
        let most = load.requests.unwrap_or(u64::MAX);
        let times = (0..most).zip(times).take_while(move |(_, at_s)| *at_s < end_at_s);
        // One thread sends all requests of a session, so that it knows when they end.
        let sessions: Option<Vec<Option<u64>>> = self
            .trace()
            .map(|entries| entries.iter().map(|entry| entry.session.map(|(session, _)| session)).collect());
        let times = times.filter(move |(index, _)| {
            let session = sessions.as_ref().and_then(|all| *all.get(usize::try_from(*index).ok()?)?);
            session.unwrap_or(*index) % threads == thread
        });
        let times: Box<dyn Iterator<Item = (u64, f64)>> = Box::new(times);
        Some(Opening { endpoint, times: times.peekable() })
    }

    fn next_opening(&mut self, now_ns: i64) -> Option<ScheduledRequest> {
        let began = self.common.began_ns()?;
        loop {
            let mut due: Option<(usize, i64)> = None;
            for (place, opening) in self.openings.iter_mut().enumerate() {
                let Some((_, at_s)) = opening.times.peek() else { continue };
                let at_ns = began + nanoseconds(*at_s);
                if at_ns <= now_ns && due.is_none_or(|(_, first)| at_ns < first) {
                    due = Some((place, at_ns));
                }
            }
            let (place, at_ns) = due?;
            let opening = self.openings.get_mut(place)?;
            let (index, _) = opening.times.next()?;
            let endpoint = opening.endpoint;
            if !self.is_held(endpoint, index, at_ns) {
                return self.job(endpoint, index, false, false, at_ns);
            }
        }
    }

    /// Puts a request of a trace aside while its session waits for an earlier answer.
    fn is_held(&mut self, endpoint: usize, index: u64, recorded_ns: i64) -> bool {
        let Some(entry) = self.entry(index) else { return false };
        let Some((session, _)) = entry.session else { return false };
        let delay_ns = nanoseconds(entry.delay_s.unwrap_or(0.0));
        self.sessions.hold(endpoint, session, Held { index, recorded_ns, delay_ns })
    }

    /// An answer of a session has ended: its next request goes when the trace says, and not before its user has read.
    fn release(&mut self, endpoint: usize, session: u64, ended_ns: i64) {
        while let Some(next) = self.sessions.release(endpoint, session) {
            let at_ns = next.recorded_ns.max(ended_ns + next.delay_ns);
            if let Some(job) = self.job(endpoint, next.index, false, false, at_ns) {
                return self.push(at_ns, What::Job(Box::new(job)));
            }
        }
    }

    /// The requests of a trace.
    fn trace(&self) -> Option<&'a [TraceEntry]> {
        match &self.common.load.arrivals {
            Arrivals::Trace(trace) => Some(trace.entries()),
            _ => None,
        }
    }

    fn entry(&self, index: u64) -> Option<&'a TraceEntry> {
        self.trace()?.get(usize::try_from(index).ok()?)
    }

    /// The next request of a stream, unless all have been made.
    fn draw(
        &mut self,
        endpoint: usize,
        is_warm_up: bool,
        at_ns: i64,
        now_ns: i64,
    ) -> Option<ScheduledRequest> {
        let load = self.common.load;
        if is_warm_up {
            let index = self.common.next_warm_up.get(endpoint)?.fetch_add(1, Ordering::Relaxed);
            return (index < load.warm_up).then(|| self.job(endpoint, index, true, true, at_ns))?;
        }
        if now_ns - self.common.began_ns()? >= self.end_ns() {
            return None;
        }
        let index = self.common.next.get(endpoint)?.fetch_add(1, Ordering::Relaxed);
        (index < load.requests.unwrap_or(u64::MAX)).then(|| self.job(endpoint, index, false, true, at_ns))?
    }

    /// When a closed loop ends, from the begin of the measured part.
    fn end_ns(&self) -> i64 {
        self.common.load.duration.map_or(i64::MAX, |duration| nanoseconds(duration.as_secs_f64()))
    }

    fn job(
        &self,
        endpoint: usize,
        index: u64,
        is_warm_up: bool,
        is_stream: bool,
        intended_ns: i64,
    ) -> Option<ScheduledRequest> {
        let questions = self.common.questions;
        let question = if is_warm_up { questions.warm_up(index)? } else { questions.question(index, 0)? };
        let conversations = self.conversations().filter(|_| !is_warm_up);
        let talk = conversations.map(|_| {
            let messages = messages(&question.content);
            Talk { conversation: index, turn: 0, messages }
        });
        let turns = conversations.map_or(1, |conversations| u64::from(conversations.turns));
        Some(ScheduledRequest {
            endpoint,
            index: index.saturating_mul(turns),
            is_warm_up,
            is_stream,
            intended_ns,
            question,
            attempts: 1,
            talk,
            session: self
                .entry(index)
                .filter(|_| !is_warm_up)
                .and_then(|entry| entry.session)
                .map(|(session, _)| session),
        })
    }

    /// The next turn of a conversation, and when it is due.
    fn next_turn(
        &self,
        mut job: ScheduledRequest,
        text: &str,
        exchange: &Exchange,
    ) -> Option<(ScheduledRequest, i64)> {
        let conversations = self.conversations()?;
        let talk = job.talk.as_mut()?;
        talk.turn += 1;
        if talk.turn >= conversations.turns || self.common.is_stopped() {
            return None;
        }
        let question = self.common.questions.question(talk.conversation, talk.turn)?;
        talk.messages.push(("assistant".to_owned(), text.to_owned()));
        talk.messages.extend(messages(&question.content));
        let think = conversations.think_s(self.common.load.seed, talk.conversation, talk.turn);
        let at_ns = nanoseconds(exchange.end_at_s + think);
        let content = Content::Messages(talk.messages.clone());
        job.index += 1;
        job.intended_ns = at_ns;
        job.attempts = 1;
        job.question = Question { content, output_tokens: question.output_tokens };
        Some((job, at_ns))
    }

    fn conversations(&self) -> Option<&'a Conversations> {
        match &self.common.load.arrivals {
            Arrivals::Conversations(conversations) => Some(conversations),
            _ => None,
        }
    }

    fn push(&mut self, at_ns: i64, what: What) {
        self.order += 1;
        self.due.push(Reverse(Due { at_ns, order: self.order, what }));
    }
}

/// The delay between the starts of two streams.
fn spacing_ns(streams: u64) -> i64 {
    if streams > MOST_AT_ONCE { STREAM_SPACING_NS } else { 0 }
}

fn messages(content: &Content) -> Vec<(String, String)> {
    match content {
        Content::Text(text) => vec![("user".to_owned(), text.clone())],
        Content::Messages(messages) => messages.clone(),
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        (self.at_ns, self.order) == (other.at_ns, other.order)
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> Order {
        (self.at_ns, self.order).cmp(&(other.at_ns, other.order))
    }
}
