//! The same training run, printed in many ways, is read the same: with another time prefix, other separators, other number
//! formats, other words for its metrics, as CSV and JSON lines, cut in the middle, and interleaved with another rank.

use std::collections::BTreeMap;

use assay_evidence::read_document;
use proptest::prelude::*;

/// One epoch: the loss of training and the accuracy of validation, in thousandths.
type Epoch = (u32, u32);

fn epochs() -> impl Strategy<Value = Vec<Epoch>> {
    prop::collection::vec((1..9_999_u32, 1..999_u32), 3..9)
}

/// How a run is printed.
#[derive(Debug, Clone, Copy)]
struct Style {
    prefix: &'static str,
    separator: &'static str,
    joint: &'static str,
    loss: &'static str,
    accuracy: &'static str,
    percent: bool,
    scientific: bool,
}

const PLAIN: Style = Style {
    prefix: "",
    separator: " | ",
    joint: ": ",
    loss: "train loss",
    accuracy: "val acc",
    percent: false,
    scientific: false,
};

fn style() -> impl Strategy<Value = Style> {
    let prefix = prop::sample::select(vec![
        "",
        "2025-03-04 10:20:30,123 INFO ",
        "[2025-03-04 10:20:30] ",
        "10:20:30 - ",
        "INFO:root:",
        "[rank0]: ",
        "I0304 10:20:30.123456 140 train.py:120] ",
    ]);
    let separator = prop::sample::select(vec![" | ", ", ", " - ", "\t", "; ", "  "]);
    let joint = prop::sample::select(vec![": ", "=", " = ", ":"]);
    let loss =
        prop::sample::select(vec!["train loss", "train_loss", "Training Loss", "loss/train", "trainLoss"]);
    let accuracy = prop::sample::select(vec![
        "val acc",
        "val_acc",
        "Validation Accuracy",
        "valid_accuracy",
        "eval/accuracy",
    ]);
    (prefix, separator, joint, loss, accuracy, any::<bool>(), any::<bool>()).prop_map(
        |(prefix, separator, joint, loss, accuracy, percent, scientific)| Style {
            prefix,
            separator,
            joint,
            loss,
            accuracy,
            percent,
            scientific,
        },
    )
}

fn line(style: Style, number: usize, of: usize, (loss, accuracy): Epoch) -> String {
    let loss = f64::from(loss) / 1000.0;
    let loss = if style.scientific { format!("{loss:.3e}") } else { format!("{loss:.3}") };
    let accuracy = if style.percent {
        format!("{:.1}%", f64::from(accuracy) / 10.0)
    } else {
        format!("{:.3}", f64::from(accuracy) / 1000.0)
    };
    let Style { prefix, separator, joint, .. } = style;
    format!(
        "{prefix}Epoch {number}/{of}{separator}{}{joint}{loss}{separator}{}{joint}{accuracy}\n",
        style.loss, style.accuracy
    )
}

fn log(style: Style, epochs: &[Epoch]) -> String {
    let lines = epochs.iter().enumerate();
    lines.map(|(index, epoch)| line(style, index + 1, epochs.len(), *epoch)).collect()
}

/// The values of the two metrics, to nine digits.
fn read(file: &str, text: &str) -> BTreeMap<String, Vec<String>> {
    let document = read_document(file, text.as_bytes());
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for series in document.runs.iter().flat_map(|run| &run.series) {
        if ["loss.train", "accuracy.eval"].contains(&series.metric.as_str()) {
            let values = series.values.iter().map(|value| format!("{value:.9}"));
            found.entry(series.metric.clone()).or_default().extend(values);
        }
    }
    found
}

fn expected(epochs: &[Epoch]) -> BTreeMap<String, Vec<String>> {
    let column = |value: fn(&Epoch) -> u32| {
        epochs.iter().map(|epoch| format!("{:.9}", f64::from(value(epoch)) / 1000.0)).collect::<Vec<_>>()
    };
    BTreeMap::from([
        ("loss.train".to_owned(), column(|epoch| epoch.0)),
        ("accuracy.eval".to_owned(), column(|epoch| epoch.1)),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn prefixes_separators_words_and_number_formats_change_nothing(epochs in epochs(), style in style()) {
        // A percentage has one decimal less.
        let text = log(style, &epochs);
        prop_assert_eq!(read("train.log", &text), expected(&epochs), "{}", text);
    }

    #[test]
    fn a_log_cut_in_the_middle_gives_its_first_epochs(epochs in epochs(), keep in 2..9_usize) {
        let keep = keep.min(epochs.len());
        let mut text: String = log(PLAIN, &epochs).lines().take(keep).map(|line| format!("{line}\n")).collect();
        text.push_str("Epoch 9/9 | train lo");
        prop_assert_eq!(read("train.log", &text), expected(&epochs[..keep]));
    }

    #[test]
    fn another_rank_in_between_changes_nothing(epochs in epochs(), other in 1..9_999_u32) {
        let mut text = String::new();
        for (index, epoch) in epochs.iter().enumerate() {
            text.push_str(&line(Style { prefix: "[rank0]: ", ..PLAIN }, index + 1, epochs.len(), *epoch));
            text.push_str(&line(Style { prefix: "[rank1]: ", ..PLAIN }, index + 1, epochs.len(), (other, 1)));
        }
        prop_assert_eq!(read("train.log", &text), expected(&epochs));
    }

    #[test]
    fn columns_and_json_lines_give_the_same(epochs in epochs()) {
        let mut csv = "epoch,train_loss,val_acc\n".to_owned();
        let mut json = String::new();
        for (index, (loss, accuracy)) in epochs.iter().enumerate() {
            let (number, loss, accuracy) = (index + 1, f64::from(*loss) / 1000.0, f64::from(*accuracy) / 1000.0);
            csv.push_str(&format!("{number},{loss:.3},{accuracy:.3}\n"));
            json.push_str(&format!("{{\"epoch\": {number}, \"train_loss\": {loss:.3}, \"val_acc\": {accuracy:.3}}}\n"));
        }
        prop_assert_eq!(read("history.csv", &csv), expected(&epochs));
        prop_assert_eq!(read("history.jsonl", &json), expected(&epochs));
    }
}
