//! Requests and chunks of loads in other formats: as JSON lines, or as two flat tables. A chunk belongs to the request
//! with the same load, endpoint, index and warm-up.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use assay_load::Exchange;
use assay_load::record::write_lines;
use assay_store::{ColumnKind, Datum, ExportFormat, Rows};

use super::super::results::{EndpointResult, LoadResults, request};
use super::{LoadReport, ReportOptions, foreign};
use crate::failure::Mistake;
use crate::output::{self, ending};

const REQUESTS: [(&str, ColumnKind); 42] = [
    ("load", ColumnKind::Integer),
    ("run", ColumnKind::Text),
    ("endpoint", ColumnKind::Text),
    ("url", ColumnKind::Text),
    ("model", ColumnKind::Text),
    ("streams", ColumnKind::Integer),
    ("rate", ColumnKind::Float),
    ("index", ColumnKind::Integer),
    ("warm_up", ColumnKind::Switch),
    ("conversation", ColumnKind::Integer),
    ("turn", ColumnKind::Integer),
    ("ttft_s", ColumnKind::Float),
    ("ttfo_s", ColumnKind::Float),
    ("tpot_s", ColumnKind::Float),
    ("e2e_s", ColumnKind::Float),
    ("success", ColumnKind::Switch),
    ("good", ColumnKind::Switch),
    ("intended_at_s", ColumnKind::Float),
    ("sent_at_s", ColumnKind::Float),
    ("connected_at_s", ColumnKind::Float),
    ("first_byte_at_s", ColumnKind::Float),
    ("first_token_at_s", ColumnKind::Float),
    ("first_output_at_s", ColumnKind::Float),
    ("last_token_at_s", ColumnKind::Float),
    ("end_at_s", ColumnKind::Float),
    ("prompt_tokens", ColumnKind::Integer),
    ("output_tokens", ColumnKind::Integer),
    ("reasoning_tokens", ColumnKind::Integer),
    ("cached_tokens", ColumnKind::Integer),
    ("counted_tokens", ColumnKind::Integer),
    ("server_queue_s", ColumnKind::Float),
    ("server_prompt_s", ColumnKind::Float),
    ("server_output_s", ColumnKind::Float),
    ("finish", ColumnKind::Text),
    ("status", ColumnKind::Integer),
    ("fault", ColumnKind::Text),
    ("fault_message", ColumnKind::Text),
    ("attempts", ColumnKind::Integer),
    ("lag_s", ColumnKind::Float),
    ("exact", ColumnKind::Switch),
    ("f1", ColumnKind::Float),
    ("answer", ColumnKind::Text),
];

const CHUNKS: [(&str, ColumnKind); 9] = [
    ("load", ColumnKind::Integer),
    ("endpoint", ColumnKind::Text),
    ("index", ColumnKind::Integer),
    ("warm_up", ColumnKind::Switch),
    ("at_s", ColumnKind::Float),
    ("kind", ColumnKind::Text),
    ("events", ColumnKind::Integer),
    ("tokens", ColumnKind::Integer),
    ("bytes", ColumnKind::Integer),
];

