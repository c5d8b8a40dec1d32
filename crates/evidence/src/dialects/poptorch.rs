//! Graphcore PopTorch: small training scripts with bars, graph compilation and an accuracy at the end.

use assay_model::names::{self, setting};
use assay_model::{Status, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::bars::bar;
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "poptorch",
    title: "Graphcore PopTorch",
    summary: "training scripts on IPUs: graph compilation, bars, test accuracy, compiler errors",
    needles: &[
        "Accuracy on test set",
        "poptorch",
        "PL:POPLIN",
        "popart:session",
        "Graph compilation",
        "TrainingModelWithLoss",
        "Linear(in_features=",
        "Conv2d(1,",
        "(softmax): Softmax(",
        "CrossEntropyLoss()",
    ],
    shapes: &[
        Shape { text: "Accuracy on test set: 97.13%", reads: "accuracy, status succeeded" },
        Shape {
            text: "Accuracy on test set: 96.85%██████| 100/100 [00:00<00:00]",
            reads: "accuracy, status succeeded",
        },
        Shape {
            text: "Graph compilation: 100%|██████████| 100/100 [00:00<00:00]",
            reads: "setting compile_cache",
        },
        Shape {
            text: "Graph compilation: 100%|██████████| 100/100 [00:22<00:00]",
            reads: "setting compile_cache",
        },
        Shape {
            text: "    (layer4): Linear(in_features=128, out_features=10, bias=True)\n    (softmax): Softmax(dim=1)\n  \
                   (loss): CrossEntropyLoss()\nAccuracy on test set: 98.20%",
            reads: "accuracy, setting classes, hint, status succeeded",
        },
        Shape {
            text: "[09:01:59.258] [poptorch::python] [critical] poptorch.poptorch_core.Error: In source.cpp:725: \
                   'poptorch_cpp_error': Failed to acquire 1 IPU(s)",
            reads: "status failed, hint",
        },
    ],
    derived: &[
        "Epochs in effect are the total of the epochs bar (see tqdm), whatever the script or the prose declares.",
        "Batch size of the MNIST tutorial from its bar: 60000 images over 50 device iterations times the steps of an epoch \
         (300 steps give 4, 150 give 8, 75 give 16).",
        "A graph compilation of 0 s came from the cache, so settings that change the graph did not change.",
        "Classes are the outputs of the last linear layer that is printed.",
    ],
    notes: &[
        "The accuracy is the last thing these scripts print, so a run that has one came to its end.",
        "Timestamps mix local time without a date and UTC with one on the same line.",
        "A softmax before a cross-entropy loss applies it twice; the hint says so.",
    ],
    reader: || Box::<PoptorchReader>::default(),
};

#[derive(Default)]
struct PoptorchReader {
    images: bool,
    classes: Option<f64>,
    softmax: bool,
}

impl DialectReader for PoptorchReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        facts.platform("graphcore");
        if let Some(rest) = after(text, "Accuracy on test set") {
            return self.accuracy(rest, facts);
        }
        if text.contains("Graph compilation") {
            return compilation(text, facts);
        }
        if let Some(error) = after(text, "poptorch_cpp_error'").or_else(|| after(text, "_error':")) {
            facts.failed(error.trim_start_matches([':', ' ', '\'']));
        } else if let Some(outputs) = number_after(text, "out_features=") {
            self.classes = Some(outputs);
        } else if text.contains("Conv2d(1,") {
            self.images = true;
        } else if text.contains("Softmax(") {
            self.softmax = true;
        } else if text.contains("CrossEntropyLoss()") && self.softmax {
            facts.hint(
                "a softmax stands before the cross-entropy loss",
                "cross-entropy applies a softmax of its own: without the first one the same network usually learns better",
            );
        }
        Taken::Part
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = PoptorchReader::default();
    }
}

impl PoptorchReader {
    fn accuracy(&mut self, rest: &str, facts: &mut Facts<'_>) -> Taken {
        let Some((percent, behind)) = number(rest.trim_start_matches([':', ' '])) else {
            return Taken::Nothing;
        };
        if !behind.starts_with('%') || !(0.0..=100.0).contains(&percent) {
            return Taken::Nothing;
        }
        let written = rest.trim_start_matches([':', ' ']);
        let written = written.get(..written.find('%').map_or(0, |end| end + 1)).unwrap_or_default();
        facts.value(Value::reported(names::ACCURACY, percent / 100.0).written(written));
        if let Some(classes) = self.classes {
            facts.observe(setting::CLASSES, Setting::Integer(classes as i64), "log");
        }
        self.batch(facts);
        facts.status(Status::Succeeded);
        *self = PoptorchReader::default();
        Taken::Part
    }

    /// The tutorial script has 60000 images and 50 device iterations, so that its bar shows the batch size.
    fn batch(&self, facts: &mut Facts<'_>) {
        let steps = facts.known(setting::STEPS_PER_EPOCH).filter(|steps| *steps > 0.0);
        if let (Some(steps), true, Some(10.0)) = (steps, self.images, self.classes) {
            let batch = 60_000.0 / (50.0 * steps);
            if batch.fract() == 0.0 {
                let arithmetic = format!("60000 images / (50 device iterations × {steps} steps) = {batch}");
                facts.infer(setting::BATCH_SIZE, Setting::Integer(batch as i64), arithmetic);
            }
        }
    }
}

/// A finished compilation shows whether it was one. The bar itself is read as a phase with the other bars.
fn compilation(text: &str, facts: &mut Facts<'_>) -> Taken {
    let Some(found) = bar(text) else { return Taken::Nothing };
    let done = found.label.ends_with("Graph compilation") && found.done >= found.total;
    let known = facts.is_set(setting::COMPILE_CACHE);
    if let (true, false, Some(elapsed)) = (done, known, found.elapsed_s) {
        let arithmetic = format!("graph compilation took {elapsed} s");
        facts.infer(setting::COMPILE_CACHE, Setting::Switch(elapsed == 0.0), arithmetic);
    }
    Taken::Part
}
