//! What runs printed over time as figures: one metric of several cells in one plot, and a run in which something happened,
//! such as a warm-up or a change of level, by itself.

use super::super::{Drawing, Figure};
use crate::figure::{Plot, PlotLine, Trace};
use crate::study::{ExampleRun, SeriesCourse};
use crate::words::distinguishing;

/// Plots of several cells.
const MOST_PLOTS: usize = 4;
/// Runs by themselves.
const MOST_TRACES: usize = 4;
/// Lines of one plot; further cells are in the table.
const MOST_LINES: usize = 7;
/// A series of fewer values is in the table of the run.
const FEWEST_VALUES: usize = 8;
/// Metrics with one value a request.
const PER_REQUEST: [&str; 5] = ["ttft", "ttfo", "tpot", "itl", "e2e"];

/// The series of a record: all cells in one plot where they can be laid over each other, and what was found in single ones.
pub fn series(examples: &[ExampleRun]) -> Vec<Figure> {
    let mut named = examples.to_vec();
    distinguishing(&mut named.iter_mut().map(|example| &mut example.label).collect::<Vec<_>>());
    let drawn: Vec<(&ExampleRun, &SeriesCourse)> =
        named.iter().flat_map(|example| shown(example).map(move |course| (example, course))).collect();
    let mut metrics: Vec<&str> = Vec::new();
    for (_, course) in &drawn {
        if !metrics.contains(&course.series.metric.as_str()) {
            metrics.push(&course.series.metric);
        }
    }
    let (mut plots, mut traces) = (Vec::new(), Vec::new());
    for metric in metrics {
        let of_metric: Vec<_> =
            drawn.iter().filter(|(_, course)| course.series.metric == metric).copied().collect();
        match of_metric.as_slice() {
            // One alone has room for its phases.
            [(example, course)] => traces.push((*example, *course)),
            several => {
                plots.push(overlaid(metric, several));
                traces.extend(several.iter().filter(|(_, course)| has_findings(course)).take(2).copied());
            }
        }
    }
    plots.truncate(MOST_PLOTS);
    plots.extend(traces.into_iter().take(MOST_TRACES).map(|(example, course)| trace(example, course)));
    plots
}

/// The series that are worth a figure. A rate over the whole loop so far repeats what the rate of each interval says, with
/// every jump smeared over the rest of the run.
fn shown(example: &ExampleRun) -> impl Iterator<Item = &SeriesCourse> {
    let repeats = |metric: &str| {
        let stem = metric.strip_suffix(".loop").map(|stem| format!("{stem}.instant"));
        stem.is_some_and(|stem| example.series.iter().any(|other| other.series.metric == stem))
    };
    // A count of steps over steps is a straight line.
    let counts = |course: &SeriesCourse| course.series.values == course.series.steps;
    let is_shown = move |course: &&SeriesCourse| {
        course.series.values.len() >= FEWEST_VALUES && !repeats(&course.series.metric) && !counts(course)
    };
    example.series.iter().filter(is_shown)
}

/// Changes of less than this share of the median are found where a series has little noise, and matter to nobody.
const LEAST_CHANGE: f64 = 0.05;

fn has_findings(course: &SeriesCourse) -> bool {
    let mut sorted: Vec<f64> =
        course.series.values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(((low, high), median)) = sorted.first().zip(sorted.last()).zip(sorted.get(sorted.len() / 2))
    else {
        return false;
    };
    let is_found = course.warm_up.is_some_and(|count| count > 0) || !course.changes.is_empty();
    is_found && high - low >= LEAST_CHANGE * median.abs()
}

fn overlaid(metric: &str, several: &[(&ExampleRun, &SeriesCourse)]) -> Figure {
    let across = across(metric);
    let lines = several.iter().take(MOST_LINES).map(|(example, course)| PlotLine {
        label: example.label.clone(),
        points: course
            .series
            .values
            .iter()
            .enumerate()
            .map(|(at, value)| (step(course, at), *value))
            .collect(),
    });
    let more = several.len().saturating_sub(MOST_LINES);
    let more = if more > 0 { format!("; {more} more cells are not drawn") } else { String::new() };
    let unit = several.first().map(|(_, course)| course.series.unit.clone()).unwrap_or_default();
    Figure {
        caption: format!("{metric} over {across}s, the first run of each cell{more}."),
        drawing: Drawing::Plot(Plot {
            title: metric.to_owned(),
            unit,
            across: across.to_owned(),
            lines: lines.collect(),
        }),
    }
}

