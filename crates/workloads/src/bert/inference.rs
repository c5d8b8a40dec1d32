//! Sentences answered by this program: load, pass over them, report.

mod emit;

use std::time::Instant;

use assay_kernels::{Threads, reduce};
use assay_model::{WorkloadEvent, names};

pub(super) use self::emit::report_sentences;
use self::emit::{fits, rank, report_answer};
use super::Opened;
use super::encoder::Encoder;
use super::head::{Head, best};
use super::options::{BertOptions, Task};
use super::parameters::Parameters;
use super::sentences::{Batch, Sentence, Sentences};
use crate::native::{self, RunStart};
use crate::process::{cpu_seconds, wait_for_line};
use crate::profile::Profile;
use crate::summary::{CPU, mean};
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

pub(super) fn run(
    options: &BertOptions,
    opened: Opened,
    sentences: Sentences,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let began = RunStart::now();
    native::report_settings(options.in_effect(), &["learning_rate", "weight_decay", "clip"], emitter);
    report_sentences(options, &opened, &sentences, emitter);
    if !fits(options, &sentences, machine, emitter) {
        return Ok(WorkloadEnd::DoesNotFit);
    }
    let mut run = Inference::prepare(options, opened, sentences)?;
    began.report_stage(emitter);
    emitter.emit(WorkloadEvent::value(names::PARAMETERS, options.shape.parameters(options.task) as f64));
    emitter.value_in("flops.iteration", run.flops, "FLOP", None);
    emitter.value_in("samples.iteration", run.order.len() as f64, "samples", None);
    emitter.note(
        "FLOPs: 2·m·n·k of every matrix product of the encoder, attention as 4·tokens·keys·width a layer; norms, \
         activations, softmax, embedding and head left out",
    );
    let ended = run.passes(began.at, emitter)?;
    run.finish(machine, emitter)?;
    began.memory_use().report(emitter);
    if matches!(ended, WorkloadEnd::Done | WorkloadEnd::Stopped) {
        emitter.emit(WorkloadEvent::Done { steps: run.done });
    }
    Ok(ended)
}

/// A run under way.
struct Inference<'a> {
    options: &'a BertOptions,
    encoder: Encoder,
    head: Head,
    labels: Vec<String>,
    sentences: Vec<Sentence>,
    /// Which sentences a pass goes through, in its order.
    order: Vec<usize>,
    pad: u32,
    /// The arithmetic of a pass.
    flops: f64,
    batch: Batch,
    scratch: Vec<f32>,
    answers: Vec<f32>,
    /// The seconds of each batch that counts.
    latencies: Vec<f64>,
    /// The seconds of each pass that counts.
    passes: Vec<f64>,
    first_s: Option<f64>,
    /// Passes, warm-up included.
    done: u64,
    /// Of the last pass.
    right: usize,
    /// The answer to the first sentence.
    shown: Vec<f32>,
}

