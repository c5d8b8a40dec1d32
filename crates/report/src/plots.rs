//! Small plots for terminals: the same figures, drawn with letters.

use crate::figure::{CellDots, Forest, ratio_words};
use crate::number::{Scale, single};
use crate::words::{clean, squeeze};
use unicode_width::UnicodeWidthStr;

/// The most rows that a text plot has.
const MOST_ROWS: usize = 24;

/// How wide labels may be: names of cells that are cut may look alike, and a plot needs no more than half of the width.
fn label_room(width: usize) -> usize {
    width.saturating_sub(40).clamp(width / 3, 60)
}

/// Every repeat of every cell: one line a cell, a letter where runs lie, more of it where they lie together.
pub fn cells(figure: &CellDots, width: usize) -> Vec<String> {
    let rows: Vec<_> = figure.rows.iter().filter(|row| !row.values.is_empty()).take(MOST_ROWS).collect();
    let all = rows.iter().flat_map(|row| row.values.iter().copied()).filter(|value| value.is_finite());
    let (low, high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let most_label =
        rows.iter().map(|row| clean(&row.label).width()).max().unwrap_or(0).min(label_room(width)).max(6);
    let room = width.saturating_sub(most_label + 14);
    if !(low.is_finite() && high > low) || room < 20 {
        return Vec::new();
    }
    let from = if low >= 0.0 && low <= 0.6 * high { 0.0 } else { low };
    let place = |value: f64| (((value - from) / (high - from)) * (room - 1) as f64).round() as usize;
    let mut lines = Vec::new();
    for row in &rows {
        let mut strip = vec![0usize; room];
        for value in row.values.iter().filter(|value| value.is_finite()) {
            if let Some(count) = strip.get_mut(place(*value)) {
                *count += 1;
            }
        }
        let drawn: String = strip
            .iter()
            .map(|count| match count {
                0 => ' ',
                1 => '·',
                2..=3 => '•',
                _ => '●',
            })
            .collect();
        let label = squeeze(&clean(&row.label), most_label);
        let padding = " ".repeat(most_label.saturating_sub(label.width()));
        lines.push(format!("  {padding}{label} │{drawn}│ n = {}", row.values.len()));
    }
    let scale = Scale::for_value(&figure.unit, high);
    // As many digits as tell both ends of the axis apart.
    let decimals = scale.decimals(high, from, high).max(scale.decimals(high, high, high));
    let left = if from == 0.0 { "0".to_owned() } else { scale.show(from, decimals) };
    let right = format!("{} {}", scale.show(high, decimals), scale.name);
    let gap = room.saturating_sub(left.width() + right.trim_end().width());
    lines.push(format!("  {} {left}{}{}", " ".repeat(most_label + 1), " ".repeat(gap), right.trim_end()));
    if from > 0.0 {
        lines.push(format!(
            "  {} axis starts at {}, not at zero",
            " ".repeat(most_label),
            single(&figure.unit, from)
        ));
    }
    lines
}

/// Ratios with their intervals: one line each, `●` the ratio, `─` its interval, `┊` one.
pub fn ratios(figure: &Forest, width: usize) -> Vec<String> {
    let rows: Vec<_> =
        figure.rows.iter().filter(|row| row.ratio > 0.0 && row.ratio.is_finite()).take(MOST_ROWS).collect();
    let ends = |row: &crate::figure::Ratio| row.ends.unwrap_or((row.ratio, row.ratio));
    let low = rows.iter().map(|row| ends(row).0).fold(1.0 - 2.0 * figure.margin, f64::min).max(1e-9);
    let high = rows.iter().map(|row| ends(row).1).fold(1.0 + 2.0 * figure.margin, f64::max);
    let most_label =
        rows.iter().map(|row| clean(&row.label).width()).max().unwrap_or(0).min(width / 4).max(6);
    let most_words = rows.iter().map(|row| ratio_words(row).width()).max().unwrap_or(0);
    let room = width.saturating_sub(most_label + most_words + 6);
    if rows.is_empty() || room < 12 {
        return Vec::new();
    }
    let place = |ratio: f64| {
        let share = (ratio.max(low).ln() - low.ln()) / (high.ln() - low.ln());
        (share.clamp(0.0, 1.0) * (room - 1) as f64).round() as usize
    };
    let line = |row: &&crate::figure::Ratio| {
        let mut strip = vec![' '; room];
        let (from, to) = ends(row);
        for letter in strip.get_mut(place(from)..=place(to)).into_iter().flatten() {
            *letter = '─';
        }
        if let Some(letter) = strip.get_mut(place(1.0)) {
            *letter = '┊';
        }
        if let Some(letter) = strip.get_mut(place(row.ratio)) {
            *letter = '●';
        }
        let label = squeeze(&clean(&row.label), most_label);
        let padding = " ".repeat(most_label.saturating_sub(label.width()));
        format!("  {padding}{label} {}  {}", strip.into_iter().collect::<String>(), ratio_words(row))
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use assay_model::{Unit, Verdict};

    use super::*;
    use crate::figure::{CellRow, Ratio};

    #[test]
    fn text_plots_fit_and_say_how_many_runs_there_are() {
        let row = |label: &str, values: &[f64]| CellRow {
            label: label.into(),
            values: values.to_vec(),
            estimate: None,
        };
        let figure = CellDots {
            title: "rate".into(),
            unit: Unit::Seconds,
            rows: vec![row("a\u{1b}[31m", &[1.0, 1.0, 1.1, 1.2]), row("b", &[3.0, 3.1])],
        };
        let lines = cells(&figure, 80);
        assert!(lines.iter().all(|line| line.width() <= 80 && !line.contains('\u{1b}')), "{lines:#?}");
        assert!(
            lines[0].contains("n = 4") && lines[0].contains('•') && lines[2].contains("3.100 s"),
            "{lines:#?}"
        );
        assert!(cells(&figure, 30).is_empty());
    }

    #[test]
    fn ratios_show_their_interval_and_where_one_is() {
        let rows = vec![Ratio {
            label: "x".into(),
            ratio: 2.0,
            ends: Some((1.8, 2.2)),
            verdict: Verdict::Worse,
            samples: 6,
        }];
        let lines = ratios(&Forest { title: String::new(), base: String::new(), margin: 0.01, rows }, 80);
        assert!(
            lines[0].contains('┊') && lines[0].contains("─●─") && lines[0].contains("n = 6"),
            "{lines:#?}"
        );
    }
}
