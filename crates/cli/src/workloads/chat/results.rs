//! From a stored load to its results. Only its files are read, so that an old record gives the same results.

use std::collections::BTreeMap;

use anyhow::Context;
use assay_judge::load::{
    Client, Collector, Distribution, EndpointSummary, LoadLevel, RequestResult, SloBounds, Verdict, Window,
    WindowFinder, verdict,
};
use assay_load::record::StoredLoad;
use assay_load::{Exchange, FaultKind, Health};
use serde::Deserialize;

/// The settings that results need.
#[derive(Debug, Deserialize)]
struct LoadSettings {
    endpoints: Vec<EndpointSettings>,
    streams: Option<u64>,
    #[serde(default)]
    rate: Option<f64>,
    new_connections: bool,
    /// What the prompts are; files by earlier versions have their number here.
    #[serde(default)]
    prompts: serde_json::Value,
    #[serde(default)]
    slo: Slo,
    #[serde(default)]
    insecure: bool,
    #[serde(default)]
    trace_output_tokens: Option<f64>,
    #[serde(default)]
    most_output_tokens: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct EndpointSettings {
    #[serde(default)]
    name: Option<String>,
    url: String,
    model: String,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct Slo {
    ttft_s: Option<f64>,
    tpot_s: Option<f64>,
    e2e_s: Option<f64>,
}

/// How the load went.
#[derive(Debug, Deserialize)]
struct Ending {
    ended: String,
    began_s: f64,
    took_s: f64,
    #[serde(default)]
    gone_since_s: Option<f64>,
    health: Health,
    #[serde(default)]
    counters: Vec<Option<BTreeMap<String, f64>>>,
}

/// What a load says.
#[derive(Debug)]
pub struct LoadResults {
    /// One for each endpoint; only files by earlier versions have several.
    pub endpoints: Vec<EndpointResult>,
    /// The streams of a closed loop.
    pub streams: Option<u64>,
    /// The rate of an open loop, if it has only one.
    pub rate: Option<f64>,
    /// What was asked.
    pub prompts: Option<String>,
    /// How the load ended; none if the program was killed.
    pub ended: Option<String>,
    /// When its measured part began, in seconds since it began.
    pub began_s: Option<f64>,
    pub took_s: Option<f64>,
    /// Since when nobody listened at the end, in seconds since the load began.
    pub gone_since_s: Option<f64>,
    /// Connections that were tried after that, and are not requests of the load.
    pub tried_after_gone: u64,
    /// How the client did.
    pub client: Client,
    /// What a good request is.
    pub bounds: SloBounds,
    /// Whether there were SLOs.
    pub has_bounds: bool,
    /// Whether any certificate was accepted.
    pub insecure: bool,
    /// All settings as the load kept them, with its date and machine.
    pub settings: serde_json::Value,
}

/// What a load says of one endpoint.
#[derive(Debug)]
pub struct EndpointResult {
    name: Option<String>,
    pub url: String,
    /// The model that was asked for.
    pub model: String,
    /// The metrics.
    pub summary: EndpointSummary,
    /// What they are worth.
    pub verdict: Verdict,
    /// How often each fault happened, with the message of the first one.
    pub faults: BTreeMap<FaultKind, (u64, String)>,
    /// By how much the server's counters grew meanwhile, for all its clients.
    pub counters: BTreeMap<String, f64>,
}

impl EndpointResult {
    /// Gives it a name, unless it has one.
    pub fn call(&mut self, name: &str) {
        self.name.get_or_insert_with(|| name.to_owned());
    }

    /// Its name in tables: the one that it was given, or its URL and model.
    pub fn name(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{} {}", self.url, self.model).trim_end().to_owned(),
        }
    }
}

/// What is gathered for an endpoint.
struct Gathered {
    collector: Collector,
    faults: BTreeMap<FaultKind, (u64, String)>,
    /// Whether nothing was measured.
    is_only_warm_up: bool,
}

impl LoadResults {
    /// Reads a load, twice: the window must be known before anything can be counted in it.
    pub fn read(load: &StoredLoad) -> anyhow::Result<LoadResults> {
        LoadResults::read_with(load, &mut |_| {})
    }

