//! One record: its answer, live while it runs.

use std::sync::Arc;

use assay_report::document::{Report, body, html, write_up};
use assay_report::markup::Markup;
use assay_store::Record;

use super::{Query, ViewError, address, link, metric_choice, open, shell};
use crate::catalog::ListedRecord;
use crate::made::MadeFrom;
use crate::site::Site;
use crate::study::{StudyOptions, studies, study};

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let (listed, record) = open(site, query)?;
    // Taken before anything is read: what comes later is sent to the reader, at worst once too often.
    let seen = Record::stamp(&listed.path).map_or(0, |(length, _)| length).to_string();
    let metrics: Vec<String> = query.all("metric").map(str::to_owned).collect();
    let report = made(site, &listed, &record, &metrics)?;
    let known = record.index()?.metrics()?;
    let question = report.question.clone();
    let fragment = fragment(&listed, &record, &report)?;
    let running = super::running::panel(site, &listed, &record)?;
    Ok(shell(listed.name(), &[], |page| {
        if let Some(question) = question {
            page.leaf("p", &[("class", "verdict")], &question);
        }
        if listed.name() != listed.id {
            page.leaf("p", &[("class", "note")], &listed.id);
        }
        actions(page, &listed);
        let names = known.iter().map(|metric| metric.name.as_str());
        metric_choice(page, ("/record", &[("id", &listed.id)]), names, metrics.first().map(String::as_str));
        page.element("div", &[("id", "running"), ("aria-live", "off")], |page| page.append(running));
        let live = address("/live", &[("id", &listed.id), ("seen", &seen)]);
        // With a metric of the reader's choice the page stays as it is.
        let following = [("id", "live"), ("aria-live", "off"), ("data-live", live.as_str())];
        let attributes = if metrics.is_empty() { &following[..] } else { &following[..2] };
        page.element("div", attributes, |page| page.append(fragment));
    }))
}

/// What a reader who follows the record gets when it changes.
pub fn live(site: &Site, listed: &ListedRecord) -> Result<String, ViewError> {
    let record = Record::open(&listed.path)?;
    let report = made(site, listed, &record, &[])?;
    Ok(fragment(listed, &record, &report)?.finish())
}

/// The report as one file, to keep or to send.
pub fn report(site: &Site, query: &Query) -> Result<String, ViewError> {
    let (listed, record) = open(site, query)?;
    let report = made(site, &listed, &record, &[])?;
    Ok(html(&report))
}

fn made(
    site: &Site,
    listed: &ListedRecord,
    record: &Record,
    metrics: &[String],
) -> Result<Arc<Report>, ViewError> {
    let options = StudyOptions { metrics, defaults: &site.defaults };
    // Taken before anything is read: at worst a report is made once too often.
    let stamp = Record::stamp(&listed.path);
    let from = stamp.map(|stamp| MadeFrom { record: listed.path.clone(), stamp, metrics: metrics.to_vec() });
    site.made.report(from, || Ok(write_up(&studies(vec![study(record, &listed.id, &options)?]))))
}

fn fragment(listed: &ListedRecord, record: &Record, report: &Report) -> Result<Markup, ViewError> {
    let runs = record.index()?.summary()?.runs;
    let mut page = Markup::default();
    page.element("p", &[("class", "state"), ("role", "status")], |page| {
        let parts = [
            (runs.open, "open", "running"),
            (runs.succeeded, "succeeded", "done"),
            (runs.failed + runs.timed_out, "failed", "failed"),
            (runs.unfit, "did not fit", ""),
            (runs.interrupted, "interrupted", "running"),
        ];
        for (count, word, class) in parts.into_iter().filter(|(count, ..)| *count > 0) {
            page.element("span", &[], |page| {
                page.leaf("b", &[("class", class)], &count.to_string());
                page.text(&format!(" {word}"));
            });
        }
        link(page, "all runs", &address("/runs", &[("id", &listed.id)]));
    });
    body(&mut page, report);
    Ok(page)
}

fn actions(page: &mut Markup, listed: &ListedRecord) {
    let id = listed.id.as_str();
    page.element("p", &[("class", "actions")], |page| {
        link(page, "Runs", &address("/runs", &[("id", id)]));
        link(page, "Report as one file", &address("/report", &[("id", id)]));
        link(page, "Audit", &address("/audit", &[("id", id)]));
        link(page, "History of this campaign", &address("/history", &[("name", listed.name())]));
    });
}
