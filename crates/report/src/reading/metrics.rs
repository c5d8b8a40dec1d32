//! Metrics: the few that say most, and all of them as a table.

use assay_model::{Observation, Origin, ReadRun, Unit, names};

use super::facts;
use crate::block::TerminalBlock;
use crate::number::{fact, single};
use crate::table::{Cell, Column, Table, Tone};
use crate::words::{clean, together};

/// The most important metrics of a run, the most important first. Of metrics with the same first word, one is enough.
const TELLING: [&str; 20] = [
    names::ACCURACY,
    names::SAMPLES_PER_S_LOOP,
    names::SAMPLES_PER_S,
    names::SAMPLES_PER_S_FIT,
    names::TOKENS_PER_S,
    names::OUTPUT_THROUGHPUT,
    names::TOKENS_PER_S_UNNAMED,
    names::TOTAL_TOKEN_THROUGHPUT,
    names::INFERENCES_PER_S,
    names::REQUEST_THROUGHPUT,
    names::E2E,
    names::TTFT,
    names::TIME_FORWARD,
    names::TIME_FORWARD_BACKWARD,
    names::LOSS_FINAL,
    names::LOSS_EVAL,
    names::LOSS_TRAIN,
    names::DURATION_LOOP,
    names::DURATION_FIT,
    names::DURATION_REPORTED,
];

/// How important a metric is; 0 is the most important.
pub(crate) fn rank(metric: &str) -> usize {
    TELLING.iter().position(|name| *name == metric).unwrap_or(TELLING.len())
}

/// The metrics that say most of a run, at most this many, each of another kind.
pub fn telling(run: &ReadRun, most: usize) -> Vec<&Observation> {
    let mut ranked: Vec<(usize, &Observation)> = run
        .observations
        .iter()
        .map(|observation| {
            let rank = rank(&observation.metric);
            // A prediction never takes the place of a measurement.
            (rank + if observation.origin == Origin::Prediction { 2 * TELLING.len() } else { 0 }, observation)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    // Beside what shows most, the rest only takes room; where nothing does, the rest is better than nothing.
    if ranked.iter().any(|(rank, _)| *rank < TELLING.len()) {
        ranked.retain(|(_, observation)| {
            TELLING.contains(&observation.metric.as_str()) || observation.origin == Origin::Prediction
        });
    }
    let mut chosen: Vec<&Observation> = Vec::new();
    for (_, observation) in ranked {
        let kind = kind(&observation.metric);
        if chosen.len() < most && chosen.iter().all(|other| self::kind(&other.metric) != kind) {
            chosen.push(observation);
        }
    }
    chosen
}

fn kind(metric: &str) -> &str {
    metric.split('.').next().unwrap_or(metric)
}

/// The metrics that say most, in a few words.
pub fn short(run: &ReadRun, most: usize) -> String {
    let shown: Vec<String> = telling(run, most)
        .into_iter()
        .map(|observation| {
            let value = together(&clean(&fact(&observation.unit, observation.value)));
            let mark = if observation.origin == Origin::Prediction { " (predicted)" } else { "" };
            // A rate or a count shows by its unit what it is; a time or a bare number does not.
            let named = matches!(&observation.unit, Unit::PerSecond(_) | Unit::Count(_));
            let name = if named { String::new() } else { clean(&format!("{} ", observation.metric)) };
            format!("{name}{value}{mark}")
        })
        .collect();
    shown.join(", ")
}

/// All metrics of a run as a table; none without metrics.
pub fn table(run: &ReadRun) -> Option<TerminalBlock> {
    if run.observations.is_empty() {
        return None;
    }
    let mut table = Table {
        columns: vec![
            Column::left("metric"),
            Column::right("value"),
            Column::left("scope"),
            Column::left("origin"),
            Column::right("count"),
            Column::right("seconds"),
            Column::right("line"),
        ],
        ..Table::default()
    };
    for observation in &run.observations {
        let tone = if observation.origin == Origin::Prediction { Tone::Doubt } else { Tone::Faint };
        let line = observation.source.as_ref().map(|source| source.line.to_string()).unwrap_or_default();
        table.rows.push(vec![
            Cell::new(clean(&observation.metric)),
            Cell::new(clean(&fact(&observation.unit, observation.value))),
            Cell::new(observation.scope.map(facts::scope).unwrap_or_default()),
            Cell::toned(facts::origin(observation.origin), tone),
            Cell::new(observation.count.map(count).unwrap_or_default()),
            Cell::new(observation.seconds.map(seconds).unwrap_or_default()),
            Cell::toned(line, Tone::Faint),
        ]);
    }
    drop_empty_columns(&mut table);
    Some(TerminalBlock::Table { indent: 2, table })
}

fn count(value: f64) -> String {
    fact(&Unit::One, value)
}

fn seconds(value: f64) -> String {
    let shown = single(&Unit::One, value);
    if shown.len() > 12 { format!("{value:.3e}") } else { shown }
}

/// Columns in which no row has anything are left out.
pub fn drop_empty_columns(table: &mut Table) {
    let mut index = table.columns.len();
    while let Some(column) = index.checked_sub(1) {
        index = column;
        if table.rows.iter().all(|row| row.get(column).is_none_or(|cell| cell.text.is_empty())) {
            table.columns.remove(column);
            for row in table.rows.iter_mut().filter(|row| row.len() > column) {
                row.remove(column);
            }
        }
    }
}
