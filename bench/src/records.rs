//! Records that are larger or more numerous than anybody would wait for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use assay_model::{Entry, RunId, RunResult};
use assay_store::{Identity, Record, Store};

use crate::campaign::matrix;
use crate::measure::cost;
use crate::place::Place;

/// Who writes records by hand.
pub fn writer(name: &str) -> Identity {
    Identity {
        name: name.to_owned(),
        now: 0.0,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        host: String::new(),
        pid: std::process::id(),
    }
}

/// Runs every cell once, and then writes each cell's result down again as all its other repeats: entries as real
/// ones, without the hours.
pub fn large_record_in(
    place: &Place,
    directory: &Path,
    (cells, repeats): (usize, u32),
) -> anyhow::Result<PathBuf> {
    fs::write(directory.join("campaign.toml"), matrix("large", ":", cells / 20, 20, 1))?;
    cost(place.assay(directory).args(["run", "campaign.toml", "--quiet"]))?;
    let path = directory.join("records/large");
    let mut results: Vec<(RunId, Box<RunResult>)> = Vec::new();
    for entry in Record::open(&path)?.entries()? {
        if let Entry::Finished { run, result } = entry? {
            results.push((run, result));
        }
    }
    ensure!(results.len() == cells, "{} of {cells} cells were run", results.len());
    let mut store = Store::open_or_create(&path, &writer("large"))?;
    for repeat in 2..=repeats {
        for (first, result) in &results {
            let run = RunId { repeat, ..first.clone() };
            let directory = assay_store::relative_run_directory(&run);
            store.append(&Entry::Launching { run: run.clone(), at: result.started_at, directory })?;
            store.append(&Entry::Finished { run, result: varied(result, repeat) })?;
        }
    }
    let counts = store.state().counts();
    ensure!(counts.succeeded == cells as u64 * u64::from(repeats), "the large record has {counts:?}");
    Ok(path)
}

/// A result whose numbers differ a little from repeat to repeat, as real ones do.
fn varied(result: &RunResult, repeat: u32) -> Box<RunResult> {
    let mut other = result.clone();
    for observation in &mut other.observations {
        observation.value *= 1.0 + f64::from(repeat % 17) * 0.01;
    }
    Box::new(other)
}
