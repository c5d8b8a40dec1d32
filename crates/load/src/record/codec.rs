//! One finished request as compact bytes, and back. Times are whole nanoseconds, written as differences, and all numbers take
//! only as many bytes as they need: a chunk takes about seven bytes.

use super::{Chunk, ChunkKind, Exchange, ServerTimes, Usage};
use crate::clock::{nanoseconds, seconds};
use crate::fault::{Fault, FaultKind};
use crate::score::Score;

/// Bytes that are not a finished request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are not a finished request")]
pub struct NoExchange;

/// Appends a finished request.
pub(super) fn encode(exchange: &Exchange, out: &mut Vec<u8>) {
    let mut writer = Writer(out);
    let (intended, sent) = (nanoseconds(exchange.intended_at_s), nanoseconds(exchange.sent_at_s));
    writer.number(u64::from(exchange.endpoint));
    writer.number(exchange.index);
    writer.flag(exchange.warm_up);
    writer.option(exchange.conversation, |writer, (conversation, turn)| {
        writer.number(conversation);
        writer.number(u64::from(turn));
    });
    writer.signed(intended);
    writer.signed(sent - intended);
    writer.option(exchange.connected_at_s, |writer, at| writer.signed(nanoseconds(at) - intended));
    let times = [
        exchange.first_byte_at_s,
        exchange.first_token_at_s,
        exchange.first_output_at_s,
        exchange.last_token_at_s,
    ];
    for time in times {
        writer.option(time, |writer, at| writer.signed(nanoseconds(at) - sent));
    }
    writer.signed(nanoseconds(exchange.end_at_s) - sent);
    writer.option(exchange.usage, |writer, usage| {
        for count in [usage.prompt, usage.output, usage.reasoning, usage.cached] {
            writer.option(count, Writer::number);
        }
    });
    writer.option(exchange.counted, Writer::number);
    writer.option(exchange.server, |writer, server| {
        for value in times_of(&server) {
            writer.option(value, Writer::real);
        }
    });
    writer.option(exchange.finish.as_deref(), Writer::text);
    writer.option(exchange.status, |writer, status| writer.number(u64::from(status)));
    writer.option(exchange.fault.as_ref(), |writer, fault| {
        writer.0.push(fault.kind as u8);
        writer.text(&fault.message);
        writer.option(fault.retry_after_s, Writer::real);
    });
    writer.number(u64::from(exchange.attempts));
    writer.option(exchange.answer.as_deref(), Writer::text);
    writer.number(u64::from(exchange.merged_stamps));
    writer.signed(nanoseconds(exchange.lag_s));
    writer.number(exchange.chunks.len() as u64);
    let mut last = sent;
    for chunk in &exchange.chunks {
        let at = nanoseconds(chunk.at_s);
        writer.signed(at - last);
        last = at;
        // Nearly all chunks are one event whose tokens are unknown: one byte says so, and which kind it is.
        let is_plain = chunk.events == 1 && chunk.tokens.is_none();
        writer.0.push(chunk.kind as u8 | if is_plain { 0 } else { 0x80 });
        if !is_plain {
            writer.number(u64::from(chunk.events));
            writer.option(chunk.tokens, |writer, tokens| writer.number(u64::from(tokens)));
        }
        writer.number(u64::from(chunk.bytes));
    }
    // Later additions are at the end, where older files have nothing.
    writer.option(exchange.score, |writer, score| {
        writer.flag(score.exact);
        writer.real(score.f1);
    });
}

/// Reads a finished request back.
pub(super) fn decode(bytes: &[u8]) -> Result<Exchange, NoExchange> {
    let mut reader = ByteReader(bytes);
    let exchange = reader.exchange().ok_or(NoExchange)?;
    if reader.0.is_empty() { Ok(exchange) } else { Err(NoExchange) }
}

