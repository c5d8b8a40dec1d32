//! Estimates over a number: scaling with its ideal, rate over batch size, latency over throughput, a metric over records.

use assay_model::Unit;

use super::axis::Axis;
use super::{coordinate, palette, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::number::fact;
use crate::words::{clean, shorten, squeeze};

/// Lines of estimates over a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    pub title: String,
    /// What goes up, and its unit.
    pub up: (String, Unit),
    /// What goes to the right, and its unit.
    pub across: (String, Unit),
    /// Whether the axis to the right is logarithmic, for settings that double.
    pub doubling: bool,
    pub lines: Vec<PointLine>,
    /// Curves without points: an ideal, a fitted law.
    pub curves: Vec<ComputedCurve>,
    /// Places on the axis to the right that have a name: a change, a half-performance point.
    pub marks: Vec<(f64, String)>,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct PointLine {
    pub label: String,
    pub points: Vec<Point>,
}

/// One estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub x: f64,
    pub center: f64,
    /// The interval, where there is one.
    pub ends: Option<(f64, f64)>,
    /// How many values it rests on.
    pub samples: usize,
    /// What stands beside it: an efficiency, a load.
    pub note: String,
}

/// A curve that was computed and not measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputedCurve {
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// Place, lower and upper end of its band, where it has one.
    pub band: Vec<(f64, f64, f64)>,
}

const WIDTH: f64 = 500.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 250.0;
/// The most room for names to the right.
const NAMES: f64 = 190.0;
/// Up to this many points have their notes written beside them.
const FEW: usize = 16;

/// Draws the points; empty without one.
pub fn points(figure: &Points) -> Markup {
    let mut markup = Markup::default();
    let all = || figure.lines.iter().flat_map(|line| &line.points).filter(|point| point.center.is_finite());
    let turn = |x: f64| if figure.doubling { x.max(f64::MIN_POSITIVE).log2() } else { x };
    let Some(across) = super::frame::range(all().map(|point| turn(point.x))) else { return markup };
    let measured = all().flat_map(|point| {
        let (low, high) = point.ends.unwrap_or((point.center, point.center));
        [low, high]
    });
    let Some(up) = super::frame::range(measured) else { return markup };
    // A curve may leave the figure; what was measured may not.
    let (up, at_zero) = super::frame::from_zero(up);
    let named = figure.lines.len() > 1 || !figure.curves.is_empty();
    let widest = figure.lines.iter().map(|line| text_width(&clean(&line.label))).fold(96.0, f64::max);
    let right = WIDTH - if named { (widest + 34.0).min(NAMES) } else { 24.0 };
    let horizontal = Axis::new(across, (LEFT, right)).padded(0.04);
    let vertical = Axis::new(up, (BOTTOM, TOP));
    svg(&mut markup, "figure points", (WIDTH, BOTTOM + 44.0), &figure.title, |markup| {
        super::frame::draw_heading(markup, &figure.title, 66);
        let area = (LEFT, TOP, right, BOTTOM);
        let scale = super::frame::draw_left(markup, &vertical, &figure.up.1, area);
        draw_across(markup, figure, &horizontal, area);
        let counts = counts(all().map(|point| point.samples));
        let room = 76usize.saturating_sub(counts.len());
        let caption = super::frame::short_axis_title(&figure.up.0, &scale, at_zero, room);
        write_text(markup, "caption", (8.0, 32.0), "start", &format!("↑ {caption}{counts}"));
        draw_marks(markup, figure, &horizontal, &turn);
        for (index, curve) in figure.curves.iter().enumerate() {
            draw_curve(markup, curve, (&horizontal, &vertical), &turn, (right, index));
        }
        let mut notes = Notes { right, taken: Vec::new() };
        for (index, line) in figure.lines.iter().enumerate() {
            draw_line(markup, figure, (index, line), (&horizontal, &vertical), &turn, &mut notes);
        }
        if named {
            draw_names(markup, figure, right);
        }
    });
    markup
}

