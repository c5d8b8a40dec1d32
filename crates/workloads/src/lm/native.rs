//! `lm` computed by this program: plan, prepare, iterate, report.

use std::sync::Arc;
use std::time::Instant;

use assay_kernels::Threads;
use assay_model::WorkloadEvent;

use super::checkpoint::{self, About, Checkpoint};
use super::data::{BatchSource, TokenizedText};
use super::model::Model;
use super::options::{LmOptions, LmWork, Phase};
use super::plan::{MemoryPlan, what_fits};
use crate::collective::{Collective, processes};
use crate::native::{self, MemoryNeed, NativeRun, RunStart};
use crate::profile::Profile;
use crate::session::{IterationSchedule, TimedWork};
use crate::summary::IterationOutcome;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, training};

pub(super) fn run(
    options: &LmOptions,
    text: Option<TokenizedText>,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let began = RunStart::now();
    native::report_settings(options.in_effect(), &[], emitter);
    if !fits(options, text.as_ref().map_or(0, TokenizedText::bytes), machine, emitter) {
        return Ok(WorkloadEnd::DoesNotFit);
    }
    let text = text.map(Arc::new);
    let LmOptions { warmup, iterations, paced, .. } = *options;
    let iteration_schedule = IterationSchedule { warmup, iterations, paced, calmer: training::CALMER };
    let run = NativeRun {
        began,
        schedule: iteration_schedule,
        effort: options.effort(),
        profile: options.profile.as_deref(),
    };
    run.on_all(machine, emitter, |rank, emitter| {
        let rank = Rank::prepare(options, text.clone(), rank, emitter)?;
        began.report_stage(emitter);
        Ok(rank)
    })
}

/// Whether the plan fits into memory.
fn fits(options: &LmOptions, data_bytes: u64, machine: &SeriesLimits, emitter: &mut Emitter<'_>) -> bool {
    let LmOptions { shape, work, .. } = options;
    let threads = Threads::new(options.threads_of_task());
    let work = &LmWork { tasks: processes::tasks_on_this_node(work.tasks), ..*work };
    let plan = MemoryPlan::new(&threads, shape, work, data_bytes);
    let need = MemoryNeed { total: plan.total(), parts: plan.words() };
    let hint = |available| {
        let found = what_fits(&threads, shape, work, data_bytes, available);
        found.unwrap_or_else(|| "choose a smaller size".to_owned())
    };
    native::fits(&need, machine, hint, emitter)
}

/// One rank of a run under way.
struct Rank<'a> {
    options: &'a LmOptions,
    model: Model,
    source: BatchSource,
    inputs: Vec<u32>,
    targets: Vec<u32>,
    /// The number of the first iteration: above 0 for a resumed run.
    first: u64,
}

impl<'a> Rank<'a> {
    /// Takes all memory and makes the initial weights or reads them.
    fn prepare(
        options: &'a LmOptions,
        text: Option<Arc<TokenizedText>>,
        rank: usize,
        emitter: &mut Emitter<'_>,
    ) -> Result<Rank<'a>, WorkloadError> {
        let LmOptions { shape, work, seed, .. } = options;
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
            note_resume(options, checkpoint, emitter);
        }
        Ok(Rank {
            options,
            model,
            source: BatchSource::new(text, shape.vocabulary, work.context, *seed, rank * work.batch),
            inputs: vec![0; work.tokens()],
            targets: vec![0; work.tokens()],
            first,
        })
    }

    /// Writes the checkpoint.
    fn save(&mut self, began: Instant, emitter: &mut Emitter<'_>) -> Result<(), WorkloadError> {
        let Some(path) = &self.options.save else { return Ok(()) };
        let start_s = began.elapsed().as_secs_f64();
        let state = self.model.state();
        let about = About::new(self.options, *state.updates);
        checkpoint::save(path, &self.options.shape, &state, &about)?;
        let end_s = began.elapsed().as_secs_f64();
        emitter.emit(WorkloadEvent::Phase { name: "checkpoint".to_owned(), start_s, end_s });
        Ok(())
    }
}

impl TimedWork for Rank<'_> {
    fn prepare(&mut self, number: u64) {
        self.source.fill(number, &mut self.inputs, &mut self.targets);
    }

    fn iterate(&mut self, look: bool, ranks: &mut dyn Collective) -> IterationOutcome {
        self.model.iterate(&self.inputs, &self.targets, &self.options.training, look, ranks)
    }

    fn gradient_norm(&mut self) -> Option<f64> {
        self.model.gradient_norm()
    }

    fn first(&self) -> u64 {
        self.first
    }

    fn profile(&self) -> &Profile {
        self.model.profile()
    }

    fn follow(
        &mut self,
        done: u64,
        last: bool,
        began: Instant,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        let due = last || self.options.save_every.is_some_and(|every| done.is_multiple_of(every));
        if due { self.save(began, emitter) } else { Ok(()) }
    }

    fn close(
        &mut self,
        ended: WorkloadEnd,
        done: u64,
        began: Instant,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        if ended == WorkloadEnd::Stopped && done > 0 { self.save(began, emitter) } else { Ok(()) }
    }
}

/// Says where a resumed run goes on, and what makes it differ from one that was never interrupted.
pub(super) fn note_resume(options: &LmOptions, checkpoint: &Checkpoint, emitter: &mut Emitter<'_>) {
    let Some(about) = checkpoint.about() else {
        emitter.note(
            "the checkpoint holds weights alone: steps are counted from 0, and the optimizer starts fresh",
        );
        return;
    };
    emitter.note(format!("resumed after {} updates", about.updates));
    if let Some(words) = about.differences(&About::new(options, about.updates)) {
        emitter.emit(WorkloadEvent::Note {
            text: format!("settings differ from those of the checkpoint: {words}"),
            hint: Some("with the same settings, losses are identical to an uninterrupted run".to_owned()),
        });
    }
}
