//! `lm` computed by this program: plan, prepare, iterate, tell.

use std::time::Instant;

use assay_kernels::Threads;
use assay_model::{Told, Value, names};

use super::checkpoint::{self, About, Checkpoint};
use super::data::{Source, Text};
use super::model::{Model, Outcome};
use super::options::{Options, Phase};
use super::plan::{Plan, bytes_in_words, what_fits};
use super::profile::Profile;
use super::summary::{Iteration, Summary};
use crate::process::{cpu_seconds, peak_memory, wait_for_line};
use crate::{Ended, Limits, Outlet, WorkloadError};

/// Runs it.
pub(super) fn run(
    options: &Options,
    text: Option<Text>,
    machine: &Limits,
    outlet: &mut Outlet<'_>,
) -> Result<Ended, WorkloadError> {
    let began = Instant::now();
    let threads = Threads::new(options.threads);
    tell_settings(options, &threads, outlet);
    let data_bytes = text.as_ref().map_or(0, Text::bytes);
    if !fits(options, &threads, data_bytes, machine, outlet) {
        return Ok(Ended::DoesNotFit);
    }
    let mut session = Session::prepare(options, threads, text, began, outlet)?;
    session.summary.tell_before(options, outlet);
    let ended = session.iterate(outlet)?;
    session.finish(machine, ended, outlet)?;
    Ok(ended)
}

/// Tells every setting that means something to this engine.
fn tell_settings(options: &Options, threads: &Threads, outlet: &mut Outlet<'_>) {
    const OF_TORCH: [&str; 2] = ["mode", "python"];
    for (name, value) in options.in_force() {
        match name.as_str() {
            name if OF_TORCH.contains(&name) => {}
            "profile" => outlet.setting("profile", Value::Switch(options.profile.is_some())),
            "threads" => outlet.setting("threads", threads.count() as i64),
            // An empty text is a setting that is not in use.
            _ if value == Value::from("") => {}
            name => outlet.setting(name, value),
        }
    }
    outlet.setting(names::setting::PRECISION, "float32");
    outlet.setting("instructions", assay_kernels::path().name());
}

/// Whether the plan fits into memory; tells what is needed either way.
fn fits(
    options: &Options,
    threads: &Threads,
    data_bytes: u64,
    machine: &Limits,
    outlet: &mut Outlet<'_>,
) -> bool {
    let plan = Plan::new(threads, &options.shape, &options.work, data_bytes);
    let total = plan.total();
    match machine.memory_bytes {
        Some(available) if total > u128::from(available) => {
            outlet.tell(Told::DoesNotFit {
                reason: format!(
                    "it needs {} ({}), and {} are free",
                    bytes_in_words(total),
                    plan.words(),
                    bytes_in_words(u128::from(available))
                ),
                hint: what_fits(threads, &options.shape, &options.work, data_bytes, available)
                    .or_else(|| Some("choose a smaller size".to_owned())),
            });
            false
        }
        _ => {
            outlet.value_in("memory.planned", total as f64, "B", None);
            true
        }
    }
}

/// A run under way.
struct Session<'a> {
    options: &'a Options,
    model: Model,
    source: Source,
    inputs: Vec<u32>,
    targets: Vec<u32>,
    /// The number of the first iteration: above 0 for a resumed run.
    first: u64,
    began: Instant,
    summary: Summary,
}

