//! LitGPT: pretraining and finetuning.

use assay_model::names;
use assay_model::{KnownBy, Scope, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, Steps};
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "litgpt",
    title: "LitGPT",
    summary: "iteration and validation lines, final evaluation, the summary of time, tokens and memory",
    needles: &[
        "iter time: ",
        "val loss",
        "Training time: ",
        "Memory used: ",
        "| - T",
        "| - Memory Used",
        "Total parameters: ",
        "Number of trainable parameters: ",
    ],
    shapes: &[
        Shape {
            text: "Epoch 1 | iter 16 step 8 | loss train: 9.884, val: n/a | iter time: 28.05 ms (step) remaining time: 0:01:20",
            reads: "epoch, loss.train, time.iteration",
        },
        Shape {
            text: "iter 16 step 8: loss 9.8840, iter time: 28.05ms (optimizer.step)",
            reads: "loss.train, time.iteration",
        },
        Shape { text: "iter 600: val loss 2.3104, val time: 8123.45 ms", reads: "loss.eval, phase eval" },
        Shape { text: "Final evaluation | val loss: 2.214 | val ppl: 9.152", reads: "loss.eval, perplexity" },
        Shape { text: "Training time: 812.40s\nMemory used: 14.53 GB", reads: "duration.loop, memory.peak" },
        Shape {
            text: "| - Total Tokens (w/ Padding) :  512000\n| - Training Time             :  812.40 s\n\
                   | - Tok/sec                   :  630.23 tok/s\n| - Memory Used               :  14.53 GB",
            reads: "tokens, duration.loop, tokens_per_s, memory.peak",
        },
        Shape { text: "Total parameters: 14,067,712", reads: "parameters" },
        Shape { text: "Number of trainable parameters: 4,194,304", reads: "parameters.trainable" },
    ],
    derived: &[],
    notes: &[
        "An iteration is one micro batch: several of them make a step, so its time is not the time of a step.",
        "Values stand at the iteration, not at the step.",
        "Memory is in units of 10⁹ bytes, as the program computes it.",
        "A run begins where the iterations begin again.",
    ],
    reader: || Box::<LitgptReader>::default(),
};

const TIME_ITERATION: &str = "time.iteration";

#[derive(Default)]
struct LitgptReader {
    steps: Steps,
}

impl DialectReader for LitgptReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        if self.iteration(line.text, facts).is_some() {
            return Taken::Whole;
        }
        stated(line.text, facts).map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        self.iteration(line.text, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = LitgptReader::default();
    }
}

impl LitgptReader {
    /// `Epoch 1 | iter 16 step 8 | loss train: 9.884, val: n/a | iter time: 28.05 ms`, or the older line without epoch.
    fn iteration(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let text = text.trim_start();
        let (epoch, rest) = match text.strip_prefix("Epoch ") {
            Some(rest) => {
                let (epoch, rest) = number(rest)?;
                (Some(epoch), rest.strip_prefix(" | ")?)
            }
            None => (None, text),
        };
        let (iteration, rest) = number(rest.strip_prefix("iter ")?)?;
        let (_, rest) = number(rest.strip_prefix(" step ")?)?;
        let rest = rest.strip_prefix(" | loss train: ").or_else(|| rest.strip_prefix(": loss "))?;
        let (milliseconds, _) = number(after(rest, "iter time: ")?)?;
        self.steps.next(iteration, TIME_ITERATION, facts);
        facts.progress(iteration, None);
        if let Some(epoch) = epoch {
            facts.report_at(names::EPOCH, iteration, epoch);
        }
        match number(rest) {
            Some((loss, _)) => facts.report_at(names::LOSS_TRAIN, iteration, loss),
            None => facts.diverged(),
        }
        let time = Value::reported(TIME_ITERATION, milliseconds / 1e3).at(iteration).over(Scope::Instant);
        facts.value(Value { unit: Some(&Unit::Seconds), ..time });
        Some(())
    }
}

/// Lines that stand alone.
fn stated(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("Final evaluation | ") {
        facts.report(names::LOSS_EVAL, number_after(rest, "val loss:")?);
        if let Some(perplexity) = number_after(rest, "val ppl:") {
            facts.report(names::PERPLEXITY, perplexity);
        }
    } else if text.contains(", val time: ") {
        let rest = text.strip_prefix("iter ").or_else(|| text.strip_prefix("step "))?;
        let (iteration, rest) = number(rest)?;
        facts.report_at(names::LOSS_EVAL, iteration, number_after(rest, "val loss ")?);
        facts.lasted("eval", number_after(rest, "val time: ")? / 1e3, KnownBy::Script);
    } else if let Some(parameters) = text.strip_prefix("Total parameters: ") {
        facts.report(names::PARAMETERS, number(parameters)?.0);
    } else if let Some(parameters) = text.strip_prefix("Number of trainable parameters: ") {
        facts.report(names::PARAMETERS_TRAINABLE, number(parameters)?.0);
    } else {
        return summary(text, facts);
    }
    Some(())
}

/// The lines at the end: plain in older releases, in a frame in newer ones.
fn summary(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let text = text.strip_prefix("| - ").unwrap_or(text);
    let (name, written) = text.split_once(':')?;
    let (value, unit) = number(written)?;
    match name.trim_end() {
        "Training time" | "Training Time" if unit.trim() == "s" => {
            facts.value(
                Value::reported(names::DURATION_LOOP, value).over(Scope::Loop).written(written.trim()),
            );
        }
        "Memory used" | "Memory Used" if unit.trim() == "GB" => facts.report(names::MEMORY_PEAK, value * 1e9),
        "Tok/sec" => {
            let rate = Value::reported(names::TOKENS_PER_S, value).over(Scope::Loop).written(written.trim());
            let (count, seconds) = (facts.latest(names::TOKENS), facts.latest(names::DURATION_LOOP));
            facts.value(Value { count, seconds, ..rate });
        }
        "Total Tokens (w/ Padding)" => facts.report(names::TOKENS, value),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};

    #[test]
    fn runs_values_and_what_is_not_applicable() {
        let mut reader = DocumentReader::new(&Readers::new("litgpt", &[], &[]).unwrap(), "a.log");
        reader.feed(
            b"Epoch 1 | iter 2 step 1 | loss train: 10.979, val: n/a | iter time: 3194.35 ms (step)\n\
              Epoch 1 | iter 4 step 2 | loss train: 9.5, val: 9.9 | iter time: 28.05 ms (step)\n\
              Training time: 12.50s\n\
              Epoch 1 | iter 2 step 1 | loss train: nan, val: n/a | iter time: 30.00 ms (step)\n",
        );
        let runs = reader.finish().runs;
        assert_eq!(runs.len(), 2);
        let value = |run: usize, metric: &str| {
            runs[run].observations.iter().find(|o| o.metric == metric).map(|o| o.value)
        };
        assert_eq!(value(0, "loss.train"), Some(9.5));
        assert_eq!(value(0, "loss.eval"), None);
        assert_eq!(value(0, "duration.loop"), Some(12.5));
        assert!((value(0, "time.iteration").unwrap() - 0.02805).abs() < 1e-12);
        assert_eq!((value(1, "loss.train"), runs[1].hints.len()), (None, 1));
    }
}
