//! The two tables of a load, `requests.parquet` and `chunks.parquet`. A chunk belongs to the request whose row number
//! it carries; both tables are in the order in which requests ended.

use std::path::Path;

use parquet::errors::ParquetError;

use super::columns::ColumnType::{Float, Integer, Switch, Text};
use super::columns::{ColumnSpec, Field, RowValues, TableReader, TableWriter};
use super::{Chunk, ChunkKind, Exchange, ServerTimes, Usage};
use crate::fault::{Fault, FaultKind};
use crate::score::Score;

/// The file with one row a request.
pub const REQUESTS_FILE: &str = "requests.parquet";
/// The file with one row a chunk.
pub const CHUNKS_FILE: &str = "chunks.parquet";

/// Rows of a row group: what is in memory while a table is written or read.
const REQUESTS_IN_GROUP: usize = 8 << 10;
const CHUNKS_IN_GROUP: usize = 32 << 10;

const REQUESTS: [ColumnSpec; 35] = [
    ("endpoint", Integer, true),
    ("index", Integer, true),
    ("warm_up", Switch, true),
    ("conversation", Integer, false),
    ("turn", Integer, false),
    ("intended_at_s", Float, true),
    ("sent_at_s", Float, true),
    ("connected_at_s", Float, false),
    ("first_byte_at_s", Float, false),
    ("first_token_at_s", Float, false),
    ("first_output_at_s", Float, false),
    ("last_token_at_s", Float, false),
    ("end_at_s", Float, true),
    ("prompt_tokens", Integer, false),
    ("output_tokens", Integer, false),
    ("reasoning_tokens", Integer, false),
    ("cached_tokens", Integer, false),
    ("counted_tokens", Integer, false),
    ("server_queue_s", Float, false),
    ("server_ttft_s", Float, false),
    ("server_prompt_s", Float, false),
    ("server_output_s", Float, false),
    ("server_total_s", Float, false),
    ("server_output_throughput", Float, false),
    ("finish", Text, false),
    ("status", Integer, false),
    ("fault", Text, false),
    ("fault_message", Text, false),
    ("retry_after_s", Float, false),
    ("attempts", Integer, true),
    ("merged_stamps", Integer, true),
    ("lag_s", Float, true),
    ("exact", Switch, false),
    ("f1", Float, false),
    ("answer", Text, false),
];

const CHUNKS: [ColumnSpec; 6] = [
    ("request", Integer, true),
    ("at_s", Float, true),
    ("kind", Text, true),
    ("events", Integer, true),
    ("tokens", Integer, false),
    ("bytes", Integer, true),
];

/// Writes both tables.
pub(super) struct LoadTablesWriter {
    requests: TableWriter,
    chunks: TableWriter,
    rows: u64,
}

impl LoadTablesWriter {
    /// Creates both files under these names.
    pub(super) fn create(requests: &Path, chunks: &Path) -> Result<LoadTablesWriter, ParquetError> {
        Ok(LoadTablesWriter {
            requests: TableWriter::create(requests, &REQUESTS, REQUESTS_IN_GROUP)?,
            chunks: TableWriter::create(chunks, &CHUNKS, CHUNKS_IN_GROUP)?,
            rows: 0,
        })
    }

