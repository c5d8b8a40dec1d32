//! One request while it goes on. In the hot path there are only bytes and stamps; what they mean is found out when the
//! answer has ended, or when more than a few kibibytes have gathered, so that memory stays small.

use crate::answer::PartialAnswer;
use crate::clock::seconds;
use crate::fault::{Fault, FaultKind};
use crate::record::Exchange;
use crate::run::LoadLimits;
use crate::sse;

/// Bytes up to a place in the buffer came at a time.
#[derive(Debug, Clone, Copy)]
struct Mark {
    end: usize,
    at_ns: i64,
}

/// Memory of a request that is over, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// What is kept of answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeping {
    /// Whether the text is kept in the record.
    pub answers: bool,
    /// Whether the text is needed to count its tokens.
    pub text: bool,
    /// Bytes that may gather before they are looked at.
    pub gathered: usize,
    /// How much of an answer is taken.
    pub limits: LoadLimits,
}

/// Events of one stream: far more than any answer has tokens. Each takes a few dozen bytes until the answer has ended.
const MOST_EVENTS: u32 = 1_000_000;

/// A request that is going on.
#[derive(Debug)]
pub(crate) struct Flight {
    /// What is known so far.
    pub exchange: Exchange,
    answer: PartialAnswer,
    buffers: Buffers,
    keeping: Keeping,
    is_stream: bool,
    retry_after_s: Option<f64>,
    /// Bytes at which the buffer is looked at.
    full_at: usize,
    last_at_ns: i64,
    /// Bytes of the body so far.
    received: u64,
    /// Where a redirect leads.
    location: Option<String>,
}

impl Flight {
    /// A request that is about to be sent.
    pub(crate) fn new(exchange: Exchange, buffers: Buffers, keeping: Keeping) -> Flight {
        Flight {
            exchange,
            answer: PartialAnswer::new(keeping.text || keeping.answers),
            buffers,
            keeping,
            is_stream: false,
            retry_after_s: None,
            full_at: keeping.gathered,
            last_at_ns: 0,
            received: 0,
            location: None,
        }
    }

    /// The head of the answer came.
    pub(crate) fn head(&mut self, head: &http::response::Parts, at_ns: i64) {
        self.exchange.status = Some(head.status.as_u16());
        self.exchange.first_byte_at_s.get_or_insert(seconds(at_ns));
        self.last_at_ns = at_ns;
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let kind = text(http::header::CONTENT_TYPE).unwrap_or("");
        self.is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        self.location = text(http::header::LOCATION).map(crate::request::without_credentials);
        // A date is possible too, but no inference server sends one.
        self.retry_after_s = text(http::header::RETRY_AFTER).and_then(|value| value.trim().parse().ok());
    }

    /// A piece of the answer came. Fails where the answer is larger than allowed.
    pub(crate) fn data(&mut self, bytes: &[u8], at_ns: i64) -> Result<(), Fault> {
        let limits = self.keeping.limits;
        self.received += bytes.len() as u64;
        // Looking before the buffer grows keeps it at its size.
        if self.is_stream && self.buffers.bytes.len() + bytes.len() > self.full_at {
            self.look(false);
            // One huge event must not be looked at again with every read.
            self.full_at = self.keeping.gathered.max(self.buffers.bytes.len() * 2).min(limits.event_bytes);
            if self.buffers.bytes.len() > limits.event_bytes {
                return Err(too_large("an event", limits.event_bytes as u64));
            }
            if self.answer.events() > MOST_EVENTS {
                return Err(Fault::new(FaultKind::TooLarge, format!("more than {MOST_EVENTS} events")));
            }
        }
        if self.is_stream && self.received > limits.answer_bytes {
            return Err(too_large("the answer", limits.answer_bytes));
        }
        if !self.is_stream && self.received > limits.body_bytes as u64 {
            return Err(too_large("the body", limits.body_bytes as u64));
        }
        let Buffers { bytes: all, marks } = &mut self.buffers;
        if all.capacity() == 0 && self.is_stream {
            all.reserve_exact(self.keeping.gathered);
        }
        all.extend_from_slice(bytes);
        match marks.last_mut() {
            Some(mark) if mark.at_ns == at_ns => mark.end = all.len(),
            _ => marks.push(Mark { end: all.len(), at_ns }),
        }
        self.last_at_ns = at_ns;
        Ok(())
    }

