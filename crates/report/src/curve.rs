//! The curve of latency over throughput, as a table and as an HTML page with plots.

use assay_judge::load::{LoadCurve, Metric, Point};

use crate::figure::{self, PointLine, Points, points};
use crate::markup::Markup;
use crate::number::{Scale, counted, percent};
use crate::page;
use crate::table::{Cell, Column, Table};

/// What is plotted over the output throughput.
const PLOTTED: [Metric; 5] = [Metric::Ttft, Metric::TtftP99, Metric::Tpot, Metric::E2e, Metric::E2eP99];

/// The metrics of the two tables: how much, and how fast.
const AMOUNTS: [Metric; 4] =
    [Metric::OutputThroughput, Metric::RequestThroughput, Metric::Goodput, Metric::GoodShare];
const LATENCIES: [Metric; 5] = [Metric::Ttft, Metric::TtftP99, Metric::Tpot, Metric::E2e, Metric::E2eP99];

/// Throughput and latency of each point, with the intervals in a row of their own. A table of metrics that nothing is known
/// of is left out, unless nothing is known at all.
pub fn tables(curve: &LoadCurve) -> Vec<Table> {
    let mut amounts = table(curve, &AMOUNTS);
    let mut latencies = table(curve, &LATENCIES);
    if has_metrics(curve, &AMOUNTS) {
        amounts.notes.push(
            "output_throughput in tokens/s; request_throughput and goodput in requests/s, inside the measured window"
                .to_owned(),
        );
    }
    let estimates = || curve.points.iter().flat_map(|point| &point.estimates);
    let several = estimates().filter(|(_, estimate)| estimate.samples > 1);
    if let Some(least) = several.map(|(_, estimate)| estimate.confidence).min_by(f64::total_cmp) {
        latencies.notes.push(format!(
            "medians over loads that took turns; below them, intervals of at least {} confidence",
            percent(least)
        ));
    }
    if estimates().any(|(_, estimate)| estimate.samples == 1) {
        latencies.notes.push("a single load has no interval here: 6 or more --rounds give one".to_owned());
    }
    amounts.notes.extend(curve.points.iter().filter_map(|point| doubts(curve, point)));
    if has_metrics(curve, &LATENCIES) { vec![amounts, latencies] } else { vec![amounts] }
}

fn has_metrics(curve: &LoadCurve, metrics: &[Metric]) -> bool {
    metrics.iter().any(|metric| curve.points.iter().any(|point| point.estimate(*metric).is_some()))
}

fn table(curve: &LoadCurve, metrics: &[Metric]) -> Table {
    let mut table = Table::default();
    let several = curve.endpoints().len() > 1;
    if several {
        table.columns.push(Column::left("endpoint"));
    }
    table.columns.extend([Column::left("load"), Column::right("loads")]);
    let scales: Vec<(Metric, Scale)> = metrics.iter().filter_map(|metric| scale(curve, *metric)).collect();
    for (metric, scale) in &scales {
        table.columns.push(Column::right(titled(*metric, scale)));
    }
    for point in &curve.points {
        let mut names = vec![Cell::new(point.level.to_string()), Cell::new(point.loads.to_string())];
        if several {
            names.insert(0, Cell::new(point.endpoint.clone()));
        }
        let empty = names.iter().map(|_| Cell::default());
        let ends: Vec<String> = scales.iter().map(|(metric, scale)| ends(point, *metric, scale)).collect();
        let below: Vec<Cell> = empty.chain(ends.iter().map(|text| Cell::new(text.clone()))).collect();
        names.extend(scales.iter().map(|(metric, scale)| Cell::new(center(point, *metric, scale))));
        table.rows.push(names);
        // A single load has no interval.
        table.rows.extend(Some(below).filter(|row| row.iter().any(|cell| !cell.text.is_empty())));
    }
    table
}

fn titled(metric: Metric, scale: &Scale) -> String {
    match metric {
        metric if metric.is_rate() => metric.name().to_owned(),
        _ => format!("{} [{}]", metric.name(), scale.name),
    }
}

/// The scale of a column: that of its largest value.
fn scale(curve: &LoadCurve, metric: Metric) -> Option<(Metric, Scale)> {
    let centers = curve.points.iter().filter_map(|point| Some(point.estimate(metric)?.center));
    let largest = centers.max_by(f64::total_cmp)?;
    // A prefix would have to be said in the head of the column, which has only its name.
    let largest = if metric.is_rate() { 1.0 } else { largest };
    Some((metric, Scale::for_value(&metric.unit(), largest)))
}

fn number(metric: Metric, scale: &Scale, value: f64) -> String {
    match metric {
        Metric::GoodShare => percent(value),
        // Four digits say enough of a latency.
        _ => scale.show(value, scale.decimals(value, value * 0.9995, value * 1.0005).min(2)),
    }
}

fn center(point: &Point, metric: Metric, scale: &Scale) -> String {
    point.estimate(metric).map_or("–".to_owned(), |estimate| number(metric, scale, estimate.center))
}

fn ends(point: &Point, metric: Metric, scale: &Scale) -> String {
    match point.estimate(metric).filter(|estimate| estimate.samples > 1) {
        None => String::new(),
        Some(estimate) => {
            format!("{}–{}", number(metric, scale, estimate.low), number(metric, scale, estimate.high))
        }
    }
}

