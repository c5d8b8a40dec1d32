//! torchtitan, in the layouts of its releases so far.

use assay_model::names::{self, setting};
use assay_model::{KnownBy, Scope, Status, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, Steps, setting_number};
use crate::line::Line;
use crate::text::{after, between, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "torchtitan",
    title: "torchtitan",
    summary: "step and validation lines, batch sizes, device mesh, parameters, checkpoints, the end of training",
    needles: &[
        "  loss: ",
        "Training starts at step ",
        "Training completed",
        "total parameters",
        "device mesh with ",
        "Finished saving the checkpoint",
        "throughput(tps)=",
    ],
    shapes: &[
        Shape {
            text: "[rank0]:2025-03-01 10:00:05,123 - root - INFO - step: 10  loss:  7.1234  memory: 20.10GiB(25.40%)  tps: \
                   6,123  mfu: 35.50%",
            reads: "loss.train, memory.peak, tokens_per_s.device, mfu",
        },
        Shape {
            text: "[titan] 2025-09-01 10:00:05,123 - root - INFO - step: 10  loss:  7.1234  grad_norm:  1.2041  memory: \
                   20.10GiB(25.40%)  tps: 6,123  tflops: 350.71  mfu: 35.46%",
            reads: "loss.train, gradient_norm, memory.peak, tokens_per_s.device, flops_per_s, mfu",
        },
        Shape {
            text: "2024-06-01 10:00:05,123 - root - INFO - step: 10  loss:  7.1234  memory: 20.10GiB(25.40%)  wps: 6,123  \
                   mfu: 35.50%",
            reads: "loss.train, memory.peak, tokens_per_s.device, mfu",
        },
        Shape {
            text: "[titan] 2025-09-01 10:05:00,000 - root - INFO - validate step: 100  loss:  6.0313  memory: \
                   20.10GiB(25.40%)  tps: 12,400",
            reads: "loss.eval, tokens_per_s.eval",
        },
        Shape {
            text: "2025-03-01 10:00:00,001 - root - INFO - Training starts at step 1, with local batch size 8, global batch \
                   size 64, sequence length 8192, total steps 1000 (warmup 200)",
            reads: "setting micro_batch_size, setting batch_size, setting sequence_length, setting steps, phase train, \
                    status truncated",
        },
        Shape {
            text: "[titan] 2025-09-01 10:00:00,001 - root - INFO - Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]",
            reads: "setting devices",
        },
        Shape {
            text: "2025-09-01 10:00:00,001 - root - INFO - Model llama3 8B size: 8,030,261,248 total parameters",
            reads: "setting model, parameters",
        },
        Shape {
            text: "2025-09-01 10:06:00,001 - root - INFO - Finished saving the checkpoint (or staging if async is enabled)in \
                   1.23 seconds.",
            reads: "phase checkpoint",
        },
        Shape {
            text: "2025-09-01 10:30:00,001 - root - INFO - Training completed",
            reads: "status succeeded",
        },
        Shape {
            text: "[2025-02-03 09:20:14][I][train:458] step=1 global_avg_loss=12.269001 global_max_loss=12.310555 \
                   throughput(tps)=86.019928 mfu(%)=1.330297 end_to_end(s)=2.380844",
            reads: "loss.train, tokens_per_s.device, mfu, step_s",
        },
    ],
    derived: &[
        "Tokens per second of all devices: those of one device times the devices of the mesh, where both are known.",
    ],
    notes: &[
        "`tps` (`wps` in older releases) is per device: the program divides by the devices that share a batch.",
        "Memory is the largest reserved since the last report.",
        "A run begins where training or its steps start again.",
    ],
    reader: || {
        Box::new(TorchtitanReader {
            tokens: Unit::PerSecond("tokens".to_owned()),
            place: None,
            steps: Steps::default(),
        })
    },
};

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const STEP: &str = "step: ";

struct TorchtitanReader {
    tokens: Unit,
    /// Where a step began on the line before.
    place: Option<usize>,
    steps: Steps,
}

