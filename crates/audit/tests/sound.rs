//! Sound write-ups in many styles stay without a finding, and the same write-up in another format gives the same.

use assay_audit::{Audit, Level, audit};
use assay_model::Document;

fn read(file: &str, text: &str) -> Audit {
    audit(&[Document { file: file.to_owned(), text: text.to_owned(), ..Document::default() }])
}

fn wrong(audit: &Audit) -> Vec<&str> {
    let bad = |level: Level| matches!(level, Level::Contradicted | Level::Doubtful);
    audit
        .findings
        .iter()
        .filter(|finding| bad(finding.level))
        .map(|finding| finding.summary.as_str())
        .collect()
}

#[test]
fn sound_write_ups_have_no_finding() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sound");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let found = read(&name, &text);
        assert_eq!(wrong(&found), Vec::<&str>::new(), "{name}");
        files += 1;
    }
    assert!(files >= 10);
}

const ROWS: [[&str; 3]; 3] =
    [["eager", "171.0", "748.5"], ["compiled", "139.2", "919.5"], ["tuned", "134.8", "949.6"]];
const CLAIM: &str = "The compiled version needs 28.6 % less time per step than eager.";
const RIGHT: &str = "The compiled version needs 18.6 % less time per step than eager.";

fn markdown(claim: &str) -> String {
    let rows: Vec<String> = ROWS.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    format!("# Steps\n\n| mode | steady (ms/step) | img/s |\n|---|---|---|\n{}\n\n{claim}\n", rows.join("\n"))
}

fn formats(claim: &str) -> [(&'static str, String); 4] {
    let cells = |row: &[&str; 3]| row.map(|cell| format!("<td>{cell}</td>")).concat();
    let html: Vec<String> = ROWS.iter().map(|row| format!("<tr>{}</tr>", cells(row))).collect();
    let latex: Vec<String> = ROWS.iter().map(|row| format!("{} \\\\", row.join(" & "))).collect();
    let source = markdown(claim);
    let lines: Vec<String> = source.lines().map(|line| format!("{line}\n")).collect();
    let notebook = serde_json::json!({
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": lines}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    });
    [
        ("a.md", source),
        (
            "a.html",
            format!(
                "<html><body><h1>Steps</h1>\n<table>\n<tr><th>mode</th><th>steady (ms/step)</th><th>img/s</th></tr>\n{}\n</table>\n<p>{claim}</p></body></html>",
                html.join("\n")
            ),
        ),
        (
            "a.tex",
            format!(
                "\\section{{Steps}}\n\\begin{{tabular}}{{lrr}}\nmode & steady (ms/step) & img/s \\\\\n\\midrule\n{}\n\\end{{tabular}}\n\n{}\n",
                latex.join("\n"),
                claim.replace('%', "\\%")
            ),
        ),
        ("a.ipynb", notebook.to_string()),
    ]
}

#[test]
fn the_same_document_in_another_format_has_the_same_findings() {
    for (file, text) in formats(CLAIM) {
        let found = read(file, &text);
        let summaries = wrong(&found);
        assert_eq!(summaries.len(), 1, "{file}: {summaries:?}");
        assert!(summaries[0].contains("28.6 %") && summaries[0].contains("18.6"), "{file}: {summaries:?}");
    }
    for (file, text) in formats(RIGHT) {
        assert_eq!(wrong(&read(file, &text)), Vec::<&str>::new(), "{file}");
    }
}

#[test]
fn rows_in_another_order_and_other_units_change_nothing() {
    let swapped = markdown(CLAIM).replace(
        "| eager | 171.0 | 748.5 |\n| compiled | 139.2 | 919.5 |",
        "| compiled | 139.2 | 919.5 |\n| eager | 171.0 | 748.5 |",
    );
    let seconds = markdown(CLAIM)
        .replace("(ms/step)", "(s/step)")
        .replace("171.0", "0.1710")
        .replace("139.2", "0.1392")
        .replace("134.8", "0.1348");
    let renamed = markdown(CLAIM).replace("compiled", "fused").replace("eager", "plain");
    for text in [swapped, seconds, renamed] {
        assert_eq!(wrong(&read("a.md", &text)).len(), 1, "{text}");
    }
}

#[test]
fn bad_input_gives_fewer_claims_and_no_panic() {
    let texts = [
        ("a.ipynb", "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"5 % less"),
        ("a.tex", "\\begin{tabular}{l} a & 1e400 \\\\ b & \\end{table} 50 \\% less"),
        (
            "a.md",
            "| a | b |\n|---|\n| 1 | 2 | 3 |\n| x |\n\n1e400 times faster, -0 %, 0 % of 0, \u{202e}37 % less\u{202c}",
        ),
        ("a.csv", "a,b\n1\n,,,\n\"open,2\n"),
        ("a.html", "<table><tr><td>5<td>6<tr></table><p>5 times"),
    ];
    for (file, text) in texts {
        assert_eq!(wrong(&read(file, text)), Vec::<&str>::new(), "{file}");
    }
}

#[test]
fn a_large_table_names_the_forgotten_factor() {
    let mut text = "model,batch,output,latency_s,tokens_per_s\n".to_owned();
    for index in 0..4772_usize {
        let (batch, output) = ([1, 2, 4, 8, 16, 32, 64][index % 7], [128, 256, 512, 1024][index % 4]);
        let latency = 0.8 + (index * 7919 % 977) as f64 / 100.0;
        let rate = (batch * output) as f64 / latency;
        let rate = if index % 4 == 1 { rate / batch as f64 } else { rate };
        text.push_str(&format!("m{},{batch},{output},{latency:.3},{rate:.2}\n", index % 40));
    }
    let found = read("a.csv", &text);
    let summaries = wrong(&found);
    assert_eq!(summaries.len(), 1, "{summaries:?}");
    assert!(summaries[0].contains("off by batch"), "{summaries:?}");
}
