//! An experiment as a table: settings down, metrics across; devices side by side where they vary beside other settings.

use assay_model::{Origin, ReadRun, Status, Unit};

use super::{ACROSS, Experiment, setting, value};
use crate::document::DataTable;
use crate::number::{Scale, counted, fact};
use crate::reading::{compared, effective, place, plain_title, span_lines};
use crate::table::{Cell, Column, Table, Tone};
use crate::words::{clean, shorten};

/// Rows shown; all can be listed with `assay read --full`.
const MOST_ROWS: usize = 60;

/// The table; each row opens what it rests on.
pub fn table(experiment: &Experiment<'_>) -> DataTable {
    let mut data = match experiment.across().as_slice() {
        [] | [_] => plain(experiment),
        across => grouped(experiment, across),
    };
    let (rows, table) = (data.table.rows.len(), &mut data.table);
    table.heading = common(experiment);
    if rows > MOST_ROWS {
        table.rows.truncate(MOST_ROWS);
        table.notes.push(format!("the first {MOST_ROWS} of {rows} rows; `assay read --full` lists all"));
    }
    let hidden: Vec<&str> =
        experiment.metrics.iter().skip(experiment.shown_metrics().len()).map(|(name, _)| *name).collect();
    if !hidden.is_empty() {
        table.notes.push(format!("with each row: {}", hidden.join(", ")));
    }
    let single = experiment.runs.len() > 1
        && experiment.runs.iter().all(|run| {
            experiment.metrics.iter().all(|(name, _)| value(run, name).is_none_or(|(_, count)| count == 1))
        });
    if single {
        table
            .notes
            .push("one value a row and no interval: a difference between rows may be noise".to_owned());
    }
    data
}

/// What all runs share.
fn common(experiment: &Experiment<'_>) -> Vec<String> {
    let mut shared: Vec<(String, String)> = Vec::new();
    for (name, value) in experiment.runs.iter().flat_map(|run| effective(run)) {
        if !experiment.varied.contains(&name) && !shared.iter().any(|(known, _)| known == name) {
            shared.push((name.to_owned(), value.to_string()));
        }
    }
    if shared.is_empty() {
        return Vec::new();
    }
    let parts: Vec<String> = shared.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    vec![clean(&format!("where stated: {}", parts.join(", ")))]
}

fn setting_column(experiment: &Experiment<'_>, name: &str) -> Column {
    let numeric = experiment
        .runs
        .iter()
        .flat_map(|run| effective(run))
        .filter(|(known, _)| *known == name)
        .all(|(_, value)| value.number().is_some());
    if numeric { Column::right(name) } else { Column::left(name) }
}

fn metric_column(experiment: &Experiment<'_>, metric: &str, unit: &Unit) -> (Scale, String) {
    let values = experiment.runs.iter().filter_map(|run| value(run, metric)).map(|(value, _)| value);
    let scale = Scale::for_column(unit, values);
    let mut found =
        experiment.runs.iter().flat_map(|run| &run.observations).filter(|found| found.metric == metric);
    let predicted = found.any(|found| found.origin == Origin::Prediction);
    let name = if predicted { format!("{metric} (predicted)") } else { metric.to_owned() };
    let title = scale.titled(&clean(&name));
    (scale, title)
}

fn plain(experiment: &Experiment<'_>) -> DataTable {
    let mut table = Table { columns: vec![Column::right("lines")], ..Table::default() };
    let is_named = experiment.runs.len() > 1 && experiment.runs.iter().any(|run| needs_name(experiment, run));
    if is_named {
        table.columns.push(Column::left("run"));
    }
    table.columns.extend(experiment.varied.iter().map(|name| setting_column(experiment, name)));
    let failed = experiment.runs.iter().any(|run| !run.status.is_usable());
    if failed {
        table.columns.push(Column::left("status"));
    }
    let main = table.columns.len();
    let scales: Vec<(&str, Scale)> = experiment
        .shown_metrics()
        .iter()
        .map(|(name, unit)| {
            let (scale, title) = metric_column(experiment, name, unit);
            table.columns.push(Column::right(title));
            (*name, scale)
        })
        .collect();
    let ratio = ratio_metric(experiment);
    if let Some((name, _)) = ratio {
        table.columns.push(Column::right(format!("{} by first row", clean(name))));
    }
    for run in &experiment.runs {
        let mut cells = vec![Cell::toned(span_lines(&run.span), Tone::Faint)];
        if is_named {
            let title = run.title.as_deref().map(plain_title).unwrap_or_default();
            cells.push(Cell::new(shorten(&clean(title), 40)));
        }
        cells.extend(experiment.varied.iter().map(|name| setting_cell(run, name)));
        if failed {
            cells.push(status_cell(&run.status));
        }
        cells.extend(scales.iter().map(|(name, scale)| metric_cell(run, name, scale)));
        if let Some((name, first)) = ratio {
            let text = value(run, name).map(|(value, _)| format!("{:.3}", value / first));
            cells.push(Cell::new(text.unwrap_or_default()));
        }
        table.rows.push(cells);
    }
    DataTable { table, abouts: experiment.runs.iter().map(|run| about(run)).collect(), main }
}