impl DialectReader for TorchtitanReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        self.place = None;
        if let Some(place) = text.find(STEP) {
            let before = text.get(..place).unwrap_or_default();
            if before.ends_with("validate ") {
                return self.validation(text, place, facts).map_or(Taken::Nothing, |()| Taken::Whole);
            }
            if self.step(text, place, facts).is_some() {
                self.place = Some(place);
                return Taken::Whole;
            }
            return Taken::Nothing;
        }
        self.stated(text, facts).map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        let Some(place) = self.place else { return false };
        let same = line.text.get(place..).is_some_and(|text| text.starts_with(STEP));
        let validates = line.text.get(..place).is_none_or(|before| before.ends_with("validate "));
        same && !validates && self.step(line.text, place, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        (self.place, self.steps) = (None, Steps::default());
    }
}

impl TorchtitanReader {
    /// `step: 10  loss:  7.1234  memory: 20.10GiB(25.40%)  tps: 6,123  mfu: 35.50%`, in any order after the loss.
    fn step(&mut self, text: &str, place: usize, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(text.get(place + STEP.len()..)?)?;
        let rest = rest.trim_start().strip_prefix("loss:")?;
        // Anything may write steps and losses; the rest of the line shows whose they are.
        let rate = after(rest, "tps:").or_else(|| after(rest, "wps:"));
        if rate.is_none() && !rest.contains("memory:") {
            return None;
        }
        self.steps.next(step, names::LOSS_TRAIN, facts);
        facts.progress(step, None);
        match number(rest) {
            Some((loss, _)) => facts.report_at(names::LOSS_TRAIN, step, loss),
            None => facts.diverged(),
        }
        if let Some(norm) = number_after(rest, "grad_norm:") {
            facts.report_at(names::GRADIENT_NORM, step, norm);
        }
        if let Some(gib) = number_after(rest, "memory:") {
            facts.report_at(names::MEMORY_PEAK, step, gib * GIB);
        }
        if let Some((rate, _)) = rate.and_then(number) {
            self.rate(rate, step, facts);
        }
        if let Some(tera) = number_after(rest, "tflops:") {
            facts.value(Value::reported(names::FLOPS_PER_S, tera * 1e12).at(step).over(Scope::Instant));
        }
        if let Some(percent) = number_after(rest, "mfu:").filter(|percent| *percent >= 0.0) {
            facts.report_at(names::MFU, step, percent / 100.0);
        }
        Some(())
    }

    fn rate(&self, rate: f64, step: f64, facts: &mut Facts<'_>) {
        let value = Value::reported(names::TOKENS_PER_S_DEVICE, rate).at(step).over(Scope::Instant);
        facts.value(Value { unit: Some(&self.tokens), ..value });
        if let Some(devices) = facts.known(setting::DEVICES) {
            facts.value(Value::derived(names::TOKENS_PER_S, rate * devices).at(step).over(Scope::Instant));
        }
    }

    fn validation(&self, text: &str, place: usize, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(text.get(place + STEP.len()..)?)?;
        facts.report_at(names::LOSS_EVAL, step, number_after(rest, "loss:")?);
        if let Some(rate) = number_after(rest, "tps:") {
            let value = Value::reported("tokens_per_s.eval", rate).at(step);
            facts.value(Value { unit: Some(&self.tokens), ..value });
        }
        Some(())
    }

    /// Lines that stand alone.
    fn stated(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        if let Some(rest) = after(text, "Training starts at step ") {
            self.steps.restart(names::LOSS_TRAIN, facts);
            sizes(rest, facts);
            facts.start("train");
            facts.expect_end();
        } else if text.trim_end().ends_with("Training completed") {
            facts.end("train");
            facts.status(Status::Succeeded);
        } else if text.contains("total parameters") && text.contains(" size: ") {
            facts.report(names::PARAMETERS, number_after(text, " size: ")?);
            let model = between(text, "Model ", " size: ")?;
            facts.observe(setting::MODEL, model.trim().into(), "log");
        } else if let Some(mesh) = after(text, "-D device mesh with ") {
            let sizes = after(mesh, "], [")?.split(']').next()?;
            let devices =
                sizes.split(',').map(|size| number(size).map(|(size, _)| size)).product::<Option<f64>>()?;
            facts.observe(setting::DEVICES, setting_number(devices), "log");
        } else if text.contains("Finished saving the checkpoint") {
            facts.lasted("checkpoint", number_after(text, "in ")?, KnownBy::Script);
        } else if text.contains("throughput(tps)=") {
            return self.pairs(text, facts);
        } else {
            return None;
        }
        Some(())
    }