    /// The same, with a look at every request.
    pub fn read_with(load: &StoredLoad, look: &mut dyn FnMut(&Exchange)) -> anyhow::Result<LoadResults> {
        let settings: LoadSettings = serde_json::from_value(load.summary.settings.clone())
            .context("the settings of the load cannot be read")?;
        let ending: Option<Ending> =
            load.summary.ending.clone().and_then(|ending| serde_json::from_value(ending).ok());
        let gone_since_s = ending.as_ref().and_then(|ending| ending.gone_since_s);
        let mut tried_after_gone = 0;
        let streams = settings.streams.and_then(|streams| usize::try_from(streams).ok());
        let mut finders: Vec<WindowFinder> =
            settings.endpoints.iter().map(|_| WindowFinder::new(streams)).collect();
        for exchange in load.requests()? {
            let exchange = exchange?;
            if is_after_gone(&exchange, gone_since_s) {
                tried_after_gone += 1;
                continue;
            }
            if let Some(finder) = finders.get_mut(usize::from(exchange.endpoint)) {
                finder.add(&moments(&exchange));
            }
        }
        let slo = settings.slo;
        let bounds = SloBounds { ttft_s: slo.ttft_s, tpot_s: slo.tpot_s, e2e_s: slo.e2e_s };
        let windows = finders.into_iter().map(WindowFinder::finish);
        let mut gathered: Vec<Option<Gathered>> = windows
            .map(|window| {
                // Without measured requests, the faults of the warm-up say why.
                let is_only_warm_up = window.is_none();
                let nothing = Window { begin_s: 0.0, end_at_s: 0.0, is_whole: true };
                let collector = Collector::new(window.unwrap_or(nothing), bounds);
                Some(Gathered { collector, faults: BTreeMap::new(), is_only_warm_up })
            })
            .collect();
        for exchange in load.requests()? {
            let exchange = exchange?;
            look(&exchange);
            if is_after_gone(&exchange, gone_since_s) {
                continue;
            }
            if let Some(Some(one)) = gathered.get_mut(usize::from(exchange.endpoint)) {
                one.add(&exchange);
            }
        }
        let mut results = finish(settings, gathered, ending, bounds);
        results.tried_after_gone = tried_after_gone;
        results.settings = load.summary.settings.clone();
        Ok(results)
    }

    /// How large the load was; none if it had no size of its own, as that of a trace.
    pub fn level(&self) -> Option<LoadLevel> {
        self.streams.map(LoadLevel::Streams).or(self.rate.map(LoadLevel::Rate))
    }

    /// The repeat that the load belongs to.
    pub fn round(&self) -> u64 {
        self.settings.get("repeat").and_then(serde_json::Value::as_u64).unwrap_or(1)
    }