    /// Looks at the events that have come, and forgets their bytes.
    fn look(&mut self, is_all: bool) {
        let Buffers { bytes, marks } = &mut self.buffers;
        let (answer, mut place) = (&mut self.answer, 0);
        let done = sse::scan(bytes, is_all, |event| {
            while marks.get(place).is_some_and(|mark| mark.end < event.end) {
                place += 1;
            }
            let at_ns = marks.get(place).map_or(self.last_at_ns, |mark| mark.at_ns);
            answer.event(&event, at_ns);
        });
        bytes.drain(..done);
        marks.retain_mut(|mark| {
            let is_left = mark.end > done;
            mark.end -= done.min(mark.end);
            is_left
        });
    }

    /// The answer has ended, well or with a fault.
    pub(crate) fn end(mut self, fault: Option<Fault>, at_ns: i64) -> RequestEnd {
        let status = self.exchange.status.unwrap_or(0);
        let refused = self.exchange.status.and_then(FaultKind::of_status);
        match (refused, &fault) {
            // A status says more than a limit that its endless body ran into, but not whose fault that is.
            (Some(_), Some(fault)) if fault.kind == FaultKind::TooLarge => {
                let message = format!("status {status}: {}", fault.message);
                self.answer.fail(Fault::new(FaultKind::TooLarge, message));
            }
            (None, Some(fault)) if fault.kind == FaultKind::TooLarge => self.answer.fail(fault.clone()),
            (Some(FaultKind::Redirect), _) => {
                let place = self.location.as_deref().unwrap_or("nowhere");
                self.answer.fail(Fault::new(FaultKind::Redirect, format!("status {status} to {place}")));
            }
            (Some(kind), _) => self.answer.refused(kind, status, &self.buffers.bytes, self.retry_after_s),
            (None, _) if self.is_stream => self.look(true),
            (None, None) => self.answer.whole(&self.buffers.bytes, at_ns),
            (None, Some(_)) => {}
        }
        match fault {
            // A server may close without ceremony once everything has been said.
            Some(fault) if !(fault.kind == FaultKind::Cut && self.answer.is_complete()) => {
                self.answer.fail(fault)
            }
            None if self.is_stream && refused.is_none() && !self.answer.is_complete() => {
                let message = "the stream ended without a finish reason and without [DONE]";
                self.answer.fail(Fault::new(FaultKind::Cut, message));
            }
            _ => {}
        }
        // The first fault counts: this one only where there is no other.
        if !self.answer.has_content() {
            self.answer.fail(Fault::new(FaultKind::Empty, "the answer ended as it should, without text"));
        }
        let mut exchange = self.exchange;
        exchange.end_at_s = seconds(at_ns);
        let (events, text) = (self.answer.events(), self.answer.text().filter(|_| self.keeping.text));
        self.answer.finish(&mut exchange, self.keeping.answers);
        self.buffers.bytes.clear();
        self.buffers.marks.clear();
        self.buffers.bytes.shrink_to(self.keeping.gathered);
        RequestEnd { exchange, buffers: self.buffers, events, text }
    }
}

fn too_large(what: &str, bytes: u64) -> Fault {
    Fault::new(FaultKind::TooLarge, format!("{what} has more than {bytes} bytes"))
}

/// What is left of a request.
#[derive(Debug)]
pub(crate) struct RequestEnd {
    pub exchange: Exchange,
    /// Memory for the next one.
    pub buffers: Buffers,
    /// Events that came.
    pub events: u32,
    /// The text, if it is needed to count its tokens.
    pub text: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: LoadLimits =
        LoadLimits { header_bytes: None, event_bytes: 2000, body_bytes: 3000, answer_bytes: 40_000 };
    const KEEPING: Keeping = Keeping { answers: true, text: false, gathered: 256, limits: LIMITS };

    fn flight(kind: &str, status: u16) -> Flight {
        let mut flight = Flight::new(Exchange::default(), Buffers::default(), KEEPING);
        let head =
            http::Response::builder().status(status).header("content-type", kind).header("retry-after", "2");
        flight.head(&head.body(()).unwrap().into_parts().0, 5);
        flight
    }

    fn token(text: &str) -> String {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\r\n\r\n")
    }

