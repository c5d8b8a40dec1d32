//! Results in the files of other clients, with their names, units and definitions, so that dashboards made for them can
//! read ours. Times count from the real send time there, as those clients measure them.
//!
//! | file | holds |
//! |---|---|
//! | `foreign/vllm.rs` | the result file of `vllm bench serve` with `--save-detailed` |
//! | `foreign/aiperf.rs` | `profile_export_aiperf.json`, and `profile_export.jsonl` beside it |
//! | `foreign/guidellm.rs` | `benchmarks.json` |

mod aiperf;
mod guidellm;
mod vllm;

use std::path::{Path, PathBuf};

use assay_judge::load::exact_quantile;
use assay_load::Exchange;
use serde_json::Value;

use super::super::results::{EndpointResult, LoadResults, request};
use super::LoadReport;
use crate::failure::Mistake;
use crate::output::put;

/// Whose files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ForeignFormat {
    Vllm,
    Aiperf,
    Guidellm,
}

/// One measured request with the times that other clients compute.
struct Measured {
    exchange: Exchange,
    /// Seconds from send to the first token.
    ttft_s: Option<f64>,
    /// Seconds from send to the end.
    latency_s: f64,
    gaps_s: Vec<f64>,
    output_tokens: Option<u64>,
    prompt_tokens: Option<u64>,
    is_good: bool,
}

impl Measured {
    /// (latency − TTFT) / (tokens − 1), as other clients define the time per output token.
    fn tpot_s(&self) -> Option<f64> {
        let rest = self.output_tokens?.checked_sub(1).filter(|rest| *rest > 0)?;
        Some((self.latency_s - self.ttft_s?) / rest as f64)
    }

    fn is_success(&self) -> bool {
        self.exchange.is_success()
    }
}

/// A load as other clients see it.
struct ForeignLoad<'a> {
    results: &'a LoadResults,
    endpoint: &'a EndpointResult,
    requests: Vec<Measured>,
    /// From the first send to the last end.
    duration_s: f64,
    /// When the load began, in nanoseconds since 1970.
    began_ns: i128,
}

impl ForeignLoad<'_> {
    fn succeeded(&self) -> impl Iterator<Item = &Measured> {
        self.requests.iter().filter(|one| one.is_success())
    }

    fn values(&self, of: impl Fn(&Measured) -> Option<f64>) -> Vec<f64> {
        self.succeeded().filter_map(of).collect()
    }

    fn total(&self, of: impl Fn(&Measured) -> Option<u64>) -> u64 {
        self.succeeded().filter_map(of).sum()
    }

    fn setting(&self, name: &str) -> Value {
        let settings = self.results.settings.get("settings");
        settings.and_then(|all| all.get(name)).cloned().unwrap_or(Value::Null)
    }

    /// A time of the load as nanoseconds since 1970.
    fn clock_ns(&self, at_s: f64) -> i64 {
        i64::try_from(self.began_ns).unwrap_or(0) + (at_s * 1e9) as i64
    }

    fn per_second(&self, amount: f64) -> f64 {
        if self.duration_s > 0.0 { amount / self.duration_s } else { 0.0 }
    }
}

/// Writes loads in another client's format: one file for guidellm, one for each load otherwise.
pub(super) fn write(loads: &[LoadReport], format: ForeignFormat, path: &Path) -> anyhow::Result<()> {
    let mut foreign = Vec::new();
    for load in loads {
        foreign.extend(seen(load)?);
    }
    if foreign.is_empty() {
        return Err(
            Mistake::new("no request was measured; nothing to write", "the messages above say why").into()
        );
    }
    let pretty = |value: &Value| serde_json::to_string_pretty(value).map(|text| text + "\n");
    if format == ForeignFormat::Guidellm {
        return put(path, &pretty(&guidellm::report(&foreign))?);
    }
    let is_one = foreign.len() == 1;
    for (load, number) in foreign.iter().zip(1..) {
        let own = if is_one { path.to_owned() } else { numbered(path, number) };
        match format {
            ForeignFormat::Vllm => put(&own, &pretty(&vllm::result(load))?)?,
            _ => {
                put(&own, &pretty(&aiperf::summary(load))?)?;
                let lines = aiperf::lines(load).iter().map(|line| format!("{line}\n")).collect::<String>();
                let name = if is_one {
                    PathBuf::from("profile_export.jsonl")
                } else {
                    numbered(Path::new("profile_export.jsonl"), number)
                };
                put(&own.with_file_name(name), &lines)?;
            }
        }
    }
    Ok(())
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

/// The measured requests of a load; none if there are none.
fn seen(load: &LoadReport) -> anyhow::Result<Option<ForeignLoad<'_>>> {
    let Some(endpoint) = load.results.endpoints.first() else { return Ok(None) };
    let mut requests = Vec::new();
    for exchange in load.stored.requests()? {
        let exchange = exchange?;
        if exchange.warm_up || exchange.endpoint != 0 {
            continue;
        }
        let judged = request(&exchange);
        requests.push(Measured {
            ttft_s: exchange.first_token_at_s.map(|at_s| at_s - exchange.sent_at_s),
            latency_s: exchange.end_at_s - exchange.sent_at_s,
            gaps_s: judged.arrivals.windows(2).map(|pair| pair[1].0 - pair[0].0).collect(),
            output_tokens: judged.tokens(),
            prompt_tokens: judged.prompt_tokens,
            is_good: load.results.bounds.are_met(&judged),
            exchange,
        });
    }
    requests.sort_by_key(|one| one.exchange.index);
    let first = requests.iter().map(|one| one.exchange.sent_at_s).fold(f64::INFINITY, f64::min);
    let last = requests.iter().map(|one| one.exchange.end_at_s).fold(f64::NEG_INFINITY, f64::max);
    let date = load.results.settings.get("date").and_then(Value::as_str).unwrap_or_default();
    let began_ns = assay_load::clock::nanoseconds_of_date(date).unwrap_or(0);
    let found =
        ForeignLoad { results: &load.results, endpoint, requests, duration_s: last - first, began_ns };
    Ok(Some(found).filter(|found| !found.requests.is_empty()))
}

/// Mean, standard deviation over all values, and quantiles.
struct Spread {
    sorted: Vec<f64>,
}

impl Spread {
    fn new(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        Spread { sorted: values }
    }

    fn sum(&self) -> f64 {
        self.sorted.iter().sum()
    }

    fn mean(&self) -> f64 {
        if self.sorted.is_empty() { 0.0 } else { self.sum() / self.sorted.len() as f64 }
    }

    /// The standard deviation with n in the denominator, as numpy computes it unless asked otherwise.
    fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.sorted.iter().map(|value| (value - mean).powi(2)).sum();
        if self.sorted.is_empty() { 0.0 } else { (squares / self.sorted.len() as f64).sqrt() }
    }

    fn at(&self, probability: f64) -> f64 {
        exact_quantile(&self.sorted, probability).unwrap_or(0.0)
    }
}
