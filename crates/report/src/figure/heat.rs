//! One metric over two settings: a grid of numbers, darker where there is more.

use assay_model::Unit;

use super::{coordinate, svg, text_width, write_text};
use crate::markup::Markup;
use crate::number::{Scale, fact};
use crate::words::{clean, shorten, squeeze};

/// A grid of medians.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    pub title: String,
    pub unit: Unit,
    /// The setting whose values go down, and the one whose values go across.
    pub names: (String, String),
    pub down: Vec<String>,
    pub across: Vec<String>,
    /// Row by row: median and count; none where nothing was measured.
    pub cells: Vec<Option<(f64, usize)>>,
}

const CELL: (f64, f64) = (76.0, 34.0);
const TOP: f64 = 56.0;
/// Shades that stay apart in grayscale.
const SHADES: usize = 6;

/// Draws the grid; empty without a value.
pub fn heat(heat: &Heat) -> Markup {
    let mut markup = Markup::default();
    let values = || heat.cells.iter().flatten().map(|(value, _)| *value);
    let Some((low, high)) = super::frame::range(values()) else { return markup };
    let scale = Scale::for_column(&heat.unit, values());
    let widest = heat.down.iter().map(|text| text_width(&squeeze(&clean(text), 32))).fold(50.0, f64::max);
    let left = widest + 18.0;
    let size = (
        (left + CELL.0 * heat.across.len() as f64 + 12.0).max(360.0),
        TOP + CELL.1 * heat.down.len() as f64 + 26.0,
    );
    svg(&mut markup, "figure heat", size, &heat.title, |markup| {
        super::frame::draw_heading(markup, &scale.titled(&heat.title), 70);
        let axes = format!("{} ↓, {} →", clean(&heat.names.0), clean(&heat.names.1));
        write_text(markup, "caption", (8.0, 32.0), "start", &shorten(&axes, 60));
        for (column, text) in heat.across.iter().enumerate() {
            let x = left + CELL.0 * (column as f64 + 0.5);
            write_text(markup, "tick", (x, TOP - 6.0), "middle", &squeeze(&clean(text), 12));
        }
        for (row, text) in heat.down.iter().enumerate() {
            let y = TOP + CELL.1 * (row as f64 + 0.5);
            write_text(markup, "tick", (left - 8.0, y + 4.0), "end", &squeeze(&clean(text), 32));
        }
        for (index, cell) in heat.cells.iter().enumerate() {
            let Some((value, samples)) = cell else { continue };
            let (row, column) = (index / heat.across.len().max(1), index % heat.across.len().max(1));
            let share = if high > low { (value - low) / (high - low) } else { 0.5 };
            let shade = ((share * SHADES as f64) as usize).min(SHADES - 1);
            let corner = (left + CELL.0 * column as f64, TOP + CELL.1 * row as f64);
            draw_cell(markup, corner, shade, (&scale.shown(*value), *samples, &fact(&heat.unit, *value)));
        }
    });
    markup
}

fn draw_cell(
    markup: &mut Markup,
    (x, y): (f64, f64),
    shade: usize,
    (shown, samples, about): (&str, usize, &str),
) {
    let class = format!("heat-{shade}");
    let (x_text, y_text) = (coordinate(x + 1.0), coordinate(y + 1.0));
    let (width, height) = (coordinate(CELL.0 - 2.0), coordinate(CELL.1 - 2.0));
    let attributes =
        [("class", &*class), ("x", &*x_text), ("y", &*y_text), ("width", &*width), ("height", &*height)];
    markup.element("g", &[], |markup| {
        markup.leaf("title", &[], &format!("median {about}, n = {samples}"));
        markup.empty("rect", &attributes);
        let middle = x + CELL.0 / 2.0;
        let text = if shade >= 3 { "inside light" } else { "inside dark" };
        write_text(markup, text, (middle, y + 15.0), "middle", shown);
        write_text(markup, &format!("{text} small"), (middle, y + 27.0), "middle", &format!("n = {samples}"));
    });
}
