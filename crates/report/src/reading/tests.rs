//! What people see of a reading.

use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::block::{self, WIDTH};
use crate::sample::{FILE, document, edited_run, queued_run};
use crate::text::plain;

fn shown(documents: &[Document], full: bool) -> String {
    let options = LayoutOptions { full, ..LayoutOptions::default() };
    block::text(&summary(documents, &options), options.width, &plain)
}

fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.width() <= WIDTH, "{} columns: {line}", line.width());
    }
}

#[test]
fn the_short_form_tells_each_run_in_a_few_lines() {
    let text = shown(&[document()], false);
    fits(&text);
    assert_snapshot!("short", text);
}

#[test]
fn the_full_form_shows_everything() {
    let text = shown(&[document()], true);
    fits(&text);
    assert_snapshot!("full", text);
}

#[test]
fn twenty_runs_stay_readable() {
    let runs =
        (0..20).map(|index| edited_run(10 + index, 0.97 + index as f64 / 1000.0, 100 + 30 * index as u64));
    let document = Document { file: FILE.into(), lines: 900, runs: runs.collect(), ..Document::default() };
    let text = shown(&[document], false);
    fits(&text);
    assert!(text.lines().count() < 230, "{}", text.lines().count());
    // The one run whose ten epochs were asked for has no mark for them.
    assert!(text.contains("epochs=10≠11") && !text.contains("epochs=10≠10"));
}

#[test]
fn nothing_found_is_said() {
    let empty = Document { file: "empty.log".into(), lines: 1, ..Document::default() };
    assert_eq!(shown(&[empty], false), "empty.log · 1 line: nothing that looks like a run\n");
    assert_eq!(shown(&[], true), "");
}

#[test]
fn names_tell_runs_apart() {
    let document =
        Document { runs: vec![queued_run(512, 8), queued_run(2048, 90), queued_run(512, 300)], ..document() };
    let runs: Vec<_> = document.runs.iter().map(|run| (&document, run)).collect();
    assert_eq!(names(&runs), ["line 8 batch_size=512", "batch_size=2048", "line 300 batch_size=512"]);
    assert_eq!(names(&runs[..1]), ["cerebras"]);
}

#[test]
fn many_runs_are_told_in_lines() {
    let runs = (1..=8).map(|index| queued_run(256 * index, 10 + 60 * index as u64)).collect();
    let document = Document { file: FILE.into(), lines: 900, runs, ..Document::default() };
    let text = shown(&[document], false);
    fits(&text);
    assert_snapshot!("many", text.lines().take(26).collect::<Vec<_>>().join("\n"));
}
