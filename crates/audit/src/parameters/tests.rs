use super::super::sample::{document, found};
use super::*;

const SHAPES: [[f64; 3]; 5] = [
    [768.0, 3072.0, 12.0],
    [1024.0, 4096.0, 24.0],
    [1280.0, 5120.0, 36.0],
    [1600.0, 6400.0, 48.0],
    [2560.0, 10240.0, 32.0],
];

/// A table of shapes with counts, each written as given.
fn table(counts: [(&str, f64); 5], names: [&str; 5]) -> Document {
    let rows: Vec<Vec<f64>> = SHAPES
        .iter()
        .zip(counts)
        .map(|([width, inner, layers], (_, count))| vec![0.0, *width, *inner, *layers, count])
        .collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let mut document = document("sizes.md", |build| {
        build.table("cpu", &["label", "d_model", "d_ff", "layers", "parameters"], &rows);
    });
    for ((row, (text, _)), name) in document.tables[0].rows.iter_mut().zip(counts).zip(names) {
        row.cells[4].text = text.to_owned();
        row.cells[0].text = name.to_owned();
        row.cells[0].value = None;
    }
    document
}

const COUNTS: [(&str, f64); 5] =
    [("120.9M", 120.9e6), ("412.9M", 412.9e6), ("956.6M", 956.6e6), ("1.98B", 1.98e9), ("3.38B", 3.38e9)];

#[test]
fn one_formula_with_one_vocabulary_gives_all_rows() {
    let findings = found(check, &[table(COUNTS, ["small", "medium", "large", "xl", "huge"])]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].standing, Standing::Supported);
    assert!(findings[0].summary.contains("3·d·d_ff") && findings[0].summary.contains("10000"));
}

#[test]
fn a_row_that_does_not_follow_is_named() {
    let mut counts = COUNTS;
    counts[2] = ("856.6M", 856.6e6);
    let findings = found(check, &[table(counts, ["small", "medium", "large", "xl", "huge"])]);
    assert_eq!(findings[0].standing, Standing::Contradicted);
    assert!(findings[0].summary.contains("large"), "{}", findings[0].summary);
}

#[test]
fn a_name_that_tells_another_size_is_noted() {
    let findings = found(check, &[table(COUNTS, ["small", "medium", "large", "xl", "2.7B"])]);
    assert!(findings.iter().any(|finding| finding.standing == Standing::Open));
    assert_eq!(size_in_name("Llama-7B"), Some(7e9));
    assert_eq!(size_in_name("125M"), Some(125e6));
    assert_eq!(size_in_name("bert_tiny"), None);
    assert_eq!(size_in_name("b"), None);
}

#[test]
fn biased_blocks_are_known_too() {
    // GPT-2: 12 layers of 768 with 50257 tokens and 1024 positions hold 124,439,808 parameters.
    let document = document("gpt.md", |build| {
        build.table(
            "cpu",
            &["d_model", "layers", "vocabulary", "parameters"],
            &[&[768.0, 12.0, 50257.0, 124_439_808.0]],
        );
    });
    let findings = found(check, &[document]);
    assert_eq!(findings[0].standing, Standing::Supported, "{findings:?}");
}
