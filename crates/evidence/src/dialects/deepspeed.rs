//! DeepSpeed: its timers, step lines, pipeline engine, configuration dump and launcher.

use assay_model::names::{self, setting};
use assay_model::{Failure, Scope, Status, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, Steps, setting_number};
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "deepspeed",
    title: "DeepSpeed",
    summary: "throughput timers, step and pipeline lines, the configuration dump, what the launcher says of its processes",
    needles: &[
        "SamplesPerSec=",
        ", skipped=",
        " iter time (s): ",
        "train_batch_size ..",
        "train_micro_batch_size_per_gpu ",
        "gradient_accumulation_steps ..",
        "dist_world_size=",
        "exits with return code = ",
        "exits successfully.",
    ],
    shapes: &[
        Shape {
            text: "[2024-03-07 15:27:02,646] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step=10, \
                   RunningAvgSamplesPerSec=61.2, CurrSamplesPerSec=61.35, MemAllocated=4.32GB, MaxMemAllocated=38.49GB",
            reads: "samples_per_s.loop, samples_per_s.instant, memory, memory.peak",
        },
        Shape {
            text: "[2022-08-29 06:58:56,176] [INFO] [timer.py:198:stop] 0/20, RunningAvgSamplesPerSec=232.7, \
                   CurrSamplesPerSec=227.5, MemAllocated=0.36GB, MaxMemAllocated=15.06GB",
            reads: "samples_per_s.loop, samples_per_s.instant, memory, memory.peak",
        },
        Shape {
            text: "[2021-01-05 06:58:56,176] [INFO] [timer.py:154:stop] 0/20, SamplesPerSec=118.4",
            reads: "samples_per_s.loop",
        },
        Shape {
            text: "[2024-03-07 15:27:02,645] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=2, lr=[4.99e-05, \
                   4.99e-05], mom=[(0.9, 0.95), (0.9, 0.95)]",
            reads: "learning_rate, steps.skipped",
        },
        Shape {
            text: "steps: 10 loss: 2.3110 iter time (s): 1.212 samples/sec: 13.201",
            reads: "loss.train, step_s, samples_per_s.instant",
        },
        Shape {
            text: "[2024-03-07 15:26:02,645] [INFO] [config.py:988:print]   train_batch_size ............. 64\n\
                   [2024-03-07 15:26:02,645] [INFO] [config.py:988:print]   train_micro_batch_size_per_gpu  8",
            reads: "declared batch_size, declared micro_batch_size",
        },
        Shape {
            text: "[2024-03-07 15:25:02,645] [INFO] [launch.py:164:main] dist_world_size=8",
            reads: "setting devices",
        },
        Shape {
            text: "[2024-03-07 15:40:02,645] [INFO] [launch.py:347:main] Process 4711 exits successfully.",
            reads: "status succeeded",
        },
        Shape {
            text: "[2024-03-07 15:40:02,645] [ERROR] [launch.py:321:sigkill_handler] ['python', '-u', 'train.py', \
                   '--local_rank=7'] exits with return code = -9",
            reads: "status failed, hint",
        },
    ],
    derived: &[],
    notes: &[
        "RunningAvgSamplesPerSec (SamplesPerSec in the oldest releases) is taken over the loop, without its first steps; \
         CurrSamplesPerSec over the last step.",
        "Memory in GB is in units of 1024³ bytes, as the program computes it.",
        "The configuration dump declares batch sizes.",
        "A negative return code is the signal that ended the process.",
    ],
    reader: || {
        Box::new(DeepspeedReader { skipped: Unit::Count("steps".to_owned()), steps: Steps::default() })
    },
};

const STEPS_SKIPPED: &str = "steps.skipped";
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

struct DeepspeedReader {
    skipped: Unit,
    steps: Steps,
}

impl DialectReader for DeepspeedReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if self.step_line(text, facts).is_some() {
            return Taken::Whole;
        }
        let taken = if text.contains(" iter time (s): ") {
            self.pipeline(text, facts)
        } else {
            configuration(text, facts).or_else(|| launcher(text, facts))
        };
        taken.map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        self.step_line(line.text, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        self.steps = Steps::default();
    }
}

impl DeepspeedReader {
    /// Timer lines and step lines stand in turn in a log.
    fn step_line(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        self.timer(text, facts).or_else(|| self.step(text, facts))
    }

    /// Notes a step of a line that gives a metric.
    fn at(&mut self, step: f64, metric: &str, facts: &mut Facts<'_>) {
        self.steps.next(step, metric, facts);
        facts.progress(step, None);
    }

    fn timer(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let place = memchr::memmem::find(text.as_bytes(), b"SamplesPerSec=")?;
        let head = text.get(..place)?.rsplit_once(", ")?.0;
        let head = head.rsplit_once('/')?.1;
        let (step, _) = number(head.strip_prefix("global_step=").unwrap_or(head))?;
        let (average, rest) = number(text.get(place + "SamplesPerSec=".len()..)?)?;
        self.at(step, names::SAMPLES_PER_S_LOOP, facts);
        facts.value(Value::reported(names::SAMPLES_PER_S_LOOP, average).at(step).over(Scope::Loop));
        if let Some(rate) = number_after(rest, "CurrSamplesPerSec=") {
            facts.value(Value::reported(names::SAMPLES_PER_S_INSTANT, rate).at(step).over(Scope::Instant));
        }
        if let Some(gib) = number_after(rest, " MemAllocated=") {
            facts.report_at(names::MEMORY, step, gib * GIB);
        }
        if let Some(gib) = number_after(rest, " MaxMemAllocated=") {
            facts.report_at(names::MEMORY_PEAK, step, gib * GIB);
        }
        Some(())
    }

