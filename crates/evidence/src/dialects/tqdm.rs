//! Progress bars of tqdm, whatever program draws them.

use assay_model::names::{self, setting};
use assay_model::{KnownBy, Scope, Unit, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::bars::{Bar, at_comma, bar};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::number;
use crate::vocabulary::{MetricKind, PrintedUnit, Split, Vocabulary, words};
use crate::writeup::vocabulary::setting_name;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "tqdm",
    title: "tqdm progress bars",
    summary: "progress bars, with carriage returns, cut by other output or glued to it",
    needles: &["%|", "it/s", "s/it"],
    shapes: &[
        Shape {
            text: "Training:  50%|█████     | 75/150 [00:05<00:05, 14.18it/s]",
            reads: "iterations_per_s",
        },
        Shape {
            text: "Epochs: 100%|██████████| 10/10 [01:48<00:00, 10.81s/it]",
            reads: "setting epochs, epoch_s, duration.loop, phase train",
        },
        Shape {
            text: "Graph compilation: 100%|██████████| 100/100 [00:22<00:00]",
            reads: "phase compile, duration.compile",
        },
        Shape {
            text: " 99%|█████████▉| 149/150 [00:03<00:00, 45.44it/s, loss=7.389, throughput: 754.3 samples/sec]",
            reads: "iterations_per_s, loss.train, samples_per_s.instant",
        },
        Shape {
            text: "Epochs:   0%|          | 0/10 [00:00<?,[09:03:32.515] [module] [warning] a bar that was cut",
            reads: "setting epochs",
        },
    ],
    derived: &[
        "The total of a bar labelled with epochs is the number of epochs in effect, whatever was declared.",
        "The total of a bar without a label inside an epochs bar is the number of steps of an epoch.",
        "The time of a finished bar is a phase, known by the bar: `compile` for labels that speak of compilation, `train` \
         for epochs and training, `eval` for validation and testing.",
    ],
    notes: &[
        "A bar is drawn many times; its last state counts, and its rate is a series.",
        "A new bar of the same label is recognized by its count going back.",
    ],
    reader: || Box::<TqdmReader>::default(),
};

/// What a bar is about, by its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum About {
    Compile,
    Epochs,
    Evaluation,
    #[default]
    Steps,
}

#[derive(Default)]
struct TqdmReader {
    label: String,
    about: About,
    finished: Option<f64>,
    /// Whether the bar before had values behind its rate.
    postfix: bool,
}

impl DialectReader for TqdmReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let Some(mut found) = bar(line.text) else { return Taken::Nothing };
        let alone = !found.cut && found.rest.trim().is_empty();
        loop {
            self.look(&found);
            self.take(&found, facts);
            match bar(found.rest) {
                Some(next) => found = next,
                None => return if alone { Taken::Whole } else { Taken::Part },
            }
        }
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        // Compilation means more to the dialects of compilers than to this one.
        if self.about == About::Compile {
            return false;
        }
        let Some(found) = bar(line.text) else { return false };
        // Values behind the rate may belong to a dialect that knows more of them.
        let same = found.label == self.label
            && !found.cut
            && found.rest.is_empty()
            && found.postfix.is_empty() != self.postfix;
        if same {
            facts.without_clock();
            self.take(&found, facts);
        }
        same
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = TqdmReader::default();
    }
}

impl TqdmReader {
    fn look(&mut self, found: &Bar<'_>) {
        self.postfix = !found.postfix.is_empty();
        if found.label != self.label {
            found.label.clone_into(&mut self.label);
            self.about = about(found.label);
            self.finished = None;
        }
    }

    fn take(&mut self, found: &Bar<'_>, facts: &mut Facts<'_>) {
        let complete = found.done >= found.total && found.total > 0.0;
        match self.about {
            About::Epochs => {
                facts.observe(setting::EPOCHS, Setting::Integer(found.total as i64), "progress bar");
                if let Some(rate) = found.rate.filter(|rate| *rate > 0.0) {
                    facts.report(names::EPOCH_S, 1.0 / rate);
                }
            }
            About::Steps if found.label.is_empty() && facts.known(setting::EPOCHS).is_some() => {
                if facts.known(setting::STEPS_PER_EPOCH).is_none() && found.total > 0.0 {
                    let total = Setting::Integer(found.total as i64);
                    facts.observe(setting::STEPS_PER_EPOCH, total, "progress bar");
                }
                facts.progress(found.done, Some(found.total));
            }
            About::Steps => {
                facts.progress(found.done, Some(found.total));
                if let Some(rate) = found.rate {
                    facts.value(
                        Value::reported(names::ITERATIONS_PER_S, rate).at(found.done).over(Scope::Loop),
                    );
                    // Below one iteration a second, tqdm prints the time of one instead.
                    if rate > 0.0 && rate < 1.0 {
                        facts.report_at(names::STEP_S, found.done, 1.0 / rate);
                    }
                }
            }
            About::Compile | About::Evaluation => {}
        }
        postfix(found, self.about, facts);
        if !complete {
            // The count went back: another bar of that label.
            self.finished = None;
        } else if let Some(elapsed) = found.elapsed_s.filter(|elapsed| self.finished != Some(*elapsed)) {
            self.finish(elapsed, facts);
        }
    }

