//! Figures as SVG, made to stand in an HTML page that has [`STYLE`]. No scripts, no fonts of others, and the same
//! input gives the same bytes.

mod axis;
mod bars;
mod cells;
mod course;
mod dots;
mod forest;
mod frame;
mod heat;
mod palette;
mod phases;
mod points;
mod roofline;
mod standalone;
mod thin;
mod trace;

use crate::markup::Markup;

pub use bars::{Bar, BarGroup, Bars, bars};
pub use cells::{CellDots, CellRow, cell_dots};
pub use course::{Plot, PlotLine, plot};
pub use dots::{Dots, dots};
pub use forest::{Forest, Ratio, forest, numbers as ratio_words};
pub use heat::{Heat, heat};
pub use phases::{TimelineRow, timelines};
pub use points::{ComputedCurve, Point, PointLine, Points, points};
pub use roofline::{Roofline, RooflinePoint, roofline};
pub use standalone::alone;
pub use thin::thin;
pub use trace::{Trace, trace};

/// The style sheet of figures, for light and dark pages.
pub const STYLE: &str = include_str!("figure/figure.css");

/// Writes an `<svg>` with an accessible title.
fn svg(markup: &mut Markup, class: &str, size: (f64, f64), title: &str, inside: impl FnOnce(&mut Markup)) {
    let view = format!("0 0 {} {}", coordinate(size.0), coordinate(size.1));
    let width = coordinate(size.0);
    let attributes =
        [("class", class), ("viewBox", &*view), ("width", &*width), ("role", "img"), ("aria-label", title)];
    markup.element("svg", &attributes, |markup| {
        markup.leaf("title", &[], title);
        inside(markup);
    });
    markup.line();
}

/// A coordinate with as many digits as a screen can show.
fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// About how wide a text of figure size is. Fonts differ, so this is on the safe side.
fn text_width(text: &str) -> f64 {
    use unicode_width::UnicodeWidthStr;
    text.width() as f64 * 6.4
}

/// Writes a text at a place.
fn write_text(markup: &mut Markup, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
    let attributes =
        [("class", class), ("x", &*coordinate(x)), ("y", &*coordinate(y)), ("text-anchor", anchor)];
    markup.leaf("text", &attributes, text);
}

/// Writes a straight line.
fn write_line(markup: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    markup.empty(
        "line",
        &[
            ("class", class),
            ("x1", &*coordinate(from.0)),
            ("y1", &*coordinate(from.1)),
            ("x2", &*coordinate(to.0)),
            ("y2", &*coordinate(to.1)),
        ],
    );
}
