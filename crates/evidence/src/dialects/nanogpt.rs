//! nanoGPT and its relatives: build-nanogpt, nanochat, modded-nanogpt.

use assay_model::names::{self, setting};
use assay_model::{Scope, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, Steps};
use crate::line::Line;
use crate::text::{after, number, number_after};
use crate::user::setting_value;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "nanogpt",
    title: "nanoGPT",
    summary: "iteration and evaluation lines of nanoGPT, build-nanogpt, nanochat and modded-nanogpt",
    needles: &[
        ", mfu ",
        ": loss ",
        ": train loss ",
        "ms | tok/sec: ",
        " step_avg:",
        "tokens per iteration will be: ",
        "number of parameters: ",
        "Overriding: ",
    ],
    shapes: &[
        Shape { text: "iter 20: loss 3.1021, time 135.21ms, mfu 38.11%", reads: "loss.train, step_s, mfu" },
        Shape { text: "iter 0: loss 10.9886, time 31000.52ms, mfu -100.00%", reads: "loss.train, step_s" },
        Shape { text: "step 2000: train loss 2.9012, val loss 3.0045", reads: "loss.train.eval, loss.eval" },
        Shape {
            text: "tokens per iteration will be: 491,520\niter 20: loss 3.1021, time 2457.60ms, mfu 38.11%",
            reads: "tokens_per_step, loss.train, step_s, mfu, tokens_per_s",
        },
        Shape { text: "number of parameters: 123.59M", reads: "parameters" },
        Shape {
            text: "Overriding: batch_size = 32\nOverriding: max_iters = 500",
            reads: "declared micro_batch_size, declared steps",
        },
        Shape {
            text: "step    20 | loss: 5.912345 | lr 6.0000e-04 | norm: 1.2041 | dt: 103.44ms | tok/sec: 158374.23",
            reads: "loss.train, learning_rate, gradient_norm, step_s, tokens_per_s",
        },
        Shape {
            text: "step 00020/21400 (0.09%) | loss: 7.512345 | lrm: 1.00 | dt: 345.10ms | tok/sec: 1,519,210 | mfu: 48.20 | \
                   total time: 0.06m",
            reads: "loss.train, step_s, tokens_per_s, mfu",
        },
        Shape {
            text: "step:20/1770 train_loss:7.1234 train_time:2650ms step_avg:132.50ms\n\
                   step:125/1770 val_loss:4.3123 train_time:16562ms step_avg:132.50ms",
            reads: "loss.train, loss.eval, duration.loop, step_s",
        },
    ],
    derived: &[
        "Tokens per second: the tokens of an iteration over its seconds, where the log states the tokens.",
    ],
    notes: &[
        "`mfu -100.00%` means that it is not known yet, and is left out.",
        "The first iteration holds compilation; it is far slower than those that follow.",
        "The step line of nanoGPT is an evaluation on both sets; `loss.train.eval` is its figure for the training set.",
        "The multiplier `lrm` of nanochat is no learning rate and is not read.",
        "A run begins where the iterations begin again.",
    ],
    reader: || {
        Box::new(NanogptReader {
            tokens: Unit::Count("tokens".to_owned()),
            shape: Form::None,
            steps: Steps::default(),
            tokens_per_step: None,
        })
    },
};

/// Which of the line forms was read last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    None,
    Iteration,
    Bars,
    Average,
}

struct NanogptReader {
    tokens: Unit,
    shape: Form,
    steps: Steps,
    tokens_per_step: Option<f64>,
}

impl DialectReader for NanogptReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        for form in [Form::Iteration, Form::Bars, Form::Average] {
            if self.read(form, line.text, facts).is_some() {
                self.shape = form;
                return Taken::Whole;
            }
        }
        self.shape = Form::None;
        self.stated(line.text, facts).map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        self.read(self.shape, line.text, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        (self.shape, self.steps, self.tokens_per_step) = (Form::None, Steps::default(), None);
    }
}

impl NanogptReader {
    fn read(&mut self, form: Form, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        match form {
            Form::None => None,
            Form::Iteration => self.iteration(text, facts),
            Form::Bars => self.bars(text, facts),
            Form::Average => self.average(text, facts),
        }
    }

    /// Notes a step.
    fn step(&mut self, step: f64, total: Option<f64>, facts: &mut Facts<'_>) {
        self.steps.next(step, names::STEP_S, facts);
        facts.progress(step, total);
    }

