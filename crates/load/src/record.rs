//! Finished requests, and the files they are kept in. Times are seconds since the load began, on one monotonic clock.
//!
//! | file | holds |
//! |---|---|
//! | `record/codec.rs`, `record/spool.rs` | the spool: compact, append-only, readable after a crash |
//! | `record/columns.rs`, `record/tables.rs` | requests and chunks as Parquet tables |
//! | `record/stored.rs` | a load on disk, in either form |
//! | `record/file.rs` | files as private as their directory |

mod codec;
mod columns;
mod file;
mod spool;
mod stored;
mod tables;

pub use spool::SpoolWriter;
pub use stored::{LoadSummary, Requests, SPOOL_FILE, SUMMARY_FILE, StoredLoad, finish_run, write_lines};
pub use tables::{CHUNKS_FILE, REQUESTS_FILE};

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::score::Score;

/// Why the files of a load cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("not a record of a load")]
    NotARecord,
    #[error("the file is damaged after {0} requests")]
    Damaged(u64),
    #[error("{0} is damaged: its checksum is not that of the table that was written")]
    DamagedTable(String),
    #[error(transparent)]
    Table(#[from] parquet::errors::ParquetError),
}

/// One finished request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The endpoint, by its place in the list.
    pub endpoint: u16,
    /// The request, by its place in the load.
    pub index: u64,
    /// Whether it was only made to warm the endpoint up.
    pub warm_up: bool,
    /// The conversation and the turn in it, from 0.
    pub conversation: Option<(u64, u32)>,
    /// When it was meant to be sent.
    pub intended_at_s: f64,
    /// When its first byte was handed to the system.
    pub sent_at_s: f64,
    /// When its connection stood, if it needed a new one (with TLS: when the channel was secure).
    pub connected_at_s: Option<f64>,
    /// When the first byte of the answer arrived.
    pub first_byte_at_s: Option<f64>,
    /// When the last byte of the answer arrived, or when the fault was seen.
    pub end_at_s: f64,
    /// What arrived, in order.
    pub chunks: Vec<Chunk>,
    /// When the first token arrived: content, reasoning or a tool call that is not empty.
    pub first_token_at_s: Option<f64>,
    /// When the first output token arrived: content or a tool call that is not empty.
    pub first_output_at_s: Option<f64>,
    /// When the last token arrived.
    pub last_token_at_s: Option<f64>,
    /// Tokens as the server counts them.
    pub usage: Option<Usage>,
    /// Output tokens as our tokenizer counts them in the text that came.
    pub counted: Option<u64>,
    /// Times that the server reported.
    pub server: Option<ServerTimes>,
    /// Why the server says that it stopped.
    pub finish: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What went wrong.
    pub fault: Option<Fault>,
    /// How often it was sent, 1 without retries.
    pub attempts: u32,
    /// The text of the answer, if it is kept.
    pub answer: Option<String>,
    /// How good the answer is, where right answers are known.
    #[serde(default)]
    pub score: Option<Score>,
    /// Events that share their timestamp with an earlier one, because both waited when the socket was read or because the
    /// server sent them together.
    pub merged_stamps: u32,
    /// The longest time that bytes of it waited in the system until they were read.
    pub lag_s: f64,
}

impl Exchange {
    /// Whether it ended as it should.
    pub fn is_success(&self) -> bool {
        self.fault.is_none()
    }
}

/// What arrived at one time and is of one kind: usually one event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// When it arrived, by the kernel's timestamp.
    pub at_s: f64,
    /// How many events it was.
    pub events: u32,
    /// How many tokens it was, where the server reports that for every chunk.
    pub tokens: Option<u32>,
    /// What it was.
    pub kind: ChunkKind,
    /// How many bytes of text it brought (for a tool call, of arguments).
    pub bytes: u32,
}

/// What a chunk brings. The order is that of the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkKind {
    /// A role and no text.
    Role,
    /// Text of the answer.
    Content,
    /// Text of the reasoning before it.
    Reasoning,
    /// A piece of a tool call.
    ToolCall,
    /// Counts of tokens and nothing else.
    Usage,
    /// Anything else: an empty delta, a finish reason, `[DONE]`.
    Other,
}

impl ChunkKind {
    /// All kinds, in the order of the spool.
    pub const ALL: [ChunkKind; 6] = [
        ChunkKind::Role,
        ChunkKind::Content,
        ChunkKind::Reasoning,
        ChunkKind::ToolCall,
        ChunkKind::Usage,
        ChunkKind::Other,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ChunkKind::Role => "role",
            ChunkKind::Content => "content",
            ChunkKind::Reasoning => "reasoning",
            ChunkKind::ToolCall => "tool_call",
            ChunkKind::Usage => "usage",
            ChunkKind::Other => "other",
        }
    }

    /// The kind of a name in tables.
    pub fn of_name(name: &str) -> Option<ChunkKind> {
        ChunkKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it brings tokens.
    pub fn is_token(self) -> bool {
        matches!(self, ChunkKind::Content | ChunkKind::Reasoning | ChunkKind::ToolCall)
    }
}

/// Tokens as the server counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: Option<u64>,
    /// All tokens that were generated, those of the reasoning included.
    pub output: Option<u64>,
    /// Tokens of the reasoning.
    pub reasoning: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    pub cached: Option<u64>,
}

/// Times that the server reported in its answer, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerTimes {
    /// Waiting before the work began.
    pub queue_s: Option<f64>,
    /// Until the first token, as the server saw it.
    pub ttft_s: Option<f64>,
    /// Reading the prompt.
    pub prompt_s: Option<f64>,
    /// Generating.
    pub output_s: Option<f64>,
    /// The whole request.
    pub total_s: Option<f64>,
    /// Output tokens per second.
    pub output_rate: Option<f64>,
}

/// How well the client itself did: whether its numbers can be trusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// How long bytes waited until they were read: a sample of all reads, in seconds.
    pub client_lag_s: Vec<f64>,
    /// How much later than intended requests were sent: one a request up to a bound, then a sample, in seconds.
    pub schedule_lag_s: Vec<f64>,
    /// Requests in flight over time: seconds since the load began, asked for, really there.
    pub in_flight: Vec<(f64, u32, u32)>,
    /// CPU seconds of each thread.
    pub cpu_s: Vec<f64>,
    /// Seconds that each thread ran, to compare the CPU seconds with.
    pub wall_s: Vec<f64>,
    /// Connections that were opened.
    pub connections: u64,
    /// Requests that were sent, retries included.
    pub requests: u64,
    /// Requests that met a connection which the server had given up, and were sent once more on another.
    pub sent_again: u64,
    /// Events that arrived in streams.
    pub events: u64,
    /// Events that share their timestamp with an earlier one.
    pub merged: u64,
    /// Reads that the kernel gave no timestamp for; the user's clock was taken instead.
    pub unstamped: u64,
    /// Reads from sockets.
    pub reads: u64,
}
