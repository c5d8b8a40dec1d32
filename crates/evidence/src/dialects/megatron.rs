//! Megatron-LM and what is built on it: Megatron-DeepSpeed, Megatron for AMD and Gaudi, Megatron Bridge.

use assay_model::names::{self, setting};
use assay_model::{Scope, Status, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, Steps, setting_number};
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "megatron",
    title: "Megatron-LM",
    summary: "iteration lines, validation, world size, the dump of arguments, start and end of training",
    needles: &[
        "elapsed time per iteration",
        "validation loss at ",
        "using world size:",
        "datetime: ",
        "memory (MB) | allocated:",
        "Total number of parameters in billions",
        "exiting program a",
        "batch_size ...",
        "seq_length ...",
        "train_iters ...",
        "num_layers ...",
        "hidden_size ...",
        "num_attention_heads ...",
        " lr ...",
        " seed ...",
    ],
    shapes: &[
        Shape {
            text: " [2024-05-02 08:15:30] iteration       20/     500 | consumed samples:         1280 | elapsed time per \
                   iteration (ms): 812.5 | throughput per GPU (TFLOP/s/GPU): 155.2 | learning rate: 1.500000E-04 | global \
                   batch size:    64 | lm loss: 8.125000E+00 | loss scale: 1.0 | grad norm: 2.417 | number of skipped \
                   iterations:   0 | number of nan iterations:   0 |",
            reads: "samples, step_s, flops_per_s, learning_rate, setting batch_size, loss.train, gradient_norm, \
                    samples_per_s.instant",
        },
        Shape {
            text: " iteration      20/     500 | consumed samples:  1280 | elapsed time per iteration (ms): 812.5/800.1 | hip \
                   mem usage/free/total/usage_ratio: 153.81GB/102.17GB/255.98GB/60.09% | throughput per GPU \
                   (TFLOP/s/GPU): 567.6/568.0 | tokens per GPU (tokens/s/GPU): 9801.4/9807.3 | global batch size:  64 | \
                   lm loss: 6.5E+00 |",
            reads: "samples, step_s, step_s.mean, memory, flops_per_s, flops_per_s.mean, tokens_per_s.device, \
                    tokens_per_s.device.mean, setting batch_size, loss.train, samples_per_s.instant",
        },
        Shape {
            text: " iteration 20/ 500 | elapsed time per iteration (ms): 812.5 | compute per GPU (TFLOP/s/GPU): 496.3 (avg \
                   496.1) | tokens/s/GPU inst/harmonic mean: 9640.7/9629.8 | lm loss: 6.5E+00 |",
            reads: "step_s, flops_per_s, flops_per_s.mean, tokens_per_s.device, tokens_per_s.device.mean, loss.train",
        },
        Shape {
            text: " iteration 20/ 500 | consumed samples: 1280 | consumed tokens: 2621440 | elapsed time per iteration (s): \
                   0.81 | learning rate: 1.5E-04 | global batch size: 64 | lm loss: 8.1E+00 | actual seqlen: 2048 | \
                   samples per second: 78.8 | tokens per gpu per second (tgs): 20167.7 | TFLOPs: 50.12 |",
            reads: "samples, tokens, step_s, learning_rate, setting batch_size, loss.train, setting sequence_length, \
                    samples_per_s.instant, tokens_per_s.device, flops_per_s",
        },
        Shape {
            text: " validation loss at iteration 100 | lm loss value: 7.031250E+00 | lm loss PPL: 1.131445E+03 |",
            reads: "loss.eval, perplexity",
        },
        Shape {
            text: " validation loss at iteration 500 on test set | lm loss value: 6.9E+00 | lm loss PPL: 9.9E+02 |",
            reads: "loss.test, perplexity.test",
        },
        Shape {
            text: "using world size: 8, data-parallel size: 2, tensor-model-parallel size: 4",
            reads: "setting devices",
        },
        Shape {
            text: "  global_batch_size ............................... 64\n  \
                   micro_batch_size ................................ 4\n  \
                   seq_length ...................................... 2048\n  \
                   train_iters ..................................... 500",
            reads: "declared batch_size, declared micro_batch_size, declared sequence_length, declared steps",
        },
        Shape {
            text: "[before the start of training step] datetime: 2024-05-02 08:15:00\n\
                   [after training is done] datetime: 2024-05-02 08:22:00",
            reads: "phase train, duration.loop, status succeeded",
        },
        Shape {
            text: "[Rank 0] (after 10 iterations) memory (MB) | allocated: 1024.5 | max allocated: 2048.0 | reserved: 2200.0 | \
                   max reserved: 2200.0",
            reads: "memory, memory.peak",
        },
        Shape { text: "Total number of parameters in billions: 6.74", reads: "parameters" },
        Shape {
            text: "exiting program at iteration 500 datetime: 2024-05-02 08:22:00",
            reads: "status succeeded",
        },
    ],
    derived: &[
        "Samples per second of an iteration, where the log does not state them: global batch size over its seconds.",
        "Tokens per second of all devices: those of one device times the world size, where both are known.",
    ],
    notes: &[
        "Of a pair `812.5/800.1` the first is this iteration and the second the running mean of the program.",
        "TFLOP/s and tokens/s are per device; memory in GB is in units of 1024³ bytes, as the program computes it.",
        "The dump of arguments declares batch sizes, sequence length, layers and so on.",
        "A run begins where the world size is stated again or the iterations begin again.",
    ],
    reader: || {
        Box::new(MegatronReader {
            flops: Unit::PerSecond("FLOP".to_owned()),
            tokens: Unit::PerSecond("tokens".to_owned()),
            steps: Steps::default(),
            batch: None,
            sequence: None,
        })
    },
};

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

