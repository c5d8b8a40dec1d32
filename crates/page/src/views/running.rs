//! Runs that have not ended: which, since when, and the percentiles of loads so far.

use assay_report::markup::Markup;
use assay_report::page;
use assay_store::{Record, RunFilter, utc};

use super::{ViewError, address, link};
use crate::catalog::ListedRecord;
use crate::site::Site;
use crate::views::runs::labels;

/// Runs that are shown; a cluster may have thousands open.
const MOST: usize = 6;

/// What a reader who follows the record gets when that changes.
pub fn live(site: &Site, listed: &ListedRecord) -> Result<String, ViewError> {
    Ok(panel(site, listed, &Record::open(&listed.path)?)?.finish())
}

/// The open runs; empty where there are none.
pub fn panel(site: &Site, listed: &ListedRecord, record: &Record) -> Result<Markup, ViewError> {
    let mut out = Markup::default();
    let index = record.index()?;
    let open = index.runs(&RunFilter { status: Some("open".to_owned()), ..RunFilter::default() })?;
    if open.is_empty() {
        return Ok(out);
    }
    let labels = labels(&index)?;
    out.element("section", &[("class", "running"), ("aria-label", "open runs")], |out| {
        out.leaf("h2", &[], "Open runs");
        for run in open.iter().rev().take(MOST) {
            out.element("p", &[], |out| {
                let name = run.run.to_string();
                let label = labels.get(&run.run.cell).filter(|label| !label.is_empty()).unwrap_or(&name);
                link(out, label, &address("/run", &[("id", &listed.id), ("run", &name)]));
                let since = run.started_at.map(|at| format!(" since {}", utc(at)));
                out.text(&since.unwrap_or_else(|| " not started".to_owned()));
            });
            if let Some(table) = (site.running)(&record.run_directory(&run.directory)) {
                out.element("div", &[("class", "block")], |out| page::table(out, &table));
            }
        }
        if open.len() > MOST {
            out.leaf("p", &[("class", "note")], &format!("and {} more", open.len() - MOST));
        }
    });
    Ok(out)
}
