//! Medians, ranges and tables.

/// The middle of some values, and their range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianAndRange {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl MedianAndRange {
    /// The spread of some values; none if there are none.
    pub fn of(values: &[f64]) -> Option<MedianAndRange> {
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(MedianAndRange { median: assay_stats::median(values)?, low, high })
    }

    /// The same in another unit.
    pub fn scaled(self, factor: f64) -> MedianAndRange {
        MedianAndRange { median: self.median * factor, low: self.low * factor, high: self.high * factor }
    }

    /// The range as text.
    pub fn range(&self) -> String {
        format!("{} … {}", number(self.low), number(self.high))
    }
}

/// A number with three significant digits, or all digits before the point.
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// Rows under a header, the first column to the left and the others to the right.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|&title| title.to_owned()).collect();
    let all = || std::iter::once(&header).chain(rows);
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in all() {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(
            MedianAndRange::of(&[4.0, 1.0, 3.0, 2.0]),
            Some(MedianAndRange { median: 2.5, low: 1.0, high: 4.0 })
        );
        assert_eq!(MedianAndRange::of(&[]), None);
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([0.0, 0.0123, 1.234, 45.67, 1234.5].map(number), ["0", "0.012", "1.23", "45.7", "1234"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["assay".to_owned(), "1".to_owned()], vec!["sh".to_owned(), "10".to_owned()]];
        assert_eq!(table(&["who", "ms"], &rows), "who    ms\nassay   1\nsh     10\n");
    }

    proptest! {
        #[test]
        fn the_median_lies_in_the_range(values in prop::collection::vec(-1e9..1e9_f64, 1..50)) {
            let spread = MedianAndRange::of(&values).unwrap();
            prop_assert!(spread.low <= spread.median && spread.median <= spread.high);
            let below = values.iter().filter(|&&value| value <= spread.median).count();
            prop_assert!(2 * below >= values.len());
        }
    }
}
