//! The Markdown table of `llama-bench`: a run a row.

use assay_model::names::{self, setting};
use assay_model::{Scope, Unit, Value as Setting};

use super::llama_cpp::scale;
use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::number;
use crate::user::setting_value;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "llama_bench",
    title: "llama-bench",
    summary: "the Markdown table of llama-bench, a run a row",
    needles: &["t/s |", "-: |", " ± "],
    shapes: &[
        Shape {
            text: "| model                          |       size |     params | backend    | threads |          test |                  t/s |\n\
                   | ------------------------------ | ---------: | ---------: | ---------- | ------: | ------------: | -------------------: |\n\
                   | tiny 7B Q4_0                   |   3.56 GiB |     6.74 B | CPU        |       4 |         pp512 |       1,071.20 ± 3.10 |\n\
                   | tiny 7B Q4_0                   |   3.56 GiB |     6.74 B | CPU        |       4 |         tg128 |         38.40 ± 0.20 |",
            reads: "setting model, memory.model, parameters, setting device, setting threads, setting test, \
                    setting prompt_length, setting output_length, prompt_throughput, prompt_throughput.std, \
                    output_throughput, output_throughput.std",
        },
        Shape {
            text: "| model          |     size |   params | backend | ngl | fa |            test |              t/s |\n\
                   | tiny 7B Q4_0   | 3.56 GiB |   6.74 B | CUDA    |  99 |  1 |  pp512+tg128 @ d4096 |  812.50 ± 3.10 |",
            reads: "setting model, memory.model, parameters, setting device, setting layers_on_device, setting fa, \
                    setting test, setting prompt_length, setting output_length, setting depth, total_token_throughput, \
                    total_token_throughput.std",
        },
    ],
    derived: &[],
    notes: &[
        "`pp512` processes a prompt of 512 tokens, `tg128` generates 128 tokens, `pp512+tg128` does both; `@ d4096` comes after \
         4096 tokens of context.",
        "The number behind ± is the standard deviation over repetitions in one process; these are not independent repeats.",
    ],
    reader: || Box::<LlamaBenchReader>::default(),
};

#[derive(Default)]
struct LlamaBenchReader {
    /// The headers of the table that is open.
    headers: Vec<String>,
    /// The line of the table that came last.
    last: u64,
    rows: usize,
}

impl DialectReader for LlamaBenchReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let Some(cells) = cells(line.text) else { return Taken::Nothing };
        if cells.contains(&"test") && cells.last() == Some(&"t/s") {
            facts.begin();
            self.headers = cells.iter().map(|cell| (*cell).to_owned()).collect();
            (self.rows, self.last) = (0, line.number);
            return Taken::Whole;
        }
        if self.headers.is_empty() || line.number > self.last + 1 {
            self.headers.clear();
            return Taken::Nothing;
        }
        self.last = line.number;
        if cells.iter().all(|cell| cell.bytes().all(|byte| matches!(byte, b'-' | b':'))) {
            return Taken::Whole;
        }
        let taken = cells.len() == self.headers.len() && self.row(&cells, facts).is_some();
        if taken { Taken::Whole } else { Taken::Nothing }
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = LlamaBenchReader::default();
    }
}

