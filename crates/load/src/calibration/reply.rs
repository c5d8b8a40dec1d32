//! What is answered to a request.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::json;

use super::plan::{StreamPlan, nanoseconds};
use super::render::{self, Counts, Frames};
use super::request::{Body, ParsedRequest, RequestKind};
use super::schedule::{Close, FailureKind, MockSchedule, UsageReport};
use super::sends::StreamSends;
use super::stream::Stream;
use super::summary::CalibrationSummary;

/// How many sets of shared bytes are kept: model names come from clients and may be anything.
const MOST_FRAMES: usize = 64;

const JSON: &str = "application/json";

/// An answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// These bytes at once.
    Now(Vec<u8>),
    /// These bytes at that time, and then something.
    Later(Later),
    /// A stream.
    Stream(Box<Stream>),
    /// Nothing, ever.
    Silence,
}

/// An answer in one piece.
#[derive(Debug)]
pub(super) struct Later {
    pub due_ns: i64,
    pub bytes: Vec<u8>,
    pub then: Then,
}

/// What follows an answer in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The next request.
    Next,
    /// The connection is closed.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing.
    Stall,
}

/// One request with its circumstances.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub request: &'a ParsedRequest,
    /// Its number, from 1.
    pub number: u64,
    /// The place of its connection.
    pub place: u32,
    pub arrived_ns: i64,
}

/// Makes answers.
#[derive(Debug)]
pub(super) struct Replies {
    schedule: MockSchedule,
    keeps_sends: bool,
    frames: HashMap<(RequestKind, String), Rc<Frames>>,
}

impl Replies {
    /// Answers by this schedule.
    pub(super) fn new(schedule: MockSchedule, keeps_sends: bool) -> Self {
        Self { schedule, keeps_sends, frames: HashMap::new() }
    }

    /// What becomes of a connection after an answer.
    pub(super) fn close(&self) -> Close {
        self.schedule.close
    }

    /// The answer to a request.
    pub(super) fn reply(&mut self, asked: &Asked<'_>, summary: &CalibrationSummary, in_flight: u32) -> Reply {
        let close = asked.request.close || self.schedule.close == Close::Announced;
        let kind = asked.request.kind;
        let Some(body) = &asked.request.body else {
            return Reply::Now(page(kind, summary, in_flight, close));
        };
        if !self.schedule.accepts(asked.request.bearer.as_deref(), asked.number) {
            return Reply::Now(error(401, "the token is missing, unknown or expired", None, close));
        }
        match self.schedule.failure(asked.number) {
            Some(FailureKind::Silence) => return Reply::Silence,
            Some(FailureKind::Status { status, retry_after }) => {
                return Reply::Now(error(status, "this failure is on the schedule", retry_after, close));
            }
            _ => {}
        }
        if kind == RequestKind::Embedding {
            let due_ns =
                StreamPlan::new(&self.schedule, 1, asked.arrived_ns, asked.number, asked.place).first_ns();
            let bytes = render::answer(200, JSON, &[], &embeddings(body), close);
            return Reply::Later(Later { due_ns, bytes, then: Then::Next });
        }
        let stream = self.stream(asked, body);
        if body.stream { Reply::Stream(Box::new(stream)) } else { whole(&stream, close) }
    }

    fn stream(&mut self, asked: &Asked<'_>, body: &Body) -> Stream {
        let schedule = &self.schedule;
        let most = render::text_tokens(schedule).unwrap_or(schedule.tokens).max(1);
        let tokens = most.min(body.tokens.unwrap_or(most)).max(1);
        let plan = StreamPlan::new(schedule, tokens, asked.arrived_ns, asked.number, asked.place);
        let seconds = |from: i64, to: i64| (to - from) as f64 * 1e-9;
        let counts = Counts {
            prompt: body.prompt_tokens,
            output: tokens,
            reasoning: schedule.reasoning_tokens.min(tokens),
            prompt_s: seconds(asked.arrived_ns, plan.first_ns()),
            output_s: seconds(plan.first_ns(), plan.last_ns()),
        };
        let tool = tokens > counts.reasoning && schedule.tool_tokens > 0;
        let usage = match schedule.usage {
            UsageReport::Always => true,
            UsageReport::WhenAsked => body.usage || !body.stream,
            UsageReport::Never => false,
        };
        let sends = StreamSends {
            request: asked.number,
            client: asked.request.client,
            connection: asked.place,
            arrived_ns: asked.arrived_ns,
            writes: Vec::new(),
        };
        Stream {
            plan,
            counts,
            finish: if tool {
                "tool_calls"
            } else if tokens < most {
                "length"
            } else {
                "stop"
            },
            usage,
            timings: schedule.timings,
            gap_ns: nanoseconds(schedule.gap) * i64::from(schedule.tokens_per_chunk.max(1)),
            steps_per_write: schedule.events_per_write.max(1),
            sends,
            keeps: self.keeps_sends,
            frames: self.frames(asked.request.kind, &body.model),
        }
    }