    /// Adds a finished request with its chunks.
    pub(super) fn add(&mut self, exchange: &Exchange) -> Result<(), ParquetError> {
        let count = |number: u32| Field::Integer(Some(u64::from(number)));
        self.requests.row(&fields(exchange))?;
        for chunk in &exchange.chunks {
            self.chunks.row(&[
                Field::Integer(Some(self.rows)),
                Field::Float(Some(chunk.at_s)),
                Field::Word(chunk.kind.name()),
                count(chunk.events),
                Field::Integer(chunk.tokens.map(u64::from)),
                count(chunk.bytes),
            ])?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Writes the rest; both files are on the disk then.
    pub(super) fn finish(self) -> Result<(), ParquetError> {
        self.requests.finish()?;
        self.chunks.finish()
    }
}

fn fields(exchange: &Exchange) -> [Field<'_>; REQUESTS.len()] {
    let (usage, server) = (exchange.usage.unwrap_or_default(), exchange.server.unwrap_or_default());
    let fault = exchange.fault.as_ref();
    [
        Field::Integer(Some(u64::from(exchange.endpoint))),
        Field::Integer(Some(exchange.index)),
        Field::Switch(Some(exchange.warm_up)),
        Field::Integer(exchange.conversation.map(|(conversation, _)| conversation)),
        Field::Integer(exchange.conversation.map(|(_, turn)| u64::from(turn))),
        Field::Float(Some(exchange.intended_at_s)),
        Field::Float(Some(exchange.sent_at_s)),
        Field::Float(exchange.connected_at_s),
        Field::Float(exchange.first_byte_at_s),
        Field::Float(exchange.first_token_at_s),
        Field::Float(exchange.first_output_at_s),
        Field::Float(exchange.last_token_at_s),
        Field::Float(Some(exchange.end_at_s)),
        Field::Integer(usage.prompt),
        Field::Integer(usage.output),
        Field::Integer(usage.reasoning),
        Field::Integer(usage.cached),
        Field::Integer(exchange.counted),
        Field::Float(server.queue_s),
        Field::Float(server.ttft_s),
        Field::Float(server.prompt_s),
        Field::Float(server.output_s),
        Field::Float(server.total_s),
        Field::Float(server.output_rate),
        Field::Text(exchange.finish.as_deref()),
        Field::Integer(exchange.status.map(u64::from)),
        fault.map_or(Field::Text(None), |fault| Field::Word(fault.kind.code())),
        Field::Text(fault.map(|fault| fault.message.as_str())),
        Field::Float(fault.and_then(|fault| fault.retry_after_s)),
        Field::Integer(Some(u64::from(exchange.attempts))),
        Field::Integer(Some(u64::from(exchange.merged_stamps))),
        Field::Float(Some(exchange.lag_s)),
        Field::Switch(exchange.score.map(|score| score.exact)),
        Field::Float(exchange.score.map(|score| score.f1)),
        Field::Text(exchange.answer.as_deref()),
    ]
}

/// Reads both tables, one request with its chunks at a time.
pub(super) struct LoadTablesReader {
    requests: TableReader,
    chunks: TableReader,
    rows: u64,
    /// The chunk that was read and belongs to a later request.
    waiting: Option<(u64, Chunk)>,
}

impl LoadTablesReader {
    /// Opens both files.
    pub(super) fn open(requests: &Path, chunks: &Path) -> Result<LoadTablesReader, ParquetError> {
        Ok(LoadTablesReader {
            requests: TableReader::open(requests, &REQUESTS)?,
            chunks: TableReader::open(chunks, &CHUNKS)?,
            rows: 0,
            waiting: None,
        })
    }

    /// The next request; none at the end.
    pub(super) fn next_request(&mut self) -> Result<Option<Exchange>, ParquetError> {
        let Some(row) = self.requests.next_row()? else { return Ok(None) };
        let mut exchange = exchange(row);
        loop {
            let chunk = match self.waiting.take() {
                Some(chunk) => Some(chunk),
                None => self.chunks.next_row()?.map(chunk),
            };
            match chunk {
                Some((request, chunk)) if request == self.rows => exchange.chunks.push(chunk),
                other => {
                    self.waiting = other;
                    break;
                }
            }
        }
        self.rows += 1;
        Ok(Some(exchange))
    }
}

fn chunk(mut row: RowValues<'_>) -> (u64, Chunk) {
    let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let request = row.integer().unwrap_or(u64::MAX);
    let at_s = row.float().unwrap_or_default();
    let kind = row.text().and_then(ChunkKind::of_name).unwrap_or(ChunkKind::Other);
    let events = small(row.integer()).unwrap_or(0);
    let tokens = small(row.integer());
    (request, Chunk { at_s, events, tokens, kind, bytes: small(row.integer()).unwrap_or(0) })
}

fn exchange(mut row: RowValues<'_>) -> Exchange {
    let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let tiny = |number: Option<u64>| number.and_then(|number| u16::try_from(number).ok());
    Exchange {
        endpoint: tiny(row.integer()).unwrap_or(0),
        index: row.integer().unwrap_or(0),
        warm_up: row.switch().unwrap_or(false),
        conversation: {
            let (conversation, turn) = (row.integer(), small(row.integer()));
            conversation.zip(turn)
        },
        intended_at_s: row.float().unwrap_or_default(),
        sent_at_s: row.float().unwrap_or_default(),
        connected_at_s: row.float(),
        first_byte_at_s: row.float(),
        first_token_at_s: row.float(),
        first_output_at_s: row.float(),
        last_token_at_s: row.float(),
        end_at_s: row.float().unwrap_or_default(),
        usage: {
            let [prompt, output, reasoning, cached] =
                [row.integer(), row.integer(), row.integer(), row.integer()];
            Some(Usage { prompt, output, reasoning, cached }).filter(|usage| *usage != Usage::default())
        },
        counted: row.integer(),
        server: {
            let server = ServerTimes {
                queue_s: row.float(),
                ttft_s: row.float(),
                prompt_s: row.float(),
                output_s: row.float(),
                total_s: row.float(),
                output_rate: row.float(),
            };
            Some(server).filter(|server| *server != ServerTimes::default())
        },
        finish: row.text().map(str::to_owned),
        status: tiny(row.integer()),
        fault: {
            let kind = row.text().and_then(FaultKind::of_code);
            let message = row.text().unwrap_or_default().to_owned();
            let retry_after_s = row.float();
            kind.map(|kind| Fault { kind, message, retry_after_s })
        },
        attempts: small(row.integer()).unwrap_or(1),
        merged_stamps: small(row.integer()).unwrap_or(0),
        lag_s: row.float().unwrap_or_default(),
        score: {
            let (exact, f1) = (row.switch(), row.float());
            exact.zip(f1).map(|(exact, f1)| Score { exact, f1 })
        },
        answer: row.text().map(str::to_owned),
        chunks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_and_without_everything_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let [requests, chunks] = [REQUESTS_FILE, CHUNKS_FILE].map(|name| directory.path().join(name));
        let chunk = |at_s, kind, tokens| Chunk { at_s, events: 2, tokens, kind, bytes: 9 };
        let whole = Exchange {
            endpoint: 3,
            index: 7,
            warm_up: true,
            conversation: Some((4, 2)),
            intended_at_s: 0.5,
            sent_at_s: 0.25,
            connected_at_s: Some(0.3),
            first_byte_at_s: Some(0.4),
            first_token_at_s: Some(0.45),
            first_output_at_s: Some(0.5),
            last_token_at_s: Some(0.6),
            end_at_s: 1.0 / 3.0,
            chunks: vec![chunk(0.1, ChunkKind::Role, None), chunk(0.2, ChunkKind::Content, Some(3))],
            usage: Some(Usage { prompt: Some(1), output: Some(2), reasoning: None, cached: Some(4) }),
            counted: Some(5),
            server: Some(ServerTimes { ttft_s: Some(0.5), ..ServerTimes::default() }),
            finish: Some("stop".to_owned()),
            status: Some(429),
            fault: Some(Fault {
                kind: FaultKind::TooMany,
                message: "so late: é".to_owned(),
                retry_after_s: Some(2.0),
            }),
            attempts: 4,
            answer: Some("text".to_owned()),
            score: Some(Score { exact: true, f1: 0.5 }),
            merged_stamps: 6,
            lag_s: 1e-3,
        };
        let plain = Exchange { attempts: 1, ..Exchange::default() };
        let many = 3 * REQUESTS_IN_GROUP + 5;
        let mut writer = LoadTablesWriter::create(&requests, &chunks).unwrap();
        for index in 0..many {
            writer.add(if index % 2 == 0 { &whole } else { &plain }).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = LoadTablesReader::open(&requests, &chunks).unwrap();
        for index in 0..many {
            let expected = if index % 2 == 0 { &whole } else { &plain };
            assert_eq!(reader.next_request().unwrap().as_ref(), Some(expected), "{index}");
        }
        assert_eq!(reader.next_request().unwrap(), None);
    }

    #[test]
    fn a_table_that_was_cut_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let [requests, chunks] = [REQUESTS_FILE, CHUNKS_FILE].map(|name| directory.path().join(name));
        let mut writer = LoadTablesWriter::create(&requests, &chunks).unwrap();
        writer.add(&Exchange { attempts: 1, ..Exchange::default() }).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&requests).unwrap();
        std::fs::write(&requests, &bytes[..bytes.len() - 10]).unwrap();
        assert!(LoadTablesReader::open(&requests, &chunks).is_err());
    }
}
