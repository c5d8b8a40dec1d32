//! Groq proof points: the results table with its estimates, the build cache.

use assay_model::names::{self, setting};
use assay_model::{Origin, Status, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{between, number};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "groq",
    title: "Groq",
    summary: "proof points: rows for CPU and chip, estimates tagged as predictions, build cache",
    needles: &[
        "GroqChip",
        "No inputs received for benchmark",
        "| Source",
        "|  cpu",
        "| cpu",
        "|  groq",
        "| groq",
        "found in cache. Loading it",
        "decided to rebuild",
        "Building \"",
        "Proof point ",
    ],
    shapes: &[
        Shape {
            text: "+--------+----------+-------------------------+----------------+----------------------+-------------+\n\
                   | Source | Accuracy | end-to-end latency (ms) | end-to-end IPS | on-chip latency (ms) | on-chip IPS |\n\
                   +--------+----------+-------------------------+----------------+----------------------+-------------+\n\
                   |  cpu   |  77.47%  |           2.21          |     453.45     |          --          |      --     |\n\
                   |  groq  |  77.47%  |           0.05          |    19253.91    |         0.03         |   37576.72  |",
            reads: "setting device, accuracy, latency, inferences_per_s, latency.estimated, \
                    inferences_per_s.estimated, status succeeded",
        },
        Shape {
            text: "Woohoo! Build \"bert_tiny\" found in cache. Loading it!",
            reads: "setting compile_cache, setting model",
        },
        Shape { text: "Building \"bert_tiny\"", reads: "setting compile_cache, setting model" },
        Shape {
            text: "Info: No inputs received for benchmark. Using the inputs provided during model compilation.",
            reads: "setting input, hint",
        },
        Shape {
            text: "Warning: build_model() noticed changes and decided to rebuild the model",
            reads: "setting compile_cache, hint",
        },
    ],
    derived: &[],
    notes: &[
        "Each row of the table is a run: one for the CPU, one for the chip.",
        "The on-chip columns are computed by the compiler, the same in every run of a build: they are predictions and \
         never ranked beside measured ones.",
        "`--` is missing.",
    ],
    reader: || Box::<GroqReader>::default(),
};

#[derive(Default)]
struct GroqReader {
    columns: Vec<String>,
    rows: u32,
}

impl DialectReader for GroqReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if text.trim_start().starts_with('|') {
            return self.table(text, facts);
        }
        let cached = |facts: &mut Facts<'_>, hit: bool| {
            facts.observe(setting::COMPILE_CACHE, Setting::Switch(hit), "log");
            if let Some(model) = between(text, "\"", "\"") {
                facts.observe(setting::MODEL, Setting::from(model), "log");
            }
        };
        if text.contains("No inputs received for benchmark") {
            facts.observe(setting::INPUT, Setting::from("given at compile time"), "log");
        } else if text.contains("found in cache. Loading it") {
            cached(facts, true);
        } else if text.contains("decided to rebuild") || text.contains("Building \"") {
            cached(facts, false);
        } else if !text.contains("GroqChip") && !text.contains("Proof point ") {
            return Taken::Nothing;
        }
        facts.platform("groq");
        Taken::Part
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = GroqReader::default();
    }
}

impl GroqReader {
    fn table(&mut self, text: &str, facts: &mut Facts<'_>) -> Taken {
        let cells = || text.trim().trim_matches('|').split('|').map(str::trim);
        if text.contains("end-to-end") {
            if self.rows > 0 {
                facts.begin();
            }
            self.columns = cells().map(str::to_owned).collect();
            self.rows = 0;
            facts.platform("groq");
            return Taken::Whole;
        }
        if self.columns.is_empty() {
            return Taken::Nothing;
        }
        if self.rows > 0 {
            facts.split();
        }
        self.rows += 1;
        for (column, cell) in self.columns.iter().zip(cells()) {
            self.cell(column, cell, facts);
        }
        facts.platform("groq");
        facts.status(Status::Succeeded);
        Taken::Whole
    }

    fn cell(&self, column: &str, written: &str, facts: &mut Facts<'_>) {
        let column = column.to_ascii_lowercase();
        if column == "source" {
            facts.replace(setting::DEVICE, Setting::from(written), "log");
            return;
        }
        let Some((value, unit)) = number(written) else { return };
        let (metric, factor, origin) = match column.as_str() {
            name if name.starts_with("accuracy") => (
                names::ACCURACY,
                if unit.starts_with('%') || name.contains('%') { 0.01 } else { 1.0 },
                Origin::Reported,
            ),
            name if name.starts_with("end-to-end latency") => (names::LATENCY, 1e-3, Origin::Reported),
            name if name.starts_with("end-to-end ips") => (names::INFERENCES_PER_S, 1.0, Origin::Reported),
            name if name.starts_with("on-chip latency") => {
                (names::LATENCY_ESTIMATED, 1e-3, Origin::Prediction)
            }
            name if name.starts_with("on-chip ips") => {
                (names::INFERENCES_PER_S_ESTIMATED, 1.0, Origin::Prediction)
            }
            _ => (names::QUALITY, 1.0, Origin::Reported),
        };
        facts.value(Value { origin, ..Value::reported(metric, value * factor).written(written) });
    }
}
