//! The roofline: how much arithmetic a byte of memory traffic pays for, and how near the machine's two limits it comes.
//! Samuel Williams, Andrew Waterman, David Patterson, "Roofline: an insightful visual performance model", 2009.

use assay_model::Unit;

use super::axis::Axis;
use super::{coordinate, palette, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::number::{fact, percent};
use crate::words::{clean, squeeze};

/// Positions below the two limits of a machine. Both axes are logarithmic.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    pub title: String,
    /// The most floating-point operations per second.
    pub peak: f64,
    /// The most bytes per second; none where it is not known, and then only the upper limit is drawn.
    pub bandwidth: Option<f64>,
    pub points: Vec<RooflinePoint>,
}

/// What one computation reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct RooflinePoint {
    pub label: String,
    /// Floating-point operations per byte of traffic.
    pub intensity: f64,
    /// Floating-point operations per second.
    pub rate: f64,
    /// The interval of the rate, where there is one.
    pub ends: Option<(f64, f64)>,
    pub samples: usize,
}

impl Roofline {
    /// The most that an intensity allows.
    pub fn roof(&self, intensity: f64) -> f64 {
        self.bandwidth.map_or(self.peak, |bandwidth| (intensity * bandwidth).min(self.peak))
    }
}

const WIDTH: f64 = 980.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 300.0;
/// Names to the right; further points have theirs in a title.
const MOST_NAMES: usize = 16;

/// Draws the positions; empty without one.
pub fn roofline(figure: &Roofline) -> Markup {
    let mut markup = Markup::default();
    let is_drawn =
        |point: &&RooflinePoint| point.intensity > 0.0 && point.rate > 0.0 && point.rate.is_finite();
    let points: Vec<&RooflinePoint> = figure.points.iter().filter(is_drawn).collect();
    if points.is_empty() || !(figure.peak > 0.0 && figure.peak.is_finite()) {
        return markup;
    }
    let ridge = figure.bandwidth.map(|bandwidth| figure.peak / bandwidth);
    let places = || points.iter().map(|point| point.intensity).chain(ridge);
    let low_x = (places().fold(f64::INFINITY, f64::min) / 2.0).log10().floor();
    let high_x = (places().fold(0.0, f64::max) * 2.0).log10().ceil();
    let low_y = (points.iter().map(|point| point.rate).fold(figure.peak, f64::min) / 1.5).log10().floor();
    let most = points.iter().map(|point| point.ends.map_or(point.rate, |(_, high)| high.max(point.rate)));
    let high_y = (most.fold(figure.peak, f64::max) * 1.3).log10();
    let axes = (Axis::new((low_x, high_x), (LEFT, RIGHT)), Axis::new((low_y, high_y), (BOTTOM, TOP)));
    svg(&mut markup, "figure points roofline", (WIDTH, BOTTOM + 44.0), &figure.title, |markup| {
        super::frame::draw_heading(markup, &figure.title, 90);
        draw_decades(markup, &axes, (low_x, high_x), (low_y, high_y));
        draw_roof(markup, figure, &axes, (low_x, high_x));
        for (index, point) in points.iter().enumerate() {
            draw_point(markup, figure, (index, point), &axes);
        }
    });
    markup
}

