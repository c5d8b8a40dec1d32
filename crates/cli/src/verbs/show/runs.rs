//! `show --runs`: one row per run with its settings, status and value; outliers are marked.

use std::collections::{BTreeMap, BTreeSet};

use assay_judge::estimate::outliers;
use assay_judge::gather::split_settings;
use assay_model::{CellId, RunId, Settings, Status, metric};
use assay_report::number::Scale;
use assay_report::{Cell, Column, Table, Tone};
use assay_store::{Index, Record, RunFilter, RunRow};

use crate::answer;
use crate::records;

/// The most runs that are listed without `--all`.
const MOST_RUNS: u32 = 200;

/// The newest runs of a record.
pub fn table(record: &Record, index: &Index, metric: Option<&str>, all: bool) -> anyhow::Result<Table> {
    let subject = answer::subject(index, metric)?;
    let most = if all { None } else { Some(MOST_RUNS) };
    let rows = index.runs(&RunFilter { last: most, ..RunFilter::default() })?;
    let settings: BTreeMap<CellId, Settings> =
        index.cells()?.into_iter().map(|cell| (cell.cell, cell.settings)).collect();
    let (varied, _) = split_settings(settings.values());
    let values = Values::of(index, &rows, &subject.metric)?;
    let walls = rows.iter().filter_map(|row| Some(row.usage.as_ref()?.wall_s));
    let wall_scale = Scale::for_column(&assay_model::Unit::Seconds, walls);
    let has_values = subject.metric != metric::WALL;
    let mut table = Table {
        heading: vec![format!("Runs of {} in {}", subject.summary.name, records::shown(record.directory()))],
        columns: varied.iter().map(Column::right).collect(),
        ..Table::default()
    };
    table.columns.extend([Column::left("run"), Column::left("status")]);
    if has_values {
        table.columns.push(Column::right(values.scale.titled(&subject.metric)));
    }
    let wall = Column::right(wall_scale.titled("wall"));
    // Where no other metric is shown, outliers are marked here.
    let wall = if has_values { wall.secondary() } else { wall };
    table.columns.extend([wall, Column::left("directory")]);
    let has_directory = |row: &RunRow| record.run_directory(&row.directory).is_dir();
    for row in &rows {
        let setting = |name: &String| {
            let value = settings.get(&row.run.cell).and_then(|settings| settings.get(name));
            Cell::new(value.map(ToString::to_string).unwrap_or_default())
        };
        let mut cells: Vec<Cell> = varied.iter().map(setting).collect();
        cells.extend([run_cell(row), status_cell(row)]);
        if has_values {
            cells.push(values.cell(&row.run));
        }
        let wall = row.usage.as_ref().map(|usage| wall_scale.shown(usage.wall_s));
        let mark = if has_values { "" } else { values.mark(&row.run) };
        cells.push(Cell::new(wall.map(|wall| format!("{wall}{mark}")).unwrap_or_default()));
        let directory = if has_directory(row) { row.directory.clone() } else { String::new() };
        cells.push(Cell::toned(directory, Tone::Faint));
        table.rows.push(cells);
    }
    let total = subject.summary.runs.total();
    if (rows.len() as u64) < total {
        table.notes.push(format!("the last {} of {total} runs; `--all` shows all", rows.len()));
    }
    if !values.far.is_empty() {
        table
            .notes
            .push("! outlier: more than 3 interquartile ranges outside the quartiles of its cell".to_owned());
    }
    if rows.iter().any(has_directory) {
        table.notes.push("each directory has the output of its run and run.sh, which repeats it".to_owned());
    }
    if let Some(row) = rows.iter().find(|row| record.script(&row.directory).is_file() && !has_directory(row))
    {
        let script = records::shown(&record.script(&row.directory));
        table.notes.push(format!(
            "runs under 20 ms have no directory: their output is in the table `output` of `assay query`, and \
             scripts like {script} repeat them"
        ));
    }
    Ok(table)
}

fn run_cell(row: &RunRow) -> Cell {
    Cell::new(format!("{}{}", row.run.leaf(), if row.current { "" } else { " (redone)" }))
}

fn status_cell(row: &RunRow) -> Cell {
    let failed = !matches!(row.status, Some(Status::Succeeded) | None);
    let status = row.status.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
    Cell::toned(status, if failed { Tone::Bad } else { Tone::Plain })
}

/// The values of one metric, in one scale.
struct Values {
    by_run: BTreeMap<RunId, f64>,
    /// Runs whose value is an outlier among those of its cell.
    far: BTreeSet<RunId>,
    scale: Scale,
}

impl Values {
    fn of(index: &Index, rows: &[RunRow], metric: &str) -> anyhow::Result<Values> {
        let mut by_run = BTreeMap::new();
        let mut far = BTreeSet::new();
        let mut unit = assay_model::Unit::One;
        for runs in index.values(metric)?.into_values() {
            let usable = |status: &Option<Status>| status.as_ref().is_some_and(Status::is_usable);
            let good: Vec<_> = runs.iter().filter(|run| usable(&run.status)).collect();
            let numbers: Vec<f64> = good.iter().map(|run| run.value).collect();
            let marked = good.iter().zip(outliers(&numbers)).filter(|(_, is_far)| *is_far);
            far.extend(marked.map(|(run, _)| run.run.clone()));
            for run in runs {
                unit = run.unit;
                by_run.insert(run.run, run.value);
            }
        }
        // Attempts that were redone are listed too, and have values of their own.
        for row in rows.iter().filter(|row| !row.current) {
            let found = index.observations(&row.run)?.into_iter().find(|found| found.metric == metric);
            by_run.extend(found.map(|found| (row.run.clone(), found.value)));
        }
        let shown = rows.iter().filter_map(|row| by_run.get(&row.run).copied());
        let scale = Scale::for_column(&unit, shown);
        far.retain(|run| rows.iter().any(|row| row.run == *run));
        Ok(Values { by_run, far, scale })
    }

    fn cell(&self, run: &RunId) -> Cell {
        let Some(value) = self.by_run.get(run) else { return Cell::default() };
        let tone = if self.far.contains(run) { Tone::Doubt } else { Tone::Plain };
        Cell::toned(format!("{}{}", self.scale.shown(*value), self.mark(run)), tone)
    }

    fn mark(&self, run: &RunId) -> &'static str {
        if self.far.contains(run) { " !" } else { "" }
    }
}