    /// `iter 20: loss 3.1021, time 135.21ms, mfu 38.11%`.
    fn iteration(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(text.trim_start().strip_prefix("iter ")?)?;
        let rest = rest.strip_prefix(": loss ")?;
        let (loss, rest) = loss_and_rest(rest)?;
        let (milliseconds, rest) = number(rest.strip_prefix(", time ")?)?;
        let rest = rest.strip_prefix("ms")?;
        self.step(step, None, facts);
        report_loss(loss, step, facts);
        let seconds = milliseconds / 1e3;
        facts.value(Value::reported(names::STEP_S, seconds).at(step).over(Scope::Instant));
        if let Some(tokens) = self.tokens_per_step.filter(|_| seconds > 0.0) {
            let rate = Value::derived(names::TOKENS_PER_S, tokens / seconds).at(step).over(Scope::Instant);
            facts.value(rate.counted(tokens, seconds));
        }
        let (percent, _) = rest.strip_prefix(", mfu ").and_then(number).unzip();
        utilization(percent, step, facts);
        Some(())
    }

    /// `step 20/100 (0.2%) | loss: 5.9 | lr 6e-4 | norm: 1.2 | dt: 103.44ms | tok/sec: 158374.23 | mfu: 48.2`.
    fn bars(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(text.trim_start().strip_prefix("step ")?)?;
        let (head, fields) = rest.split_once(" | ")?;
        if !fields.contains("dt: ") {
            return None;
        }
        let total = head.strip_prefix('/').and_then(number).map(|(total, _)| total);
        self.step(step, total, facts);
        for field in fields.split(" | ") {
            let Some((name, written)) = field.trim().split_once(' ') else { continue };
            let value = number(written);
            match (name.trim_end_matches(':'), value) {
                ("loss", value) => report_loss(value.map(|(value, _)| value), step, facts),
                ("lr", Some((value, _))) => facts.report_at(names::LEARNING_RATE, step, value),
                ("norm", Some((value, _))) => facts.report_at(names::GRADIENT_NORM, step, value),
                ("dt", Some((value, unit))) => {
                    let seconds = if unit.starts_with("ms") { value / 1e3 } else { value };
                    facts.value(Value::reported(names::STEP_S, seconds).at(step).over(Scope::Instant));
                }
                ("tok/sec", Some((value, _))) => {
                    facts.value(Value::reported(names::TOKENS_PER_S, value).at(step).over(Scope::Instant));
                }
                ("mfu" | "bf16_mfu", Some((value, _))) => utilization(Some(value), step, facts),
                _ => {}
            }
        }
        Some(())
    }

    /// `step:20/1770 train_loss:7.1 train_time:2650ms step_avg:132.50ms`.
    fn average(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(text.trim_start().strip_prefix("step:")?)?;
        let (total, rest) = number(rest.strip_prefix('/')?)?;
        if !rest.contains(" step_avg:") {
            return None;
        }
        self.step(step, Some(total), facts);
        for field in rest.split(' ') {
            let Some((name, written)) = field.split_once(':') else { continue };
            let Some((value, unit)) = number(written) else {
                if name == "train_loss" {
                    report_loss(None, step, facts);
                }
                continue;
            };
            let seconds = if unit.starts_with("ms") { value / 1e3 } else { value };
            match name {
                "train_loss" => facts.report_at(names::LOSS_TRAIN, step, value),
                "val_loss" => facts.report_at(names::LOSS_EVAL, step, value),
                "train_time" => {
                    facts.value(Value::reported(names::DURATION_LOOP, seconds).at(step).over(Scope::Loop));
                }
                "step_avg" => {
                    let average = Value::reported(names::STEP_S, seconds).at(step).over(Scope::Loop);
                    facts.value(Value { count: Some(step), ..average });
                }
                _ => {}
            }
        }
        Some(())
    }