fn across(metric: &str) -> &'static str {
    if PER_REQUEST.contains(&metric) { "request" } else { "step" }
}

fn step(course: &SeriesCourse, index: usize) -> f64 {
    course.series.steps.get(index).copied().unwrap_or(index as f64 + 1.0)
}

/// The figure of one series.
pub fn trace(example: &ExampleRun, course: &SeriesCourse) -> Figure {
    let series = &course.series;
    let clocked = series.at_s.len() == series.values.len() && !example.phases.is_empty();
    let place = |index: usize| -> f64 {
        let at_s = series.at_s.get(index).filter(|_| clocked);
        at_s.copied().unwrap_or_else(|| step(course, index))
    };
    let points = series.values.iter().enumerate().map(|(index, value)| (place(index), *value));
    let points: Vec<(f64, f64)> = points.collect();
    let ends = points.first().map(|first| first.0).zip(points.last().map(|last| last.0));
    let bands: Vec<(String, f64, f64)> = ends.map(|ends| bands(example, ends)).unwrap_or_default();
    let warm_up = course.warm_up.filter(|count| *count > 0);
    let marks = match (warm_up, course.changes.is_empty()) {
        (None, true) => "",
        (Some(_), true) => " Gray: warm-up.",
        (None, false) => " Broken: where the level changes.",
        (Some(_), false) => " Gray: warm-up. Broken: where the level changes.",
    };
    Figure {
        caption: format!("{} of one run ({}).{marks}", series.metric, example.label),
        drawing: Drawing::Trace(Trace {
            title: format!("{} · {}", series.metric, example.label),
            unit: series.unit.clone(),
            across: if clocked { "seconds".to_owned() } else { across(&series.metric).to_owned() },
            points,
            seen: series.seen.max(series.values.len() as u64),
            warm_up_end: warm_up.map(place),
            changes: course.changes.iter().map(|index| place(*index)).collect(),
            bands: if clocked { bands } else { Vec::new() },
        }),
    }
}

/// The phases that the series runs through. A single one that holds all of it distinguishes nothing.
fn bands(example: &ExampleRun, (first, last): (f64, f64)) -> Vec<(String, f64, f64)> {
    let known = example.phases.iter().filter_map(|phase| {
        let start = phase.start_s?;
        let end = phase.end_s.or_else(|| Some(start + phase.seconds?))?;
        Some((phase.name.clone(), start, end))
    });
    let bands: Vec<_> = known.filter(|(_, start, end)| *start < last && *end > first).collect();
    match bands.as_slice() {
        [(_, start, end)] if *start <= first && *end >= last => Vec::new(),
        _ => bands,
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{Series, Unit};

    use super::*;

    fn course(metric: &str, changes: Vec<usize>) -> SeriesCourse {
        let values = (0..20).map(f64::from).collect();
        let series =
            Series { metric: metric.to_owned(), unit: Unit::Seconds, values, seen: 20, ..Series::default() };
        SeriesCourse { series, warm_up: None, changes }
    }

    fn example(label: &str, series: Vec<SeriesCourse>) -> ExampleRun {
        ExampleRun { label: label.to_owned(), series, ..ExampleRun::default() }
    }

    #[test]
    fn cells_share_a_plot_and_what_was_found_is_drawn_by_itself() {
        let rate = |changes| vec![course("rate.instant", changes), course("rate.loop", vec![3])];
        let examples =
            [example("size = 1, model = a", rate(Vec::new())), example("size = 2, model = a", rate(vec![7]))];
        let captions: Vec<String> = series(&examples).into_iter().map(|figure| figure.caption).collect();
        assert_eq!(
            captions,
            [
                "rate.instant over steps, the first run of each cell.",
                "rate.instant of one run (size = 2). Broken: where the level changes.",
            ]
        );
    }

    #[test]
    fn requests_are_no_steps() {
        let Drawing::Trace(drawn) = trace(&example("a", Vec::new()), &course("ttft", Vec::new())).drawing
        else {
            panic!("no trace")
        };
        assert_eq!(drawn.across, "request");
    }
}
