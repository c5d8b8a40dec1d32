//! From options to a load and its prompts.

use std::time::Duration;

use anyhow::Context;
use assay_judge::load::{Bounds, Level};
use assay_load::arrivals::{Arrivals, Conversations, Curve, Think, Trace};
use assay_load::prompts::{self, Length, Prompt, PromptError, Prompts, Synthetic, Tokenizer};
use assay_load::request::{Api, Endpoint};
use assay_load::run::Load;
use assay_load::token::TokenSource;
use serde_json::{Map, Value, json};

use crate::failure::Mistake;
use crate::options::load::{self as options, ArrivalOptions, Gaps, Interface, PromptOptions, ReachOptions};

/// What a request says if nothing else is given.
const DEFAULT_PROMPT: &str = "Explain in a few sentences why the sky is blue.";
/// Different made-up prompts.
const MADE_UP: usize = 1000;
/// Warm-up requests unless they are given.
const WARM_UP: u64 = 16;

/// A load and what it asks.
#[derive(Debug)]
pub struct Setup {
    /// The load.
    pub load: Load,
    /// What is asked.
    pub prompts: Prompts,
    /// Where the server counts its work, if that is no usual place.
    pub metrics_url: Option<String>,
}

impl Setup {
    /// Checks the options and reads the files that they name.
    pub fn new(options: &options::Load) -> anyhow::Result<Setup> {
        let endpoints = endpoints(options)?;
        let (arrivals, reach) = (&options.arrivals, &options.reach);
        let level = levels(arrivals).first().copied().unwrap_or(Level::Streams(1));
        let load = Load {
            endpoints,
            arrivals: arrivals_of(arrivals, level)?,
            requests: requests(arrivals, level),
            duration: arrivals.duration.map(seconds).transpose()?,
            warm_up: warm_up(arrivals, level),
            threads: usize::from(reach.threads),
            new_connections: reach.new_connections,
            connect_timeout: seconds(reach.connect_timeout)?,
            timeout: seconds(reach.timeout)?,
            most_in_flight: arrivals.in_flight.max(1),
            retries: reach.retries,
            error_budget: reach.error_budget,
            keep_answers: options.results.keep_answers,
            seed: arrivals.seed,
        };
        let prompts = prompts_of(&options.prompts, arrivals.seed)?;
        Ok(Setup { load, prompts, metrics_url: reach.metrics_url.clone() })
    }

    /// Makes the load as large as this.
    pub fn set_level(&mut self, arrivals: &ArrivalOptions, level: Level) -> anyhow::Result<()> {
        self.load.arrivals = arrivals_of(arrivals, level)?;
        self.load.requests = requests(arrivals, level);
        self.load.warm_up = warm_up(arrivals, level);
        Ok(())
    }

    /// The settings as the record keeps them. Tokens and headers may be secrets and are not kept.
    pub fn described(&self) -> Value {
        let load = &self.load;
        let endpoints = load.endpoints.iter().map(|one| {
            json!({ "url": one.url, "model": one.model, "path": one.api.path(), "stream": one.stream, "fields": one.fields })
        });
        let arrivals = match &load.arrivals {
            Arrivals::Trace(trace) => format!("a trace of {} requests", trace.entries().len()),
            other => format!("{other:?}"),
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "endpoints": endpoints.collect::<Vec<_>>(),
            "arrivals": arrivals,
            "streams": load.arrivals.streams(),
            "rate": load.arrivals.rate(),
            "requests": load.requests,
            "duration_s": load.duration.map(|duration| duration.as_secs_f64()),
            "warm_up": load.warm_up,
            "threads": load.threads,
            "new_connections": load.new_connections,
            "timeout_s": load.timeout.as_secs_f64(),
            "retries": load.retries,
            "prompts": self.prompts.count(),
            "seed": load.seed,
        })
    }
}

/// Bounds of a good request.
pub fn bounds(results: &options::ResultOptions) -> Bounds {
    let seconds = |milliseconds: Option<f64>| milliseconds.map(|time| time * 1e-3);
    Bounds {
        first_token_at_s: seconds(results.slo_first_token),
        tpot_s: seconds(results.slo_per_token),
        e2e_s: seconds(results.slo_end_to_end),
    }
}

/// How large loads are asked for: rates, or else numbers of streams.
pub fn levels(arrivals: &ArrivalOptions) -> Vec<Level> {
    match arrivals.rate.as_slice() {
        [] => arrivals.streams.iter().map(|streams| Level::Streams(u64::from(*streams))).collect(),
        rates => rates.iter().map(|rate| Level::Rate(*rate)).collect(),
    }
}

/// Ten requests a stream or half a minute of a rate, unless something else says when to end; less where loads are
/// repeated.
fn requests(arrivals: &ArrivalOptions, level: Level) -> Option<u64> {
    let is_endless = arrivals.duration.is_none() && arrivals.trace.is_none();
    let (a_stream, seconds) = if levels(arrivals).len() > 1 { (5, 10.0) } else { (10, 30.0) };
    let usual = || match level {
        Level::Streams(streams) => streams.saturating_mul(a_stream),
        Level::Rate(rate) => (rate * seconds).ceil() as u64,
    };
    arrivals.requests.or_else(|| is_endless.then(usual))
}

