//! A load that has not ended: its percentiles so far, from the requests that are on the disk.

use std::path::Path;

use assay_judge::load::{Batched, EndpointSummary};
use assay_load::record::{SPOOL_FILE, StoredLoad};
use assay_model::Unit;
use assay_report::number::{counted, fact};
use assay_report::{Cell, Column, Table};

use super::results::LoadResults;

/// A spool that is larger than this is not read again and again while it grows.
const MOST_BYTES: u64 = 64 << 20;

/// The table of a run that is open; none where it is no load, or has no request yet.
pub fn table(directory: &Path) -> Option<Table> {
    let spool =
        std::fs::symlink_metadata(directory.join(SPOOL_FILE)).ok().filter(std::fs::Metadata::is_file)?;
    if spool.len() > MOST_BYTES {
        let note = "more than 64 MB of requests: percentiles follow when the load has ended".to_owned();
        return Some(Table { heading: vec![note], ..Table::default() });
    }
    let load = StoredLoad::in_run(directory).ok()??;
    let results = LoadResults::read(&load).ok()?;
    let summary = &results.endpoints.first()?.summary;
    Some(percentiles(summary)).filter(|table| !table.rows.is_empty())
}

fn percentiles(summary: &EndpointSummary) -> Table {
    let names = ["latency", "requests", "p50", "p90", "p99"];
    let columns = names.iter().enumerate().map(|(index, name)| match index {
        0 => Column::left(*name),
        _ => Column::right(*name),
    });
    let known: [(&str, &Batched); 3] =
        [("ttft", &summary.ttft), ("tpot", &summary.tpot), ("e2e", &summary.e2e)];
    let rows = known.iter().filter(|(_, values)| values.count() > 0).map(|(name, values)| {
        let quantile = |at| values.quantile(at).map(|value| fact(&Unit::Seconds, value)).unwrap_or_default();
        let mut cells = vec![Cell::new(*name), Cell::new(values.count().to_string())];
        cells.extend([0.5, 0.9, 0.99].map(|at| Cell::new(quantile(at))));
        cells
    });
    let success = summary.success;
    let failed = success.all.saturating_sub(success.of);
    let mut said = vec![counted(success.all, "request")];
    said.extend((failed > 0).then(|| format!("{failed} failed")));
    said.extend(summary.output_throughput().map(|rate| fact(&Unit::PerSecond("tokens".to_owned()), rate)));
    Table {
        heading: vec![format!("so far, without the warm-up: {}", said.join(", "))],
        columns: columns.collect(),
        rows: rows.collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_no_load_has_no_percentiles() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(table(place.path()), None);
        // Neither is a pipe or anything else that is no file opened: that would wait for a writer.
        std::fs::create_dir(place.path().join(SPOOL_FILE)).unwrap();
        assert_eq!(table(place.path()), None);
    }
}
