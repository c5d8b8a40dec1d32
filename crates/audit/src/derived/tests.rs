use assay_model::{Column, Document, Role, Span, Table, TableCell, TableRow, Unit};

use super::super::sample::{document, found};
use super::super::{Class, Standing};
use super::*;

fn one(findings: &[Finding]) -> &Finding {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    &findings[0]
}

fn rates(rows: &[&[f64]]) -> Vec<Finding> {
    let document = document("rates.md", |build| {
        build.table("cerebras", &["batch_size", "samples", "duration.reported", "samples_per_s"], rows);
    });
    found(check, &[document])
}

#[test]
fn a_rate_is_its_count_over_its_seconds() {
    let findings = rates(&[
        &[512.0, 512_000.0, 174.285_041_622, 2937.72],
        &[1024.0, 1_024_000.0, 211.352_523_348, 4844.99],
        &[2048.0, 2_048_000.0, 304.558_942_337, 6724.48],
    ]);
    assert_eq!(one(&findings).standing, Standing::Supported);
    assert!(
        findings[0].arithmetic[0].contains("512000 / 174.285041622 = 2937.72"),
        "{:?}",
        findings[0].arithmetic
    );
}

#[test]
fn a_row_that_is_off_by_its_batch_size_is_named() {
    let rows: Vec<Vec<f64>> = (0..8)
        .map(|row| {
            let (batch, latency) = (f64::from(1 << (row % 4)), 2.0 + f64::from(row));
            let rate = batch * 128.0 / latency;
            vec![batch, 128.0, latency, if row % 4 == 3 { rate * batch } else { rate }]
        })
        .collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let document = document("tokens.md", |build| {
        build.table("nvidia", &["batch_size", "tokens.output", "e2e", "output_throughput"], &rows);
    });
    let findings = found(check, &[document]);
    let wrong = one(&findings);
    assert_eq!((wrong.class, wrong.standing), (Class::DerivedColumn, Standing::Contradicted));
    assert!(
        wrong.summary.contains("6 of 8") && wrong.summary.contains("exactly its batch_size"),
        "{}",
        wrong.summary
    );
}

#[test]
fn no_row_that_follows_is_a_factor_or_a_doubt() {
    let constant = rates(&[&[1.0, 1000.0, 10.0, 400.0], &[2.0, 3000.0, 10.0, 1200.0]]);
    assert_eq!(one(&constant).standing, Standing::Contradicted);
    let higher = rates(&[&[1.0, 1000.0, 10.0, 400.0], &[2.0, 3000.0, 10.0, 900.0]]);
    assert_eq!(one(&higher).standing, Standing::Open);
}

#[test]
fn steps_may_stand_in_the_text_around() {
    let written = |rate: f64| {
        let document = document("llama.md", |build| {
            build.heading("Batches").says("Each ran for 200 steps.", &[(200.0, "", Some("steps"))]);
            build.table(
                "cerebras",
                &["batch_size", "samples_per_s.loop", "duration.reported", "samples_per_s"],
                &[
                    &[256.0, 32.86, 8615.0, rate],
                    &[512.0, 33.27, 4151.0, 24.67],
                    &[1024.0, 33.04, 7394.0, 27.7],
                ],
            );
        });
        found(check, &[document])
    };
    assert_eq!(one(&written(5.94)).standing, Standing::Supported);
    assert_eq!(one(&written(9.54)).standing, Standing::Contradicted);
}

/// Two systems side by side with a ratio column.
fn systems(rows: &[(&str, &str, f64, f64, &str, f64)]) -> Document {
    let cell =
        |text: String, value: Option<f64>, line: u64| TableCell { text, value, line, ..TableCell::default() };
    let column = |header: &str, role: Role| Column { header: header.to_owned(), role };
    let mut table = Table {
        span: Span::new("two.md", 1, 2 + rows.len() as u64),
        columns: vec![
            column("Metric", Role::Label),
            column("One", Role::Unknown),
            column("Other", Role::Unknown),
            column("Ratio", Role::Ratio),
        ],
        transposed: true,
        ..Table::default()
    };
    for (place, (label, metric, one, other, text, ratio)) in rows.iter().enumerate() {
        let line = 3 + place as u64;
        table.rows.push(TableRow {
            line,
            role: Role::Metric((*metric).to_owned()),
            cells: vec![
                cell((*label).to_owned(), None, line),
                cell(format!("{one}s"), Some(*one), line),
                cell(format!("{other}s"), Some(*other), line),
                TableCell {
                    unit: Some(Unit::Other("times".to_owned())),
                    ..cell((*text).to_owned(), Some(*ratio), line)
                },
            ],
        });
    }
    Document { file: "two.md".to_owned(), tables: vec![table], ..Document::default() }
}

