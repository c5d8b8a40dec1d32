//! Which format a file is in.

use super::separated;
use crate::line::clean;

/// A format that has a reader of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Logs and text of any kind, read as it streams.
    Text,
    /// Result files, lines of JSON, notebooks.
    Json,
    Markdown,
    Html,
    Latex,
    Rst,
    Org,
    /// CSV and its relatives; whether the name of the file says so.
    Separated {
        named: bool,
    },
}

/// Bytes that decide between text and a table of separated values.
const ENOUGH: usize = 4096;

impl Format {
    /// The format that the name of a file promises.
    pub fn of_name(file: &str) -> Option<Format> {
        let lower = file.to_ascii_lowercase();
        let name = lower.strip_suffix(".gz").unwrap_or(&lower);
        let (_, extension) = name.rsplit('/').next()?.rsplit_once('.')?;
        Some(match extension {
            "md" | "markdown" | "mdx" | "qmd" | "rmd" => Format::Markdown,
            "html" | "htm" | "xhtml" => Format::Html,
            "tex" | "latex" | "ltx" => Format::Latex,
            "rst" | "rest" => Format::Rst,
            "org" => Format::Org,
            "csv" | "tsv" => Format::Separated { named: true },
            "ipynb" => Format::Json,
            _ => return None,
        })
    }

    /// The format by the first bytes of a file; none while they do not decide.
    pub fn of_start(start: &[u8]) -> Option<Format> {
        // A file may begin with any number of blank lines, and is asked for again with each piece.
        let head = start.get(..ENOUGH).unwrap_or(start);
        let trimmed = head.trim_ascii_start();
        if trimmed.is_empty() && start.len() >= ENOUGH {
            return Some(Format::Text);
        }
        if trimmed.starts_with(b"window.") && crate::results::assigned(trimmed).is_some() {
            return Some(Format::Json);
        }
        match trimmed.first()? {
            b'{' | b'[' => return Some(Format::Json),
            b'<' | b'\\' if trimmed.len() < 16 => return None,
            b'<' if begins(trimmed, b"<!doctype html") || begins(trimmed, b"<html") => {
                return Some(Format::Html);
            }
            b'\\' if begins(trimmed, b"\\documentclass") => return Some(Format::Latex),
            _ => {}
        }
        if start.len() >= ENOUGH { Format::of_whole(start) } else { None }
    }

    /// The format by all that there is, or enough of it.
    pub fn of_whole(start: &[u8]) -> Option<Format> {
        // The last line may be cut off.
        let end = memchr::memrchr(b'\n', start).map_or(start.len(), |end| end + 1);
        let head = start.get(..end.min(ENOUGH)).unwrap_or_default();
        let end = memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1);
        let text = clean(head.get(..end).unwrap_or_default());
        let is_table = !head.is_empty() && separated::separator(&text, false).is_some();
        Some(if is_table { Format::Separated { named: false } } else { Format::Text })
    }
}

fn begins(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_decide() {
        assert_eq!(Format::of_name("a/Report.MD"), Some(Format::Markdown));
        assert_eq!(Format::of_name("a.csv.gz"), Some(Format::Separated { named: true }));
        assert_eq!(Format::of_name("a.d/train"), None);
        assert_eq!(Format::of_start(b"  {\"a\": 1}"), Some(Format::Json));
        assert_eq!(Format::of_start(b"<!DOCTYPE html><html>"), Some(Format::Html));
        assert_eq!(Format::of_start(b"step 1"), None);
        assert_eq!(Format::of_start(&vec![b'\n'; ENOUGH]), Some(Format::Text));
        assert_eq!(Format::of_whole(b"step,loss\n1,2.5\n2,1.5\n"), Some(Format::Separated { named: false }));
        assert_eq!(Format::of_whole(b"step 1\nloss 2\n"), Some(Format::Text));
    }
}
