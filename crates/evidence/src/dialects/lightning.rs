//! PyTorch Lightning: its progress bar, result tables and the lines around training.

use assay_model::names::{self, setting};
use assay_model::{KnownBy, Scope, Status};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::bars::{Bar, bar};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::{after, between, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "lightning",
    title: "PyTorch Lightning",
    summary: "the epoch bar with its metrics, result tables, parameters, devices, why the Trainer stopped",
    needles: &[
        "v_num=",
        "?it/s]",
        "Sanity Checking",
        "`Trainer.",
        ", global step ",
        "attempting graceful shutdown",
        "All distributed processes registered",
        "eed set to ",
        " available: True",
        "Automatic Mixed Precision",
        "Total params",
        "Trainable params",
        " metric ",
        "│ ",
    ],
    shapes: &[
        Shape {
            text: "Epoch 0:  50%|█████     | 100/200 [00:10<00:10,  9.95it/s, v_num=0, train_loss=2.30]",
            reads: "iterations_per_s, loss.train, setting steps_per_epoch",
        },
        Shape {
            text: "Epoch 3: 100%|██████████| 200/200 [00:20<00:00, 10.01it/s, loss=1.92, v_num=4, val_loss=2.01, val_acc=0.81]",
            reads: "iterations_per_s, loss.train, loss.eval, accuracy, epoch_s, phase train, setting steps_per_epoch",
        },
        Shape {
            text: "`Trainer.fit` stopped: `max_epochs=4` reached.",
            reads: "setting epochs, status succeeded",
        },
        Shape {
            text: "Epoch 1, global step 400: 'val_loss' reached 2.01230 (best 2.01230), saving model to 'a.ckpt' as top 1",
            reads: "loss.eval",
        },
        Shape {
            text: "All distributed processes registered. Starting with 4 processes",
            reads: "setting tasks",
        },
        Shape { text: "Seed set to 42", reads: "setting seed" },
        Shape { text: "GPU available: True (cuda), used: True", reads: "setting device" },
        Shape { text: "HPU available: True, using: 8 HPUs", reads: "setting device, setting devices" },
        Shape { text: "Using bfloat16 Automatic Mixed Precision (AMP)", reads: "setting precision" },
        Shape {
            text: "124 M     Trainable params\n124 M     Total params",
            reads: "parameters.trainable, parameters",
        },
        Shape {
            text: "┃        Test metric        ┃       DataLoader 0        ┃\n\
                   │         test_acc          │    0.9731000065803528     │\n\
                   │         test_loss         │    0.0891000032424927     │",
            reads: "accuracy, loss.eval",
        },
        Shape {
            text: "[rank: 0] Detected KeyboardInterrupt, attempting graceful shutdown ...\n\
                   Epoch 1:  10%|█         | 20/200 [00:02<00:18,  9.95it/s, v_num=0]",
            reads: "status cancelled, iterations_per_s, setting steps_per_epoch",
        },
    ],
    derived: &[
        "The step of a bar: epoch × iterations of an epoch + iterations done.",
        "Each finished epoch is a `train` phase of the length that its bar shows; they add up to `duration.loop`.",
    ],
    notes: &[
        "Before release 2.0 the total of the bar counts validation batches too.",
        "A test table gives `accuracy` and `loss.eval`, unless validation gave them already: then `accuracy.test` and \
         `loss.test`.",
        "A run begins where the epochs begin again.",
    ],
    reader: || Box::<LightningReader>::default(),
};

#[derive(Default)]
struct LightningReader {
    epoch: Option<f64>,
    total: Option<f64>,
    /// The step last reported: a bar is drawn again when an epoch ends.
    step: Option<f64>,
    /// The epoch whose length was reported.
    timed: Option<f64>,
    validation: (Option<f64>, Option<f64>),
    /// Whether lines around training stated that this is Lightning.
    known: bool,
    /// Whether the rows that follow belong to a result table.
    table: bool,
}

impl DialectReader for LightningReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        // The first state of a bar carries no metrics. It is taken all the same, so that no other reader takes it and
        // then all of those that follow.
        let starts = self.known && text.starts_with("Epoch ") && text.ends_with("?it/s]");
        if starts || text.contains("v_num=") {
            return match bar(text) {
                Some(found) if self.bar(&found, facts).is_some() => {
                    if found.rest.trim().is_empty() {
                        Taken::Whole
                    } else {
                        Taken::Part
                    }
                }
                _ => Taken::Nothing,
            };
        }
        let taken = self.table(text, facts).or_else(|| stated(text, facts));
        self.known |= taken.is_some() || text.contains("Sanity Checking");
        taken.map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        if !line.text.starts_with("Epoch ") {
            return false;
        }
        bar(line.text)
            .filter(|found| found.rest.trim().is_empty() && found.postfix.contains("v_num="))
            .is_some_and(|found| self.bar(&found, facts).is_some())
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = LightningReader::default();
    }
}