/// One request a stream, unless the options say otherwise.
fn warm_up(arrivals: &ArrivalOptions, level: Level) -> u64 {
    let usual = match level {
        Level::Streams(streams) => streams.min(WARM_UP),
        Level::Rate(_) => 1,
    };
    arrivals.warm_up.unwrap_or(usual)
}

fn endpoints(options: &options::Load) -> anyhow::Result<Vec<Endpoint>> {
    let models = &options.model;
    if models.len() > 1 && models.len() != options.urls.len() {
        let text = format!("there are {} endpoints and {} models", options.urls.len(), models.len());
        return Err(Mistake::new(text, "give --model once for all endpoints, or once for each").into());
    }
    let model = |index: usize| models.get(index).or(models.first()).cloned().unwrap_or_default();
    let api = match options.api {
        Interface::Chat => Api::Chat,
        Interface::Completions => Api::Completions,
        Interface::Embeddings => Api::Embeddings,
    };
    let token = token(&options.reach);
    let fields = fields(&options.reach)?;
    let lifetime = options.reach.token_lifetime.map(seconds).transpose()?;
    let endpoints = options.urls.iter().enumerate().map(|(index, url)| Endpoint {
        api,
        stream: !options.no_stream && api != Api::Embeddings,
        headers: options.reach.header.clone(),
        fields: fields.clone(),
        token: token.clone(),
        token_lifetime: lifetime,
        authority: options.reach.ca.clone(),
        ..Endpoint::new(url, model(index))
    });
    Ok(endpoints.collect())
}

fn token(reach: &ReachOptions) -> Option<TokenSource> {
    let command = reach.token_command.clone().map(TokenSource::Command);
    command.or_else(|| reach.token_env.clone().map(TokenSource::Environment))
}

fn fields(reach: &ReachOptions) -> anyhow::Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (name, text) in &reach.field {
        // A word without quotes is meant as a text.
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()));
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}

fn arrivals_of(options: &ArrivalOptions, level: Level) -> anyhow::Result<Arrivals> {
    let begin = match (&options.trace, level) {
        (Some(path), _) => {
            let place = || format!("cannot read {}", path.display());
            let file = std::fs::File::open(path).with_context(place)?;
            let trace = Trace::read(std::io::BufReader::new(file));
            Arrivals::Trace(trace.map_err(|error| Mistake {
                text: format!("{}: {error}", path.display()),
                hint: Some(
                    "a trace is JSON lines with `timestamp` or CSV with a column Timestamp".to_owned(),
                ),
            })?)
        }
        (None, Level::Streams(streams)) => {
            Arrivals::Closed { streams: u32::try_from(streams).unwrap_or(u32::MAX) }
        }
        (None, Level::Rate(rate)) => match (options.ramp_from, options.ramp_over) {
            (Some(from), Some(over)) => {
                Arrivals::Ramp { from, to: rate, over: seconds(over)?, curve: Curve::Linear }
            }
            _ => match options.gaps {
                Gaps::Constant => Arrivals::Constant { rate },
                Gaps::Poisson => Arrivals::Poisson { rate },
                Gaps::Gamma => Arrivals::Gamma { rate, shape: options.shape },
            },
        },
    };
    if options.turns == 1 {
        return Ok(begin);
    }
    let think = Think::Constant(seconds(options.think)?);
    Ok(Arrivals::Conversations(Conversations { begin: Box::new(begin), turns: options.turns, think }))
}

fn prompts_of(options: &PromptOptions, seed: u64) -> anyhow::Result<Prompts> {
    let tokenizer = options.tokenizer.as_ref().map(|path| {
        Tokenizer::open(path).map(std::sync::Arc::new).map_err(|error| Mistake {
            text: format!("{}: {error}", path.display()),
            hint: Some("give a tokenizer.json or a file of tiktoken's ranks".to_owned()),
        })
    });
    let tokenizer = tokenizer.transpose()?;
    let all = match (&options.prompts, &options.prompt, options.prompt_tokens) {
        (Some(path), _, _) => prompts::read(path),
        (None, Some(text), _) => Ok(vec![Prompt::text(text)]),
        (None, None, Some(tokens)) => {
            let synthetic = Synthetic {
                count: MADE_UP,
                prompt_tokens: Length::Exactly(tokens),
                output_tokens: Length::Exactly(options.output_tokens.unwrap_or(128)),
                shared_tokens: options.shared_tokens,
                beginnings: 1,
            };
            synthetic.make(seed, tokenizer.as_deref())
        }
        (None, None, None) => Ok(vec![Prompt::text(DEFAULT_PROMPT)]),
    };
    let mut prompts = Prompts::new(all.map_err(no_prompts)?, seed).map_err(no_prompts)?;
    if let Some(tokens) = options.output_tokens {
        prompts = prompts.with_output_tokens(tokens);
    }
    Ok(match tokenizer {
        Some(tokenizer) => prompts.with_tokenizer(tokenizer),
        None => prompts,
    })
}

fn no_prompts(error: PromptError) -> anyhow::Error {
    use std::error::Error;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Mistake::new(format!("{error}{cause}"), "prompts are SQuAD, ShareGPT, JSON lines or plain text").into()
}

/// A number of seconds that can be.
fn seconds(number: f64) -> anyhow::Result<Duration> {
    let wrong =
        || Mistake::new(format!("{number} is no number of seconds"), "give a number that is not negative");
    Duration::try_from_secs_f64(number).map_err(|_| wrong().into())
}
