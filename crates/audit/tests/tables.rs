//! Tables as algebra: one changed cell is noticed through each kind of law, and tables that only look like one are not.

use assay_audit::{Level, audit};
use assay_model::Document;

fn wrong(text: &str) -> Vec<String> {
    let document = Document { file: "a.md".to_owned(), text: text.to_owned(), ..Document::default() };
    let bad = |level: Level| matches!(level, Level::Contradicted | Level::Doubtful);
    let found = audit(&[document]).findings.into_iter().filter(|finding| bad(finding.level));
    found.map(|finding| finding.summary).collect()
}

/// A right table has no finding, and with one cell changed it has one that names the right value.
fn noticed(text: &str, cell: &str, changed: &str, right: &str) {
    assert_eq!(wrong(text), Vec::<String>::new(), "{text}");
    let text = text.replacen(cell, changed, 1);
    let found = wrong(&text);
    assert!(found.iter().any(|summary| summary.contains(right)), "{text}: {found:?}");
}

#[test]
fn a_column_that_never_changes_is_the_constant_of_a_law() {
    let text = "| item | instances | USD per hour | hours | monthly USD |\n|---|---|---|---|---|\n\
                | web | 3 | 0.1920 | 730 | 420.48 |\n| batch | 12 | 0.4080 | 730 | 3574.08 |\n\
                | database | 2 | 1.0080 | 730 | 1471.68 |\n| cache | 2 | 0.2260 | 730 | 329.96 |\n";
    noticed(text, "3574.08", "3074.08", "3,574");
}

#[test]
fn running_sums_are_followed() {
    let text = "| stage | time (ms) | cumulative (ms) |\n|---|---|---|\n| load | 12.4 | 12.4 |\n\
                | embed | 7.7 | 20.1 |\n| attention | 31.2 | 51.3 |\n| mlp | 24.9 | 76.2 |\n| head | 5.0 | 81.2 |\n";
    noticed(text, "| 51.3", "| 59.8", "51.3");
}

#[test]
fn subtotals_and_totals_are_of_their_own_rows() {
    let text = "| group | item | TB |\n|---|---|---|\n| project | raw | 41.2 |\n| project | logs | 19.6 |\n\
                | project | subtotal | 60.8 |\n| home | students | 12.4 |\n| home | staff | 22.9 |\n\
                | home | subtotal | 35.3 |\n| | total | 96.1 |\n";
    assert_eq!(wrong(text), Vec::<String>::new());
}

#[test]
fn means_side_by_side_and_harmonic_means_are_recomputed() {
    let text = "| class | precision | recall | F1 |\n|---|---|---|---|\n| car | 0.878 | 0.853 | 0.865 |\n\
                | person | 0.867 | 0.516 | 0.647 |\n| bicycle | 0.832 | 0.702 | 0.761 |\n| bus | 0.857 | 0.637 | 0.731 |\n";
    noticed(text, "0.761", "0.861", "0.76");
    let text = "| model | MMLU | ARC | GSM8K | average |\n|---|---|---|---|---|\n| base | 44.1 | 51.3 | 38.2 | 44.53 |\n\
                | SFT | 47.9 | 53.6 | 42.8 | 48.10 |\n| DPO | 48.8 | 56.1 | 43.0 | 49.30 |\n| RL | 50.2 | 58.4 | 47.7 | 52.10 |\n";
    noticed(text, "48.10", "50.90", "48.1");
}

#[test]
fn a_wrong_reference_row_is_found_from_the_changes() {
    let text = "| format | tok/s | vs fp16 |\n|---|---|---|\n| fp16 | 31.2 | - |\n| int8 | 28.9 | -7.4 % |\n\
                | nf4 | 38.4 | +23.1 % |\n| gptq | 55.1 | +76.6 % |\n| awq | 57.8 | +85.3 % |\n";
    noticed(text, "| 31.2", "| 43.7", "31.2");
}

#[test]
fn a_speedup_may_be_over_the_best_of_the_others() {
    let text = "| transform | ours | one | two | three | speedup |\n|---|---|---|---|---|---|\n\
                | blur | 7657 | 386 | 5381 | 265 | 1.42x |\n| crop | 11985 | 2108 | 1076 | 1127 | 5.69x |\n\
                | flip | 6470 | 555 | 165 | 854 | 7.58x |\n| noise | 3210 | 1605 | 2140 | 912 | 1.50x |\n\
                | pad | 4800 | 1200 | 900 | 1600 | 3.00x |\n| rotate | 2912 | 1328 | 248 | 188 | 2.19x |\n";
    noticed(text, "5.69x", "9.10x", "5.68");
}

