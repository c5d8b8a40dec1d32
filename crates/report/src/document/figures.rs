//! Studies to figures: which ones say something about a record, and with which words below them.

mod latency;
mod laws;
mod series;

use assay_judge::{Answer, Comparison};
use assay_model::{ReadRun, Settings, Unit, Value};

use super::sentences::label;
use super::{Drawing, Figure};
use crate::figure::{
    Bar, BarGroup, Bars, CellDots, CellRow, ComputedCurve, Forest, Heat, Point, PointLine, Points, Ratio,
    Roofline, TimelineRow,
};
use crate::number::percent;
use crate::study::{ExampleRun, Judged, Study};
use crate::timeline::timeline;
use crate::words::distinguishing;
use series::series;
pub use series::trace;

/// Rows of a forest plot; further ones are in the table.
const MOST_RATIOS: usize = 40;
/// Runs whose phases are drawn.
const MOST_TIMELINES: usize = 16;

/// The figures of a record, in the order in which they answer its question.
pub fn figures(study: &Study) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(judged) = study.answers.first() {
        figures.extend(cells(judged));
        figures.extend(ratios(&judged.answer));
    }
    figures.extend(scaling(study));
    figures.extend(latency::latency(study));
    // A count of work done only says what was asked for.
    let is_result = |judged: &&Judged| !matches!(judged.answer.metric.unit, Unit::Count(_));
    let results = || study.answers.iter().filter(is_result).filter(|_| study.scaling.is_none());
    let lines: Vec<Figure> = results().filter_map(over_setting).take(4).collect();
    let is_drawn = !lines.is_empty() || study.scaling.is_some();
    figures.extend(lines);
    // Numbers that a line plot shows are not drawn again, unless both settings have enough values for lines to cross.
    figures.extend(study.answers.first().and_then(|judged| heat(&judged.answer, is_drawn)));
    if !is_drawn {
        figures.extend(study.answers.iter().filter_map(sizes).take(2));
    }
    figures.extend(study.roofline.clone().map(roofline));
    figures.extend(compared_timelines(&study.examples));
    figures.extend(series(&study.examples));
    figures
}

fn cells(judged: &Judged) -> Option<Figure> {
    let answer = &judged.answer;
    let values = |cell| judged.evidence.cells.iter().find(|evidence| evidence.cell == cell);
    let mut rows: Vec<CellRow> = answer
        .rows
        .iter()
        .filter_map(|row| {
            Some(CellRow {
                label: label(row),
                values: values(row.cell.clone())?.values.clone(),
                estimate: row.estimate.as_ref().map(|one| (one.center, one.low, one.high)),
            })
        })
        .filter(|row| !row.values.is_empty())
        .collect();
    distinguishing(&mut rows.iter_mut().map(|row| &mut row.label).collect::<Vec<_>>());
    if rows.iter().all(|row| row.values.len() < 2) {
        return None;
    }
    let title = answer.metric.name.clone();
    let caption = format!(
        "Every run of {title} as a dot: how far repeats of one cell spread, and whether cells overlap."
    );
    Some(Figure {
        caption,
        drawing: Drawing::Cells(CellDots { title, unit: answer.metric.unit.clone(), rows }),
    })
}

fn ratios(answer: &Answer) -> Option<Figure> {
    let best = answer.rows.get(answer.best?)?;
    let samples = |row: &assay_judge::AnswerRow| row.estimate.as_ref().map_or(0, |estimate| estimate.samples);
    let mut rows: Vec<Ratio> = answer
        .rows
        .iter()
        .filter_map(|row| {
            let effect = row.against_best.as_ref()?;
            Some(Ratio {
                label: label(row),
                ratio: effect.ratio,
                ends: effect.interval.map(|ends| (ends.low, ends.high)),
                verdict: effect.verdict,
                samples: samples(row),
            })
        })
        .take(MOST_RATIOS)
        .collect();
    // Without an interval there is nothing that the table does not show.
    if rows.iter().all(|row| row.ends.is_none()) {
        return None;
    }
    let mut base = label(best);
    let labels = rows.iter_mut().map(|row| &mut row.label).chain(std::iter::once(&mut base));
    distinguishing(&mut labels.collect::<Vec<_>>());
    (!rows.is_empty()).then(|| Figure {
        caption: "Ratios with their intervals. An interval that touches the band leaves the difference open."
            .to_owned(),
        drawing: Drawing::Forest(Forest {
            title: format!("{} against the best", answer.metric.name),
            base,
            margin: answer.metric.margin(),
            rows,
        }),
    })
}

