//! What files state, as CSV: one row a number, with the settings of its run and the line that it stands on.

use assay_model::{Document, Observation, Origin, ReadRun};

use super::{finish, write};
use crate::reading::effective;

/// The columns before the settings, and behind them.
const BEFORE: [&str; 6] = ["file", "run", "first_line", "last_line", "platform", "status"];
const BEHIND: [&str; 6] = ["metric", "value", "unit", "origin", "values", "line"];

/// The numbers of all runs. Settings have the values in effect; `values` is how many a number is of, where several stand
/// behind it. Runs without a number have a row too: that they failed is a result.
pub fn documents(documents: &[Document]) -> Result<String, csv::Error> {
    let runs = || documents.iter().flat_map(|document| document.runs.iter().map(move |run| (document, run)));
    let mut settings: Vec<&str> = Vec::new();
    for (name, _) in runs().flat_map(|(_, run)| effective(run)) {
        if !settings.contains(&name) {
            settings.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header: Vec<&str> = BEFORE.into_iter().chain(settings.iter().copied()).chain(BEHIND).collect();
    write(&mut writer, &header)?;
    for document in documents {
        for (index, run) in document.runs.iter().enumerate() {
            let before = before(document, index, run, &settings);
            for found in &run.observations {
                write(&mut writer, &[before.as_slice(), &number(found)].concat())?;
            }
            if run.observations.is_empty() {
                write(&mut writer, &[before.as_slice(), &BEHIND.map(|_| String::new())].concat())?;
            }
        }
    }
    finish(writer)
}

fn before(document: &Document, index: usize, run: &ReadRun, settings: &[&str]) -> Vec<String> {
    let mut fields = vec![
        document.file.clone(),
        (index + 1).to_string(),
        run.span.first.to_string(),
        run.span.last.to_string(),
        run.platform.clone().unwrap_or_default(),
        run.status.word().to_owned(),
    ];
    let known = effective(run);
    fields.extend(settings.iter().map(|name| {
        known.iter().find(|(other, _)| other == name).map(|(_, value)| value.to_string()).unwrap_or_default()
    }));
    fields
}

fn number(found: &Observation) -> [String; 6] {
    let origin = match found.origin {
        Origin::Measured => "measured",
        Origin::Reported => "reported",
        Origin::Derived => "derived",
        Origin::Prediction => "prediction",
    };
    [
        found.metric.clone(),
        found.value.to_string(),
        found.unit.to_string(),
        origin.to_owned(),
        found.count.map(|count| count.to_string()).unwrap_or_default(),
        found.source.as_ref().map(|source| source.line.to_string()).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use assay_model::{Source, Status, Unit};

    use super::*;

    #[test]
    fn every_number_has_its_line_and_no_field_is_a_formula() {
        let mut found = Observation::new("loss.final", 7.125, Unit::One, Origin::Reported);
        found.source = Some(Source::new("=cmd|' /C calc'!A0", 9));
        let good = ReadRun { status: Status::Succeeded, observations: vec![found], ..ReadRun::default() };
        let failed =
            ReadRun { status: Status::Cancelled { reason: "time limit".into() }, ..ReadRun::default() };
        let document =
            Document { file: "=cmd|' /C calc'!A0".into(), runs: vec![good, failed], ..Document::default() };
        let text = documents(&[document]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "file,run,first_line,last_line,platform,status,metric,value,unit,origin,values,line"
        );
        assert!(lines[1].ends_with("succeeded,loss.final,7.125,,reported,,9"), "{text}");
        assert!(lines[2].contains(",cancelled,"), "{text}");
        assert!(lines[1..].iter().all(|line| !line.starts_with('=')), "{text}");
    }
}