    /// The line of forks that write `name=value`.
    fn pairs(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let step = number_after(text, "step=")?;
        self.steps.next(step, names::LOSS_TRAIN, facts);
        facts.progress(step, None);
        if let Some(loss) = number_after(text, "global_avg_loss=") {
            facts.report_at(names::LOSS_TRAIN, step, loss);
        }
        self.rate(number_after(text, "throughput(tps)=")?, step, facts);
        if let Some(percent) = number_after(text, "mfu(%)=").filter(|percent| *percent >= 0.0) {
            facts.report_at(names::MFU, step, percent / 100.0);
        }
        if let Some(seconds) = number_after(text, "end_to_end(s)=") {
            facts.value(Value::reported(names::STEP_S, seconds).at(step).over(Scope::Instant));
        }
        Some(())
    }
}

/// The sizes that the first line of training states; older releases put colons between.
fn sizes(text: &str, facts: &mut Facts<'_>) {
    for (key, name) in [
        ("local batch size", setting::MICRO_BATCH_SIZE),
        ("global batch size", setting::BATCH_SIZE),
        ("sequence length", setting::SEQUENCE_LENGTH),
        ("total steps", setting::STEPS),
    ] {
        if let Some(value) = number_after(text, key) {
            facts.observe(name, setting_number(value), "log");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::{ReadRun, Status};

    fn runs(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::new("torchtitan", &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    const START: &str = "2025-03-01 10:00:00,000 - root - INFO - Training starts at step 1, with local batch size: 8, \
        global batch size: 64, sequence length: 2048, total steps: 100(warmup 2)\n";

    fn step(step: u32, second: u32) -> String {
        format!(
            "\x1b[36m2025-03-01 10:00:{second:02},000 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss:  7.5  \
             \x1b[33mmemory:  1.00GiB(1.00%)  \x1b[34mtps: 12,345  \x1b[35mmfu: 30.00%\x1b[0m\n"
        )
    }

    #[test]
    fn colours_commas_and_devices() {
        let mesh = "[titan] 2025-03-01 10:00:00,000 - root - INFO - Building 1-D device mesh with ['dp_shard'], [8]\n";
        let found = runs(&(mesh.to_owned() + START + &step(1, 1) + &step(2, 3)));
        assert_eq!(found.len(), 1);
        let value = |metric: &str| found[0].observations.iter().find(|o| o.metric == metric).unwrap().value;
        assert_eq!(value("tokens_per_s.device"), 12_345.0);
        assert_eq!(value("tokens_per_s"), 98_760.0);
        assert_eq!(value("memory.peak"), 1024.0 * 1024.0 * 1024.0);
        assert_eq!(found[0].status, Status::Truncated);
        let batch = found[0].settings.iter().find(|fact| fact.name == "batch_size").unwrap();
        assert_eq!(batch.value.number(), Some(64.0));
    }

    #[test]
    fn training_that_starts_again_is_another_run() {
        let done = "2025-03-01 10:00:09,000 - root - INFO - Training completed\n";
        let one = START.to_owned() + &step(1, 1) + &step(2, 3) + done;
        let found = runs(&(one.clone() + &one));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|run| run.status == Status::Succeeded));
        assert_eq!(found[1].phases[0].seconds, Some(9.0));
    }

    #[test]
    fn other_steps_are_not_taken() {
        assert_eq!(runs("step: 10 loss: 3.5\nnext step: 3 cups\n").len(), 0);
    }
}
