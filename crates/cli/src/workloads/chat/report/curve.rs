//! Several loads in turns: the curve of latency over throughput.

use std::path::Path;

use anyhow::Context;
use assay_judge::load::{Curve, Level, Metric, Point, Reading};
use assay_load::run::Ended;
use assay_report::curve;
use serde_json::{Value, json};

use super::json::as_json as as_json_of_load;
use super::{Recorder, Results, Setup, exit, export, show};
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::load::{Load, ResultOptions};
use crate::screen::Screen;
use crate::signals::stop_flag;
use crate::verbs::JSON_SCHEMA;

/// Makes a load of each size, several times, and prints the curve.
pub(super) fn curve(options: &Load, levels: &[Level], screen: &mut Screen) -> anyhow::Result<Exit> {
    if options.arrivals.ramp_from.is_some() {
        return Err(Mistake::new(
            "a ramp has no single rate to be compared by",
            "give one --rate, or leave --ramp-from out",
        )
        .into());
    }
    let mut setup = Setup::new(options)?;
    let stop = stop_flag()?;
    let mut recorder = Recorder::new(&options.results.output);
    let order = order(levels, options.arrivals.rounds);
    let mut ended = Ended::Complete;
    for (place, level) in order.iter().enumerate() {
        if !options.results.quiet {
            screen.say(&format!("[{}/{}] {level}", place + 1, order.len()));
        }
        setup.set_level(&options.arrivals, *level)?;
        ended = recorder.load(&setup, &stop, screen.is_watched() && !options.results.quiet)?.ended;
        if ended != Ended::Complete {
            break;
        }
    }
    export::write_out(&options.results.output, &options.results)?;
    let results = Results::read(&options.results.output, super::bounds(&options.results))?;
    show::print(&results, &options.results, &options.results.output, screen)?;
    Ok(exit(ended, results.iter().any(Results::has_failures)))
}

/// The order of loads: all sizes once before any comes again. Every round begins with another one, and every other
/// round goes backwards, so that what changes with time touches all sizes alike.
fn order(levels: &[Level], rounds: u32) -> Vec<Level> {
    let mut order = Vec::new();
    for round in 0..rounds as usize {
        let mut turn = levels.to_vec();
        turn.rotate_left(round / 2 % levels.len().max(1));
        if round % 2 == 1 {
            turn.reverse();
        }
        order.extend(turn);
    }
    order
}

/// The curve of all loads of a record that have a size.
pub(super) fn of(results: &[Results]) -> Curve {
    let named = results.iter().flat_map(|results| {
        let level = results.level();
        results.endpoints.iter().filter_map(move |endpoint| Some((level?, endpoint, endpoint.name())))
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

/// Prints the curve of a record, and writes its page if one is wanted.
pub(super) fn print(
    results: &[Results],
    options: &ResultOptions,
    record: &Path,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let curve = of(results);
    if let Some(path) = &options.html {
        let loads: usize = curve.points.iter().map(|point| point.loads + point.invalid).sum();
        let title = format!("Load on {}", curve.endpoints().join(", "));
        let line = format!("{loads} loads, kept in {}", record.display());
        std::fs::write(path, curve::html(&curve, &title, &[line]))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if options.json {
        return screen.json(&as_json(&curve, results));
    }
    screen.table(&curve::table(&curve))?;
    Ok(screen.data("\n")?)
}

fn as_json(curve: &Curve, results: &[Results]) -> Value {
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
    let parts: Vec<Value> = results.iter().map(as_json_of_load).collect();
    json!({ "schema": JSON_SCHEMA, "points": points, "parts": parts })
}

fn key(metric: Metric) -> &'static str {
    match metric {
        Metric::OutputRate => "output_tokens_per_s",
        Metric::RequestRate => "request_throughput",
        Metric::FirstToken => "first_token_p50_s",
        Metric::FirstTokenHigh => "first_token_p99_s",
        Metric::PerToken => "time_per_token_p50_s",
        Metric::EndToEnd => "end_to_end_p50_s",
        Metric::EndToEndHigh => "end_to_end_p99_s",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_comes_once_a_round_and_at_another_place() {
        let levels = [Level::Streams(1), Level::Streams(2), Level::Streams(4)];
        let order = order(&levels, 6);
        for round in order.chunks(3) {
            assert!(levels.iter().all(|level| round.contains(level)), "{round:?}");
        }
        for level in levels {
            let places: usize =
                order.iter().enumerate().filter(|(_, one)| **one == level).map(|(at, _)| at % 3).sum();
            assert_eq!(places, 6, "each size is early as often as late");
        }
    }
}
