//! From the record of a load to its results. Only the file is looked at, so that an old record gives the same results.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use assay_judge::load::{
    Bounds, Client, Collector, Distribution, Level, Request, Summary, Verdict, WindowFinder, verdict,
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
    #[serde(default)]
    rate: Option<f64>,
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
    began_s: f64,
    took_s: f64,
    health: Health,
    #[serde(default)]
    counters: Vec<Option<BTreeMap<String, f64>>>,
}

/// What a load says.
#[derive(Debug)]
pub struct Results {
    /// One for each endpoint that was asked.
    pub endpoints: Vec<EndpointResult>,
    /// The streams of a closed loop.
    pub streams: Option<u64>,
    /// The rate of an open loop, if it has only one.
    pub rate: Option<f64>,
    /// How the load ended; none if the program was killed.
    pub ended: Option<String>,
    /// When its measured part began, in seconds since it began.
    pub began_s: Option<f64>,
    /// How long it took.
    pub took_s: Option<f64>,
    /// How the client did.
    pub client: Client,
    /// Whether there were bounds for good requests.
    pub has_bounds: bool,
}

/// What a load says of one endpoint.
#[derive(Debug)]
pub struct EndpointResult {
    /// Its base URL.
    pub url: String,
    /// The model that was asked for.
    pub model: String,
    /// The metrics.
    pub summary: Summary,
    /// What they are worth.
    pub verdict: Verdict,
    /// How often each fault happened, with the words of the first one.
    pub faults: BTreeMap<FaultKind, (u64, String)>,
    /// What the server has counted meanwhile, for us and for others.
    pub counters: BTreeMap<String, f64>,
}

impl EndpointResult {
    /// Its URL and its model.
    pub fn name(&self) -> String {
        format!("{} {}", self.url, self.model).trim_end().to_owned()
    }
}

/// One load while its requests are read: first the windows are found, then everything is counted in them.
struct Reading {
    settings: Settings,
    finders: Vec<WindowFinder>,
    gathered: Vec<Option<Gathered>>,
}

/// What is gathered for an endpoint.
struct Gathered {
    collector: Collector,
    faults: BTreeMap<FaultKind, (u64, String)>,
}

impl Results {
    /// Reads a record, twice: the window must be known before anything can be counted in it. A record of several loads
    /// has several results.
    pub fn read(path: &Path, bounds: Bounds) -> anyhow::Result<Vec<Results>> {
        Results::read_after(path, bounds, 0)
    }

    /// The results of a record's loads after so many at the beginning.
    pub fn read_after(path: &Path, bounds: Bounds, parts: usize) -> anyhow::Result<Vec<Results>> {
        let mut readings: Vec<Reading> = Vec::new();
        let mut record = open(path)?.after(parts);
        loop {
            let exchange = record.next().transpose()?;
            for part in record.parts().iter().skip(readings.len()) {
                readings.push(Reading::new(&part.settings, path)?);
            }
            let Some(exchange) = exchange else { break };
            if let Some(reading) = readings.last_mut() {
                reading.look_at(&exchange);
            }
        }
        let endings: Vec<_> = record.parts().iter().map(|part| part.ending.clone()).collect();
        readings.iter_mut().for_each(|reading| reading.settle(bounds));
        let mut record = open(path)?.after(parts);
        while let Some(exchange) = record.next() {
            let place = record.parts().len() - 1;
            if let Some(reading) = readings.get_mut(place) {
                reading.add(&exchange?);
            }
        }
        let all = readings.into_iter().zip(endings).skip(parts);
        Ok(all.map(|(reading, ending)| reading.finish(ending, !bounds.is_empty())).collect())
    }

    /// How large the load was; none if it had no size of its own, as that of a trace.
    pub fn level(&self) -> Option<Level> {
        self.streams.map(Level::Streams).or(self.rate.map(Level::Rate))
    }

    /// Whether a request failed.
    pub fn has_failures(&self) -> bool {
        self.endpoints.iter().any(|endpoint| !endpoint.faults.is_empty())
    }
}

