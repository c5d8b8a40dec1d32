//! A number of a sentence is linked to the rows and the metric that the words around it name: a changed one is doubtful,
//! the true one is not.

use assay_audit::{Level, audit};
use assay_model::Document;

fn doubts(file: &str, text: &str) -> Vec<String> {
    let document = Document { file: file.to_owned(), text: text.to_owned(), ..Document::default() };
    let audit = audit(&[document]);
    let bad = audit.findings.into_iter().filter(|finding| finding.level <= Level::Doubtful);
    bad.map(|finding| finding.summary).collect()
}

#[track_caller]
fn changed(file: &str, text: &str, right: &str, wrong: &str) {
    assert_eq!(doubts(file, text), Vec::<String>::new(), "the true text");
    assert!(text.contains(right), "{right}");
    let found = doubts(file, &text.replacen(right, wrong, 1));
    let number = wrong.split(' ').next().unwrap_or_default();
    assert!(found.iter().any(|summary| summary.contains(number)), "{wrong}: {found:?}");
}

const THUMBNAILS: &str = include_str!("sound/thumbnails.md");
const VECTORS: &str = include_str!("sound/vectors.md");

#[test]
fn two_named_rows_and_a_named_metric() {
    changed("thumbnails.md", THUMBNAILS, "55 % less", "77 % less");
    changed("thumbnails.md", THUMBNAILS, "73 %", "45 %");
    changed("vectors.md", VECTORS, "5.3x as long", "7.4x as long");
}

#[test]
fn a_pair_of_values_in_the_clause_is_not_excused_by_other_pairs() {
    let text = "| batch | images/s | memory (GB) |\n|---|---|---|\n| 64 | 812 | 9.1 |\n| 128 | 1105 | 15.3 |\n\
                | 256 | 1288 | 27.4 |\n\nGoing from batch 64 to 256 raises the throughput by 58.6 %, from 812 to 1288 \
                images/s. With batch 128 we need 68 % more memory than with 64. At 256 the memory is 27.4 GB.\n";
    changed("batch.md", text, "58.6 %", "68.6 %");
}

#[test]
fn percentages_from_one_level_to_another_are_no_changes() {
    let text = "| GPUs | time (s) | efficiency |\n|---|---|---|\n| 1 | 31.2 | 100 % |\n| 2 | 16.4 | 95 % |\n\
                | 8 | 5.1 | 76 % |\n\nEfficiency falls from 95 % at two GPUs to 76 % at eight.\n";
    assert_eq!(doubts("levels.md", text), Vec::<String>::new());
}

#[test]
fn margins_of_an_interval_are_no_changes() {
    let text = "| batch | rate [samples/s] |\n|---|---|\n| 512 | 3011 |\n| 1024 | 3417 |\n\n\
                Batch 512: 6 runs of 40 iterations give ± 0.4 %; the larger batch gives +/- 0.3 %.\n";
    assert_eq!(doubts("margins.md", text), Vec::<String>::new());
}

#[test]
fn a_factor_below_one_is_the_smaller_over_the_larger() {
    let text = "| engine | rate [samples/s] | memory (GB) |\n|---|---|---|\n| torch | 6711 | 9.2 |\n| native | 4846 | 7.7 |\n\n\
                The native engine is 0.722 times as fast as torch at 4846 samples/s, and needs 7.7 GB.\n";
    changed("engines.md", text, "0.722", "0.522");
}
