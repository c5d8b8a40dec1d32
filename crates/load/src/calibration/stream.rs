//! One stream while it is sent.

use std::io;
use std::rc::Rc;

use super::plan::{EventPiece, StreamPlan, StreamStep};
use super::render::{Counts, END, Frames};
use super::sends::{Sent, StreamSends};
use super::summary::CalibrationSummary;
use super::transport::Transport;
use crate::clock::monotonic_ns;

/// A stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub plan: StreamPlan,
    pub frames: Rc<Frames>,
    pub counts: Counts,
    pub finish: &'static str,
    pub usage: bool,
    pub timings: bool,
    /// From chunk to chunk; 0 without a schedule.
    pub gap_ns: i64,
    /// How many steps go into one write at most.
    pub steps_per_write: u32,
    pub sends: StreamSends,
    /// Whether the sends are kept.
    pub keeps: bool,
}

/// How far a stream came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamProgress {
    /// The next step is due then.
    Due(i64),
    /// The socket is full.
    Blocked,
    /// The answer is complete, at least as far as it was ever meant to be.
    Ended,
    /// The connection is to be closed.
    Cut,
    /// The connection is to be reset.
    Reset,
    /// Nothing more will ever come, and the connection stays.
    Never,
}

/// What a write holds.
#[derive(Default)]
struct Held {
    steps: u32,
    events: u32,
    tokens: u32,
    last: bool,
}

impl Stream {
    /// Sends the head of the answer.
    pub(super) fn begin(
        &mut self,
        transport: &mut Transport,
        summary: &mut CalibrationSummary,
    ) -> io::Result<StreamProgress> {
        let frames = Rc::clone(&self.frames);
        let held = Held { steps: 1, events: frames.head_events, ..Held::default() };
        let now = monotonic_ns();
        self.put(transport, &frames.head, now, now, &held, summary)
    }

    /// Sends what is due, in one write.
    pub(super) fn go_on(
        &mut self,
        transport: &mut Transport,
        scratch: &mut Vec<u8>,
        summary: &mut CalibrationSummary,
    ) -> io::Result<StreamProgress> {
        let Some((due, first)) = self.plan.peek() else { return Ok(StreamProgress::Never) };
        let now = monotonic_ns();
        match first {
            _ if due > now => return Ok(StreamProgress::Due(due)),
            StreamStep::Cut => return Ok(StreamProgress::Cut),
            StreamStep::Reset => return Ok(StreamProgress::Reset),
            _ => self.plan.advance(),
        }
        let frames = Rc::clone(&self.frames);
        let mut held = Held::default();
        // Nearly always one chunk that all streams share: nothing is copied.
        if self.next_due_by(now, 1).is_none()
            && let Some(bytes) = shared(&frames, first)
        {
            held.count(first);
            return self.put(transport, bytes, due, now, &held, summary);
        }
        scratch.clear();
        self.append(first, &mut held, scratch);
        while let Some(step) = self.next_due_by(now, held.steps) {
            self.plan.advance();
            self.append(step, &mut held, scratch);
        }
        self.put(transport, scratch, due, now, &held, summary)
    }

    /// The next step if it is due, fits into the same write after the others, and has bytes at all.
    fn next_due_by(&self, now: i64, steps: u32) -> Option<StreamStep> {
        let (due, step) = self.plan.peek()?;
        let fits = due <= now
            && steps < self.steps_per_write
            && !matches!(step, StreamStep::Cut | StreamStep::Reset);
        fits.then_some(step)
    }

    /// Writes the bytes of a step to `out`.
    fn append(&self, step: StreamStep, held: &mut Held, out: &mut Vec<u8>) {
        held.count(step);
        if let Some(bytes) = shared(&self.frames, step) {
            out.extend_from_slice(bytes);
            return;
        }
        match step {
            StreamStep::Chunk { part, index, tokens, piece } => {
                let frame = self.frames.short_chunk(part, index, tokens);
                match (piece, &frame.pieces) {
                    (EventPiece::First, Some([first, _])) => out.extend_from_slice(first),
                    (EventPiece::Second, Some([_, second])) => out.extend_from_slice(second),
                    _ => out.extend_from_slice(&frame.whole),
                }
            }
            StreamStep::Tail => {
                held.events += self.frames.tail(self.finish, &self.counts, self.usage, self.timings, out);
            }
            // The others are shared, or have no bytes.
            _ => {}
        }
    }

    fn put(
        &mut self,
        transport: &mut Transport,
        bytes: &[u8],
        due: i64,
        now: i64,
        held: &Held,
        summary: &mut CalibrationSummary,
    ) -> io::Result<StreamProgress> {
        let taken = transport.write(bytes)?;
        summary.count(due, now, self.gap_ns, held.events, held.tokens);
        if self.keeps {
            self.sends.writes.push(Sent { at_ns: now, events: held.events, tokens: held.tokens });
        }
        Ok(match self.plan.peek() {
            _ if held.last => StreamProgress::Ended,
            _ if !taken => {
                summary.blocked += 1;
                StreamProgress::Blocked
            }
            Some((due, _)) => StreamProgress::Due(due),
            None => StreamProgress::Never,
        })
    }
}

impl Held {
    fn count(&mut self, step: StreamStep) {
        self.steps += 1;
        self.last |= step.is_last();
        match step {
            StreamStep::Chunk { tokens, piece: EventPiece::Whole | EventPiece::Second, .. } => {
                self.events += 1;
                self.tokens += tokens;
            }
            StreamStep::Malformed | StreamStep::ErrorEvent => self.events += 1,
            _ => {}
        }
    }
}

/// The bytes of a step, where all streams share them.
fn shared(frames: &Frames, step: StreamStep) -> Option<&[u8]> {
    match step {
        StreamStep::Chunk { part, index, tokens, piece } => {
            let frame = frames.chunk(part, index, tokens)?;
            Some(match (piece, &frame.pieces) {
                (EventPiece::First, Some([first, _])) => first,
                (EventPiece::Second, Some([_, second])) => second,
                _ => &frame.whole,
            })
        }
        StreamStep::Ping => Some(&frames.ping),
        StreamStep::Malformed => Some(&frames.malformed),
        StreamStep::ErrorEvent => Some(&frames.error_end),
        StreamStep::Unfinished => Some(END),
        StreamStep::Tail | StreamStep::Cut | StreamStep::Reset => None,
    }
}
