//! The results of one load as tables.

use assay_judge::load::{Batched, EndpointSummary, Validity};
use assay_report::number::{counted, percent};
use assay_report::{Cell, Column, Table, Tone};

use super::super::results::{EndpointResult, LoadResults};
use crate::screen::Screen;

/// The quantiles that tables show.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

/// Counters of a server that tables show; JSON has all of them.
const MOST_COUNTERS: usize = 8;

pub(super) fn print(results: &LoadResults, screen: &mut Screen) -> anyhow::Result<()> {
    if results.endpoints.len() > 1 {
        screen.table(&side_by_side(results))?;
        screen.data("\n")?;
    }
    for endpoint in &results.endpoints {
        screen.table(&detailed(endpoint, results))?;
        screen.data("\n")?;
        if let Some(table) = intervals(&endpoint.summary) {
            screen.table(&table)?;
            screen.data("\n")?;
        }
    }
    if results.endpoints.is_empty() {
        screen.warn("no request was made");
    }
    Ok(())
}

/// Every distribution of a summary, with its name and the factor to the unit it is shown in.
fn distributions(summary: &EndpointSummary) -> [(&'static str, &Batched, f64); 12] {
    [
        ("ttft [ms]", &summary.ttft, 1e3),
        ("  from send", &summary.ttft_from_send, 1e3),
        ("ttfo [ms]", &summary.ttfo, 1e3),
        ("tpot [ms]", &summary.tpot, 1e3),
        ("itl [ms]", &summary.itl, 1e3),
        ("tokens per chunk", &summary.tokens_per_chunk, 1.0),
        ("e2e [ms]", &summary.e2e, 1e3),
        ("  from send", &summary.e2e_from_send, 1e3),
        ("tokens/s per request", &summary.output_rate, 1.0),
        ("server: queue [ms]", &summary.server_queue, 1e3),
        ("server: prompt [ms]", &summary.server_prompt, 1e3),
        ("server: output [ms]", &summary.server_output, 1e3),
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
fn side_by_side(results: &LoadResults) -> Table {
    let mut names = vec!["ttft p50 [ms]", "p99", "tpot p50 [ms]", "p99", "e2e p50 [ms]", "p99"];
    names.extend(["output_throughput", "request_throughput", "succeeded"]);
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
fn detailed(endpoint: &EndpointResult, results: &LoadResults) -> Table {
    let summary = &endpoint.summary;
    let mut columns = vec![Column::left("")];
    columns.extend(["mean", "std", "min"].map(Column::right));
    columns.extend(QUANTILES.iter().map(|(name, _)| Column::right(*name)));
    columns.push(Column::right("max"));
    let mut is_shown = true;
    let rows = distributions(summary).into_iter().filter_map(|(name, values, factor)| {
        // The second row of a pair follows the first.
        is_shown = if name.starts_with(' ') { is_shown } else { values.count() > 0 };
        is_shown.then(|| {
            let mut row = vec![Cell::new(name)];
            let shown = |value: Option<f64>| Cell::new(number(value.map(|value| value * factor)));
            row.extend([values.mean(), values.deviation(), values.min()].map(shown));
            row.extend(QUANTILES.iter().map(|(_, at)| shown(values.quantile(*at))));
            row.push(shown(values.max()));
            row
        })
    });
    let mut table = Table { columns, rows: rows.collect(), ..Table::default() };
    table.heading = vec![endpoint.name()];
    let load = results.level().map(|level| level.to_string());
    let about: Vec<String> = load.into_iter().chain(results.prompts.clone()).collect();
    if !about.is_empty() {
        table.heading.push(about.join("; "));
    }
    if summary.success.all == 0 {
        // A head without rows, and rates of nothing, would only be in the way of the reason.
        table.columns.clear();
        table.notes = vec!["no request was measured".to_owned()];
    } else {
        table.notes = notes(summary, results);
        table.notes.extend(counters_line(endpoint));
    }
    table.notes.push(format!("result: {}", endpoint.verdict.validity.name()));
    for reason in &endpoint.verdict.reasons {
        let mark = table.footnote(&format!("{}: {}", reason.validity.name(), reason.text), reason.hint);
        if let Some(last) = table.notes.last_mut() {
            *last += &format!(" {mark}");
        }
        // A doubt about one metric stands beside its numbers, too.
        let is_meant = |row: &&mut Vec<Cell>| {
            let name = row.first().and_then(|cell| cell.text.split(' ').next());
            reason.metric.is_some() && name == reason.metric
        };
        if let Some(cell) = table.rows.iter_mut().find(is_meant).and_then(|row| row.first_mut()) {
            cell.text += &format!(" {mark}");
        }
    }
    for (kind, (count, message)) in &endpoint.faults {
        let text = format!("{} failed: {}; first: {message}", counted(*count, "request"), kind.name());
        let mark = table.footnote(&text, kind.hint());
        if let Some(first) = table.notes.first_mut() {
            *first += &format!(" {mark}");
        }
    }
    table
}

/// How many values each row has, and the intervals that their number allows.
fn intervals(summary: &EndpointSummary) -> Option<Table> {
    let shown = |interval: Option<(f64, f64)>, factor: f64| {
        let text = |(low, high): (f64, f64)| {
            format!("{}–{}", number(Some(low * factor)), number(Some(high * factor)))
        };
        interval.map_or("–".to_owned(), text)
    };
    let known = || distributions(summary).into_iter().filter(|(_, values, _)| values.count() > 0);
    let rows: Vec<Vec<Cell>> = known()
        .map(|(name, values, factor)| {
            let all = std::iter::once(values.mean_interval())
                .chain(QUANTILES.iter().map(|(_, at)| values.quantile_interval(*at)));
            let cells = all.map(|one| Cell::new(shown(one, factor)));
            [name.to_owned(), values.count().to_string()].into_iter().map(Cell::new).chain(cells).collect()
        })
        .collect();
    let columns = [Column::left("95 % interval"), Column::right("values")]
        .into_iter()
        .chain(std::iter::once("mean").chain(QUANTILES.iter().map(|(name, _)| *name)).map(Column::right));
    let has_interval = |(_, values, _): (&str, &Batched, f64)| {
        values.mean_interval().is_some()
            || QUANTILES.iter().any(|(_, at)| values.quantile_interval(*at).is_some())
    };
    let mut table = Table { columns: columns.collect(), keys: 1, rows, ..Table::default() };
    if !known().any(has_interval) {
        // Columns of dashes would only repeat the note.
        table.columns.truncate(2);
        table.rows.iter_mut().for_each(|row| row.truncate(2));
    }
    if known().any(|one| !has_interval(one)) {
        table.notes.push(
            "an interval takes ten batches of requests that do not resemble each other, and that of p99 at least 368 \
             values: more --requests, or several --rounds, whose loads are independent"
                .to_owned(),
        );
    }
    (!table.rows.is_empty()).then_some(table)
}

/// A value with its interval, where there is one.
fn with_interval(value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    match interval.filter(|_| value.is_some()) {
        Some((low, high)) => format!("{} ({} … {})", number(value), number(Some(low)), number(Some(high))),
        None => number(value),
    }
}

/// The lines below a table.
fn notes(summary: &EndpointSummary, results: &LoadResults) -> Vec<String> {
    let success = summary.success;
    let shares = |(low, high): (f64, f64)| format!(" ({} – {})", percent(low), percent(high));
    let interval = summary.success_interval().map(shares);
    let mut notes = vec![format!(
        "{} of {} requests succeeded: {}{}",
        success.of,
        success.all,
        success.value().map_or("–".to_owned(), percent),
        interval.unwrap_or_default()
    )];
    if summary.unfinished > 0 {
        let text = counted(summary.unfinished, "request");
        notes.push(format!("{text} unfinished when the load was stopped; left out"));
    }
    if results.tried_after_gone > 0 {
        let text = counted(results.tried_after_gone, "connection");
        notes.push(format!("{text} tried after the endpoint was gone; left out"));
    }
    if results.insecure {
        notes.push("certificates were not checked (--insecure)".to_owned());
    }
    if results.has_bounds {
        let share = summary.good.value().map_or("–".to_owned(), percent);
        let interval = summary.good_interval().map(shares).unwrap_or_default();
        notes.push(format!(
            "goodput {} requests/s; {share}{interval} of all requests met every SLO",
            with_interval(summary.goodput(), summary.good_inside.interval())
        ));
    }
    let window = summary.window;
    let kind = if window.is_whole { "the whole load, with ramp and drain" } else { "without ramp and drain" };
    notes.push(format!(
        "request_throughput {} requests/s, over {} ({kind})",
        with_interval(summary.request_throughput(), summary.ended_inside.interval()),
        match window.length_s() {
            length_s if length_s < 1.0 => format!("{:.0} ms", length_s * 1e3),
            length_s => format!("{length_s:.1} s"),
        }
    ));
    if let Some(output) = summary.output_throughput() {
        let mut line = format!(
            "output_throughput {} tokens/s",
            with_interval(Some(output), summary.tokens_inside.interval())
        );
        if let Some(total) = summary.total_token_throughput() {
            let total = with_interval(Some(total), summary.all_tokens_inside.interval());
            line += &format!(", total_token_throughput {total} tokens/s");
        }
        notes.push(line);
    }
    let tokens = summary.tokens;
    let mut line = format!("tokens: {} prompt, {} output", tokens.prompt, tokens.output);
    if tokens.reasoning > 0 {
        line += &format!(" ({} reasoning)", tokens.reasoning);
    }
    if tokens.by_tokenizer > 0 {
        line += &format!("; {} counted by the tokenizer only", counted(tokens.by_tokenizer, "answer"));
    }
    if tokens.unknown > 0 {
        line += &format!(
            "; unknown for {}: the server reports no usage and no --tokenizer was given",
            counted(tokens.unknown, "answer")
        );
    }
    if let Some(share) = summary.cached_share() {
        line += &format!("; {} of prompt tokens cached", percent(share));
    }
    if let Some(difference) = summary.count_difference() {
        line += &format!("; the tokenizer counts {:+.1} % relative to the server", difference * 100.0);
    }
    notes.push(line);
    notes.extend(answers_line(summary));
    notes.push(client_line(results));
    notes
}

/// The quality of the answers; none where no right answer is known.
fn answers_line(summary: &EndpointSummary) -> Option<String> {
    let (exact, f1) = (summary.exact, summary.f1.mean()?);
    let (low, high) = exact.interval()?;
    let (share, low, high) = (percent(exact.value()?), percent(low), percent(high));
    let ends =
        summary.f1_interval().map(|(low, high)| format!(" ({low:.3} – {high:.3})")).unwrap_or_default();
    Some(format!(
        "answers: {} of {} match exactly: {share} ({low} – {high}); F1 {f1:.3}{ends}",
        exact.of, exact.all
    ))
}

/// Growth of the server's own counters of tokens and requests.
fn counters_line(endpoint: &EndpointResult) -> Option<String> {
    let is_shown = |name: &str| name.contains("token") || name.contains("request") || name.contains("prompt");
    let shown = endpoint.counters.iter().filter(|(name, _)| is_shown(name)).take(MOST_COUNTERS);
    // Counts are whole; seconds are sums of many small numbers, of which nobody wants the last digits.
    let amount = |growth: f64| match growth.fract() == 0.0 {
        true => format!("{growth}"),
        false => format!("{}", (growth * 1e6).round() / 1e6),
    };
    let shown: Vec<String> = shown.map(|(name, growth)| format!("{name} +{}", amount(*growth))).collect();
    (!shown.is_empty()).then(|| format!("server counters, for all its clients: {}", shown.join(", ")))
}

/// How the client did.
fn client_line(results: &LoadResults) -> String {
    let client = &results.client;
    let milliseconds = |value: Option<f64>| number(value.map(|value| value * 1e3));
    let share = |value: Option<f64>| value.map_or("–".to_owned(), percent);
    let again = match client.sent_again {
        0 => String::new(),
        count => format!(", {count} sent again after the server had closed an idle connection"),
    };
    format!(
        "client: read lag p99 {} ms, schedule lag p99 {} ms, {} of a core, {}{again}, {} of stamps merged",
        milliseconds(client.client_lag_s),
        milliseconds(client.schedule_lag_s),
        share(client.cpu),
        counted(client.connections, "connection"),
        share(client.merged)
    )
}
