//! Results of a load as tables.

use std::path::Path;

use assay_judge::load::{Distribution, Summary, Validity};
use assay_report::number::{counted, percent};
use assay_report::{Cell, Column, Table, Tone};

use super::json::as_json;
use super::{EndpointResult, Results, curve};
use crate::options::load::ResultOptions;
use crate::screen::Screen;

/// The quantiles that tables show.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

/// Counters of a server that tables show; JSON has all of them.
const MOST_COUNTERS: usize = 8;

/// Prints the results of a record: of its only load, or the curve of several.
pub(super) fn print(
    all: &[Results],
    options: &ResultOptions,
    record: &Path,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    match all {
        [results] if options.json => return screen.json(&as_json(results)),
        [results] => print_one(results, screen)?,
        several => curve::print(several, options, record, screen)?,
    }
    if let Some(last) = all.last().filter(|_| !options.json) {
        say_ending(last, screen);
    }
    say_where(options, record, all.iter().map(|results| results.took_s).sum(), screen);
    Ok(())
}

/// Says where the record is, unless nobody wants to know.
pub(super) fn say_where(options: &ResultOptions, record: &Path, took_s: Option<f64>, screen: &mut Screen) {
    if !options.quiet && !options.json {
        let took = took_s.map(|took| format!(" after {took:.1} s")).unwrap_or_default();
        screen.say(&format!("kept in {}{took}; --lines and --export write other formats", record.display()));
    }
}

fn say_ending(results: &Results, screen: &mut Screen) {
    match results.ended.as_deref() {
        Some("complete") => {}
        Some(other) => screen.warn(&format!("the load did not come to its end: {other}")),
        None => screen.warn("the program that made this load was killed; what it had kept is shown"),
    }
}

fn print_one(results: &Results, screen: &mut Screen) -> anyhow::Result<()> {
    if results.endpoints.len() > 1 {
        screen.table(&side_by_side(results))?;
        screen.data("\n")?;
    }
    for endpoint in &results.endpoints {
        screen.table(&detailed(endpoint, results))?;
        screen.data("\n")?;
    }
    if results.endpoints.is_empty() {
        screen.warn("no request was made");
    }
    Ok(())
}

