//! The Trainer of Hugging Face transformers, and what is built on it.

use assay_model::names::{self, setting};
use assay_model::{KnownBy, Scope, Status, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::{after, clock_seconds, number, number_after, pairs};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "hugging_face",
    title: "Hugging Face Trainer",
    summary: "the dictionaries of the Trainer, its train and eval metrics, the header and the end of training",
    needles: &[
        "'loss': ",
        "'train_runtime': ",
        "'train_samples_per_second': ",
        "'train_steps_per_second': ",
        "'train_loss': ",
        "'eval_",
        "***** Running ",
        "Num examples = ",
        "Num Epochs = ",
        "Instantaneous batch size per device = ",
        "Total train batch size (w. parallel",
        "Total optimization steps = ",
        "Number of trainable parameters = ",
        "metrics *****",
        "train_loss  ",
        "train_runtime  ",
        "train_samples_per_second ",
        "train_steps_per_second ",
        " eval_",
        " perplexity  ",
        "Training completed. Do not forget",
    ],
    shapes: &[
        Shape {
            text: "{'loss': 2.31, 'grad_norm': 1.2041, 'learning_rate': 4e-05, 'epoch': 0.5}",
            reads: "loss.train, gradient_norm, learning_rate, epoch",
        },
        Shape {
            text: "{'loss': '2.31', 'grad_norm': '1.2041', 'learning_rate': '4e-05', 'epoch': '0.5'}",
            reads: "loss.train, gradient_norm, learning_rate, epoch",
        },
        Shape {
            text: "{'train_runtime': 273.01, 'train_samples_per_second': 3.663, 'train_steps_per_second': 0.46, 'train_loss': \
                   2.1012, 'epoch': 1.0}",
            reads: "duration.loop, phase train, samples_per_s.loop, steps_per_s, loss.mean, epoch",
        },
        Shape {
            text: "{'train_runtime': 273.01, 'train_samples_per_second': 0.46, 'epoch': 1.0}",
            reads: "duration.loop, phase train, steps_per_s, epoch",
        },
        Shape {
            text: "{'eval_loss': 1.92, 'eval_accuracy': 0.81, 'eval_f1': 0.79, 'eval_runtime': 7.01, \
                   'eval_samples_per_second': 65.31, 'eval_steps_per_second': 8.228, 'epoch': 1.0}",
            reads: "loss.eval, accuracy, eval.f1, duration.eval, phase eval, samples_per_s.eval, steps_per_s.eval, epoch",
        },
        Shape {
            text: "[INFO|trainer.py:2134] 2024-05-02 08:15:00,123 >> ***** Running training *****\n\
                   [INFO|trainer.py:2135] 2024-05-02 08:15:00,123 >>   Num examples = 1,000\n\
                   [INFO|trainer.py:2136] 2024-05-02 08:15:00,123 >>   Num Epochs = 3\n\
                   [INFO|trainer.py:2137] 2024-05-02 08:15:00,123 >>   Instantaneous batch size per device = 4\n\
                   [INFO|trainer.py:2140] 2024-05-02 08:15:00,123 >>   Total train batch size (w. parallel, distributed & \
                   accumulation) = 8\n\
                   [INFO|trainer.py:2142] 2024-05-02 08:15:00,123 >>   Total optimization steps = 375\n\
                   [INFO|trainer.py:2143] 2024-05-02 08:15:00,123 >>   Number of trainable parameters = 124,439,808",
            reads: "phase train, setting train_samples, setting epochs, setting micro_batch_size, setting batch_size, setting \
                    steps, setting steps_per_epoch, parameters.trainable, status truncated",
        },
        Shape {
            text: "***** train metrics *****\n  epoch                    =        1.0\n  train_loss               =     \
                   2.1012\n  train_runtime            = 0:04:33.01\n  train_samples            =       1000\n  \
                   train_samples_per_second =      3.663\n  train_steps_per_second   =       0.46",
            reads: "loss.mean, duration.loop, samples_per_s.loop, steps_per_s",
        },
        Shape {
            text: "***** eval metrics *****\n  eval_accuracy           =     0.7231\n  eval_loss               =     \
                   1.0917\n  eval_runtime            = 0:00:07.00\n  perplexity              =     2.9794",
            reads: "accuracy, loss.eval, duration.eval, perplexity",
        },
        Shape {
            text: "Training completed. Do not forget to share your model on huggingface.co/models =)",
            reads: "status succeeded",
        },
    ],
    derived: &[
        "Steps of an epoch: all steps over the epochs, or the examples over the batch size where steps were limited.",
        "Older releases call steps per second `train_samples_per_second`. Where a dictionary has no `train_steps_per_second`, \
         the number is read as steps per second, unless examples × epochs over the run time say that it is samples.",
    ],
    notes: &[
        "`train_loss` is the mean over the run, not the loss at its end.",
        "Ranks or nodes that repeat a line are read once: a dictionary equal to the one before, and all final dictionaries but \
         the first.",
        "Other keys of an evaluation are kept as `eval.NAME`.",
        "The metrics block repeats the dictionary with other rounding; the dictionary counts.",
        "A run begins at the header of training, or where losses follow a final dictionary with an earlier epoch.",
    ],
    reader: || {
        Box::new(TrainerReader {
            samples: Unit::PerSecond("samples".to_owned()),
            steps: Unit::PerSecond("steps".to_owned()),
            state: State::default(),
        })
    },
};

