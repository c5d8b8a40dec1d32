//! SambaNova training under Slurm: the head of the script, a bar with a log line glued to it at every step, the result
//! dictionary, and the acceptance gate that can fail a run with perfectly good numbers.

use crate::bar::Bar;
use crate::calendar::Clock;
use crate::curve::LossCurve;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, Settings, log_options};
use crate::log::say;
use assay_random::Random;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "sambanova",
    summary: "a SambaNova job: script head, steps, results, gate; or its compile script",
    options: log_options![
        (
            "model",
            "bert",
            OptionValues::Words(&["bert", "gpt"]),
            "BERT-large (sequence length 128) or GPT (1024)"
        ),
        ("tasks", "16", OptionValues::Whole(1, 4096), "tasks, each with a batch of its own"),
        ("local-batch", "256", OptionValues::Whole(1, 65_536), "samples of one task in a step"),
        ("steps", "505", OptionValues::Whole(1, 1 << 32), "steps of this run"),
        (
            "rate",
            "",
            OptionValues::Number(0.01, 1e9),
            "samples per second over all tasks; follows from the tasks"
        ),
        ("spread", "0.002", OptionValues::Number(0.0, 0.5), "relative spread of the rate between seeds"),
        (
            "gate",
            "none",
            OptionValues::Words(&["none", "min", "max"]),
            "the throughput gate that the run fails"
        ),
        ("newer", "false", FLAG, "the newer stack: `Rank 0, PID n`, no samples per second"),
        ("compile", "false", FLAG, "the log of the compile script, not of a run"),
        ("compile-s", "781", OptionValues::Number(0.0, 1e6), "seconds of the compile script"),
        ("sntilestat", "false", FLAG, "a table of the tiles before the run"),
        ("redirected", "false", FLAG, "only the scheduler's file, which says where the log really is"),
        (
            "fail",
            "none",
            OptionValues::Words(&["none", "pef", "nodes"]),
            "how it fails: the compiled file is missing, or the tasks do not fit the node"
        ),
    ],
    compose,
};

/// A run as it really is.
#[derive(Debug, Clone)]
pub(crate) struct SambaNovaRun {
    pub(crate) tasks: u64,
    pub(crate) steps: u64,
    /// Samples over all tasks and steps.
    pub(crate) samples: u64,
    /// Samples per second.
    pub(crate) rate: f64,
    /// Seconds of training.
    pub(crate) seconds: f64,
    /// Tokens per second, which the log calls sequences a second.
    pub(crate) tokens_rate: f64,
    /// The loss at the end.
    pub(crate) loss: f64,
}

impl SambaNovaRun {
    fn new(settings: &Settings, random: &mut Random, units: Option<u64>) -> Self {
        let (tasks, steps) = (settings.whole("tasks"), units.unwrap_or(settings.whole("steps")).max(1));
        let samples = tasks * settings.whole("local-batch") * steps;
        let spread = 1.0 + settings.number("spread") * random.bounded_normal();
        let rate = settings.number_if_given("rate").unwrap_or_else(|| law(settings)) * spread;
        let doublings = (tasks as f64 / 4.0).log2();
        let loss = match gpt(settings) {
            true => 4.8 - 0.03 * doublings,
            false => 8.350 - 0.0475 * doublings,
        };
        let loss = loss + 0.002 * random.bounded_normal();
        let tokens_rate = rate * sequence_length(settings);
        Self { tasks, steps, samples, rate, seconds: samples as f64 / rate, tokens_rate, loss }
    }
}

/// The run that these settings and this seed give.
pub(crate) fn run(settings: &Settings, seed: u64) -> SambaNovaRun {
    SambaNovaRun::new(settings, &mut Random::stream(seed, KIND.name), None)
}

fn gpt(settings: &Settings) -> bool {
    settings.word("model") == "gpt"
}

fn sequence_length(settings: &Settings) -> f64 {
    if gpt(settings) { 1024.0 } else { 128.0 }
}

