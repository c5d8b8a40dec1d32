//! `train`: small models that are trained once and then used.

use assay_workloads::WorkloadError;
use assay_workloads::bert::train::{Report, Request, head};
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::train::{BertHead, Train, What};
use crate::peak;
use crate::screen::Screen;

/// Trains.
pub fn train(options: &Train, screen: &mut Screen) -> anyhow::Result<Exit> {
    match &options.what {
        What::BertHead(options) => bert_head(options, screen),
    }
}

fn bert_head(options: &BertHead, screen: &mut Screen) -> anyhow::Result<Exit> {
    if !(options.weight_decay.is_finite() && options.weight_decay >= 0.0) {
        let text = format!("--weight-decay {} is not a number from 0 on", options.weight_decay);
        return Err(Mistake { text, hint: None }.into());
    }
    let request = Request {
        model: options.model.clone(),
        data: options.data.clone(),
        output: options.output.clone(),
        folds: options.folds as usize,
        steps: u64::from(options.steps),
        weight_decay: options.weight_decay,
        seed: options.seed,
        threads: if options.threads == 0 { peak::cores() } else { options.threads as usize },
        names: options.labels.clone(),
    };
    let watched = screen.is_watched();
    let report = head(&request, &mut |done, of| {
        if watched && (done == of || done.is_multiple_of(1024)) {
            screen.say(&format!("features of {done} of {of} sentences"));
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

/// What the user gave is at fault, unless the machine refused something.
fn mistake(error: WorkloadError) -> anyhow::Error {
    match error {
        WorkloadError::Setting { .. } | WorkloadError::File { .. } => Mistake::from(error).into(),
        other => other.into(),
    }
}

/// The report as people read it.
fn words(report: &Report) -> String {
    let classes: Vec<String> =
        report.classes.iter().map(|(name, sentences)| format!("{name} {sentences}")).collect();
    let mut lines = vec![format!("{} sentences: {}", report.sentences, classes.join(", "))];
    if report.left_out > 0 {
        lines.push(format!("{} without text or label were left out", report.left_out));
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
    fn new(report: &'a Report) -> Json<'a> {
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