/// Lines of a metrics block that are not read may stand between those that are.
const LONGEST_GAP: u64 = 12;

struct TrainerReader {
    samples: Unit,
    steps: Unit,
    state: State,
}

/// What is known of the run so far.
#[derive(Default)]
struct State {
    /// The dictionary of a step last read.
    last: String,
    epoch: f64,
    losses: bool,
    finished: bool,
    /// Whether the lines after a header are about training.
    header: bool,
    /// Whether the final dictionary goes on on the next line.
    open: bool,
    /// The line of a metrics block last read.
    block: Option<u64>,
    /// A rate of a metrics block whose meaning the next line shows.
    unsettled: Option<f64>,
}

impl DialectReader for TrainerReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if let Some(place) = text.find("{'") {
            let dictionary = text.get(place..).unwrap_or_default();
            return match self.dictionary(dictionary, facts) {
                Some(()) if place == 0 => Taken::Whole,
                Some(()) => Taken::Part,
                None => Taken::Nothing,
            };
        }
        if self.state.open && text.contains("'train_") {
            self.state.open = !text.contains('}');
            self.trained(text, facts);
            return Taken::Part;
        }
        let taken = self.block(line, facts).or_else(|| self.header(line, facts));
        taken.map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        line.text.starts_with("{'") && self.dictionary(line.text, facts).is_some()
    }

    fn end(&mut self, facts: &mut Facts<'_>) {
        self.settle(true, facts);
        self.state = State::default();
    }
}

impl TrainerReader {
    fn dictionary(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        if text.starts_with("{'loss': ") {
            self.step(text, facts)
        } else if text.contains("'train_runtime': ") {
            self.summary(text, facts)
        } else if text.contains("'eval_loss': ") || text.contains("'eval_runtime': ") {
            self.evaluation(text, facts)
        } else {
            None
        }
    }

    /// Another run begins, unless another reader has begun it already.
    fn restart(&mut self, facts: &mut Facts<'_>) {
        let begun = std::mem::take(&mut self.state);
        let losses = begun.losses && facts.has(names::LOSS_TRAIN);
        if losses || begun.finished && facts.has(names::DURATION_LOOP) {
            facts.begin();
        }
    }

    /// The dictionary of a step: the hot path of every long log.
    fn step(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let epoch = number_after(text, "'epoch': ")?;
        if text == self.state.last {
            return Some(());
        }
        if self.state.finished && epoch < self.state.epoch {
            self.restart(facts);
        }
        text.clone_into(&mut self.state.last);
        (self.state.epoch, self.state.losses) = (epoch, true);
        let field = |key: &str| number_after(text, key);
        match field("{'loss': ") {
            Some(loss) => facts.report(names::LOSS_TRAIN, loss),
            None => facts.diverged(),
        }
        for (key, metric) in [
            ("'grad_norm': ", names::GRADIENT_NORM),
            ("'learning_rate': ", names::LEARNING_RATE),
            ("'num_input_tokens_seen': ", names::TOKENS),
            ("'num_tokens': ", names::TOKENS),
        ] {
            if let Some(value) = field(key) {
                facts.report(metric, value);
            }
        }
        facts.report(names::EPOCH, epoch);
        super::gaudi::memory(text, facts);
        Some(())
    }

