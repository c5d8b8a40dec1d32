//! Several loads: the curve of latency over throughput.

use assay_judge::load::{Curve, Level, Metric, Point, Reading};
use assay_report::curve;
use serde_json::{Value, json};

use super::json::as_json as as_json_of_load;
use super::{Load, ReportOptions};
use crate::output::put;
use crate::screen::{JSON_SCHEMA, Screen};

/// The curve of all loads that have a size.
pub fn of(loads: &[Load]) -> Curve {
    let named = loads.iter().flat_map(|load| {
        let level = load.results.level();
        load.results.endpoints.iter().filter_map(move |endpoint| Some((level?, endpoint, endpoint.name())))
    });
    let named: Vec<_> = named.collect();
    let readings = named.iter().map(|(level, endpoint, name)| Reading {
        endpoint: name,
        level: *level,
        summary: &endpoint.summary,
        validity: endpoint.verdict.validity,
    });
    Curve::new(&readings.collect::<Vec<_>>())
}

/// Prints the curve of loads, and writes its page if one is wanted.
pub(super) fn print(
    loads: &[Load],
    options: &ReportOptions,
    source: &str,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let curve = of(loads);
    if let Some(path) = &options.html {
        let count: usize = curve.points.iter().map(|point| point.loads + point.invalid).sum();
        let title = format!("Load on {}", curve.endpoints().join(", "));
        let line = format!("{count} loads in {source}");
        put(path, &curve::html(&curve, &title, &[line]))?;
    }
    if options.json {
        return screen.json(&as_json(&curve, loads));
    }
    screen.table(&curve::table(&curve))?;
    Ok(screen.data("\n")?)
}

fn as_json(curve: &Curve, loads: &[Load]) -> Value {
    let points = curve.points.iter().map(|point| {
        let mut fields = match point.level {
            Level::Streams(streams) => json!({ "streams": streams }),
            Level::Rate(rate) => json!({ "rate": rate }),
        };
        if let Value::Object(fields) = &mut fields {
            fields.insert("endpoint".to_owned(), point.endpoint.as_str().into());
            fields.insert("loads".to_owned(), point.loads.into());
            fields.insert("invalid".to_owned(), point.invalid.into());
            fields.insert("suspect".to_owned(), point.suspect.into());
            fields.extend(Metric::ALL.map(|metric| (key(metric).to_owned(), estimate(point, metric))));
        }
        fields
    });
    let points: Vec<Value> = points.collect();
    let each: Vec<Value> = loads.iter().map(|load| as_json_of_load(&load.results)).collect();
    json!({ "schema": JSON_SCHEMA, "points": points, "loads": each })
}

fn key(metric: Metric) -> &'static str {
    match metric {
        Metric::OutputThroughput => "output_throughput",
        Metric::RequestThroughput => "request_throughput",
        Metric::Ttft => "ttft_p50_s",
        Metric::TtftP99 => "ttft_p99_s",
        Metric::Tpot => "tpot_p50_s",
        Metric::E2e => "e2e_p50_s",
        Metric::E2eP99 => "e2e_p99_s",
    }
}

fn estimate(point: &Point, metric: Metric) -> Value {
    match point.estimate(metric) {
        None => Value::Null,
        Some(known) => json!({
            "center": known.center,
            "low": known.low,
            "high": known.high,
            "confidence": known.confidence,
        }),
    }
}
