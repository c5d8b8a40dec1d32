//! Results of a load as tables or JSON.

use assay_judge::load::{Distribution, Summary, Validity};
use assay_report::number::{counted, percent};
use assay_report::{Cell, Column, Table, Tone};
use serde_json::{Value, json};

use super::result::{EndpointResult, Results};
use crate::options::load::ResultOptions;
use crate::screen::Screen;
use crate::verbs::JSON_SCHEMA;

/// The quantiles that tables show.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

/// Prints results.
pub(super) fn print(results: &Results, options: &ResultOptions, screen: &mut Screen) -> anyhow::Result<()> {
    if options.json {
        return screen.json(&as_json(results));
    }
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
    match results.ended.as_deref() {
        Some("complete") => {}
        Some(other) => screen.warn(&format!("the load did not come to its end: {other}")),
        None => screen.warn("the program that made this load was killed; what it had kept is shown"),
    }
    if !options.quiet {
        let took = results.took_s.map(|took| format!(" after {took:.1} s")).unwrap_or_default();
        screen.say(&format!("kept in {}{took}; --lines writes JSON lines", options.output.display()));
    }
    Ok(())
}

/// Every distribution of a summary, with its name and the factor to the unit it is shown in.
fn distributions(summary: &Summary) -> [(&'static str, &Distribution, f64); 9] {
    [
        ("time to first token [ms]", &summary.first_token, 1e3),
        ("  from the real send time", &summary.first_token_from_send, 1e3),
        ("time to first output [ms]", &summary.first_output, 1e3),
        ("time per token [ms]", &summary.per_token, 1e3),
        ("chunk gap [ms]", &summary.chunk_gap, 1e3),
        ("tokens per chunk", &summary.tokens_per_chunk, 1.0),
        ("end to end [ms]", &summary.end_to_end, 1e3),
        ("  from the real send time", &summary.end_to_end_from_send, 1e3),
        ("output of a request [tokens/s]", &summary.output_rate, 1.0),
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
    let mut columns = vec![Column::left("endpoint")];
    columns.extend(names.into_iter().map(Column::right));
    columns.push(Column::left("result"));
    let rows = results.endpoints.iter().map(|endpoint| {
        let summary = &endpoint.summary;
        let mut row = vec![Cell::new(format!("{} {}", endpoint.url, endpoint.model))];
        for values in [&summary.first_token, &summary.per_token, &summary.end_to_end] {
            row.extend([0.5, 0.99].map(|at| Cell::new(number(values.quantile(at).map(|value| value * 1e3)))));
        }
        row.push(Cell::new(number(summary.total_output_rate())));
        row.push(Cell::new(number(summary.request_rate())));
        row.push(Cell::new(format!("{}/{}", summary.success.of, summary.success.all)));
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
    table.heading = vec![format!("{} {}", endpoint.url, endpoint.model).trim_end().to_owned()];
    table.notes = notes(summary, results);
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
        number(summary.total_output_rate()),
        number(summary.request_rate()),
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
    notes.push(client_line(results));
    notes
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

fn as_json(results: &Results) -> Value {
    let endpoints = results.endpoints.iter().map(|endpoint| {
        let summary = &endpoint.summary;
        let spread = |values: &Distribution| {
            let at = |probability| values.quantile(probability);
            json!({ "p50": at(0.5), "p90": at(0.9), "p95": at(0.95), "p99": at(0.99), "mean": values.mean(), "count": values.count() })
        };
        let reasons = endpoint.verdict.reasons.iter();
        let reasons = reasons.map(|reason| json!({ "validity": reason.validity.name(), "text": reason.text, "hint": reason.hint }));
        let faults = endpoint.faults.iter();
        let faults = faults.map(|(kind, (count, first))| json!({ "kind": kind, "count": count, "first": first, "hint": kind.hint() }));
        json!({
            "url": endpoint.url,
            "model": endpoint.model,
            "validity": endpoint.verdict.validity.name(),
            "reasons": reasons.collect::<Vec<_>>(),
            "requests": summary.success.all,
            "succeeded": summary.success.of,
            "success_interval": summary.success.interval(),
            "good": summary.good.of,
            "goodput": summary.goodput().filter(|_| results.has_bounds),
            "window_s": [summary.window.begin_s, summary.window.end_s],
            "window_is_whole_load": summary.window.is_whole,
            "output_tokens_per_s": summary.total_output_rate(),
            "requests_per_s": summary.request_rate(),
            "first_token_s": spread(&summary.first_token),
            "first_token_from_send_s": spread(&summary.first_token_from_send),
            "first_output_s": spread(&summary.first_output),
            "time_per_token_s": spread(&summary.per_token),
            "chunk_gap_s": spread(&summary.chunk_gap),
            "tokens_per_chunk": spread(&summary.tokens_per_chunk),
            "end_to_end_s": spread(&summary.end_to_end),
            "end_to_end_from_send_s": spread(&summary.end_to_end_from_send),
            "request_tokens_per_s": spread(&summary.output_rate),
            "tokens": {
                "prompt": summary.tokens.prompt,
                "output": summary.tokens.output,
                "reasoning": summary.tokens.reasoning,
                "counted_by_server": summary.tokens.by_server,
                "counted_by_tokenizer": summary.tokens.by_tokenizer,
                "unknown": summary.tokens.unknown,
                "tokenizer_against_server": summary.count_difference(),
            },
            "faults": faults.collect::<Vec<_>>(),
        })
    });
    let client = &results.client;
    json!({
        "schema": JSON_SCHEMA,
        "ended": results.ended,
        "took_s": results.took_s,
        "client": {
            "client_lag_p99_s": client.client_lag_s,
            "schedule_lag_p99_s": client.schedule_lag_s,
            "in_flight_share": client.in_flight,
            "cpu_share": client.cpu,
            "connections": client.connections,
            "requests": client.requests,
            "sent_anew": client.sent_anew,
            "merged_share": client.merged,
            "unstamped_share": client.unstamped,
        },
        "endpoints": endpoints.collect::<Vec<_>>(),
    })
}
