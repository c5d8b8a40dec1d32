//! Several loads: the curve of latency over throughput.

use assay_judge::load::{
    Contrast, LoadCurve, LoadLevel, LoadReading, Metric, Point, RoundReading, Standing, contrasts,
};
use assay_report::number::counted;
use assay_report::{Cell, Column, Table, Tone, curve};
use serde_json::{Value, json};

use super::json::as_json as as_json_of_load;
use super::{LoadReport, ReportOptions};
use crate::output::put;
use crate::screen::{JSON_SCHEMA, Screen};

/// The curve of all loads that have a size.
pub fn of(loads: &[LoadReport]) -> LoadCurve {
    let named = loads.iter().flat_map(|load| {
        let level = load.results.level();
        load.results.endpoints.iter().filter_map(move |endpoint| Some((level?, endpoint, endpoint.name())))
    });
    let named: Vec<_> = named.collect();
    let readings = named.iter().map(|(level, endpoint, name)| LoadReading {
        endpoint: name,
        level: *level,
        summary: &endpoint.summary,
        verdict: &endpoint.verdict,
    });
    let bounds = loads.first().map(|load| load.results.bounds).unwrap_or_default();
    LoadCurve::new(&readings.collect::<Vec<_>>(), bounds)
}

/// How endpoints compare with the one at `base`, round by round; with the first by name if none is given.
fn compared(loads: &[LoadReport], base: Option<&str>) -> Vec<Contrast> {
    let named = loads.iter().flat_map(|load| {
        let (level, round) = (load.results.level(), load.results.round());
        load.results.endpoints.iter().filter_map(move |one| Some((level?, round, one, one.name())))
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by_key(|(_, _, endpoint, name)| (base.is_some_and(|base| endpoint.url != base), name.clone()));
    let readings = named.iter().map(|(level, round, endpoint, name)| RoundReading {
        round: *round,
        endpoint: name,
        level: *level,
        summary: &endpoint.summary,
        validity: endpoint.verdict.validity,
    });
    contrasts(&readings.collect::<Vec<_>>())
}

/// The verdict on endpoints: what each ratio says, with its interval.
fn verdict(contrast: &Contrast) -> Table {
    let mut table = Table {
        columns: vec![
            Column::left("metric"),
            Column::right("ratio"),
            Column::right("interval"),
            Column::left(""),
        ],
        heading: vec![
            format!("{} / {}", contrast.endpoint, contrast.base),
            format!("{}, {} in pairs", contrast.level, counted(contrast.rounds as u64, "round")),
        ],
        ..Table::default()
    };
    for (metric, ratio) in &contrast.ratios {
        let (word, tone) = match contrast.standing(*metric) {
            Some(Standing::Better) => ("better", Tone::Good),
            Some(Standing::Worse) => ("worse", Tone::Bad),
            Some(Standing::Same) => ("=", Tone::Plain),
            Some(Standing::Indistinguishable) => ("~", Tone::Plain),
            _ => ("too few rounds", Tone::Doubt),
        };
        let interval = format!("{:.3} – {:.3}", ratio.low, ratio.high);
        table.rows.push(vec![
            Cell::new(metric.name()),
            Cell::new(format!("{:.3}", ratio.center)),
            Cell::new(if ratio.samples > 1 { interval } else { String::new() }),
            Cell::toned(word, tone),
        ]);
    }
    table.notes.push(sentence(contrast));
    table
}

/// The verdict in a sentence: about end-to-end latency, else about the first metric that decides.
fn sentence(contrast: &Contrast) -> String {
    let (endpoint, base) = (&contrast.endpoint, &contrast.base);
    let Some((metric, ratio)) = contrast.ratios.iter().find(|(metric, _)| *metric == Metric::E2e) else {
        return format!("verdict: {endpoint} and {base} cannot be compared: no pair of loads counts");
    };
    let factor = format!("{:.3}× the {} ({:.3} – {:.3})", ratio.center, metric.name(), ratio.low, ratio.high);
    match contrast.standing(*metric) {
        Some(Standing::Better) => format!("verdict: {endpoint} is faster than {base}: {factor}"),
        Some(Standing::Worse) => format!("verdict: {endpoint} is slower than {base}: {factor}"),
        Some(Standing::Same) => format!("verdict: {endpoint} and {base} are equal within 1 %: {factor}"),
        Some(Standing::Indistinguishable) => {
            let why = match contrast.insignificant.contains(metric) {
                true => format!("; not significant among {} comparisons (Holm)", contrast.comparisons),
                false => String::new(),
            };
            format!("verdict: {endpoint} is indistinguishable from {base}: {factor}{why}")
        }
        _ => format!(
            "verdict: undecided with {}; 6 give an interval",
            counted(contrast.rounds as u64, "round")
        ),
    }
}

/// Writes the page with the curve, if one is wanted.
pub(super) fn write_page(loads: &[LoadReport], options: &ReportOptions, source: &str) -> anyhow::Result<()> {
    let Some(path) = &options.html else { return Ok(()) };
    let curve = of(loads);
    let count: usize = curve.points.iter().map(|point| point.loads + point.invalid).sum();
    let title = format!("Load on {}", curve.endpoints().join(", "));
    let line = format!("{count} loads in {source}");
    put(path, &curve::html(&curve, &title, &[line]))
}

/// Prints the curve of loads.
pub(super) fn print(
    loads: &[LoadReport],
    options: &ReportOptions,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let curve = of(loads);
    if options.json {
        return screen.json(&as_json(&curve, loads, options));
    }
    for table in curve::tables(&curve).into_iter().filter(|table| !table.rows.is_empty()) {
        screen.table(&table)?;
        screen.data("\n")?;
    }
    for contrast in compared(loads, options.base.as_deref()) {
        screen.table(&verdict(&contrast))?;
        screen.data("\n")?;
    }
    Ok(())
}

fn as_json(curve: &LoadCurve, loads: &[LoadReport], options: &ReportOptions) -> Value {
    let points = curve.points.iter().map(|point| {
        let mut fields = match point.level {
            LoadLevel::Streams(streams) => json!({ "streams": streams }),
            LoadLevel::Rate(rate) => json!({ "rate": rate }),
        };
        if let Value::Object(fields) = &mut fields {
            fields.insert("endpoint".to_owned(), point.endpoint.as_str().into());
            fields.insert("loads".to_owned(), point.loads.into());
            fields.insert("invalid".to_owned(), point.invalid.into());
            fields.insert("suspect".to_owned(), point.suspect.into());
            fields.insert("doubt".to_owned(), point.doubt.clone().into());
            fields.extend(Metric::ALL.map(|metric| (key(metric).to_owned(), estimate(point, metric))));
        }
        fields
    });
    let points: Vec<Value> = points.collect();
    let each: Vec<Value> = loads.iter().map(|load| as_json_of_load(&load.results)).collect();
    let verdicts: Vec<Value> = compared(loads, options.base.as_deref()).iter().map(contrast_json).collect();
    json!({ "schema": JSON_SCHEMA, "points": points, "verdicts": verdicts, "loads": each })
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
        Metric::Goodput => "goodput",
        Metric::GoodShare => "good_share",
    }
}

fn contrast_json(contrast: &Contrast) -> Value {
    let mut fields = json!({
        "endpoint": contrast.endpoint,
        "base": contrast.base,
        "load": contrast.level.to_string(),
        "rounds": contrast.rounds,
        "verdict": sentence(contrast),
    });
    for (metric, ratio) in &contrast.ratios {
        fields[key(*metric)] = json!({
            "ratio": ratio.center,
            "low": ratio.low,
            "high": ratio.high,
            "confidence": ratio.confidence,
            "samples": ratio.samples,
            "standing": contrast.standing(*metric).map(Standing::name),
        });
    }
    fields
}

fn estimate(point: &Point, metric: Metric) -> Value {
    match point.estimate(metric) {
        None => Value::Null,
        Some(known) => json!({
            "center": known.center,
            "low": known.low,
            "high": known.high,
            "confidence": known.confidence,
            "samples": known.samples,
        }),
    }
}
