//! MLPerf training logs: lines that begin with `:::MLLOG`.

use assay_model::names::{self, setting};
use assay_model::{KnownBy, Scope, Status};
use serde_json::Value as Json;

use super::{Dialect, DialectReader, Shape, Taken};
use crate::clock::Stamp;
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::after;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "mlperf",
    title: "MLPerf",
    summary: "training logs: hyperparameters, phases, throughput, quality and how the run ended",
    needles: &[MARK],
    shapes: &[
        Shape {
            text: ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1700000000000, \"event_type\": \"POINT_IN_TIME\", \"key\": \
                   \"global_batch_size\", \"value\": 2048, \"metadata\": {\"file\": \"train.py\", \"lineno\": 12}}",
            reads: "setting batch_size",
        },
        Shape {
            text: ":::MLLOG {\"time_ms\": 1700000000000, \"event_type\": \"INTERVAL_START\", \"key\": \"init_start\", \"value\": \
                   null, \"metadata\": {}}\n\
                   :::MLLOG {\"time_ms\": 1700000060000, \"event_type\": \"INTERVAL_END\", \"key\": \"init_stop\", \"value\": \
                   null, \"metadata\": {}}\n\
                   :::MLLOG {\"time_ms\": 1700000060000, \"event_type\": \"INTERVAL_START\", \"key\": \"run_start\", \"value\": \
                   null, \"metadata\": {}}\n\
                   :::MLLOG {\"time_ms\": 1700000360000, \"event_type\": \"INTERVAL_START\", \"key\": \"eval_start\", \
                   \"value\": null, \"metadata\": {\"epoch_num\": 4}}\n\
                   :::MLLOG {\"time_ms\": 1700000370000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"eval_accuracy\", \
                   \"value\": 0.7592, \"metadata\": {\"epoch_num\": 4}}\n\
                   :::MLLOG {\"time_ms\": 1700000370000, \"event_type\": \"INTERVAL_END\", \"key\": \"eval_stop\", \"value\": \
                   null, \"metadata\": {\"epoch_num\": 4}}\n\
                   :::MLLOG {\"time_ms\": 1700000371000, \"event_type\": \"INTERVAL_END\", \"key\": \"run_stop\", \"value\": \
                   null, \"metadata\": {\"status\": \"success\"}}",
            reads: "phase stage, phase train, phase eval, accuracy, duration.fit, status succeeded",
        },
        Shape {
            text: "0: :::MLLOG {\"time_ms\": 1700000200000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"tracked_stats\", \
                   \"value\": {\"throughput\": 30.69, \"loss\": 1.31, \"lr\": 0.0004}, \"metadata\": {\"step\": 3072}}",
            reads: "samples_per_s.loop, loss.train, learning_rate",
        },
        Shape {
            text: ":::MLLOG {\"time_ms\": 1700000371000, \"event_type\": \"INTERVAL_END\", \"key\": \"run_stop\", \"value\": \
                   null, \"metadata\": {\"status\": \"aborted\"}}",
            reads: "status aborted",
        },
    ],
    derived: &[
        "`duration.fit`: from run_start to run_stop, the time to train by MLPerf's rules.",
        "`devices`: accelerators of a node times nodes, where both are logged.",
    ],
    notes: &[
        "`eval_accuracy` is whatever the benchmark's target is: a loss for language models (gpt3, llama, mixtral, deepseek, \
         flux), a word error rate for rnnt, an accuracy otherwise if it lies between 0 and 1, else `quality`.",
        "The throughput of gpt3 logs counts tokens, that of others samples.",
        "Training and evaluation take turns as phases; initialization is `stage`.",
        "A run begins at the first line after a run_stop.",
    ],
    reader: || Box::<MlperfReader>::default(),
};

const MARK: &str = ":::MLLOG ";

#[derive(Default)]
struct MlperfReader {
    benchmark: String,
    began_ms: Option<f64>,
    finished: bool,
    /// Whether the log shows where blocks of training begin.
    blocks: bool,
    nodes: Option<f64>,
    accelerators: Option<f64>,
}

impl DialectReader for MlperfReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        self.take(line.text, facts).map_or(Taken::Nothing, |()| Taken::Whole)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        self.take(line.text, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = MlperfReader::default();
    }
}