/// How many values a point rests on: a figure never hides that.
fn counts(samples: impl Iterator<Item = usize>) -> String {
    let ends = samples.fold(None, |ends: Option<(usize, usize)>, count| {
        Some(ends.map_or((count, count), |(low, high)| (low.min(count), high.max(count))))
    });
    match ends {
        None => String::new(),
        Some((low, high)) if low == high => format!(", n = {low} a point"),
        Some((low, high)) => format!(", n = {low} – {high} a point"),
    }
}

fn draw_across(
    markup: &mut Markup,
    figure: &Points,
    axis: &Axis,
    (left, _, right, bottom): (f64, f64, f64, f64),
) {
    write_line(markup, "base", (left, bottom), (right, bottom));
    let mut tick = |x: f64, text: &str| {
        write_line(markup, "base", (x, bottom), (x, bottom + 4.0));
        write_text(markup, "tick", (x, bottom + 16.0), "middle", text);
    };
    let mut name = clean(&figure.across.0);
    let mut values: Vec<f64> =
        figure.lines.iter().flat_map(|line| &line.points).map(|point| point.x).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if figure.doubling {
        let step = values.len().div_ceil(12).max(1);
        for value in values.into_iter().step_by(step) {
            tick(axis.place(value.max(f64::MIN_POSITIVE).log2()), &fact(&Unit::One, value));
        }
        name.push_str(" (log scale)");
    } else if figure.across.1 == Unit::One && are_few(&values, axis) {
        // Counts of things, such as records, have nothing between them.
        values.iter().for_each(|value| tick(axis.place(*value), &fact(&Unit::One, *value)));
    } else {
        let (scale, labels) = axis.labels(&figure.across.1, 6);
        for (value, text) in labels {
            tick(axis.place(value), &text);
        }
        name = scale.titled(&name);
    }
    write_text(markup, "caption", (right, bottom + 38.0), "end", &format!("{} →", squeeze(&name, 44)));
}

/// Whether the axis has room for a tick at each of these values, which are integers.
fn are_few(values: &[f64], axis: &Axis) -> bool {
    let is_apart = |pair: &[f64]| {
        let [one, other] = pair else { return true };
        axis.place(*other) - axis.place(*one) >= 28.0
    };
    values.iter().all(|value| value.fract() == 0.0 && value.abs() < 1e5) && values.windows(2).all(is_apart)
}

fn draw_marks(markup: &mut Markup, figure: &Points, axis: &Axis, turn: &dyn Fn(f64) -> f64) {
    for (x, label) in &figure.marks {
        let place = axis.place(turn(*x));
        write_line(markup, "mark", (place, TOP), (place, BOTTOM));
        let text = shorten(&clean(label), 40);
        let is_left = place < (LEFT + WIDTH) / 2.0 - 60.0;
        let (x, anchor) = if is_left { (place + 4.0, "start") } else { (place - 4.0, "end") };
        write_text(markup, "mark-name", (x, BOTTOM - 8.0), anchor, &text);
    }
}

fn path(points: &[(f64, f64)], axes: (&Axis, &Axis)) -> String {
    let places: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", coordinate(axes.0.place(*x)), coordinate(axes.1.place(*y))))
        .collect();
    places.join(" ")
}

fn draw_curve(
    markup: &mut Markup,
    curve: &ComputedCurve,
    axes: (&Axis, &Axis),
    turn: &dyn Fn(f64) -> f64,
    (right, index): (f64, usize),
) {
    let inside: Vec<(f64, f64)> =
        curve.points.iter().filter(|(_, y)| axes.1.holds(*y)).map(|(x, y)| (turn(*x), *y)).collect();
    markup.element("g", &[("class", "curve")], |markup| {
        markup.leaf("title", &[], &clean(&curve.label));
        if curve.band.len() > 1 {
            let upper = curve.band.iter().map(|(x, _, high)| (turn(*x), *high));
            let lower = curve.band.iter().rev().map(|(x, low, _)| (turn(*x), *low));
            let around: Vec<(f64, f64)> = upper.chain(lower).collect();
            markup.empty("polygon", &[("class", "band"), ("points", &*path(&around, axes))]);
        }
        markup.empty("polyline", &[("points", &*path(&inside, axes))]);
        let y = BOTTOM - 14.0 * index as f64;
        write_text(
            markup,
            "tick",
            (right + 13.0, y),
            "start",
            &format!("┄ {}", shorten(&clean(&curve.label), 20)),
        );
    });
}

