//! A whole load: threads with a loop each, which take what is due from the schedule, send it, and hand over what has
//! finished. Nothing is averaged and nothing is printed here.
//!
//! | file | holds |
//! |---|---|
//! | `run/schedule.rs` | what is to be sent when: warm-up, streams, rates, conversations, retries |
//! | `run/sessions.rs` | requests of a trace that wait for the previous answer of their session |
//! | `run/worker.rs`, `run/slot.rs` | one thread: connections and the requests on them |
//! | `run/tally.rs` | how well the client itself does |

mod schedule;
mod sessions;
mod slot;
mod tally;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::arrivals::{ArrivalError, Arrivals};
use crate::clock::Clock;
use crate::fault::{Fault, FaultKind};
use crate::record::{Exchange, Health};
use crate::request::{Endpoint, EndpointError, Question, Target};
use crate::score::Score;

/// Descriptors that this program needs beside its connections.
const OTHER_FILES: u64 = 64;

/// What is to be done. Numbers of requests and streams are those of each endpoint; all endpoints are asked at the same
/// time, so that whatever changes in the meantime changes for all of them.
#[derive(Debug, Clone)]
pub struct Load {
    /// Who is asked.
    pub endpoints: Vec<Endpoint>,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// How many requests are made of each endpoint (of conversations: how many conversations); without it, as many as
    /// fit into the duration.
    pub requests: Option<u64>,
    /// How long requests are sent.
    pub duration: Option<Duration>,
    /// How many requests each endpoint gets before, to warm up.
    pub warm_up: u64,
    /// How many threads send and read.
    pub threads: usize,
    /// Whether every request gets a connection of its own.
    pub new_connections: bool,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a request may take.
    pub timeout: Duration,
    /// How many requests may be in flight in an open loop, all endpoints together; more wait, and their latency counts
    /// from when they were meant to be sent.
    pub most_in_flight: u32,
    /// How often a request is sent again after a fault that may pass.
    pub retries: u32,
    /// After how many failed requests the load stops.
    pub error_budget: Option<u64>,
    /// How long nobody may listen before the load stops.
    pub gone_after: Duration,
    /// Whether the text of answers is kept.
    pub keep_answers: bool,
    /// How much of an answer is taken.
    pub limits: LoadLimits,
    /// The seed of everything random.
    pub seed: u64,
}

/// Size limits of answers. An answer beyond one of them fails with [`crate::FaultKind::TooLarge`], so that a server
/// that never stops sending cannot fill the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadLimits {
    /// Bytes of an answer's head; by default what the read buffer of a connection holds.
    pub header_bytes: Option<usize>,
    /// Bytes of one event of a stream.
    pub event_bytes: usize,
    /// Bytes of an answer that is not a stream, errors included.
    pub body_bytes: usize,
    /// Bytes of a whole stream.
    pub answer_bytes: u64,
}

impl Default for LoadLimits {
    fn default() -> LoadLimits {
        LoadLimits { header_bytes: None, event_bytes: 4 << 20, body_bytes: 16 << 20, answer_bytes: 64 << 20 }
    }
}

impl Load {
    /// A closed loop on one endpoint.
    pub fn closed(endpoint: Endpoint, streams: u32, requests: u64) -> Load {
        Load {
            endpoints: vec![endpoint],
            arrivals: Arrivals::Closed { streams },
            requests: Some(requests),
            duration: None,
            warm_up: 0,
            threads: 1,
            new_connections: false,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(600),
            most_in_flight: 10_000,
            retries: 0,
            error_budget: None,
            gone_after: Duration::from_secs(10),
            keep_answers: false,
            limits: LoadLimits::default(),
            seed: 1,
        }
    }

    /// How many requests may be in flight at most.
    pub fn in_flight(&self) -> u32 {
        let endpoints = u32::try_from(self.endpoints.len()).unwrap_or(u32::MAX);
        self.arrivals.streams().map_or(self.most_in_flight, |streams| streams.saturating_mul(endpoints))
    }
}

/// What is asked.
pub trait Questions: Sync {
    /// The question of a request, or of a turn of a conversation; none if the conversation ends before that turn. The same
    /// index gives the same question, so that all endpoints are asked the same.
    fn question(&self, index: u64, turn: u32) -> Option<Question>;

    /// The question of a request that only warms the endpoint up. It is never measured again: the answer would come
    /// from a prefix cache.
    fn warm_up(&self, index: u64) -> Option<Question>;

    /// The session of a request and its place in it, where a trace has sessions.
    fn session(&self, _index: u64) -> Option<(u64, u32)> {
        None
    }

