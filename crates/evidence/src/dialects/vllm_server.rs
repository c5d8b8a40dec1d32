//! The log of a vLLM server: engine start, key-value cache, throughput every few seconds, failures.

use assay_model::names::{self, setting};
use assay_model::{Keep, KnownBy, Origin, Scope, Unit, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::{after, number, number_after};
use crate::user::setting_value;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "vllm_server",
    title: "vLLM server",
    summary: "engine configuration, start-up, key-value cache, throughput lines old and new, failures",
    needles: &[
        "Avg prompt throughput:",
        "init engine (profile",
        "LLM engine (v",
        "torch.compile takes",
        "Graph capturing finished in",
        "Loading weights took",
        "Model loading took",
        "KV cache size:",
        "KV cache memory:",
        "# GPU blocks:",
        "Maximum concurrency for",
        "EngineDeadError",
        "died unexpectedly",
        "Engine core initialization failed",
        "No available memory for the cache blocks",
    ],
    shapes: &[
        Shape {
            text: "INFO 07-24 14:10:08 [core.py:70] Initializing a V1 LLM engine (v0.9.1) with config: model='acme/tiny-chat', \
                   dtype=torch.bfloat16, max_seq_len=16384, tensor_parallel_size=2, pipeline_parallel_size=1, seed=0",
            reads: "setting model, setting precision, setting max_sequence_length, setting tensor_parallel, \
                    setting pipeline_parallel, setting devices, setting seed",
        },
        Shape {
            text: "INFO 07-24 14:10:08 [core.py:349] init engine (profile, create kv cache, warmup model) took 212.68 s (compilation: 13.01 s)",
            reads: "phase warmup, phase compile, duration.compile",
        },
        Shape {
            text: "INFO 06-05 09:08:36 llm_engine.py:428] init engine (profile, create kv cache, warmup model) took 22.81 seconds",
            reads: "phase warmup",
        },
        Shape {
            text: "INFO 06-05 09:08:00 [monitor.py:33] torch.compile takes 21.52 s in total",
            reads: "phase compile",
        },
        Shape {
            text: "INFO 06-05 09:07:30 [default_loader.py:262] Loading weights took 3.41 seconds\n\
                   INFO 06-05 09:07:31 [gpu_model_runner.py:1595] Model loading took 14.2488 GiB and 4.12 seconds",
            reads: "phase stage, memory.model",
        },
        Shape {
            text: "INFO 06-05 09:08:05 [kv_cache_utils.py:637] GPU KV cache size: 1,131,008 tokens\n\
                   INFO 06-05 09:08:05 [kv_cache_utils.py:640] Maximum concurrency for 131,072 tokens per request: 8.63x",
            reads: "cache.tokens, concurrency.estimated, setting max_sequence_length",
        },
        Shape {
            text: "INFO 06-05 09:08:36 [gpu_model_runner.py:1933] Graph capturing finished in 31 secs, took 0.45 GiB\n\
                   INFO 06-05 09:08:36 [gpu_worker.py:276] Available KV cache memory: 11.03 GiB",
            reads: "duration.graph_capture, memory.cache",
        },
        Shape {
            text: "INFO 02-18 08:50:24 metrics.py:455] Avg prompt throughput: 12.0 tokens/s, Avg generation throughput: 250.1 tokens/s, \
                   Running: 8 reqs, Swapped: 0 reqs, Pending: 1 reqs, GPU KV cache usage: 1.2%, CPU KV cache usage: 0.0%.",
            reads: "prompt_throughput.instant, output_throughput.instant, requests.running, requests.waiting, \
                    cache_use, output_throughput, prompt_throughput",
        },
        Shape {
            text: "(APIServer pid=71) INFO 07-24 14:10:08 [loggers.py:273] Engine 000: Avg prompt throughput: 3539.1 tokens/s, \
                   Avg generation throughput: 3562.1 tokens/s, Running: 126 reqs, Waiting: 0 reqs, GPU KV cache usage: 36.4%, \
                   Prefix cache hit rate: 0.0%",
            reads: "prompt_throughput.instant, output_throughput.instant, requests.running, requests.waiting, \
                    cache_use, cache_hits, output_throughput, prompt_throughput",
        },
        Shape {
            text: "ERROR 07-24 14:11:08 [async_llm.py:420] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
            reads: "status failed",
        },
    ],
    derived: &[
        "`output_throughput` and `prompt_throughput` are means over the throughput lines on which requests ran; idle lines \
         say nothing about speed.",
        "Devices: tensor-parallel times pipeline-parallel size.",
    ],
    notes: &[
        "A run begins where an engine is initialized.",
        "Each throughput line is a mean over the seconds since the line before.",
        "The clock has no year: spans within a day are right.",
        "Maximum concurrency is computed from the cache size, not measured: a prediction.",
        "Engines after the first of a data-parallel server get metrics of their own: `output_throughput.instant.engine_1`.",
    ],
    reader: || Box::<VllmServerReader>::default(),
};