fn draw_line(
    markup: &mut Markup,
    figure: &Points,
    (index, line): (usize, &PointLine),
    axes: (&Axis, &Axis),
    turn: &dyn Fn(f64) -> f64,
    notes: &mut Notes,
) {
    let drawn: Vec<&Point> = line.points.iter().filter(|point| point.center.is_finite()).collect();
    let few = drawn.len() <= FEW;
    markup.element("g", &[("class", &*palette::line(index))], |markup| {
        let places: Vec<(f64, f64)> = drawn.iter().map(|point| (turn(point.x), point.center)).collect();
        markup.empty("polyline", &[("points", &*path(&places, axes))]);
        for point in &drawn {
            let (x, y) = (axes.0.place(turn(point.x)), axes.1.place(point.center));
            markup.element("g", &[], |markup| {
                markup.leaf("title", &[], &about(figure, line, point));
                if let Some((low, high)) = point.ends {
                    write_line(markup, "interval", (x, axes.1.place(low)), (x, axes.1.place(high)));
                }
                let (cx, cy) = (coordinate(x), coordinate(y));
                markup.empty("circle", &[("cx", &*cx), ("cy", &*cy), ("r", "3.4")]);
                if few && !point.note.is_empty() {
                    notes.write(markup, (x, y), &squeeze(&clean(&point.note), 18));
                }
            });
        }
    });
}

/// Notes beside points; one that would touch another is left to the point's title.
struct Notes {
    right: f64,
    taken: Vec<(f64, f64, f64)>,
}

impl Notes {
    fn write(&mut self, markup: &mut Markup, (x, y): (f64, f64), text: &str) {
        let width = text_width(text);
        let start = (x + 6.0).min(self.right - width);
        let touches = |(from, to, at): &(f64, f64, f64)| {
            start < to + 4.0 && start + width + 4.0 > *from && (y - at).abs() < 13.0
        };
        if self.taken.iter().any(touches) {
            return;
        }
        self.taken.push((start, start + width, y));
        write_text(markup, "note", (start, y - 6.0), "start", text);
    }
}

fn about(figure: &Points, line: &PointLine, point: &Point) -> String {
    let unit = &figure.up.1;
    let ends = point.ends.map_or_else(String::new, |(low, high)| {
        format!(", interval {} – {}", fact(unit, low), fact(unit, high))
    });
    let note = if point.note.is_empty() { String::new() } else { format!(", {}", clean(&point.note)) };
    format!(
        "{} at {} {}: {}{ends}, n = {}{note}",
        clean(&line.label),
        clean(&figure.across.0),
        fact(&figure.across.1, point.x),
        fact(unit, point.center),
        point.samples
    )
}

fn draw_names(markup: &mut Markup, figure: &Points, right: f64) {
    let most = ((WIDTH - right - 28.0) / text_width("x")) as usize;
    for (index, line) in figure.lines.iter().take(14).enumerate() {
        let y = TOP + 8.0 + 15.0 * index as f64;
        let class = palette::line(index);
        markup.element("g", &[("class", &*class)], |markup| {
            let (x, y_text) = (coordinate(right + 16.0), coordinate(y - 4.0));
            markup.empty("circle", &[("cx", &*x), ("cy", &*y_text), ("r", "3.4")]);
            write_text(markup, "line-name", (right + 25.0, y), "start", &squeeze(&clean(&line.label), most));
        });
    }
    if figure.lines.len() > 14 {
        let more = format!("… and {} more", figure.lines.len() - 14);
        write_text(markup, "tick", (right + 25.0, TOP + 8.0 + 15.0 * 14.0), "start", &more);
    }
}