/// The forest plot of two records.
pub fn comparison(comparison: &Comparison) -> Option<Figure> {
    let rows: Vec<Ratio> = comparison
        .rows
        .iter()
        .filter_map(|row| {
            let effect = row.effect.as_ref()?;
            let counts = [&row.base, &row.other].map(|one| one.as_ref().map_or(0, |one| one.samples));
            let names: Vec<String> =
                row.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let label = if names.is_empty() { row.platforms.1.clone() } else { names.join(", ") };
            Some(Ratio {
                label,
                ratio: effect.ratio,
                ends: effect.interval.map(|ends| (ends.low, ends.high)),
                verdict: effect.verdict,
                samples: counts.into_iter().min().unwrap_or(0),
            })
        })
        .take(MOST_RATIOS)
        .collect();
    (!rows.is_empty()).then(|| Figure {
        caption: format!(
            "{} of {} by that of {}, cell by cell.",
            comparison.metric.name, comparison.other, comparison.base
        ),
        drawing: Drawing::Forest(Forest {
            title: format!("{}: {} against {}", comparison.metric.name, comparison.other, comparison.base),
            base: comparison.base.clone(),
            margin: comparison.metric.margin(),
            rows,
        }),
    })
}

/// Two settings as a grid; one that is drawn in another way already has to have many cells.
fn heat(answer: &Answer, is_drawn: bool) -> Option<Figure> {
    let [down_name, across_name] = answer.varied.as_slice() else { return None };
    let values = |name: &String| {
        let mut values: Vec<Value> = Vec::new();
        for value in answer.rows.iter().filter_map(|row| row.settings.get(name)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        values.sort_by(Value::natural_order);
        values
    };
    let (down, across) = (values(down_name), values(across_name));
    if !(2..=24).contains(&down.len()) || !(2..=12).contains(&across.len()) {
        return None;
    }
    if is_drawn && down.len().min(across.len()) < 3 {
        return None;
    }
    let cell = |one: &Value, other: &Value| {
        let row = answer.rows.iter().find(|row| {
            row.settings.get(down_name) == Some(one) && row.settings.get(across_name) == Some(other)
        })?;
        row.estimate.as_ref().map(|estimate| (estimate.center, estimate.samples))
    };
    let cells = down.iter().flat_map(|one| across.iter().map(move |other| cell(one, other))).collect();
    let texts = |values: &[Value]| {
        let mut texts: Vec<String> = values.iter().map(ToString::to_string).collect();
        distinguishing(&mut texts.iter_mut().collect::<Vec<_>>());
        texts
    };
    Some(Figure {
        caption: format!("Medians of {} over {down_name} and {across_name}.", answer.metric.name),
        drawing: Drawing::Heat(Heat {
            title: answer.metric.name.clone(),
            unit: answer.metric.unit.clone(),
            names: (down_name.clone(), across_name.clone()),
            down: texts(&down),
            across: texts(&across),
            cells,
        }),
    })
}

/// A metric over the one numeric setting, a line for each combination of the others.
fn over_setting(judged: &Judged) -> Option<Figure> {
    let answer = &judged.answer;
    let number = |row: &assay_judge::AnswerRow, name: &String| row.settings.get(name).and_then(Value::number);
    let over = answer.varied.iter().find(|name| {
        let mut values: Vec<f64> = answer.rows.iter().filter_map(|row| number(row, name)).collect();
        let all = values.len() == answer.rows.len();
        values.sort_by(f64::total_cmp);
        values.dedup();
        all && values.len() >= 3
    })?;
    let mut lines: Vec<PointLine> = Vec::new();
    for row in &answer.rows {
        let (Some(x), Some(estimate)) = (number(row, over), &row.estimate) else { continue };
        let others: Vec<String> = row
            .settings
            .iter()
            .filter(|(name, _)| *name != over)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let label = if others.is_empty() { answer.metric.name.clone() } else { others.join(", ") };
        let ends = (estimate.samples > 1).then_some((estimate.low, estimate.high));
        let point =
            Point { x, center: estimate.center, ends, samples: estimate.samples, note: String::new() };
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(PointLine { label, points: vec![point] }),
        }
    }
    distinguishing(&mut lines.iter_mut().map(|line| &mut line.label).collect::<Vec<_>>());
    for line in &mut lines {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let positive = lines.iter().flat_map(|line| &line.points).all(|point| point.x > 0.0);
    let spread = spread(&lines);
    let fitted = laws::over(&judged.evidence, over);
    let curves = fitted.as_ref().map(laws::curves).unwrap_or_default();
    let marks = fitted.as_ref().map(laws::half_performance).unwrap_or_default();
    let law = match (curves.is_empty(), marks.is_empty()) {
        (true, _) => "",
        (false, true) => " Broken: the fitted law with its band.",
        (false, false) => " Broken: the fitted law with its band, and where half of its limit is reached.",
    };
    Some(Figure {
        caption: format!("{} over {over}, with intervals.{law}", answer.metric.name),
        drawing: Drawing::Points(Points {
            title: format!("{} over {over}", answer.metric.name),
            up: (answer.metric.name.clone(), answer.metric.unit.clone()),
            across: (over.clone(), Unit::One),
            doubling: positive && spread >= 4.0,
            marks,
            curves,
            lines,
        }),
    })
}

/// Estimates as bars, where cells differ in a setting that is a word, such as the size of a model, and in others beside it.
fn sizes(judged: &Judged) -> Option<Figure> {
    let answer = &judged.answer;
    let is_drawn = matches!(answer.metric.unit, Unit::Seconds | Unit::PerSecond(_) | Unit::Bytes);
    let is_word = |name: &&String| {
        let mut values = answer.rows.iter().filter_map(|row| row.settings.get(*name));
        values.any(|value| value.number().is_none())
    };
    let drawn = || answer.rows.iter().filter(|row| row.estimate.is_some());
    let has_all = |name: &&String| drawn().all(|row| row.settings.contains_key(*name));
    let mut words = answer.varied.iter().filter(is_word).filter(has_all);
    let size = words.next().filter(|_| is_drawn && answer.varied.len() > 1)?;
    let name = bar_names(&drawn().map(|row| &row.settings).collect::<Vec<_>>(), size, words);
    let mut groups: Vec<BarGroup> = Vec::new();
    for row in &answer.rows {
        let Some(estimate) = &row.estimate else { continue };
        let group = row.settings.get(size).map(ToString::to_string).unwrap_or_default();
        let others: Vec<String> = row
            .settings
            .iter()
            .filter(|(other, _)| name.map_or(*other != size, |name| *other == name))
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let bar = Bar {
            name: others.join(", "),
            value: estimate.center,
            ends: (estimate.samples > 1).then_some((estimate.low, estimate.high)),
            samples: estimate.samples,
        };
        match groups.iter_mut().find(|known| known.label == group) {
            Some(known) => known.bars.push(bar),
            None => groups.push(BarGroup { label: group, bars: vec![bar] }),
        }
    }
    distinguishing(&mut groups.iter_mut().map(|group| &mut group.label).collect::<Vec<_>>());
    let count: usize = groups.iter().map(|group| group.bars.len()).sum();
    (groups.len() > 1 && count > groups.len()).then(|| Figure {
        caption: format!("{} by {size}; lines through the ends of bars are intervals.", answer.metric.name),
        drawing: Drawing::Bars(Bars {
            title: format!("{} by {size}", answer.metric.name),
            unit: answer.metric.unit.clone(),
            groups,
        }),
    })
}

/// The setting that names the bars of each group alone, where there is one; one that is a word says most.
fn bar_names<'a>(
    rows: &[&'a Settings],
    size: &str,
    words: impl Iterator<Item = &'a String>,
) -> Option<&'a String> {
    let is_name = |name: &&String| {
        let mut seen: Vec<(Option<&Value>, Option<&Value>)> = Vec::new();
        rows.iter().all(|settings| {
            let bar = (settings.get(size), settings.get(*name));
            let is_new = bar.1.is_some() && !seen.contains(&bar);
            seen.push(bar);
            is_new
        })
    };
    words.into_iter().find(is_name)
}

