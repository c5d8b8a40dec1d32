//! Timings of llama.cpp: `llama-cli` and its like at their end, `llama-server` after every request.

use assay_model::names::{self, setting};
use assay_model::{Scope, Unit, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "llama_cpp",
    title: "llama.cpp timings",
    summary: "load, prompt and generation timings of llama.cpp programs and of llama-server",
    needles: &[
        "eval time =",
        "eval time     =",
        "load time =",
        "total time =",
        "system_info: n_threads =",
        "general.name",
        "model params",
        "layers to GPU",
        "n_ctx  ",
        "failed to load model",
    ],
    shapes: &[
        Shape {
            text: "system_info: n_threads = 8 (n_threads_batch = 8) / 16 | CPU : SSE3 = 1",
            reads: "setting threads",
        },
        Shape {
            text: "print_info: general.name     = Tiny Chat 7B\nprint_info: model params     = 6.74 B\n\
                   load_tensors: offloaded 33/33 layers to GPU\nllama_context: n_ctx         = 4096",
            reads: "setting model, parameters, setting layers_on_device, setting sequence_length",
        },
        Shape {
            text: "llama_perf_context_print:        load time =     512.30 ms\n\
                   llama_perf_context_print: prompt eval time =     246.90 ms /    20 tokens (   12.35 ms per token,    81.00 tokens per second)\n\
                   llama_perf_context_print:        eval time =    1270.00 ms /   127 runs   (   10.00 ms per token,   100.00 tokens per second)\n\
                   llama_perf_context_print:       total time =    1530.20 ms /   147 tokens",
            reads: "duration.load, tokens.prompt, prompt_throughput, output_throughput, tpot, duration.loop",
        },
        Shape {
            text: "llama_print_timings:        eval time =    1270.00 ms /   127 runs   (   10.00 ms per token,   100.00 tokens per second)",
            reads: "output_throughput, tpot",
        },
        Shape {
            text: "slot print_timing: id  0 | task 5 | \n\
                   prompt eval time =     246.90 ms /    20 tokens (   12.35 ms per token,    81.00 tokens per second)\n       \
                   eval time =    1234.56 ms /   100 tokens (   12.35 ms per token,    81.00 tokens per second)\n      \
                   total time =    1481.46 ms /   120 tokens",
            reads: "tokens.prompt, prompt_throughput, tokens.output, output_throughput, tpot, e2e",
        },
        Shape { text: "llama_model_load: error: failed to load model 'tiny.gguf'", reads: "status failed" },
    ],
    derived: &[
        "Rates are computed from the milliseconds and the count, which have more digits than the printed rate.",
    ],
    notes: &[
        "A run begins where the next load time is printed; the requests of a server are values of one run.",
        "`runs` counts evaluations after the first token, so it is not the number of tokens generated.",
        "`inf tokens per second` after 0.00 ms is no measurement and is left out.",
        "The total of a program is `duration.loop` (it excludes loading); that of a server's request is `e2e` as the server sees it.",
    ],
    reader: || Box::<LlamaReader>::default(),
};

#[derive(Default)]
struct LlamaReader;

impl DialectReader for LlamaReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if timing(text, facts) || about(text, facts) { Taken::Part } else { Taken::Nothing }
    }
}

/// `… eval time = 1234.56 ms / 100 runs (…)`.
fn timing(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some((before, rest)) = text.split_once(" =") else { return false };
    let before = before.trim_end();
    let Some((milliseconds, rest)) = number(rest).filter(|(_, rest)| rest.trim_start().starts_with("ms"))
    else {
        return false;
    };
    let seconds = milliseconds / 1000.0;
    let counted = after(rest, "/").and_then(number);
    let in_program =
        ["llama_print_timings", "llama_perf", "common_perf"].iter().any(|key| before.contains(key));
    if before.ends_with("load time") {
        if facts.has(names::OUTPUT_THROUGHPUT) || facts.has(names::PROMPT_THROUGHPUT) {
            facts.begin();
        }
        facts.value(Value { unit: Some(&Unit::Seconds), ..Value::reported("duration.load", seconds) });
    } else if before.ends_with("prompt eval time") {
        let Some((tokens, _)) = counted else { return false };
        facts.report(names::TOKENS_PROMPT, tokens);
        rate(names::PROMPT_THROUGHPUT, tokens, seconds, facts);
    } else if before.ends_with("eval time") {
        let Some((count, unit)) = counted else { return false };
        if unit.trim_start().starts_with("tokens") {
            facts.report(names::TOKENS_OUTPUT, count);
        }
        rate(names::OUTPUT_THROUGHPUT, count, seconds, facts);
        if count > 0.0 && seconds > 0.0 {
            facts.value(Value { count: Some(count), ..Value::reported(names::TPOT, seconds / count) });
        }
    } else if before.ends_with("total time") && in_program {
        facts.value(Value::reported(names::DURATION_LOOP, seconds).over(Scope::Loop));
    } else if before.ends_with("total time") && counted.is_some() {
        facts.report(names::E2E, seconds);
    } else {
        return false;
    }
    true
}