impl MlperfReader {
    fn take(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let json = after(text, MARK)?;
        // Something else may be glued behind the object.
        let event: Json = serde_json::Deserializer::from_str(json).into_iter().next()?.ok()?;
        let key = event.get("key")?.as_str()?;
        if self.finished && matches!(key, "cache_clear" | "init_start" | "submission_benchmark" | "run_start")
        {
            facts.begin();
            *self = MlperfReader::default();
        }
        let time_ms = event.get("time_ms").and_then(Json::as_f64);
        if let Some(time_ms) = time_ms {
            facts.at_time(Stamp { seconds: time_ms / 1e3, dated: true, zoned: true });
        }
        let value = event.get("value").unwrap_or(&Json::Null);
        let metadata = event.get("metadata").unwrap_or(&Json::Null);
        self.interval(key, time_ms, metadata, facts);
        self.measured(key, value, metadata, facts);
        self.setting(key, value, facts);
        Some(())
    }

    fn interval(&mut self, key: &str, time_ms: Option<f64>, metadata: &Json, facts: &mut Facts<'_>) {
        match key {
            "init_start" => facts.start("stage"),
            "init_stop" => facts.end("stage"),
            "run_start" => {
                self.began_ms = self.began_ms.or(time_ms);
                facts.end("stage");
                facts.start("train");
                facts.expect_end();
            }
            "block_start" => {
                self.blocks = true;
                facts.start("train");
            }
            "block_stop" => facts.end("train"),
            "eval_start" => facts.turn("train", "eval"),
            "eval_stop" => {
                facts.end("eval");
                if !self.blocks {
                    facts.start("train");
                }
            }
            "run_stop" if !self.finished => {
                self.finished = true;
                facts.end("eval");
                facts.end("train");
                if let (Some(began), Some(ended)) = (self.began_ms, time_ms) {
                    facts.value(Value::derived(names::DURATION_FIT, (ended - began) / 1e3).over(Scope::Fit));
                }
                match metadata.get("status").and_then(Json::as_str) {
                    Some("success") => facts.status(Status::Succeeded),
                    Some(other) => facts.status(Status::Aborted { reason: format!("run_stop says {other}") }),
                    None => {}
                }
            }
            _ => {}
        }
    }

    fn measured(&self, key: &str, value: &Json, metadata: &Json, facts: &mut Facts<'_>) {
        let step = ["step", "step_num", "samples_count", "epoch_num"]
            .iter()
            .find_map(|name| metadata.get(name).and_then(Json::as_f64));
        match key {
            "eval_accuracy" => {
                if let Some(score) = value.as_f64() {
                    facts.value(Value { step, ..Value::reported(self.quality(score), score) });
                }
            }
            "eval_error" | "eval_loss" => {
                if let Some(loss) = value.as_f64() {
                    facts.value(Value { step, ..Value::reported(names::LOSS_EVAL, loss) });
                }
            }
            "train_loss" => {
                let loss = value.as_f64().or_else(|| value.get("train_loss").and_then(Json::as_f64));
                if let Some(loss) = loss {
                    facts.value(Value { step, ..Value::reported(names::LOSS_TRAIN, loss) });
                }
            }
            "tracked_stats" | "throughput" => self.tracked(key, value, step, facts),
            _ => {}
        }
    }

    fn tracked(&self, key: &str, value: &Json, step: Option<f64>, facts: &mut Facts<'_>) {
        let number =
            |name: &str| if key == name { value.as_f64() } else { value.get(name).and_then(Json::as_f64) };
        let tokens = self.benchmark.starts_with("gpt3");
        let rate = if tokens { names::TOKENS_PER_S } else { names::SAMPLES_PER_S_LOOP };
        for (name, metric) in [
            ("throughput", rate),
            ("loss", names::LOSS_TRAIN),
            ("train_loss", names::LOSS_TRAIN),
            ("reduced_train_loss", names::LOSS_TRAIN),
            ("lr", names::LEARNING_RATE),
        ] {
            if let Some(value) = number(name) {
                let scope = (name == "throughput").then_some(Scope::Loop);
                facts.value(Value { step, scope, ..Value::reported(metric, value) });
            }
        }
        if let Some(seconds) = number("validation_time") {
            facts.lasted("eval", seconds, KnownBy::Script);
        }
    }

