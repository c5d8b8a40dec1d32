//! A head trained on the means of a model's tokens: multinomial logistic regression, checked by cross-validation.
//!
//! Features are scaled to mean 0 and deviation 1, and the weights found by AdamW on all sentences at once; the scaling is
//! then worked into the weights, so that the head takes the means as they are. Sentence `i` of `n` belongs to the fold
//! `rank mod folds`, where `rank` is the place of its draw (kind `folds`, see [`crate::initial`]) among all draws.

mod regression;

use std::path::PathBuf;

use self::regression::{Examples, Regression, accuracy, fit};
use super::features::Features;
use super::head::Trained;
use super::sentences::{LabeledSentence, read};
use crate::WorkloadError;
use crate::initial::DrawKey;
use crate::settings::wrong;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct HeadRequest {
    /// The folder of the model.
    pub model: PathBuf,
    /// Sentences with labels.
    pub data: PathBuf,
    /// Where the head goes; nowhere without.
    pub output: Option<PathBuf>,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Steps of the optimizer.
    pub steps: u64,
    /// How strongly weights are pulled to zero.
    pub weight_decay: f64,
    /// Seed of the folds.
    pub seed: u64,
    pub threads: usize,
    /// Names for the classes, in the order of the labels; those of the data without.
    pub names: Vec<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadReport {
    /// Sentences that were used.
    pub sentences: usize,
    /// Sentences without text or label.
    pub left_out: usize,
    /// The names of the classes, each with the number of its sentences.
    pub classes: Vec<(String, usize)>,
    /// The share of right answers of each fold, by a head that was trained on the others.
    pub folds: Vec<f64>,
    /// The head that was trained on all sentences.
    pub head: Trained,
}

impl HeadReport {
    /// The mean of all folds.
    pub fn mean(&self) -> f64 {
        self.folds.iter().sum::<f64>() / self.folds.len() as f64
    }

    /// The standard deviation between the folds.
    pub fn deviation(&self) -> f64 {
        let squares: f64 = self.folds.iter().map(|fold| (fold - self.mean()).powi(2)).sum();
        (squares / (self.folds.len() as f64 - 1.0).max(1.0)).sqrt()
    }
}

/// Trains a head; `report` is called with how many sentences of how many have their features.
pub fn head(request: &HeadRequest, emit: &mut dyn FnMut(usize, usize)) -> Result<HeadReport, WorkloadError> {
    let rows = read(&request.data)?;
    let all = rows.len();
    let usable = |row: &LabeledSentence| !row.text.trim().is_empty() && row.label.is_some();
    let rows: Vec<LabeledSentence> = rows.into_iter().filter(usable).collect();
    let found = labels(&rows);
    check(request, rows.len(), &found)?;
    let names = if request.names.is_empty() { found.clone() } else { request.names.clone() };
    let class = |row: &LabeledSentence| {
        found.iter().position(|label| Some(label.as_str()) == row.label.as_deref().map(str::trim))
    };
    let classes: Vec<u32> = rows.iter().map(|row| class(row).unwrap_or(0) as u32).collect();
    let mut features = Features::open(&request.model, request.threads)?;
    let texts: Vec<String> = rows.into_iter().map(|row| row.text).collect();
    let values = features.compute(&texts, &mut |done| emit(done, texts.len()))?;
    let examples = Examples { width: features.width(), values, classes };
    let regression = Regression {
        classes: names.len(),
        steps: request.steps,
        weight_decay: request.weight_decay,
        threads: request.threads,
    };
    let fold_of = folds(texts.len(), request.folds, request.seed);
    let mut shares = Vec::new();
    for fold in 0..request.folds {
        let (held_out, others) = examples.divided(|place| fold_of[place] == fold);
        let (weight, bias) = fit(&regression, &others)?;
        shares.push(accuracy(&weight, &bias, &held_out));
    }
    let (weight, bias) = fit(&regression, &examples)?;
    let head = Trained { weight, bias, labels: names.clone() };
    if let Some(path) = &request.output {
        head.save(path)?;
    }
    let count = |class: usize| examples.classes.iter().filter(|other| **other as usize == class).count();
    Ok(HeadReport {
        sentences: texts.len(),
        left_out: all - texts.len(),
        classes: names.into_iter().enumerate().map(|(class, name)| (name, count(class))).collect(),
        folds: shares,
        head,
    })
}

/// The labels that there are: numbers in their order, and words in that of the alphabet.
fn labels(rows: &[LabeledSentence]) -> Vec<String> {
    let mut labels: Vec<String> =
        rows.iter().filter_map(|row| row.label.as_deref()).map(|label| label.trim().to_owned()).collect();
    labels.sort_by_key(|label| (label.parse::<u64>().unwrap_or(u64::MAX), label.clone()));
    labels.dedup();
    labels
}

fn check(request: &HeadRequest, sentences: usize, labels: &[String]) -> Result<(), WorkloadError> {
    const MOST_CLASSES: usize = 1000;
    let data = |reason: String| {
        let hint = "give a CSV file with the columns `text` and `label`";
        Err(WorkloadError::file("train on", &request.data, reason).or_hint(hint))
    };
    if labels.len() < 2 {
        return data(format!(
            "it has {sentences} sentences with a label, and {} different labels",
            labels.len()
        ));
    }
    if labels.len() > MOST_CLASSES {
        return data(format!("it has {} different labels, which are too many for classes", labels.len()));
    }
    if request.folds < 2 || request.folds > sentences {
        let reason = format!("there are {sentences} sentences, and at least two folds are needed");
        return Err(wrong("folds", &request.folds, reason));
    }
    if !request.names.is_empty() && request.names.len() != labels.len() {
        let reason = format!("the data have the labels {}", labels.join(", "));
        return Err(wrong("labels", &request.names.join(","), reason).or_hint("give one name for each"));
    }
    Ok(())
}

/// The fold of each sentence.
fn folds(count: usize, folds: usize, seed: u64) -> Vec<usize> {
    let key = DrawKey::new("folds", seed);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|place| (key.draw(*place as u64), *place));
    let mut fold_of = vec![0; count];
    for (rank, place) in order.into_iter().enumerate() {
        fold_of[place] = rank % folds;
    }
    fold_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_seeded_and_shuffled() {
        let [one, again, other] = [1, 1, 2].map(|seed| folds(103, 5, seed));
        assert_eq!(one, again);
        assert_ne!(one, other);
        let sizes = [0, 1, 2, 3, 4].map(|fold| one.iter().filter(|of| **of == fold).count());
        assert_eq!(sizes, [21, 21, 21, 20, 20]);
        assert_ne!(&one[..5], &[0, 1, 2, 3, 4]);
    }

    #[test]
    fn labels_are_in_the_order_of_numbers_or_words() {
        let row =
            |label: &str| LabeledSentence { line: 1, text: String::new(), label: Some(label.to_owned()) };
        assert_eq!(labels(&["10", "9", " 9", "10"].map(row)), ["9", "10"]);
        assert_eq!(labels(&["pos", "neg"].map(row)), ["neg", "pos"]);
    }

    #[test]
    fn a_report_has_mean_and_spread() {
        let head = Trained { weight: Vec::new(), bias: Vec::new(), labels: Vec::new() };
        let report =
            HeadReport { sentences: 4, left_out: 0, classes: Vec::new(), folds: vec![0.7, 0.8, 0.9], head };
        assert!((report.mean() - 0.8).abs() < 1e-12 && (report.deviation() - 0.1).abs() < 1e-12);
    }
}
