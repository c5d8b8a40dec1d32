//! CSV: one row a cell, numbers in base units, missing values empty. For programs, so nothing is rounded.

mod documents;

pub use documents::documents;

use assay_judge::{Answer, Comparison};
use assay_model::untrusted::csv_field;
use assay_model::{Caveat, Estimate};

/// The columns of an estimate.
const ESTIMATE: [&str; 5] = ["median", "low", "high", "confidence", "runs"];

/// What a record says, as CSV.
pub fn answer(answer: &Answer) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<&str> = vec!["cell", "platform", "planned"];
    header.extend(answer.varied.iter().map(String::as_str));
    header.extend(["metric", "unit"]);
    header.extend(ESTIMATE);
    header.extend(["spread", "failed", "timed_out", "interrupted", "missing"]);
    header.extend(["ratio_to_best", "ratio_low", "ratio_high", "p", "verdict", "caveats"]);
    write(&mut writer, &header)?;
    for row in &answer.rows {
        let mut fields = vec![row.cell.to_string(), row.cell.platform.clone(), row.planned.to_string()];
        fields.extend(
            answer
                .varied
                .iter()
                .map(|name| row.settings.get(name).map(ToString::to_string).unwrap_or_default()),
        );
        fields.extend([answer.metric.name.clone(), answer.metric.unit.to_string()]);
        fields.extend(estimate(row.estimate.as_ref()));
        fields.push(number(row.spread));
        let counts = &row.counts;
        fields.extend(
            [counts.failed, counts.timed_out, counts.interrupted, counts.missing].map(|n| n.to_string()),
        );
        fields.extend(effect(row.against_best.as_ref()));
        fields.push(codes(&row.caveats));
        write(&mut writer, &fields)?;
    }
    finish(writer)
}

/// What two records say, as CSV.
pub fn comparison(comparison: &Comparison) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> = vec!["base_platform".to_owned(), "other_platform".to_owned()];
    header.extend(comparison.varied.iter().cloned());
    header.extend(["metric", "unit"].map(str::to_owned));
    for side in ["base", "other"] {
        header.extend(ESTIMATE.map(|name| format!("{side}_{name}")));
    }
    header.extend(["ratio", "ratio_low", "ratio_high", "p", "verdict", "adjusted_p"].map(str::to_owned));
    header.extend(["base_caveats", "other_caveats"].map(str::to_owned));
    write(&mut writer, &header)?;
    for row in &comparison.rows {
        let mut fields = vec![row.platforms.0.clone(), row.platforms.1.clone()];
        fields.extend(
            comparison
                .varied
                .iter()
                .map(|name| row.settings.get(name).map(ToString::to_string).unwrap_or_default()),
        );
        fields.extend([comparison.metric.name.clone(), comparison.metric.unit.to_string()]);
        fields.extend(estimate(row.base.as_ref()));
        fields.extend(estimate(row.other.as_ref()));
        fields.extend(effect(row.effect.as_ref()));
        fields.push(number(row.adjusted_p));
        fields.extend([&row.base, &row.other].map(|side| {
            let caveats = side.as_ref().map(|estimate| estimate.caveats.as_slice()).unwrap_or_default();
            codes(caveats)
        }));
        write(&mut writer, &fields)?;
    }
    finish(writer)
}

/// Rows of any table, as CSV.
pub fn rows(columns: &[String], rows: &[Vec<String>]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    write(&mut writer, columns)?;
    for row in rows {
        write(&mut writer, row)?;
    }
    finish(writer)
}

fn write(writer: &mut csv::Writer<Vec<u8>>, fields: &[impl AsRef<str>]) -> Result<(), csv::Error> {
    writer.write_record(fields.iter().map(|field| csv_field(field.as_ref()).into_owned()))
}

fn estimate(estimate: Option<&Estimate>) -> [String; 5] {
    [
        number(estimate.map(|e| e.center)),
        number(estimate.map(|e| e.low)),
        number(estimate.map(|e| e.high)),
        number(estimate.map(|e| e.confidence)),
        estimate.map_or(0, |e| e.samples).to_string(),
    ]
}

fn effect(effect: Option<&assay_judge::Effect>) -> [String; 5] {
    let ends = effect.and_then(|e| e.interval);
    [
        number(effect.map(|e| e.ratio)),
        number(ends.map(|ends| ends.low)),
        number(ends.map(|ends| ends.high)),
        number(effect.and_then(|e| e.p)),
        effect.map(|e| format!("{:?}", e.verdict).to_lowercase()).unwrap_or_default(),
    ]
}

/// The short names of doubts, separated by spaces.
fn codes(caveats: &[Caveat]) -> String {
    caveats.iter().map(|caveat| caveat.code.as_str()).collect::<Vec<_>>().join(" ")
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn finish(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
