//! Settings to a load and its prompts. What can be checked without opening a file is checked when a campaign is
//! planned; the rest when a run begins.

mod checks;
mod endpoint;
mod prompts;

pub use endpoint::endpoint_mistake;

use std::path::Path;

use assay_judge::load::SloBounds;
use assay_load::arrivals::{Arrivals, Conversations, RampCurve, Think, Trace};
use assay_load::calibration::MockSchedule;
use assay_load::prompts::Prompts;
use assay_load::request::Endpoint;
use assay_load::run::{Load, LoadLimits};
use assay_model::Settings;
use assay_random::Random;
use assay_workloads::settings::CheckedSettings;
use serde_json::{Map, Value, json};

use super::mock;
use crate::failure::Mistake;
use checks::{check_combinations, check_fields, check_headers, check_token_command, check_trace};
use endpoint::from_environment;

/// Most warm-up requests unless their number is given.
const WARM_UP: u64 = 16;
/// Seconds of a rate unless its end is given.
const RATE_SECONDS: f64 = 30.0;

/// Settings that were checked.
#[derive(Debug)]
pub struct ChatSettings {
    checked: CheckedSettings,
    /// The calibration endpoint to start, if that is what is asked.
    pub mock: Option<MockSchedule>,
    headers: Map<String, Value>,
    fields: Map<String, Value>,
}

/// A load and what it asks.
#[derive(Debug)]
pub struct Setup {
    pub load: Load,
    pub prompts: Prompts,
    /// Where the server counts its work, if that is not the usual place.
    pub metrics_url: Option<String>,
    /// The settings as the record keeps them, without anything secret.
    pub described: Value,
}

impl ChatSettings {
    /// Checks settings.
    pub fn new(settings: &Settings) -> Result<ChatSettings, Mistake> {
        let checked = CheckedSettings::new(&super::description(), settings)?;
        check_combinations(&checked)?;
        let mock = checked.optional_text("mock").map(mock::listed).transpose()?;
        let (headers, fields) = (object("headers", &checked)?, object("fields", &checked)?);
        check_headers(&headers)?;
        check_fields(&fields)?;
        checked.optional_text("token_command").map_or(Ok(()), check_token_command)?;
        let settings = ChatSettings { checked, mock, headers, fields };
        if let Some(url) = settings.checked.optional_text("url").filter(|url| !url.starts_with('$')) {
            Endpoint::new(url, "").check().map_err(endpoint_mistake)?;
        }
        Ok(settings)
    }

    /// Settings that name files.
    pub const FILES: [&str; 4] = ["trace", "prompts", "tokenizer", "ca"];

    /// Reads the files that the settings name, so that a mistake in one is found before anything runs.
    pub fn check_files(&self) -> anyhow::Result<()> {
        if let Arrivals::Trace(trace) = self.arrivals()? {
            check_trace(&self.checked, &trace)?;
        }
        self.check_prompts()?;
        if let Some(path) = self.checked.optional_text("ca") {
            std::fs::File::open(path).map_err(|error| {
                let hint = "give a file with certificates in the PEM format";
                Mistake::new(format!("cannot read the certificates in {path}: {error}"), hint)
            })?;
        }
        Ok(())
    }

    /// How long requests are sent, where that is given.
    pub fn duration(&self) -> Option<std::time::Duration> {
        self.checked.duration("duration")
    }

    /// What a good request is.
    pub fn bounds(&self) -> SloBounds {
        let seconds = |name: &str| self.checked.duration(name).map(|time| time.as_secs_f64());
        SloBounds { ttft_s: seconds("slo_ttft"), tpot_s: seconds("slo_tpot"), e2e_s: seconds("slo_e2e") }
    }

    /// The URL, from the environment where the setting says so.
    pub fn url(&self) -> Result<String, Mistake> {
        let url = self.checked.optional_text("url").unwrap_or_default();
        from_environment(url, "the URL", "https://host/v1")
    }

