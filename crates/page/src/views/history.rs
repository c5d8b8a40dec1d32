//! A metric over the records of a campaign. A record that is better or worse than the one before is marked.

use std::sync::Arc;

use assay_judge::estimate::estimate;
use assay_judge::gather::gather;
use assay_model::{Metric, Settings, Unit, Verdict, metric};
use assay_report::document::{DocumentPart, Drawing, Figure, Report, Section, body, label_of};
use assay_report::figure::{Point, PointLine, Points};
use assay_store::{Record, utc};

use super::{Query, ViewError, address, link, metric_choice, shell, table};
use crate::catalog::ListedRecord;
use crate::site::Site;

/// Records that are looked at, the latest ones.
const MOST: usize = 100;
/// Cells that are drawn.
const MOST_CELLS: usize = 12;

/// One cell over the records.
struct CellHistory {
    settings: Settings,
    /// Record and values, the oldest first.
    values: Vec<(usize, Vec<f64>)>,
}

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let name =
        query.get("name").ok_or_else(|| ViewError::Wrong("The address names no campaign.".to_owned()))?;
    let mut records: Vec<Arc<ListedRecord>> =
        site.catalog.list(&site.root)?.iter().filter(|record| record.name() == name).cloned().collect();
    if records.is_empty() {
        return Err(ViewError::Missing(format!("There is no record of the campaign {name}.")));
    }
    let created = |record: &ListedRecord| record.contents().as_ref().map_or(0.0, |contents| contents.created);
    records.sort_by(|a, b| created(a).total_cmp(&created(b)).then_with(|| a.id.cmp(&b.id)));
    let records = records.split_off(records.len().saturating_sub(MOST));
    let (metric, courses) = gathered(&records, query.get("metric"))?;
    let (figure, changes) = drawn(&metric, &courses);
    let title = format!("History of {name}: {}", metric.name);
    let known = latest_metrics(&records);
    Ok(shell(&title, &[], |page| {
        metric_choice(
            page,
            ("/history", &[("name", name)]),
            known.iter().map(String::as_str),
            query.get("metric"),
        );
        let parts = vec![DocumentPart::Figure(figure)];
        let section = Section { id: "course".to_owned(), title: "From record to record".to_owned(), parts };
        body(page, &Report { sections: vec![section], ..Report::default() });
        let columns =
            [("record", true), ("made", false), ("directory", false), ("against the one before", false)];
        table(page, &columns, |page| {
            for (index, record) in records.iter().enumerate() {
                page.element("tr", &[], |page| {
                    page.leaf("td", &[("class", "number")], &(index + 1).to_string());
                    page.leaf("td", &[("class", "words")], &utc(created(record)));
                    page.element("td", &[("class", "words")], |page| {
                        link(page, &record.id, &address("/record", &[("id", &record.id)]));
                    });
                    let words: Vec<&str> = changes
                        .iter()
                        .filter(|(place, ..)| *place == index)
                        .map(|(_, words)| words.as_str())
                        .collect();
                    page.leaf("td", &[("class", "words")], &words.join("; "));
                });
            }
        });
    }))
}

/// The metrics of the latest record that can be read.
fn latest_metrics(records: &[Arc<ListedRecord>]) -> Vec<String> {
    let of = |listed: &Arc<ListedRecord>| Record::open(&listed.path).ok()?.index().ok()?.metrics().ok();
    let metrics = records.iter().rev().find_map(of).unwrap_or_default();
    metrics.into_iter().map(|metric| metric.name).collect()
}

fn gathered(
    records: &[Arc<ListedRecord>],
    wanted: Option<&str>,
) -> Result<(Metric, Vec<CellHistory>), ViewError> {
    let mut found: Option<Metric> = None;
    let mut courses: Vec<CellHistory> = Vec::new();
    for (index, listed) in records.iter().enumerate() {
        // A record that cannot be read has no place in a course; the list says why.
        let Ok(record) = Record::open(&listed.path) else { continue };
        let known = record.index()?;
        let summary = known.summary()?;
        let headline = summary.plan.as_ref().map_or(metric::WALL, |plan| plan.headline.as_str());
        let name = found.as_ref().map_or(wanted.unwrap_or(headline), |metric| metric.name.as_str());
        let Ok(evidence) = gather(&known, &summary.name, summary.plan.as_ref(), name) else { continue };
        for cell in evidence.cells.into_iter().filter(|cell| !cell.values.is_empty()) {
            match courses.iter_mut().find(|course| course.settings == cell.settings) {
                Some(course) => course.values.push((index, cell.values)),
                None => {
                    courses.push(CellHistory { settings: cell.settings, values: vec![(index, cell.values)] })
                }
            }
        }
        found = Some(evidence.metric);
    }
    let metric = found.ok_or_else(|| ViewError::Missing("No record has this metric.".to_owned()))?;
    Ok((metric, courses))
}

/// The figure, and in which record something changed.
fn drawn(metric: &Metric, courses: &[CellHistory]) -> (Figure, Vec<(usize, String)>) {
    let (varied, _) = assay_judge::gather::split_settings(courses.iter().map(|course| &course.settings));
    let mut changes = Vec::new();
    let mut lines = Vec::new();
    for course in courses.iter().take(MOST_CELLS) {
        let settings: Settings = course
            .settings
            .iter()
            .filter(|(name, _)| varied.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let label = label_of(&settings);
        for (record, found) in assay_judge::history::changes(&course.values, metric) {
            let word = if found.verdict == Verdict::Better { "better" } else { "worse" };
            changes.push((record, format!("{label} {:.2}× {word}", found.ratio)));
        }
        let points = course.values.iter().filter_map(|(record, values)| {
            let found = estimate(values)?;
            let ends = (found.samples > 1).then_some((found.low, found.high));
            Some(Point {
                x: *record as f64 + 1.0,
                center: found.center,
                ends,
                samples: found.samples,
                note: String::new(),
            })
        });
        lines.push(PointLine { label, points: points.collect() });
    }
    let mut marks: Vec<(f64, String)> =
        changes.iter().map(|(record, _)| (*record as f64 + 1.0, "change".to_owned())).collect();
    marks.dedup_by(|a, b| a.0 == b.0);
    let drawing = Drawing::Points(Points {
        title: format!("{} over records", metric.name),
        up: (metric.name.clone(), metric.unit.clone()),
        across: ("record, the oldest first".to_owned(), Unit::One),
        doubling: false,
        lines,
        curves: Vec::new(),
        marks,
    });
    (
        Figure {
            caption: "Medians with intervals. A mark shows where a cell differs from the previous record."
                .to_owned(),
            drawing,
        },
        changes,
    )
}
