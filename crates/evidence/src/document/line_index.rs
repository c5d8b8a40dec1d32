//! Which line a place in a text stands on.

/// Where each line of a text begins, and its number in the file.
#[derive(Debug, Clone)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
    numbers: LineNumbers,
}

#[derive(Debug, Clone)]
enum LineNumbers {
    /// Lines follow one another from this one.
    From(u64),
    /// A number for each line, as in the cells of a notebook.
    Each(Vec<u64>),
}

impl LineIndex {
    /// The lines of a text whose first line has this number.
    pub fn from(text: &str, first: u64) -> LineIndex {
        LineIndex { starts: starts(text), numbers: LineNumbers::From(first) }
    }

    /// The lines of a text with a number for each of them.
    pub fn with_numbers(text: &str, numbers: Vec<u64>) -> LineIndex {
        LineIndex { starts: starts(text), numbers: LineNumbers::Each(numbers) }
    }

    /// The number of the line that a byte stands on.
    pub fn at(&self, offset: usize) -> u64 {
        let index = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        match &self.numbers {
            LineNumbers::From(first) => first + index as u64,
            LineNumbers::Each(numbers) => numbers.get(index).or(numbers.last()).copied().unwrap_or(1),
        }
    }
}

fn starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1)).collect()
}

/// The lines of a part of a text, with where each begins.
pub(crate) fn lines_of(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    text.split_inclusive('\n').map(move |line| {
        let begin = at;
        at += line.len();
        (begin, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_lines() {
        let index = LineIndex::from("ab\n\nc", 5);
        assert_eq!([0, 2, 3, 4, 99].map(|at| index.at(at)), [5, 5, 6, 7, 7]);
        let index = LineIndex::with_numbers("ab\nc", vec![9, 12]);
        assert_eq!([0, 3, 4].map(|at| index.at(at)), [9, 12, 12]);
        assert_eq!(lines_of("a\r\nb", 10).collect::<Vec<_>>(), [(10, "a"), (13, "b")]);
    }
}