impl<'a> Inference<'a> {
    fn prepare(
        options: &'a BertOptions,
        opened: Opened,
        sentences: Sentences,
    ) -> Result<Inference<'a>, WorkloadError> {
        let Opened { folder, trained, tokens, labels } = opened;
        let (shape, threads) = (options.shape, Threads::new(options.threads));
        let weights = match folder {
            Some(mut folder) if trained.is_some() => folder.load(&threads, Task::Embed, options.seed)?,
            Some(mut folder) => folder.load(&threads, options.task, options.seed)?,
            None => Parameters::initial(&threads, &shape, options.task, options.seed)?,
        };
        let head = match (&trained, options.task) {
            (Some(trained), _) => trained.head(shape.width),
            (None, Task::Classify) => Head::pooled(shape.width, &weights.pooler, &weights.classifier),
            (None, _) => Head::Embedding,
        };
        let sentences = sentences.list;
        let count = options.sentences.unwrap_or(sentences.len());
        let order: Vec<usize> = (0..count).map(|place| place % sentences.len()).collect();
        let of_one = |place: &usize| {
            let real = sentences[*place].ids.len();
            shape.encoder_flops(options.length.unwrap_or(real).max(real), real)
        };
        let profile = if options.profile.is_some() { Profile::on() } else { Profile::off() };
        let mut encoder = Encoder::new(threads, &shape, weights, profile);
        let lengths =
            || order.iter().map(|place| sentences[*place].ids.len().max(options.length.unwrap_or(0)));
        let longest = lengths().max().unwrap_or(0);
        let all: Vec<usize> = lengths().collect();
        let rows = all.chunks(options.batch).map(|batch| batch.iter().sum()).max().unwrap_or(0);
        encoder.reserve(rows, longest)?;
        Ok(Inference {
            options,
            encoder,
            head,
            labels,
            flops: order.iter().map(of_one).sum(),
            sentences,
            order,
            pad: tokens.special().pad,
            batch: Batch::default(),
            scratch: Vec::new(),
            answers: Vec::new(),
            latencies: Vec::new(),
            passes: Vec::new(),
            first_s: None,
            done: 0,
            right: 0,
            shown: Vec::new(),
        })
    }

    /// All passes, as long as nothing ends them.
    fn passes(&mut self, began: Instant, emitter: &mut Emitter<'_>) -> Result<WorkloadEnd, WorkloadError> {
        let BertOptions { warmup, iterations, paced, .. } = *self.options;
        let of = warmup.saturating_add(iterations);
        let mut phase_start = began.elapsed().as_secs_f64();
        for number in 0..of {
            if emitter.stopped() || (paced && !wait_for_line(std::io::stdin(), emitter)) {
                return Ok(WorkloadEnd::Stopped);
            }
            if number == warmup {
                self.encoder.profile().clear();
            }
            let counts = number >= warmup;
            let cpu = cpu_seconds();
            let (seconds, squares) = self.pass(counts, number == 0)?;
            let name = |metric: &str| if counts { metric.to_owned() } else { format!("{metric}.warmup") };
            emitter.value_in(&name(names::TIME_ITERATION), seconds, "s", Some(number + 1));
            emitter.value_in(&name(CPU), cpu_seconds() - cpu, "s", Some(number + 1));
            if !squares.is_finite() {
                let reason = format!("an answer is not a finite number at iteration {}", number + 1);
                let hint = Some("do the weights belong to a whole model?".to_owned());
                emitter.emit(WorkloadEvent::Failed { reason, hint });
                return Ok(WorkloadEnd::Diverged);
            }
            if number == 0 {
                let outputs = self.order.len() * self.head.outputs(self.options.shape.width);
                emitter.emit(WorkloadEvent::value(names::PARITY_OUTPUT, (squares / outputs as f64).sqrt()));
            }
            self.done += 1;
            self.first_s.get_or_insert(seconds);
            self.passes.extend(counts.then_some(seconds));
            emitter.emit(WorkloadEvent::Progress { done: number + 1, of });
            if number + 1 == warmup || number + 1 == of {
                let end_s = began.elapsed().as_secs_f64();
                let name = if counts { "eval" } else { "warmup" };
                emitter.emit(WorkloadEvent::Phase { name: name.to_owned(), start_s: phase_start, end_s });
                phase_start = end_s;
            }
        }
        Ok(WorkloadEnd::Done)
    }

    /// One pass: its seconds, and, where it is the `first`, the sum of the squares of all answers.
    fn pass(&mut self, counts: bool, first: bool) -> Result<(f64, f64), WorkloadError> {
        let BertOptions { batch: size, length, shape, .. } = *self.options;
        let outputs = self.head.outputs(shape.width);
        let (mut seconds, mut squares) = (0.0, 0.0);
        self.right = 0;
        for (number, places) in self.order.chunks(size).enumerate() {
            self.batch.fill(places.iter().map(|place| &self.sentences[*place]), length, self.pad);
            let start = Instant::now();
            let tokens = self.encoder.encode(&self.batch)?;
            self.head.answer(shape.width, &self.batch, tokens, &mut self.scratch, &mut self.answers);
            let latency = start.elapsed().as_secs_f64();
            seconds += latency;
            self.latencies.extend(counts.then_some(latency));
            if number == 0 {
                self.shown = self.answers[..outputs].to_vec();
            }
            if first {
                squares += reduce::sum_of_squares(&Threads::new(1), &self.answers);
            }
            let labels = places.iter().map(|place| self.sentences[*place].label);
            let right = labels.zip(self.answers.chunks_exact(outputs));
            self.right += right.filter(|(label, answer)| *label == Some(best(answer))).count();
        }
        Ok((seconds, squares))
    }

    /// Reports what all passes came to.
    fn finish(&mut self, machine: &SeriesLimits, emitter: &mut Emitter<'_>) -> Result<(), WorkloadError> {
        let seconds: f64 = self.passes.iter().sum();
        let passes = self.passes.len() as f64;
        if let Some(first) = self.first_s {
            emitter.emit(WorkloadEvent::value(names::TIME_FIRST, first));
        }
        if passes > 0.0 && seconds > 0.0 {
            emitter.emit(mean(names::TIME_ITERATION, seconds, passes));
            self.report_latencies(emitter);
            emitter.emit(WorkloadEvent::rate(
                names::INFERENCES_PER_S,
                passes * self.order.len() as f64,
                seconds,
            ));
            emitter.emit(WorkloadEvent::value(names::SAMPLES, self.done as f64 * self.order.len() as f64));
            emitter.emit(WorkloadEvent::rate(names::FLOPS_PER_S, passes * self.flops, seconds));
            if let Some(peak) = machine.peak_flops.filter(|peak| *peak > 0.0) {
                emitter.emit(WorkloadEvent::derived(names::MFU, passes * self.flops / seconds / peak));
            }
        }
        if self.done > 0 {
            self.report_answers(emitter);
        }
        if let Some(path) = &self.options.profile {
            self.encoder.profile().report(machine.peak_flops, self.passes.len() as u64, emitter);
            self.encoder.profile().write(path)?;
        }
        Ok(())
    }

    fn report_latencies(&mut self, emitter: &mut Emitter<'_>) {
        self.latencies.sort_by(f64::total_cmp);
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            let value = self.latencies[rank(share, self.latencies.len())];
            emitter.value_in(&format!("{}.{name}", names::LATENCY), value, "s", None);
        }
        let total: f64 = self.latencies.iter().sum();
        emitter.emit(mean(names::LATENCY, total, self.latencies.len() as f64));
    }

    /// Reports how many answers were right, and the answer to a sentence that was given by itself.
    fn report_answers(&self, emitter: &mut Emitter<'_>) {
        let labelled = self.order.iter().filter(|place| self.sentences[**place].label.is_some()).count();
        if labelled > 0 && self.options.task == Task::Classify {
            emitter.emit(WorkloadEvent::derived(names::ACCURACY, self.right as f64 / labelled as f64));
        }
        if self.options.text.is_some() && self.options.task == Task::Classify {
            report_answer(&self.shown, &self.labels, emitter);
        }
    }
}