/// Where cells stand below the limits of the machine.
fn roofline(roofline: Roofline) -> Figure {
    let limits = match roofline.bandwidth {
        Some(_) => "the slope is the memory, the ceiling the arithmetic",
        None => "the ceiling is the arithmetic; the memory's limit is not known",
    };
    Figure {
        caption: format!(
            "Roofline: {limits}. A point near its limit can only gain by doing less or moving less."
        ),
        drawing: Drawing::Roofline(roofline),
    }
}

/// How many times the smallest place on the axis the largest is.
fn spread(lines: &[PointLine]) -> f64 {
    let places = || lines.iter().flat_map(|line| &line.points).map(|point| point.x);
    places().fold(0.0, f64::max) / places().fold(f64::INFINITY, f64::min)
}

fn scaling(study: &Study) -> Option<Figure> {
    let scaling = study.scaling.as_ref()?;
    let name = |settings: &Settings| {
        let parts: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if parts.is_empty() { scaling.metric.name.clone() } else { parts.join(", ") }
    };
    let mut lines: Vec<PointLine> = Vec::new();
    for row in &scaling.rows {
        let Some(estimate) = &row.estimate else { continue };
        let note = row.efficiency.map(|share| percent(share.center)).unwrap_or_default();
        let ends = (estimate.samples > 1).then_some((estimate.low, estimate.high));
        let point = Point { x: row.workers, center: estimate.center, ends, samples: estimate.samples, note };
        let label = name(&row.settings);
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(PointLine { label, points: vec![point] }),
        }
    }
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(1.0, f64::max);
    let ideal = lines.first().and_then(|line| line.points.first()).map(|first| ComputedCurve {
        label: "perfect scaling".to_owned(),
        points: (0..=60)
            .map(|step| first.x + (most - first.x) * f64::from(step) / 60.0)
            .map(|x| (x, first.center * x / first.x))
            .collect(),
        ..ComputedCurve::default()
    });
    let curves = ideal.into_iter().chain(laws::curves(scaling)).collect();
    (!lines.is_empty()).then(|| Figure {
        caption: format!(
            "{} over {}; beside each point its parallel efficiency. Broken: perfect scaling, and the fitted law with its band.",
            scaling.metric.name, scaling.over
        ),
        drawing: Drawing::Points(Points {
            title: format!("Scaling of {} with {}", scaling.metric.name, scaling.over),
            up: (scaling.metric.name.clone(), scaling.metric.unit.clone()),
            across: (scaling.over.clone(), Unit::One),
            doubling: spread(&lines) >= 4.0,
            marks: Vec::new(),
            curves,
            lines,
        }),
    })
}

