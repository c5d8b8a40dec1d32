//! Cerebras training logs: releases 1.9, 2.4 and 2.6, with queue, compile, staging, training, checkpoint and teardown.

mod failure;
mod training;

use crate::calendar::Clock;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, Settings, log_options};
use crate::log::{Log, say};
use assay_random::Random;

use training::Training;
pub(crate) use training::TrainingState;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "cerebras",
    summary: "a Cerebras fit from checkpoint lookup to `Processed N sample(s) in T seconds.`",
    options: log_options![
        (
            "release",
            "1.9",
            OptionValues::Words(&["1.9", "2.4", "2.6"]),
            "the software release, which decides the wording"
        ),
        (
            "model",
            "bert",
            OptionValues::Words(&["bert", "llama"]),
            "BERT-large or a Llama of 7 billion parameters"
        ),
        ("batch-size", "512", OptionValues::Whole(1, 1 << 16), "samples per step"),
        ("steps", "1000", OptionValues::Whole(1, 1 << 32), "training steps"),
        ("log-every", "100", OptionValues::Whole(1, 1 << 16), "steps between two progress lines"),
        (
            "rate",
            "",
            OptionValues::Number(0.01, 1e9),
            "samples per second in the loop; follows from model and batch size"
        ),
        ("spread", "0.004", OptionValues::Number(0.0, 0.5), "relative spread of the rate between seeds"),
        ("queue-s", "3423", OptionValues::Number(0.0, 1e7), "seconds in the queue before execution"),
        ("compile-queue-s", "210", OptionValues::Number(0.0, 1e7), "seconds in the queue before compilation"),
        ("cache", "true", FLAG, "whether the compiled program was there already"),
        (
            "checkpoint",
            "0",
            OptionValues::Whole(0, 1 << 32),
            "steps between checkpoints; 0 for one at the end"
        ),
        ("eval", "false", FLAG, "an evaluation after training"),
        (
            "fail",
            "none",
            OptionValues::Words(&["none", "pod", "nan", "cancelled", "timeout"]),
            "how it ends: a pod dies, the loss is no number, someone cancels, the time is up"
        ),
        ("cut", "false", FLAG, "the file ends in the middle of a line"),
    ],
    compose,
};

/// What the log of these settings and this seed says at its end.
pub(crate) fn outcome(settings: &Settings, seed: u64) -> TrainingState {
    Training::new(settings, &mut Random::stream(seed, KIND.name), None).outcome()
}