    /// Counts the tokens of a text, where there is a tokenizer.
    fn count(&self, _text: &str) -> Option<u64> {
        None
    }

    /// Whether [`Questions::count`] counts.
    fn can_count(&self) -> bool {
        false
    }

    /// Scores the answer to a request, where right answers are known.
    fn score(&self, _index: u64, _answer: &str) -> Option<Score> {
        None
    }

    /// Whether [`Questions::score`] scores.
    fn can_score(&self) -> bool {
        false
    }
}

/// How a load is going; to be looked at from another thread.
#[derive(Debug, Default)]
pub struct Live {
    /// Requests in flight.
    pub in_flight: AtomicU64,
    /// Requests that were sent, retries and warm-up included.
    pub sent: AtomicU64,
    /// Requests that ended well.
    pub succeeded: AtomicU64,
    /// Requests that failed.
    pub failed: AtomicU64,
    /// Events that came in streams of requests that have ended.
    pub events: AtomicU64,
    /// When the measured part began, in nanoseconds since the load began; below 0 while it warms up.
    pub began_ns: AtomicI64,
}

/// How a load ended.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOutcome {
    /// How well the client did.
    pub health: Health,
    /// Why it ended early, if it did.
    pub ended: LoadEnd,
    /// When the measured part began, in seconds since the load began.
    pub began_s: f64,
    /// When the load ended, in seconds since it began.
    pub took_s: f64,
    /// When the load began, on the monotonic clock in nanoseconds.
    pub zero_ns: i64,
    /// Since when nobody listened at the end, in seconds since the load began.
    pub gone_since_s: Option<f64>,
}

/// Why a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadEnd {
    /// Everything was done.
    Complete,
    /// Somebody asked to stop.
    Interrupted,
    /// Too many requests failed.
    BudgetSpent,
    /// Every warm-up request failed in a way that does not pass.
    WarmUpFailed,
    /// Nobody has listened for [`Load::gone_after`].
    Gone,
}

/// Why a load cannot be.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// An endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The arrivals cannot be.
    #[error(transparent)]
    Arrivals(#[from] ArrivalError),
    /// Neither a number of requests nor a duration.
    #[error("a load needs a number of requests or a duration")]
    Endless,
    /// No endpoints.
    #[error("no endpoint given")]
    NoEndpoint,
    /// Too few open files are allowed.
    #[error("{needed} open files are needed and {allowed} are allowed")]
    Files {
        /// How many are needed.
        needed: u64,
        /// How many are allowed.
        allowed: u64,
    },
    /// The system refuses something that every load needs.
    #[error("the system refuses: {0}")]
    System(#[from] std::io::Error),
    /// A thread ended unexpectedly.
    #[error("a thread of the load ended unexpectedly")]
    Thread,
}

impl LoadError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            LoadError::Files { .. } => {
                Some("raise the limit with `ulimit -n` (as root, `ulimit -Hn` too), or ask for fewer streams")
            }
            LoadError::Endpoint(EndpointError::Dns { .. }) => Some(FaultKind::Dns.hint()),
            LoadError::Endpoint(EndpointError::Token(_)) => Some(FaultKind::Token.hint()),
            LoadError::Endpoint(EndpointError::Url { .. }) => {
                Some("a base URL looks like https://host:8000/v1")
            }
            _ => None,
        }
    }
}

/// What the threads of a load share.
struct Common<'a> {
    load: &'a Load,
    targets: Vec<Arc<Target>>,
    questions: &'a dyn Questions,
    live: &'a Live,
    stop: &'a AtomicBool,
    finished: &'a (dyn Fn(&Exchange) + Sync),
    clock: Clock,
    /// The next request of each endpoint in a closed loop.
    next: Vec<AtomicU64>,
    /// The next warm-up request of each endpoint.
    next_warm_up: Vec<AtomicU64>,
    /// Warm-up requests that have not ended.
    warm_up_left: AtomicU64,
    /// Warm-up requests that failed in a way that does not pass.
    warm_up_failed: AtomicU64,
    /// Why nothing more is sent before everything is done.
    early: OnceLock<LoadEnd>,
    absence: Absence,
}

/// Whether the server is still there.
#[derive(Debug)]
struct Absence {
    /// Since when nobody listens, in nanoseconds; below 0 while somebody does.
    since_ns: AtomicI64,
    /// Connections that failed since.
    count: AtomicU64,
}

/// Fewer failed connections do not make a server absent.
const LEAST_ABSENCES: u64 = 3;