impl<'a> Session<'a> {
    /// Takes all memory, makes the initial weights or reads them, and tells how long that took.
    fn prepare(
        options: &'a Options,
        threads: Threads,
        text: Option<Text>,
        began: Instant,
        outlet: &mut Outlet<'_>,
    ) -> Result<Session<'a>, WorkloadError> {
        let Options { shape, work, seed, .. } = options;
        let training = work.phase == Phase::Step;
        let mut checkpoint = match &options.resume {
            Some(path) => {
                let checkpoint = Checkpoint::open(path)?;
                checkpoint.check(path, shape, training)?;
                Some((path, checkpoint))
            }
            None => None,
        };
        let profile = if options.profile.is_some() { Profile::on() } else { Profile::off() };
        let mut model = Model::new(threads, shape, work, *seed, profile)?;
        let mut first = 0;
        if let Some((path, checkpoint)) = &mut checkpoint {
            checkpoint.load(path, shape, model.state())?;
            first = checkpoint.about().map_or(0, |about| about.updates);
            note_resume(options, checkpoint, outlet);
        }
        outlet.tell(Told::Phase {
            name: "stage".to_owned(),
            start_s: 0.0,
            end_s: began.elapsed().as_secs_f64(),
        });
        Ok(Session {
            options,
            model,
            source: Source::new(text, shape.vocabulary, work.context, *seed),
            inputs: vec![0; work.tokens()],
            targets: vec![0; work.tokens()],
            first,
            began,
            summary: Summary::default(),
        })
    }

    /// All iterations, as long as nothing ends them.
    fn iterate(&mut self, outlet: &mut Outlet<'_>) -> Result<Ended, WorkloadError> {
        let Options { iterations, warmup, paced, .. } = *self.options;
        let of = warmup.saturating_add(iterations);
        let mut phase_start = self.began.elapsed().as_secs_f64();
        for number in 0..of {
            if outlet.stopped() || (paced && !wait_for_line(std::io::stdin(), outlet)) {
                return Ok(Ended::Stopped);
            }
            if number == warmup {
                self.model.profile().clear();
            }
            let step = self.first + number + 1;
            let (iteration, outcome) = self.once(self.first + number, number == 0);
            self.summary.tell_iteration(step, number < warmup, iteration, outlet);
            if number == 0 {
                // A step has clipped its gradients already, so that its own norm is the one to tell.
                let gradient_norm = outcome.gradient_norm.or_else(|| self.model.gradient_norm());
                self.summary.tell_parity(&outcome, gradient_norm, outlet);
            }
            if let Some(ended) = diverged(step, &outcome, outlet) {
                return Ok(ended);
            }
            outlet.tell(Told::Progress { done: number + 1, of });
            if number + 1 == warmup || number + 1 == of {
                let end_s = self.began.elapsed().as_secs_f64();
                let name = if number < warmup { "warmup" } else { "train" };
                outlet.tell(Told::Phase { name: name.to_owned(), start_s: phase_start, end_s });
                phase_start = end_s;
            }
            self.save(step, number + 1 == of, outlet)?;
        }
        Ok(Ended::Done)
    }

    /// One iteration, timed.
    fn once(&mut self, number: u64, first: bool) -> (Iteration, Outcome) {
        let Session { options, model, source, inputs, targets, .. } = self;
        source.fill(number, inputs, targets);
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let outcome = model.iterate(inputs, targets, &options.training, first);
        let seconds = start.elapsed().as_secs_f64();
        let iteration = Iteration {
            seconds,
            cpu_seconds: cpu_seconds() - cpu,
            loss: outcome.loss,
            gradient_norm: outcome.gradient_norm,
        };
        (iteration, outcome)
    }

    /// Writes a checkpoint when it is due.
    fn save(&mut self, step: u64, last: bool, outlet: &mut Outlet<'_>) -> Result<(), WorkloadError> {
        let due = last || self.options.save_every.is_some_and(|every| step.is_multiple_of(every));
        let Some(path) = self.options.save.as_ref().filter(|_| due) else { return Ok(()) };
        let start_s = self.began.elapsed().as_secs_f64();
        let state = self.model.state();
        let about = About::new(self.options, *state.updates);
        checkpoint::save(path, &self.options.shape, &state, &about)?;
        let end_s = self.began.elapsed().as_secs_f64();
        outlet.tell(Told::Phase { name: "checkpoint".to_owned(), start_s, end_s });
        Ok(())
    }

    /// Tells what all iterations together came to.
    fn finish(
        &mut self,
        machine: &Limits,
        ended: Ended,
        outlet: &mut Outlet<'_>,
    ) -> Result<(), WorkloadError> {
        if ended == Ended::Stopped && self.summary.done() > 0 {
            self.save(self.first + self.summary.done(), true, outlet)?;
        }
        self.summary.tell_after(self.options, machine.peak_flops, outlet);
        if let Some(bytes) = peak_memory() {
            outlet.tell(Told::value(names::MEMORY_PEAK, bytes as f64));
        }
        if let Some(path) = &self.options.profile {
            self.model.profile().tell(machine.peak_flops, self.summary.counted(), outlet);
            self.model.profile().write(path)?;
        }
        if matches!(ended, Ended::Done | Ended::Stopped) {
            outlet.tell(Told::Done { steps: self.summary.done() });
        }
        Ok(())
    }
}

/// Says where a resumed run goes on, and what makes it differ from one that was never interrupted.
pub(crate) fn note_resume(options: &Options, checkpoint: &Checkpoint, outlet: &mut Outlet<'_>) {
    let Some(about) = checkpoint.about() else {
        outlet.note(
            "the checkpoint holds weights alone: steps are counted from 0, and the optimizer begins anew",
        );
        return;
    };
    outlet.note(format!("resumed after {} updates", about.updates));
    if let Some(words) = about.differences(&About::new(options, about.updates)) {
        outlet.tell(Told::Note {
            text: format!("settings differ from those of the checkpoint: {words}"),
            hint: Some(
                "with the same settings the losses are those of a run that was never interrupted".to_owned(),
            ),
        });
    }
}

/// The ending of a run whose loss or gradient is not a finite number.
fn diverged(step: u64, outcome: &Outcome, outlet: &mut Outlet<'_>) -> Option<Ended> {
    let what = if !outcome.loss.is_finite() {
        format!("the loss is {}", outcome.loss)
    } else if outcome.gradient_norm.is_some_and(|norm| !norm.is_finite()) {
        "the norm of the gradient is not a finite number".to_owned()
    } else {
        return None;
    };
    outlet.tell(Told::Failed {
        reason: format!("{what} at step {step}"),
        hint: Some("lower learning_rate, or limit the gradient with clip".to_owned()),
    });
    Some(Ended::Diverged)
}