    /// The dictionary at the end of training.
    fn summary(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let seconds = number_after(text, "'train_runtime': ")?;
        if std::mem::replace(&mut self.state.finished, true) && facts.has(names::DURATION_LOOP) {
            // Ranks of one run agree on the loss; another loss is that of another run.
            let loss = number_after(text, "'train_loss': ");
            let known = facts.latest(names::LOSS_MEAN);
            if loss.is_none() || known.is_none() || loss == known {
                return Some(());
            }
            facts.begin();
        }
        facts.value(Value::reported(names::DURATION_LOOP, seconds).over(Scope::Loop));
        if facts.draft.phase_seconds("train").is_none() && facts.open_phase() != Some("train") {
            facts.lasted("train", seconds, KnownBy::Script);
        }
        self.state.open = !text.contains('}');
        self.trained(text, facts);
        Some(())
    }

    /// What the final dictionary says, or the part of it that stands on one line.
    fn trained(&mut self, text: &str, facts: &mut Facts<'_>) {
        let steps = number_after(text, "'train_steps_per_second': ");
        if let Some(rate) = steps {
            facts.value(Value::reported(names::STEPS_PER_S, rate).over(Scope::Loop));
        }
        if let Some(rate) = number_after(text, "'train_samples_per_second': ") {
            // A part of a dictionary does not show whether steps per second are in the rest.
            let whole = text.starts_with('{') && text.contains('}');
            self.rate(rate, steps.is_none() && whole, facts);
        }
        if let Some(loss) = number_after(text, "'train_loss': ") {
            facts.report(names::LOSS_MEAN, loss);
        }
        if let Some(rate) = number_after(text, "'train_tokens_per_second': ") {
            facts.value(Value::reported(names::TOKENS_PER_S, rate).over(Scope::Loop));
        }
        if let Some(epoch) = number_after(text, "'epoch': ") {
            self.state.epoch = epoch;
            facts.report(names::EPOCH, epoch);
        }
        super::gaudi::memory(text, facts);
    }

    /// The rate that is called samples per second, which in older releases is steps per second.
    fn rate(&self, rate: f64, may_be_steps: bool, facts: &mut Facts<'_>) {
        let seconds = facts.latest(names::DURATION_LOOP);
        let samples =
            facts.known("train_samples").zip(facts.known(setting::EPOCHS)).map(|(one, times)| one * times);
        let agrees = |(count, seconds): (f64, f64)| (rate * seconds / count - 1.0).abs() < 0.02;
        let counts = samples.zip(seconds).filter(|counts| agrees(*counts));
        if may_be_steps && counts.is_none() {
            facts.value(Value::reported(names::STEPS_PER_S, rate).over(Scope::Loop));
            return;
        }
        let value = Value::reported(names::SAMPLES_PER_S_LOOP, rate).over(Scope::Loop);
        facts.value(Value { count: counts.map(|(count, _)| count), seconds, ..value });
    }

    fn evaluation(&self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let found = pairs(text)?;
        for (name, written) in &found {
            let Some((value, _)) = number(written) else { continue };
            if let Some(name) = name.strip_prefix("eval_") {
                self.evaluated(name, value, true, facts);
            } else if *name == "epoch" {
                facts.report(names::EPOCH, value);
            }
        }
        super::gaudi::memory(text, facts);
        Some(())
    }

    fn evaluated(&self, name: &str, value: f64, timed: bool, facts: &mut Facts<'_>) {
        let unit = match name {
            "runtime" => Some((Unit::Seconds, names::DURATION_EVAL)),
            "samples_per_second" => Some((self.samples.clone(), names::SAMPLES_PER_S_EVAL)),
            "steps_per_second" => Some((self.steps.clone(), "steps_per_s.eval")),
            _ => None,
        };
        match (name, unit) {
            (_, Some((unit, metric))) => {
                facts.value(Value { unit: Some(&unit), ..Value::reported(metric, value) });
                if name == "runtime" && timed {
                    facts.lasted("eval", value, KnownBy::Script);
                }
            }
            ("loss", _) => facts.report(names::LOSS_EVAL, value),
            ("accuracy", _) if (0.0..=1.0).contains(&value) => facts.report(names::ACCURACY, value),
            ("perplexity", _) => facts.report(names::PERPLEXITY, value),
            ("samples", _) => facts.observe("eval_samples", setting_number(value), "log"),
            _ => facts.report(&format!("eval.{name}"), value),
        }
    }