/// The rate when nobody says another: 297.9 samples per second and task at 4 tasks, and 98.5 % and 96.6 % of perfect
/// scaling at 8 and 16. A GPT step is about a hundredth as fast.
fn law(settings: &Settings) -> f64 {
    let tasks = settings.whole("tasks").max(1) as f64;
    let doublings = (tasks / 4.0).log2();
    let efficiency = 1.0 - 0.01245 * doublings - 0.00225 * doublings * doublings;
    let each = if gpt(settings) { 2.9 } else { 297.93 };
    each * tasks * efficiency.max(0.05)
}

fn compose(job: &mut SampleJob<'_, '_>) {
    let run = SambaNovaRun::new(job.settings, &mut job.random, job.units);
    let clock = Clock::some(&mut job.random);
    let moment = clock.moment();
    if job.settings.flag("redirected") {
        for number in 0..job.units.unwrap_or(1) {
            say!(job.log, "Using /data/sample/run{number}/output.log for output");
        }
        return;
    }
    if job.settings.word("fail") == "nodes" {
        return too_large(job);
    }
    say!(job.log, "Model:  {}", if gpt(job.settings) { "Gpt1.5B" } else { "BertLarge" });
    say!(job.log, "Date:  {:02}/{:02}/{:02}", moment.month, moment.day, moment.year % 100);
    say!(job.log, "Time:  {:02}:{:02}", moment.hour, moment.minute);
    inventory(job);
    if job.settings.flag("sntilestat") {
        tiles(job);
    }
    if job.settings.flag("compile") {
        return compile(job);
    }
    say!(job.log, "SLURM_TASKS_PER_NODE={}", run.tasks);
    say!(job.log, "SLURM_NTASKS={}", run.tasks);
    let local = job.settings.whole("local-batch");
    say!(
        job.log,
        "RUN COMMAND: srun --mpi=pmi2 python sample_hook.py run -b {local} --data-parallel --steps_this_run {} \
         --pef=/data/sample/sample.pef",
        run.steps
    );
    if job.settings.word("fail") == "pef" {
        for _ in 0..job.units.unwrap_or(1) {
            job.log.line("PEF file /data/sample/sample.pef does not exist, exiting");
        }
        return;
    }
    train(job, &run, clock);
}