    /// Whether a request failed.
    pub fn has_failures(&self) -> bool {
        self.endpoints.iter().any(|endpoint| !endpoint.faults.is_empty())
    }
}

fn finish(
    settings: LoadSettings,
    gathered: Vec<Option<Gathered>>,
    mut ending: Option<Ending>,
    bounds: SloBounds,
) -> LoadResults {
    let mut counters = ending.as_mut().map(|ending| std::mem::take(&mut ending.counters)).unwrap_or_default();
    counters.resize(gathered.len(), None);
    let client = ending.as_ref().map(|ending| client(&ending.health, &settings)).unwrap_or_default();
    let endpoints = settings.endpoints.into_iter().zip(gathered).zip(counters);
    let endpoints = endpoints.filter_map(|((endpoint, gathered), counters)| {
        let gathered = gathered?;
        let summary = gathered.collector.finish();
        let verdict = verdict(&client, &summary);
        let EndpointSettings { name, url, model } = endpoint;
        let counters = counters.unwrap_or_default();
        Some(EndpointResult { name, url, model, summary, verdict, faults: gathered.faults, counters })
    });
    LoadResults {
        endpoints: endpoints.collect(),
        streams: settings.streams,
        rate: settings.rate,
        prompts: settings.prompts.as_str().map(str::to_owned),
        took_s: ending.as_ref().map(|ending| ending.took_s),
        gone_since_s: ending.as_ref().and_then(|ending| ending.gone_since_s),
        tried_after_gone: 0,
        began_s: ending.as_ref().map(|ending| ending.began_s),
        ended: ending.map(|ending| ending.ended),
        client,
        bounds,
        has_bounds: !bounds.is_empty(),
        insecure: settings.insecure,
        settings: serde_json::Value::Null,
    }
}

impl Gathered {
    fn add(&mut self, exchange: &Exchange) {
        self.collector.add(&request(exchange));
        // A failed warm-up shows in what follows it, if anything does. What was stopped has not failed.
        let counts = exchange.warm_up == self.is_only_warm_up;
        let fault = exchange.fault.as_ref().filter(|fault| counts && fault.kind != FaultKind::Interrupted);
        if let Some(fault) = fault {
            let (count, _) = self.faults.entry(fault.kind).or_insert_with(|| (0, fault.message.clone()));
            *count += 1;
        }
    }
}

/// Whether a request only found out that the server was gone: the load had ended by then. How a warm-up failed is kept.
fn is_after_gone(exchange: &Exchange, gone_since_s: Option<f64>) -> bool {
    let is_absent = exchange.fault.as_ref().is_some_and(|fault| fault.kind.is_absence());
    !exchange.warm_up && is_absent && gone_since_s.is_some_and(|since_s| exchange.end_at_s >= since_s)
}

/// Only what the measured window depends on, which saves a look at every chunk.
fn moments(exchange: &Exchange) -> RequestResult {
    RequestResult {
        warm_up: exchange.warm_up,
        intended_at_s: exchange.intended_at_s,
        sent_at_s: exchange.sent_at_s,
        end_at_s: exchange.end_at_s,
        ..RequestResult::default()
    }
}

/// A request as the judge sees it.
pub fn request(exchange: &Exchange) -> RequestResult {
    let mut arrivals: Vec<(f64, Option<u32>)> = Vec::with_capacity(exchange.chunks.len());
    let mut events = 0;
    // An answer that was not a stream has text, but nothing is known of when its tokens were there.
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
    RequestResult {
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
        cached_tokens: exchange.usage.and_then(|usage| usage.cached),
        reasoning_tokens: exchange.usage.and_then(|usage| usage.reasoning),
        is_success: exchange.is_success(),
        is_unfinished: exchange.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Interrupted),
        score: exchange.score.map(|score| (score.exact, score.f1)),
        server_queue_s: exchange.server.and_then(|server| server.queue_s),
        server_prompt_s: exchange.server.and_then(|server| server.prompt_s),
        server_output_s: exchange.server.and_then(|server| server.output_s),
    }
}

/// How the client did, as the judge sees it.
fn client(health: &Health, settings: &LoadSettings) -> Client {
    let high = |values: &[f64]| {
        let mut all = Distribution::default();
        values.iter().for_each(|value| all.add(*value));
        all.quantile(0.99)
    };
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let (there, asked) = health.in_flight.iter().fold((0, 0), |(there, asked), (_, wanted, found)| {
        (there + u64::from(*found), asked + u64::from(*wanted))
    });
    // A load that ends at once is mostly setting up.
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
        sent_again: health.sent_again,
        connections_expected: streams.filter(|_| !settings.new_connections),
        merged: share(health.merged, health.events),
        unstamped: share(health.unstamped, health.reads),
        trace_output_tokens: settings.trace_output_tokens,
        most_output_tokens: settings.most_output_tokens,
    }
}