struct MegatronReader {
    flops: Unit,
    tokens: Unit,
    steps: Steps,
    batch: Option<f64>,
    sequence: Option<f64>,
}

impl DialectReader for MegatronReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if text.contains("elapsed time per iteration") {
            return self.iteration(text, facts).map_or(Taken::Nothing, |()| Taken::Whole);
        }
        let taken = if text.contains("validation loss at ") {
            validation(text, facts)
        } else if text.contains(" ...") {
            argument(text, facts)
        } else {
            self.milestone(text, facts)
        };
        taken.map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        line.text.contains("elapsed time per iteration") && self.iteration(line.text, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        (self.steps, self.batch, self.sequence) = (Steps::default(), None, None);
    }
}

/// What one iteration line says that other numbers follow from.
#[derive(Default)]
struct Iteration {
    seconds: Option<f64>,
    rate_told: bool,
}

impl MegatronReader {
    /// The line of an iteration: fields between bars.
    fn iteration(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(after(text, "iteration ")?)?;
        let (total, _) = number(rest.trim_start().strip_prefix('/')?).unzip();
        if self.steps.next(step, names::STEP_S, facts) {
            (self.batch, self.sequence) = (None, None);
        }
        facts.progress(step, total);
        let mut seen = Iteration::default();
        for field in rest.split('|').skip(1) {
            let field = field.trim();
            // Older forks leave the colon out.
            let Some((name, written)) = field.rsplit_once(':').or_else(|| field.rsplit_once(' ')) else {
                continue;
            };
            self.field(name.trim_end(), written, step, &mut seen, facts);
        }
        let counts = self.batch.zip(seen.seconds).filter(|(_, seconds)| *seconds > 0.0 && !seen.rate_told);
        if let Some((batch, seconds)) = counts {
            let rate = Value::derived(names::SAMPLES_PER_S_INSTANT, batch / seconds).at(step);
            facts.value(rate.over(Scope::Instant).counted(batch, seconds));
        }
        Some(())
    }