    #[test]
    fn every_event_has_the_time_of_the_read_that_completed_it() {
        // The bytes are the same, but they come in pieces of every size; an event is there with its last line.
        let stream: String =
            (0..40).map(|index| token(&format!("t{index} é"))).collect::<String>() + "data: [DONE]\n\n";
        let ends: Vec<usize> = stream.match_indices("]}\r\n").map(|(at, _)| at + 4).collect();
        for size in [1, 7, 64, 300, 5000] {
            let mut flight = flight("text/event-stream; charset=utf-8", 200);
            for (index, piece) in stream.as_bytes().chunks(size).enumerate() {
                flight.data(piece, 1_000 * (index as i64 + 1)).unwrap();
            }
            let ended = flight.end(None, 9_999_999);
            assert_eq!(ended.exchange.fault, None);
            assert_eq!(ended.events, 41);
            let expected = ends.iter().map(|end| 1_000 * ((end - 1) / size + 1) as i64);
            let seen = ended.exchange.chunks.iter().filter(|chunk| chunk.kind.is_token());
            let seen =
                seen.flat_map(|chunk| vec![crate::clock::nanoseconds(chunk.at_s); chunk.events as usize]);
            assert!(seen.eq(expected), "pieces of {size}");
        }
    }

    #[test]
    fn a_stream_without_its_end_is_cut() {
        let mut cut = flight("text/event-stream", 200);
        cut.data(token("x").as_bytes(), 10).unwrap();
        assert_eq!(cut.end(None, 20).exchange.fault.unwrap().kind, FaultKind::Cut);
        let mut done = flight("text/event-stream", 200);
        done.data(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", 10).unwrap();
        let rude = Fault::new(FaultKind::Cut, "closed");
        let ended = done.end(Some(rude), 20).exchange.fault.unwrap();
        assert_eq!(ended.kind, FaultKind::Empty, "everything had been said, and it was nothing");
    }

    #[test]
    fn a_server_that_never_stops_is_stopped() {
        let endless = |kind: &str, status: u16, piece: &str| {
            let mut flight = flight(kind, status);
            let fault = (0..100_000).find_map(|at| flight.data(piece.as_bytes(), at).err()).unwrap();
            assert!(flight.buffers.bytes.capacity() < 10_000, "{}", flight.buffers.bytes.capacity());
            flight.end(Some(fault), 20).exchange.fault.unwrap()
        };
        let line = endless("text/event-stream", 200, "data: no end ");
        assert_eq!(
            (line.kind, line.message.as_str()),
            (FaultKind::TooLarge, "an event has more than 2000 bytes")
        );
        let stream = endless("text/event-stream", 200, &token("x"));
        assert_eq!(stream.message, "the answer has more than 40000 bytes");
        let comments = endless("text/event-stream", 200, ": nothing\n\n");
        assert_eq!(comments.kind, FaultKind::TooLarge);
        let body = endless("application/json", 200, "[[[[[");
        assert_eq!(body.message, "the body has more than 3000 bytes");
        let error = endless("text/plain", 500, "oh no ");
        assert_eq!(error.message, "status 500: the body has more than 3000 bytes");
    }

    #[test]
    fn a_redirect_names_its_target_without_credentials() {
        let mut flight = Flight::new(Exchange::default(), Buffers::default(), KEEPING);
        let head = http::Response::builder().status(302).header("location", "http://me:secret@other/v1");
        flight.head(&head.body(()).unwrap().into_parts().0, 5);
        let fault = flight.end(None, 9).exchange.fault.unwrap();
        assert_eq!(
            (fault.kind, fault.message.as_str()),
            (FaultKind::Redirect, "status 302 to http://other/v1")
        );
    }

    #[test]
    fn refusals_keep_the_time_that_the_server_asks_for() {
        let mut refused = flight("application/json", 429);
        refused.data(b"{\"error\":{\"message\":\"slow down\"}}", 10).unwrap();
        let fault = refused.end(None, 20).exchange.fault.unwrap();
        assert_eq!((fault.kind, fault.retry_after_s), (FaultKind::TooMany, Some(2.0)));
        assert_eq!(fault.message, "status 429: slow down");
    }

    #[test]
    fn a_time_out_keeps_what_had_come() {
        let mut late = flight("text/event-stream", 200);
        late.data(token("x").as_bytes(), 1_000).unwrap();
        let ended = late.end(Some(Fault::new(FaultKind::Timeout, "")), 20);
        assert_eq!(ended.exchange.fault.unwrap().kind, FaultKind::Timeout);
        assert_eq!(ended.exchange.first_token_at_s, Some(1e-6));
        assert_eq!(ended.exchange.answer.as_deref(), Some("x"));
    }
}
