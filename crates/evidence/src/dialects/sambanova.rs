//! SambaNova: BERT and GPT training scripts, compile scripts, acceptance gates, tile statistics.

use assay_model::names::{self, setting};
use assay_model::{Scope, Status, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{after, number, number_after, pairs};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "sambanova",
    title: "SambaNova",
    summary: "training and compile scripts on RDUs: steps, result block, gates, sntilestat",
    needles: &[
        "Model:  ",
        "| Date: ",
        "|local_step:",
        "final_loss",
        "e2e_train_time",
        "training_sequences_per_second",
        "training_samples_per_second",
        "Expected throughput to be at",
        ".pef does not exist",
        "COMPILE START AT",
        "COMPILE END AT",
        "Duration: ",
        "/RDU_",
        "TILE_",
        "%exec",
    ],
    shapes: &[
        Shape { text: "Model:  BertLarge | Date: 04/09/24 | Time: 15:29", reads: "declared model" },
        Shape {
            text: "2024-04-09 15:30:00,864 - sample - Process ID 397 - info - \
                   epoch:0|local_step:2|global_step:2|average_loss:11.125|step_loss:11.0",
            reads: "loss.train, loss.mean",
        },
        Shape {
            text: "2024-04-09 15:37:20,100 - sample - Rank 0, PID 7 - info - final_loss 8.308670",
            reads: "loss.final",
        },
        Shape {
            text: "x - info - {'e2e_train_time': 440.37, 'training_sequences_per_second': 300618.3, \
                   'final_loss': 8.3087, 'training_samples_per_second': 2348.58}",
            reads: "duration.loop, tokens_per_s, loss.final, samples_per_s.loop, setting sequence_length",
        },
        Shape {
            text: "AssertionError: Expected throughput to be at least 560000.0, instead found 300618.3",
            reads: "status gate_failed, hint",
        },
        Shape { text: "out/bert/bert.pef does not exist, exiting", reads: "status failed, hint" },
        Shape { text: "Duration:  487", reads: "duration.script" },
        Shape {
            text: "COMPILE START AT 2024-04-09 15:00:00\nCOMPILE END AT 2024-04-09 15:13:01",
            reads: "phase compile, duration.compile",
        },
        Shape {
            text: "TILE                 %idle %exec %pload\n/XRDU_0/RDU_0/TILE_0  90.0   8.5   1.5",
            reads: "utilization",
        },
    ],
    derived: &[
        "`training_sequences_per_second` is tokens per second in spite of its name; over the samples per second it is \
         the sequence length, which is inferred where it comes out whole.",
    ],
    notes: &[
        "A run begins at `Model:`; a log may hold several.",
        "A missed throughput gate comes after the result block: the numbers are valid, and the status says so.",
        "`Duration:` is the whole script, compile or run: a compile of 1 s found its file in place.",
    ],
    reader: || Box::<SambanovaReader>::default(),
};

#[derive(Default)]
struct SambanovaReader {
    /// When a compilation began, on the clock of the shell around it.
    compile_start: Option<f64>,
    columns: Vec<String>,
}

impl DialectReader for SambanovaReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if step(text, facts) || block(text, facts) || self.tiles(text, facts) || stated(self, text, facts) {
            facts.platform("sambanova");
            Taken::Part
        } else {
            Taken::Nothing
        }
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = SambanovaReader::default();
    }
}

impl SambanovaReader {
    fn tiles(&mut self, text: &str, facts: &mut Facts<'_>) -> bool {
        if text.contains("%exec") {
            self.columns = text.split_whitespace().map(str::to_owned).collect();
            return true;
        }
        let column = self.columns.iter().position(|name| name == "%exec");
        let Some(column) = column.filter(|_| text.contains("TILE_")) else { return false };
        let cell = text.split_whitespace().nth(column).and_then(number);
        if let Some((percent, _)) = cell.filter(|(percent, _)| (0.0..=100.0).contains(percent)) {
            facts.report(names::UTILIZATION, percent / 100.0);
        }
        true
    }
}

