//! Ratios with their intervals, one below the other, and the band in which a difference counts as none.

use assay_model::Verdict;

use super::axis::Axis;
use super::{coordinate, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::words::{clean, squeeze};

/// Ratios against one base.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    pub title: String,
    /// What ratios are taken against.
    pub base: String,
    /// Differences smaller than this share count as none.
    pub margin: f64,
    pub rows: Vec<Ratio>,
}

/// One ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    pub label: String,
    pub ratio: f64,
    /// The interval, where there is one.
    pub ends: Option<(f64, f64)>,
    pub verdict: Verdict,
    /// How many values it rests on.
    pub samples: usize,
}

const WIDTH: f64 = 980.0;
const PITCH: f64 = 22.0;
const TOP: f64 = 28.0;
/// The least room for the numbers to the right.
const NUMBERS: f64 = 190.0;

/// Draws the ratios; empty without one.
pub fn forest(forest: &Forest) -> Markup {
    let mut markup = Markup::default();
    let finite: Vec<&Ratio> =
        forest.rows.iter().filter(|row| row.ratio.is_finite() && row.ratio > 0.0).collect();
    let ends = finite.iter().flat_map(|row| {
        let (low, high) = row.ends.unwrap_or((row.ratio, row.ratio));
        [low, high, row.ratio]
    });
    let Some((low, high)) = super::frame::range(ends.filter(|end| *end > 0.0)) else { return markup };
    let (low, high) = (low.min(1.0 - 2.0 * forest.margin), high.max(1.0 + 2.0 * forest.margin));
    let widest = finite.iter().map(|row| text_width(&squeeze(&clean(&row.label), 48))).fold(60.0, f64::max);
    let beside = finite.iter().map(|row| text_width(&numbers(row))).fold(NUMBERS - 18.0, f64::max);
    let (left, right) = (widest + 18.0, WIDTH - beside - 18.0);
    // Ratios of a half and of two are equally far from one, so the axis is logarithmic.
    let axis = Axis::new((low.ln(), high.ln()), (left, right)).padded(0.06);
    let bottom = TOP + PITCH * finite.len() as f64 + 4.0;
    svg(&mut markup, "figure forest", (WIDTH, bottom + 36.0), &forest.title, |markup| {
        super::frame::draw_heading(markup, &forest.title, 90);
        let band = ((1.0 - forest.margin).ln(), (1.0 + forest.margin).ln());
        draw_band(markup, (axis.place(band.0), axis.place(band.1)), (TOP, bottom));
        for tick in ticks(low, high) {
            let x = axis.place(tick.ln());
            write_line(markup, "grid", (x, TOP), (x, bottom));
            write_text(markup, "tick", (x, bottom + 15.0), "middle", &round(tick));
        }
        let one = axis.place(0.0);
        write_line(markup, "base", (one, TOP), (one, bottom));
        for (index, row) in finite.iter().enumerate() {
            draw_row(markup, row, &axis, (left, right, TOP + PITCH * (index as f64 + 0.5)));
        }
        let caption = format!(
            "ratio to {} (log scale); band: equal within {} %",
            squeeze(&clean(&forest.base), 40),
            forest.margin * 100.0
        );
        write_text(markup, "caption", (left, bottom + 30.0), "start", &caption);
    });
    markup
}

fn draw_band(markup: &mut Markup, (from, to): (f64, f64), (top, bottom): (f64, f64)) {
    let attributes = [
        ("class", "margin"),
        ("x", &*coordinate(from)),
        ("y", &*coordinate(top)),
        ("width", &*coordinate((to - from).max(1.5))),
        ("height", &*coordinate(bottom - top)),
    ];
    markup.empty("rect", &attributes);
}

fn draw_row(markup: &mut Markup, row: &Ratio, axis: &Axis, (left, right, y): (f64, f64, f64)) {
    let class = match row.verdict {
        Verdict::Better => "ratio better",
        Verdict::Worse => "ratio worse",
        Verdict::Same | Verdict::Unclear => "ratio open",
    };
    let numbers = numbers(row);
    markup.element("g", &[("class", class)], |markup| {
        markup.leaf("title", &[], &format!("{}: {numbers}", clean(&row.label)));
        write_text(markup, "tick", (left - 10.0, y + 4.0), "end", &squeeze(&clean(&row.label), 48));
        if let Some((low, high)) = row.ends {
            let place = |end: f64| axis.place(end.max(f64::MIN_POSITIVE).ln());
            write_line(markup, "interval", (place(low), y), (place(high), y));
        }
        let (x, y_text) = (coordinate(axis.place(row.ratio.ln())), coordinate(y));
        markup.empty("circle", &[("class", "center"), ("cx", &*x), ("cy", &*y_text), ("r", "4")]);
        write_text(markup, "tick", (right + 10.0, y + 4.0), "start", &numbers);
    });
}

/// The numbers of a row as words; a figure never hides how many values it rests on.
pub fn numbers(row: &Ratio) -> String {
    let word = match row.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "=",
        Verdict::Unclear if row.ends.is_none() => "?",
        Verdict::Unclear => "~",
    };
    let ends =
        row.ends.map_or_else(String::new, |(low, high)| format!(" ({} – {})", shown(low), shown(high)));
    format!("{}×{ends} {word}, n = {}", shown(row.ratio), row.samples)
}

/// Three digits that count: of a ratio of 0.09, two decimals would leave one.
fn shown(ratio: f64) -> String {
    match ratio {
        100.0.. => format!("{ratio:.0}"),
        10.0.. => format!("{ratio:.1}"),
        1.0.. => format!("{ratio:.2}"),
        0.1.. => format!("{ratio:.3}"),
        0.01.. => format!("{ratio:.4}"),
        _ => format!("{ratio:.2e}"),
    }
}

/// A tick without zeros behind its last digit.
fn round(tick: f64) -> String {
    ((tick * 1e6).round() / 1e6).to_string()
}

/// Ratios that people like, as many as there is room for.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let wide: Vec<f64> = (-6..=6)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)))
        .filter(|tick| (low..=high).contains(tick))
        .collect();
    if wide.len() >= 3 {
        let step = wide.len().div_ceil(7);
        return wide.into_iter().step_by(step).collect();
    }
    Axis::new((low, high), (0.0, 1.0)).ticks(5)
}