    /// A line of a metrics block: `  train_runtime            = 0:04:33.01`. What a dictionary stated already stays.
    fn block(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Option<()> {
        // Configuration files have lines of this form too; only those under a heading are results.
        if self.state.block.is_none_or(|last| line.number.saturating_sub(last) > LONGEST_GAP) {
            return None;
        }
        let (name, written) = line.text.split_once(" = ")?;
        let (name, written) = (name.trim(), written.trim());
        if name.contains(' ') {
            return None;
        }
        let seconds = if written.contains(':') { clock_seconds(written) } else { None };
        let value = seconds.or_else(|| number(written).map(|(value, _)| value))?;
        self.state.block = Some(line.number);
        if name != "train_steps_per_second" {
            self.settle(true, facts);
        }
        match name {
            "train_loss" if !facts.has(names::LOSS_MEAN) => facts.report(names::LOSS_MEAN, value),
            "train_runtime" if !facts.has(names::DURATION_LOOP) => {
                facts.value(Value::reported(names::DURATION_LOOP, value).over(Scope::Loop).written(written));
            }
            "train_samples_per_second" if !facts.has(names::SAMPLES_PER_S_LOOP) && !self.state.finished => {
                self.state.unsettled = Some(value);
            }
            "train_steps_per_second" => {
                self.settle(false, facts);
                if !facts.has(names::STEPS_PER_S) {
                    facts.value(Value::reported(names::STEPS_PER_S, value).over(Scope::Loop));
                }
            }
            "perplexity" => facts.report(names::PERPLEXITY, value),
            _ => {
                let key = name.strip_prefix("eval_")?;
                let metric = match key {
                    "loss" => names::LOSS_EVAL,
                    "accuracy" => names::ACCURACY,
                    "runtime" => names::DURATION_EVAL,
                    "samples_per_second" => names::SAMPLES_PER_S_EVAL,
                    "steps_per_second" => "steps_per_s.eval",
                    _ => "",
                };
                if metric.is_empty() && facts.has(&format!("eval.{key}")) || facts.has(metric) {
                    return Some(());
                }
                self.evaluated(key, value, false, facts);
            }
        }
        Some(())
    }

    fn settle(&mut self, may_be_steps: bool, facts: &mut Facts<'_>) {
        if let Some(rate) = self.state.unsettled.take() {
            self.rate(rate, may_be_steps, facts);
        }
    }

    /// The lines before and after training.
    fn header(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Option<()> {
        let text = line.text;
        if text.contains(" metrics *****") {
            self.settle(true, facts);
            self.state.block = Some(line.number);
            return Some(());
        }
        if text.contains("***** Running training *****") {
            self.settle(true, facts);
            self.restart(facts);
            self.state.header = true;
            if facts.stamp().is_some() {
                facts.start("train");
            }
            if text.contains("trainer.py") {
                facts.expect_end();
            }
            return Some(());
        }
        if text.contains("***** Running ") {
            self.state.header = false;
            return Some(());
        }
        if text.contains("Training completed. Do not forget") {
            facts.end("train");
            facts.status(Status::Succeeded);
            return Some(());
        }
        let (key, name) = [
            ("Num examples = ", "train_samples"),
            ("Num Epochs = ", setting::EPOCHS),
            ("Instantaneous batch size per device = ", setting::MICRO_BATCH_SIZE),
            ("distributed & accumulation) = ", setting::BATCH_SIZE),
            ("Total optimization steps = ", setting::STEPS),
            ("Number of trainable parameters = ", ""),
        ]
        .into_iter()
        .find(|(key, _)| self.state.header && text.contains(key))?;
        let (value, _) = number(after(text, key)?)?;
        match name {
            "" => {
                // Scripts with a loop of their own print the header too; only the Trainer prints this line, and it
                // says when it is done.
                facts.expect_end();
                facts.report(names::PARAMETERS_TRAINABLE, value);
            }
            name => facts.observe(name, setting_number(value), "log"),
        }
        if name == setting::STEPS {
            steps_per_epoch(value, facts);
        }
        Some(())
    }
}

/// The Trainer's bar counts the steps of all epochs, so those of one are worked out.
fn steps_per_epoch(steps: f64, facts: &mut Facts<'_>) {
    let epochs = facts.known(setting::EPOCHS).filter(|epochs| *epochs > 0.0 && steps % *epochs == 0.0);
    let (each, arithmetic) = match (epochs, facts.known("train_samples"), facts.known(setting::BATCH_SIZE)) {
        (Some(epochs), ..) => (steps / epochs, format!("{steps} steps / {epochs} epochs")),
        (None, Some(samples), Some(batch)) if batch > 0.0 => {
            ((samples / batch).ceil(), format!("{samples} samples / {batch} a step, rounded up"))
        }
        _ => return,
    };
    facts.infer(setting::STEPS_PER_EPOCH, setting_number(each), format!("{arithmetic} = {each}"));
}

#[cfg(test)]
mod tests;
