//! The loads of a record: their requests read from the run directories, shown as tables, JSON, curves and exports.

pub mod curve;
mod export;
mod foreign;
mod json;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assay_judge::load::Validity;
use assay_load::record::{RecordError, StoredLoad};
use assay_model::{CellId, Settings};
use assay_store::{Index, Record, RunFilter};

use super::NAME;
use super::results::LoadResults;
use crate::failure::Mistake;
use crate::screen::Screen;

pub use export::format;
pub use foreign::ForeignFormat;

/// A load with its results.
#[derive(Debug)]
pub struct LoadReport {
    /// The run that made it; none for a file by an earlier version.
    pub run: Option<String>,
    pub stored: StoredLoad,
    pub results: LoadResults,
}

/// What is wanted beside the tables.
#[derive(Debug, Default)]
pub struct ReportOptions {
    pub json: bool,
    /// Where to write requests and chunks as tables.
    pub export: Option<PathBuf>,
    /// Whose format the export has, if not ours.
    pub format: Option<ForeignFormat>,
    /// Where to write requests as JSON lines, chunks included.
    pub lines: Option<PathBuf>,
    /// Where to write the page with the curve.
    pub html: Option<PathBuf>,
    /// The URL of the endpoint that others are compared with.
    pub base: Option<String>,
}

/// The loads of a record, in the order of its runs. Attempts that were redone are left out.
pub fn of_record(record: &Record, index: &Index) -> anyhow::Result<Vec<LoadReport>> {
    let current = RunFilter { current: true, ..RunFilter::default() };
    let mocks = mocks(index)?;
    let mut loads = Vec::new();
    for row in index.runs(&current)?.into_iter().filter(|row| row.workload == NAME) {
        let Some(stored) = StoredLoad::in_run(&record.run_directory(&row.directory))? else { continue };
        let mut results = LoadResults::read(&stored)?;
        if let Some(mock) = mocks.get(&row.run.cell) {
            results.endpoints.iter_mut().for_each(|endpoint| endpoint.call(mock));
        }
        loads.push(LoadReport { run: Some(row.run.to_string()), stored, results });
    }
    Ok(loads)
}

/// What distinguishes several calibration endpoints of a record: their addresses differ from run to run, and their model is
/// the same. Without this, loads on different ones would be taken for repeats.
fn mocks(index: &Index) -> anyhow::Result<BTreeMap<CellId, String>> {
    let setting = |settings: &Settings| settings.get("mock").map(|mock| format!("mock {mock}"));
    let cells = index.cells()?.into_iter();
    let mocks: BTreeMap<CellId, String> =
        cells.filter_map(|cell| Some((cell.cell, setting(&cell.settings)?))).collect();
    let different: BTreeSet<&String> = mocks.values().collect();
    Ok(if different.len() > 1 { mocks } else { BTreeMap::new() })
}

/// The loads of a file by an earlier version.
pub fn of_file(path: &Path) -> anyhow::Result<Vec<LoadReport>> {
    let stored = StoredLoad::in_file(path).map_err(|error| match error {
        RecordError::NotARecord => {
            let text = format!("{} is not a record of a load", path.display());
            anyhow::Error::from(Mistake::new(
                text,
                "give a record directory, or a load.assay of an earlier version",
            ))
        }
        other => anyhow::Error::from(other).context(format!("cannot read {}", path.display())),
    })?;
    let with_results = stored.into_iter().map(|stored| {
        let results = LoadResults::read(&stored)?;
        Ok(LoadReport { run: None, stored, results })
    });
    with_results.collect()
}

/// Writes loads in other formats, where that is wanted.
pub fn export(loads: &[LoadReport], options: &ReportOptions) -> anyhow::Result<()> {
    export::write_out(loads, options)
}

/// Prints loads and writes what else is wanted: one load in full, several as a curve.
pub fn print(
    loads: &[LoadReport],
    options: &ReportOptions,
    source: &str,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    export(loads, options)?;
    curve::write_page(loads, options, source)?;
    match loads {
        [load] if options.json => screen.json(&json::as_json(&load.results))?,
        [load] => tables::print(&load.results, screen)?,
        several => curve::print(several, options, screen)?,
    }
    if !options.json {
        for load in loads {
            say_ending(load, screen);
        }
    }
    Ok(())
}

/// Prints the loads of a record, if it has any; what `show` adds to the answer of such a record.
pub fn print_record(record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    if !index.cells()?.iter().any(|cell| cell.workload == NAME) {
        return Ok(());
    }
    let loads = of_record(record, index)?;
    if loads.is_empty() {
        return Ok(());
    }
    screen.data("\n")?;
    print(&loads, &ReportOptions::default(), &record.directory().display().to_string(), screen)
}

/// The worst verdict on any endpoint at any size of the load. Where several loads are of the same, one that is invalid is
/// left out, so only all of them make the result invalid.
pub fn validity(loads: &[LoadReport]) -> Validity {
    let mut best: BTreeMap<String, Validity> = BTreeMap::new();
    for load in loads {
        let size = load.results.level().map(|level| level.to_string()).unwrap_or_default();
        for endpoint in &load.results.endpoints {
            let known = best.entry(format!("{} {size}", endpoint.name())).or_insert(Validity::Invalid);
            *known = endpoint.verdict.validity.min(*known);
        }
    }
    best.into_values().max().unwrap_or(Validity::Invalid)
}

fn say_ending(load: &LoadReport, screen: &mut Screen) {
    let results = &load.results;
    let is_empty = results.endpoints.iter().all(|endpoint| endpoint.summary.success.all == 0);
    match results.ended.as_deref() {
        Some("complete") => {}
        Some("the server is gone") => {
            let since =
                results.gone_since_s.map(|at| format!(" {at:.1} s into the load")).unwrap_or_default();
            screen.warn(&format!("the load ended early: the endpoint stopped listening{since}"));
        }
        Some(other) => screen.warn(&format!("the load ended early: {other}")),
        // A run that failed before its first request has said why.
        None if load.run.is_some() && is_empty => {}
        None => screen.warn("the program that made this load was killed; what it had kept is shown"),
    }
}
