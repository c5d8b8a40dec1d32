//! The state of a view to lines that fit the terminal.

use std::time::Duration;

use assay_campaign::Plan;
use assay_judge::estimate::estimate;
use assay_model::{Unit, names};
use assay_report::figure::{CellDots, CellRow};
use assay_report::number::{counted, duration, single};
use assay_report::words::{clean, shorten};
use assay_report::{Cell, Tone, plots};

use super::state::{ActiveRun, ViewState};
use crate::screen::progress::{cell_label, time_left};

/// Running runs that have a line.
const MOST_RUNNING: usize = 6;
/// Messages at the bottom.
const MOST_MESSAGES: usize = 4;
/// The widest curve of a running run.
const TRAIL: usize = 24;

type Line = Vec<Cell>;

/// The lines, no more than the terminal has and none wider.
pub fn lines(plan: &Plan, state: &ViewState, first: usize, now: Duration, size: (usize, usize)) -> Vec<Line> {
    let (width, height) = size;
    let mut lines = head(plan, state, now, width);
    lines.push(Line::new());
    lines.extend(running(state, now, width));
    lines.push(Line::new());
    let messages: Vec<Line> = state
        .messages
        .iter()
        .rev()
        .take(MOST_MESSAGES)
        .rev()
        .map(|text| vec![Cell::toned(shorten(&clean(text), width), tone(text))])
        .collect();
    let below = messages.len() + usize::from(!messages.is_empty()) + 1;
    let room = height.saturating_sub(lines.len() + below);
    lines.extend(cells(plan, state, first, width, room));
    while lines.len() + below < height {
        lines.push(Line::new());
    }
    if !messages.is_empty() {
        lines.push(Line::new());
    }
    lines.extend(messages);
    let keys = "q closes this view; the campaign continues · Ctrl-C stops it · ↑ ↓ scroll";
    lines.push(vec![Cell::toned(shorten(keys, width), Tone::Faint)]);
    lines.truncate(height);
    lines
}

fn tone(message: &str) -> Tone {
    match message.split_once(':').map(|(kind, _)| kind) {
        Some("failed") => Tone::Bad,
        Some("warning") => Tone::Doubt,
        Some("hint") => Tone::Faint,
        _ => Tone::Plain,
    }
}

fn head(plan: &Plan, state: &ViewState, now: Duration, width: usize) -> Vec<Line> {
    let title = if plan.question.is_empty() {
        plan.name.clone()
    } else {
        format!("{}: {}", plan.name, plan.question)
    };
    let bar = (width / 3).clamp(8, 48);
    let filled = match state.total {
        0 => 0,
        total => (bar * state.finished.min(total)) / total,
    };
    let mut words = format!(" {}/{} runs", state.finished, state.total);
    if state.failed > 0 {
        words.push_str(&format!(", {} failed", state.failed));
    }
    words.push_str(&format!(", {} so far", duration(now.as_secs_f64().floor())));
    if let Some(left) = time_left(state.finished, state.total, state.last_finished, now) {
        words.push_str(&format!(", {left}"));
    }
    let tone = if state.failed > 0 { Tone::Doubt } else { Tone::Plain };
    vec![
        vec![Cell::toned(shorten(&clean(&title), width), Tone::Strong)],
        vec![
            Cell::toned("█".repeat(filled), Tone::Good),
            Cell::toned("░".repeat(bar - filled), Tone::Faint),
            Cell::toned(shorten(&words, width.saturating_sub(bar)), tone),
        ],
    ]
}

fn running(state: &ViewState, now: Duration, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = state
        .running
        .values()
        .take(MOST_RUNNING)
        .map(|active| vec![Cell::new(run_line(active, now, width))])
        .collect();
    let more = state.running.len().saturating_sub(MOST_RUNNING);
    if more > 0 {
        lines.push(vec![Cell::toned(format!("  and {more} more running"), Tone::Faint)]);
    }
    if !state.latest.is_empty() {
        // Colors of the plain screen have no place in a line that is cut.
        let text = anstream::adapter::strip_str(&state.latest).to_string();
        lines.push(vec![Cell::toned(shorten(&clean(&format!("  last: {text}")), width), Tone::Faint)]);
    }
    lines
}

