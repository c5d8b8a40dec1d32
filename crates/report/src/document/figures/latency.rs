//! Latency over throughput: one line an endpoint, with its knee and its SLO.

use assay_judge::Answer;
use assay_model::Settings;
use assay_model::duration::seconds;

use super::super::sentences::label_of;
use super::super::{Drawing, Figure};
use crate::figure::{ComputedCurve, Point, PointLine, Points};
use crate::number::fact;
use crate::study::Study;
use crate::words::distinguishing;

/// Settings that say how much load an endpoint gets.
const LOAD_SETTINGS: [&str; 3] = ["streams", "rate", "concurrency"];

/// Latency over throughput, where a record has both.
pub fn latency(study: &Study) -> Option<Figure> {
    let named = |names: &[&str]| {
        names.iter().find_map(|name| study.answers.iter().find(|judged| judged.answer.metric.name == *name))
    };
    let rate = named(&["output_throughput", "request_throughput"])?;
    let delay = named(&["ttft.p50", "e2e.p50", "ttft.p99"])?;
    let mut lines: Vec<PointLine> = Vec::new();
    for row in &rate.answer.rows {
        let other = delay.answer.rows.iter().find(|other| other.cell == row.cell);
        let Some((across, up)) = row.estimate.as_ref().zip(other.and_then(|other| other.estimate.as_ref()))
        else {
            continue;
        };
        // A line is one endpoint; its points are loads, in their order.
        let (load, endpoint): (Settings, Settings) =
            row.settings.clone().into_iter().partition(|(name, _)| LOAD_SETTINGS.contains(&name.as_str()));
        let label = if endpoint.is_empty() { study.name.clone() } else { label_of(&endpoint) };
        let ends = (up.samples > 1).then_some((up.low, up.high));
        let note = label_of(&load);
        let point = Point { x: across.center, center: up.center, ends, samples: up.samples, note };
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(PointLine { label, points: vec![point] }),
        }
    }
    distinguishing(&mut lines.iter_mut().map(|line| &mut line.label).collect::<Vec<_>>());
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    lines.iter_mut().for_each(mark_knee);
    let (across, up) = (&rate.answer.metric, &delay.answer.metric);
    let slo = slo(&delay.answer, &lines);
    let bound = if slo.is_some() { " Broken: the SLO." } else { "" };
    Some(Figure {
        caption: format!(
            "{} over {}: where more load only waits longer, the curve turns up. The knee is where throughput by latency is highest.{bound}",
            up.name, across.name
        ),
        drawing: Drawing::Points(Points {
            title: "Latency over throughput".to_owned(),
            up: (up.name.clone(), up.unit.clone()),
            across: (across.name.clone(), across.unit.clone()),
            doubling: false,
            lines,
            curves: slo.into_iter().collect(),
            marks: Vec::new(),
        }),
    })
}

/// Marks the load with the highest throughput by latency. Kleinrock, "Power and deterministic rules of thumb for probabilistic
/// problems in computer communications", 1979, calls that the power of a system, and its highest point the one to run at.
/// Two points have no knee, and at either end the loads do not show whether there is one.
fn mark_knee(line: &mut PointLine) {
    let power = |point: &Point| if point.center > 0.0 { point.x / point.center } else { 0.0 };
    let highest = line.points.iter().enumerate().max_by(|a, b| power(a.1).total_cmp(&power(b.1)));
    let Some((index, _)) = highest else { return };
    let is_inside = index > 0 && index + 1 < line.points.len();
    if let Some(point) = line.points.get_mut(index).filter(|_| is_inside) {
        point.note = format!("{}, knee", point.note);
    }
}

/// The bound that requests had to meet, where the campaign has one for this latency.
fn slo(answer: &Answer, lines: &[PointLine]) -> Option<ComputedCurve> {
    let setting = format!("slo_{}", answer.metric.name.split('.').next()?);
    let stated = answer.common.get(&setting).or_else(|| answer.rows.first()?.settings.get(&setting))?;
    let bound = seconds(stated).ok()?;
    let places = || lines.iter().flat_map(|line| &line.points).map(|point| point.x);
    let ends = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
    Some(ComputedCurve {
        label: format!("SLO {}", fact(&answer.metric.unit, bound)),
        points: vec![(ends.0, bound), (ends.1, bound)],
        ..ComputedCurve::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_where_throughput_by_latency_is_highest() {
        let point = |x: f64, center: f64| Point { x, center, ends: None, samples: 6, note: "load".into() };
        let mut line = PointLine {
            label: String::new(),
            points: vec![point(100.0, 0.02), point(400.0, 0.021), point(420.0, 0.2)],
        };
        mark_knee(&mut line);
        assert_eq!(line.points[1].note, "load, knee");
        let mut rising = PointLine { label: String::new(), points: vec![point(1.0, 1.0), point(2.0, 1.0)] };
        mark_knee(&mut rising);
        assert!(rising.points.iter().all(|point| point.note == "load"));
    }
}
