//! The runs of a record.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{CellId, RunId, Status, metric};
use assay_report::document::label_of;
use assay_report::markup::Markup;
use assay_report::number::{duration, fact};
use assay_report::page::cell_text;
use assay_report::words::distinguishing;
use assay_store::{Index, RunFilter, RunRow, StoreError, utc};

use super::{Query, ViewError, address, link, open, record_step, shell, table};
use crate::site::Site;

/// What runs that were read are said to be from where nothing names a platform.
const UNKNOWN_PLATFORM: &str = "unknown";
/// Runs on one page.
const PAGE: usize = 500;

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let (listed, record) = open(site, query)?;
    let index = record.index()?;
    let status = query.get("status").map(str::to_owned);
    let runs = index.runs(&RunFilter { status: status.clone(), ..RunFilter::default() })?;
    let start = usize::try_from(query.number("from").unwrap_or(0)).unwrap_or(0).min(runs.len());
    let shown: Vec<&RunRow> = runs.iter().rev().skip(start).take(PAGE).collect();
    let id = listed.id.as_str();
    let summary = index.summary()?;
    let headline = summary.plan.as_ref().map_or(metric::WALL, |plan| plan.headline.as_str());
    let known = Known {
        labels: labels(&index)?,
        values: values(&index, headline)?,
        has_wall: shown.iter().any(|run| run.usage.is_some()),
        has_start: shown.iter().any(|run| run.started_at.is_some()),
    };
    Ok(shell(&format!("Runs of {}", listed.name()), &[record_step(&listed)], |page| {
        page.element("p", &[("class", "actions")], |page| {
            for (word, name) in [
                ("", "all"),
                ("succeeded", "succeeded"),
                ("failed", "failed"),
                ("timed_out", "timed out"),
                ("open", "open"),
            ] {
                link(page, name, &address("/runs", &[("id", id), ("status", word)]));
            }
        });
        let words = format!("{}, the latest first", assay_report::number::counted(runs.len() as u64, "run"));
        page.leaf("p", &[("class", "note")], &words);
        let number = if known.values.is_empty() { "" } else { headline };
        let mut columns = vec![("cell", false), ("run", false), ("status", false), (number, true)];
        columns.extend(known.has_wall.then_some(("wall", true)));
        columns.extend(known.has_start.then_some(("started", false)));
        table(page, &columns, |page| shown.iter().for_each(|run| row(page, id, run, &known)));
        page.element("p", &[("class", "pages")], |page| {
            let to = |from: usize| {
                let status = status.as_deref().unwrap_or_default();
                address("/runs", &[("id", id), ("status", status), ("from", &from.to_string())])
            };
            if start > 0 {
                link(page, "← newer", &to(start.saturating_sub(PAGE)));
            }
            if start + PAGE < runs.len() {
                link(page, "older →", &to(start + PAGE));
            }
        });
    }))
}

/// What a reader knows runs by: the settings of their cells, and the campaign's first metric.
struct Known {
    labels: BTreeMap<CellId, String>,
    values: BTreeMap<RunId, String>,
    /// Whether any of the runs has a wall time, and a time when it began: runs that were read have none.
    has_wall: bool,
    has_start: bool,
}

/// The settings of each cell that not all cells share; the platform too where there are several.
pub fn labels(index: &Index) -> Result<BTreeMap<CellId, String>, StoreError> {
    let cells = index.cells()?;
    let platforms: BTreeSet<&str> = cells.iter().map(|cell| cell.cell.platform.as_str()).collect();
    let mut labels: Vec<String> = cells
        .iter()
        .map(|cell| {
            let settings = label_of(&cell.settings);
            let platform = if platforms.len() > 1 { cell.cell.platform.as_str() } else { "" };
            let platform = if platform == UNKNOWN_PLATFORM { "" } else { platform };
            let parts = [settings.as_str(), platform].into_iter().filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join(", ")
        })
        .collect();
    // The settings of the only cell distinguish nothing.
    if let [only] = labels.as_mut_slice() {
        only.clear();
    }
    distinguishing(&mut labels.iter_mut().collect::<Vec<_>>());
    let named = cells.into_iter().zip(labels);
    Ok(named
        .map(|(cell, label)| if label.is_empty() { (cell.cell, cell.workload) } else { (cell.cell, label) })
        .collect())
}

fn values(index: &Index, headline: &str) -> Result<BTreeMap<RunId, String>, StoreError> {
    let found = index.values(headline)?.into_values().flatten();
    Ok(found.map(|found| (found.run, fact(&found.unit, found.value))).collect())
}

fn row(page: &mut Markup, id: &str, run: &RunRow, known: &Known) {
    page.element("tr", &[], |page| {
        let label = known.labels.get(&run.run.cell).map_or("", String::as_str);
        page.element("td", &[("class", "words")], |page| cell_text(page, false, label));
        page.element("td", &[("class", "words")], |page| {
            let to = address("/run", &[("id", id), ("run", &run.run.to_string())]);
            link(page, &run.run.leaf(), &to);
            if !run.current {
                page.text(" (redone)");
            }
        });
        // A row of a table says nothing of how its run ended.
        let failed = !matches!(run.status, Some(Status::Succeeded | Status::Unknown) | None);
        let words = run.status.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
        page.leaf("td", &[("class", if failed { "words bad" } else { "words" })], &words);
        let value = known.values.get(&run.run).map_or("", String::as_str);
        page.leaf("td", &[("class", "number")], value);
        let wall = run.usage.as_ref().map(|usage| duration(usage.wall_s));
        if known.has_wall {
            page.leaf("td", &[("class", "number")], &wall.unwrap_or_default());
        }
        if known.has_start {
            page.leaf("td", &[("class", "words")], &run.started_at.map(utc).unwrap_or_default());
        }
    });
    page.line();
}