fn run_line(active: &ActiveRun, now: Duration, width: usize) -> String {
    let elapsed = match now.saturating_sub(active.began).as_secs_f64().floor() {
        // Whole seconds: fractions would change with every frame.
        0.0 => "0 s".to_owned(),
        seconds => duration(seconds),
    };
    let curve = if width >= 60 { curve(&active.trail) } else { String::new() };
    let gap = if curve.is_empty() { "" } else { "  " };
    let room = width.saturating_sub(curve.chars().count() + gap.len());
    let text = clean(&format!("▸ {}  {elapsed}  {}", active.label, active.live.line()));
    format!("{}{gap}{curve}", shorten(text.trim_end(), room))
}

/// The last values as a curve of eight heights.
fn curve(trail: &[f64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let shown = trail.get(trail.len().saturating_sub(TRAIL)..).unwrap_or_default();
    let (low, high) = shown
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    if shown.len() < 3 || !(low.is_finite() && high.is_finite()) {
        return String::new();
    }
    let height = |value: &f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        HEIGHTS.get((share * 7.99) as usize).copied().unwrap_or('▁')
    };
    shown.iter().map(height).collect()
}

/// Every finished run of the headline as a dot, a line a cell.
fn cells(plan: &Plan, state: &ViewState, first: usize, width: usize, room: usize) -> Vec<Line> {
    let declared =
        plan.metrics.iter().find(|metric| metric.name == plan.headline).map(|metric| metric.unit.clone());
    let unit = state.unit.clone().or(declared).unwrap_or_else(|| names::unit(&plan.headline));
    let heading = vec![Cell::toned(shorten(&clean(&plan.headline), width), Tone::Strong)];
    let seen: Vec<(usize, &Vec<f64>)> = state.values.iter().map(|(cell, values)| (*cell, values)).collect();
    // The axis takes two lines, the heading one.
    let rows = room.saturating_sub(3);
    let first = first.min(seen.len().saturating_sub(rows.max(1)));
    let shown = seen.get(first..(first + rows).min(seen.len())).unwrap_or_default();
    if shown.is_empty() {
        return vec![heading, vec![Cell::toned("no run has finished yet", Tone::Faint)]];
    }
    let row = |(cell, values): &(usize, &Vec<f64>)| CellRow {
        label: cell_label(plan, *cell),
        values: (*values).clone(),
        estimate: None,
    };
    let figure = CellDots { title: String::new(), unit: unit.clone(), rows: shown.iter().map(row).collect() };
    let beside = 22;
    let mut drawn = plots::cells(&figure, width.saturating_sub(beside)).into_iter();
    let mut lines = vec![heading];
    for (cell, values) in shown {
        let median = median(values, &unit);
        let failed = state.failures.get(cell).map(|count| format!(", {count} failed")).unwrap_or_default();
        let line = drawn.next().unwrap_or_else(|| {
            format!("  {}  {}", cell_label(plan, *cell), counted(values.len() as u64, "run"))
        });
        lines.push(vec![Cell::new(shorten(&format!("{line}  {median}{failed}"), width))]);
    }
    lines.extend(drawn.map(|line| vec![Cell::toned(shorten(&line, width), Tone::Faint)]));
    if seen.len() > shown.len() {
        let text = format!("  cells {} to {} of {}", first + 1, first + shown.len(), seen.len());
        lines.push(vec![Cell::toned(text, Tone::Faint)]);
    }
    lines.truncate(room);
    lines
}

fn median(values: &[f64], unit: &Unit) -> String {
    let found = estimate(values);
    found.map(|found| format!("median {}", single(unit, found.center))).unwrap_or_default()
}
