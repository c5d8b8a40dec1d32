//! Graphcore application logs: BERT and similar trainers, and the monitor of the IPUs.

use assay_model::names::{self, setting};
use assay_model::{KnownBy, Scope, Unit, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::bars::bar;
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "graphcore-application",
    title: "Graphcore applications",
    summary: "application logs on IPUs: compilation, step bars with throughput, gc-monitor",
    needles: &["Compiled/Loaded model in", " - total loss:", "samples/sec]", "MHz "],
    shapes: &[
        Shape { text: "Compiled/Loaded model in 98.01 secs", reads: "phase compile, duration.compile" },
        Shape {
            text: "Step: 149 / 149 - LR: 1.00e-03 - total loss: 7.389 - mlm_acc: 0.161 %:  99%|█████████▉| 149/150 \
                   [00:03<00:00, 45.44it/s, throughput: 754.3 samples/sec]",
            reads: "setting steps, learning_rate, loss.train, accuracy.mlm_acc, samples_per_s.instant",
        },
        Shape {
            text: "| 0 | ipu-sample-01 | 1330MHz | 31.5 C | 104.2 W |",
            reads: "clock, temperature, power",
        },
    ],
    derived: &["Seconds of compilation are what the program says, as a phase known by the script."],
    notes: &["The monitor's columns are recognized by their units: W, C and MHz."],
    reader: || Box::<ApplicationReader>::default(),
};

#[derive(Default)]
struct ApplicationReader;

impl DialectReader for ApplicationReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if let Some(seconds) = number_after(text, "Compiled/Loaded model in") {
            facts.platform("graphcore");
            facts.lasted("compile", seconds, KnownBy::Script);
            return Taken::Part;
        }
        if text.contains("MHz") {
            return monitor(text, facts);
        }
        step(text, facts).map_or(Taken::Nothing, |()| Taken::Whole)
    }
}

fn step(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let found = bar(text)?;
    let step = number_after(found.label, "Step:").unwrap_or(found.done);
    let loss = number_after(found.label, "total loss:")?;
    facts.platform("graphcore");
    facts.progress(found.done, Some(found.total));
    facts.observe(setting::STEPS, Setting::Integer(found.total as i64), "progress bar");
    facts.report_at(names::LOSS_TRAIN, step, loss);
    if let Some(rate) = number_after(found.label, "LR:") {
        facts.report_at(names::LEARNING_RATE, step, rate);
    }
    for part in found.label.split(" - ") {
        let Some((name, value)) = part.split_once(':') else { continue };
        if let (true, Some((percent, unit))) = (name.trim().ends_with("_acc"), number(value)) {
            let metric = format!("accuracy.{}", name.trim());
            let factor = if unit.trim_start().starts_with('%') { 0.01 } else { 1.0 };
            facts.value(Value {
                unit: Some(&Unit::Fraction),
                ..Value::reported(&metric, percent * factor).at(step)
            });
        }
    }
    if let Some(rate) = number_after(found.postfix, "throughput:") {
        facts.value(Value::reported(names::SAMPLES_PER_S_INSTANT, rate).at(step).over(Scope::Instant));
    }
    Some(())
}

/// A row of the monitor: cells that end in a unit.
fn monitor(text: &str, facts: &mut Facts<'_>) -> Taken {
    if !text.trim_start().starts_with('|') {
        return Taken::Nothing;
    }
    let mut found = false;
    for cell in text.split('|') {
        let Some((value, unit)) = number(cell.trim()) else { continue };
        match unit.trim() {
            "W" => facts.report(names::POWER, value),
            "C" => facts.report(names::TEMPERATURE, value),
            "MHz" => {
                let unit = Unit::PerSecond("cycles".to_owned());
                facts.value(Value { unit: Some(&unit), ..Value::reported("clock", value * 1e6) });
            }
            _ => continue,
        }
        found = true;
    }
    if found { Taken::Part } else { Taken::Nothing }
}