/// Every distribution of a summary, with its name and the factor to the unit it is shown in.
fn distributions(summary: &Summary) -> [(&'static str, &Distribution, f64); 12] {
    [
        ("time to first token [ms]", &summary.ttft, 1e3),
        ("  from the real send time", &summary.ttft_from_send, 1e3),
        ("time to first output [ms]", &summary.ttfo, 1e3),
        ("time per token [ms]", &summary.tpot, 1e3),
        ("chunk gap [ms]", &summary.itl, 1e3),
        ("tokens per chunk", &summary.tokens_per_chunk, 1.0),
        ("end to end [ms]", &summary.e2e, 1e3),
        ("  from the real send time", &summary.e2e_from_send, 1e3),
        ("output of a request [tokens/s]", &summary.output_rate, 1.0),
        ("waiting, as the server tells [ms]", &summary.server_queue, 1e3),
        ("prompt, as the server tells [ms]", &summary.server_prompt, 1e3),
        ("output, as the server tells [ms]", &summary.server_output, 1e3),
    ]
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.abs() >= 1000.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn tone(validity: Validity) -> Tone {
    match validity {
        Validity::Valid => Tone::Good,
        Validity::Suspect => Tone::Doubt,
        Validity::Invalid => Tone::Bad,
    }
}

/// One row for each endpoint.
fn side_by_side(results: &Results) -> Table {
    let mut names =
        vec!["first token p50 [ms]", "p99", "per token p50 [ms]", "p99", "end to end p50 [ms]", "p99"];
    names.extend(["output [tokens/s]", "requests/s", "succeeded"]);
    let is_scored = results.endpoints.iter().any(|endpoint| endpoint.summary.exact.all > 0);
    if is_scored {
        names.extend(["exact match", "F1"]);
    }
    let mut columns = vec![Column::left("endpoint")];
    columns.extend(names.into_iter().map(Column::right));
    columns.push(Column::left("result"));
    let rows = results.endpoints.iter().map(|endpoint| {
        let summary = &endpoint.summary;
        let mut row = vec![Cell::new(endpoint.name())];
        for values in [&summary.ttft, &summary.tpot, &summary.e2e] {
            row.extend([0.5, 0.99].map(|at| Cell::new(number(values.quantile(at).map(|value| value * 1e3)))));
        }
        row.push(Cell::new(number(summary.output_throughput())));
        row.push(Cell::new(number(summary.request_throughput())));
        row.push(Cell::new(format!("{}/{}", summary.success.of, summary.success.all)));
        if is_scored {
            row.push(Cell::new(summary.exact.value().map_or("–".to_owned(), percent)));
            row.push(Cell::new(number(summary.f1.mean())));
        }
        row.push(Cell::toned(endpoint.verdict.validity.name(), tone(endpoint.verdict.validity)));
        row
    });
    Table { columns, rows: rows.collect(), ..Table::default() }
}

/// Everything of one endpoint.
fn detailed(endpoint: &EndpointResult, results: &Results) -> Table {
    let summary = &endpoint.summary;
    let mut columns = vec![Column::left("")];
    columns.extend(QUANTILES.iter().map(|(name, _)| Column::right(*name)));
    columns.extend([Column::right("mean"), Column::right("values")]);
    let mut is_shown = true;
    let rows = distributions(summary).into_iter().filter_map(|(name, values, factor)| {
        // The second row of a pair stands with the first.
        is_shown = if name.starts_with(' ') { is_shown } else { values.count() > 0 };
        is_shown.then(|| {
            let mut row = vec![Cell::new(name)];
            let shown = |value: Option<f64>| Cell::new(number(value.map(|value| value * factor)));
            row.extend(QUANTILES.iter().map(|(_, at)| shown(values.quantile(*at))));
            row.push(shown(values.mean()));
            row.push(Cell::new(values.count().to_string()));
            row
        })
    });
    let mut table = Table { columns, rows: rows.collect(), ..Table::default() };
    table.heading = vec![endpoint.name()];
    table.notes = notes(summary, results);
    table.notes.extend(counters_line(endpoint));
    table.notes.push(format!("result: {}", endpoint.verdict.validity.name()));
    for reason in &endpoint.verdict.reasons {
        let mark = table.footnote(&format!("{}: {}", reason.validity.name(), reason.text), reason.hint);
        if let Some(last) = table.notes.last_mut() {
            *last += &format!(" {mark}");
        }
    }
    for (kind, (count, message)) in &endpoint.faults {
        let text = format!("{} failed: {}; the first: {message}", counted(*count, "request"), kind.name());
        let mark = table.footnote(&text, kind.hint());
        if let Some(first) = table.notes.first_mut() {
            *first += &format!(" {mark}");
        }
    }
    table
}

/// The lines below a table.
fn notes(summary: &Summary, results: &Results) -> Vec<String> {
    let success = summary.success;
    let interval = success.interval().map(|(low, high)| format!(" ({} – {})", percent(low), percent(high)));
    let mut notes = vec![format!(
        "{} of {} requests succeeded: {}{}",
        success.of,
        success.all,
        success.value().map_or("–".to_owned(), percent),
        interval.unwrap_or_default()
    )];
    if results.has_bounds {
        let share = summary.good.value().map_or("–".to_owned(), percent);
        notes.push(format!(
            "goodput: {} requests/s; {share} of all met every bound",
            number(summary.goodput())
        ));
    }
    let window = summary.window;
    let kind = if window.is_whole { "the whole load, ramp and drain included" } else { "ramp and drain cut" };
    notes.push(format!(
        "total output: {} tokens/s, {} requests/s, over {:.1} s ({kind})",
        number(summary.output_throughput()),
        number(summary.request_throughput()),
        window.length_s()
    ));
    let tokens = summary.tokens;
    let mut line = format!("tokens: {} of prompts, {} of output", tokens.prompt, tokens.output);
    if tokens.reasoning > 0 {
        line += &format!(" ({} of them reasoning)", tokens.reasoning);
    }
    if tokens.by_tokenizer > 0 {
        line +=
            &format!("; those of {} were counted by the tokenizer", counted(tokens.by_tokenizer, "answer"));
    }
    if tokens.unknown > 0 {
        line += &format!(
            "; those of {} are not known: the server tells no usage and no --tokenizer was given",
            counted(tokens.unknown, "answer")
        );
    }
    if let Some(difference) = summary.count_difference() {
        line += &format!("; the tokenizer counts {:+.1} % against the server", difference * 100.0);
    }
    notes.push(line);
    notes.extend(answers_line(summary));
    notes.push(client_line(results));
    notes
}

/// How good the answers were, in one line; none where no right answer is known.
fn answers_line(summary: &Summary) -> Option<String> {
    let (exact, f1) = (summary.exact, summary.f1.mean()?);
    let (low, high) = exact.interval()?;
    let (share, low, high) = (percent(exact.value()?), percent(low), percent(high));
    Some(format!(
        "answers: {} of {} exactly right: {share} ({low} – {high}); F1 {f1:.3}",
        exact.of, exact.all
    ))
}

/// What the server counts itself, in one line: what tokens and requests it had, for us and for others.
fn counters_line(endpoint: &EndpointResult) -> Option<String> {
    let tells = |name: &str| name.contains("token") || name.contains("request") || name.contains("prompt");
    let shown = endpoint.counters.iter().filter(|(name, _)| tells(name)).take(MOST_COUNTERS);
    let shown: Vec<String> = shown.map(|(name, growth)| format!("{name} +{growth}")).collect();
    (!shown.is_empty()).then(|| format!("the server counts, for all its clients: {}", shown.join(", ")))
}

/// How the client did, in one line.
fn client_line(results: &Results) -> String {
    let client = &results.client;
    let milliseconds = |value: Option<f64>| number(value.map(|value| value * 1e3));
    let share = |value: Option<f64>| value.map_or("–".to_owned(), percent);
    format!(
        "client: reads late by {} ms and sends late by {} ms (p99), {} of a core, {}, {} of stamps merged",
        milliseconds(client.client_lag_s),
        milliseconds(client.schedule_lag_s),
        share(client.cpu),
        counted(client.connections, "connection"),
        share(client.merged)
    )
}
