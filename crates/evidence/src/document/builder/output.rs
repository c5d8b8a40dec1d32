//! Whether lines are what a program printed.

use super::DocumentBuilder;
use crate::dialects::Taken;
use crate::engine::Engine;
use crate::writeup::aligned;

/// Fewer lines than this may be anything.
const LEAST_OUTPUT: usize = 3;

/// Lines that show whether a file is a log.
const LINES_OF_LOG: usize = 200;

impl DocumentBuilder {
    /// Whether a dialect takes lines that look like a table.
    pub(in crate::document) fn is_dialect(&mut self, lines: &[(u64, &str)]) -> bool {
        let scratch =
            self.scratch.get_or_insert_with(|| Box::new(Engine::new(&self.readers, vec![String::new()])));
        lines.iter().any(|(number, line)| scratch.line(0, *number, line.as_bytes()).taken == Taken::Whole)
    }

    /// Whether lines of a write-up are what a program printed, pasted without a fence: readers take most of them, and
    /// none is a sentence, a heading or an item of a list.
    pub(in crate::document) fn is_output(&mut self, lines: &[(u64, &str)]) -> bool {
        let written = lines.iter().filter(|(_, line)| !line.trim().is_empty());
        let most = |count: usize| count * 5 >= lines.len() * 3;
        if lines.len() < LEAST_OUTPUT
            || lines.iter().any(|(_, line)| aligned::is_written(line))
            || !most(written.filter(|(_, line)| line.bytes().any(|byte| byte.is_ascii_digit())).count())
        {
            return false;
        }
        let mut scratch = Engine::new(&self.readers, vec![String::new()]);
        let taken = lines.iter().filter(|(number, line)| {
            let seen = scratch.line(0, *number, line.as_bytes());
            seen.taken == Taken::Whole
                || seen.leaves_rest && scratch.unclaimed(0, *number, line.as_bytes()) == Taken::Whole
        });
        most(taken.count())
    }

    /// Whether a whole file is nothing but what a program printed; its start decides.
    pub(in crate::document) fn is_log(&mut self, text: &str) -> bool {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let lines: Vec<(u64, &str)> = lines.take(LINES_OF_LOG).collect();
        // Boxes that programs draw have rules of dashes alone; a table of Markdown has a row of them between its bars.
        let dashes = |line: &str| line.len() >= 12 && line.bytes().all(|byte| byte == b'-');
        let delimits = |line: &str| line.starts_with('|') && line.bytes().all(|byte| b"|-: ".contains(&byte));
        let boxed = lines.first().is_some_and(|(_, line)| dashes(line.trim_end()))
            && !lines.iter().any(|(_, line)| delimits(line));
        let marked = |line: &str| {
            let drawn = boxed && (dashes(line.trim_end()) || line.starts_with('|'));
            !drawn && line.starts_with(['#', '`', '|', '<', '-', '*', '>']) || line.contains("](")
        };
        !lines.iter().any(|(_, line)| marked(line)) && (boxed || self.is_output(&lines))
    }
}