    /// The bytes that all streams of this kind and model share.
    fn frames(&mut self, kind: RequestKind, model: &str) -> Rc<Frames> {
        let key = (kind, model.to_owned());
        if self.frames.len() >= MOST_FRAMES && !self.frames.contains_key(&key) {
            self.frames.clear();
        }
        let make = || Rc::new(Frames::new(&self.schedule, kind, model));
        Rc::clone(self.frames.entry(key).or_insert_with(make))
    }
}

/// The whole answer of a stream that was not asked for as one: it comes when the last token would.
fn whole(stream: &Stream, close: bool) -> Reply {
    let mut body = stream.frames.whole(stream.finish, &stream.counts, stream.usage);
    let mut then = Then::Next;
    let failure = stream.plan.failure();
    match failure {
        Some(FailureKind::ErrorEvent { .. }) => {
            return Reply::Now(error(500, "this failure is on the schedule", None, close));
        }
        Some(FailureKind::Malformed { .. }) => body.truncate(body.len() / 2),
        Some(FailureKind::Cut { .. } | FailureKind::Unfinished { .. }) => then = Then::Cut,
        Some(FailureKind::Reset { .. }) => then = Then::Reset,
        Some(FailureKind::Stall { .. }) => then = Then::Stall,
        _ => {}
    }
    let mut bytes = render::answer(200, JSON, &[], &body, close);
    if then != Then::Next {
        bytes.truncate(bytes.len() - body.len() / 2);
    }
    Reply::Later(Later { due_ns: stream.plan.last_ns(), bytes, then })
}

/// An answer that says what is wrong.
pub(super) fn error(status: u16, message: &str, retry_after: Option<u32>, close: bool) -> Vec<u8> {
    let body = json!({"error": {"message": message, "type": "calibration", "code": status}}).to_string();
    let seconds = retry_after.map(|seconds| seconds.to_string());
    let headers: Vec<(&str, &str)> = seconds.iter().map(|text| ("Retry-After", text.as_str())).collect();
    render::answer(status, JSON, &headers, body.as_bytes(), close)
}

/// Pages that are not work.
fn page(kind: RequestKind, summary: &CalibrationSummary, in_flight: u32, close: bool) -> Vec<u8> {
    let (content_type, body) = match kind {
        RequestKind::Models => {
            (JSON, json!({"object": "list", "data": [{"id": "calibration", "object": "model"}]}).to_string())
        }
        RequestKind::Health => (JSON, json!({"status": "ok"}).to_string()),
        RequestKind::Metrics => ("text/plain; version=0.0.4", metrics(summary, in_flight)),
        _ => return error(404, "there is nothing at this path", None, close),
    };
    render::answer(200, content_type, &[], body.as_bytes(), close)
}

/// A page of metrics as Prometheus reads it.
fn metrics(summary: &CalibrationSummary, in_flight: u32) -> String {
    let mut page = String::new();
    for (name, kind, value) in [
        ("requests_total", "counter", summary.requests),
        ("answers_total", "counter", summary.answers),
        ("tokens_total", "counter", summary.tokens),
        ("in_flight", "gauge", u64::from(in_flight)),
    ] {
        page += &format!("# TYPE assay_calibration_{name} {kind}\nassay_calibration_{name} {value}\n");
    }
    page
}

/// Vectors that depend only on their place.
fn embeddings(body: &Body) -> Vec<u8> {
    let vector =
        |index: usize| (0..8).map(|place| ((index * 8 + place) as f64 * 0.1).sin()).collect::<Vec<f64>>();
    let data: Vec<_> = (0..body.inputs)
        .map(|index| json!({"object": "embedding", "index": index, "embedding": vector(index)}))
        .collect();
    let usage = json!({"prompt_tokens": body.prompt_tokens, "total_tokens": body.prompt_tokens});
    json!({"object": "list", "model": body.model, "data": data, "usage": usage}).to_string().into_bytes()
}