    fn step(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(after(text, " step=")?)?;
        let (skipped, rest) = number(rest.strip_prefix(", skipped=")?)?;
        self.at(step, STEPS_SKIPPED, facts);
        let skipped = Value::reported(STEPS_SKIPPED, skipped).at(step);
        facts.value(Value { unit: Some(&self.skipped), ..skipped });
        if let Some((rate, _)) = rest.strip_prefix(", lr=[").and_then(number) {
            facts.report_at(names::LEARNING_RATE, step, rate);
        }
        Some(())
    }

    /// The line of the pipeline engine.
    fn pipeline(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        let (step, rest) = number(after(text, "steps: ")?)?;
        let rest = rest.trim_start().strip_prefix("loss: ")?;
        self.at(step, names::STEP_S, facts);
        match number(rest) {
            Some((loss, _)) => facts.report_at(names::LOSS_TRAIN, step, loss),
            None => facts.diverged(),
        }
        facts.value(Value::reported(names::STEP_S, number_after(rest, "iter time (s): ")?).at(step));
        if let Some(rate) = number_after(rest, "samples/sec: ") {
            facts.value(Value::reported(names::SAMPLES_PER_S_INSTANT, rate).at(step).over(Scope::Instant));
        }
        Some(())
    }
}

/// A line of the configuration dump.
fn configuration(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    for (key, name) in [
        ("train_micro_batch_size_per_gpu ", setting::MICRO_BATCH_SIZE),
        (" train_batch_size ..", setting::BATCH_SIZE),
        ("gradient_accumulation_steps ..", "gradient_accumulation_steps"),
    ] {
        if let Some(rest) = after(text, key) {
            let (value, _) = number(rest.trim_start_matches(['.', ' ']))?;
            facts.declare(name, setting_number(value), "configuration");
            return Some(());
        }
    }
    None
}

/// What the launcher says of the processes it started.
fn launcher(text: &str, facts: &mut Facts<'_>) -> Option<()> {
    if let Some(devices) = number_after(text, "dist_world_size=") {
        facts.observe(setting::DEVICES, setting_number(devices), "log");
    } else if let Some((code, _)) = after(text, "exits with return code = ").and_then(number) {
        let code = code as i32;
        let failure =
            if code < 0 { Failure::Signal { signal: code.saturating_neg() } } else { Failure::Exit { code } };
        facts.status(Status::Failed { failure });
        if code == -9 {
            facts.hint(
                "a process was killed by signal 9",
                "most often the host ran out of memory: ask for more, offload less, or use fewer loader processes",
            );
        }
    } else if text.contains("Process ") && text.contains("exits successfully.") {
        facts.status(Status::Succeeded);
    } else {
        return None;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::{Failure, ReadRun, Status};

    fn runs(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::new("deepspeed", &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    #[test]
    fn one_process_that_was_killed_outweighs_those_that_ended_well() {
        let found = runs(
            "[2024-03-07 15:40:02,645] [INFO] [launch.py:347:main] Process 4711 exits successfully.\n\
             [2024-03-07 15:40:03,645] [ERROR] [launch.py:321:sigkill_handler] ['python'] exits with return code = -9\n\
             [2024-03-07 15:40:04,645] [INFO] [launch.py:347:main] Process 4712 exits successfully.\n",
        );
        assert_eq!(found[0].status, Status::Failed { failure: Failure::Signal { signal: 9 } });
    }

    #[test]
    fn steps_and_rates_stand_at_their_step() {
        let line = |step: u32| {
            format!(
                "[2024-03-07 15:27:02,645] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[1e-05], mom=[0.9]\n\
                 [2024-03-07 15:27:02,646] [INFO] [timer.py:260:stop] epoch=0/micro_step={0}/global_step={step}, \
                 RunningAvgSamplesPerSec=61.2, CurrSamplesPerSec=60.{step}, MemAllocated=1.0GB, MaxMemAllocated=2.0GB\n",
                step * 4
            )
        };
        let found = runs(&(line(10) + &line(20) + &line(10)));
        assert_eq!(found.len(), 2);
        let rate = found[0].series.iter().find(|series| series.metric == "samples_per_s.instant").unwrap();
        assert_eq!(
            (rate.steps.as_slice(), rate.values.as_slice()),
            ([10.0, 20.0].as_slice(), [60.10, 60.20].as_slice())
        );
    }

    #[test]
    fn a_cut_line_gives_what_is_there() {
        let found = runs("[x] epoch=0/micro_step=4/global_step=1, RunningAvgSamplesPerSec=61.2, CurrSampl");
        assert_eq!(found[0].observations.len(), 1);
    }
}