impl LightningReader {
    fn bar(&mut self, found: &Bar<'_>, facts: &mut Facts<'_>) -> Option<()> {
        let (epoch, _) = number(found.label.strip_prefix("Epoch ")?)?;
        if self.epoch.is_some_and(|last| epoch < last) {
            if facts.has(names::ITERATIONS_PER_S) {
                facts.begin();
            }
            *self = LightningReader::default();
        }
        self.epoch = Some(epoch);
        if self.total != Some(found.total) && found.total > 0.0 {
            self.total = Some(found.total);
            facts.observe(setting::STEPS_PER_EPOCH, setting_number(found.total), "progress bar");
        }
        let step = epoch * found.total + found.done;
        facts.progress(found.done, Some(found.total));
        let fresh = self.step.replace(step) != Some(step);
        if let Some(rate) = found.rate.filter(|_| fresh) {
            facts.value(Value::reported(names::ITERATIONS_PER_S, rate).at(step).over(Scope::Loop));
        }
        self.metrics(found.postfix, step, fresh, facts);
        let complete = found.done >= found.total && found.total > 0.0 && self.timed != Some(epoch);
        if let Some(elapsed) = found.elapsed_s.filter(|_| complete) {
            self.timed = Some(epoch);
            facts.value(Value::reported(names::EPOCH_S, elapsed).at(epoch));
            facts.lasted("train", elapsed, KnownBy::Bar);
        }
        Some(())
    }

    fn metrics(&mut self, postfix: &str, step: f64, fresh: bool, facts: &mut Facts<'_>) {
        for part in postfix.split(", ") {
            let Some((name, written)) = part.split_once('=') else { continue };
            let value = number(written).map(|(value, _)| value);
            match (name, value) {
                ("loss" | "train_loss" | "train_loss_step" | "train/loss", Some(value)) if fresh => {
                    facts.report_at(names::LOSS_TRAIN, step, value);
                }
                ("loss" | "train_loss" | "train_loss_step" | "train/loss", None) => facts.diverged(),
                // What validation gave stays on the bar until the next validation.
                ("val_loss" | "val/loss" | "valid_loss", Some(_)) if self.validation.0 != value => {
                    self.validation.0 = value;
                    facts.report_at(names::LOSS_EVAL, step, value.unwrap_or_default());
                }
                ("val_acc" | "val/acc" | "val_accuracy", Some(share))
                    if self.validation.1 != value && (0.0..=1.0).contains(&share) =>
                {
                    self.validation.1 = value;
                    facts.report_at(names::ACCURACY, step, share);
                }
                _ => {}
            }
        }
    }

    /// The table that `test` and `validate` print.
    fn table(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        if (text.contains("Test metric") || text.contains("Validate metric")) && text.contains("DataLoader 0")
        {
            self.table = true;
            return Some(());
        }
        if !self.table {
            return None;
        }
        let mut cells = text.trim().trim_matches('│').split('│').map(str::trim);
        let (name, written) = (cells.next()?, cells.next()?);
        let (value, _) = number(written)?;
        let has_both = |metric: &'static str, test: &'static str| {
            if name.starts_with("test") && facts.has(metric) { test } else { metric }
        };
        let metric = if name.ends_with("loss") {
            has_both(names::LOSS_EVAL, names::LOSS_TEST)
        } else if name.contains("acc") && (0.0..=1.0).contains(&value) {
            has_both(names::ACCURACY, "accuracy.test")
        } else {
            facts.report(&format!("eval.{name}"), value);
            return Some(());
        };
        let unit = names::unit(if metric == "accuracy.test" { names::ACCURACY } else { metric });
        facts.value(Value { unit: Some(&unit), ..Value::reported(metric, value).written(written) });
        Some(())
    }
}

/// Lines that stand alone.
fn stated(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    if let Some(rest) = after(text, "`Trainer.fit` stopped: ") {
        if let Some(epochs) = number_after(rest, "max_epochs=") {
            facts.observe(setting::EPOCHS, setting_number(epochs), "log");
        } else if let Some(steps) = number_after(rest, "max_steps=") {
            facts.observe(setting::STEPS, setting_number(steps), "log");
        }
        facts.status(Status::Succeeded);
    } else if text.contains("attempting graceful shutdown") {
        facts.status(Status::Cancelled { reason: "KeyboardInterrupt".to_owned() });
    } else if let Some(rest) =
        after(text, ", global step ").filter(|rest| rest.contains("'val_loss' reached "))
    {
        let (step, rest) = number(rest)?;
        facts.report_at(names::LOSS_EVAL, step, number_after(rest, "'val_loss' reached ")?);
    } else if let Some(tasks) = number_after(text, "registered. Starting with ") {
        facts.observe(setting::TASKS, setting_number(tasks), "log");
    } else if let Some(rest) =
        text.trim().strip_prefix("Seed set to ").or_else(|| after(text, "Global seed set to "))
    {
        facts.observe(setting::SEED, setting_number(number(rest)?.0), "log");
    } else if let Some(precision) = between(text, "Using ", " Automatic Mixed Precision") {
        facts.observe(setting::PRECISION, precision.into(), "log");
    } else if text.contains("Total params") || text.contains("Trainable params") {
        parameters(text.trim(), facts)?;
    } else {
        device(text, facts)?;
    }
    Some(())
}