/// Nothing is said about speed by no time or no tokens.
fn rate(metric: &str, count: f64, seconds: f64, facts: &mut Facts<'_>) {
    if count > 0.0 && seconds > 0.0 {
        facts.value(Value::reported(metric, count / seconds).over(Scope::Loop).counted(count, seconds));
    }
}

/// What the program says about the model and itself.
fn about(text: &str, facts: &mut Facts<'_>) -> bool {
    if let Some(threads) = number_after(text, "system_info: n_threads =") {
        facts.observe(setting::THREADS, setting_number(threads), "log");
    } else if let Some((_, rest)) = text.split_once("general.name") {
        let Some((_, name)) = rest.split_once('=') else { return false };
        if name.trim().is_empty() {
            return false;
        }
        facts.observe(setting::MODEL, Setting::from(name.trim()), "log");
    } else if let Some(rest) = after(text, "model params") {
        let Some((value, unit)) = rest.split_once('=').and_then(|(_, rest)| number(rest)) else {
            return false;
        };
        let Some(factor) = scale(unit.trim()) else { return false };
        facts.report(names::PARAMETERS, value * factor);
    } else if let Some(layers) = number_after(text, "offloaded ").filter(|_| text.contains("layers to GPU")) {
        facts.observe("layers_on_device", setting_number(layers), "log");
    } else if let Some(rest) = after(text, "n_ctx  ").filter(|_| text.contains("llama")) {
        let Some((length, _)) = rest.split_once('=').and_then(|(_, rest)| number(rest)) else { return false };
        facts.observe(setting::SEQUENCE_LENGTH, setting_number(length), "log");
    } else if text.contains("failed to load model") && text.contains("llama") {
        facts.failed("the model could not be loaded");
    } else {
        return false;
    }
    true
}

/// The factor of `6.74 B` parameters.
pub(super) fn scale(unit: &str) -> Option<f64> {
    match unit {
        "" => Some(1.0),
        "K" => Some(1e3),
        "M" => Some(1e6),
        "B" => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::ReadRun;

    fn read(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::all(&[]), "llama.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    #[test]
    fn no_time_is_no_rate() {
        let runs = read(
            "llama_perf_context_print: prompt eval time =       4.00 ms /     8 tokens (    0.50 ms per token,  2000.00 tokens per second)\n\
             llama_perf_context_print:        eval time =       0.00 ms /     1 runs   (    0.00 ms per token,      inf tokens per second)\n",
        );
        assert!(runs[0].observations.iter().all(|o| o.metric != "output_throughput"));
        assert_eq!(
            runs[0].observations.iter().find(|o| o.metric == "prompt_throughput").unwrap().value,
            2000.0
        );
    }

    #[test]
    fn every_load_time_after_timings_begins_a_run_and_requests_do_not() {
        let run = "llama_print_timings:        load time =   100.00 ms\n\
                   llama_print_timings:        eval time =    1000.00 ms /   100 runs   (   10.00 ms per token, 100.00 tokens per second)\n";
        assert_eq!(read(&run.repeat(3)).len(), 3);
        let request = "       eval time =    1000.00 ms /   100 tokens (   10.00 ms per token, 100.00 tokens per second)\n";
        let runs = read(&request.repeat(3));
        assert_eq!(
            (runs.len(), runs[0].series.iter().find(|s| s.metric == "output_throughput").unwrap().seen),
            (1, 3)
        );
    }
}
