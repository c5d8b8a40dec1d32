use assay_model::Document;

use super::super::sample::{Build, document, found};
use super::*;
use crate::Level;

/// Five runs of one setting, two of which asked for another.
fn five_runs() -> Document {
    document("runs.md", |build: &mut Build| {
        let asked = [10, 4, 14, 10, 50];
        for (epochs, accuracy) in asked.into_iter().zip([0.9713, 0.9858, 0.9843, 0.9813, 0.9872]) {
            build
                .log("poptorch", "graphcore")
                .declared("epochs", epochs)
                .observed("epochs", 10)
                .metric(names::ACCURACY, accuracy);
        }
    })
}

fn tuning(accuracies: [f64; 3], says: &[&str]) -> Document {
    document("tuning.md", |build: &mut Build| {
        let rows: Vec<[f64; 2]> =
            [8.0, 16.0, 32.0].into_iter().zip(accuracies).map(|(a, b)| [a, b]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(|row| row.as_slice()).collect();
        build.heading("IPU").table("graphcore", &["batch_size", "accuracy"], &rows);
        for text in says {
            build.says(text, &[]);
        }
    })
}

#[test]
fn differences_inside_the_spread_of_repeats_are_noise() {
    let claimed = tuning([0.9805, 0.9761, 0.9859], &["Batch size 32 gives the best result."]);
    let findings = found(check, &[five_runs(), claimed]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].level, Level::Contradicted);
    assert!(findings[0].summary.contains("0.98 points"), "{}", findings[0].summary);
    assert_eq!(findings[0].sources[0].file, "tuning.md");
}

#[test]
fn a_doubt_of_the_author_counts() {
    let hedged = tuning(
        [0.9805, 0.9761, 0.9859],
        &["Batch size 32 gives the best result.", "More repeats are needed to be sure."],
    );
    assert_eq!(found(check, &[five_runs(), hedged])[0].level, Level::Doubtful);
    let silent = tuning([0.9805, 0.9761, 0.9859], &[]);
    assert_eq!(found(check, &[five_runs(), silent])[0].level, Level::NotChecked);
    let alike = tuning([0.9805, 0.9761, 0.9859], &["The accuracy is the same for all of them."]);
    assert_eq!(found(check, &[five_runs(), alike])[0].level, Level::Supported);
}

#[test]
fn larger_differences_are_not_noise() {
    let real = tuning([0.9805, 0.9261, 0.8859], &["Batch size 8 gives the best result."]);
    assert!(found(check, &[five_runs(), real]).is_empty());
}

#[test]
fn without_repeats_nothing_is_called_noise() {
    let alone = tuning([0.9805, 0.9761, 0.9859], &["Batch size 32 gives the best result."]);
    assert!(found(check, &[alone]).is_empty());
}

#[test]
fn ranking_repeats_of_one_setting_is_contradicted() {
    let mut runs = five_runs();
    let says = document("runs.md", |build: &mut Build| {
        build.says("Fewer epochs gave the highest accuracy.", &[]);
    });
    runs.statements = says.statements;
    let findings = found(check, &[runs]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].level, Level::Contradicted);
    assert!(findings[0].arithmetic.iter().any(|line| line.contains("declared epochs 4")));
}

#[test]
fn repeats_in_the_rows_or_columns_of_a_table_tell_their_own_spread() {
    let rows = |second: [f64; 3]| {
        document("table.md", |build: &mut Build| {
            let mut cells: Vec<[f64; 3]> = Vec::new();
            for (threads, times) in [(1.0, [5.0, 5.2, 5.1]), (2.0, second)] {
                for (run, time) in times.into_iter().enumerate() {
                    cells.push([threads, run as f64, time]);
                }
            }
            let cells: Vec<&[f64]> = cells.iter().map(|row| row.as_slice()).collect();
            build
                .table("local", &["threads", "run", "duration.reported"], &cells)
                .says("Two threads are faster.", &[]);
        })
    };
    assert_eq!(found(check, &[rows([5.0, 5.15, 5.05])])[0].level, Level::Contradicted);
    assert!(found(check, &[rows([2.6, 2.7, 2.5])]).is_empty());
}

/// Two rows with `±`, and a sentence about them.
fn with_margins(second: &str) -> Document {
    let value = 5.0 + if second.starts_with("5.05") { 0.05 } else { -2.0 };
    let mut document = document("margins.md", |build: &mut Build| {
        build
            .table("local", &["threads", "duration.reported"], &[&[1.0, 5.0], &[2.0, value]])
            .says("Two threads are slower than one.", &[]);
    });
    for (row, text) in ["5.0 ± 0.1", second].into_iter().enumerate() {
        document.tables[0].rows[row].cells[1].text = text.to_owned();
        document.runs[row].observations[0].written = Some(text.to_owned());
    }
    document
}

#[test]
fn intervals_beside_the_numbers_tell_the_spread() {
    assert_eq!(found(check, &[with_margins("5.05 ± 0.1")])[0].level, Level::Contradicted);
    assert!(found(check, &[with_margins("3.0 ± 0.1")]).is_empty());
}

#[test]
fn a_sentence_about_two_of_many_rows_is_held_against_these_two() {
    let document = document("pairs.md", |build: &mut Build| {
        let mut cells: Vec<[f64; 3]> = Vec::new();
        for (threads, times) in [(1.0, [9.0, 9.1, 9.2]), (2.0, [5.0, 5.2, 5.1]), (4.0, [5.1, 5.0, 5.15])] {
            cells.extend(times.into_iter().enumerate().map(|(run, time)| [threads, run as f64, time]));
        }
        let cells: Vec<&[f64]> = cells.iter().map(|row| row.as_slice()).collect();
        build
            .table("local", &["threads", "run", "duration.reported"], &cells)
            .says("Four threads beat two.", &[(4.0, "", Some("threads")), (2.0, "", Some("threads"))]);
    });
    let findings = found(check, &[document]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].level, Level::Contradicted);
}