const RATES: &str = "Avg prompt throughput: ";

struct VllmServerReader {
    tokens: Unit,
    requests: Unit,
    /// Where the rates stood on the line before.
    place: Option<usize>,
    /// Lines on which requests ran, and the sums of their rates.
    busy: f64,
    prompt: f64,
    output: f64,
}

impl Default for VllmServerReader {
    fn default() -> VllmServerReader {
        let (tokens, requests) = (Unit::PerSecond("tokens".to_owned()), Unit::Count("requests".to_owned()));
        VllmServerReader { tokens, requests, place: None, busy: 0.0, prompt: 0.0, output: 0.0 }
    }
}

impl DialectReader for VllmServerReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if let Some(place) = text.find(RATES) {
            self.place = Some(place);
            return self.rates(text, place, facts).map_or(Taken::Nothing, |()| Taken::Whole);
        }
        self.place = None;
        if let Some(config) = after(text, "LLM engine (v").and_then(|rest| after(rest, "with config: ")) {
            self.means(facts);
            facts.begin();
            configuration(config, facts);
        } else if !(start_up(text, facts) || cache(text, facts) || failure(text, facts)) {
            return Taken::Nothing;
        }
        Taken::Part
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        let Some(place) = self.place else { return false };
        let same = line.text.get(place..).is_some_and(|text| text.starts_with(RATES));
        same && self.rates(line.text, place, facts).is_some()
    }

    fn end(&mut self, facts: &mut Facts<'_>) {
        self.means(facts);
        *self = VllmServerReader::default();
    }
}

impl VllmServerReader {
    fn rates(&mut self, text: &str, place: usize, facts: &mut Facts<'_>) -> Option<()> {
        let engine = text.get(..place)?.trim_end().strip_suffix(':').and_then(engine).unwrap_or(0);
        let (prompt, rest) = number(text.get(place + RATES.len()..)?)?;
        let (output, rest) = number(rest.strip_prefix(" tokens/s, Avg generation throughput: ")?)?;
        let running = number_after(rest, "Running: ");
        let waiting = number_after(rest, "Waiting: ").or_else(|| number_after(rest, "Pending: "));
        let (tokens, requests) = (&self.tokens, &self.requests);
        let percent = |key| number_after(rest, key).map(|value| value / 100.0);
        for (metric, value, unit, scope) in [
            ("prompt_throughput.instant", Some(prompt), tokens, Some(Scope::Instant)),
            ("output_throughput.instant", Some(output), tokens, Some(Scope::Instant)),
            ("requests.running", running, requests, None),
            ("requests.waiting", waiting, requests, None),
            (names::CACHE_USE, percent("GPU KV cache usage: "), &Unit::Fraction, None),
            ("cache_hits", percent("Prefix cache hit rate: "), &Unit::Fraction, None),
        ] {
            let Some(value) = value else { continue };
            let found =
                Value { unit: Some(unit), scope, keep: Keep::Series, ..Value::reported(metric, value) };
            if engine == 0 {
                facts.value(found);
            } else {
                facts.value(Value { metric: &format!("{metric}.engine_{engine}"), ..found });
            }
        }
        if engine == 0 && running.is_some_and(|running| running > 0.0) {
            self.busy += 1.0;
            self.prompt += prompt;
            self.output += output;
        }
        Some(())
    }

    /// The means over the lines on which requests ran.
    fn means(&mut self, facts: &mut Facts<'_>) {
        if self.busy > 0.0 {
            for (metric, sum) in
                [(names::OUTPUT_THROUGHPUT, self.output), (names::PROMPT_THROUGHPUT, self.prompt)]
            {
                facts.value(Value { count: Some(self.busy), ..Value::derived(metric, sum / self.busy) });
            }
            *self = VllmServerReader::default();
        }
    }
}

/// The number of `Engine 000`.
fn engine(before: &str) -> Option<u32> {
    before.rsplit_once("Engine ")?.1.parse().ok()
}

/// What the engine says it runs with.
fn configuration(config: &str, facts: &mut Facts<'_>) {
    for part in config.split(", ") {
        let Some((name, written)) = part.split_once('=') else { continue };
        let written = written.trim().trim_matches(['\'', '"']).trim_end_matches(')');
        let name = match name.trim() {
            "model" => setting::MODEL,
            "dtype" => setting::PRECISION,
            "max_seq_len" => "max_sequence_length",
            "tensor_parallel_size" => "tensor_parallel",
            "pipeline_parallel_size" => "pipeline_parallel",
            "data_parallel_size" => "data_parallel",
            "quantization" => "quantisation",
            "kv_cache_dtype" => "cache_precision",
            "seed" => setting::SEED,
            _ => continue,
        };
        if !written.is_empty() && written != "None" {
            facts.observe(name, setting_value(written.strip_prefix("torch.").unwrap_or(written)), "log");
        }
    }
    if let Some(tensor) = facts.known("tensor_parallel") {
        let pipeline = facts.known("pipeline_parallel").unwrap_or(1.0);
        let devices = tensor * pipeline;
        let arithmetic = format!("{tensor} tensor-parallel × {pipeline} pipeline-parallel = {devices}");
        facts.infer(setting::DEVICES, setting_number(devices), arithmetic);
    }
}

