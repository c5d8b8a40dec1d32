//! Cerebras appliance logs: `run.py` of the older releases and `cszoo` of the newer ones.

use assay_model::names::{self, setting};
use assay_model::{Scope, Status, Unit, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::clock::Stamp;
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{after, between, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "cerebras",
    title: "Cerebras",
    summary: "appliance logs, release 1.x and 2.x: queue, compile, staging, training, evaluation, failures",
    needles: &[
        "Effective batch size is",
        "Train Device=",
        "Eval Device=",
        "ob id: wsjob-",
        "job id: wsjob",
        "Poll ingress",
        "Ingress is ready",
        "Compile was successful",
        "Compiling the model",
        "Compile artifacts",
        "image build job",
        "new execute wsjob",
        "optimizations...",
        "Code generation...",
        "Compiling kernels",
        "Compiling final image",
        "Compiling image",
        "Preparing to execute using",
        "device programming",
        "Device programming",
        "Beginning appliance run",
        "Saving checkpoint at step",
        "Saved checkpoint",
        "sample(s) in",
        "Training completed successfully",
        "Evaluation completed successfully",
        "Avg Eval Loss",
        "eval/",
        "wsjob-",
        "Appliance",
        "ClusterJobCancelledByCsctl",
    ],
    shapes: &[
        Shape {
            text: "2024-03-30 14:09:43,663 INFO:   Effective batch size is 512.",
            reads: "setting batch_size",
        },
        Shape {
            text: "2024-03-30 14:10:28,536 INFO:   compile job id: wsjob-sample1, remote log path: /n1/logs\n\
                   2024-03-30 14:10:38,581 INFO:   Poll ingress status: Waiting for job running, current job status: \
                   Queueing, msg: job is queueing.\n\
                   2024-03-30 14:13:58,669 INFO:   Poll ingress status: Waiting for job running, current job status: \
                   Scheduled, msg: job is scheduled.\n\
                   2024-03-30 14:14:48,744 INFO:   Ingress is ready: Job ingress ready, poll ingress success.\n\
                   2024-03-30 14:14:52,703 INFO:   Compile was successful!",
            reads: "phase queue, phase schedule, phase compile, duration.queue, duration.compile, duration.job, hint, \
                    setting compile_cache",
        },
        Shape {
            text: "2024-03-30 15:16:16,590 INFO:   Beginning appliance run\n\
                   2024-03-30 15:16:33,873 INFO:   | Train Device=CSX, Step=100, Loss=9.39062, Rate=2983.97 samples/sec, \
                   GlobalRate=2983.97 samples/sec",
            reads: "phase train, loss.train, samples_per_s.instant, samples_per_s.loop, status truncated",
        },
        Shape {
            text: "2025-10-02 10:00:50,100 INFO:   | Train Device=CSX, Step=50, Loss=7.67000, Rate=33.06 samples/sec, \
                   GlobalRate=33.06 samples/sec, LoopTimeRemaining=0:10:52, TimeRemaining>0:10:52",
            reads: "loss.train, samples_per_s.instant, samples_per_s.loop",
        },
        Shape {
            text: "| Eval Device=CSX, GlobalStep=400, Batch=100, Loss=5.90000, Rate=150.2 samples/sec, \
                   GlobalRate=150.1 samples/sec\nAvg Eval Loss: 5.928\neval/accuracy: 0.169",
            reads: "phase eval, loss.eval, accuracy",
        },
        Shape {
            text: "2024-03-30 15:20:24,238 INFO:   Training completed successfully!\n\
                   2024-03-30 15:20:24,238 INFO:   Processed 512000 sample(s) in 175.070497198 seconds.",
            reads: "status succeeded, samples, duration.reported, samples_per_s",
        },
        Shape {
            text: "Job wsjob-sample2 failed due to: 1 replica(s) failed: worker-3 exit code 137",
            reads: "status failed, hint",
        },
    ],
    derived: &[
        "`Processed N sample(s) in T seconds` has three meanings by release. T is tested against the last GlobalRate and the \
         timestamps: `duration.loop` if N/T is the GlobalRate, `duration.fit` if the loop was shorter, and \
         `duration.reported` where nothing decides.",
        "Batch size in effect: samples processed over the last step.",
        "`duration.compile_job` spans a compile job from its request to its success, with its queue; \
         `duration.execute_wait` an execute job from its request to its machine; `duration.stage` from there to the first \
         step, with programming; `duration.from_compile` everything from the request to compile to the end.",
        "A compilation without compiler passes that took less than half a minute came from the cache.",
    ],
    notes: &[
        "A run begins at the effective batch size; a log may hold several.",
        "Queue lasts from the job id to the poll that says Scheduled, schedule from there to the ingress.",
        "`Processed …` is printed after a crash too; it does not mean success.",
        "`| Training Device=xla:…` is PyTorch/XLA and not read here.",
    ],
    reader: || Box::<CerebrasReader>::default(),
};

#[derive(Default)]
struct CerebrasReader {
    /// Where the shape of a step line began on the line before.
    step_shape: Option<usize>,
    last_step: Option<f64>,
    passes_seen: bool,
    compiling: bool,
    marks: Marks,
}

/// When the parts of a job began that span several phases.
#[derive(Default)]
struct Marks {
    compile: Option<Stamp>,
    execute: Option<Stamp>,
    ready: Option<Stamp>,
}

/// States the time from a mark to this line.
fn span(metric: &str, from: Option<Stamp>, facts: &mut Facts<'_>) {
    if let (Some(from), Some(now)) = (from, facts.stamp()) {
        let seconds = now.after(from);
        if seconds >= 0.0 {
            facts.value(Value { unit: Some(&Unit::Seconds), ..Value::derived(metric, seconds) });
        }
    }
}

const STEP: &str = "| Train Device=";

impl DialectReader for CerebrasReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if let Some(place) = text.find(STEP) {
            self.step_shape = Some(place);
            return self.step(text, place, facts).map_or(Taken::Nothing, |()| Taken::Whole);
        }
        self.step_shape = None;
        if text.contains("Training Device=") {
            return Taken::Nothing;
        }
        if self.milestone(text, facts) || self.waiting(text, facts) || result(self, text, facts) {
            facts.platform("cerebras");
            Taken::Part
        } else {
            Taken::Nothing
        }
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        let Some(place) = self.step_shape else { return false };
        let same = line.text.get(place..).is_some_and(|text| text.starts_with(STEP));
        same && self.step(line.text, place, facts).is_some()
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = CerebrasReader::default();
    }
}

