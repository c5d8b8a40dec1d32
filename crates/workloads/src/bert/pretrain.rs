//! Pre-training by this program: plan, prepare, iterate, tell.

use std::sync::Arc;
use std::time::Instant;

use assay_kernels::Threads;
use assay_model::{Told, Value, names};

use super::Opened;
use super::data::{Sequences, Source, Text, masked_of};
use super::folder::Folder;
use super::model::{Model, numbers};
use super::options::{Options, Task};
use super::parameters::Parameters;
use crate::collective::Collective;
use crate::memory::bytes_in_words;
use crate::process::{anonymous_memory, tell_memory};
use crate::profile::Profile;
use crate::session::{self, Course, Work};
use crate::summary::{Effort, Outcome, Summary};
use crate::{Ended, Limits, Outlet, WorkloadError, ranks};

/// What to do about a loss that is not a finite number.
const CALMER: &str = "lower learning_rate, or limit the gradient with clip";
/// What the process itself needs, apart from all buffers.
const PROCESS_BYTES: u128 = 48 << 20;

/// Runs it.
pub(super) fn run(
    options: &Options,
    opened: Opened,
    text: Option<Text>,
    machine: &Limits,
    outlet: &mut Outlet<'_>,
) -> Result<Ended, WorkloadError> {
    let (began, before) = (Instant::now(), anonymous_memory());
    tell_settings(options, outlet);
    opened.tell_made_up(options, outlet);
    if !fits(options, machine, outlet) {
        return Ok(Ended::DoesNotFit);
    }
    let text = text.map(Arc::new);
    let special = opened.tokens.special();
    ranks::on_all(options.tasks, outlet, |ranks, outlet| {
        let source = Source::new(options, text.clone(), special, ranks.rank());
        let rank = Rank::prepare(options, source, began, outlet);
        let refused = ranks.any(rank.is_err());
        let mut rank = rank?;
        if refused {
            return Ok(Ended::Stopped);
        }
        let mut summary = Summary::default();
        summary.tell_before(&effort(options), outlet);
        let course = Course {
            first: 0,
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

fn tell_settings(options: &Options, outlet: &mut Outlet<'_>) {
    const ELSEWHERE: [&str; 7] = ["mode", "python", "text", "head", "sentences", "length", "classes"];
    for (name, value) in options.in_force() {
        match name.as_str() {
            name if ELSEWHERE.contains(&name) => {}
            "profile" => outlet.setting("profile", Value::Switch(options.profile.is_some())),
            // An empty text is a setting that is not in use.
            _ if value == Value::from("") => {}
            name => outlet.setting(name, value),
        }
    }
    outlet.setting(names::setting::PRECISION, "float32");
    outlet.setting("instructions", assay_kernels::path().name());
}

/// What one step of all ranks takes.
pub(super) fn effort(options: &Options) -> Effort {
    let Options { shape, batch, context, tasks, .. } = options;
    let samples = *tasks as f64 * *batch as f64;
    let forward = shape.encoder_flops(*context, *context) + shape.masked_flops(masked_of(*context));
    Effort {
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

/// Whether the memory suffices; tells what is needed either way.
fn fits(options: &Options, machine: &Limits, outlet: &mut Outlet<'_>) -> bool {
    let threads = Threads::new(options.threads_of_task());
    let tasks = options.tasks as u128;
    let parameters = options.shape.parameters(Task::Pretrain);
    let state = 16 * tasks * parameters;
    let activations = 4 * tasks * numbers(&threads, &options.shape, options.batch, options.context);
    // Every rank hands in one tensor after the other, and a share of the mean comes back from each.
    let largest = options.shape.vocabulary as u128 * options.shape.width as u128;
    let averages = if tasks > 1 { 4 * (tasks + 1) * largest } else { 0 };
    let total = state + activations + averages + PROCESS_BYTES;
    match machine.memory_bytes {
        Some(available) if total > u128::from(available) => {
            outlet.tell(Told::DoesNotFit {
                reason: format!(
                    "it needs {} (weights, gradients and optimizer {}, activations {}), and {} are free",
                    bytes_in_words(total),
                    bytes_in_words(state),
                    bytes_in_words(activations),
                    bytes_in_words(u128::from(available))
                ),
                hint: Some("choose a smaller batch_size, context, size or number of tasks".to_owned()),
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
    sequences: Sequences,
}

impl<'a> Rank<'a> {
    /// Takes all memory, makes the initial weights or reads them, and tells how long that took.
    fn prepare(
        options: &'a Options,
        source: Source,
        began: Instant,
        outlet: &mut Outlet<'_>,
    ) -> Result<Rank<'a>, WorkloadError> {
        let Options { shape, seed, batch, context, .. } = options;
        let threads = Threads::new(options.threads_of_task());
        // Each rank reads the folder for itself.
        let weights = match &options.model {
            Some(path) => Folder::open(path)?.load(&threads, Task::Pretrain, *seed)?,
            None => Parameters::initial(&threads, shape, Task::Pretrain, *seed)?,
        };
        let profile = if options.profile.is_some() { Profile::on() } else { Profile::off() };
        let model = Model::new(threads, shape, weights, *batch, *context, profile)?;
        let end_s = began.elapsed().as_secs_f64();
        outlet.tell(Told::Phase { name: "stage".to_owned(), start_s: 0.0, end_s });
        Ok(Rank { options, model, source, sequences: Sequences::default() })
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
        summary.tell_after(&effort(self.options), machine.peak_flops, outlet);
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
        self.source.fill(number, &mut self.sequences);
    }

    fn iterate(&mut self, look: bool, ranks: &mut dyn Collective) -> Outcome {
        self.model.step(&self.sequences, &self.options.training, look, ranks)
    }

    fn gradient_norm(&mut self) -> Option<f64> {
        Some(self.model.gradient_norm())
    }

    fn warmed_up(&mut self) {
        self.model.profile().clear();
    }

    fn follow(
        &mut self,
        _done: u64,
        _last: bool,
        _began: Instant,
        _outlet: &mut Outlet<'_>,
    ) -> Result<(), WorkloadError> {
        Ok(())
    }
}
