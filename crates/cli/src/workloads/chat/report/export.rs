//! A record in other formats: whole as JSON lines, or as two flat tables, one of requests and one of chunks. A chunk
//! belongs to the request with the same part, endpoint, index and warm-up.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use assay_load::record::{RecordReader, write_lines};
use assay_load::{ChunkKind, Exchange};
use assay_store::{Datum, Format, Kind, Rows};

use crate::failure::Mistake;
use crate::options::load::ResultOptions;
use crate::output::ending;

const REQUESTS: [(&str, Kind); 31] = [
    ("part", Kind::Integer),
    ("endpoint", Kind::Integer),
    ("index", Kind::Integer),
    ("warm_up", Kind::Switch),
    ("conversation", Kind::Integer),
    ("turn", Kind::Integer),
    ("intended_at_s", Kind::Float),
    ("sent_at_s", Kind::Float),
    ("connected_at_s", Kind::Float),
    ("first_byte_at_s", Kind::Float),
    ("first_token_at_s", Kind::Float),
    ("first_output_at_s", Kind::Float),
    ("last_token_at_s", Kind::Float),
    ("end_at_s", Kind::Float),
    ("prompt_tokens", Kind::Integer),
    ("output_tokens", Kind::Integer),
    ("reasoning_tokens", Kind::Integer),
    ("cached_tokens", Kind::Integer),
    ("counted_tokens", Kind::Integer),
    ("server_queue_s", Kind::Float),
    ("server_prompt_s", Kind::Float),
    ("server_output_s", Kind::Float),
    ("finish", Kind::Text),
    ("status", Kind::Integer),
    ("fault", Kind::Text),
    ("fault_message", Kind::Text),
    ("attempts", Kind::Integer),
    ("lag_s", Kind::Float),
    ("exact", Kind::Switch),
    ("f1", Kind::Float),
    ("answer", Kind::Text),
];

const CHUNKS: [(&str, Kind); 9] = [
    ("part", Kind::Integer),
    ("endpoint", Kind::Integer),
    ("index", Kind::Integer),
    ("warm_up", Kind::Switch),
    ("at_s", Kind::Float),
    ("kind", Kind::Text),
    ("events", Kind::Integer),
    ("tokens", Kind::Integer),
    ("bytes", Kind::Integer),
];

/// Writes a record in other formats, if they are wanted.
pub(super) fn write_out(record: &Path, results: &ResultOptions) -> anyhow::Result<()> {
    if let Some(path) = &results.lines {
        let written = write_lines(RecordReader::open(record)?, &mut create(path)?);
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let (Some(path), Some(format)) = (&results.export, format(results)?) {
        write_tables(RecordReader::open(record)?, format, path)?;
    }
    Ok(())
}

/// The format of the tables that are wanted, by the ending of their file. To be asked before anything is measured.
pub(super) fn format(results: &ResultOptions) -> Result<Option<Format>, Mistake> {
    let Some(path) = &results.export else { return Ok(None) };
    let ending = ending(path);
    let known = Format::ALL.into_iter().find(|format| format.extension() == ending);
    let unknown = || format!("no export format for the ending `.{ending}`");
    known.map(Some).ok_or_else(|| Mistake::new(unknown(), "use .csv, .jsonl or .parquet"))
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}

/// Writes requests to a file, and chunks to one beside it.
fn write_tables(mut record: RecordReader, format: Format, path: &Path) -> anyhow::Result<()> {
    let beside = path.with_extension(format!("chunks.{}", format.extension()));
    let (mut requests, mut chunks) = (create(path)?, create(&beside)?);
    let mut requests = Rows::new("requests", &REQUESTS, format, &mut requests)?;
    let mut chunks = Rows::new("chunks", &CHUNKS, format, &mut chunks)?;
    while let Some(exchange) = record.next() {
        let (exchange, part) = (exchange?, record.parts().len() as u64);
        requests.row(&request(&exchange, part))?;
        for chunk in &exchange.chunks {
            chunks.row(&[
                integer(part),
                integer(exchange.endpoint),
                integer(exchange.index),
                switch(exchange.warm_up),
                Datum::Float(chunk.at_s),
                Datum::Text(kind(chunk.kind).to_owned()),
                integer(chunk.events),
                chunk.tokens.map_or(Datum::Null, integer),
                integer(chunk.bytes),
            ])?;
        }
    }
    requests.finish()?;
    Ok(chunks.finish()?)
}

fn request(exchange: &Exchange, part: u64) -> [Datum; REQUESTS.len()] {
    let (usage, server) = (exchange.usage.unwrap_or_default(), exchange.server.unwrap_or_default());
    [
        integer(part),
        integer(exchange.endpoint),
        integer(exchange.index),
        switch(exchange.warm_up),
        number(exchange.conversation.map(|(conversation, _)| conversation)),
        number(exchange.conversation.map(|(_, turn)| u64::from(turn))),
        Datum::Float(exchange.intended_at_s),
        Datum::Float(exchange.sent_at_s),
        float(exchange.connected_at_s),
        float(exchange.first_byte_at_s),
        float(exchange.first_token_at_s),
        float(exchange.first_output_at_s),
        float(exchange.last_token_at_s),
        Datum::Float(exchange.end_at_s),
        number(usage.prompt),
        number(usage.output),
        number(usage.reasoning),
        number(usage.cached),
        number(exchange.counted),
        float(server.queue_s),
        float(server.prompt_s),
        float(server.output_s),
        text(exchange.finish.as_deref()),
        number(exchange.status.map(u64::from)),
        text(exchange.fault.as_ref().map(|fault| fault.kind.name())),
        text(exchange.fault.as_ref().map(|fault| fault.message.as_str())),
        integer(exchange.attempts),
        Datum::Float(exchange.lag_s),
        exchange.score.map_or(Datum::Null, |score| switch(score.exact)),
        float(exchange.score.map(|score| score.f1)),
        text(exchange.answer.as_deref()),
    ]
}

fn kind(kind: ChunkKind) -> &'static str {
    match kind {
        ChunkKind::Role => "role",
        ChunkKind::Content => "content",
        ChunkKind::Reasoning => "reasoning",
        ChunkKind::ToolCall => "tool_call",
        ChunkKind::Usage => "usage",
        ChunkKind::Other => "other",
    }
}

fn integer(value: impl Into<u64>) -> Datum {
    Datum::Integer(i64::try_from(value.into()).unwrap_or(i64::MAX))
}

fn number(value: Option<u64>) -> Datum {
    value.map_or(Datum::Null, integer)
}

fn float(value: Option<f64>) -> Datum {
    value.map_or(Datum::Null, Datum::Float)
}

fn text(value: Option<&str>) -> Datum {
    value.map_or(Datum::Null, |text| Datum::Text(text.to_owned()))
}

fn switch(value: bool) -> Datum {
    Datum::Integer(i64::from(value))
}
