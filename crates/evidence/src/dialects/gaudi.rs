//! Gaudi (HPU) memory, compilation and generation lines, as optimum-habana writes them.

use assay_model::names;
use assay_model::{KnownBy, Scope};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "gaudi",
    title: "Gaudi",
    summary: "memory of the device, graph compilation and generation throughput of optimum-habana",
    needles: &[
        "emory_allocated (GB)",
        "emory allocated  ",
        "including tokenization) = ",
        "Graph compilation duration ",
    ],
    shapes: &[
        Shape {
            text: "***** train metrics *****\n  max_memory_allocated (GB)   =      20.15\n  memory_allocated (GB)       =      \
                   12.31",
            reads: "memory.peak, memory",
        },
        Shape {
            text: "Throughput (including tokenization) = 1843.5 tokens/second\nMemory allocated                    = 13.5 GB\n\
                   Max memory allocated                = 20.15 GB\nGraph compilation duration          = 14.25 seconds",
            reads: "output_throughput, memory, memory.peak, duration.compile, phase compile",
        },
    ],
    derived: &[],
    notes: &[
        "Memory in GB is in units of 1024³ bytes, as the program computes it.",
        "The dictionaries of training are those of the Hugging Face Trainer and are read there, memory included.",
    ],
    reader: || Box::<GaudiReader>::default(),
};

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

#[derive(Default)]
struct GaudiReader;

impl DialectReader for GaudiReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        if line.text.contains('{') {
            return Taken::Nothing;
        }
        take(line.text, facts).map_or(Taken::Nothing, |()| Taken::Part)
    }
}

fn take(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let (name, written) = text.split_once(" = ")?;
    let (value, _) = number(written)?;
    match name.trim() {
        "max_memory_allocated (GB)" | "Max memory allocated" => facts.report(names::MEMORY_PEAK, value * GIB),
        "memory_allocated (GB)" | "Memory allocated" => facts.report(names::MEMORY, value * GIB),
        "Throughput (including tokenization)" => {
            let rate = Value::reported(names::OUTPUT_THROUGHPUT, value).over(Scope::Loop);
            facts.value(rate.written(written.trim()));
        }
        "Graph compilation duration" => {
            facts.report(names::DURATION_COMPILE, value);
            facts.lasted("compile", value, KnownBy::Script);
        }
        _ => return None,
    }
    facts.platform("gaudi");
    Some(())
}

/// Reads the memory that a dictionary of the Trainer shows on a Gaudi device.
pub(super) fn memory(text: &str, facts: &mut Facts<'_>) {
    let Some(peak) = number_after(text, "'max_memory_allocated (GB)': ") else { return };
    facts.platform("gaudi");
    facts.report(names::MEMORY_PEAK, peak * GIB);
    if let Some(memory) = number_after(text, "'memory_allocated (GB)': ") {
        facts.report(names::MEMORY, memory * GIB);
    }
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};

    #[test]
    fn memory_in_the_dictionaries_of_training() {
        let mut reader = DocumentReader::new(&Readers::all(&[]), "a.log");
        reader.feed(
            b"{'loss': 2.5, 'learning_rate': 4e-05, 'epoch': 0.5, 'memory_allocated (GB)': 12.5, \
              'max_memory_allocated (GB)': 20.0, 'total_memory_available (GB)': 94.62}\n",
        );
        let runs = reader.finish().runs;
        let value = |metric: &str| runs[0].observations.iter().find(|o| o.metric == metric).unwrap().value;
        assert_eq!(value("memory.peak"), 20.0 * 1024.0 * 1024.0 * 1024.0);
        assert_eq!(value("memory"), 12.5 * 1024.0 * 1024.0 * 1024.0);
        assert_eq!(runs[0].platform.as_deref(), Some("gaudi"));
    }
}
