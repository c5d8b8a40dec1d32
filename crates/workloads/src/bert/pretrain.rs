//! Pre-training by this program: plan, prepare, iterate, report.

use std::sync::Arc;

use assay_kernels::Threads;
use assay_model::names;

use super::Opened;
use super::data::{BatchSource, Sequences, TokenizedText, masked_of};
use super::folder::Folder;
use super::model::{Model, numbers};
use super::options::{BertOptions, Task};
use super::parameters::Parameters;
use crate::collective::{Collective, processes};
use crate::memory::{self, bytes_in_words};
use crate::native::{self, MemoryNeed, NativeRun, RunStart};
use crate::profile::Profile;
use crate::session::{IterationSchedule, TimedWork};
use crate::summary::{IterationOutcome, WorkAmount};
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, training};

pub(super) fn run(
    options: &BertOptions,
    opened: Opened,
    text: Option<TokenizedText>,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    const ELSEWHERE: [&str; 5] = ["text", "head", "sentences", "length", "classes"];
    let began = RunStart::now();
    native::report_settings(options.in_effect(), &ELSEWHERE, emitter);
    opened.report_made_up(options, emitter);
    if !fits(options, machine, emitter) {
        return Ok(WorkloadEnd::DoesNotFit);
    }
    let text = text.map(Arc::new);
    let special = opened.tokens.special();
    let BertOptions { warmup, iterations, paced, .. } = *options;
    let iteration_schedule = IterationSchedule { warmup, iterations, paced, calmer: training::CALMER };
    let run = NativeRun {
        began,
        schedule: iteration_schedule,
        effort: effort(options),
        profile: options.profile.as_deref(),
    };
    run.on_all(machine, emitter, |rank, emitter| {
        let rank = Rank::prepare(options, BatchSource::new(options, text.clone(), special, rank))?;
        began.report_stage(emitter);
        Ok(rank)
    })
}

/// What one step of all ranks takes.
pub(super) fn effort(options: &BertOptions) -> WorkAmount {
    let BertOptions { shape, batch, context, tasks, .. } = options;
    let samples = *tasks as f64 * *batch as f64;
    let forward = shape.encoder_flops(*context, *context) + shape.masked_flops(masked_of(*context));
    WorkAmount {
        samples,
        tokens: Some(samples * *context as f64),
        flops: 3.0 * samples * forward,
        formula: "2·m·n·k of every matrix product, attention as 4·tokens·context·width a layer, scores of masked tokens \
                  only; backward twice the forward; norms, activations, softmax, loss, embedding and optimizer left out"
            .to_owned(),
        metric: names::TIME_STEP,
        parameters: vec![(names::PARAMETERS, shape.parameters(Task::Pretrain) as f64)],
        trains: true,
        tasks: *tasks,
        schedule: None,
    }
}

/// Whether the memory suffices.
fn fits(options: &BertOptions, machine: &SeriesLimits, emitter: &mut Emitter<'_>) -> bool {
    let threads = Threads::new(options.threads_of_task());
    let tasks = processes::tasks_on_this_node(options.tasks) as u128;
    let parameters = options.shape.parameters(Task::Pretrain);
    let state = 16 * tasks * parameters;
    let activations = 4 * tasks * numbers(&threads, &options.shape, options.batch, options.context);
    let averages = processes::averaging_bytes(options.tasks, parameters);
    let need = MemoryNeed {
        total: state + activations + averages + memory::of_tasks(tasks) + super::PROCESS_BYTES,
        parts: format!(
            "weights, gradients and optimizer {}, activations {}",
            bytes_in_words(state),
            bytes_in_words(activations)
        ),
    };
    let hint = |_| "choose a smaller batch_size, context, size or number of tasks".to_owned();
    native::fits(&need, machine, hint, emitter)
}

/// One rank of a run under way.
struct Rank<'a> {
    options: &'a BertOptions,
    model: Model,
    source: BatchSource,
    sequences: Sequences,
}

impl<'a> Rank<'a> {
    /// Takes all memory and makes the initial weights or reads them.
    fn prepare(options: &'a BertOptions, source: BatchSource) -> Result<Rank<'a>, WorkloadError> {
        let BertOptions { shape, seed, batch, context, .. } = options;
        let threads = Threads::new(options.threads_of_task());
        // Each rank reads the folder for itself.
        let weights = match &options.model {
            Some(path) => Folder::open(path)?.load(&threads, Task::Pretrain, *seed)?,
            None => Parameters::initial(&threads, shape, Task::Pretrain, *seed)?,
        };
        let profile = if options.profile.is_some() { Profile::on() } else { Profile::off() };
        let model = Model::new(threads, shape, weights, *batch, *context, profile)?;
        Ok(Rank { options, model, source, sequences: Sequences::default() })
    }
}

impl TimedWork for Rank<'_> {
    fn prepare(&mut self, number: u64) {
        self.source.fill(number, &mut self.sequences);
    }

    fn iterate(&mut self, look: bool, ranks: &mut dyn Collective) -> IterationOutcome {
        self.model.step(&self.sequences, &self.options.training, look, ranks)
    }

    fn gradient_norm(&mut self) -> Option<f64> {
        Some(self.model.gradient_norm())
    }

    fn profile(&self) -> &Profile {
        self.model.profile()
    }
}
