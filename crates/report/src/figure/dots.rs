//! Repeats as dots on an axis, with their mean and their range.

use assay_model::Unit;

use super::axis::Axis;
use super::{coordinate, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::number::fact;
use crate::words::clean;

/// Values of runs that did the same thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// What they have in common.
    pub title: String,
    /// The unit.
    pub unit: Unit,
    /// The values, each with the place it was found in.
    pub values: Vec<(f64, String)>,
    /// Their mean, and how it is written.
    pub mean: (f64, String),
}

const WIDTH: f64 = 480.0;
const LEFT: f64 = 24.0;
const RIGHT: f64 = 456.0;
const RADIUS: f64 = 4.5;
/// Dots are stacked so high at most; beyond that they overlap.
const MOST_LEVELS: usize = 12;

/// Draws the dots; empty without a value.
pub fn dots(dots: &Dots) -> Markup {
    let mut values: Vec<&(f64, String)> = dots.values.iter().filter(|(value, _)| value.is_finite()).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut markup = Markup::default();
    let (Some((low, _)), Some((high, _))) = (values.first(), values.last()) else { return markup };
    let axis = Axis::new((*low, *high), (LEFT, RIGHT)).padded(0.08);
    let levels = levels(&values.iter().map(|(value, _)| axis.place(*value)).collect::<Vec<_>>());
    let highest = levels.iter().copied().max().unwrap_or(0) as f64;
    let base = 30.0 + (highest + 1.0) * 2.0 * RADIUS + 4.0;
    svg(&mut markup, "figure dots", (WIDTH, base + 34.0), &dots.title, |markup| {
        let (scale, labels) = axis.labels(&dots.unit, 5);
        for (tick, text) in labels {
            let x = axis.place(tick);
            write_line(markup, "base", (x, base), (x, base + 4.0));
            write_text(markup, "tick", (x, base + 16.0), "middle", &text);
        }
        write_line(markup, "base", (LEFT, base), (RIGHT, base));
        if !scale.name.is_empty() {
            write_text(markup, "caption", (RIGHT, base + 30.0), "end", &clean(&scale.name));
        }
        write_line(markup, "range", (axis.place(*low), base), (axis.place(*high), base));
        for ((value, place), level) in values.iter().zip(&levels) {
            let y = base - 4.0 - RADIUS - *level as f64 * 2.0 * RADIUS;
            draw_dot(markup, (axis.place(*value), y), &format!("{} {place}", fact(&dots.unit, *value)));
        }
        draw_mean(markup, dots, &axis, base);
    });
    markup
}

fn draw_dot(markup: &mut Markup, (x, y): (f64, f64), title: &str) {
    let (x, y, radius) = (coordinate(x), coordinate(y), coordinate(RADIUS));
    markup.element("circle", &[("class", "dot"), ("cx", &*x), ("cy", &*y), ("r", &*radius)], |markup| {
        markup.leaf("title", &[], title);
    });
}

fn draw_mean(markup: &mut Markup, dots: &Dots, axis: &Axis, base: f64) {
    if !dots.mean.0.is_finite() {
        return;
    }
    let x = axis.place(dots.mean.0);
    write_line(markup, "mean", (x, 18.0), (x, base + 4.0));
    let text = clean(&format!("mean {}", dots.mean.1));
    let half = text_width(&text) / 2.0;
    let place = x.clamp(LEFT.min(half), (WIDTH - half - 4.0).max(half + 4.0)).max(half + 4.0);
    write_text(markup, "mean-name", (place, 13.0), "middle", &text);
}

/// The level of each dot, from left to right: the lowest on which it touches no other.
fn levels(places: &[f64]) -> Vec<usize> {
    let mut ends = [f64::NEG_INFINITY; MOST_LEVELS];
    places
        .iter()
        .map(|x| {
            let level = ends.iter().position(|end| *end <= x - 2.0 * RADIUS).unwrap_or(MOST_LEVELS - 1);
            if let Some(end) = ends.get_mut(level) {
                *end = *x;
            }
            level
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_that_would_touch_are_stacked() {
        assert_eq!(levels(&[0.0, 1.0, 20.0, 20.0, 20.0]), [0, 1, 0, 1, 2]);
    }
}
