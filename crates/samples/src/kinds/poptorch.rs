//! PopTorch runs on Graphcore machines: a small image classifier, started through Slurm, with progress bars.

mod failure;

use crate::bar::{self, Bar};
use crate::calendar::Clock;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, Settings, log_options};
use crate::log::{Log, say};
use assay_random::Random;

/// Images in the training set and in the test set, and batches that the device takes without the host.
const TRAINING_IMAGES: u64 = 60_000;
const TEST_IMAGES: u64 = 10_000;
const DEVICE_ITERATIONS: u64 = 50;
const TEST_BATCH: u64 = 80;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "poptorch",
    summary: "a PopTorch image classifier under srun: epoch, compilation and test bars, then the accuracy",
    options: log_options![
        ("epochs", "10", OptionValues::Whole(1, 10_000), "passes that really run"),
        ("batch-size", "8", OptionValues::Whole(1, 1200), "the batch size that really runs"),
        (
            "declared-epochs",
            "",
            OptionValues::Whole(1, 10_000),
            "passes that the prose around the log declares"
        ),
        ("declared-batch-size", "", OptionValues::Whole(1, 10_000), "the batch size that the prose declares"),
        (
            "learning-rate",
            "0.03",
            OptionValues::Number(0.0, 10.0),
            "the learning rate that the prose declares"
        ),
        ("ipus", "1", OptionValues::Whole(1, 64), "devices asked for"),
        ("compile-s", "22", OptionValues::Number(0.0, 1e5), "seconds of graph compilation"),
        ("cached", "false", FLAG, "whether the compiled graph was there already"),
        ("accuracy", "98.2", OptionValues::Number(0.0, 100.0), "accuracy on the test set in per cent"),
        (
            "spread",
            "0.45",
            OptionValues::Number(0.0, 50.0),
            "spread of the accuracy between seeds, in per cent"
        ),
        ("profiler", "false", FLAG, "whether the profiler is attached, which costs 24 %"),
        ("bar-cut", "true", FLAG, "the last bar is cut by other output, as a terminal leaves it"),
        ("glued", "false", FLAG, "the accuracy stands in the middle of a bar"),
        ("raw", "false", FLAG, "with carriage returns, as a file has it, not as a terminal leaves it"),
        ("runs", "1", OptionValues::Whole(1, 10_000), "runs one after another"),
        (
            "fail",
            "none",
            OptionValues::Words(&["none", "no-ipu", "oom", "fabric", "execve"]),
            "how it fails: no device, no memory, the network between devices, a variable after srun"
        ),
    ],
    compose,
};

/// One run as it really is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PopTorchRun {
    /// Passes over the data.
    pub(crate) epochs: u64,
    /// Steps of one pass as the bar counts them.
    pub(crate) steps: u64,
    /// Seconds of graph compilation within the first pass.
    pub(crate) compile: f64,
    /// Seconds of all passes.
    pub(crate) seconds: f64,
    /// Accuracy in per cent.
    pub(crate) accuracy: f64,
}

impl PopTorchRun {
    fn new(settings: &Settings, random: &mut Random) -> Self {
        let epochs = settings.whole("epochs");
        let steps = (TRAINING_IMAGES / (DEVICE_ITERATIONS * settings.whole("batch-size").max(1))).max(1);
        let profiler = settings.flag("profiler");
        let compile = match settings.flag("cached") {
            true => 0.0,
            false => settings.number("compile-s") * if profiler { 1.27 } else { 1.0 },
        };
        let slower = if profiler { 1.24 } else { 1.0 };
        let epoch = steps as f64 * 0.0584 * slower * (1.0 + 0.004 * random.bounded_normal());
        let accuracy = settings.number("accuracy") + settings.number("spread") * random.bounded_normal();
        let seconds = compile + epochs as f64 * epoch;
        Self { epochs, steps, compile, seconds, accuracy: accuracy.clamp(0.0, 100.0) }
    }
}

