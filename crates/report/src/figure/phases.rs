//! The phases of several runs on one common time axis.

use assay_model::Unit;

use super::axis::Axis;
use super::{coordinate, palette, svg, text_width, write_line, write_text};
use crate::markup::Markup;
use crate::number::{percent, seconds};
use crate::timeline::{Lane, Timeline};
use crate::words::{clean, shorten, squeeze};

/// One run in the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineRow {
    /// Its name.
    pub label: String,
    /// Its phases.
    pub timeline: Timeline,
}

const WIDTH: f64 = 980.0;
/// Where bars begin and end.
const LEFT: f64 = 216.0;
const RIGHT: f64 = 968.0;
const BAR: f64 = 24.0;
/// From one run to the next: the bar, the labels below it, and air.
const PITCH: f64 = 54.0;
/// The least width at which a piece can be seen.
const LEAST: f64 = 3.0;

/// Draws the runs one below the other.
pub fn timelines(rows: &[TimelineRow]) -> Markup {
    let longest = rows.iter().map(|row| row.timeline.total_s).fold(0.0, f64::max);
    let mut markup = Markup::default();
    if longest <= 0.0 {
        return markup;
    }
    let axis = Axis::new((0.0, longest), (LEFT, RIGHT));
    let legend = Legend::of(rows);
    let top = legend.height + 8.0;
    let bottom = top + PITCH * rows.len() as f64;
    let title = format!("Where the time of {} went", crate::number::counted(rows.len() as u64, "run"));
    svg(&mut markup, "figure timeline", (WIDTH, bottom + 36.0), &title, |markup| {
        legend.draw(markup);
        draw_axis(markup, &axis, top, bottom);
        for (index, row) in rows.iter().enumerate() {
            draw_row(markup, row, &axis, top + PITCH * index as f64);
        }
    });
    markup
}

fn draw_axis(markup: &mut Markup, axis: &Axis, top: f64, bottom: f64) {
    let (scale, labels) = axis.labels(&Unit::Seconds, 8);
    for (tick, text) in labels {
        let x = axis.place(tick);
        write_line(markup, "grid", (x, top), (x, bottom));
        write_text(markup, "tick", (x, bottom + 15.0), "middle", &text);
    }
    write_line(markup, "base", (LEFT, bottom), (RIGHT, bottom));
    let caption = format!("{} after the run began", if scale.name == "s" { "seconds" } else { &scale.name });
    write_text(markup, "caption", (RIGHT, bottom + 31.0), "end", &caption);
}

fn draw_row(markup: &mut Markup, row: &TimelineRow, axis: &Axis, top: f64) {
    let timeline = &row.timeline;
    write_text(markup, "name", (LEFT - 12.0, top + 13.0), "end", &squeeze(&clean(&row.label), 28));
    let total = format!("{} s", seconds(timeline.total_s));
    let total = if timeline.clocked { total } else { format!("{total}, phases end to end") };
    write_text(markup, "minor", (LEFT - 12.0, top + 27.0), "end", &total);
    let width = axis.place(timeline.total_s) - LEFT;
    rectangle(markup, "track", (LEFT, width.max(LEAST)), top, None);
    let mut pieces = pieces(timeline, axis);
    // Short pieces are drawn last, so that nothing hides them.
    pieces.sort_by(|a, b| b.width.total_cmp(&a.width));
    for piece in &pieces {
        let open = if piece.seconds.is_none() { " open" } else { "" };
        let class = format!("{}{open}", palette::phase(&piece.lane.name));
        rectangle(markup, &class, (piece.x, piece.width), top, Some(&lane_title(piece.lane)));
    }
    let outside = write_inside(markup, &pieces, top);
    write_below(markup, &outside, top);
}

fn rectangle(markup: &mut Markup, class: &str, (x, width): (f64, f64), top: f64, title: Option<&str>) {
    let (x, y, width, height) = (coordinate(x), coordinate(top), coordinate(width), coordinate(BAR));
    let attributes = [("class", class), ("x", &*x), ("y", &*y), ("width", &*width), ("height", &*height)];
    match title {
        Some(title) => markup.element("rect", &attributes, |markup| markup.leaf("title", &[], title)),
        None => markup.empty("rect", &attributes),
    }
}

/// A stretch of a phase as it is drawn.
struct PhaseStretch<'a> {
    lane: &'a Lane,
    x: f64,
    width: f64,
    /// How long it lasted; none if it never ended.
    seconds: Option<f64>,
}

impl PhaseStretch<'_> {
    fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }

    /// Its phase with its seconds.
    fn text(&self) -> String {
        match self.seconds {
            Some(length) => clean(&format!("{} {} s", self.lane.name, short_seconds(length))),
            None => clean(&format!("{} (not ended)", self.lane.name)),
        }
    }
}

