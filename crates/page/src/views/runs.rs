//! The runs of a record.

use assay_model::Status;
use assay_report::markup::Markup;
use assay_report::number::duration;
use assay_store::{RunFilter, RunRow, utc};

use super::{Query, ViewError, address, link, open, record_step, shell, table};
use crate::site::Site;

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
        let columns =
            [("run", false), ("status", false), ("started", false), ("wall", true), ("directory", false)];
        table(page, &columns, |page| shown.iter().for_each(|run| row(page, id, run)));
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

fn row(page: &mut Markup, id: &str, run: &RunRow) {
    page.element("tr", &[], |page| {
        page.element("td", &[("class", "words")], |page| {
            let name = run.run.to_string();
            link(page, &name, &address("/run", &[("id", id), ("run", &name)]));
            if !run.current {
                page.text(" (redone)");
            }
        });
        let failed = !matches!(run.status, Some(Status::Succeeded) | None);
        let words = run.status.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
        page.leaf("td", &[("class", if failed { "words bad" } else { "words" })], &words);
        page.leaf("td", &[("class", "words")], &run.started_at.map(utc).unwrap_or_default());
        let wall = run.usage.as_ref().map(|usage| duration(usage.wall_s));
        page.leaf("td", &[("class", "number")], &wall.unwrap_or_default());
        page.leaf("td", &[("class", "words faint")], &run.directory);
    });
    page.line();
}
