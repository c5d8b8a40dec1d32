//! An experiment as figures.

use assay_model::{ReadRun, Unit, Value};

use super::{ACROSS, Experiment, is_repeated, setting, value};
use crate::document::{Drawing, Figure};
use crate::figure::{
    Bar, BarGroup, Bars, CellDots, CellRow, Plot, PlotLine, Point, PointLine, Points, TimelineRow,
};
use crate::reading::effective;
use crate::timeline::timeline;

/// Figures of one kind; a report is to be read.
const MOST: usize = 2;
/// Lines in one plot.
const MOST_LINES: usize = 12;
/// Timelines in one figure.
const MOST_TIMELINES: usize = 16;

/// The figures, in the order in which they explain the table.
pub fn figures(experiment: &Experiment<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(timelines(experiment));
    let over = over_number(experiment);
    match over {
        Some(name) => figures.extend(points(experiment, name)),
        None => figures.extend(bars(experiment)),
    }
    figures.extend(repeated(experiment));
    figures.extend(courses(experiment));
    figures
}

fn timelines(experiment: &Experiment<'_>) -> Option<Figure> {
    let rows: Vec<TimelineRow> = experiment
        .runs
        .iter()
        .zip(experiment.names())
        .filter_map(|(run, label)| Some(TimelineRow { label, timeline: timeline(run)? }))
        .take(MOST_TIMELINES)
        .collect();
    (!rows.is_empty()).then(|| Figure {
        caption: "Where the time of each run went, by its log.".to_owned(),
        drawing: Drawing::Timelines(rows),
    })
}

/// The one setting that has three different numbers or more, where nothing else varies.
fn over_number<'a>(experiment: &Experiment<'a>) -> Option<&'a str> {
    let [name] = experiment.varied.as_slice() else { return None };
    let mut values: Vec<f64> = experiment.runs.iter().filter_map(|run| number(run, name)).collect();
    let complete = values.len() == experiment.runs.len();
    values.sort_by(f64::total_cmp);
    values.dedup();
    (complete && values.len() >= 3).then_some(*name)
}

fn number(run: &ReadRun, name: &str) -> Option<f64> {
    effective(run).into_iter().find(|(known, _)| *known == name).and_then(|(_, value)| Value::number(value))
}

fn is_result(unit: &Unit) -> bool {
    !matches!(unit, Unit::Count(_))
}

fn points(experiment: &Experiment<'_>, over: &str) -> Vec<Figure> {
    let wanted = experiment.shown_metrics().iter().filter(|(_, unit)| is_result(unit));
    let figure = |(name, unit): &(&str, &Unit)| {
        let mut points: Vec<Point> = experiment
            .runs
            .iter()
            .filter_map(|run| {
                let (center, samples) = value(run, name)?;
                Some(Point { x: number(run, over)?, center, ends: None, samples, note: String::new() })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let (least, most) = (points.first()?.x, points.last()?.x);
        Some(Figure {
            caption: format!("{name} over {over}, one run a point."),
            drawing: Drawing::Points(Points {
                title: format!("{name} over {over}"),
                up: ((*name).to_owned(), (*unit).clone()),
                across: (over.to_owned(), Unit::One),
                doubling: least > 0.0 && most / least >= 4.0,
                lines: vec![PointLine { label: (*name).to_owned(), points }],
                curves: Vec::new(),
                marks: Vec::new(),
            }),
        })
    };
    wanted.filter_map(figure).take(MOST).collect()
}

/// Rates and times as bars: devices inside each size, or one bar a run.
fn bars(experiment: &Experiment<'_>) -> Vec<Figure> {
    let is_drawn = |unit: &Unit| matches!(unit, Unit::PerSecond(_) | Unit::Seconds);
    let is_grouped = experiment.across().len() > 1;
    let names = experiment.names();
    let mut figures = Vec::new();
    for (metric, unit) in experiment.shown_metrics().iter().filter(|(_, unit)| is_drawn(unit)) {
        let mut groups: Vec<BarGroup> = Vec::new();
        for (run, name) in experiment.runs.iter().zip(&names) {
            let Some((value, samples)) = value(run, metric) else { continue };
            let first = experiment.varied.iter().find(|name| **name != ACROSS);
            let (label, name) = match first.filter(|_| is_grouped) {
                Some(first) => {
                    (setting(run, first).unwrap_or_default(), setting(run, ACROSS).unwrap_or_default())
                }
                None => (name.clone(), String::new()),
            };
            let bar = Bar { name, value, ends: None, samples };
            match groups.iter_mut().find(|group| group.label == label) {
                Some(group) => group.bars.push(bar),
                None => groups.push(BarGroup { label, bars: vec![bar] }),
            }
        }
        if groups.iter().map(|group| group.bars.len()).sum::<usize>() < 2 || figures.len() == MOST {
            continue;
        }
        figures.push(Figure {
            caption: format!("{metric}, as the file states it."),
            drawing: Drawing::Bars(Bars { title: (*metric).to_owned(), unit: (*unit).clone(), groups }),
        });
    }
    figures
}

/// The same measurement again and again: every value as a dot.
fn repeated(experiment: &Experiment<'_>) -> Vec<Figure> {
    let names = experiment.names();
    let figure = |(metric, unit): &(&str, &Unit)| {
        let rows: Vec<CellRow> = experiment
            .runs
            .iter()
            .zip(&names)
            .filter_map(|(run, name)| {
                let series =
                    run.series.iter().find(|series| series.metric == *metric && is_repeated(series))?;
                Some(CellRow { label: name.clone(), values: series.values.clone(), estimate: None })
            })
            .collect();
        (!rows.is_empty()).then(|| Figure {
            caption: format!("Every value of {metric} that the file lists, as a dot."),
            drawing: Drawing::Cells(CellDots { title: (*metric).to_owned(), unit: (*unit).clone(), rows }),
        })
    };
    experiment.metrics.iter().filter_map(figure).take(MOST).collect()
}

/// What runs printed over their steps: a line each.
fn courses(experiment: &Experiment<'_>) -> Vec<Figure> {
    let names = experiment.names();
    let mut plots: Vec<Plot> = Vec::new();
    for (run, name) in experiment.runs.iter().zip(&names) {
        for series in run.series.iter().filter(|series| series.steps.len() == series.values.len()) {
            let points: Vec<(f64, f64)> =
                series.steps.iter().copied().zip(series.values.iter().copied()).collect();
            if points.len() < 3 {
                continue;
            }
            let line = PlotLine { label: name.clone(), points };
            match plots.iter_mut().find(|plot| plot.title == series.metric) {
                Some(plot) if plot.lines.len() < MOST_LINES => plot.lines.push(line),
                Some(_) => {}
                None => plots.push(Plot {
                    title: series.metric.clone(),
                    unit: series.unit.clone(),
                    across: "step".to_owned(),
                    lines: vec![line],
                }),
            }
        }
    }
    plots.truncate(2 * MOST);
    let figure = |plot: Plot| Figure {
        caption: format!("{} over steps, as the log prints it.", plot.title),
        drawing: Drawing::Plot(plot),
    };
    plots.into_iter().map(figure).collect()
}