fn draw_decades(markup: &mut Markup, axes: &(Axis, Axis), across: (f64, f64), up: (f64, f64)) {
    let flops = Unit::parse("FLOP/s").0;
    for power in decades(across) {
        let x = axes.0.place(power);
        write_line(markup, "grid", (x, TOP), (x, BOTTOM));
        write_text(markup, "tick", (x, BOTTOM + 16.0), "middle", &fact(&Unit::One, 10f64.powf(power)));
    }
    for power in decades(up) {
        let y = axes.1.place(power);
        write_line(markup, "grid", (LEFT, y), (RIGHT, y));
        write_text(markup, "tick", (LEFT - 7.0, y + 4.0), "end", &fact(&flops, 10f64.powf(power)));
    }
    write_line(markup, "base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    write_text(markup, "caption", (8.0, BOTTOM + 38.0), "start", "↑ arithmetic rate [FLOP/s] (log scale)");
    write_text(
        markup,
        "caption",
        (RIGHT, BOTTOM + 38.0),
        "end",
        "arithmetic intensity [FLOP/B] (log scale) →",
    );
}

/// The powers of ten inside a range.
fn decades((low, high): (f64, f64)) -> impl Iterator<Item = f64> {
    let first = low.ceil();
    (0..=40).map(move |step| first + f64::from(step)).take_while(move |power| *power <= high)
}

fn draw_roof(markup: &mut Markup, figure: &Roofline, axes: &(Axis, Axis), (low, high): (f64, f64)) {
    let mut corners = vec![low];
    corners.extend(figure.bandwidth.map(|bandwidth| (figure.peak / bandwidth).log10()));
    corners.push(high);
    let places: Vec<String> = corners
        .iter()
        .map(|power| {
            let roof = figure.roof(10f64.powf(*power)).log10();
            format!("{},{}", coordinate(axes.0.place(*power)), coordinate(axes.1.place(roof)))
        })
        .collect();
    markup.element("g", &[("class", "curve")], |markup| {
        markup.leaf("title", &[], "the limits of the machine");
        markup.empty("polyline", &[("points", &*places.join(" "))]);
    });
    let y = axes.1.place(figure.peak.log10()) - 5.0;
    let peak = format!("peak {}", fact(&Unit::parse("FLOP/s").0, figure.peak));
    write_text(markup, "note", (RIGHT - 4.0, y), "end", &peak);
    if let Some(bandwidth) = figure.bandwidth {
        let text = format!("memory {}", fact(&Unit::parse("B/s").0, bandwidth));
        let middle = ((figure.peak / bandwidth).log10() + low) / 2.0;
        let y = axes.1.place(figure.roof(10f64.powf(middle)).log10());
        write_text(markup, "note", (axes.0.place(middle) - 6.0, y), "end", &text);
    }
}

fn draw_point(
    markup: &mut Markup,
    figure: &Roofline,
    (index, point): (usize, &RooflinePoint),
    axes: &(Axis, Axis),
) {
    let (x, y) = (axes.0.place(point.intensity.log10()), axes.1.place(point.rate.log10()));
    let share = percent(point.rate / figure.roof(point.intensity));
    let about = format!(
        "{}: {} at {} FLOP/B, {share} of the limit there, n = {}",
        clean(&point.label),
        fact(&Unit::parse("FLOP/s").0, point.rate),
        fact(&Unit::One, point.intensity),
        point.samples
    );
    markup.element("g", &[("class", &*palette::line(index))], |markup| {
        markup.leaf("title", &[], &about);
        if let Some((low, high)) = point.ends {
            let place = |rate: f64| axes.1.place(rate.max(f64::MIN_POSITIVE).log10());
            write_line(markup, "interval", (x, place(low)), (x, place(high)));
        }
        let (cx, cy) = (coordinate(x), coordinate(y));
        markup.empty("circle", &[("cx", &*cx), ("cy", &*cy), ("r", "3.6")]);
        if index < MOST_NAMES {
            let number = (index + 1).to_string();
            write_text(markup, "note", (x + 6.0, y - 5.0), "start", &number);
            let text =
                format!("{number}  {}: {share} of its limit, n = {}", clean(&point.label), point.samples);
            let most = ((WIDTH - RIGHT - 30.0) / text_width("x")) as usize;
            write_text(
                markup,
                "line-name",
                (RIGHT + 22.0, TOP + 12.0 + 16.0 * index as f64),
                "start",
                &squeeze(&text, most),
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_measured_against_the_lower_of_both_limits() {
        let figure = Roofline {
            title: "x".into(),
            peak: 1e11,
            bandwidth: Some(1e10),
            points: vec![RooflinePoint {
                label: "small".into(),
                intensity: 2.0,
                rate: 1e10,
                ends: None,
                samples: 6,
            }],
        };
        assert_eq!((figure.roof(2.0), figure.roof(10.0), figure.roof(100.0)), (2e10, 1e11, 1e11));
        let drawn = roofline(&figure).finish();
        assert!(drawn.contains("50 % of its limit") && drawn.contains("n = 6"), "{drawn}");
        assert!(drawn.contains("log scale"), "{drawn}");
        let none = Roofline { points: Vec::new(), ..figure };
        assert!(roofline(&none).finish().is_empty());
    }
}
