//! From the record of a load to its results. Only the file is looked at, so that an old record gives the same results.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use assay_judge::load::{
    Bounds, Client, Collector, Distribution, Request, Summary, Verdict, WindowFinder, verdict,
};
use assay_load::record::{RecordError, RecordReader};
use assay_load::{Exchange, FaultKind, Health};
use serde::Deserialize;

use crate::failure::Mistake;

/// The settings that results need.
#[derive(Debug, Deserialize)]
struct Settings {
    endpoints: Vec<EndpointSettings>,
    streams: Option<u64>,
    new_connections: bool,
}

#[derive(Debug, Deserialize)]
struct EndpointSettings {
    url: String,
    model: String,
}

/// How the load went.
#[derive(Debug, Deserialize)]
struct Ending {
    ended: String,
    took_s: f64,
    health: Health,
}

/// What a load says.
pub(super) struct Results {
    /// One for each endpoint that was asked.
    pub(super) endpoints: Vec<EndpointResult>,
    /// How the load ended; none if the program was killed.
    pub(super) ended: Option<String>,
    /// How long it took.
    pub(super) took_s: Option<f64>,
    /// How the client did.
    pub(super) client: Client,
    /// Whether there were bounds for good requests.
    pub(super) has_bounds: bool,
}

/// What a load says of one endpoint.
pub(super) struct EndpointResult {
    pub(super) url: String,
    pub(super) model: String,
    pub(super) summary: Summary,
    pub(super) verdict: Verdict,
    /// How often each fault happened, with the words of the first one.
    pub(super) faults: BTreeMap<FaultKind, (u64, String)>,
}

/// What the second pass gathers for an endpoint.
struct Gathered {
    collector: Collector,
    faults: BTreeMap<FaultKind, (u64, String)>,
}

impl Results {
    /// Reads a record, twice: the window must be known before anything can be counted in it.
    pub(super) fn read(path: &Path, bounds: Bounds) -> anyhow::Result<Results> {
        let record = open(path)?;
        let settings: Settings = serde_json::from_value(record.settings().clone())
            .with_context(|| format!("the settings in {} cannot be read", path.display()))?;
        let streams = settings.streams.and_then(|streams| usize::try_from(streams).ok());
        let mut finders: Vec<_> = settings.endpoints.iter().map(|_| WindowFinder::new(streams)).collect();
        for exchange in record {
            let exchange = exchange?;
            if let Some(finder) = finders.get_mut(usize::from(exchange.endpoint)) {
                finder.add(&request(&exchange));
            }
        }
        let windows = finders.into_iter().map(WindowFinder::finish);
        let mut gathered: Vec<Option<Gathered>> = windows
            .map(|window| {
                Some(Gathered { collector: Collector::new(window?, bounds), faults: BTreeMap::new() })
            })
            .collect();
        let mut record = open(path)?;
        for exchange in record.by_ref() {
            let exchange = exchange?;
            if let Some(Some(one)) = gathered.get_mut(usize::from(exchange.endpoint)) {
                one.add(&exchange);
            }
        }
        let ending: Option<Ending> =
            record.ending().cloned().and_then(|value| serde_json::from_value(value).ok());
        let client = ending.as_ref().map(|ending| client(&ending.health, &settings)).unwrap_or_default();
        let endpoints = settings.endpoints.into_iter().zip(gathered).filter_map(|(endpoint, gathered)| {
            let gathered = gathered?;
            let summary = gathered.collector.finish();
            let verdict = verdict(&client, &summary);
            let (url, model) = (endpoint.url, endpoint.model);
            Some(EndpointResult { url, model, summary, verdict, faults: gathered.faults })
        });
        Ok(Results {
            endpoints: endpoints.collect(),
            took_s: ending.as_ref().map(|ending| ending.took_s),
            ended: ending.map(|ending| ending.ended),
            client,
            has_bounds: !bounds.is_empty(),
        })
    }