impl Reading {
    fn new(settings: &serde_json::Value, path: &Path) -> anyhow::Result<Reading> {
        let settings: Settings = serde_json::from_value(settings.clone())
            .with_context(|| format!("the settings in {} cannot be read", path.display()))?;
        let streams = settings.streams.and_then(|streams| usize::try_from(streams).ok());
        let finders = settings.endpoints.iter().map(|_| WindowFinder::new(streams)).collect();
        Ok(Reading { settings, finders, gathered: Vec::new() })
    }

    fn look_at(&mut self, exchange: &Exchange) {
        if let Some(finder) = self.finders.get_mut(usize::from(exchange.endpoint)) {
            finder.add(&request(exchange));
        }
    }

    /// Everything has been looked at: the windows are known.
    fn settle(&mut self, bounds: Bounds) {
        let windows = self.finders.drain(..).map(WindowFinder::finish);
        let gathered = windows.map(|window| {
            Some(Gathered { collector: Collector::new(window?, bounds), faults: BTreeMap::new() })
        });
        self.gathered = gathered.collect();
    }

    fn add(&mut self, exchange: &Exchange) {
        if let Some(Some(one)) = self.gathered.get_mut(usize::from(exchange.endpoint)) {
            one.add(exchange);
        }
    }

    fn finish(self, ending: Option<serde_json::Value>, has_bounds: bool) -> Results {
        let mut ending: Option<Ending> = ending.and_then(|value| serde_json::from_value(value).ok());
        let mut counters =
            ending.as_mut().map(|ending| std::mem::take(&mut ending.counters)).unwrap_or_default();
        counters.resize(self.gathered.len(), None);
        let settings = self.settings;
        let client = ending.as_ref().map(|ending| client(&ending.health, &settings)).unwrap_or_default();
        let endpoints = settings.endpoints.into_iter().zip(self.gathered).zip(counters);
        let endpoints = endpoints.filter_map(|((endpoint, gathered), counters)| {
            let gathered = gathered?;
            let summary = gathered.collector.finish();
            let verdict = verdict(&client, &summary);
            let (url, model) = (endpoint.url, endpoint.model);
            let counters = counters.unwrap_or_default();
            Some(EndpointResult { url, model, summary, verdict, faults: gathered.faults, counters })
        });
        Results {
            endpoints: endpoints.collect(),
            streams: settings.streams,
            rate: settings.rate,
            took_s: ending.as_ref().map(|ending| ending.took_s),
            began_s: ending.as_ref().map(|ending| ending.began_s),
            ended: ending.map(|ending| ending.ended),
            client,
            has_bounds,
        }
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
pub fn request(exchange: &Exchange) -> Request {
    let mut arrivals: Vec<(f64, Option<u32>)> = Vec::with_capacity(exchange.chunks.len());
    let mut events = 0;
    // An answer that was no stream has text, but nothing is known of when its tokens were there.
    let is_stream = exchange.first_token_at_s.is_some();
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
        intended_at_s: exchange.intended_at_s,
        sent_at_s: exchange.sent_at_s,
        end_at_s: exchange.end_at_s,
        first_token_at_s: exchange.first_token_at_s,
        first_output_at_s: exchange.first_output_at_s,
        last_token_at_s: exchange.last_token_at_s,
        arrivals,
        token_events: events,
        output_tokens: exchange.usage.and_then(|usage| usage.output),
        counted_tokens: exchange.counted,
        prompt_tokens: exchange.usage.and_then(|usage| usage.prompt),
        reasoning_tokens: exchange.usage.and_then(|usage| usage.reasoning),
        is_success: exchange.is_success(),
        score: exchange.score.map(|score| (score.exact, score.f1)),
        server_queue_s: exchange.server.and_then(|server| server.queue_s),
        server_prompt_s: exchange.server.and_then(|server| server.prompt_s),
        server_output_s: exchange.server.and_then(|server| server.output_s),
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
