//! `lm` computed by this program: plan, prepare, iterate, tell.

use std::sync::Arc;
use std::time::Instant;

use assay_kernels::Threads;
use assay_model::{Told, Value, names};

use super::checkpoint::{self, About, Checkpoint};
use super::data::{Source, Text};
use super::model::Model;
use super::options::{Options, Phase};
use super::plan::{Plan, what_fits};
use crate::collective::Collective;
use crate::memory::bytes_in_words;
use crate::process::{anonymous_memory, tell_memory};
use crate::profile::Profile;
use crate::session::{self, Course, Work};
use crate::summary::{Outcome, Summary};
use crate::{Ended, Limits, Outlet, WorkloadError, ranks};

/// What to do about a loss that is not a finite number.
pub(super) const CALMER: &str = "lower learning_rate, or limit the gradient with clip";

/// Runs it.
pub(super) fn run(
    options: &Options,
    text: Option<Text>,
    machine: &Limits,
    outlet: &mut Outlet<'_>,
) -> Result<Ended, WorkloadError> {
    let (began, before) = (Instant::now(), anonymous_memory());
    tell_settings(options, outlet);
    let data_bytes = text.as_ref().map_or(0, Text::bytes);
    if !fits(options, data_bytes, machine, outlet) {
        return Ok(Ended::DoesNotFit);
    }
    let text = text.map(Arc::new);
    ranks::on_all(options.work.tasks, outlet, |ranks, outlet| {
        let rank = Rank::prepare(options, text.clone(), began, ranks.rank(), outlet);
        let refused = ranks.any(rank.is_err());
        let mut rank = rank?;
        if refused {
            return Ok(Ended::Stopped);
        }
        let mut summary = Summary::default();
        summary.tell_before(&options.effort(), outlet);
        let course = Course {
            first: rank.first,
            warmup: options.warmup,
            iterations: options.iterations,
            paced: options.paced,
            calmer: CALMER,
        };
        let ended = session::iterate(&course, &mut rank, ranks, began, &mut summary, outlet)?;
        if ranks.rank() == 0 {
            rank.finish(machine, ended, &summary, before, outlet)?;
        }
        Ok(ended)
    })
}

/// Tells every setting that means something to this engine.
fn tell_settings(options: &Options, outlet: &mut Outlet<'_>) {
    const OF_TORCH: [&str; 2] = ["mode", "python"];
    for (name, value) in options.in_force() {
        match name.as_str() {
            name if OF_TORCH.contains(&name) => {}
            "profile" => outlet.setting("profile", Value::Switch(options.profile.is_some())),
            // An empty text is a setting that is not in use.
            _ if value == Value::from("") => {}
            name => outlet.setting(name, value),
        }
    }
    outlet.setting(names::setting::PRECISION, "float32");
    outlet.setting("instructions", assay_kernels::path().name());
}

/// Whether the plan fits into memory; tells what is needed either way.
fn fits(options: &Options, data_bytes: u64, machine: &Limits, outlet: &mut Outlet<'_>) -> bool {
    let threads = Threads::new(options.threads_of_task());
    let plan = Plan::new(&threads, &options.shape, &options.work, data_bytes);
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
                hint: what_fits(&threads, &options.shape, &options.work, data_bytes, available)
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

/// One rank of a run under way.
struct Rank<'a> {
    options: &'a Options,
    model: Model,
    source: Source,
    inputs: Vec<u32>,
    targets: Vec<u32>,
    /// The number of the first iteration: above 0 for a resumed run.
    first: u64,
}

impl<'a> Rank<'a> {
    /// Takes all memory, makes the initial weights or reads them, and tells how long that took.
    fn prepare(
        options: &'a Options,
        text: Option<Arc<Text>>,
        began: Instant,
        rank: usize,
        outlet: &mut Outlet<'_>,
    ) -> Result<Rank<'a>, WorkloadError> {
        let Options { shape, work, seed, .. } = options;
        let training = work.phase == Phase::Step;
        let mut checkpoint = match &options.resume {
            Some(path) => {
                let checkpoint = Checkpoint::open(path)?;
                checkpoint.check(path, shape, training)?;
                Some(checkpoint)
            }
            None => None,
        };
        let profile = if options.profile.is_some() { Profile::on() } else { Profile::off() };
        let threads = Threads::new(options.threads_of_task());
        let mut model = Model::new(threads, shape, work, *seed, profile)?;
        let mut first = 0;
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.load(shape, model.state())?;
            first = checkpoint.about().map_or(0, |about| about.updates);
            note_resume(options, checkpoint, outlet);
        }
        outlet.tell(Told::Phase {
            name: "stage".to_owned(),
            start_s: 0.0,
            end_s: began.elapsed().as_secs_f64(),
        });
        Ok(Rank {
            options,
            model,
            source: Source::new(text, shape.vocabulary, work.context, *seed, rank * work.batch),
            inputs: vec![0; work.tokens()],
            targets: vec![0; work.tokens()],
            first,
        })
    }

    /// Writes the checkpoint.
    fn save(&mut self, began: Instant, outlet: &mut Outlet<'_>) -> Result<(), WorkloadError> {
        let Some(path) = &self.options.save else { return Ok(()) };
        let start_s = began.elapsed().as_secs_f64();
        let state = self.model.state();
        let about = About::new(self.options, *state.updates);
        checkpoint::save(path, &self.options.shape, &state, &about)?;
        let end_s = began.elapsed().as_secs_f64();
        outlet.tell(Told::Phase { name: "checkpoint".to_owned(), start_s, end_s });
        Ok(())
    }

    /// Tells what all iterations together came to.
    fn finish(
        &mut self,
        machine: &Limits,
        ended: Ended,
        summary: &Summary,
        memory_before: Option<u64>,
        outlet: &mut Outlet<'_>,
    ) -> Result<(), WorkloadError> {
        if ended == Ended::Stopped && summary.done() > 0 {
            self.save(Instant::now(), outlet)?;
        }
        summary.tell_after(&self.options.effort(), machine.peak_flops, outlet);
        tell_memory(memory_before, outlet);
        if let Some(path) = &self.options.profile {
            self.model.profile().tell(machine.peak_flops, summary.counted(), outlet);
            self.model.profile().write(path)?;
        }
        if matches!(ended, Ended::Done | Ended::Stopped) {
            outlet.tell(Told::Done { steps: summary.done() });
        }
        Ok(())
    }
}

impl Work for Rank<'_> {
    fn prepare(&mut self, number: u64) {
        self.source.fill(number, &mut self.inputs, &mut self.targets);
    }

    fn iterate(&mut self, look: bool, ranks: &mut dyn Collective) -> Outcome {
        self.model.iterate(&self.inputs, &self.targets, &self.options.training, look, ranks)
    }

    fn gradient_norm(&mut self) -> Option<f64> {
        self.model.gradient_norm()
    }

    fn warmed_up(&mut self) {
        self.model.profile().clear();
    }

    fn follow(
        &mut self,
        done: u64,
        last: bool,
        began: Instant,
        outlet: &mut Outlet<'_>,
    ) -> Result<(), WorkloadError> {
        let due = last || self.options.save_every.is_some_and(|every| done.is_multiple_of(every));
        if due { self.save(began, outlet) } else { Ok(()) }
    }
}

/// Says where a resumed run goes on, and what makes it differ from one that was never interrupted.
pub(super) fn note_resume(options: &Options, checkpoint: &Checkpoint, outlet: &mut Outlet<'_>) {
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