/// The first run of the log that these settings and this seed give.
pub(crate) fn first(settings: &Settings, seed: u64) -> PopTorchRun {
    PopTorchRun::new(settings, &mut Random::stream(seed, KIND.name).fork())
}

fn compose(job: &mut SampleJob<'_, '_>) {
    let declared = ["declared-epochs", "declared-batch-size"].map(|name| job.settings.whole_if_given(name));
    let fenced = declared.iter().any(Option::is_some);
    for number in 0..job.units.unwrap_or(job.settings.whole("runs")) {
        let mut random = job.random.fork();
        let run = PopTorchRun::new(job.settings, &mut random);
        let clock = Clock::some(&mut random);
        let process = random.whole(200_000, 799_999);
        let mut script =
            WorkloadEvent { log: job.log, settings: job.settings, random, run, clock, number, process };
        if fenced {
            script.declare(declared);
            script.log.line("```");
        }
        match job.settings.word("fail") {
            "none" => script.write(),
            reason => script.fail(reason),
        }
        if fenced {
            script.log.line("```");
            script.log.line("");
        }
    }
}

/// A run as it is written.
struct WorkloadEvent<'a, 'out> {
    log: &'a mut Log<'out>,
    settings: &'a Settings,
    random: Random,
    run: PopTorchRun,
    clock: Clock,
    number: u64,
    process: u64,
}

impl WorkloadEvent<'_, '_> {
    /// The settings as a write-up states them above its log.
    fn declare(&mut self, [epochs, batch]: [Option<u64>; 2]) {
        let epochs = epochs.unwrap_or(self.run.epochs);
        let batch = batch.unwrap_or(self.settings.whole("batch-size"));
        let rate = self.settings.word("learning-rate");
        for line in [
            format!("learning_rate = {rate}"),
            format!("epochs = {epochs}"),
            format!("batch_size = {batch}"),
            format!("test_batch_size = {TEST_BATCH}"),
        ] {
            self.log.line(&line);
            self.log.line("");
        }
    }

    fn write(&mut self) {
        self.submit();
        if self.settings.flag("raw") {
            self.raw_bars();
        } else {
            self.left_bars();
        }
        self.model_and_accuracy();
    }

    /// The command and what srun says.
    fn submit(&mut self) {
        const PROFILER: &str = "POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\", \
                                \"autoReport.directory\":\"./sample_profile\"}' ";
        let profiler = if self.settings.flag("profiler") { PROFILER } else { "" };
        say!(
            self.log,
            "(poptorch_env) sample-user@sample-login-02:~/mnist$ {profiler}srun --ipus={} python mnist_sample.py",
            self.settings.whole("ipus")
        );
        self.allocate();
    }

    fn allocate(&mut self) {
        let job = 20_000 + self.random.below(900) + self.number;
        say!(self.log, "srun: job {job} queued and waiting for resources");
        say!(self.log, "srun: job {job} has been allocated resources");
    }

    /// A timestamp of the library, in UTC, with what it warns of.
    fn warn(&mut self, who: &str, text: &str) {
        let process = self.process;
        say!(self.log, "{} {who} {process}.{process} W: {text}", self.clock.iso());
    }

