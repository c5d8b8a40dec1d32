//! A file of a run, at a line. Only files that lie in the run directory itself can be named; links are not followed, and
//! neither is a run directory that is a link to somewhere else.

use std::io::{self, Read};
use std::path::PathBuf;

use assay_model::Stream;
use assay_store::{Record, RunRow, open_unlinked};

use super::{Query, ViewError, address, link, open, record_step, run, shell};
use crate::site::Site;

/// Lines before and after the one that is looked at.
const BEFORE: u64 = 100;
const AFTER: u64 = 400;
/// Bytes of a line that are shown; a log may have lines of many megabytes.
const MOST_OF_LINE: usize = 4096;

/// The names of the files of a run: regular files of its directory only, and the output that is in the journal instead.
pub fn files(record: &Record, row: &RunRow) -> Vec<String> {
    let directory = directory(record, row).ok();
    let entries = directory.and_then(|path| std::fs::read_dir(path).ok()).into_iter().flatten().flatten();
    let regular = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<String> = regular.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    for stream in [Stream::Stdout, Stream::Stderr] {
        names.extend(in_journal(record, row, stream.file()).map(|_| stream.file().to_owned()));
    }
    names
}

/// The directory of a run, if it really lies in its record.
fn directory(record: &Record, row: &RunRow) -> io::Result<PathBuf> {
    let real = record.run_directory(&row.directory).canonicalize()?;
    let is_inside = real == record.directory().canonicalize()?.join(&row.directory);
    is_inside.then_some(real).ok_or_else(|| io::Error::other("the run directory is a link"))
}

/// Output of a run that the journal has.
fn in_journal(record: &Record, row: &RunRow, file: &str) -> Option<String> {
    let output = record.index().ok()?.short_output(&row.run).ok()??;
    let text = match file {
        _ if file == Stream::Stdout.file() => output.stdout,
        _ if file == Stream::Stderr.file() => output.stderr,
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let (listed, record) = open(site, query)?;
    let row = run::find(&record, query)?;
    let wanted = query.get("file").unwrap_or("stdout.log");
    // The name is looked up among the files that are there; no path is made from what a request says.
    let file = files(&record, &row).into_iter().find(|file| file == wanted);
    let file = file.ok_or_else(|| ViewError::Missing(format!("The run has no file {wanted}.")))?;
    let line = query.number("line");
    let first = query.number("from").unwrap_or_else(|| line.unwrap_or(1).saturating_sub(BEFORE)).max(1);
    let window = match in_journal(&record, &row, &file) {
        Some(text) => window(text.as_bytes(), first, BEFORE + AFTER),
        None => directory(&record, &row)
            .and_then(|directory| open_unlinked(&directory.join(&file)))
            .and_then(|file| window(file, first, BEFORE + AFTER)),
    };
    let window = window.map_err(|error| ViewError::Unreadable(format!("{file} cannot be read: {error}")))?;
    let run = row.run.to_string();
    let to = |from: u64| {
        address("/log", &[("id", &listed.id), ("run", &run), ("file", &file), ("from", &from.to_string())])
    };
    let way = [record_step(&listed), (run.clone(), address("/run", &[("id", &listed.id), ("run", &run)]))];
    Ok(shell(&file, &way, |page| {
        page.element("form", &[("class", "filter"), ("action", "/log"), ("method", "get")], |page| {
            for (name, value) in [("id", listed.id.as_str()), ("run", &run), ("file", &file)] {
                page.empty("input", &[("type", "hidden"), ("name", name), ("value", value)]);
            }
            page.element("label", &[], |page| {
                page.text("Go to line");
                let shown = line.map(|line| line.to_string()).unwrap_or_default();
                page.empty(
                    "input",
                    &[("type", "number"), ("name", "line"), ("min", "1"), ("value", &*shown)],
                );
            });
            page.leaf("button", &[("class", "act"), ("type", "submit")], "Go");
        });
        page.element(
            "div",
            &[("class", "log"), ("tabindex", "0"), ("role", "group"), ("aria-label", "log")],
            |page| {
                for (number, text) in &window.lines {
                    let class = if line == Some(*number) { "row target" } else { "row" };
                    let id = format!("L{number}");
                    page.element("div", &[("class", class), ("id", &*id)], |page| {
                        link(page, &number.to_string(), &format!("#{id}"));
                        page.leaf("span", &[], text);
                    });
                    page.line();
                }
                if window.lines.is_empty() {
                    page.leaf("p", &[("class", "note")], "No such line.");
                }
            },
        );
        page.element("p", &[("class", "pages")], |page| {
            if first > 1 {
                link(page, "← earlier lines", &to(first.saturating_sub(BEFORE + AFTER).max(1)));
            }
            if window.more {
                link(page, "later lines →", &to(first + BEFORE + AFTER));
            }
        });
    }))
}

/// Some lines of a file.
struct Window {
    lines: Vec<(u64, String)>,
    /// Whether the file goes on.
    more: bool,
}

/// Reads lines without keeping more than is shown.
fn window(mut reader: impl Read, first: u64, count: u64) -> io::Result<Window> {
    let mut window = Window { lines: Vec::new(), more: false };
    let (mut number, mut line, mut length) = (1u64, Vec::new(), 0usize);
    let mut chunk = vec![0u8; 1 << 16];
    loop {
        let read = reader.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        for byte in chunk.iter().take(read) {
            if number >= first + count {
                window.more = true;
                return Ok(window);
            }
            match byte {
                b'\n' => {
                    if number >= first {
                        window.lines.push((number, shown(&line, length)));
                    }
                    number += 1;
                    line.clear();
                    length = 0;
                }
                byte if number >= first => {
                    length += 1;
                    if line.len() < MOST_OF_LINE {
                        line.push(*byte);
                    }
                }
                _ => {}
            }
        }
    }
    if length > 0 {
        window.lines.push((number, shown(&line, length)));
    }
    Ok(window)
}

fn shown(line: &[u8], length: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches('\r');
    match length.saturating_sub(line.len()) {
        0 => text.to_owned(),
        more => format!("{text} … and {more} more bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_cut_out_of_any_text() {
        let mut text: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
        text.push_str(&"x".repeat(10_000_000));
        let part = window(text.as_bytes(), 10, 5).unwrap();
        assert_eq!(part.lines.first().unwrap(), &(10, "line 10".to_owned()));
        assert_eq!((part.lines.len(), part.more), (5, true));
        let end = window(text.as_bytes(), 1001, 5).unwrap();
        assert!(end.lines[0].1.len() < 5000 && end.lines[0].1.ends_with("more bytes") && !end.more);
        assert!(window(text.as_bytes(), 5000, 5).unwrap().lines.is_empty());
    }
}