/// Writes loads in other formats, if they are wanted.
pub(super) fn write_out(loads: &[LoadReport], options: &ReportOptions) -> anyhow::Result<()> {
    if let Some(path) = &options.lines {
        let mut out = create(path)?;
        for (load, number) in loads.iter().zip(1..) {
            write_lines(number, load.stored.requests()?, &mut out)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    if let (Some(path), Some(format)) = (&options.export, options.format) {
        return foreign::write(loads, format, path);
    }
    if let (Some(path), Some(format)) = (&options.export, format(options.export.as_deref())?) {
        write_tables(loads, format, path)?;
    }
    Ok(())
}

/// The format of tables by the ending of their file. To be checked before anything is measured.
pub fn format(path: Option<&Path>) -> Result<Option<ExportFormat>, Mistake> {
    let Some(path) = path else { return Ok(None) };
    let ending = ending(path);
    let known = ExportFormat::ALL.into_iter().find(|format| format.extension() == ending);
    let unknown = || format!("no export format for `.{ending}`");
    known.map(Some).ok_or_else(|| Mistake::new(unknown(), "use .csv, .jsonl or .parquet"))
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    Ok(BufWriter::new(output::create(path)?))
}

/// Writes requests to a file, and chunks to one beside it.
fn write_tables(loads: &[LoadReport], format: ExportFormat, path: &Path) -> anyhow::Result<()> {
    let beside = path.with_extension(format!("chunks.{}", format.extension()));
    let (mut requests, mut chunks) = (create(path)?, create(&beside)?);
    let mut requests = Rows::new("requests", &REQUESTS, format, &mut requests)?;
    let mut chunks = Rows::new("chunks", &CHUNKS, format, &mut chunks)?;
    for (load, number) in loads.iter().zip(1_u64..) {
        for exchange in load.stored.requests()? {
            let exchange = exchange?;
            let Some(endpoint) = load.results.endpoints.get(usize::from(exchange.endpoint)) else { continue };
            requests.row(&request_row(&exchange, load, endpoint, number))?;
            for chunk in &exchange.chunks {
                chunks.row(&[
                    integer(number),
                    Datum::Text(endpoint.name()),
                    integer(exchange.index),
                    switch(exchange.warm_up),
                    Datum::Float(chunk.at_s),
                    Datum::Text(chunk.kind.name().to_owned()),
                    integer(chunk.events),
                    chunk.tokens.map_or(Datum::Null, integer),
                    integer(chunk.bytes),
                ])?;
            }
        }
    }
    requests.finish()?;
    Ok(chunks.finish()?)
}

fn request_row(
    exchange: &Exchange,
    load: &LoadReport,
    endpoint: &EndpointResult,
    number: u64,
) -> [Datum; REQUESTS.len()] {
    let results: &LoadResults = &load.results;
    let judged = request(exchange);
    let (usage, server) = (exchange.usage.unwrap_or_default(), exchange.server.unwrap_or_default());
    let after = |at_s: Option<f64>| float(at_s.map(|at_s| at_s - exchange.intended_at_s));
    let good = results.has_bounds.then(|| switch(results.bounds.are_met(&judged)));
    [
        integer(number),
        text(load.run.as_deref()),
        Datum::Text(endpoint.name()),
        Datum::Text(endpoint.url.clone()),
        Datum::Text(endpoint.model.clone()),
        count(results.streams),
        float(results.rate),
        integer(exchange.index),
        switch(exchange.warm_up),
        count(exchange.conversation.map(|(conversation, _)| conversation)),
        count(exchange.conversation.map(|(_, turn)| u64::from(turn))),
        after(exchange.first_token_at_s),
        after(exchange.first_output_at_s),
        float(judged.tpot_s()),
        after(Some(exchange.end_at_s)),
        switch(exchange.is_success()),
        good.unwrap_or(Datum::Null),
        Datum::Float(exchange.intended_at_s),
        Datum::Float(exchange.sent_at_s),
        float(exchange.connected_at_s),
        float(exchange.first_byte_at_s),
        float(exchange.first_token_at_s),
        float(exchange.first_output_at_s),
        float(exchange.last_token_at_s),
        Datum::Float(exchange.end_at_s),
        count(usage.prompt),
        count(usage.output),
        count(usage.reasoning),
        count(usage.cached),
        count(exchange.counted),
        float(server.queue_s),
        float(server.prompt_s),
        float(server.output_s),
        text(exchange.finish.as_deref()),
        count(exchange.status.map(u64::from)),
        text(exchange.fault.as_ref().map(|fault| fault.kind.code())),
        text(exchange.fault.as_ref().map(|fault| fault.message.as_str())),
        integer(exchange.attempts),
        Datum::Float(exchange.lag_s),
        exchange.score.map_or(Datum::Null, |score| switch(score.exact)),
        float(exchange.score.map(|score| score.f1)),
        text(exchange.answer.as_deref()),
    ]
}

fn integer(value: impl Into<u64>) -> Datum {
    Datum::Integer(i64::try_from(value.into()).unwrap_or(i64::MAX))
}

fn count(value: Option<u64>) -> Datum {
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