    /// What the score of this benchmark is.
    fn quality(&self, score: f64) -> &'static str {
        let losses = ["gpt3", "llama", "mixtral", "deepseek", "flux", "moe"];
        if losses.iter().any(|name| self.benchmark.contains(name)) {
            names::LOSS_EVAL
        } else if self.benchmark.contains("rnnt") {
            "error_rate.word"
        } else if (0.0..=1.0).contains(&score) {
            names::ACCURACY
        } else {
            names::QUALITY
        }
    }

    fn setting(&mut self, key: &str, value: &Json, facts: &mut Facts<'_>) {
        if key == "submission_benchmark" {
            let benchmark = value.as_str().unwrap_or_default();
            benchmark.clone_into(&mut self.benchmark);
            if !benchmark.is_empty() {
                facts.observe(setting::MODEL, benchmark.into(), "log");
            }
            return;
        }
        let Some(number) = value.as_f64() else { return };
        let name = match key {
            "global_batch_size" => setting::BATCH_SIZE,
            "seed" => setting::SEED,
            "opt_base_learning_rate" => setting::LEARNING_RATE,
            "max_sequence_length" => setting::SEQUENCE_LENGTH,
            "max_steps" => setting::STEPS,
            "number_of_nodes" => setting::NODES,
            "gradient_accumulation_steps" | "train_samples" | "eval_samples" => key,
            "accelerators_per_node" => {
                self.accelerators = Some(number);
                self.devices(facts);
                return;
            }
            _ => return,
        };
        facts.observe(name, setting_number(number), "log");
        if key == "number_of_nodes" {
            self.nodes = Some(number);
            self.devices(facts);
        }
    }

    fn devices(&self, facts: &mut Facts<'_>) {
        if let Some((nodes, each)) = self.nodes.zip(self.accelerators) {
            let arithmetic = format!("{nodes} nodes × {each} accelerators = {}", nodes * each);
            facts.infer(setting::DEVICES, setting_number(nodes * each), arithmetic);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::{ReadRun, Status};

    fn runs(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::new("mlperf", &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    fn event(second: u32, key: &str, value: &str, metadata: &str) -> String {
        let time_ms = 1_700_000_000_000_u64 + u64::from(second) * 1000;
        format!(
            ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {time_ms}, \"event_type\": \"X\", \"key\": \"{key}\", \
             \"value\": {value}, \"metadata\": {{{metadata}}}}}\n"
        )
    }

    fn run(status: &str) -> String {
        event(0, "submission_benchmark", "\"llama2_70b_lora\"", "")
            + &event(1, "number_of_nodes", "2", "")
            + &event(1, "accelerators_per_node", "8", "")
            + &event(10, "run_start", "null", "")
            + &event(110, "eval_start", "null", "\"samples_count\": 384")
            + &event(130, "eval_accuracy", "0.93", "\"samples_count\": 384")
            + &event(130, "eval_stop", "null", "\"samples_count\": 384")
            + &event(150, "run_stop", "null", status)
    }

    #[test]
    fn several_runs_with_phases_and_ends() {
        let found = runs(&(run("\"status\": \"success\"") + &run("\"status\": \"aborted\"")));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].status, Status::Succeeded);
        assert_eq!(found[1].status.word(), "aborted");
        let lengths: Vec<(&str, Option<f64>)> =
            found[1].phases.iter().map(|phase| (phase.name.as_str(), phase.seconds)).collect();
        assert_eq!(lengths, [("train", Some(100.0)), ("eval", Some(20.0)), ("train", Some(20.0))]);
        let value = |metric: &str| found[0].observations.iter().find(|o| o.metric == metric).map(|o| o.value);
        assert_eq!(
            (value("loss.eval"), value("accuracy"), value("duration.fit")),
            (Some(0.93), None, Some(140.0))
        );
        let devices = found[0].settings.iter().find(|fact| fact.name == "devices").unwrap();
        assert_eq!((devices.value.number(), devices.by.as_str()), (Some(16.0), "arithmetic"));
    }

    #[test]
    fn a_run_without_its_stop_breaks_off_and_cut_lines_are_passed_over() {
        let text = run("\"status\": \"success\"");
        let found = runs(&text[..text.len() - 20]);
        assert_eq!(found[0].status, Status::Truncated);
    }

    #[test]
    fn what_is_not_a_number_is_absent() {
        let found = runs(&(event(0, "run_start", "null", "") + &event(1, "eval_accuracy", "null", "")));
        assert!(found[0].observations.iter().all(|o| o.metric != "accuracy"));
    }
}