    fn compilation(&self, done: u64, seconds: f64) -> Bar<'static> {
        let each = seconds / 100.0;
        let elapsed = each * done as f64;
        Bar { label: "Graph compilation", done, total: 100, elapsed, each, width: 10, unit: "" }
    }

    fn epochs(&self) -> Bar<'static> {
        let PopTorchRun { epochs, seconds, .. } = self.run;
        let each = seconds / epochs as f64;
        Bar { label: "Epochs", done: epochs, total: epochs, elapsed: seconds, each, width: 10, unit: "it" }
    }

    fn coerced(&mut self) {
        say!(
            self.log,
            "[{}] [poptorch:cpp] [warning] [DISPATCHER] Type coerced from Long to Int for tensor id 10",
            self.clock.time_of_day()
        );
    }

    /// The bars as a terminal leaves them: only what was not drawn over.
    fn left_bars(&mut self) {
        let begun = self.clock;
        self.compile_bars();
        let PopTorchRun { compile, seconds, .. } = self.run;
        self.clock = begun.after(seconds);
        self.epochs().draw(self.log);
        self.log.end();
        let test = compile * 0.64;
        if compile > 0.0 {
            let batches = TEST_IMAGES / TEST_BATCH;
            self.log.text("  0%|          | 0/").whole(batches).text(" [00:00<?, ?it/s]                ");
            self.warn("PL:POPLIN   ", "sample planning call is deprecated");
        }
        self.compilation(100, test).draw(self.log);
        self.log.end();
        self.clock.pass(test + 3.0);
    }

    /// The start of a run up to the end of its compilation.
    fn compile_bars(&mut self) {
        let PopTorchRun { epochs, steps, compile, .. } = self.run;
        self.log.text("Epochs:   0%|          | 0/").whole(epochs).text(" [00:00<?,");
        self.coerced();
        let begun = self.clock;
        self.clock.pass(0.6);
        if compile > 0.0 {
            self.log.text("  0%|          | 0/").whole(steps).text(" [00:00<?, ?it/s]                ");
            self.warn("PL:POPLIN   ", "sample planning call is deprecated");
            self.clock = begun.after(compile);
            self.compilation(100, compile).draw(self.log);
            self.warn("popart:session", "sample state was not serialized.");
            self.compilation(98, compile).draw(self.log);
            self.log.end();
        } else {
            self.compilation(100, 0.0).draw(self.log);
            self.log.end();
        }
    }

    /// The bars as a file has them: every state, each after a carriage return.
    fn raw_bars(&mut self) {
        let PopTorchRun { epochs, steps, compile, seconds, .. } = self.run;
        let each = (seconds - compile) / epochs as f64;
        let begun = self.clock;
        for done in 0..epochs {
            let elapsed = if done == 0 { 0.0 } else { compile + done as f64 * each };
            self.log.text("\r");
            Bar { done, elapsed, ..self.epochs() }.draw(self.log);
            if done == 0 {
                for percent in (0..=100).step_by(20) {
                    self.log.text("\r");
                    self.compilation(percent, compile).draw(self.log);
                }
            }
            for step in (0..=steps).step_by((steps / 5).max(1) as usize) {
                self.log.text("\r");
                let each = each / steps as f64;
                let elapsed = each * step as f64;
                Bar { label: "", done: step, total: steps, elapsed, each, width: 10, unit: "it" }
                    .draw(self.log);
            }
        }
        self.log.text("\r");
        self.epochs().draw(self.log);
        self.log.end();
        self.clock = begun.after(seconds);
    }

    fn model_and_accuracy(&mut self) {
        const MODEL: &str = "  (model): SampleNetwork(\n    (layer1): Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1))\n    \
                             (layer2): Linear(in_features=1600, out_features=10, bias=True)\n  )\n  \
                             (loss): CrossEntropyLoss()\n)";
        let batches = TEST_IMAGES / TEST_BATCH;
        let done = self.random.whole(batches * 8 / 10, batches - 1);
        if self.settings.flag("bar-cut") {
            // The bar is overwritten from the left by a shorter text; its end still shows.
            say!(
                self.log,
                " {}%|███████TrainingModelWithLoss(:00, {:.2}it/s]0<00:00]",
                done * 100 / batches,
                self.random.between(13.0, 46.0)
            );
        } else {
            let each = 0.022;
            let elapsed = each * batches as f64;
            Bar { label: "", done: batches, total: batches, elapsed, each, width: 10, unit: "it" }
                .draw(self.log);
            self.log.end();
            self.log.line("TrainingModelWithLoss(");
        }
        self.log.lines(MODEL);
        self.log.text("Accuracy on test set: ").fixed(self.run.accuracy, 2).text("%");
        if self.settings.flag("glued") {
            bar::glyphs(self.log, 6, 6, 6);
            self.log.text("| 100/100 [00:00<00:00]");
        }
        self.log.end();
    }
}
