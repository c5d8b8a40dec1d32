//! The same document in another form has the same findings: as Markdown, LaTeX, HTML or a notebook, with its rows in
//! another order, in other units, under other names, with its paragraphs moved.

use assay_audit::{Level, audit};
use assay_model::Document;

/// Rows of the table: name, seconds, images per second.
const ROWS: [(&str, f64, f64); 4] =
    [("serial", 96.0, 12.5), ("threads", 30.0, 40.0), ("vector", 15.0, 80.0), ("both", 6.4, 187.5)];

/// Sentences with right and with wrong numbers about that table.
const PROSE: [&str; 5] = [
    "The both variant is 15 times faster than serial.",
    "The vector variant reaches 80.0 images/s.",
    "Going from threads to vector shortens the time by 50 %.",
    "The threads variant is 7.9 times faster than serial.",
    "The serial variant reaches 19.4 images/s.",
];

fn levels(file: &str, text: &str) -> Vec<(String, Level)> {
    let document = Document { file: file.to_owned(), text: text.to_owned(), ..Document::default() };
    let found = audit(&[document]).findings.into_iter().map(|finding| {
        let claim = finding.summary.split('`').nth(1).unwrap_or("table").to_owned();
        (claim, finding.level)
    });
    let mut found: Vec<(String, Level)> = found.collect();
    found.sort();
    found
}

fn markdown(rows: &[(&str, f64, f64)], prose: &[&str]) -> String {
    let rows: Vec<String> =
        rows.iter().map(|(name, time, rate)| format!("| {name} | {time:.1} | {rate:.1} |")).collect();
    format!(
        "# Report\n\n| variant | time (s) | images/s |\n|---|---|---|\n{}\n\n{}\n",
        rows.join("\n"),
        prose.join("\n\n")
    )
}

fn latex() -> String {
    let rows: Vec<String> =
        ROWS.iter().map(|(name, time, rate)| format!("{name} & {time:.1} & {rate:.1} \\\\")).collect();
    let prose = PROSE.join("\n\n").replace('%', "\\%");
    format!(
        "\\documentclass{{article}}\n\\begin{{document}}\n\\section{{Report}}\n\\begin{{tabular}}{{lrr}}\n\
         variant & time (s) & images/s \\\\\n\\hline\n{}\n\\end{{tabular}}\n\n{prose}\n\\end{{document}}\n",
        rows.join("\n")
    )
}

fn html() -> String {
    let cells = |(name, time, rate): &(&str, f64, f64)| {
        format!("<tr><td>{name}</td><td>{time:.1}</td><td>{rate:.1}</td></tr>")
    };
    let rows: Vec<String> = ROWS.iter().map(cells).collect();
    let prose: Vec<String> = PROSE.iter().map(|text| format!("<p>{text}</p>")).collect();
    format!(
        "<!DOCTYPE html>\n<html><body><h1>Report</h1>\n<table>\n<tr><th>variant</th><th>time (s)</th><th>images/s</th></tr>\n\
         {}\n</table>\n{}\n</body></html>\n",
        rows.join("\n"),
        prose.join("\n")
    )
}

fn notebook() -> String {
    let source: Vec<String> = markdown(&ROWS, &PROSE).lines().map(|line| format!("{line}\n")).collect();
    serde_json::json!({
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": source}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5
    })
    .to_string()
}

#[test]
fn the_findings_are_those_that_are_wrong() {
    let found = levels("a.md", &markdown(&ROWS, &PROSE));
    let bad: Vec<&str> = found
        .iter()
        .filter(|(_, level)| *level <= Level::Doubtful)
        .map(|(claim, _)| claim.as_str())
        .collect();
    assert_eq!(bad, ["19.4 images/s", "7.9 times"], "{found:?}");
    let good = found.iter().filter(|(_, level)| *level == Level::Supported).count();
    assert!(good >= 4, "{found:?}");
}

#[test]
fn formats_have_the_same_findings() {
    let plain = levels("a.md", &markdown(&ROWS, &PROSE));
    for (file, text) in [("a.tex", latex()), ("a.html", html()), ("a.ipynb", notebook())] {
        assert_eq!(levels(file, &text), plain, "{file}");
    }
}

#[test]
fn the_order_of_rows_and_paragraphs_does_not_matter() {
    let plain = levels("a.md", &markdown(&ROWS, &PROSE));
    let mut rows = ROWS;
    rows.reverse();
    assert_eq!(levels("a.md", &markdown(&rows, &PROSE)), plain);
    rows.swap(0, 2);
    assert_eq!(levels("a.md", &markdown(&rows, &PROSE)), plain);
    let mut prose = PROSE;
    prose.reverse();
    assert_eq!(levels("a.md", &markdown(&ROWS, &prose)), plain);
}

#[test]
fn units_do_not_matter() {
    let plain = levels("a.md", &markdown(&ROWS, &PROSE));
    let in_ms = ROWS.map(|(name, time, rate)| (name, time * 1000.0, rate));
    let text = markdown(&in_ms, &PROSE).replace("time (s)", "time (ms)");
    assert_eq!(levels("a.md", &text), plain);
}

#[test]
fn names_do_not_matter() {
    let plain = levels("a.md", &markdown(&ROWS, &PROSE));
    let names = [("serial", "alpha"), ("threads", "bravo"), ("vector", "charlie"), ("both", "delta")];
    let mut text = markdown(&ROWS, &PROSE);
    for (old, new) in names {
        text = text.replace(old, new);
    }
    assert_eq!(levels("a.md", &text), plain);
}