impl Absence {
    /// Notes how a request ended; gives how long the server has been absent, in nanoseconds.
    fn note(&self, fault: Option<&Fault>, at_ns: i64) -> i64 {
        match fault.map(|fault| fault.kind) {
            Some(kind) if kind.is_absence() => {
                let _ = self.since_ns.compare_exchange(-1, at_ns, Ordering::Relaxed, Ordering::Relaxed);
                let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
                let since_ns = self.since_ns.load(Ordering::Relaxed);
                if count < LEAST_ABSENCES { 0 } else { (at_ns - since_ns).max(0) }
            }
            // Streams that a dying server cut are reported after the first connection that failed.
            Some(FaultKind::Cut | FaultKind::Closed | FaultKind::Interrupted) => 0,
            _ => {
                if self.since_ns.load(Ordering::Relaxed) >= 0 {
                    self.since_ns.store(-1, Ordering::Relaxed);
                    self.count.store(0, Ordering::Relaxed);
                }
                0
            }
        }
    }
}

impl Common<'_> {
    /// Whether nothing more may be sent.
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.early.get().is_some()
    }

    /// When the measured part begins or began.
    fn began_ns(&self) -> Option<i64> {
        Some(self.live.began_ns.load(Ordering::Acquire)).filter(|began| *began >= 0)
    }
}

/// Runs a load. `finished` is called for every request that has ended, from the threads that made them; `live` can
/// be looked at meanwhile, and setting `stop` ends the load: what is in flight then counts as interrupted.
pub fn run(
    load: &Load,
    questions: &dyn Questions,
    live: &Live,
    stop: &AtomicBool,
    finished: &(dyn Fn(&Exchange) + Sync),
) -> Result<LoadOutcome, LoadError> {
    check(load)?;
    allow_files(u64::from(load.in_flight()))?;
    let targets: Result<Vec<_>, _> =
        load.endpoints.iter().map(|one| Target::new(one).map(Arc::new)).collect();
    let targets = targets?;
    // Where others answer, an endpoint without an address is one whose requests fail.
    if let Some(unfound) = targets.first().and_then(|target| target.unfound())
        && targets.iter().all(|target| target.unfound().is_some())
    {
        return Err(unfound.into());
    }
    let clock = Clock::start();
    let counters = || load.endpoints.iter().map(|_| AtomicU64::new(0)).collect();
    live.began_ns.store(if load.warm_up == 0 { 0 } else { -1 }, Ordering::Release);
    let common = Common {
        load,
        questions,
        live,
        stop,
        finished,
        clock,
        next: counters(),
        next_warm_up: counters(),
        warm_up_left: AtomicU64::new(load.warm_up.saturating_mul(targets.len() as u64)),
        warm_up_failed: AtomicU64::new(0),
        early: OnceLock::new(),
        absence: Absence { since_ns: AtomicI64::new(-1), count: AtomicU64::new(0) },
        targets,
    };
    let healths = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for thread in 0..load.threads.max(1) {
            let common = &common;
            let work = move || worker::work(common, thread);
            let started = std::thread::Builder::new().spawn_scoped(scope, work);
            // Those that were started already are not waited for until the end of the load.
            threads.push(started.inspect_err(|_| stop.store(true, Ordering::Relaxed))?);
        }
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| LoadError::Thread)?)
            .collect::<Result<Vec<_>, LoadError>>()
    })?;
    let ended = match (common.early.into_inner(), stop.load(Ordering::Relaxed)) {
        (Some(early), _) => early,
        (None, true) => LoadEnd::Interrupted,
        (None, false) => LoadEnd::Complete,
    };
    let gone_since_ns = common.absence.since_ns.into_inner();
    let began = live.began_ns.load(Ordering::Acquire).max(0);
    Ok(LoadOutcome {
        health: tally::together(healths),
        ended,
        began_s: crate::clock::seconds(began),
        took_s: clock.now_s(),
        zero_ns: clock.began_ns(),
        gone_since_s: (gone_since_ns >= 0).then(|| crate::clock::seconds(gone_since_ns)),
    })
}

fn check(load: &Load) -> Result<(), LoadError> {
    load.arrivals.check()?;
    if load.endpoints.is_empty() {
        return Err(LoadError::NoEndpoint);
    }
    let is_trace = matches!(load.arrivals, Arrivals::Trace(_));
    if load.requests.is_none() && load.duration.is_none() && !is_trace {
        return Err(LoadError::Endless);
    }
    Ok(())
}

/// Raises the limit of open files as far as is needed and allowed.
fn allow_files(connections: u64) -> Result<(), LoadError> {
    let needed = connections + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(most) = limit.maximum.filter(|most| *most < needed) {
        return Err(LoadError::Files { needed, allowed: most });
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .map_err(|error| LoadError::System(error.into()))
}