fn step(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some(step) = number_after(text, "|global_step:") else { return false };
    if let Some(loss) = number_after(text, "|step_loss:") {
        facts.report_at(names::LOSS_TRAIN, step, loss);
    }
    if let Some(loss) = number_after(text, "|average_loss:") {
        facts.report_at(names::LOSS_MEAN, step, loss);
    }
    true
}

/// The result block, on one line or over several.
fn block(text: &str, facts: &mut Facts<'_>) -> bool {
    let keys = ["e2e_train_time", "training_sequences_per_second", "training_samples_per_second"];
    if !keys.iter().any(|key| text.contains(key)) {
        return false;
    }
    // Several lines reach this reader one by one; each pair stands on its own.
    let dictionary = if text.contains('{') { text.to_owned() } else { format!("{{{text}}}") };
    for (name, value) in pairs(&dictionary).unwrap_or_default() {
        let Some((value, _)) = number(value) else { continue };
        match name {
            "e2e_train_time" => {
                facts.value(Value::reported(names::DURATION_LOOP, value).over(Scope::Loop));
            }
            "final_loss" => facts.report(names::LOSS_FINAL, value),
            "training_sequences_per_second" => {
                facts.value(Value::reported(names::TOKENS_PER_S, value).over(Scope::Loop));
            }
            "training_samples_per_second" => {
                facts.value(Value::reported(names::SAMPLES_PER_S_LOOP, value).over(Scope::Loop));
            }
            _ => {}
        }
    }
    sequence_length(facts);
    true
}

/// What is called sequences are tokens: their ratio to the samples is the length of a sequence.
fn sequence_length(facts: &mut Facts<'_>) {
    if let (Some(tokens), Some(samples)) =
        (facts.latest(names::TOKENS_PER_S), facts.latest(names::SAMPLES_PER_S_LOOP))
    {
        let ratio = tokens / samples;
        if samples > 0.0 && ratio > 1.5 && (ratio - ratio.round()).abs() < 0.005 * ratio {
            let arithmetic = format!("{tokens} / {samples} = {ratio:.1}");
            facts.infer(setting::SEQUENCE_LENGTH, Setting::Integer(ratio.round() as i64), arithmetic);
        }
    }
}

/// A bare number of seconds behind a mark.
fn seconds_of_shell(text: &str, mark: &str) -> Option<f64> {
    let (seconds, rest) = number(after(text, mark)?.trim())?;
    rest.trim().is_empty().then_some(seconds)
}

/// Lines that stand alone.
fn stated(reader: &mut SambanovaReader, text: &str, facts: &mut Facts<'_>) -> bool {
    if let Some(rest) = after(text, "Model:").filter(|_| text.contains("| Date:")) {
        facts.begin();
        let model = rest.split('|').next().unwrap_or_default().trim();
        facts.declare(setting::MODEL, Setting::from(model), "log");
    } else if let Some(rest) = after(text, "Expected throughput to be at") {
        let reason = format!("throughput was to be at {}", crate::facts::shortened(rest));
        facts.status(Status::GateFailed { reason });
    } else if text.contains(".pef does not exist") {
        facts.failed(text);
    } else if let Some(loss) = number_after(text, "info - final_loss") {
        facts.report(names::LOSS_FINAL, loss);
    } else if text.contains("COMPILE START AT") {
        // Scripts print a date here, or the seconds of the shell that they run in.
        reader.compile_start = seconds_of_shell(text, "COMPILE START AT");
        if reader.compile_start.is_none() {
            facts.start("compile");
        }
    } else if text.contains("COMPILE END AT") {
        match (reader.compile_start.take(), seconds_of_shell(text, "COMPILE END AT")) {
            (Some(start), Some(end)) if end >= start => facts.spanned("compile", start, end),
            _ => facts.end("compile"),
        }
    } else if let Some(seconds) =
        text.trim().strip_prefix("Duration:").and_then(number).filter(|(_, rest)| rest.is_empty())
    {
        facts.value(Value::reported(names::DURATION_SCRIPT, seconds.0).over(Scope::Job));
    } else {
        return false;
    }
    true
}