    fn field(&mut self, name: &str, written: &str, step: f64, seen: &mut Iteration, facts: &mut Facts<'_>) {
        let Some((value, rest)) = number(written) else {
            if name.ends_with("loss") && written.to_ascii_lowercase().contains("nan") {
                facts.diverged();
            }
            return;
        };
        let mean = rest.strip_prefix('/').or_else(|| rest.strip_prefix(" (avg ")).and_then(number);
        let mean = mean.map(|(mean, _)| mean);
        match name {
            "lm loss" | "loss" => facts.report_at(names::LOSS_TRAIN, step, value),
            "consumed samples" => facts.report_at(names::SAMPLES, step, value),
            "consumed tokens" => facts.report_at(names::TOKENS, step, value),
            "learning rate" => facts.report_at(names::LEARNING_RATE, step, value),
            "grad norm" => facts.report_at(names::GRADIENT_NORM, step, value),
            "elapsed time per iteration (ms)" => {
                self.time(value / 1e3, mean.map(|m| m / 1e3), step, seen, facts)
            }
            "elapsed time per iteration (s)" => self.time(value, mean, step, seen, facts),
            "throughput per GPU (TFLOP/s/GPU)" | "compute per GPU (TFLOP/s/GPU)" | "TFLOPs" | "TFLOPS" => {
                facts.value(Value::reported(names::FLOPS_PER_S, value * 1e12).at(step).over(Scope::Instant));
                if let Some(mean) = mean {
                    let mean = Value::reported("flops_per_s.mean", mean * 1e12).at(step).over(Scope::Loop);
                    facts.value(Value { unit: Some(&self.flops), ..mean });
                }
            }
            "tokens per GPU (tokens/s/GPU)"
            | "tokens/s/GPU inst/harmonic mean"
            | "tokens per gpu per second (tgs)" => self.token_rate(value, mean, step, facts),
            "samples per second" => {
                seen.rate_told = true;
                facts.value(
                    Value::reported(names::SAMPLES_PER_S_INSTANT, value).at(step).over(Scope::Instant),
                );
            }
            "global batch size" if self.batch != Some(value) => {
                self.batch = Some(value);
                facts.observe(setting::BATCH_SIZE, setting_number(value), "log");
            }
            "actual seqlen" if self.sequence != Some(value) => {
                self.sequence = Some(value);
                facts.observe(setting::SEQUENCE_LENGTH, setting_number(value), "log");
            }
            "power per GPU (W/GPU)" => facts.report_at(names::POWER, step, value),
            "hip mem usage/free/total/usage_ratio" | "rocm mem usage/free/total/usage_ratio" => {
                facts.report_at(names::MEMORY, step, value * GIB);
            }
            "number of nan iterations" if value > 0.0 => facts.diverged(),
            _ => {}
        }
    }

    fn time(&self, value: f64, mean: Option<f64>, step: f64, seen: &mut Iteration, facts: &mut Facts<'_>) {
        seen.seconds = Some(value);
        facts.value(Value::reported(names::STEP_S, value).at(step).over(Scope::Instant));
        if let Some(mean) = mean {
            let mean = Value::reported("step_s.mean", mean).at(step).over(Scope::Loop);
            facts.value(Value { unit: Some(&Unit::Seconds), ..mean });
        }
    }

    fn token_rate(&self, value: f64, mean: Option<f64>, step: f64, facts: &mut Facts<'_>) {
        let rate = Value::reported(names::TOKENS_PER_S_DEVICE, value).at(step).over(Scope::Instant);
        facts.value(Value { unit: Some(&self.tokens), ..rate });
        if let Some(mean) = mean {
            let mean = Value::reported("tokens_per_s.device.mean", mean).at(step).over(Scope::Loop);
            facts.value(Value { unit: Some(&self.tokens), ..mean });
        }
        if let Some(devices) = facts.known(setting::DEVICES) {
            facts.value(Value::derived(names::TOKENS_PER_S, value * devices).at(step).over(Scope::Instant));
        }
    }

    fn milestone(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        if let Some(devices) = number_after(text, "using world size:") {
            self.steps.restart(names::STEP_S, facts);
            (self.batch, self.sequence) = (None, None);
            facts.observe(setting::DEVICES, setting_number(devices), "log");
        } else if text.contains("[before the start of training step]") {
            facts.start("train");
            facts.expect_end();
        } else if text.contains("[after training is done]") {
            facts.end("train");
            facts.status(Status::Succeeded);
        } else if text.contains("exiting program after receiving SIGTERM") {
            facts.status(Status::Cancelled { reason: "SIGTERM, after which the program left".to_owned() });
        } else if text.contains("exiting program at iteration") || text.contains("exiting program after") {
            facts.end("train");
            facts.status(Status::Succeeded);
        } else if let Some(billions) = number_after(text, "Total number of parameters in billions") {
            facts.report(names::PARAMETERS, billions * 1e9);
        } else if text.contains("memory (MB) | allocated:") && text.contains("[Rank 0]") {
            facts.report(names::MEMORY, number_after(text, "| allocated:")? * MIB);
            facts.report(names::MEMORY_PEAK, number_after(text, "| max allocated:")? * MIB);
        } else {
            return None;
        }
        Some(())
    }
}