/// Where the time of several runs went. One phase alone, such as the warm-up of a load, says nothing of the others.
fn compared_timelines(examples: &[ExampleRun]) -> Option<Figure> {
    let phases = || examples.iter().flat_map(|example| &example.phases);
    let is_compared = phases().any(|phase| phases().any(|other| other.name != phase.name));
    is_compared.then(|| timelines(examples)).flatten()
}

/// Where the time of runs went; none where no run has phases.
pub fn timelines(examples: &[ExampleRun]) -> Option<Figure> {
    let mut rows: Vec<TimelineRow> = examples
        .iter()
        .filter_map(|example| {
            let run = ReadRun { phases: example.phases.clone(), ..ReadRun::default() };
            let mut timeline = timeline(&run)?;
            timeline.total_s =
                timeline.total_s.max(example.job_s.filter(|_| timeline.clocked).unwrap_or(0.0));
            Some(TimelineRow { label: example.label.clone(), timeline })
        })
        .take(MOST_TIMELINES)
        .collect();
    distinguishing(&mut rows.iter_mut().map(|row| &mut row.label).collect::<Vec<_>>());
    (!rows.is_empty()).then(|| Figure {
        caption: "Where the time of one run of each cell went: waiting, compiling and the work itself."
            .to_owned(),
        drawing: Drawing::Timelines(rows),
    })
}