#[test]
fn perplexity_is_the_exponential_of_the_loss() {
    let text = "| step | val loss | perplexity |\n|---|---|---|\n| 250 | 3.412 | 30.33 |\n| 500 | 3.104 | 22.29 |\n\
                | 1000 | 2.871 | 17.65 |\n| 2000 | 2.702 | 14.91 |\n";
    noticed(text, "17.65", "24.71", "17.65");
}

#[test]
fn two_tables_with_the_same_rows_are_one() {
    let text = "| compiler | -O2 (s) | -O3 (s) |\n|---|---|---|\n| gcc | 128.4 | 96.3 |\n| clang | 117.9 | 84.1 |\n\
                | icx | 109.2 | 70.6 |\n| nvc | 133.0 | 101.7 |\n\nThe gain:\n\n| compiler | speedup |\n|---|---|\n\
                | gcc | 1.333 |\n| clang | 1.402 |\n| icx | 1.547 |\n| nvc | 1.308 |\n";
    noticed(text, "1.402", "1.822", "1.40");
}

#[test]
fn steps_between_equal_steps_are_noticed() {
    let text = "| step | tokens (M) | loss |\n|---|---|---|\n| 250 | 8.2 | 4.10 |\n| 500 | 16.4 | 3.71 |\n\
                | 750 | 24.6 | 3.52 |\n| 1000 | 32.8 | 3.39 |\n| 1250 | 41.0 | 3.30 |\n| 1500 | 49.2 | 3.22 |\n";
    noticed(text, "41.0", "57.3", "41");
}

#[test]
fn tables_that_only_look_like_a_law_have_no_finding() {
    let sound = [
        // Powers of two and one are nearly sums of themselves.
        "| model | batch | prefill | decode | tokens/s |\n|---|---|---|---|---|\n| a | 1 | 64 | 64 | 198.8 |\n\
         | a | 1 | 2048 | 2048 | 133.2 |\n| b | 1 | 64 | 64 | 156.3 |\n| b | 1 | 2048 | 2048 | 114.3 |\n\
         | b | 8 | 64 | 64 | 1185.2 |\n| b | 8 | 2048 | 2048 | 829.7 |\n",
        // What stands in brackets says of what a column is.
        "| test | Min | Max | Mean | Min (+) | Max (+) | Mean (+) |\n|---|---|---|---|---|---|---|\n\
         | file | 0.138 | 0.151 | 0.143 | 0.055 | 0.063 | 0.058 |\n| queue | 1.109 | 1.195 | 1.130 | 0.142 | 0.151 | 0.147 |\n\
         | memory | 0.126 | 0.144 | 0.133 | 0.051 | 0.059 | 0.054 |\n",
        // Headings inside a table have no numbers.
        "| | tokens/s | memory |\n|---|---|---|\n| **First model** | | |\n| plain | 209.2 | 2653 MB |\n| int8 | 323.3 | 1359 MB |\n\
         | **Second model** | | |\n| plain | 275.8 | 2012 MB |\n| int8 | 733.0 | 672 MB |\n",
        // A footnote says that a cell is something else.
        "| name | time (ns) | GB/s |\n|---|---|---|\n| 10k/one | 212.6 | 47.04 |\n| 10k/two | 3843 | 3.63* |\n\
         | 10k/three | 4808 | 2.08 |\n| 10k/four | 17979 | 0.556 |\n",
        // Predicted and measured things may be compared by their properties.
        "| crate | license | least version | what |\n|---|---|---|---|\n| one | MIT | 1.60 | number theoretical functions |\n\
         | two | MIT | 1.70 | estimates of the size |\n| three | MIT | 1.87 | plain |\n",
        // That the ends of intervals are in step with their spread in most rows is chance.
        "| streams | high | spread |\n|---|---|---|\n| 1 | 35.5071 | 2.0004 |\n| 2 | 51.4213 | 2.8970 |\n| 4 | 71.0142 | 4.0008 |\n\
         | 8 | 66.0041 | 2.8539 |\n| 16 | 88.7677 | 5.0010 |\n| 32 | 92.9810 | 3.4507 |\n| 64 | 124.2748 | 7.0014 |\n",
    ];
    for text in sound {
        assert_eq!(wrong(text), Vec::<String>::new(), "{text}");
    }
}