/// Whether nothing but its own title distinguishes a run from the others.
fn needs_name(experiment: &Experiment<'_>, run: &ReadRun) -> bool {
    let is_distinct = experiment.varied.iter().any(|name| setting(run, name).is_some());
    run.status.is_usable() && run.title.is_some() && !is_distinct
}

/// The first rate or time, with its value in the first row that has one; none where a single row does.
fn ratio_metric<'a>(experiment: &Experiment<'a>) -> Option<(&'a str, f64)> {
    let is_ratio_scaled = |unit: &Unit| matches!(unit, Unit::PerSecond(_) | Unit::Seconds);
    let (name, _) = experiment.shown_metrics().iter().find(|(_, unit)| is_ratio_scaled(unit))?;
    let mut values = experiment.runs.iter().filter_map(|run| value(run, name)).map(|(value, _)| value);
    let first = values.next().filter(|first| *first > 0.0)?;
    values.next().map(|_| (*name, first))
}

/// One row for all devices: each has its metrics below its name; numbers that all devices share stand before them.
fn grouped(experiment: &Experiment<'_>, across: &[String]) -> DataTable {
    let down: Vec<&str> = experiment.varied.iter().copied().filter(|name| *name != ACROSS).collect();
    let mut table = Table {
        columns: down.iter().map(|name| setting_column(experiment, name)).collect(),
        ..Table::default()
    };
    let main = table.columns.len();
    let rows = grouped_rows(experiment, &down);
    let (shared, own) = grouped_metrics(experiment, &rows);
    let mut columns: Vec<(&str, Option<&str>, &Scale)> = Vec::new();
    for (name, scale, title) in &shared {
        table.columns.push(Column::right(title));
        columns.push((name, None, scale));
    }
    for device in across {
        for (name, scale, title) in &own {
            table.columns.push(Column::below(&clean(device), title));
            columns.push((name, Some(device), scale));
        }
    }
    let ratio = ratio_metric(experiment).zip(across.first().zip(across.last()));
    if let Some(((name, _), (first, last))) = ratio {
        table.columns.push(Column::right(clean(&format!("{name} {first} / {last}"))));
    }
    let mut abouts = Vec::new();
    for (key, runs) in &rows {
        let mut cells: Vec<Cell> =
            key.iter().map(|value| Cell::new(value.clone().unwrap_or_default())).collect();
        cells.extend(columns.iter().map(|(name, device, scale)| {
            Cell::new(value_on(runs, name, *device).map(|value| scale.shown(value)).unwrap_or_default())
        }));
        if let Some(((name, _), (first, last))) = ratio {
            let pair = value_on(runs, name, Some(first)).zip(value_on(runs, name, Some(last)));
            cells.push(Cell::new(pair.map(|(one, other)| format!("{:.2}", one / other)).unwrap_or_default()));
        }
        table.rows.push(cells);
        abouts.push(runs.iter().flat_map(|run| about(run)).collect());
    }
    DataTable { table, abouts, main }
}

/// Runs with the same settings but for the device, and those settings.
type GroupedRow<'a> = (Vec<Option<String>>, Vec<&'a ReadRun>);

