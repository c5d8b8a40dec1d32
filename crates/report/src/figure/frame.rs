//! What figures share: a frame with both axes, ranges that start at zero or say so.

use assay_model::Unit;

use super::axis::Axis;
use super::{write_line, write_text};
use crate::markup::Markup;
use crate::number::Scale;
use crate::words::{clean, shorten, squeeze};

/// The smallest and the largest of the finite values.
pub fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range: Option<(f64, f64)>, value| {
        Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    })
}

/// A range as an axis shows it: from zero, unless the values lie so close together that nobody could see them apart.
pub fn from_zero((low, high): (f64, f64)) -> ((f64, f64), bool) {
    if low >= 0.0 && low <= 0.6 * high {
        ((0.0, high * 1.06), true)
    } else {
        let margin = (high - low) * 0.08;
        ((low - margin, high + margin), low <= 0.0 && high >= 0.0)
    }
}

/// What an axis says of itself: its name, its unit, and that it does not start at zero.
pub fn axis_title(name: &str, scale: &Scale, at_zero: bool) -> String {
    format!("{}{}", scale.titled(&clean(name)), start_note(at_zero))
}

/// The same within a width; a name that is too long is cut, what follows is not.
pub fn short_axis_title(name: &str, scale: &Scale, at_zero: bool, width: usize) -> String {
    let note = start_note(at_zero);
    let room = width.saturating_sub(scale.titled("").chars().count() + note.len());
    format!("{}{note}", scale.titled(&squeeze(&clean(name), room.max(8))))
}

fn start_note(at_zero: bool) -> &'static str {
    if at_zero { "" } else { " (does not start at zero)" }
}

/// An axis that runs to the right, below the figure.
pub fn draw_bottom(markup: &mut Markup, axis: &Axis, unit: &Unit, area: (f64, f64, f64, f64)) -> Scale {
    let (left, top, right, bottom) = area;
    let (scale, labels) = axis.labels(unit, 6);
    for (tick, text) in labels {
        let x = axis.place(tick);
        write_line(markup, "grid", (x, top), (x, bottom));
        write_text(markup, "tick", (x, bottom + 15.0), "middle", &text);
    }
    write_line(markup, "base", (left, bottom), (right, bottom));
    scale
}

/// An axis that runs up, left of the figure.
pub fn draw_left(markup: &mut Markup, axis: &Axis, unit: &Unit, area: (f64, f64, f64, f64)) -> Scale {
    let (left, _, right, _) = area;
    let (scale, labels) = axis.labels(unit, 5);
    for (tick, text) in labels {
        let y = axis.place(tick);
        write_line(markup, "grid", (left, y), (right, y));
        write_text(markup, "tick", (left - 7.0, y + 4.0), "end", &text);
    }
    scale
}

/// The heading of a figure.
pub fn draw_heading(markup: &mut Markup, text: &str, most: usize) {
    write_text(markup, "heading", (8.0, 15.0), "start", &shorten(&clean(text), most));
}
