//! `load --self-check`: the client against an endpoint whose true times are known.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context;
use assay_judge::load::{Bounds, Distribution};
use assay_load::calibration::{Schedule, Server, StreamSends};
use assay_load::clock::nanoseconds;
use assay_load::record::RecordReader;
use assay_load::request::Endpoint;
use assay_load::run::Load;
use assay_report::{Cell, Column, Table};
use serde_json::json;

use super::{Recorder, Results, Setup};
use crate::exit::Exit;
use crate::options::load as options;
use crate::screen::Screen;
use crate::signals::stop_flag;

/// Streams, unless others are asked for.
const STREAMS: u32 = 64;
/// Requests of a stream.
const REQUESTS: u64 = 15;

/// Runs the client against a calibration endpoint and prints its errors.
pub(super) fn self_check(options: &options::Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let schedule = Schedule { spread_phases: true, ..Schedule::default() };
    let gap = schedule.gap;
    let server = Server::bind("127.0.0.1:0", schedule).context("cannot start the calibration endpoint")?;
    let server = server.keeping_sends().start().context("cannot start the calibration endpoint")?;
    let streams = options.arrivals.streams.iter().copied().find(|streams| *streams > 1).unwrap_or(STREAMS);
    let requests = options.arrivals.requests.unwrap_or(u64::from(streams) * REQUESTS);
    let mut setup = Setup::new(options)?;
    setup.load = Load {
        threads: usize::from(options.reach.threads),
        ..Load::closed(Endpoint::new(server.url(), "calibration"), streams, requests)
    };
    let file = tempfile(options)?;
    let is_shown = screen.is_watched() && !options.results.quiet;
    let outcome = Recorder::new(&file).load(&setup, &*stop_flag()?, is_shown)?;
    let summary = server.stop().context("the calibration endpoint broke down")?;
    let errors = Errors::of(&file, &summary.streams, outcome.zero_ns)?;
    let results = Results::read(&file, Bounds::default())?;
    // The file was only needed for this.
    let _ = std::fs::remove_file(&file);
    if options.results.json {
        screen.json(&errors.json())?;
    } else {
        screen.table(&errors.table(streams, gap))?;
        for endpoint in results.iter().flat_map(|results| &results.endpoints) {
            screen.say(&format!("result: {}", endpoint.verdict.validity.name()));
            for reason in &endpoint.verdict.reasons {
                screen.say(&format!("  {}: {}", reason.validity.name(), reason.text));
                screen.hint(reason.hint);
            }
        }
        screen.say(summary.to_string().trim_end());
    }
    Ok(Exit::Fine)
}

/// A place for the record of the check.
fn tempfile(options: &options::Load) -> anyhow::Result<std::path::PathBuf> {
    let name = format!("assay-self-check-{}-{}", std::process::id(), options.arrivals.seed);
    Ok(std::env::temp_dir().join(name))
}

/// How far the client's times are from the true ones.
#[derive(Debug, Default)]
struct Errors {
    first_token: Distribution,
    last_token: Distribution,
    compared: u64,
    missing: u64,
}

impl Errors {
    /// The true time to first token is from the arrival of the request to the sending of the token; both are told by
    /// the endpoint. What the client tells beyond that is its error, the way through the kernel included.
    fn of(file: &std::path::Path, sends: &[StreamSends], zero_ns: i64) -> anyhow::Result<Errors> {
        let known: HashMap<u64, &StreamSends> =
            sends.iter().filter_map(|stream| Some((stream.client?, stream))).collect();
        let mut errors = Errors::default();
        for exchange in RecordReader::open(file)? {
            let exchange = exchange?;
            let Some(truth) = known.get(&exchange.index).filter(|_| !exchange.warm_up) else {
                errors.missing += 1;
                continue;
            };
            let sent = zero_ns + nanoseconds(exchange.sent_at_s);
            let seen = |at_s: Option<f64>| at_s.map(|at_s| zero_ns + nanoseconds(at_s));
            if let (Some(seen), Some(sent_at)) = (seen(exchange.first_token_at_s), truth.first_token_ns()) {
                let error = (seen - sent) - (sent_at - truth.arrived_ns);
                errors.first_token.add(Duration::from_nanos(error.unsigned_abs()).as_secs_f64());
            }
            if let (Some(seen), Some(sent_at)) = (seen(exchange.last_token_at_s), truth.last_token_ns()) {
                errors.last_token.add(Duration::from_nanos((seen - sent_at).unsigned_abs()).as_secs_f64());
            }
            errors.compared += 1;
        }
        Ok(errors)
    }

    fn table(&self, streams: u32, gap: Duration) -> Table {
        let mut table = Table::default();
        table
            .heading
            .push(format!("the client's own error: {streams} streams, a token every {gap:?} in each"));
        table.columns = vec![Column::left(""), Column::right("p50 [ms]"), Column::right("p99 [ms]")];
        for (name, values) in
            [("time to first token", &self.ttft), ("arrival of the last token", &self.last_token)]
        {
            let shown =
                |at| values.quantile(at).map_or("–".to_owned(), |value: f64| format!("{:.3}", value * 1e3));
            table.rows.push(vec![Cell::new(name), Cell::new(shown(0.5)), Cell::new(shown(0.99))]);
        }
        table.notes.push(format!("{} requests compared with the endpoint's true times", self.compared));
        table
    }

    fn json(&self) -> serde_json::Value {
        let spread =
            |values: &Distribution| json!({ "p50": values.quantile(0.5), "p99": values.quantile(0.99) });
        json!({
            "schema": crate::verbs::JSON_SCHEMA,
            "first_token_error_s": spread(&self.ttft),
            "last_token_error_s": spread(&self.last_token),
            "compared": self.compared,
            "not_compared": self.missing,
        })
    }
}