/// The cells of a row of a pipe table.
fn cells(text: &str) -> Option<Vec<&str>> {
    let inside = text.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

impl LlamaBenchReader {
    fn row(&mut self, cells: &[&str], facts: &mut Facts<'_>) -> Option<()> {
        let (rate, rest) = number(cells.last()?)?;
        let deviation = rest.trim_start().strip_prefix('±').and_then(number).map(|(deviation, _)| deviation);
        if self.rows > 0 {
            facts.split();
            // A row says all about itself: what only the row before had is not in effect.
            for name in ["prompt_length", "output_length", "depth"] {
                facts.draft.forget(name);
            }
        }
        self.rows += 1;
        for (header, cell) in self.headers.iter().zip(cells) {
            match header.as_str() {
                "test" => test(cell, rate, deviation, cells.last()?, facts),
                "t/s" => {}
                header => column(header, cell, facts),
            }
        }
        Some(())
    }
}

fn column(header: &str, cell: &str, facts: &mut Facts<'_>) {
    match header {
        "size" => {
            let Some((value, unit)) = number(cell) else { return };
            if let (Unit::Bytes, factor) = Unit::parse(unit.trim()) {
                facts.value(Value {
                    unit: Some(&Unit::Bytes),
                    ..Value::reported("memory.model", value * factor)
                });
            }
        }
        "params" => {
            let Some((value, unit)) = number(cell) else { return };
            if let Some(factor) = scale(unit.trim()) {
                facts.report(names::PARAMETERS, value * factor);
            }
        }
        _ if cell.is_empty() => {}
        "model" => facts.replace(setting::MODEL, Setting::from(cell), "table"),
        "backend" => facts.replace(setting::DEVICE, Setting::from(cell), "table"),
        "threads" => facts.replace(setting::THREADS, setting_value(cell), "table"),
        "ngl" => facts.replace("layers_on_device", setting_value(cell), "table"),
        other => facts.replace(other, setting_value(cell), "table"),
    }
}

/// What the row measured: `pp512`, `pp 512`, `tg128`, `pp512+tg128`, each perhaps with `@ d4096`.
fn test(cell: &str, rate: f64, deviation: Option<f64>, written: &str, facts: &mut Facts<'_>) {
    facts.replace("test", Setting::from(cell), "table");
    let (work, depth) = cell.split_once('@').unwrap_or((cell, ""));
    if let Some((depth, _)) = depth.trim().strip_prefix('d').and_then(number) {
        facts.replace("depth", setting_number(depth), "table");
    }
    let (mut prompt, mut output) = (false, false);
    for part in work.trim().split('+') {
        if let Some((length, _)) = part.strip_prefix("pp").and_then(number) {
            facts.replace("prompt_length", setting_number(length), "table");
            prompt = true;
        } else if let Some((length, _)) = part.strip_prefix("tg").and_then(number) {
            facts.replace("output_length", setting_number(length), "table");
            output = true;
        }
    }
    let metric = match (prompt, output) {
        (true, false) => names::PROMPT_THROUGHPUT,
        (false, true) => names::OUTPUT_THROUGHPUT,
        (true, true) => names::TOTAL_TOKEN_THROUGHPUT,
        (false, false) => names::TOKENS_PER_S_UNNAMED,
    };
    let written = format!("{written} t/s");
    facts.value(Value::reported(metric, rate).over(Scope::Loop).written(&written));
    if let Some(deviation) = deviation {
        let unit = names::unit(metric);
        facts.value(Value { unit: Some(&unit), ..Value::reported(&format!("{metric}.std"), deviation) });
    }
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};

    #[test]
    fn every_row_is_a_run_with_its_own_settings() {
        let text = "| model | size | params | backend | threads | test | t/s |\n\
                    | --- | ---: | ---: | --- | ---: | ---: | ---: |\n\
                    | tiny | 3.56 GiB | 6.74 B | CPU | 4 | pp 512 | 12.34 ± 0.05 |\n\
                    | tiny | 3.56 GiB | 6.74 B | CPU | 8 | tg 128 | 5.00 ± 0.01 |\n\
                    | tiny | 3.56 GiB | 6.74 B | CPU | 8 | tg 128 @ d64 | 4.00 ± 0.01 |\n\nbuild: 0123abc (4567)\n";
        let mut reader = DocumentReader::new(&Readers::all(&[]), "bench.md");
        reader.feed(text.as_bytes());
        let document = reader.finish();
        assert!(document.tables.is_empty());
        let runs = document.runs;
        assert_eq!(runs.len(), 3);
        let setting = |run: usize, name: &str| {
            let found: Vec<f64> = runs[run]
                .settings
                .iter()
                .filter(|fact| fact.name == name)
                .filter_map(|fact| fact.value.number())
                .collect();
            found
        };
        assert_eq!((setting(0, "threads"), setting(1, "threads")), (vec![4.0], vec![8.0]));
        assert_eq!((setting(0, "prompt_length"), setting(1, "prompt_length")), (vec![512.0], vec![]));
        assert_eq!(setting(2, "depth"), [64.0]);
        let metrics =
            |run: usize| runs[run].observations.iter().map(|o| o.metric.as_str()).collect::<Vec<_>>();
        assert!(metrics(0).contains(&"prompt_throughput") && !metrics(1).contains(&"prompt_throughput"));
    }
}