/// `43.5 K    Total params`, or `Total params: 43.5 K` under a rich summary.
fn parameters(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let written = text.strip_prefix("Total params:").or_else(|| text.strip_prefix("Trainable params:"));
    let (value, rest) = number(written.unwrap_or(text))?;
    let scale = match rest.split_whitespace().next().unwrap_or_default() {
        "K" => 1e3,
        "M" => 1e6,
        "B" => 1e9,
        "T" => 1e12,
        "Trainable" | "Total" | "" => 1.0,
        _ => return None,
    };
    let metric = if text.contains("Total params") { names::PARAMETERS } else { names::PARAMETERS_TRAINABLE };
    facts.report(metric, value * scale);
    Some(())
}

/// `HPU available: True, using: 8 HPUs`.
fn device(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let (kind, rest) = text.split_once(" available: True")?;
    let kind = kind.rsplit(' ').next()?;
    if !["GPU", "TPU", "IPU", "HPU"].contains(&kind) {
        return None;
    }
    let count = number_after(rest, "using:");
    if count == Some(0.0) || rest.contains("used: False") {
        return None;
    }
    let name =
        between(rest, "(", ")").filter(|_| kind == "GPU").map_or_else(|| kind.to_owned(), str::to_uppercase);
    facts.observe(setting::DEVICE, name.as_str().into(), "log");
    if let Some(count) = count {
        facts.observe(setting::DEVICES, setting_number(count), "log");
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::ReadRun;

    fn runs(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::new("lightning", &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    fn bar(epoch: u32, done: u32, seconds: u32, rest: &str) -> String {
        format!(
            "Epoch {epoch}:  50%|█████     | {done}/20 [00:{seconds:02}<00:00,  9.95it/s, v_num=0, {rest}]\r"
        )
    }

    fn values(run: &ReadRun, metric: &str) -> Vec<f64> {
        run.series
            .iter()
            .find(|series| series.metric == metric)
            .map(|series| series.values.clone())
            .unwrap_or_default()
    }

    #[test]
    fn a_bar_drawn_again_counts_once_and_epochs_add_up() {
        let text = bar(0, 10, 1, "train_loss=3.0")
            + &bar(0, 20, 2, "train_loss=2.5")
            + &bar(0, 20, 2, "train_loss=2.5, val_loss=2.7")
            + &bar(1, 10, 1, "train_loss=2.0, val_loss=2.7")
            + &bar(1, 20, 3, "train_loss=1.5, val_loss=2.2");
        let found = runs(&text);
        assert_eq!(values(&found[0], "loss.train"), [3.0, 2.5, 2.0, 1.5]);
        assert_eq!(values(&found[0], "loss.eval"), [2.7, 2.2]);
        let steps = &found[0].series.iter().find(|series| series.metric == "loss.train").unwrap().steps;
        assert_eq!(steps, &[10.0, 20.0, 30.0, 40.0]);
        let loop_s = found[0].observations.iter().find(|o| o.metric == "duration.loop").unwrap();
        assert_eq!(loop_s.value, 5.0);
    }

    #[test]
    fn epochs_that_begin_again_are_another_run() {
        let one = bar(0, 20, 2, "train_loss=2.5")
            + &bar(1, 20, 2, "train_loss=2.1")
            + "`Trainer.fit` stopped: `max_epochs=2` reached.\n";
        let found = runs(&(one.clone() + &one));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|run| run.status.word() == "succeeded"));
    }

    #[test]
    fn a_test_table_after_validation_keeps_both() {
        let table = "       Test metric             DataLoader 0\n        test_loss         │    0.5     \n        test_acc          │    0.9     \n";
        let found = runs(&(bar(0, 20, 2, "val_loss=2.5") + "\n" + table));
        let value = |metric: &str| found[0].observations.iter().find(|o| o.metric == metric).map(|o| o.value);
        assert_eq!(
            (value("loss.eval"), value("loss.test"), value("accuracy")),
            (Some(2.5), Some(0.5), Some(0.9))
        );
    }

    #[test]
    fn the_first_bar_without_metrics_does_not_go_to_another_reader() {
        let text = "Sanity Checking: 0it [00:00, ?it/s]\nEpoch 0:   0%|          | 0/20 [00:00<?, ?it/s]\r"
            .to_owned()
            + &bar(0, 10, 1, "train_loss=3.0")
            + &bar(0, 20, 2, "train_loss=2.5");
        let mut reader = DocumentReader::new(&Readers::all(&[]), "a.log");
        reader.feed(text.as_bytes());
        let found = reader.finish().runs;
        assert_eq!(found[0].dialects, ["lightning"]);
        assert_eq!(values(&found[0], "loss.train"), [3.0, 2.5]);
    }

    #[test]
    fn devices_that_are_not_used_are_not_observed() {
        assert_eq!(
            runs("GPU available: True (cuda), used: False\nTPU available: False, using: 0 TPU cores\n").len(),
            0
        );
    }
}