/// Doubts about a point.
fn doubts(curve: &LoadCurve, point: &Point) -> Option<String> {
    let of = if curve.endpoints().len() > 1 { format!(" on {}", point.endpoint) } else { String::new() };
    let loads = counted(point.loads as u64, "load");
    let what = match (point.invalid, point.suspect) {
        (0, 0) => return None,
        (0, suspect) => format!("{loads}, {suspect} suspect"),
        (invalid, _) if point.loads == 0 => format!("{} invalid, none left", counted(invalid as u64, "load")),
        (invalid, _) => format!("{loads}; {} invalid, left out", counted(invalid as u64, "load")),
    };
    let why = point.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    Some(format!("{}{of}: {what}{why}", point.level))
}

/// Latencies over output throughput, a line for each endpoint; over requests where tokens are not known. Points have their
/// load beside them and their interval through them; a broken line is the SLO. Axes begin at zero where that is near, so that
/// noise does not look like a difference.
pub fn plots(curve: &LoadCurve) -> Vec<Points> {
    let is_known = |metric| curve.points.iter().any(|point| point.estimate(metric).is_some());
    let across =
        if is_known(Metric::OutputThroughput) { Metric::OutputThroughput } else { Metric::RequestThroughput };
    let line = |endpoint: &str, up: Metric| {
        let of_endpoint = curve.points.iter().filter(|point| point.endpoint == endpoint);
        let points = of_endpoint.filter_map(|point| {
            let estimate = point.estimate(up)?;
            Some(figure::Point {
                x: point.estimate(across)?.center,
                center: estimate.center,
                ends: (estimate.samples > 1).then_some((estimate.low, estimate.high)),
                samples: estimate.samples,
                note: point.level.to_string(),
            })
        });
        PointLine { label: endpoint.to_owned(), points: points.collect() }
    };
    let plot = |up: Metric| {
        let lines: Vec<PointLine> =
            curve.endpoints().into_iter().map(|endpoint| line(endpoint, up)).collect();
        let x = || lines.iter().flat_map(|line| &line.points).map(|point| point.x);
        let (from, to) = (x().fold(f64::INFINITY, f64::min), x().fold(f64::NEG_INFINITY, f64::max));
        let slo = up.slo_s(&curve.bounds).map(|bound| figure::ComputedCurve {
            label: format!("SLO {}", crate::number::fact(&up.unit(), bound)),
            points: vec![(from, bound), (to, bound)],
            ..figure::ComputedCurve::default()
        });
        Points {
            title: up.name().to_owned(),
            up: (up.name().to_owned(), up.unit()),
            across: (across.name().to_owned(), across.unit()),
            doubling: false,
            lines,
            curves: slo.into_iter().collect(),
            marks: Vec::new(),
        }
    };
    PLOTTED.into_iter().filter(|metric| is_known(*metric)).map(plot).collect()
}

/// A page with the table and the plots; `lines` say what was done.
pub fn html(curve: &LoadCurve, title: &str, lines: &[String]) -> String {
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
                page.element("figure", &[], |page| page.append(points(&one)));
            }
        });
        page.leaf("h2", &[], "All points");
        for table in tables(curve) {
            page::table(page, &table);
            for note in &table.notes {
                page.leaf("p", &[("class", "note")], note);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use assay_judge::load::{LoadLevel, SloBounds};
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
            level: LoadLevel::Streams(streams),
            estimates: vec![(Metric::OutputThroughput, estimate(rate)), (Metric::Ttft, estimate(first_s))],
            loads: 6,
            invalid: usize::from(streams > 1),
            suspect: 0,
            doubt: None,
        }
    }

    fn curve() -> LoadCurve {
        let bounds = SloBounds { ttft_s: Some(0.05), ..SloBounds::default() };
        LoadCurve { points: vec![point(1, 300.0, 0.020), point(8, 1200.0, 0.060)], bounds }
    }

    #[test]
    fn points_have_their_intervals_and_doubts() {
        let text: String =
            tables(&curve()).iter().map(|table| crate::text::render(table, &crate::text::plain)).collect();
        assert!(
            text.contains("20.00") && text.contains("19.00–21.00") && text.contains("8 streams"),
            "{text}"
        );
        let rows = || text.lines().filter(|line| line.starts_with("  "));
        assert!(rows().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("1 load invalid, left out") && text.contains("97"), "{text}");
        assert!(!text.contains("tpot"), "what was not seen has no column: {text}");
    }

    #[test]
    fn the_page_has_a_plot_of_what_was_seen() {
        let plots = plots(&curve());
        assert_eq!(plots.len(), 1);
        let line = &plots[0].lines[0].points;
        let places: Vec<_> = line.iter().map(|point| (point.x, point.center, point.note.as_str())).collect();
        assert_eq!(places, [(300.0, 0.020, "1 stream"), (1200.0, 0.060, "8 streams")]);
        assert!(line.iter().all(|point| point.ends.is_some()));
        assert_eq!(plots[0].curves[0].points, [(300.0, 0.05), (1200.0, 0.05)]);
        let page = html(&curve(), "a load", &[]);
        assert!(page.contains("<svg") && page.contains("SLO 50"), "{page}");
    }
}
