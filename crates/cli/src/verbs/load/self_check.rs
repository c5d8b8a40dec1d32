//! `load --self-check`: the client against an endpoint whose true times are known.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context;
use assay_judge::load::Distribution;
use assay_load::calibration::{MockSchedule, Server, StreamSends};
use assay_load::clock::nanoseconds;
use assay_load::record::StoredLoad;
use assay_model::{Settings, Value};
use assay_report::{Cell, Column, Table};
use serde_json::json;

use crate::exit::Exit;
use crate::options::load as options;
use crate::screen::Screen;
use crate::signals::stop_flag;
use crate::workloads::chat::results::LoadResults;
use crate::workloads::chat::settings::ChatSettings;
use crate::workloads::chat::{RunDirectory, recorder};

/// Streams, unless others are asked for.
const STREAMS: i64 = 64;
/// Requests of a stream.
const REQUESTS: i64 = 15;

/// Runs the client against a calibration endpoint and prints its errors.
pub(super) fn self_check(options: &options::Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let schedule = MockSchedule { spread_phases: true, ..MockSchedule::default() };
    let gap = schedule.gap;
    let server = Server::bind("127.0.0.1:0", schedule).context("cannot start the calibration endpoint")?;
    let server = server.keeping_sends().start().context("cannot start the calibration endpoint")?;
    let number = |name: &str| match options.settings.get(name).and_then(|values| values.first()) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let streams = number("streams").unwrap_or(STREAMS);
    let mut settings: Settings =
        [("streams", streams), ("requests", number("requests").unwrap_or(streams * REQUESTS))]
            .map(|(name, number)| (name.to_owned(), Value::Integer(number)))
            .into();
    settings.extend(number("threads").map(|threads| ("threads".to_owned(), Value::Integer(threads))));
    settings.extend(
        [("url", server.url()), ("model", "calibration")].map(|(name, text)| (name.to_owned(), text.into())),
    );
    settings.insert("warm_up".to_owned(), Value::Integer(0));
    let setup = ChatSettings::new(&settings)?.setup(server.url(), 1)?;
    let directory = RunDirectory::new(None)?;
    let outcome = recorder::record(&setup, directory.path(), &*stop_flag()?, &mut |_| {})?;
    let summary = server.stop().context("the calibration endpoint failed")?;
    let load = StoredLoad::in_run(directory.path())?.context("the load left no requests")?;
    let errors = Errors::of(&load, &summary.streams, outcome.zero_ns)?;
    let results = LoadResults::read(&load)?;
    if options.how.json {
        screen.json(&errors.json())?;
    } else {
        screen.table(&errors.table(streams, gap))?;
        for endpoint in &results.endpoints {
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

/// How far the client's times are from the true ones.
#[derive(Debug, Default)]
struct Errors {
    ttft: Distribution,
    last_token: Distribution,
    compared: u64,
    missing: u64,
}

impl Errors {
    /// The true TTFT is from the arrival of the request to the sending of the token, both as the endpoint noted them.
    /// What the client measures beyond that is its error, the way through the kernel included.
    fn of(load: &StoredLoad, sends: &[StreamSends], zero_ns: i64) -> anyhow::Result<Errors> {
        let known: HashMap<u64, &StreamSends> =
            sends.iter().filter_map(|stream| Some((stream.client?, stream))).collect();
        let mut errors = Errors::default();
        for exchange in load.requests()? {
            let exchange = exchange?;
            let Some(truth) = known.get(&exchange.index).filter(|_| !exchange.warm_up) else {
                errors.missing += 1;
                continue;
            };
            let sent = zero_ns + nanoseconds(exchange.sent_at_s);
            let seen = |at_s: Option<f64>| at_s.map(|at_s| zero_ns + nanoseconds(at_s));
            if let (Some(seen), Some(sent_at)) = (seen(exchange.first_token_at_s), truth.first_token_ns()) {
                let error = (seen - sent) - (sent_at - truth.arrived_ns);
                errors.ttft.add(Duration::from_nanos(error.unsigned_abs()).as_secs_f64());
            }
            if let (Some(seen), Some(sent_at)) = (seen(exchange.last_token_at_s), truth.last_token_ns()) {
                errors.last_token.add(Duration::from_nanos((seen - sent_at).unsigned_abs()).as_secs_f64());
            }
            errors.compared += 1;
        }
        Ok(errors)
    }

    fn table(&self, streams: i64, gap: Duration) -> Table {
        let mut table = Table::default();
        table.heading.push(format!("error of this client: {streams} streams, a token every {gap:?} in each"));
        table.columns = vec![Column::left(""), Column::right("p50 [ms]"), Column::right("p99 [ms]")];
        for (name, values) in [("ttft", &self.ttft), ("arrival of the last token", &self.last_token)] {
            let shown =
                |at| values.quantile(at).map_or("–".to_owned(), |value: f64| format!("{:.3}", value * 1e3));
            table.rows.push(vec![Cell::new(name), Cell::new(shown(0.5)), Cell::new(shown(0.99))]);
        }
        table.notes.push(format!("{} requests compared with the true times of the endpoint", self.compared));
        table
    }

    fn json(&self) -> serde_json::Value {
        let spread =
            |values: &Distribution| json!({ "p50": values.quantile(0.5), "p99": values.quantile(0.99) });
        json!({
            "schema": crate::screen::JSON_SCHEMA,
            "ttft_error_s": spread(&self.ttft),
            "last_token_error_s": spread(&self.last_token),
            "compared": self.compared,
            "not_compared": self.missing,
        })
    }
}