/// What sbatch says when the tasks need more than a node has.
fn too_large(job: &mut SampleJob<'_, '_>) {
    for _ in 0..job.units.unwrap_or(1) {
        let tasks = job.settings.whole("tasks");
        say!(job.log, "$ sbatch --ntasks {tasks} --gres=rdu:8 --nodes 1 --cpus-per-task=8 sample_run.sh");
        job.log.line(
            "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        );
    }
}

fn inventory(job: &mut SampleJob<'_, '_>) {
    job.log.line("Machine State Before: ");
    job.log.line("Sample inventory: 8 RDU, 64 tiles, all online");
}

fn tiles(job: &mut SampleJob<'_, '_>) {
    job.log.line("TILE                 %idle %exec %pload %aload %chkpt %quiesce    PID     USER COMMAND");
    for tile in 0..8 {
        let execute = job.random.between(88.0, 93.0);
        let load = job.random.between(0.1, 0.5);
        say!(
            job.log,
            "/XRDU_0/RDU_{}/TILE_{} {:>5.1} {execute:>5.1} {load:>6.1} {:>6.1} {:>6.1} {:>8.1} 2750333   sample \
             python sample_hook.py run",
            tile / 4,
            tile % 4,
            100.0 - execute - load,
            0.0,
            0.0,
            0.0
        );
    }
}

fn compile(job: &mut SampleJob<'_, '_>) {
    let seconds = job.settings.number("compile-s").round();
    let local = job.settings.whole("local-batch");
    job.log.line("COMPILE START AT 0");
    say!(job.log, "COMPILE COMMAND: python sample_hook.py compile -b {local} --data-parallel -ws 2");
    const STAGES: [&str; 5] = ["Lowering", "Partitioning", "Placement", "Routing", "Assembly"];
    for number in 0..job.units.unwrap_or(40) {
        let stage = STAGES.get((number % 5) as usize).copied().unwrap_or_default();
        say!(job.log, "[info] [sample-compiler] section {number}: {stage} finished");
    }
    say!(job.log, "COMPILE END AT {seconds}");
    say!(job.log, "Duration:  {}", seconds + 2.0);
}

fn train(job: &mut SampleJob<'_, '_>, run: &SambaNovaRun, start: Clock) {
    let process = 390_000 + job.random.below(9000);
    let who = match job.settings.flag("newer") {
        true => format!("Rank 0, PID {process}"),
        false => format!("Process ID {process}"),
    };
    let module = if gpt(job.settings) { "sample.tasks.gpt_trainer" } else { "sample.tasks.bert_trainer" };
    let steps = run.steps;
    // The first step waits for the program to be loaded.
    let first = (run.seconds * 0.021).min(9.3);
    let each = (run.seconds - first) / (steps - 1).max(1) as f64;
    let curve = LossCurve { start: 11.2, floor: run.loss, steps: 90.0, noise: 0.04 };
    let bar_total = steps * 5 + 26;
    for step in 1..=steps {
        let clock = start.after(17.0 + first + each * (step - 1) as f64);
        let done = step - 1;
        let shown = if step <= 2 { first } else { each };
        let elapsed = if done == 0 { 0.0 } else { first + each * (done - 1) as f64 };
        job.log.text("\r");
        Bar { label: "Iteration", done, total: bar_total, elapsed, each: shown, width: 10, unit: "it" }
            .draw(job.log);
        let loss = curve.at(step as f64, &mut job.random);
        job.log.stamp(clock).text(" - ").text(module).text(" - ").text(&who);
        job.log.text(" - info     - epoch:0|local_step:").whole(step).text("|global_step:").whole(step);
        job.log.text("|average_loss:").fixed(loss, 5).text("|step_loss:").fixed(loss, 5);
        if !gpt(job.settings) {
            job.log
                .text("|step_ns_loss:")
                .fixed(loss * 0.074, 5)
                .text("|step_mlm_loss:")
                .fixed(loss * 0.926, 5);
        }
        job.log.text("|learning_rate:7.06e-06|eval_step:0.00000|validation_average_loss:0.00000").end();
    }
    let end = start.after(17.0 + run.seconds);
    results(job, run, end, &format!(" - {module} - {who} - info     - "));
}

fn results(job: &mut SampleJob<'_, '_>, run: &SambaNovaRun, end: Clock, who: &str) {
    let SambaNovaRun { seconds, tokens_rate, loss, rate, tasks, .. } = run;
    say!(job.log.stamp(end).text(who), "final_loss {loss:.6}");
    let samples = match job.settings.flag("newer") || gpt(job.settings) {
        true => String::new(),
        false => format!(", 'training_samples_per_second': {rate}"),
    };
    say!(
        job.log.stamp(end.after(0.009)).text(who),
        "{{'e2e_train_time': {seconds}, 'training_sequences_per_second': {tokens_rate}, 'final_loss': \
         {loss}{samples}}}"
    );
    job.log.stamp(end.after(0.07)).text(who).text("NLP app finished").end();
    let bound = match job.settings.word("gate") {
        "min" => {
            Some(("at least", if *tokens_rate < 560_000.0 { 560_000.0 } else { rounded(tokens_rate * 1.1) }))
        }
        "max" => {
            Some(("at most", if *tokens_rate > 620_000.0 { 620_000.0 } else { rounded(tokens_rate * 0.9) }))
        }
        _ => None,
    };
    if let Some((side, bound)) = bound {
        job.log.lines(
            "Traceback (most recent call last):\n  File \"sample_trainer.py\", line 57, in do_training\n    \
             assert within(training_perf, gate)",
        );
        say!(
            job.log,
            "AssertionError: Expected throughput to be {side} {bound:.1}, instead found {tokens_rate}"
        );
        job.log.line("srun: error: sample-node-01: task 0: Exited with exit code 1");
        job.log.line("srun: Terminating job step 30399.0");
        say!(
            job.log,
            "slurmstepd: error: *** STEP 30399.0 ON sample-node-01 CANCELLED AT {} ***",
            end.after(2.2).slurm()
        );
        if *tasks > 1 {
            say!(job.log, "srun: error: sample-node-01: tasks 1-{}: Terminated", tasks - 1);
        }
    }
    say!(job.log, "Duration:  {:.0}", seconds + 47.0);
}

fn rounded(bound: f64) -> f64 {
    (bound / 1000.0).round() * 1000.0
}
