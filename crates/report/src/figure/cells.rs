//! Every repeat as a dot over a box, one row a cell: what a bar with an error bar would hide.

use assay_model::Unit;

use super::axis::Axis;
use super::{coordinate, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::number::fact;
use crate::words::{clean, squeeze};

/// The repeats of several cells.
#[derive(Debug, Clone, PartialEq)]
pub struct CellDots {
    pub title: String,
    pub unit: Unit,
    pub rows: Vec<CellRow>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellRow {
    pub label: String,
    /// The values, in the order they were measured.
    pub values: Vec<f64>,
    /// Median and interval, where they are known.
    pub estimate: Option<(f64, f64, f64)>,
}

const WIDTH: f64 = 980.0;
const PITCH: f64 = 26.0;
const TOP: f64 = 28.0;
/// Cells beyond this are left out, and the figure says so.
pub const MOST_CELLS: usize = 40;

/// Draws the cells; empty without a value.
pub fn cell_dots(cells: &CellDots) -> Markup {
    let mut markup = Markup::default();
    let rows: Vec<&CellRow> =
        cells.rows.iter().filter(|row| row.values.iter().any(|value| value.is_finite())).collect();
    let (shown, more) = (rows.len().min(MOST_CELLS), rows.len().saturating_sub(MOST_CELLS));
    let rows = rows.get(..shown).unwrap_or_default();
    let values = rows.iter().flat_map(|row| row.values.iter().copied());
    let Some(range) = super::frame::range(values) else { return markup };
    let (range, at_zero) = super::frame::from_zero(range);
    let widest = rows.iter().map(|row| text_width(&squeeze(&clean(&row.label), 48))).fold(60.0, f64::max);
    let (left, right) = (widest + 18.0, WIDTH - 62.0);
    let axis = Axis::new(range, (left, right));
    let bottom = TOP + PITCH * rows.len() as f64 + 2.0;
    svg(&mut markup, "figure cells", (WIDTH, bottom + 36.0), &cells.title, |markup| {
        super::frame::draw_heading(markup, &cells.title, 90);
        let scale = super::frame::draw_bottom(markup, &axis, &cells.unit, (left, TOP, right, bottom));
        for (index, row) in rows.iter().enumerate() {
            draw_row(markup, row, &axis, &cells.unit, (left, right, TOP + PITCH * (index as f64 + 0.5)));
        }
        let mut caption = super::frame::axis_title("", &scale, at_zero).trim().to_owned();
        if more > 0 {
            caption = format!("{caption}; {more} more cells are in the table");
        }
        write_text(markup, "caption", (right, bottom + 30.0), "end", &caption);
        write_text(
            markup,
            "caption",
            (left, bottom + 30.0),
            "start",
            "dots: runs; box: quartiles; line: median",
        );
    });
    markup
}

fn draw_row(markup: &mut Markup, row: &CellRow, axis: &Axis, unit: &Unit, (left, right, y): (f64, f64, f64)) {
    let mut sorted: Vec<f64> = row.values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let label = squeeze(&clean(&row.label), 48);
    markup.element("g", &[], |markup| {
        markup.leaf("title", &[], &about(row, unit));
        write_text(markup, "tick", (left - 10.0, y + 4.0), "end", &label);
        if let (true, Some(low), Some(high)) =
            (sorted.len() >= 4, quartile(&sorted, 0.25), quartile(&sorted, 0.75))
        {
            let (from, to) = (axis.place(low), axis.place(high));
            let attributes = [
                ("class", "box"),
                ("x", &*coordinate(from)),
                ("y", &*coordinate(y - 7.0)),
                ("width", &*coordinate((to - from).max(1.0))),
                ("height", "14"),
            ];
            markup.empty("rect", &attributes);
        }
        if let Some(median) = quartile(&sorted, 0.5) {
            let x = axis.place(median);
            write_line(markup, "median", (x, y - 8.0), (x, y + 8.0));
        }
        for (index, value) in row.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            // Moved up and down in a fixed pattern, so that equal values stay visible and the bytes stay the same.
            let shift = [0.0, -3.0, 3.0, -1.5, 1.5].get(index % 5).copied().unwrap_or(0.0);
            let (x, y) = (coordinate(axis.place(*value)), coordinate(y + shift));
            markup.empty("circle", &[("class", "dot"), ("cx", &*x), ("cy", &*y), ("r", "2.6")]);
        }
        write_text(markup, "tick", (right + 8.0, y + 4.0), "start", &format!("n = {}", sorted.len()));
    });
}

fn about(row: &CellRow, unit: &Unit) -> String {
    let count = crate::number::counted(row.values.len() as u64, "run");
    match row.estimate {
        Some((center, low, high)) => format!(
            "{}: median {}, interval {} – {}, {count}",
            clean(&row.label),
            fact(unit, center),
            fact(unit, low),
            fact(unit, high)
        ),
        None => format!("{}: {count}", clean(&row.label)),
    }
}

/// A quantile of sorted values, between neighbors where it falls between them.
fn quartile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let low = *sorted.get(place.floor() as usize)?;
    let high = *sorted.get(place.ceil() as usize)?;
    Some(low + (high - low) * (place - place.floor()))
}