#[test]
fn a_ratio_may_slip_by_a_digit_but_not_more() {
    let rows = |text: &'static str, ratio: f64| {
        found(
            check,
            &[systems(&[
                ("Mean", "e2e", 4.987, 1.621, text, ratio),
                ("Max", "e2e.max", 5.535, 3.133, "1.77×", 1.77),
            ])],
        )
    };
    let slip = rows("3.07×", 3.07);
    assert_eq!(one(&slip).standing, Standing::Supported);
    assert!(slip[0].summary.contains("3.07× is 3.08"), "{}", slip[0].summary);
    let wrong = rows("3.47×", 3.47);
    assert_eq!(wrong[0].standing, Standing::Contradicted);
    assert!(wrong[0].summary.contains("Mean"), "{}", wrong[0].summary);
}

#[test]
fn speed_ups_and_efficiencies_are_taken_against_their_base() {
    let table = |speedup: f64, efficiency: f64| {
        let document = document("scaling.md", |build| {
            build.table(
                "nvidia",
                &["devices", "duration.loop", "speedup", "efficiency"],
                &[&[1.0, 400.0, 1.0, 1.0], &[2.0, 210.0, 1.90, 0.952], &[4.0, 110.0, speedup, efficiency]],
            );
        });
        found(check, &[document])
    };
    assert!(table(3.64, 0.909).iter().all(|finding| finding.standing == Standing::Supported));
    assert!(table(3.24, 0.909).iter().any(|finding| finding.standing == Standing::Contradicted));
    assert!(table(3.64, 0.809).iter().any(|finding| finding.standing == Standing::Contradicted));
}

#[test]
fn percentages_in_sentences_are_recomputed() {
    let said = |percent: f64| {
        let document = document("prose.md", |build| {
            build.says(
                "The time fell from 10.99 s to 8.79 s, a reduction of some percent.",
                &[(10.99, "s", None), (8.79, "s", None), (percent, "fraction", None)],
            );
        });
        found(check, &[document])
    };
    let mut range = document("prose.md", |build| {
        build.says(
            "Rates between the two differ, a variance of 3.8%.",
            &[(32.84, "samples/s", None), (0.038, "fraction", None)],
        );
    });
    range.statements[0].quantities[0].to = Some(34.10);
    range.statements[0].quantities[0].text = "32.84 to 34.10 samples/sec".to_owned();
    range.statements[0].quantities[1].text = "3.8%".to_owned();
    assert_eq!(one(&found(check, &[range])).standing, Standing::Supported);
    assert_eq!(one(&said(0.2)).standing, Standing::Supported);
    assert_eq!(one(&said(0.35)).standing, Standing::Contradicted);
}

#[test]
fn a_factor_in_a_sentence_is_held_against_the_table() {
    let said = |factor: f64| {
        let document = document("prose.md", |build| {
            build.heading("Results").table("nvidia", &["batch_size", "e2e"], &[&[1.0, 4.987], &[2.0, 1.621]]);
            build.says("The second is several times faster.", &[(factor, "times", None)]);
        });
        found(check, &[document])
    };
    assert_eq!(one(&said(3.1)).standing, Standing::Supported);
    assert_eq!(one(&said(5.2)).standing, Standing::Contradicted);
}

#[test]
fn columns_without_a_name_still_have_units() {
    let table = |wrong: f64| {
        let mut document = document("bytes.md", |build| {
            build.table(
                "cpu",
                &["label", "timing", "timing", "timing", "speedup"],
                &[
                    &[16.0, 500.0, 23.696_682, 21.1, 1.0],
                    &[64.0, 500.0, 6.784_261, 73.7, 3.49],
                    &[4096.0, 500.0, 5.081_301, wrong, 4.66],
                ],
            );
        });
        let table = &mut document.tables[0];
        for (column, header) in table.columns.iter_mut().zip(["Block", "Megabytes", "Seconds", "Rate (MB/s)"])
        {
            column.header = header.to_owned();
            column.role = Role::Unknown;
        }
        found(check, &[document])
    };
    let sound = table(98.4);
    assert_eq!(sound.len(), 2, "{sound:#?}");
    assert!(sound.iter().all(|finding| finding.standing == Standing::Supported), "{sound:#?}");
    let wrong: Vec<Finding> =
        table(984.0).into_iter().filter(|finding| finding.standing == Standing::Contradicted).collect();
    // The speed-ups follow from the seconds, whatever the rate.
    assert_eq!(wrong.len(), 1, "{wrong:#?}");
}