    /// The load on the endpoint at `url`, for one repeat. Each repeat draws its own arrivals and prompts, and so does
    /// each size of the load; endpoints of one repeat are asked the same at the same times.
    pub fn setup(&self, url: &str, repeat: u64) -> anyhow::Result<Setup> {
        let checked = &self.checked;
        let endpoint = self.with_model(self.endpoint(url)?)?;
        let arrivals = self.arrivals()?;
        if let Arrivals::Trace(trace) = &arrivals {
            check_trace(checked, trace)?;
        }
        let small = |name: &str| u32::try_from(checked.integer(name)).unwrap_or(u32::MAX);
        let requests = self.requests(&arrivals);
        let warm_up = self.warm_up(&arrivals);
        let seed = self.seed(repeat);
        let load = Load {
            endpoints: vec![endpoint],
            requests,
            duration: checked.duration("duration").filter(|_| checked.get("min_requests").is_none()),
            warm_up,
            threads: checked.count("threads"),
            new_connections: checked.switch("new_connections"),
            connect_timeout: checked.duration("connect_timeout").unwrap_or_default(),
            timeout: checked.duration("timeout").unwrap_or_default(),
            most_in_flight: small("in_flight"),
            retries: small("retries"),
            error_budget: checked.optional_integer("error_budget"),
            gone_after: checked.duration("gone_after").unwrap_or_default(),
            keep_answers: checked.switch("keep_answers"),
            limits: LoadLimits {
                header_bytes: checked.get("max_header_bytes").map(|_| checked.count("max_header_bytes")),
                event_bytes: checked.count("max_event_bytes"),
                body_bytes: checked.count("max_body_bytes"),
                answer_bytes: checked.integer("max_answer_bytes"),
            },
            seed,
            arrivals,
        };
        let (prompts, mut source) = self.prompts(seed, &load)?;
        if let Arrivals::Conversations(talks) = &load.arrivals {
            // The number of requests follows from the turns.
            let count = load.requests.map(|count| format!("{count} ")).unwrap_or_default();
            source = format!("{count}conversations of up to {} turns; {source}", talks.turns);
        }
        let described = self.described(&load, repeat, &source);
        let metrics_url = checked.optional_text("metrics_url").map(str::to_owned);
        Ok(Setup { load, prompts, metrics_url, described })
    }

    /// What belongs to a repeat and to the size of the load, for all endpoints.
    fn seed(&self, repeat: u64) -> u64 {
        let size = ["streams", "rate", "ramp_from", "trace", "turns", "prompt_tokens"];
        let size: Vec<String> = size
            .iter()
            .map(|name| self.checked.get(name).map(ToString::to_string).unwrap_or_default())
            .collect();
        Random::item(self.checked.integer("seed"), &size.join("/"), repeat).next_u64() >> 1
    }

    fn arrivals(&self) -> anyhow::Result<Arrivals> {
        let checked = &self.checked;
        let begin = match (checked.optional_text("trace"), checked.optional_number("rate")) {
            (Some(path), _) => Arrivals::Trace(trace(Path::new(path))?),
            (None, Some(rate)) => match (checked.optional_number("ramp_from"), checked.duration("ramp_over"))
            {
                (Some(from), Some(over)) => Arrivals::Ramp { from, to: rate, over, curve: RampCurve::Linear },
                _ => match checked.optional_text("gaps") {
                    Some("constant") => Arrivals::Constant { rate },
                    Some("gamma") => {
                        Arrivals::Gamma { rate, shape: checked.optional_number("shape").unwrap_or(1.0) }
                    }
                    _ => Arrivals::Poisson { rate },
                },
            },
            (None, None) => {
                let streams = checked.optional_integer("streams").unwrap_or(1);
                Arrivals::Closed { streams: u32::try_from(streams).unwrap_or(u32::MAX) }
            }
        };
        let turns = u32::try_from(checked.integer("turns")).unwrap_or(u32::MAX);
        if turns == 1 {
            return Ok(begin);
        }
        let think = Think::Constant(checked.duration("think").unwrap_or_default());
        Ok(Arrivals::Conversations(Conversations { begin: Box::new(begin), turns, think }))
    }

    /// Ten requests per stream or half a minute of a rate, unless something else says when to end.
    fn requests(&self, arrivals: &Arrivals) -> Option<u64> {
        let checked = &self.checked;
        if let Some(requests) = checked.optional_integer("requests") {
            return Some(requests);
        }
        let rate = checked.optional_number("rate");
        let seconds = checked.duration("duration").map(|duration| duration.as_secs_f64());
        if let (Some(least), Some(rate)) = (checked.optional_integer("min_requests"), rate) {
            let usual = (rate * seconds.unwrap_or(RATE_SECONDS)).ceil() as u64;
            return Some(usual.max(least));
        }
        if seconds.is_some() || checked.get("trace").is_some() {
            return None;
        }
        match (arrivals.streams(), rate) {
            (Some(streams), _) => Some(u64::from(streams).saturating_mul(10)),
            (None, Some(rate)) => Some((rate * RATE_SECONDS).ceil() as u64),
            (None, None) => None,
        }
    }

