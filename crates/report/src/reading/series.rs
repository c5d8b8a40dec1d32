//! Series: how many values, from where to where, and their course in one line.

use assay_model::{ReadRun, Series};

use crate::block::TerminalBlock;
use crate::number::Scale;
use crate::table::{Cell, Column, Table, Tone};
use crate::words::{clean, together};

/// Columns of a course.
const COURSE: usize = 16;

/// The series of a run as a table; none without series. In the short form only the first few are shown.
pub fn table(run: &ReadRun, most: usize) -> Option<TerminalBlock> {
    let mut table = Table {
        columns: vec![
            Column::left("series"),
            Column::right("values"),
            Column::right("first"),
            Column::right("last"),
            Column::right("least"),
            Column::right("most"),
            Column::left("course"),
        ],
        ..Table::default()
    };
    for series in run.series.iter().take(most) {
        let Some(ends) = ends(series) else { continue };
        let count = series.seen.max(series.values.len() as u64).to_string();
        let mut row = vec![Cell::new(clean(&ends.scale.titled(&series.metric))), Cell::new(count)];
        row.extend([ends.first, ends.last, ends.least, ends.most].map(Cell::new));
        row.push(Cell::toned(course(&series.values, COURSE), Tone::Faint));
        table.rows.push(row);
    }
    if table.rows.is_empty() {
        return None;
    }
    if let Some(more) = run.series.len().checked_sub(most).filter(|more| *more > 0) {
        table.notes.push(format!("… and {more} more series: `--full` shows them"));
    }
    Some(TerminalBlock::Table { indent: 2, table })
}

/// The first few series of a run in one line.
pub fn line(run: &ReadRun, most: usize) -> Option<TerminalBlock> {
    let pieces: Vec<Cell> = run
        .series
        .iter()
        .take(most)
        .filter_map(|series| {
            let ends = ends(series)?;
            let name = ends.scale.titled(&series.metric);
            let course = course(&series.values, COURSE);
            Some(Cell::new(together(&clean(&format!("{name} {} → {} {course}", ends.first, ends.last)))))
        })
        .collect();
    (!pieces.is_empty()).then(|| TerminalBlock::labelled(4, Cell::default(), pieces))
}

/// The ends of a series as texts in one scale.
pub(super) struct Ends {
    pub scale: Scale,
    pub first: String,
    pub last: String,
    pub least: String,
    pub most: String,
}

pub(super) fn ends(series: &Series) -> Option<Ends> {
    let finite = || series.values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
    let size = least.abs().max(most.abs());
    let scale = Scale::for_value(&series.unit, size);
    // Four digits, and more where the series moves in less than that.
    let decimals = scale.decimals(size, least, most).max(scale.decimals(size, size, size)).min(6);
    let show = |value: f64| {
        let size = (value / scale.divisor).abs();
        let extreme = size >= 1e9 || (size > 0.0 && size < 1e-3);
        if extreme || !value.is_finite() {
            format!("{:.2e}", value / scale.divisor)
        } else {
            // A loss that fell from 477 to 0.87 did not end at 1.
            let own = if value.abs() * 100.0 < size { scale.decimals(value, value, value).min(4) } else { 0 };
            scale.show(value, decimals.max(own))
        }
    };
    Some(Ends {
        first: show(*series.values.first()?),
        last: show(*series.values.last()?),
        least: show(least),
        most: show(most),
        scale,
    })
}

/// The course of values in blocks of eight heights, at most this many columns. A column that has no finite value is
/// left empty.
pub fn course(values: &[f64], width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = values.len().min(width);
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (Some(low), Some(high)) = (finite().reduce(f64::min), finite().reduce(f64::max)) else {
        return String::new();
    };
    // Halves, so that the range of the largest numbers is still a number.
    let range = high / 2.0 - low / 2.0;
    (0..columns)
        .map(|column| {
            let from = column * values.len() / columns;
            let to = (column + 1) * values.len() / columns;
            let inside = || values.iter().skip(from).take(to - from).filter(|value| value.is_finite());
            let count = inside().count();
            if count == 0 {
                return ' ';
            }
            let mean = inside().map(|value| value / count as f64).sum::<f64>();
            let height = if range > 0.0 { (mean / 2.0 - low / 2.0) / range } else { 0.0 };
            HEIGHTS.get((height * 7.0).round() as usize).copied().unwrap_or('█')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_goes_as_the_values_go() {
        assert_eq!(course(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 16), "▁▂▃▄▅▆▇█");
        assert_eq!(course(&[0.0, 0.0, 7.0, 7.0], 2), "▁█");
        assert_eq!(course(&[5.0, f64::NAN, 5.0], 8), "▁ ▁");
        assert_eq!(course(&[f64::MAX, f64::MIN], 8), "█▁");
        assert_eq!(course(&[], 8), "");
    }
}