impl CerebrasReader {
    /// The line of a step: the hot path of every long log.
    fn step(&mut self, text: &str, place: usize, facts: &mut Facts<'_>) -> Option<()> {
        let rest = text.get(place + STEP.len()..)?;
        let rest = rest.get(memchr::memchr(b',', rest.as_bytes())?..)?;
        let (step, rest) = number(rest.strip_prefix(", Step=")?)?;
        let rest = rest.strip_prefix(", Loss=")?;
        let (loss, rest) = match number(rest) {
            Some((loss, rest)) => (Some(loss), rest),
            None => (None, rest.get(memchr::memchr(b',', rest.as_bytes())?..)?),
        };
        if facts.open_phase().is_none() {
            facts.platform("cerebras");
        }
        match loss {
            Some(loss) => facts.report_at(names::LOSS_TRAIN, step, loss),
            None => facts.diverged(),
        }
        if let Some((rate, rest)) = rest.strip_prefix(", Rate=").and_then(number) {
            let instant = Value::reported(names::SAMPLES_PER_S_INSTANT, rate).at(step).over(Scope::Instant);
            facts.value(instant);
            let global = rest.strip_prefix(" samples/sec, GlobalRate=").and_then(number);
            if let Some((global, _)) = global {
                facts.value(Value::reported(names::SAMPLES_PER_S_LOOP, global).at(step).over(Scope::Loop));
            }
        }
        self.last_step = Some(step);
        Some(())
    }