fn times_of(server: &ServerTimes) -> [Option<f64>; 6] {
    [server.queue_s, server.ttft_s, server.prompt_s, server.output_s, server.total_s, server.output_rate]
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Small numbers of either sign stay small.
    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn real(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

struct ByteReader<'a>(&'a [u8]);

impl ByteReader<'_> {
    fn exchange(&mut self) -> Option<Exchange> {
        let endpoint = u16::try_from(self.number()?).ok()?;
        let index = self.number()?;
        let warm_up = self.flag()?;
        let conversation = self.option(|reader| Some((reader.number()?, reader.small()?)))?;
        let intended = self.signed()?;
        let sent = intended.checked_add(self.signed()?)?;
        let connected_at_s = self.option(|reader| reader.time(intended))?;
        let first_byte_at_s = self.option(|reader| reader.time(sent))?;
        let first_token_at_s = self.option(|reader| reader.time(sent))?;
        let first_output_at_s = self.option(|reader| reader.time(sent))?;
        let last_token_at_s = self.option(|reader| reader.time(sent))?;
        Some(Exchange {
            endpoint,
            index,
            warm_up,
            conversation,
            intended_at_s: seconds(intended),
            sent_at_s: seconds(sent),
            connected_at_s,
            first_byte_at_s,
            first_token_at_s,
            first_output_at_s,
            last_token_at_s,
            end_at_s: self.time(sent)?,
            usage: self.option(Self::usage)?,
            counted: self.option(Self::number)?,
            server: self.option(Self::server)?,
            finish: self.option(Self::text)?,
            status: self.option(|reader| u16::try_from(reader.number()?).ok())?,
            fault: self.option(Self::fault)?,
            attempts: self.small()?,
            answer: self.option(Self::text)?,
            merged_stamps: self.small()?,
            lag_s: self.time(0)?,
            chunks: self.chunks(sent)?,
            score: if self.0.is_empty() { None } else { self.option(Self::score)? },
        })
    }

    fn chunks(&mut self, sent: i64) -> Option<Vec<Chunk>> {
        let count = usize::try_from(self.number()?).ok()?;
        // A chunk takes at least three bytes, so a count that was damaged cannot ask for all memory.
        let mut chunks = Vec::with_capacity(count.min(self.0.len() / 3 + 1));
        let mut last = sent;
        for _ in 0..count {
            last = last.checked_add(self.signed()?)?;
            let kind = self.byte()?;
            let (events, tokens) = match kind & 0x80 {
                0 => (1, None),
                _ => (self.small()?, self.option(Self::small)?),
            };
            let kind = *ChunkKind::ALL.get(usize::from(kind & 0x7f))?;
            chunks.push(Chunk { at_s: seconds(last), events, tokens, kind, bytes: self.small()? });
        }
        Some(chunks)
    }

    fn usage(&mut self) -> Option<Usage> {
        Some(Usage {
            prompt: self.option(Self::number)?,
            output: self.option(Self::number)?,
            reasoning: self.option(Self::number)?,
            cached: self.option(Self::number)?,
        })
    }

    fn server(&mut self) -> Option<ServerTimes> {
        Some(ServerTimes {
            queue_s: self.option(Self::real)?,
            ttft_s: self.option(Self::real)?,
            prompt_s: self.option(Self::real)?,
            output_s: self.option(Self::real)?,
            total_s: self.option(Self::real)?,
            output_rate: self.option(Self::real)?,
        })
    }

    fn score(&mut self) -> Option<Score> {
        Some(Score { exact: self.flag()?, f1: self.real()? })
    }

    fn fault(&mut self) -> Option<Fault> {
        let kind = *FaultKind::ALL.get(usize::from(self.byte()?))?;
        Some(Fault { kind, message: self.text()?, retry_after_s: self.option(Self::real)? })
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn time(&mut self, since: i64) -> Option<f64> {
        Some(seconds(since.checked_add(self.signed()?)?))
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn real(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times() -> impl Strategy<Value = f64> {
        (0_i64..4_000_000_000_000_000).prop_map(seconds)
    }

    fn chunks() -> impl Strategy<Value = Vec<Chunk>> {
        let chunk = (times(), 1_u32..9, any::<Option<u32>>(), 0_usize..6, any::<u32>());
        let chunk = chunk.prop_map(|(at_s, events, tokens, kind, bytes)| Chunk {
            at_s,
            events,
            tokens,
            kind: ChunkKind::ALL[kind],
            bytes,
        });
        proptest::collection::vec(chunk, 0..20)
    }

    prop_compose! {
        fn exchanges()(
            (endpoint, index, warm_up, conversation) in any::<(u16, u64, bool, Option<(u64, u32)>)>(),
            (intended_at_s, sent_at_s, end_at_s) in (times(), times(), times()),
            early in proptest::option::of(times()),
            token in proptest::option::of(times()),
            chunks in chunks(),
            counts in any::<Option<(Option<u64>, Option<u64>, Option<u64>)>>(),
            rate in proptest::option::of(0.0..1e9),
            fault in proptest::option::of((0_usize..20, ".{0,9}", proptest::option::of(0.0..99.0))),
            (finish, answer) in (proptest::option::of("[a-z]{0,5}"), proptest::option::of(".{0,30}")),
            (status, counted, attempts, merged_stamps) in any::<(Option<u16>, Option<u64>, u32, u32)>(),
            score in proptest::option::of((any::<bool>(), 0.0..=1.0)),
        ) -> Exchange {
            Exchange {
                endpoint, index, warm_up, conversation, intended_at_s, sent_at_s, end_at_s, chunks,
                connected_at_s: early, first_byte_at_s: token, first_token_at_s: token, first_output_at_s: early, last_token_at_s: token,
                usage: counts.map(|(prompt, output, cached)| Usage { prompt, output, reasoning: None, cached }),
                counted, finish, status, attempts, answer, merged_stamps,
                server: rate.map(|rate| ServerTimes { output_rate: Some(rate), ..ServerTimes::default() }),
                fault: fault.map(|(kind, message, retry_after_s)| Fault { kind: FaultKind::ALL[kind], message, retry_after_s }),
                lag_s: 0.000_123,
                score: score.map(|(exact, f1)| Score { exact, f1 }),
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(exchange in exchanges()) {
            let mut bytes = Vec::new();
            encode(&exchange, &mut bytes);
            prop_assert_eq!(&decode(&bytes).unwrap(), &exchange);
            // Older files end before the score.
            let old = bytes.len() - if exchange.score.is_some() { 10 } else { 1 };
            prop_assert_eq!(decode(&bytes[..old]).unwrap().score, None);
            for end in (0..bytes.len()).filter(|end| *end != old) {
                prop_assert_eq!(decode(&bytes[..end]), Err(NoExchange));
            }
        }

        #[test]
        fn strange_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
