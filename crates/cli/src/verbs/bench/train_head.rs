//! `bench bert train-head`: train a sentence classification head on a BERT model.

use assay_workloads::WorkloadError;
use assay_workloads::bert::train::{HeadReport, HeadRequest, head};
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::train_head::TrainHead;
use crate::peak;
use crate::screen::{JSON_SCHEMA, Screen};

/// Trains a head, checks it by cross-validation, writes it and prints the accuracy.
pub fn train_head(options: &TrainHead, screen: &mut Screen) -> anyhow::Result<Exit> {
    if !(options.weight_decay.is_finite() && options.weight_decay >= 0.0) {
        let text = format!("--weight-decay must be 0 or more, not {}", options.weight_decay);
        return Err(Mistake { text, hint: None }.into());
    }
    let request = HeadRequest {
        model: options.model.clone(),
        data: options.data.clone(),
        output: options.output.clone(),
        folds: options.folds as usize,
        steps: u64::from(options.steps),
        weight_decay: options.weight_decay,
        seed: options.seed,
        threads: options.threads.map_or_else(peak::cores, |threads| threads as usize),
        names: options.labels.clone(),
    };
    let watched = screen.is_watched();
    let report = head(&request, &mut |done, of| {
        if watched && (done == of || done.is_multiple_of(1024)) {
            screen.say(&format!("computed features of {done} of {of} sentences"));
        }
    });
    let report = report.map_err(mistake)?;
    if options.json {
        screen.json(&Json::new(&report))?;
    } else {
        screen.data(&words(&report))?;
    }
    if let Some(path) = &options.output {
        screen.say(&format!("head: {}", path.display()));
    }
    Ok(Exit::Fine)
}

/// Wrong settings and files are the user's to fix; the rest is internal.
fn mistake(error: WorkloadError) -> anyhow::Error {
    match error {
        WorkloadError::Setting { .. } | WorkloadError::File { .. } => Mistake::from(error).into(),
        other => other.into(),
    }
}

/// The report as people read it.
fn words(report: &HeadReport) -> String {
    let classes: Vec<String> =
        report.classes.iter().map(|(name, sentences)| format!("{name} {sentences}")).collect();
    let mut lines = vec![format!("{} sentences: {}", report.sentences, classes.join(", "))];
    if report.left_out > 0 {
        lines.push(format!("skipped {} without text or label", report.left_out));
    }
    for (number, share) in (1..).zip(&report.folds) {
        lines.push(format!("fold {number}  {:.2} %", 100.0 * share));
    }
    lines.push(format!(
        "mean of {} folds {:.2} %, standard deviation between folds {:.2} points",
        report.folds.len(),
        100.0 * report.mean(),
        100.0 * report.deviation()
    ));
    lines.join("\n") + "\n"
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    sentences: usize,
    left_out: usize,
    classes: Vec<&'a str>,
    folds: &'a [f64],
    mean: f64,
    standard_deviation: f64,
}

impl<'a> Json<'a> {
    fn new(report: &'a HeadReport) -> Json<'a> {
        Json {
            schema: JSON_SCHEMA,
            sentences: report.sentences,
            left_out: report.left_out,
            classes: report.classes.iter().map(|(name, _)| name.as_str()).collect(),
            folds: &report.folds,
            mean: report.mean(),
            standard_deviation: report.deviation(),
        }
    }
}
