//! Series as lines: values over steps or seconds, several runs in one plot.

use assay_model::Unit;

use super::axis::Axis;
use super::frame::{axis_title, from_zero, range};
use super::thin::thin;
use super::{coordinate, palette, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::words::{clean, shorten, squeeze};

/// A plot of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What is plotted.
    pub title: String,
    /// The unit of the values.
    pub unit: Unit,
    /// What the axis to the right is.
    pub across: String,
    /// The lines, each of one run.
    pub lines: Vec<PlotLine>,
}

/// One line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotLine {
    /// The run's name.
    pub label: String,
    /// Its points, in the order they were seen.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 480.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 30.0;
/// Room for names of lines, which stand at their ends: the least and the most.
const NAMES: (f64, f64) = (96.0, 200.0);
/// From one name to the next.
const PITCH: f64 = 13.0;
/// Up to this many points are marked one by one.
const FEW_POINTS: usize = 60;

/// Draws a plot; empty where no line has a point.
pub fn plot(plot: &Plot) -> Markup {
    let lines: Vec<(usize, Vec<(f64, f64)>)> = plot
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| (index, thin(&line.points, (WIDTH - LEFT - NAMES.0) as usize)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let mut markup = Markup::default();
    let all = || lines.iter().flat_map(|(_, points)| points);
    let (Some(across), Some(up)) = (range(all().map(|point| point.0)), range(all().map(|point| point.1)))
    else {
        return markup;
    };
    let (up, at_zero) = from_zero(up);
    let marked = all().count() <= FEW_POINTS;
    let single = plot.lines.len() == 1;
    let widest = plot.lines.iter().map(|line| text_width(&clean(&line.label))).fold(0.0, f64::max);
    let names = (widest + 20.0).clamp(NAMES.0, NAMES.1);
    let right = WIDTH - if single { 16.0 } else { names };
    let inside = (PITCH * lines.len() as f64).max(190.0);
    let bottom = TOP + inside;
    let horizontal = Axis::new(across, (LEFT, right));
    let vertical = Axis::new(up, (bottom, TOP));
    svg(&mut markup, "figure plot", (WIDTH, bottom + 38.0), &plot.title, |markup| {
        draw_axes(markup, plot, (&horizontal, &vertical), (right, bottom), at_zero);
        for (index, points) in &lines {
            let label = plot.lines.get(*index).map(|line| line.label.as_str()).unwrap_or_default();
            draw_line(markup, (*index, label), points, (&horizontal, &vertical), marked);
        }
        if !single {
            draw_names(markup, plot, &lines, &vertical, (right, bottom));
        }
    });
    markup
}

fn draw_axes(
    markup: &mut Markup,
    plot: &Plot,
    axes: (&Axis, &Axis),
    (right, bottom): (f64, f64),
    at_zero: bool,
) {
    let (scale, labels) = axes.1.labels(&plot.unit, 6);
    for (tick, text) in labels {
        let y = axes.1.place(tick);
        write_line(markup, "grid", (LEFT, y), (right, y));
        write_text(markup, "tick", (LEFT - 7.0, y + 4.0), "end", &text);
    }
    for (tick, text) in axes.0.labels(&Unit::One, 5).1 {
        let x = axes.0.place(tick);
        write_line(markup, "base", (x, bottom), (x, bottom + 4.0));
        write_text(markup, "tick", (x, bottom + 16.0), "middle", &text);
    }
    write_line(markup, "base", (LEFT, bottom), (right, bottom));
    let unit = if scale.name.is_empty() { String::new() } else { format!(" [{}]", scale.name) };
    let heading = shorten(&clean(&format!("{}{unit}", plot.title)), 58);
    write_text(markup, "heading", (8.0, 15.0), "start", &heading);
    // Where the axis begins at zero, the heading has said all of it.
    let room = if at_zero { 50 } else { 34 };
    if !at_zero {
        let caption = format!("↑{}", axis_title("", &scale, at_zero));
        write_text(markup, "caption", (8.0, bottom + 32.0), "start", &caption);
    }
    write_text(markup, "caption", (right, bottom + 32.0), "end", &shorten(&across_words(plot), room));
}

/// What the axis to the right is, and how many values a line has: a figure never hides that.
fn across_words(plot: &Plot) -> String {
    let counts = || plot.lines.iter().map(|line| line.points.len());
    let (low, high) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let counts = if low == high { low.to_string() } else { format!("{low} – {high}") };
    format!("{} (n = {counts} a line) →", clean(&plot.across))
}

fn draw_line(
    markup: &mut Markup,
    (index, label): (usize, &str),
    points: &[(f64, f64)],
    axes: (&Axis, &Axis),
    marked: bool,
) {
    let places: Vec<(String, String)> =
        points.iter().map(|(x, y)| (coordinate(axes.0.place(*x)), coordinate(axes.1.place(*y)))).collect();
    let class = palette::line(index);
    markup.element("g", &[("class", &*class)], |markup| {
        markup.leaf("title", &[], label);
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x},{y}")).collect();
        markup.empty("polyline", &[("points", &*path.join(" "))]);
        // A single point makes no line.
        if marked || places.len() == 1 {
            for (x, y) in &places {
                markup.empty("circle", &[("cx", &**x), ("cy", &**y), ("r", "2.3")]);
            }
        }
    });
}

/// Writes each line's name at its end; names that would touch are moved apart, in the order of the ends.
fn draw_names(
    markup: &mut Markup,
    plot: &Plot,
    lines: &[(usize, Vec<(f64, f64)>)],
    vertical: &Axis,
    (right, bottom): (f64, f64),
) {
    let mut names: Vec<(f64, usize)> =
        lines.iter().filter_map(|(index, points)| Some((vertical.place(points.last()?.1), *index))).collect();
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = TOP - PITCH;
    let mut places: Vec<f64> = names
        .iter()
        .map(|(y, _)| {
            lowest = y.max(lowest + PITCH);
            lowest
        })
        .collect();
    // What was pushed out below is moved up again; the figure is tall enough for all.
    let mut highest = bottom + PITCH;
    for place in places.iter_mut().rev() {
        highest = place.min(highest - PITCH);
        *place = highest;
    }
    for ((y, index), place) in names.iter().zip(&places) {
        let label = plot.lines.get(*index).map(|line| line.label.as_str()).unwrap_or_default();
        let class = format!("{} to-name", palette::line(*index));
        write_line(markup, &class, (right + 2.0, *y), (right + 10.0, *place));
        let class = format!("line-name {}", palette::line(*index));
        let most = ((WIDTH - right - 16.0) / text_width("x")) as usize;
        write_text(markup, &class, (right + 13.0, place + 4.0), "start", &squeeze(&clean(label), most));
    }
}