fn compose(job: &mut SampleJob<'_, '_>) {
    let training = Training::new(job.settings, &mut job.random, job.units);
    let clock = Clock::some(&mut job.random);
    let release = match job.settings.word("release") {
        "2.6" => Release::R26,
        "2.4" => Release::R24,
        _ => Release::R19,
    };
    let (number, workflow) = (job.random.whole(1, 9000), job.random.whole(1, 9999));
    let random = job.random.fork();
    let mut run = FitLog {
        log: job.log,
        settings: job.settings,
        random,
        clock,
        start: clock,
        release,
        number,
        workflow,
    };
    run.open(&training);
    run.compile();
    run.wait_for_machine();
    run.stage();
    run.train(training);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Release {
    R19,
    R24,
    R26,
}

/// A fit, written line by line.
struct FitLog<'a, 'out> {
    log: &'a mut Log<'out>,
    settings: &'a Settings,
    random: Random,
    clock: Clock,
    start: Clock,
    release: Release,
    number: u64,
    workflow: u64,
}

impl FitLog<'_, '_> {
    /// A line at the present time.
    fn info(&mut self, text: &str) {
        self.log.stamp(self.clock).text(" INFO:   ").text(text).end();
    }

    /// A line after about `seconds`, a few per cent more or less.
    fn later(&mut self, seconds: f64, text: &str) {
        let varied = seconds * (1.0 + 0.03 * self.random.bounded_normal());
        self.clock.pass(varied);
        self.info(text);
    }

    fn model_directory(&self) -> &'static str {
        if self.settings.word("model") == "llama" {
            "model_dir_sample_llama"
        } else {
            "model_dir_sample_bert"
        }
    }

    /// The name of the compile job (0) or the execute job (1).
    fn job(&self, which: u64) -> String {
        format!("wsjob-sample{:04}", self.number + which)
    }

    fn open(&mut self, training: &Training) {
        let directory = self.model_directory();
        if self.release == Release::R26 {
            let rule = "=".repeat(75);
            self.info(&rule);
            self.info("Trainer Fit Summary");
            self.info(&format!("for a total of {} train steps.", training.steps));
            self.info(&format!("Progress will be logged every {} steps.", training.log_every));
            self.info(&rule);
        }
        self.info(&format!("Effective batch size is {}.", training.batch));
        self.later(
            0.03,
            &format!(
                "Checkpoint autoloading is enabled. Looking for latest checkpoint in \"{directory}\" directory with \
                 the following naming convention: `checkpoint_(step)(_timestamp)?.mdl`."
            ),
        );
        self.info(&format!("No checkpoints were found in \"{directory}\"."));
        self.info("No checkpoint was provided. Using randomly initialized model parameters.");
        if self.release == Release::R19 {
            self.later(1.3, "Saving checkpoint at step 0");
            self.later(27.3, &format!("Saved checkpoint {directory}/checkpoint_0.mdl"));
        }
    }

    fn compile(&mut self) {
        self.later(14.2, "Compiling the model. This may take a few minutes.");
        self.later(1.3, "Initiating a new image build job against the cluster server.");
        self.later(0.1, "Custom worker image build is disabled from server.");
        self.later(0.3, "Initiating a new compile wsjob against the cluster server.");
        self.clock.pass(0.12);
        self.queue(0, self.settings.number("compile-queue-s"));
        let hash = format!("cs_{}", self.random.whole(1 << 60, u64::MAX));
        if !self.settings.flag("cache") {
            self.compiler_passes();
        } else if self.release > Release::R19 {
            self.later(0.8, &format!("Found existing cached compile with hash: \"{hash}\""));
        }
        self.later(
            3.95,
            &format!(
                "Compile artifacts successfully written to remote compile directory. Compile hash is: {hash}"
            ),
        );
        if self.release == Release::R19 {
            let stopped = format!("Heartbeat thread stopped for {}.", self.job(0));
            self.info(&stopped);
        }
        self.later(0.01, "Compile was successful!");
        if self.release > Release::R19 {
            self.info("Waiting for weight initialization to complete");
        }
        self.info("Programming Cerebras Wafer Scale Cluster for execution. This may take a few minutes.");
    }

    fn compiler_passes(&mut self) {
        const PASSES: [(f64, &str); 10] = [
            (2.0, "Pre-optimization transforms..."),
            (9.0, "Optimizing layouts and memory usage..."),
            (0.4, "Gradient accumulation disabled"),
            (12.0, "Exploring floorplans"),
            (34.0, "Exploring data layouts"),
            (29.0, "Optimizing memory usage"),
            (27.0, "Post-layout optimizations..."),
            (8.0, "Allocating buffers..."),
            (2.6, "Code generation..."),
            (15.0, "Compiling image..."),
        ];
        for (seconds, pass) in PASSES {
            self.later(seconds, pass);
        }
        if self.release == Release::R26 {
            // The compiler's own estimate, which readers must not take for a measurement.
            let estimate = training::law(self.settings) * (1.0 + 0.1 * self.random.bounded_normal());
            self.info(&format!(
                "Compile estimated performance: {estimate:.1} samples/sec ({estimate:.1} samples/sec/system). \
                 Estimate may vary by 10-25% from actual runtime performance."
            ));
        }
        self.info("Compiling kernels");
        self.later(119.0, "Compiling final image");
        self.clock.pass(138.0);
    }

    fn wait_for_machine(&mut self) {
        self.later(2.4, "Initiating a new execute wsjob against the cluster server.");
        self.clock.pass(0.13);
        self.queue(1, self.settings.number("queue-s"));
    }

    /// The name of a job, its time in the queue, and its start.
    fn queue(&mut self, which: u64, seconds: f64) {
        let job = self.job(which);
        let path = format!("remote log path: /n1/wsjob/workdir/job-operator/{job}");
        let workflow = self.workflow;
        self.info(&match (self.release, which) {
            (Release::R19, 0) => format!("compile job id: {job}, {path}"),
            (Release::R19, _) => format!("execute job id: {job}, {path}"),
            (Release::R24, 0) => format!("Compile job id: {job}, {path}"),
            (Release::R24, _) => format!("Execute job id: {job}, {path}"),
            (Release::R26, _) => {
                format!(
                    "Job id: {job}, workflow id: wflow-sample{workflow:04}, namespace: job-operator, {path}"
                )
            }
        });
        let named = self.clock;
        for poll in polls(seconds) {
            self.clock = named.after(poll);
            let before = if seconds - poll > 600.0 {
                "1 execute job(s) queued before current job"
            } else {
                "current job is top of queue but likely blocked by running jobs, 1 execute job(s) running using 1 \
                 system(s)"
            };
            self.poll(&format!(
                "Waiting for job running, current job status: Queueing, msg: job is queueing. SampleJob queue status: \
                 {before}. For more information, please run 'csctl get jobs'."
            ));
        }
        self.clock = named.after(if seconds > 0.0 { seconds } else { 10.0 } + self.random.between(0.0, 0.2));
        self.poll("Waiting for job running, current job status: Scheduled, msg: job is scheduled.");
        self.clock.pass(10.02);
        self.poll("Waiting for job service readiness.");
        self.clock.pass(20.03);
        self.poll("Waiting for job ingress readiness.");
        self.clock.pass(20.03);
        match self.release {
            Release::R19 => self.info("Ingress is ready: Job ingress ready, poll ingress success."),
            Release::R24 | Release::R26 => self.info(&format!(
                "Poll ingress success: Job ingress ready, dashboard: https://grafana.sample.invalid/d/wsjob-dashboard?\
                 orgId=1&var-wsjob={job}"
            )),
        }
    }

    fn poll(&mut self, text: &str) {
        self.log.stamp(self.clock).text(" INFO:   Poll ingress status: ").text(text).end();
    }

    fn stage(&mut self) {
        self.later(0.16, "Preparing to execute using 1 CSX");
        self.later(29.8, "About to send initial weights");
        self.later(33.6, "Finished sending initial weights");
        self.info("Finalizing appliance staging for the run");
        self.later(0.02, "Waiting for device programming to complete");
        self.later(126.7, "Device programming is complete");
        self.later(0.9, "Using network type: ROCE");
        self.info("Waiting for input workers to prime the data pipeline and begin streaming ...");
        self.later(0.02, "Input workers have begun streaming input data");
        self.later(16.8, "Appliance staging is complete");
        self.info("Beginning appliance run");
    }

    fn train(&mut self, training: Training) {
        self.clock.pass(0.12);
        let begun = self.clock;
        let (steps, batch) = (training.steps, training.batch);
        let checkpoint = self.settings.whole("checkpoint");
        let several_loops = self.settings.flag("eval");
        let mut done = TrainingState::default();
        // Checkpoints hold the loop up but are not part of the time it counts.
        let mut held_up = 0.0;
        for report in training {
            self.clock = begun.after(report.elapsed + held_up);
            self.log
                .stamp(self.clock)
                .text(" INFO:   | Train Device=CSX, Step=")
                .whole(report.step)
                .text(", Loss=");
            if report.loss.is_nan() {
                self.log.text("nan");
            } else {
                self.log.fixed(report.loss, 5);
            }
            self.log.text(", Rate=").fixed(report.rate, 2);
            if report.cut {
                return;
            }
            self.log.text(" samples/sec, GlobalRate=").fixed(report.global_rate, 2).text(" samples/sec");
            if self.release == Release::R26 {
                let left = (steps - report.step) as f64 * batch as f64 / report.global_rate;
                self.log.text(", LoopTimeRemaining=").span(left);
                self.log.text(if several_loops { ", TimeRemaining>" } else { ", TimeRemaining=" }).span(left);
            }
            self.log.end();
            done = report.outcome();
            if checkpoint > 0 && report.step % checkpoint == 0 && report.step < steps {
                let before = self.clock;
                self.save(report.step);
                held_up += self.clock.since(before);
            }
        }
        match self.settings.word("fail") {
            "none" => self.close(&done),
            reason => {
                let reason = reason.to_owned();
                self.fail(&reason, &done);
            }
        }
    }

    fn save(&mut self, step: u64) {
        let directory = self.model_directory();
        let seconds = if self.settings.word("model") == "llama" { 410.0 } else { 35.3 };
        self.info(&format!("Saving checkpoint at step {step}"));
        self.later(seconds, &format!("Saved checkpoint {directory}/checkpoint_{step}.mdl"));
    }

    fn close(&mut self, done: &TrainingState) {
        self.save(done.steps);
        if self.settings.flag("eval") {
            self.evaluate(done);
        }
        self.clock.pass(37.1 * (1.0 + 0.03 * self.random.bounded_normal()));
        if self.release == Release::R19 {
            let stopped = format!("Heartbeat thread stopped for {}.", self.job(1));
            self.info(&stopped);
        }
        self.info("Training completed successfully!");
        self.processed(done);
    }

    /// The last line. Up to release 1.9 the seconds are those of the loop, later those of the whole fit.
    fn processed(&mut self, done: &TrainingState) {
        let (what, seconds) = match self.release {
            Release::R19 => ("sample(s)", done.seconds),
            Release::R24 | Release::R26 => ("training sample(s)", self.clock.since(self.start)),
        };
        self.info(&format!("Processed {} {what} in {seconds:.9} seconds.", done.samples));
    }

    fn evaluate(&mut self, done: &TrainingState) {
        const BATCHES: u64 = 100;
        let batch = self.settings.whole("batch-size").max(1);
        let rate = done.rate * 2.9;
        let begun = self.clock;
        let mut loss = done.loss + 0.05;
        for number in (20..=BATCHES).step_by(20) {
            let elapsed = (number * batch) as f64 / rate;
            self.clock = begun.after(elapsed);
            loss += 0.004 * self.random.bounded_normal();
            say!(
                self.log.stamp(self.clock).text(" INFO:   "),
                "| Eval Device=CSX, GlobalStep={}, Batch={number}, Loss={loss:.5}, Rate={rate:.2} samples/sec, \
                 GlobalRate={rate:.2} samples/sec",
                done.steps
            );
        }
        self.later(20.7, &format!("Avg Eval Loss: {loss}"));
        self.info("Evaluation metrics:");
        self.info(&format!("  - eval/lm_perplexity = {}", loss.exp()));
        let accuracy = 0.17 + 0.01 * self.random.bounded_normal();
        self.info(&format!("  - eval/accuracy = {accuracy}"));
        self.info("Evaluation completed successfully!");
    }
}

/// When the queue is looked at: after ten seconds, then whenever half an hour has passed or the place has changed.
fn polls(seconds: f64) -> Vec<f64> {
    if seconds <= 20.0 {
        return Vec::new();
    }
    let mut times: Vec<f64> = (0..1000).map(|half_hour| 10.05 + 1801.6 * f64::from(half_hour)).collect();
    if seconds > 1200.0 {
        times.push(seconds - 490.0);
    }
    times.retain(|time| *time < seconds - 5.0);
    times.sort_by(f64::total_cmp);
    times
}
