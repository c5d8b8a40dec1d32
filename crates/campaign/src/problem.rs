//! What is wrong with a user's file: where, why, and what to do about it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can start.
    Error,
    /// It can start, but is probably not what was meant.
    Warning,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, on which thing, and why.
    pub message: String,
    /// Where in the file, in bytes; none for what concerns the whole file.
    pub span: Option<Range<usize>>,
    /// A few words to put beside the place.
    pub label: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem that stops everything.
    pub fn error(message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Error, message: message.into(), span: None, label: None, hint: None }
    }

    /// A problem that stops nothing.
    pub fn warning(message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(message) }
    }

    /// Says where.
    pub fn at(mut self, span: Range<usize>) -> Problem {
        self.span = Some(span);
        self
    }

    /// Puts a few words beside the place.
    pub fn label(mut self, label: impl Into<String>) -> Problem {
        self.label = Some(label.into());
        self
    }

    /// Says what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Says what to do about it, where something is known.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Problem {
        self.hint = hint.or(self.hint);
        self
    }
}

/// All that is wrong with one file, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The file's name, as shown to the user; empty where there is no file to point at.
    pub file: String,
    /// The file's text.
    pub text: Arc<str>,
    /// The problems, sorted by position; those without a position come last.
    pub list: Vec<Problem>,
}

/// More problems than this are counted, not shown: the first ones usually cause the rest.
const SHOWN: usize = 50;

impl Problems {
    /// Sorts the problems and drops exact repetitions.
    pub fn new(file: impl Into<String>, text: impl Into<Arc<str>>, mut list: Vec<Problem>) -> Problems {
        let file = file.into();
        if file.is_empty() {
            list.iter_mut().for_each(|problem| problem.span = None);
        }
        list.sort_by_key(|problem| {
            let place = problem.span.as_ref().map_or((usize::MAX, usize::MAX), |span| (span.start, span.end));
            (place, problem.severity)
        });
        list.dedup();
        Problems { file, text: text.into(), list }
    }

    /// Whether any problem stops everything.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many problems have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.list.iter().filter(|problem| problem.severity == severity).count()
    }

    /// Line and column of a problem, both from 1; the column counts characters.
    pub fn position(&self, problem: &Problem) -> Option<(usize, usize)> {
        let start = problem.span.as_ref()?.start;
        let line = self.line_at(start);
        let before = self.text.get(line.start..start.clamp(line.start, line.end)).unwrap_or_default();
        Some((line.number, before.chars().count() + 1))
    }

    /// The problems as text for people, with the lines they are about.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(120);
        let mut shown: Vec<String> =
            self.list.iter().take(SHOWN).map(|problem| self.render_one(problem, &renderer, color)).collect();
        if self.list.len() > SHOWN {
            let place = if self.file.is_empty() { String::new() } else { format!(" in {}", self.file) };
            shown.push(format!("… and {} more problems{place}", self.list.len() - SHOWN));
        }
        shown.join("\n\n")
    }

    fn render_one(&self, problem: &Problem, renderer: &Renderer, color: bool) -> String {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(problem.message.as_str());
        let mut text = match &problem.span {
            Some(span) => {
                // Only the line in question is handed over: a file of a hundred thousand points is not scanned again
                // for each problem, and a span over many lines is shown by its first.
                let line = self.line_at(span.start);
                let source = self.text.get(line.start..line.end).unwrap_or_default();
                let start = span.start.clamp(line.start, line.end) - line.start;
                let end = span.end.clamp(line.start + start, line.end) - line.start;
                let mark = AnnotationKind::Primary.span(start..end).label(problem.label.as_deref());
                let snippet =
                    Snippet::source(source).path(self.file.as_str()).line_start(line.number).annotation(mark);
                renderer.render(&[title.element(snippet)])
            }
            None if self.file.is_empty() => renderer.render(&[annotate_snippets::Group::with_title(title)]),
            None => {
                let origin = annotate_snippets::Origin::path(self.file.as_str());
                renderer.render(&[title.element(origin)])
            }
        };
        if let Some(hint) = &problem.hint {
            let (start, end) = if color { ("\u{1b}[1m\u{1b}[36m", "\u{1b}[0m") } else { ("", "") };
            text.push_str(&format!("\n{start}hint{end}: {hint}"));
        }
        text
    }

    /// The line that holds a byte position.
    fn line_at(&self, position: usize) -> SourceLine {
        let bytes = self.text.as_bytes();
        let position = position.min(bytes.len());
        let before = bytes.get(..position).unwrap_or_default();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
        let rest = bytes.get(position..).unwrap_or_default();
        let end = position + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let number = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        // A carriage return before the line feed is not part of the line.
        let end = if end > start && bytes.get(end - 1) == Some(&b'\r') { end - 1 } else { end };
        SourceLine { start, end, number }
    }
}

/// One line of a text: its bytes and its number from 1.
struct SourceLine {
    start: usize,
    end: usize,
    number: usize,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Problems {}

/// A problem as scripts see it.
#[derive(serde::Serialize)]
struct PlainProblem<'a> {
    severity: Severity,
    message: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    label: Option<&'a str>,
    hint: Option<&'a str>,
}

impl Serialize for Problems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let problems: Vec<PlainProblem<'_>> = self
            .list
            .iter()
            .map(|problem| {
                let position = self.position(problem);
                PlainProblem {
                    severity: problem.severity,
                    message: &problem.message,
                    line: position.map(|(line, _)| line),
                    column: position.map(|(_, column)| column),
                    label: problem.label.as_deref(),
                    hint: problem.hint.as_deref(),
                }
            })
            .collect();
        let mut plain = serializer.serialize_struct("Problems", 2)?;
        plain.serialize_field("file", &self.file)?;
        plain.serialize_field("problems", &problems)?;
        plain.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "a = 1\r\ngröße = 2\n";
        let at = text.find('2').unwrap();
        let problems = Problems::new("f.toml", text, vec![Problem::error("x").at(at..at + 1)]);
        assert_eq!(problems.position(&problems.list[0]), Some((2, 9)));
        let json = serde_json::to_value(&problems).unwrap();
        assert_eq!(json["problems"][0]["column"], 9);
        assert!(problems.render(false).contains("f.toml:2:9"), "{}", problems.render(false));
    }

    #[test]
    fn problems_are_sorted_and_capped() {
        let list = (0..60).rev().map(|n| Problem::error(format!("p{n}")).at(n..n + 1)).collect();
        let problems = Problems::new("f.toml", "x".repeat(100), list);
        assert_eq!(problems.list[0].message, "p0");
        assert!(problems.render(false).ends_with("… and 10 more problems in f.toml"));
    }

    #[test]
    fn odd_positions_render_without_panicking() {
        for (text, span) in [("", 0..0), ("a", 5..9), ("a\n", 2..2), ("ä", 0..2), ("a\nb\nc", 0..5)] {
            let problems = Problems::new("f", text, vec![Problem::error("x").at(span).hint("y")]);
            assert!(problems.render(true).contains("hint"));
        }
    }
}
