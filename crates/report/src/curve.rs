//! The curve of latency over throughput, as a table and as an HTML page with plots.

use assay_judge::load::{Curve, Metric, Point};

use crate::figure::{Line, Plot, plot};
use crate::markup::Markup;
use crate::number::{Scale, counted, percent};
use crate::page;
use crate::table::{Cell, Column, Table, Tone};

/// What is plotted over the output throughput.
const PLOTTED: [Metric; 4] = [Metric::Ttft, Metric::TtftP99, Metric::Tpot, Metric::E2e];

/// One row for each point.
pub fn table(curve: &Curve) -> Table {
    let mut table = Table::default();
    let several = curve.endpoints().len() > 1;
    if several {
        table.columns.push(Column::left("endpoint"));
    }
    table.columns.push(Column::left("load"));
    let scales: Vec<(Metric, Scale)> =
        Metric::ALL.into_iter().filter_map(|metric| scale(curve, metric)).collect();
    for (metric, scale) in &scales {
        table.columns.push(Column::right(format!("{} [{}]", metric.name(), scale.name)));
    }
    table.columns.extend([Column::right("loads"), Column::left("")]);
    for point in &curve.points {
        let mut row = Vec::new();
        if several {
            row.push(Cell::new(point.endpoint.clone()));
        }
        row.push(Cell::new(point.level.to_string()));
        row.extend(scales.iter().map(|(metric, scale)| Cell::new(shown(point, *metric, scale))));
        row.push(Cell::new(point.loads.to_string()));
        row.push(doubts(point));
        table.rows.push(row);
    }
    let estimates = curve.points.iter().flat_map(|point| &point.estimates);
    if let Some(least) = estimates.map(|(_, estimate)| estimate.confidence).min_by(f64::total_cmp) {
        table.notes.push(format!(
            "medians over loads that took turns, with intervals of at least {} confidence",
            percent(least)
        ));
    }
    table
}

/// The scale of a column: that of its largest value.
fn scale(curve: &Curve, metric: Metric) -> Option<(Metric, Scale)> {
    let centers = curve.points.iter().filter_map(|point| Some(point.estimate(metric)?.center));
    let largest = centers.max_by(f64::total_cmp)?;
    Some((metric, Scale::for_value(&metric.unit(), largest)))
}

fn shown(point: &Point, metric: Metric, scale: &Scale) -> String {
    let Some(estimate) = point.estimate(metric) else { return "–".to_owned() };
    let decimals = scale.decimals(estimate.center, estimate.low, estimate.high);
    let text = |value| scale.show(value, decimals);
    if estimate.samples < 2 {
        return text(estimate.center);
    }
    format!("{} ({} … {})", text(estimate.center), text(estimate.low), text(estimate.high))
}

/// Doubts about a point.
fn doubts(point: &Point) -> Cell {
    match (point.invalid, point.suspect) {
        (0, 0) => Cell::default(),
        (0, suspect) => Cell::toned(format!("{} suspect", counted(suspect as u64, "load")), Tone::Doubt),
        (invalid, _) => {
            Cell::toned(format!("{} invalid, left out", counted(invalid as u64, "load")), Tone::Bad)
        }
    }
}

/// Latencies over output throughput, a line for each endpoint; over requests where tokens are not known.
pub fn plots(curve: &Curve) -> Vec<Plot> {
    let is_known = |metric| curve.points.iter().any(|point| point.estimate(metric).is_some());
    let across =
        if is_known(Metric::OutputThroughput) { Metric::OutputThroughput } else { Metric::RequestThroughput };
    let line = |endpoint: &str, up: Metric| {
        let of_endpoint = curve.points.iter().filter(|point| point.endpoint == endpoint);
        let points = of_endpoint
            .filter_map(|point| Some((point.estimate(across)?.center, point.estimate(up)?.center)))
            .collect();
        Line { label: endpoint.to_owned(), points }
    };
    let plot = |up: Metric| Plot {
        title: up.name().to_owned(),
        unit: up.unit(),
        across: format!("{} [{}]", across.name(), across.unit()),
        lines: curve.endpoints().into_iter().map(|endpoint| line(endpoint, up)).collect(),
    };
    PLOTTED.into_iter().filter(|metric| is_known(*metric)).map(plot).collect()
}

/// A page with the table and the plots; `lines` say what was done.
pub fn html(curve: &Curve, title: &str, lines: &[String]) -> String {
    let header = |page: &mut Markup| {
        page.element("div", &[("class", "bar")], |page| {
            page.element("div", &[("class", "what")], |page| page.leaf("h1", &[], title));
        });
    };
    page::page(title, header, |page| {
        for line in lines {
            page.leaf("p", &[("class", "note")], line);
        }
        page.leaf("h2", &[], "Latency over throughput");
        page.element("div", &[("class", "plots")], |page| {
            for one in plots(curve) {
                page.element("figure", &[], |page| page.append(plot(&one)));
            }
        });
        page.leaf("h2", &[], "All points");
        let table = table(curve);
        page::table(page, &table);
        for note in &table.notes {
            page.leaf("p", &[("class", "note")], note);
        }
    })
}

#[cfg(test)]
mod tests {
    use assay_judge::load::Level;
    use assay_model::Estimate;

    use super::*;

    fn point(streams: u64, rate: f64, first_s: f64) -> Point {
        let estimate = |center: f64| Estimate {
            center,
            low: center * 0.95,
            high: center * 1.05,
            confidence: 0.97,
            samples: 6,
            caveats: Vec::new(),
        };
        Point {
            endpoint: "http://a/v1".to_owned(),
            level: Level::Streams(streams),
            estimates: vec![(Metric::OutputThroughput, estimate(rate)), (Metric::Ttft, estimate(first_s))],
            loads: 6,
            invalid: usize::from(streams > 1),
            suspect: 0,
        }
    }

    fn curve() -> Curve {
        Curve { points: vec![point(1, 300.0, 0.020), point(8, 1200.0, 0.060)] }
    }

    #[test]
    fn points_have_their_intervals_and_doubts() {
        let text = crate::text::render(&table(&curve()), &crate::text::plain);
        assert!(text.contains("20.0 (19.0 … 21.0)") && text.contains("8 streams"), "{text}");
        assert!(text.contains("1 load invalid, left out") && text.contains("97"), "{text}");
        assert!(!text.contains("tpot"), "what was not seen has no column: {text}");
    }

    #[test]
    fn the_page_has_a_plot_of_what_was_seen() {
        let plots = plots(&curve());
        assert_eq!(plots.len(), 1);
        assert_eq!(plots[0].lines[0].points, [(300.0, 0.020), (1200.0, 0.060)]);
        let page = html(&curve(), "a load", &[]);
        assert!(page.contains("<svg") && page.contains("ttft p50 [ms]"), "{page}");
    }
}