const ROWS: [[&str; 4]; 5] = [
    ["variant", "requests", "time (s)", "requests/s"],
    ["serial", "1200", "96.0", "12.5"],
    ["threads", "1200", "30.0", "40.0"],
    ["vector", "2400", "15.0", "160.0"],
    ["both", "4800", "6.4", "950.0"],
];

fn formats(rows: &[[&str; 4]]) -> Vec<(&'static str, String)> {
    let joined = |with: &str| -> Vec<String> { rows.iter().map(|row| row.join(with)).collect() };
    let mut markdown: Vec<String> = joined(" | ").iter().map(|row| format!("| {row} |")).collect();
    markdown.insert(1, "|---|---|---|---|".to_owned());
    let markdown = markdown.join("\n");
    let html: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let tag = if index == 0 { "th" } else { "td" };
            format!("<tr>{}</tr>", row.map(|cell| format!("<{tag}>{cell}</{tag}>")).concat())
        })
        .collect();
    let lines: Vec<String> = markdown.lines().map(|line| format!("{line}\n")).collect();
    let notebook = serde_json::json!({
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": lines}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    });
    let mut latex = joined(" & ");
    latex.insert(1, "\\midrule".to_owned());
    let latex = latex.join(" \\\\\n").replace("\\midrule \\\\", "\\midrule");
    let bar = format!("{:=<10} {:=<10} {:=<10} {:=<12}", "", "", "", "");
    let plain: Vec<String> = rows
        .iter()
        .map(|row| format!("{:<10} {:<10} {:<10} {:<12}", row[0], row[1], row[2], row[3]))
        .collect();
    let rst = format!("{bar}\n{}\n{bar}\n{}\n{bar}\n", plain[0], plain[1..].join("\n"));
    vec![
        ("a.md", markdown),
        ("a.html", format!("<html><body><table>\n{}\n</table></body></html>", html.join("\n"))),
        ("a.tex", format!("\\begin{{tabular}}{{lrrr}}\n{latex} \\\\\n\\end{{tabular}}\n")),
        ("a.csv", joined(",").join("\n")),
        ("a.rst", rst),
        ("a.ipynb", notebook.to_string()),
    ]
}

fn summaries(file: &str, text: &str) -> Vec<String> {
    let document = Document { file: file.to_owned(), text: text.to_owned(), ..Document::default() };
    let bad = |level: Level| matches!(level, Level::Contradicted | Level::Doubtful);
    let found = audit(&[document]).findings.into_iter().filter(|finding| bad(finding.level));
    found.map(|finding| finding.summary).collect()
}

#[test]
fn a_wrong_cell_is_the_same_finding_in_every_format_and_order() {
    let mut expected: Option<Vec<String>> = None;
    for (file, text) in formats(&ROWS) {
        let found = summaries(file, &text);
        assert!(found.len() == 1 && found[0].contains("950.0"), "{file}: {found:?}\n{text}");
        assert_eq!(&found, expected.get_or_insert(found.clone()), "{file}");
    }
    let mut rows = ROWS;
    rows[1..].reverse();
    for (file, text) in formats(&rows) {
        assert_eq!(Some(summaries(file, &text)), expected, "{file}");
    }
    let mut right = ROWS;
    right[4][3] = "750.0";
    for (file, text) in formats(&right) {
        assert_eq!(summaries(file, &text), Vec::<String>::new(), "{file}");
    }
}

#[test]
fn units_and_names_do_not_matter_to_a_wrong_cell() {
    let plain = formats(&ROWS).swap_remove(0).1;
    let minutes = plain
        .replace("time (s)", "time (ms)")
        .replace("| 96.0 |", "| 96000 |")
        .replace("| 30.0 |", "| 30000 |")
        .replace("| 15.0 |", "| 15000 |")
        .replace("| 6.4 |", "| 6400 |");
    assert_eq!(summaries("a.md", &minutes).len(), 1, "{minutes}");
    let renamed = plain.replace("serial", "alpha").replace("threads", "bravo").replace("both", "delta");
    assert_eq!(summaries("a.md", &renamed).len(), 1, "{renamed}");
}
