//! Bars from zero, in groups: model sizes down, systems inside each. Every bar has its name, its number and its count.

use assay_model::Unit;

use super::axis::Axis;
use super::{coordinate, palette, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::number::fact;
use crate::words::{clean, shorten, squeeze};

/// Groups of bars over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    pub title: String,
    pub unit: Unit,
    pub groups: Vec<BarGroup>,
}

/// The bars of one label.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What distinguishes it inside its group; empty where a group has one bar.
    pub name: String,
    pub value: f64,
    /// The interval, where there is one.
    pub ends: Option<(f64, f64)>,
    pub samples: usize,
}

const WIDTH: f64 = 980.0;
const PITCH: f64 = 18.0;
const GAP: f64 = 10.0;
const TOP: f64 = 28.0;
/// Bars beyond this are left out, and the figure says so.
const MOST_BARS: usize = 48;

/// Draws the bars; empty without a value above zero.
pub fn bars(figure: &Bars) -> Markup {
    let mut markup = Markup::default();
    let mut left_out = 0;
    let groups: Vec<(&str, Vec<(usize, &Bar)>)> = shown(figure, &mut left_out);
    let all = || groups.iter().flat_map(|(_, bars)| bars).map(|(_, bar)| *bar);
    let most =
        all().map(|bar| bar.ends.map_or(bar.value, |(_, high)| high.max(bar.value))).fold(0.0, f64::max);
    if most <= 0.0 {
        return markup;
    }
    // A count that all bars share is said once.
    let counts: Vec<usize> = all().map(|bar| bar.samples).collect();
    let shared = counts.first().copied().filter(|first| counts.iter().all(|count| count == first));
    let words =
        |bar: &Bar| if shared.is_some() { value_words(bar, &figure.unit) } else { words(bar, &figure.unit) };
    let label = |text: &str| squeeze(&clean(text), 40);
    let widest = groups.iter().map(|(text, _)| text_width(&label(text))).fold(50.0, f64::max);
    let beside = all().map(|bar| text_width(&words(bar))).fold(60.0, f64::max);
    let (left, right) = (widest + 18.0, WIDTH - beside - 16.0);
    let axis = Axis::new((0.0, most), (left, right));
    let count: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    let bottom = TOP + PITCH * count as f64 + GAP * groups.len() as f64;
    svg(&mut markup, "figure bars", (WIDTH, bottom + 38.0), &figure.title, |markup| {
        super::frame::draw_heading(markup, &figure.title, 90);
        let scale = super::frame::draw_bottom(markup, &axis, &figure.unit, (left, TOP, right, bottom));
        let mut y = TOP + GAP / 2.0;
        for (text, bars) in &groups {
            let middle = y + PITCH * bars.len() as f64 / 2.0;
            write_text(markup, "tick", (left - 10.0, middle + 4.0), "end", &label(text));
            for (index, bar) in bars {
                draw_bar(markup, (*index, bar), text, &axis, &figure.unit, (left, y), &words(bar));
                y += PITCH;
            }
            y += GAP;
        }
        let mut caption = super::frame::axis_title("", &scale, true).trim().to_owned();
        if let Some(count) = shared {
            caption = format!("{caption}  n = {count} each");
        }
        if left_out > 0 {
            caption = format!("{caption}; {left_out} more are in the table");
        }
        write_text(markup, "caption", (right, bottom + 32.0), "end", &caption);
    });
    markup
}

/// The groups with the bars that can be drawn, each with its place among the names.
fn shown<'a>(figure: &'a Bars, left_out: &mut usize) -> Vec<(&'a str, Vec<(usize, &'a Bar)>)> {
    let mut names: Vec<&str> = Vec::new();
    let mut drawn = 0;
    let mut groups = Vec::new();
    for group in &figure.groups {
        let mut bars = Vec::new();
        for bar in group.bars.iter().filter(|bar| bar.value.is_finite() && bar.value >= 0.0) {
            if drawn == MOST_BARS {
                *left_out += 1;
                continue;
            }
            drawn += 1;
            let known = names.iter().position(|name| *name == bar.name);
            let index = known.unwrap_or_else(|| {
                names.push(&bar.name);
                names.len() - 1
            });
            bars.push((index, bar));
        }
        if !bars.is_empty() {
            groups.push((group.label.as_str(), bars));
        }
    }
    groups
}

fn value_words(bar: &Bar, unit: &Unit) -> String {
    let value = fact(unit, bar.value);
    let name = shorten(&clean(&bar.name), 28);
    if name.is_empty() { value } else { format!("{name}: {value}") }
}

fn words(bar: &Bar, unit: &Unit) -> String {
    format!("{}, n = {}", value_words(bar, unit), bar.samples)
}

fn draw_bar(
    markup: &mut Markup,
    (index, bar): (usize, &Bar),
    group: &str,
    axis: &Axis,
    unit: &Unit,
    (left, y): (f64, f64),
    beside: &str,
) {
    let end = axis.place(bar.value);
    let class = palette::line(index);
    markup.element("g", &[("class", &*class)], |markup| {
        let interval = bar.ends.map_or_else(String::new, |(low, high)| {
            format!(", interval {} – {}", fact(unit, low), fact(unit, high))
        });
        markup.leaf("title", &[], &format!("{}, {}{interval}", clean(group), words(bar, unit)));
        let (x, top) = (coordinate(left), coordinate(y + 2.0));
        let (width, height) = (coordinate((end - left).max(1.0)), coordinate(PITCH - 4.0));
        let place = [("class", "bar"), ("x", &*x), ("y", &*top), ("width", &*width), ("height", &*height)];
        markup.empty("rect", &place);
        let mut behind = end;
        if let Some((low, high)) = bar.ends {
            let middle = y + PITCH / 2.0;
            write_line(markup, "whisker", (axis.place(low), middle), (axis.place(high), middle));
            behind = behind.max(axis.place(high));
        }
        write_text(markup, "tick", (behind + 6.0, y + PITCH / 2.0 + 4.0), "start", beside);
    });
}
