//! `bert` computed by an installed PyTorch.

use assay_model::{Settings, Value, names};

use super::Opened;
use super::data::{TokenizedText, masked_of};
use super::inference::report_sentences;
use super::options::{BertOptions, Task};
use super::pretrain;
use super::sentences::Sentences;
use crate::engine::torch::{self, TorchRun};
use crate::settings::wrong;
use crate::summary::WorkAmount;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

const FLOAT: u128 = 4;
const SCRIPT: &str = include_str!("torch.py");

/// Classifies or embeds sentences.
pub(super) fn answer(
    options: &BertOptions,
    opened: Opened,
    sentences: Sentences,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    report_sentences(options, &opened, &sentences, emitter);
    let list = &sentences.list;
    let count = options.sentences.unwrap_or(list.len());
    let (mut flops, mut longest) = (0.0, 0);
    for place in 0..count {
        let real = list[place % list.len()].ids.len();
        let padded = real.max(options.length.unwrap_or(0));
        flops += options.shape.encoder_flops(padded, real);
        longest = longest.max(padded);
    }
    let mut files = vec![
        ("ids", bytes(list.iter().flat_map(|sentence| sentence.ids.iter().copied()))),
        ("lengths", bytes(list.iter().map(|sentence| sentence.ids.len() as u32))),
    ];
    if list.iter().any(|sentence| sentence.label.is_some()) {
        let label = |label: Option<usize>| label.map_or(i32::MAX as u32, |label| label as u32);
        files.push(("labels", bytes(list.iter().map(|sentence| label(sentence.label)))));
    }
    let effort = WorkAmount {
        samples: count as f64,
        tokens: None,
        flops,
        formula: "2·m·n·k of every matrix product of the encoder, attention as 4·tokens·keys·width a layer, padding \
                  within a batch not counted; norms, activations, softmax, embedding and head left out"
            .to_owned(),
        metric: "time.pass",
        parameters: vec![(names::PARAMETERS, options.shape.parameters(options.task) as f64)],
        trains: false,
        tasks: 1,
        schedule: None,
    };
    let rows = (longest * options.batch) as u128;
    let activations = rows * (8 * options.shape.width as u128 + 2 * options.shape.hidden as u128);
    let least = FLOAT * (options.shape.parameters(options.task) + activations);
    run(options, &opened, files, effort, least, machine, emitter)
}

/// Pre-trains.
pub(super) fn pretrain(
    options: &BertOptions,
    opened: Opened,
    text: Option<TokenizedText>,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    opened.report_made_up(options, emitter);
    let files = text.map(|text| ("tokens", bytes(text.tokens.iter().copied()))).into_iter().collect();
    let shape = &options.shape;
    let [width, hidden, vocabulary] = [shape.width, shape.hidden, shape.vocabulary].map(|size| size as u128);
    let tokens = options.batch as u128 * options.context as u128;
    let masked = options.batch as u128 * masked_of(options.context) as u128;
    let kept = tokens * shape.layers as u128 * (8 * width + 2 * hidden) + 2 * masked * vocabulary;
    let least = FLOAT * (4 * shape.parameters(Task::Pretrain) + kept);
    run(options, &opened, files, pretrain::effort(options), least, machine, emitter)
}

fn run(
    options: &BertOptions,
    opened: &Opened,
    files: Vec<(&str, Vec<u8>)>,
    effort: WorkAmount,
    least_bytes: u128,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    if opened.folder.as_ref().is_some_and(|folder| !folder.is_single()) {
        let error = wrong("model", &options.text_of("model"), "the engine `torch` reads 32-bit floats only");
        return Err(error.or_hint("use engine = native"));
    }
    let job = TorchRun {
        script: SCRIPT,
        settings: settings(options, opened),
        native_only: &["profile"],
        files,
        planned: options.warmup.saturating_add(options.iterations),
        effort,
        least_bytes,
        smaller: "lower batch_size, context or size",
    };
    torch::run(job, machine, emitter)
}

/// The settings in effect, and what the script must know beside them.
fn settings(options: &BertOptions, opened: &Opened) -> Settings {
    let mut settings = options.in_effect();
    let special = opened.tokens.special();
    let more = [
        ("kinds", options.shape.kinds),
        ("pad", special.pad as usize),
        ("begin", special.begin as usize),
        ("end", special.end as usize),
        ("mask", special.mask as usize),
        ("first", special.first as usize),
    ];
    for (name, number) in more {
        settings.insert(name.to_owned(), Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
    }
    settings
}

fn bytes(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(u32::to_le_bytes).collect()
}