    /// Lines that begin or end a phase.
    fn milestone(&mut self, text: &str, facts: &mut Facts<'_>) -> bool {
        let has = |key: &str| text.contains(key);
        if let Some(batch) = number_after(text, "Effective batch size is") {
            facts.begin();
            *self = CerebrasReader::default();
            facts.observe(setting::BATCH_SIZE, Setting::Integer(batch as i64), "log");
        } else if has("image build job") {
            facts.start("image_build");
        } else if let Some(devices) = number_after(text, "Preparing to execute using") {
            facts.observe(setting::DEVICES, Setting::Integer(devices as i64), "log");
            span("duration.execute_wait", self.marks.execute.take(), facts);
            self.marks.ready = facts.stamp();
            self.leave_queue(facts);
            facts.start("stage");
        } else if has("Waiting for device programming") {
            facts.turn("stage", "program");
        } else if has("Device programming is complete") {
            facts.turn("program", "stage");
        } else if has("Beginning appliance run") {
            self.leave_queue(facts);
            span("duration.stage", self.marks.ready.take(), facts);
            facts.turn("stage", "train");
            facts.expect_end();
        } else if has("Saving checkpoint at step") {
            facts.end("train");
            facts.start("checkpoint");
        } else if has("Saved checkpoint") {
            facts.end("checkpoint");
            match (self.last_step, number_after(text, "checkpoint_")) {
                // The run goes on after a checkpoint on the way; after the last one it is taken down. Which it is
                // shows on the next step line.
                (Some(step), Some(at)) if at >= step => facts.start("teardown"),
                _ => {}
            }
        } else {
            return false;
        }
        true
    }

    /// Jobs, queue and compilation.
    fn waiting(&mut self, text: &str, facts: &mut Facts<'_>) -> bool {
        let has = |key: &str| text.contains(key);
        if has("ob id: wsjob-") || has("job id: wsjob-") {
            self.compiling =
                !text.to_ascii_lowercase().contains("execute") && facts.open_phase() != Some("stage");
            facts.end("image_build");
            self.leave_queue(facts);
            facts.start("queue");
        } else if has("Poll ingress status") {
            if has("status: Scheduled") {
                facts.turn("queue", "schedule");
            } else if has("Waiting for job service") || has("Waiting for job ingress") {
                if facts.open_phase() == Some("queue") {
                    facts.turn("queue", "schedule");
                }
            } else if has("Queueing") {
                facts.start("queue");
            }
        } else if has("Ingress is ready") || has("Poll ingress success") {
            self.leave_queue(facts);
            if self.compiling {
                facts.start("compile");
            }
        } else if [
            "optimizations...",
            "Code generation...",
            "Compiling kernels",
            "Compiling final image",
            "Compiling image",
        ]
        .iter()
        .any(|key| has(key))
        {
            self.passes_seen = true;
            facts.start("compile");
        } else if has("Compile was successful") {
            self.leave_queue(facts);
            facts.end("compile");
            self.compiling = false;
            span("duration.compile_job", self.marks.compile, facts);
            self.cached(facts);
        } else if has("Initiating a new execute wsjob") {
            self.marks.execute = facts.stamp();
        } else if has("Compiling the model") {
            self.marks.compile = facts.stamp();
        } else {
            return has("Compile artifacts");
        }
        true
    }

    fn leave_queue(&mut self, facts: &mut Facts<'_>) {
        facts.end("queue");
        facts.end("schedule");
    }

    fn cached(&mut self, facts: &mut Facts<'_>) {
        let seconds = facts.draft.phase_seconds("compile");
        if let Some(seconds) = seconds.filter(|seconds| *seconds < 30.0 && !self.passes_seen) {
            let reason = format!("compiled in {seconds:.1} s without any compiler pass in the log");
            facts.infer(setting::COMPILE_CACHE, Setting::Switch(true), reason);
        }
    }
}