/// The stretches of all phases. Those of one phase that would touch become one, so that a thousand checkpoints take
/// no more room than can be seen.
fn pieces<'a>(timeline: &'a Timeline, axis: &Axis) -> Vec<PhaseStretch<'a>> {
    let mut pieces: Vec<PhaseStretch<'a>> = Vec::new();
    for lane in &timeline.lanes {
        let mut intervals = lane.intervals.clone();
        intervals.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        for interval in intervals {
            let start = axis.place(interval.start_s).min(RIGHT - LEAST);
            let end = axis.place(interval.end_s.unwrap_or(timeline.total_s)).max(start + LEAST);
            let length = interval.end_s.map(|end| end - interval.start_s);
            match pieces.last_mut() {
                Some(last) if std::ptr::eq(last.lane, lane) && start <= last.x + last.width => {
                    last.width = last.width.max(end - last.x);
                    last.seconds = last.seconds.zip(length).map(|(sum, length)| sum + length);
                }
                _ => pieces.push(PhaseStretch { lane, x: start, width: end - start, seconds: length }),
            }
        }
    }
    pieces
}

/// Names the pieces that have room for it; gives back the widest piece of each phase that has not.
fn write_inside<'p, 'a>(
    markup: &mut Markup,
    pieces: &'p [PhaseStretch<'a>],
    top: f64,
) -> Vec<&'p PhaseStretch<'a>> {
    let mut outside = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        // Pieces are sorted by width, so the first of a phase is its widest.
        if pieces.iter().take(index).any(|other| other.lane.name == piece.lane.name) {
            continue;
        }
        let fitting = [piece.text(), clean(&piece.lane.name)].into_iter().find(|text| {
            let half = text_width(text) / 2.0 + 5.0;
            let free = pieces.iter().skip(index + 1).all(|other| {
                other.x >= piece.middle() + half || other.x + other.width <= piece.middle() - half
            });
            2.0 * half <= piece.width && free
        });
        match fitting {
            Some(text) => {
                let light =
                    if palette::light_text(&piece.lane.name) { "inside light" } else { "inside dark" };
                let class = if piece.seconds.is_none() { "inside" } else { light };
                write_text(markup, class, (piece.middle(), top + 16.0), "middle", &text);
            }
            None => outside.push(piece),
        }
    }
    outside
}

/// Names pieces below the bar, the training first and then the longest, as far as the names do not touch.
fn write_below(markup: &mut Markup, pieces: &[&PhaseStretch<'_>], top: f64) {
    let mut ordered: Vec<&&PhaseStretch<'_>> = pieces.iter().collect();
    ordered.sort_by(|a, b| {
        let first = |piece: &PhaseStretch<'_>| piece.lane.name != "train";
        let length = |piece: &PhaseStretch<'_>| piece.seconds.unwrap_or(f64::INFINITY);
        first(a).cmp(&first(b)).then(length(b).total_cmp(&length(a)))
    });
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for piece in ordered {
        let text = piece.text();
        let width = text_width(&text);
        let start = (piece.middle() - width / 2.0).clamp(LEFT, (RIGHT - width).max(LEFT));
        if taken.iter().any(|(from, to)| start < to + 10.0 && start + width + 10.0 > *from) {
            continue;
        }
        taken.push((start, start + width));
        write_line(markup, "leader", (piece.middle(), top + BAR), (piece.middle(), top + BAR + 5.0));
        write_text(markup, "below", (start + width / 2.0, top + BAR + 15.0), "middle", &text);
    }
}

fn short_seconds(length: f64) -> String {
    if length >= 100.0 { format!("{length:.0}") } else { seconds(length) }
}

fn lane_title(lane: &Lane) -> String {
    let times = if lane.intervals.len() > 1 { format!(" ×{}", lane.intervals.len()) } else { String::new() };
    let length =
        lane.seconds.map_or_else(|| "not ended".to_owned(), |length| format!("{} s", seconds(length)));
    let share = lane.share.map(|share| format!(", {}", percent(share))).unwrap_or_default();
    format!("{}{times}: {length}{share}", lane.name)
}

/// The phases that occur, with their colors.
struct Legend {
    entries: Vec<(String, f64, f64)>,
    height: f64,
}

impl Legend {
    fn of(rows: &[TimelineRow]) -> Legend {
        let mut names: Vec<&str> = Vec::new();
        for lane in rows.iter().flat_map(|row| &row.timeline.lanes) {
            if !names.contains(&lane.name.as_str()) {
                names.push(&lane.name);
            }
        }
        let mut legend = Legend { entries: Vec::new(), height: 18.0 };
        let mut x = LEFT;
        for name in names {
            let text = shorten(&clean(name), 40);
            let width = 18.0 + text_width(&text) + 14.0;
            if x + width > RIGHT && x > LEFT {
                x = LEFT;
                legend.height += 18.0;
            }
            legend.entries.push((name.to_owned(), x, legend.height - 18.0));
            x += width;
        }
        legend
    }

    fn draw(&self, markup: &mut Markup) {
        for (name, x, y) in &self.entries {
            let (x_text, y_text) = (coordinate(*x), coordinate(y + 1.0));
            let class = palette::phase(name);
            let attributes =
                [("class", &*class), ("x", &*x_text), ("y", &*y_text), ("width", "12"), ("height", "12")];
            markup.empty("rect", &attributes);
            write_text(markup, "tick", (x + 18.0, y + 11.0), "start", &shorten(&clean(name), 40));
        }
    }
}