    /// One request per stream, unless the settings say otherwise.
    fn warm_up(&self, arrivals: &Arrivals) -> u64 {
        let usual = arrivals.streams().map_or(1, |streams| u64::from(streams).min(WARM_UP));
        self.checked.optional_integer("warm_up").unwrap_or(usual)
    }

    /// Every setting by its name. None is a secret: what looks like one is refused, or is the name of a variable.
    fn plain_settings(&self) -> Map<String, Value> {
        let known = super::description().settings;
        let value = |name: &str| Some(serde_json::to_value(self.checked.get(name)?).unwrap_or_default());
        known.iter().filter_map(|setting| Some((setting.name.clone(), value(&setting.name)?))).collect()
    }

    /// The settings as the record keeps them. Tokens, headers and URLs from the environment may be secrets.
    fn described(&self, load: &Load, repeat: u64, prompts: &str) -> Value {
        let checked = &self.checked;
        let bounds = self.bounds();
        let endpoint = json!({
            "name": checked.optional_text("endpoint"),
            "url": checked.optional_text("url").unwrap_or("calibration endpoint"),
            "model": load.endpoints.first().map(|endpoint| endpoint.model.as_str()).unwrap_or_default(),
            "path": load.endpoints.first().map(|endpoint| endpoint.api.path()),
            "stream": load.endpoints.first().map(|endpoint| endpoint.stream),
            "fields": self.fields,
        });
        let arrivals = match &load.arrivals {
            Arrivals::Trace(trace) => format!("trace of {} requests", trace.entries().len()),
            other => format!("{other:?}"),
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "date": assay_load::clock::date(),
            "machine": assay_launch::probe::machine(),
            "settings": self.plain_settings(),
            "endpoints": [endpoint],
            "arrivals": arrivals,
            "streams": load.arrivals.streams(),
            "rate": load.arrivals.rate(),
            "requests": load.requests,
            "duration_s": load.duration.map(|duration| duration.as_secs_f64()),
            "warm_up": load.warm_up,
            "threads": load.threads,
            "new_connections": load.new_connections,
            "insecure": checked.switch("insecure"),
            "timeout_s": load.timeout.as_secs_f64(),
            "retries": load.retries,
            "prompts": prompts,
            "repeat": repeat,
            "seed": load.seed,
            "trace_output_tokens": trace_output_tokens(load),
            // A field of the request may say otherwise.
            "most_output_tokens": self.most_output_tokens(load).filter(|_| {
                !self.fields.contains_key("max_tokens") && !self.fields.contains_key("max_completion_tokens")
            }),
            "slo": { "ttft_s": bounds.ttft_s, "tpot_s": bounds.tpot_s, "e2e_s": bounds.e2e_s },
        })
    }
}

/// Output tokens that a trace asks for, as a mean over its requests.
fn trace_output_tokens(load: &Load) -> Option<f64> {
    let Arrivals::Trace(trace) = &load.arrivals else { return None };
    let count = load.requests.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
    let end_s = load.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
    let sent = trace.entries().iter().take(count).filter(|entry| entry.at_s < end_s);
    let tokens: Option<Vec<f64>> =
        sent.map(|entry| entry.output_tokens.map(|one| f64::from(one.max(1)))).collect();
    let tokens = tokens.filter(|tokens| !tokens.is_empty())?;
    Some(tokens.iter().sum::<f64>() / tokens.len() as f64)
}

fn trace(path: &Path) -> anyhow::Result<Trace> {
    let file = std::fs::File::open(path).map_err(|error| {
        Mistake::new(format!("cannot read the trace {}: {error}", path.display()), "check the path")
    })?;
    let trace = Trace::read(std::io::BufReader::new(file));
    Ok(trace.map_err(|error| {
        Mistake::new(
            format!("{}: {error}", path.display()),
            "a trace is JSON lines with `timestamp` or CSV with a column Timestamp; see docs/load.md",
        )
    })?)
}

fn object(name: &str, checked: &CheckedSettings) -> Result<Map<String, Value>, Mistake> {
    let Some(text) = checked.optional_text(name) else { return Ok(Map::new()) };
    serde_json::from_str(text).map_err(|error| {
        Mistake::new(format!("`{name}` is not a JSON object: {error}"), "for example {\"temperature\": 0}")
    })
}