    fn finish(&mut self, elapsed: f64, facts: &mut Facts<'_>) {
        self.finished = Some(elapsed);
        let phase = match self.about {
            About::Compile => "compile",
            About::Epochs => "train",
            About::Evaluation => "eval",
            About::Steps => return,
        };
        facts.lasted(phase, elapsed, KnownBy::Bar);
        if self.about == About::Epochs {
            facts.value(Value::reported(names::DURATION_LOOP, elapsed).over(Scope::Loop));
        }
    }
}

fn about(label: &str) -> About {
    let label = label.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| label.contains(word));
    if says(&["compil"]) {
        About::Compile
    } else if label.starts_with("epochs") || label == "epoch" {
        About::Epochs
    } else if says(&["valid", "eval", "testing", "inference"]) {
        About::Evaluation
    } else {
        About::Steps
    }
}

/// Values that programs hang on their bars: `loss=0.63, accuracy=0.78, stage=train`.
fn postfix(found: &Bar<'_>, about: About, facts: &mut Facts<'_>) {
    let vocabulary = Vocabulary::current();
    let (mut split, mut values) = ((about == About::Evaluation).then_some(Split::Eval), Vec::new());
    let mut rest = found.postfix;
    while !rest.is_empty() {
        let (part, behind) = at_comma(rest);
        rest = behind;
        // `metrics={'acc': 0.61}`: the innermost name is the number's own.
        let part = part.trim_end_matches(['}', ')']);
        let inner = part.rfind('{').map_or(part, |open| part.get(open + 1..).unwrap_or_default());
        let Some(sign) = memchr::memchr2(b'=', b':', inner.as_bytes()) else { continue };
        let (Some(name), Some(stated)) = (inner.get(..sign), inner.get(sign + 1..)) else { continue };
        let (name, stated) = (name.trim_matches(['\'', '"', ' ']), stated.trim_matches(['\'', '"', ' ']));
        match number(stated) {
            Some((value, unit)) => values.push((name.trim(), value, unit.trim())),
            None if ["stage", "phase", "mode", "split"].contains(&name.trim()) => {
                split = vocabulary.split(stated).or(split);
            }
            None => {}
        }
    }
    for (name, value, unit) in values {
        let printed = PrintedUnit::parse(unit);
        if !unit.is_empty() && printed.is_none() {
            continue;
        }
        let Some(mut named) = vocabulary.metric(name, printed.as_ref()) else {
            unknown(name, value, printed.as_ref(), found.done, facts);
            continue;
        };
        if matches!(named.kind, MetricKind::Ignore | MetricKind::Count) {
            continue;
        }
        if matches!(named.kind, MetricKind::Value | MetricKind::Share) {
            named.split = named.split.or(split);
        }
        let (name, scope) = match named.name().as_str() {
            // A bar that draws a loss while it counts steps draws the one of training.
            "loss" => (names::LOSS_TRAIN.to_owned(), None),
            names::SAMPLES_PER_S => (names::SAMPLES_PER_S_INSTANT.to_owned(), Some(Scope::Instant)),
            other => (other.to_owned(), None),
        };
        let value = value * named.factor;
        let share = named.kind == MetricKind::Share && (0.0..=1.0).contains(&value);
        let unit = if share { Unit::Fraction } else { named.unit };
        let mut reported = Value { unit: Some(&unit), ..Value::reported(&name, value) }.at(found.done);
        reported.scope = scope;
        facts.value(reported);
    }
}

/// A value whose name the vocabulary does not know is kept under its own words, unless they name a setting.
fn unknown(name: &str, value: f64, printed: Option<&PrintedUnit>, step: f64, facts: &mut Facts<'_>) {
    let spoken = words(name);
    let counts = ["v", "epoch", "step", "batch", "iter", "id"];
    let setting = setting_name(name).is_some()
        || Vocabulary::current().is_budget(&spoken)
        || spoken.first().is_none_or(|word| word.len() < 2 || counts.contains(&word.as_str()));
    if setting || value.fract() == 0.0 {
        return;
    }
    let unit = printed.map_or(Unit::One, |printed| printed.unit.clone());
    let factor = printed.map_or(1.0, |printed| printed.factor);
    facts.value(Value { unit: Some(&unit), ..Value::reported(&spoken.join("_"), value * factor) }.at(step));
}