fn validation(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let loss = number_after(text, "lm loss value:").or_else(|| number_after(text, "LM loss:"))?;
    let perplexity = number_after(text, "lm loss PPL:").or_else(|| number_after(text, "LM PPL:"));
    let head = text.split('|').next().unwrap_or_default();
    let (loss_name, perplexity_name) = if head.contains("test set") || head.contains("test data") {
        (names::LOSS_TEST, "perplexity.test")
    } else {
        (names::LOSS_EVAL, names::PERPLEXITY)
    };
    let step = number_after(head, "iteration ");
    facts.value(Value { step, ..Value::reported(loss_name, loss) });
    if let Some(perplexity) = perplexity {
        facts.value(Value { step, ..Value::reported(perplexity_name, perplexity) });
    }
    Some(())
}

/// A line of the dump of arguments: a name, dots, a value.
fn argument(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    let (name, rest) = text.trim().split_once(" ..")?;
    let name = match name.rsplit(' ').next()? {
        "global_batch_size" => setting::BATCH_SIZE,
        "micro_batch_size" => setting::MICRO_BATCH_SIZE,
        "seq_length" => setting::SEQUENCE_LENGTH,
        "train_iters" => setting::STEPS,
        "num_layers" => setting::LAYERS,
        "hidden_size" => setting::D_MODEL,
        "ffn_hidden_size" => setting::D_FF,
        "num_attention_heads" => setting::HEADS,
        "lr" => setting::LEARNING_RATE,
        "seed" => setting::SEED,
        _ => return None,
    };
    let (value, _) = number(rest.trim_start_matches('.'))?;
    facts.declare(name, setting_number(value), "configuration");
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::ReadRun;

    fn runs(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::new("megatron", &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    fn line(step: u32, loss: &str) -> String {
        format!(
            " iteration {step:8}/     100 | elapsed time per iteration (ms): 500.0 | global batch size:    32 | lm loss: {loss} |\n"
        )
    }

    #[test]
    fn arguments_are_declared_and_what_is_seen_is_observed() {
        let dump = "  global_batch_size ............................... 64\n  lr .............................................. 0.0003\n";
        let found = runs(&(dump.to_owned() + &line(10, "5.0E+00")));
        let settings: Vec<(&str, String)> = found[0]
            .settings
            .iter()
            .map(|fact| (fact.by.as_str(), format!("{} {}", fact.name, fact.value)))
            .collect();
        assert_eq!(
            settings,
            [
                ("configuration", "batch_size 64".to_owned()),
                ("configuration", "learning_rate 0.0003".to_owned()),
                ("log", "batch_size 32".to_owned())
            ]
        );
    }

    #[test]
    fn iterations_that_begin_again_are_another_run() {
        let text: String = [(10, "5.0"), (20, "4.0"), (30, "3.5"), (10, "5.1"), (20, "4.2")]
            .iter()
            .map(|(step, loss)| line(*step, loss))
            .collect();
        let found = runs(&text);
        assert_eq!(found.len(), 2);
        let loss =
            |run: &ReadRun| run.series.iter().find(|series| series.metric == "loss.train").cloned().unwrap();
        assert_eq!(loss(&found[0]).values, [5.0, 4.0, 3.5]);
        assert_eq!(loss(&found[1]).steps, [10.0, 20.0]);
        let rate = found[0].observations.iter().find(|o| o.metric == "samples_per_s.instant").unwrap();
        assert_eq!((rate.value, rate.count, rate.seconds), (64.0, Some(32.0), Some(0.5)));
    }

    #[test]
    fn what_two_readers_see_to_begin_again_is_one_run() {
        let timer = |step: u32| {
            format!(
                "[2024-03-07 15:27:02,646] [INFO] [timer.py:260:stop] epoch=0/micro_step={step}/global_step={step}, \
                 RunningAvgSamplesPerSec=61.2, CurrSamplesPerSec=61.3, MemAllocated=1.0GB, MaxMemAllocated=2.0GB\n"
            )
        };
        let one = timer(10) + &line(10, "5.0") + &timer(20) + &line(20, "4.0");
        let mut reader = DocumentReader::new(&Readers::all(&[]), "a.log");
        reader.feed((one.clone() + &one).as_bytes());
        let found = reader.finish().runs;
        assert_eq!(found.len(), 2);
        for run in found {
            for metric in ["samples_per_s.loop", "loss.train"] {
                assert_eq!(
                    run.series.iter().find(|series| series.metric == metric).unwrap().steps,
                    [10.0, 20.0]
                );
            }
        }
    }

    #[test]
    fn a_loss_that_is_no_number_is_a_hint_and_no_value() {
        let found = runs(&line(10, "nan"));
        assert!(found[0].observations.iter().all(|o| o.metric != "loss.train"));
        assert_eq!(found[0].hints.len(), 1);
    }
}