fn grouped_rows<'a>(experiment: &Experiment<'a>, down: &[&str]) -> Vec<GroupedRow<'a>> {
    let key = |run: &ReadRun| -> Vec<Option<String>> { down.iter().map(|name| setting(run, name)).collect() };
    let mut rows: Vec<GroupedRow<'a>> = Vec::new();
    for run in &experiment.runs {
        let key = key(run);
        match rows.iter_mut().find(|(known, _)| *known == key) {
            Some((_, runs)) => runs.push(run),
            None => rows.push((key, vec![run])),
        }
    }
    rows
}

/// A metric with its scale and the title of its column.
type TitledMetric<'a> = (&'a str, Scale, String);

/// The metrics that are the same on all devices, such as the size of a model, and those that each device has of its own.
fn grouped_metrics<'a>(
    experiment: &Experiment<'a>,
    rows: &[GroupedRow<'_>],
) -> (Vec<TitledMetric<'a>>, Vec<TitledMetric<'a>>) {
    let metrics = experiment.shown_metrics().iter().map(|(name, unit)| {
        let (scale, title) = metric_column(experiment, name, unit);
        (*name, scale, title)
    });
    metrics.partition(|(name, ..)| {
        rows.iter().all(|(_, runs)| {
            let values: Vec<f64> =
                runs.iter().filter_map(|run| value(run, name)).map(|(value, _)| value).collect();
            values.windows(2).all(|pair| pair.first() == pair.last())
        })
    })
}

fn value_on(runs: &[&ReadRun], name: &str, device: Option<&str>) -> Option<f64> {
    let fits = |run: &&&ReadRun| device.is_none_or(|device| setting(run, ACROSS).as_deref() == Some(device));
    runs.iter().filter(fits).find_map(|run| value(run, name)).map(|(value, _)| value)
}

fn setting_cell(run: &ReadRun, name: &str) -> Cell {
    let settings = compared(run);
    let Some(setting) = settings.iter().find(|setting| setting.name == name) else { return Cell::default() };
    let value = setting.effective().map(ToString::to_string).unwrap_or_default();
    let asked = setting.declared.iter().map(|fact| fact.value.to_string()).find(|asked| *asked != value);
    match asked.filter(|_| setting.mismatch) {
        Some(asked) => Cell::toned(clean(&format!("{value} (declared {asked})")), Tone::Bad),
        None => Cell::new(clean(&value)),
    }
}

fn status_cell(status: &Status) -> Cell {
    let tone = if status.is_usable() { Tone::Plain } else { Tone::Bad };
    Cell::toned(shorten(&clean(&status.to_string()), 70), tone)
}

fn metric_cell(run: &ReadRun, metric: &str, scale: &Scale) -> Cell {
    match value(run, metric) {
        None => Cell::default(),
        Some((value, 1)) => Cell::new(scale.shown(value)),
        Some((value, count)) => Cell::new(format!("{} (median of {count})", scale.shown(value))),
    }
}

/// What a row rests on: its lines, its settings and its numbers, each with its place.
fn about(run: &ReadRun) -> Vec<String> {
    let mut lines = vec![format!("stated at {}, lines {}", place(&run.span.source()), span_lines(&run.span))];
    for setting in compared(run) {
        let facts = setting.declared.iter().map(|fact| ("declared", fact));
        let facts = facts.chain(setting.observed.iter().map(|fact| ("observed", fact)));
        let parts: Vec<String> = facts
            .map(|(word, fact)| format!("{} {word} by {}, line {}", fact.value, fact.by, fact.source.line))
            .collect();
        lines.push(clean(&format!("{}: {}", setting.name, parts.join("; "))));
    }
    for found in &run.observations {
        let line = found.source.as_ref().map(|source| format!(", line {}", source.line)).unwrap_or_default();
        let kind = match found.origin {
            Origin::Prediction => ", predicted",
            Origin::Derived => ", derived",
            _ => "",
        };
        lines.push(clean(&format!(
            "{}: {}{kind}{line}, n = 1",
            found.metric,
            fact(&found.unit, found.value)
        )));
    }
    for series in &run.series {
        let line = series.source.as_ref().map(|source| format!(", line {}", source.line)).unwrap_or_default();
        lines.push(clean(&format!("{}: {}{line}", series.metric, counted(series.seen, "value"))));
    }
    lines
}
