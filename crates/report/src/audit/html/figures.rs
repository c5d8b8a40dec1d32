//! The figures of the page: repeats as dots, phases on one axis, series as lines.

use assay_audit::Audit;
use assay_model::{Document, ReadRun};

use super::super::repeats::shown;
use super::super::series::plots;
use crate::figure::{Dots, TimelineRow, dots, plot, timelines as draw_timelines};
use crate::markup::Markup;
use crate::number::{percent, seconds};
use crate::page::table;
use crate::reading::{names, place};
use crate::table::{Cell, Column, Table, Tone};
use crate::timeline::{Lane, timeline};
use crate::words::{clean, shorten};

/// Runs drawn in the figure of phases; the table has them all.
const MOST_TIMELINES: usize = 60;

/// The groups of repeats, each with its dots.
pub fn repeats(page: &mut Markup, audit: &Audit) {
    let described: Vec<_> =
        audit.groups.iter().filter_map(|group| Some((group, group.described()?))).collect();
    if described.is_empty() {
        return;
    }
    page.element("section", &[("id", "repeats")], |page| {
        page.leaf("h2", &[], "Repeats");
        page.leaf(
            "p",
            &[("class", "note")],
            "Runs that did the same thing, by what was observed: each dot is a run.",
        );
        page.element("div", &[("class", "groups")], |page| {
            for (group, described) in described {
                let [mean, deviation, range] = shown(group, &described);
                page.element("figure", &[], |page| {
                    page.element("figcaption", &[], |page| {
                        page.leaf("b", &[], &group.label);
                        page.text(&format!(" · {}", group.metric));
                        let deviation =
                            if deviation.is_empty() { deviation } else { format!(", sd {deviation}") };
                        let count = described.count;
                        let text = format!("n = {count}, mean {mean}{deviation}, range {range}");
                        page.leaf("span", &[("class", "numbers")], &text);
                    });
                    let values = group.values.iter().map(|(value, source)| (*value, place(source))).collect();
                    let title = format!("{}, {}", group.label, group.metric);
                    let figure =
                        Dots { title, unit: group.unit.clone(), values, mean: (described.mean, mean) };
                    page.append(dots(&figure));
                });
            }
        });
    });
    page.line();
}

/// The phases of all runs on one axis, and their seconds and shares in a table beside it.
pub fn timelines(page: &mut Markup, documents: &[Document]) {
    let timed: Vec<((&Document, &ReadRun), _)> = documents
        .iter()
        .flat_map(|document| document.runs.iter().map(move |run| (document, run)))
        .filter_map(|(document, run)| Some(((document, run), timeline(run)?)))
        .collect();
    if timed.is_empty() {
        return;
    }
    let names = names(&timed.iter().map(|(run, _)| *run).collect::<Vec<_>>());
    let rows: Vec<TimelineRow> =
        timed.into_iter().zip(names).map(|((_, timeline), label)| TimelineRow { label, timeline }).collect();
    page.element("section", &[("id", "time")], |page| {
        page.leaf("h2", &[], "Where the time went");
        page.element("figure", &[], |page| {
            page.element("div", &[("class", "scroll")], |page| {
                page.append(draw_timelines(rows.get(..MOST_TIMELINES).unwrap_or(&rows)));
            });
            if rows.len() > MOST_TIMELINES {
                let note =
                    format!("{MOST_TIMELINES} of {} runs are drawn; the table has them all", rows.len());
                page.leaf("p", &[("class", "note")], &note);
            }
            table(page, &phases_table(&rows));
            if rows.iter().flat_map(|row| &row.timeline.lanes).any(|lane| lane.intervals.len() > 1) {
                page.leaf(
                    "p",
                    &[("class", "note")],
                    "A phase that came several times is summed in the table.",
                );
            }
        });
    });
    page.line();
}

/// Runs in rows, phases in columns.
fn phases_table(rows: &[TimelineRow]) -> Table {
    let mut phases: Vec<&str> = Vec::new();
    for lane in rows.iter().flat_map(|row| &row.timeline.lanes) {
        if !phases.contains(&lane.name.as_str()) {
            phases.push(&lane.name);
        }
    }
    let mut table = Table { columns: vec![Column::left("run"), Column::right("in all")], ..Table::default() };
    table.columns.extend(phases.iter().map(|phase| Column::right(shorten(&clean(phase), 24))));
    for row in rows {
        let total = format!("{} s", seconds(row.timeline.total_s));
        let mut cells = vec![Cell::new(clean(&row.label)), Cell::toned(total, Tone::Strong)];
        for phase in &phases {
            let lane = row.timeline.lanes.iter().find(|lane| lane.name == *phase);
            cells.push(lane.map_or_else(Cell::default, |lane| Cell::new(lane_text(lane))));
        }
        table.rows.push(cells);
    }
    table
}

fn lane_text(lane: &Lane) -> String {
    let Some(length) = lane.seconds else { return "not ended".to_owned() };
    let share = lane.share.map(|share| format!(" · {}", percent(share))).unwrap_or_default();
    format!("{} s{share}", seconds(length))
}

/// The series as plots.
pub fn series(page: &mut Markup, documents: &[Document]) {
    let (plots, more) = plots(documents);
    if plots.is_empty() {
        return;
    }
    page.element("section", &[("id", "series")], |page| {
        page.leaf("h2", &[], "Series");
        page.element("div", &[("class", "plots")], |page| {
            for one in &plots {
                page.element("figure", &[], |page| page.append(plot(one)));
            }
        });
        if more > 0 {
            page.leaf("p", &[("class", "note")], &format!("… and {more} more"));
        }
    });
    page.line();
}