/// Lines that state a result or an end.
fn result(reader: &mut CerebrasReader, text: &str, facts: &mut Facts<'_>) -> bool {
    let has = |key: &str| text.contains(key);
    if has("completed successfully") {
        facts.end("train");
        facts.end("teardown");
        span("duration.from_compile", reader.marks.compile, facts);
        facts.status(Status::Succeeded);
    } else if has("sample(s) in") {
        return processed(reader, text, facts);
    } else if has("| Eval Device=") {
        facts.start("eval");
    } else if let Some(loss) = number_after(text, "Avg Eval Loss") {
        facts.end("eval");
        facts.report(names::LOSS_EVAL, loss);
    } else if let Some((before, rest)) = text.split_once("eval/") {
        // Behind another number it is a part of somebody's own line.
        let own = !before.contains([',', '|', ';', '=', '\t']) && !before.to_lowercase().contains("loss");
        return own && evaluation(rest, facts);
    } else {
        return failure(text, facts);
    }
    true
}

fn evaluation(rest: &str, facts: &mut Facts<'_>) -> bool {
    let Some((name, value)) = rest.split_once([':', '=']) else { return false };
    let Some((value, _)) = number(value) else { return false };
    match name.trim() {
        "lm_perplexity" | "perplexity" => facts.report(names::PERPLEXITY, value),
        name if name.contains("accuracy") && (0.0..=1.0).contains(&value) => {
            facts.report(names::ACCURACY, value)
        }
        _ => return false,
    }
    true
}

/// `Processed N sample(s) in T seconds`: what T spans is tested, not believed.
fn processed(reader: &CerebrasReader, text: &str, facts: &mut Facts<'_>) -> bool {
    let Some(samples) = number_after(text, "Processed ") else { return false };
    let Some(written) = between(text, "sample(s) in ", " seconds") else { return false };
    let Some((seconds, _)) = number(written).filter(|(seconds, _)| *seconds > 0.0) else { return false };
    facts.report(names::SAMPLES, samples);
    let rate = samples / seconds;
    let whole_fit = text.contains("training sample(s)");
    let (duration, metric, scope) = match facts.latest(names::SAMPLES_PER_S_LOOP) {
        Some(global) if (rate / global - 1.0).abs() < 0.01 => {
            (names::DURATION_LOOP, names::SAMPLES_PER_S_LOOP, Some(Scope::Loop))
        }
        Some(global) if rate < global => (names::DURATION_FIT, names::SAMPLES_PER_S_FIT, Some(Scope::Fit)),
        _ if whole_fit => (names::DURATION_FIT, names::SAMPLES_PER_S_FIT, Some(Scope::Fit)),
        _ => (names::DURATION_REPORTED, names::SAMPLES_PER_S, None),
    };
    facts.value(Value { scope, ..Value::reported(duration, seconds).written(written) });
    if !facts.has(metric) {
        facts.value(Value { scope, ..Value::derived(metric, rate).counted(samples, seconds) });
    }
    if let Some(step) = reader.last_step.filter(|step| *step > 0.0) {
        let batch = samples / step;
        if batch.fract() == 0.0 {
            let arithmetic = format!("{samples} samples / {step} steps = {batch}");
            facts.infer(setting::BATCH_SIZE, Setting::Integer(batch as i64), arithmetic);
            facts.observe(setting::STEPS, Setting::Integer(step as i64), "log");
        }
    }
    true
}

fn failure(text: &str, facts: &mut Facts<'_>) -> bool {
    let errors = [
        "ApplianceUnknownError",
        "ApplianceDeadlockError",
        "ApplianceNanError",
        "ApplianceCompilationError",
        "ApplianceResourceExhausted",
        "ApplianceRuntimeJobTimeoutError",
        "StallError",
    ];
    if text.contains("ClusterJobCancelledByCsctl") || text.contains("was cancelled") {
        facts.status(Status::Cancelled { reason: crate::facts::shortened(text) });
    } else if let Some(reason) = after(text, "failed due to:") {
        facts.failed(reason);
    } else if let Some(error) = errors.iter().find(|error| text.contains(**error)) {
        let reason = after(text, error).map(|rest| rest.trim_start_matches([':', ' '])).unwrap_or_default();
        facts.failed(if reason.is_empty() { error } else { text.trim() });
    } else {
        return false;
    }
    true
}