    /// Whether a request failed.
    pub(super) fn has_failures(&self) -> bool {
        self.endpoints.iter().any(|endpoint| !endpoint.faults.is_empty())
    }
}

impl Gathered {
    fn add(&mut self, exchange: &Exchange) {
        self.collector.add(&request(exchange));
        // A warm-up that failed shows itself in what follows it.
        if let Some(fault) = exchange.fault.as_ref().filter(|_| !exchange.warm_up) {
            let (count, _) = self.faults.entry(fault.kind).or_insert_with(|| (0, fault.message.clone()));
            *count += 1;
        }
    }
}

fn open(path: &Path) -> anyhow::Result<RecordReader> {
    RecordReader::open(path).map_err(|error| match error {
        RecordError::NotARecord => {
            let text = format!("{} is no record of a load", path.display());
            Mistake::new(text, "`assay load` writes one; its default name is load.assay").into()
        }
        other => anyhow::Error::from(other).context(format!("cannot read {}", path.display())),
    })
}

/// A request as the judge sees it.
pub(super) fn request(exchange: &Exchange) -> Request {
    let mut arrivals: Vec<(f64, Option<u32>)> = Vec::with_capacity(exchange.chunks.len());
    let mut events = 0;
    // An answer that was no stream has text, but nothing is known of when its tokens were there.
    let is_stream = exchange.first_token_s.is_some();
    for chunk in exchange.chunks.iter().filter(|chunk| is_stream && chunk.kind.is_token()) {
        events += u64::from(chunk.events);
        match arrivals.last_mut() {
            Some((at_s, tokens)) if *at_s == chunk.at_s => {
                *tokens = tokens.zip(chunk.tokens).map(|(before, more)| before + more);
            }
            _ => arrivals.push((chunk.at_s, chunk.tokens)),
        }
    }
    Request {
        warm_up: exchange.warm_up,
        intended_s: exchange.intended_s,
        sent_s: exchange.sent_s,
        end_s: exchange.end_s,
        first_token_s: exchange.first_token_s,
        first_output_s: exchange.first_output_s,
        last_token_s: exchange.last_token_s,
        arrivals,
        token_events: events,
        output_tokens: exchange.usage.and_then(|usage| usage.output),
        counted_tokens: exchange.counted,
        prompt_tokens: exchange.usage.and_then(|usage| usage.prompt),
        reasoning_tokens: exchange.usage.and_then(|usage| usage.reasoning),
        is_success: exchange.is_success(),
    }
}

/// How the client did, as the judge sees it.
fn client(health: &Health, settings: &Settings) -> Client {
    let high = |values: &[f64]| {
        let mut all = Distribution::default();
        values.iter().for_each(|value| all.add(*value));
        all.quantile(0.99)
    };
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let (there, asked) = health.in_flight.iter().fold((0, 0), |(there, asked), (_, wanted, found)| {
        (there + u64::from(*found), asked + u64::from(*wanted))
    });
    // Of a load that is over at once, setting up is the larger part.
    let long = health.cpu_s.iter().zip(&health.wall_s).filter(|(_, wall)| **wall >= 0.5);
    let cpu = long.map(|(used, wall)| used / wall);
    let streams = settings.streams.map(|streams| streams * settings.endpoints.len() as u64);
    Client {
        client_lag_s: high(&health.client_lag_s),
        schedule_lag_s: high(&health.schedule_lag_s),
        // A handful of samples says nothing about the whole time.
        in_flight: share(there, asked).filter(|_| health.in_flight.len() >= 10),
        cpu: cpu.fold(None, |most: Option<f64>, one| Some(most.map_or(one, |most| most.max(one)))),
        connections: health.connections,
        requests: health.requests,
        sent_anew: health.sent_anew,
        connections_expected: streams.filter(|_| !settings.new_connections),
        merged: share(health.merged, health.events),
        unstamped: share(health.unstamped, health.reads),
    }
}