    /// Lines that stand alone.
    fn stated(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        if let Some(rest) =
            text.trim_start().strip_prefix("step ").filter(|text| text.contains(": train loss "))
        {
            let (step, _) = number(rest)?;
            if let Some(loss) = number_after(rest, ": train loss ") {
                facts.report_at("loss.train.eval", step, loss);
            }
            facts.report_at(names::LOSS_EVAL, step, number_after(rest, ", val loss ")?);
        } else if let Some(tokens) = number_after(text, "tokens per iteration will be: ") {
            self.tokens_per_step = Some(tokens);
            let value = Value::reported("tokens_per_step", tokens);
            facts.value(Value { unit: Some(&self.tokens), ..value });
        } else if let Some(rest) = text.trim_start().strip_prefix("number of parameters: ") {
            let (value, unit) = number(rest)?;
            let scale = match unit.trim_start().as_bytes().first() {
                Some(b'M') => 1e6,
                Some(b'B') => 1e9,
                Some(b'K' | b'k') => 1e3,
                _ => 1.0,
            };
            facts.report(names::PARAMETERS, value * scale);
        } else {
            return overriding(text, facts);
        }
        Some(())
    }
}

/// A loss, if it is a number, and what follows it.
fn loss_and_rest(text: &str) -> Option<(Option<f64>, &str)> {
    match number(text) {
        Some((loss, rest)) => Some((Some(loss), rest)),
        None => Some((None, text.get(memchr::memchr(b',', text.as_bytes())?..)?)),
    }
}

fn report_loss(loss: Option<f64>, step: f64, facts: &mut Facts<'_>) {
    match loss {
        Some(loss) => facts.report_at(names::LOSS_TRAIN, step, loss),
        None => facts.diverged(),
    }
}

/// A utilization in percent; -100 stands for one that is not known yet.
fn utilization(percent: Option<f64>, step: f64, facts: &mut Facts<'_>) {
    if let Some(percent) = percent.filter(|percent| *percent >= 0.0) {
        facts.report_at(names::MFU, step, percent / 100.0);
    }
}

/// A setting that the command line changes.
fn overriding(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let (name, value) = after(text, "Overriding: ")?.split_once(" = ")?;
    let name = match name.trim() {
        "batch_size" => setting::MICRO_BATCH_SIZE,
        "block_size" => setting::SEQUENCE_LENGTH,
        "max_iters" => setting::STEPS,
        "learning_rate" => setting::LEARNING_RATE,
        "n_layer" => setting::LAYERS,
        "n_head" => setting::HEADS,
        "n_embd" => setting::D_MODEL,
        "dtype" => setting::PRECISION,
        "device" => setting::DEVICE,
        _ => return None,
    };
    facts.declare(name, setting_value(value), "command line");
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::ReadRun;

    fn runs(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::new("nanogpt", &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    fn value(run: &ReadRun, metric: &str) -> Option<f64> {
        run.observations.iter().find(|o| o.metric == metric).map(|o| o.value)
    }

    #[test]
    fn a_utilisation_that_is_not_known_yet_is_absent() {
        let found = runs(
            "iter 0: loss 10.9, time 31000.5ms, mfu -100.00%\niter 10: loss 9.5, time 130.0ms, mfu 38.11%\n",
        );
        let mfu = found[0].observations.iter().find(|o| o.metric == "mfu").unwrap();
        assert!((mfu.value - 0.3811).abs() < 1e-12);
        assert!(!found[0].series.iter().any(|series| series.metric == "mfu"));
    }

    #[test]
    fn tokens_per_second_follow_from_the_tokens_of_an_iteration() {
        let found =
            runs("tokens per iteration will be: 491,520\niter 10: loss 9.5, time 2457.6ms, mfu 38.11%\n");
        assert_eq!(value(&found[0], "tokens_per_s").map(f64::round), Some(200_000.0));
    }

    #[test]
    fn two_runs_in_a_file_and_a_loss_that_is_no_number() {
        let found = runs(
            "iter 0: loss 10.9, time 30.0ms, mfu -100.00%\niter 10: loss 8.1, time 30.0ms, mfu 1.0%\n\
             iter 0: loss 10.8, time 30.0ms, mfu -100.00%\niter 10: loss nan, time 30.0ms, mfu 1.0%\n",
        );
        assert_eq!(found.len(), 2);
        assert_eq!(value(&found[1], "loss.train"), Some(10.8));
        assert_eq!((found[0].hints.len(), found[1].hints.len()), (0, 1));
    }

    #[test]
    fn prose_about_steps_is_not_read() {
        assert_eq!(
            runs("step 3: train loss goes down\niter over all files\nin step 5 | we look at 3 | dt\n").len(),
            0
        );
    }
}
