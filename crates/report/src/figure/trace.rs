//! A series of one run: every step, with warm-up grayed, phases as bands and changes of level marked.

use assay_model::Unit;

use super::axis::Axis;
use super::thin::thin;
use super::{coordinate, palette, svg, write_line, write_text};
use crate::markup::Markup;
use crate::words::{clean, shorten};

/// A series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub title: String,
    pub unit: Unit,
    /// What the axis to the right is: `step`, `seconds`.
    pub across: String,
    pub points: Vec<(f64, f64)>,
    /// How many values were seen; more than points where the series was thinned before.
    pub seen: u64,
    /// Where warm-up ends, if there is one.
    pub warm_up_end: Option<f64>,
    /// Where the level changes.
    pub changes: Vec<f64>,
    /// Phases: name, start and end on the axis to the right.
    pub bands: Vec<(String, f64, f64)>,
}

const WIDTH: f64 = 500.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 488.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 220.0;
/// Up to this many points are marked one by one.
const FEW_POINTS: usize = 80;

/// Draws the series; empty without a point.
pub fn trace(trace: &Trace) -> Markup {
    let mut markup = Markup::default();
    // Two points a pixel column, the lowest and the highest: a spike of one step in a million stays visible.
    let points = thin(&trace.points, (RIGHT - LEFT) as usize);
    let (Some(across), Some(up)) = (
        super::frame::range(points.iter().map(|point| point.0)),
        super::frame::range(points.iter().map(|point| point.1)),
    ) else {
        return markup;
    };
    let (up, at_zero) = super::frame::from_zero(up);
    let axes = (Axis::new(across, (LEFT, RIGHT)), Axis::new(up, (BOTTOM, TOP)));
    svg(&mut markup, "figure trace", (WIDTH, BOTTOM + 44.0), &trace.title, |markup| {
        super::frame::draw_heading(markup, &trace.title, 66);
        for (name, start, end) in &trace.bands {
            draw_band(markup, &axes.0, (name, *start, *end));
        }
        let area = (LEFT, TOP, RIGHT, BOTTOM);
        let scale = super::frame::draw_left(markup, &axes.1, &trace.unit, area);
        draw_bottom(markup, trace, &axes.0);
        if let Some(end) = trace.warm_up_end {
            draw_warm_up(markup, axes.0.place(end));
        }
        for change in &trace.changes {
            let x = axes.0.place(*change);
            write_line(markup, "mark", (x, TOP), (x, BOTTOM));
        }
        draw_line(markup, &points, &axes);
        let caption = super::frame::axis_title("value", &scale, at_zero);
        write_text(
            markup,
            "caption",
            (8.0, BOTTOM + 38.0),
            "start",
            &format!("↑ {}, n = {}", shorten(&caption, 60), trace.seen),
        );
    });
    markup
}

fn draw_bottom(markup: &mut Markup, trace: &Trace, axis: &Axis) {
    write_line(markup, "base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    for (tick, text) in axis.labels(&Unit::One, 6).1 {
        let x = axis.place(tick);
        write_line(markup, "base", (x, BOTTOM), (x, BOTTOM + 4.0));
        write_text(markup, "tick", (x, BOTTOM + 16.0), "middle", &text);
    }
    write_text(
        markup,
        "caption",
        (RIGHT, BOTTOM + 38.0),
        "end",
        &format!("{} →", shorten(&clean(&trace.across), 40)),
    );
}

fn draw_band(markup: &mut Markup, axis: &Axis, (name, start, end): (&str, f64, f64)) {
    let (from, to) = (axis.place(start), axis.place(end));
    let class = format!("{} band", palette::phase(name));
    let attributes = [
        ("class", &*class),
        ("x", &*coordinate(from)),
        ("y", &*coordinate(TOP - 12.0)),
        ("width", &*coordinate((to - from).max(0.8))),
        ("height", &*coordinate(BOTTOM - TOP + 12.0)),
    ];
    markup.element("rect", &attributes, |markup| {
        markup.leaf("title", &[], &format!("phase {}: {start:.1} – {end:.1} s", clean(name)));
    });
    if to - from > super::text_width(name) + 6.0 {
        write_text(markup, "minor", (from + 3.0, TOP - 3.0), "start", &clean(name));
    }
}

fn draw_warm_up(markup: &mut Markup, to: f64) {
    let attributes = [
        ("class", "warm-up"),
        ("x", &*coordinate(LEFT)),
        ("y", &*coordinate(TOP)),
        ("width", &*coordinate((to - LEFT).max(1.0))),
        ("height", &*coordinate(BOTTOM - TOP)),
    ];
    markup.empty("rect", &attributes);
    write_text(markup, "minor", (LEFT + 4.0, TOP + 11.0), "start", "warm-up");
}

fn draw_line(markup: &mut Markup, points: &[(f64, f64)], axes: &(Axis, Axis)) {
    let places: Vec<(String, String)> =
        points.iter().map(|(x, y)| (coordinate(axes.0.place(*x)), coordinate(axes.1.place(*y)))).collect();
    markup.element("g", &[("class", &*palette::line(0))], |markup| {
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x},{y}")).collect();
        markup.empty("polyline", &[("points", &*path.join(" "))]);
        if places.len() <= FEW_POINTS {
            for (x, y) in &places {
                markup.empty("circle", &[("cx", &**x), ("cy", &**y), ("r", "2.2")]);
            }
        }
    });
}