#[cfg(test)]
mod tests {
    use assay_model::Value as Setting;

    use super::*;

    fn read(pairs: &[(&str, Setting)]) -> Result<ChatSettings, Mistake> {
        ChatSettings::new(&pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    fn url() -> (&'static str, Setting) {
        ("url", "http://a/v1".into())
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let text = |pairs: &[(&str, Setting)]| read(pairs).unwrap_err().text;
        assert!(text(&[]).contains("no endpoint"));
        assert!(text(&[url(), ("mock", "itl=1ms".into())]).contains("both"));
        assert!(text(&[url(), ("rate", Setting::Float(1.0)), ("trace", "a".into())]).contains("`rate`"));
        assert!(
            text(&[url(), ("streams", Setting::Integer(2)), ("rate", Setting::Float(1.0))])
                .contains("`streams`")
        );
        assert!(text(&[url(), ("fields", "[1]".into())]).contains("`fields`"));
        assert!(text(&[url(), ("gaps", "gamma".into())]).contains("`rate`"));
        assert!(text(&[url(), ("rate", Setting::Float(0.0))]).contains("above 0"));
        assert!(text(&[url(), ("slo_ttft", "200".into())]).contains("slo_ttft"));
    }

    #[test]
    fn secrets_are_never_settings() {
        let refused = |pairs: &[(&str, Setting)]| {
            let error = read(pairs).unwrap_err();
            assert!(!format!("{} {:?}", error.text, error.hint).contains("canary"), "{}", error.text);
        };
        refused(&[("url", "https://me:canary@host/v1".into())]);
        refused(&[url(), ("headers", r#"{"X-Api-Key": "canary"}"#.into())]);
        refused(&[url(), ("token_command", "echo canary".into())]);
        refused(&[url(), ("token_command", "curl -H 'Key: sk-canary0123456789' login".into())]);
        for command in ["cat token", "echo $TOKEN", "python get.py --id eyJ", "printf %s \"$(cat token)\""] {
            assert!(read(&[url(), ("token_command", command.into())]).is_ok(), "{command}");
        }
        let fine =
            read(&[url(), ("headers", r#"{"X-Api-Key": "$NO_SUCH_VARIABLE_IS_SET", "X-Team": "a"}"#.into())]);
        let error = fine.unwrap().endpoint("http://a/v1").unwrap_err();
        assert!(error.text.contains("NO_SUCH_VARIABLE_IS_SET"), "{}", error.text);
    }

    #[test]
    fn repeats_and_sizes_draw_their_own_numbers_and_endpoints_share_them() {
        let seeds = |pairs: &[(&str, Setting)]| {
            let settings = read(pairs).unwrap();
            [1, 2].map(|repeat| settings.setup("http://127.0.0.1:1/v1", repeat).unwrap().load.seed)
        };
        let [first, second] = seeds(&[url(), ("rate", Setting::Float(2.0))]);
        let other = ("url", Setting::from("http://b/v1"));
        assert_eq!([first, second], seeds(&[other, ("rate", Setting::Float(2.0)), ("model", "x".into())]));
        let larger = seeds(&[url(), ("rate", Setting::Float(3.0))]);
        let reseeded = seeds(&[url(), ("rate", Setting::Float(2.0)), ("seed", Setting::Integer(2))]);
        let all: std::collections::BTreeSet<u64> =
            [first, second].into_iter().chain(larger).chain(reseeded).collect();
        assert_eq!(all.len(), 6, "{all:?}");
    }

    #[test]
    fn a_rate_ends_after_its_time_and_its_least_requests() {
        let requests = |pairs: &[(&str, Setting)]| {
            read(pairs).unwrap().setup("http://127.0.0.1:1/v1", 1).unwrap().load.requests
        };
        let rate = ("rate", Setting::Float(2.0));
        assert_eq!(requests(&[url()]), Some(10));
        assert_eq!(requests(&[url(), rate.clone()]), Some(60));
        assert_eq!(requests(&[url(), rate.clone(), ("duration", "10s".into())]), None);
        let least = ("min_requests", Setting::Integer(100));
        assert_eq!(requests(&[url(), rate.clone(), ("duration", "10s".into()), least.clone()]), Some(100));
        assert_eq!(requests(&[url(), rate, ("duration", "90s".into()), least]), Some(180));
    }
}