fn start_up(text: &str, facts: &mut Facts<'_>) -> bool {
    let lacks = |facts: &Facts<'_>, phase| facts.draft.phase_seconds(phase).is_none();
    if let Some((seconds, rest)) =
        after(text, "init engine (profile").and_then(|rest| number(after(rest, "took ")?))
    {
        facts.lasted("warmup", seconds, KnownBy::Script);
        if let Some(compiled) = number_after(rest, "compilation:").filter(|_| lacks(facts, "compile")) {
            facts.lasted("compile", compiled, KnownBy::Script);
        }
    } else if let Some(seconds) = number_after(text, "torch.compile takes") {
        if lacks(facts, "compile") {
            facts.lasted("compile", seconds, KnownBy::Script);
        }
    } else if let Some(seconds) = number_after(text, "Loading weights took") {
        if lacks(facts, "stage") {
            facts.lasted("stage", seconds, KnownBy::Script);
        }
    } else if let Some(seconds) = number_after(text, "Graph capturing finished in") {
        facts.value(Value {
            unit: Some(&Unit::Seconds),
            ..Value::reported("duration.graph_capture", seconds)
        });
    } else if let Some(rest) = after(text, "Model loading took ") {
        let Some(bytes) = binary_bytes(rest) else { return false };
        facts.value(Value { unit: Some(&Unit::Bytes), ..Value::reported("memory.model", bytes) });
    } else {
        return false;
    }
    true
}

fn cache(text: &str, facts: &mut Facts<'_>) -> bool {
    let tokens = Unit::Count("tokens".to_owned());
    if let Some(size) = number_after(text, "KV cache size:") {
        facts.value(Value { unit: Some(&tokens), ..Value::reported("cache.tokens", size) });
    } else if let Some(rest) = after(text, "KV cache memory:") {
        let Some(bytes) = binary_bytes(rest) else { return false };
        facts.value(Value { unit: Some(&Unit::Bytes), ..Value::reported("memory.cache", bytes) });
    } else if let Some(blocks) = number_after(text, "# GPU blocks:") {
        facts.report("cache.blocks", blocks);
    } else if let Some((length, rest)) = after(text, "Maximum concurrency for").and_then(number) {
        let Some(times) = number_after(rest, "per request:") else { return false };
        let unit = Unit::Count("requests".to_owned());
        let origin = Origin::Prediction;
        facts.value(Value { unit: Some(&unit), origin, ..Value::reported("concurrency.estimated", times) });
        facts.observe("max_sequence_length", Setting::Integer(length as i64), "log");
    } else {
        return false;
    }
    true
}

/// vLLM counts in powers of 1024, whatever older releases call it.
fn binary_bytes(text: &str) -> Option<f64> {
    let (value, rest) = number(text)?;
    let rest = rest.trim_start();
    (rest.starts_with("GiB") || rest.starts_with("GB")).then_some(value * 1024.0 * 1024.0 * 1024.0)
}

fn failure(text: &str, facts: &mut Facts<'_>) -> bool {
    let reason = if let Some(place) = text.find("EngineDeadError") {
        text.get(place..).unwrap_or_default()
    } else if text.contains("No available memory for the cache blocks") {
        "no memory is left for the key-value cache"
    } else if text.contains("Engine core initialization failed") {
        "the engine did not start"
    } else if text.contains("died unexpectedly") && text.contains("ngine") {
        "the engine died"
    } else {
        return false;
    };
    facts.failed(reason);
    true
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};

    #[test]
    fn idle_lines_and_other_engines_stay_out_of_the_mean() {
        let line = |engine: u32, rate: f64, running: u32| {
            format!(
                "INFO 07-24 14:10:08 [x.py:1] Engine {engine:03}: Avg prompt throughput: 1,000.0 tokens/s, Avg generation throughput: \
                 {rate:.1} tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\n"
            )
        };
        let text = [line(0, 100.0, 4), line(1, 900.0, 4), line(0, 300.0, 4), line(0, 0.0, 0)].concat();
        let mut reader = DocumentReader::new(&Readers::all(&[]), "server.log");
        reader.feed(text.as_bytes());
        let run = reader.finish().runs.remove(0);
        let mean = run.observations.iter().find(|o| o.metric == "output_throughput").unwrap();
        assert_eq!((mean.value, mean.count), (200.0, Some(2.0)));
        let series =
            |name: &str| run.series.iter().find(|series| series.metric == name).unwrap().values.clone();
        assert_eq!(series("output_throughput.instant"), [100.0, 300.0, 0.0]);
        assert_eq!(series("output_throughput.instant.engine_1"), [900.0]);
        assert_eq!(series("prompt_throughput.instant")[0], 1000.0);
    }
}
