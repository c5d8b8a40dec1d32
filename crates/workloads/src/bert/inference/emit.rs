//! What a run says of its sentences, its memory and its answers.

use assay_model::{WorkloadEvent, names};

use crate::bert::encoder::Encoder;
use crate::bert::head::{best, probabilities};
use crate::bert::options::BertOptions;
use crate::bert::sentences::Sentences;
use crate::bert::{Opened, PROCESS_BYTES};
use crate::memory::bytes_in_words;
use crate::native::{self, MemoryNeed};
use crate::{Emitter, SeriesLimits};

/// Says what the sentences are like.
pub(in crate::bert) fn report_sentences(
    options: &BertOptions,
    opened: &Opened,
    sentences: &Sentences,
    emitter: &mut Emitter<'_>,
) {
    opened.report_made_up(options, emitter);
    if sentences.empty > 0 {
        emitter.note(format!("{} empty sentences were left out", sentences.empty));
    }
    if sentences.cut > 0 {
        let most = options.length.unwrap_or(options.shape.positions);
        emitter.note(format!("{} sentences were cut to {most} tokens", sentences.cut));
    }
    let lengths = sentences.lengths();
    for (name, share) in [("median", 0.5), ("p90", 0.9), ("most", 1.0)] {
        let length = lengths.get(rank(share, lengths.len())).copied().unwrap_or(0);
        emitter.value_in(&format!("length.{name}"), length as f64, "tokens", None);
    }
    if let (Some(_), Some(sentence)) = (&options.text, sentences.list.first()) {
        let words = |numbers: &mut dyn Iterator<Item = u32>| {
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
        };
        let length = options.length.unwrap_or(0).max(sentence.ids.len());
        let padding = length - sentence.ids.len();
        let pad = std::iter::repeat_n(opened.tokens.special().pad, padding);
        emitter.setting("input_ids", words(&mut sentence.ids.iter().copied().chain(pad)).as_str());
        let mask = sentence.ids.iter().map(|_| 1u32).chain(std::iter::repeat_n(0, padding));
        emitter.setting("attention_mask", words(&mut { mask }).as_str());
    }
}

/// Whether the memory suffices.
pub(super) fn fits(
    options: &BertOptions,
    sentences: &Sentences,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> bool {
    let longest = sentences.lengths().last().copied().unwrap_or(0).max(options.length.unwrap_or(0));
    let rows = longest.saturating_mul(options.batch.min(sentences.list.len()));
    // All tensors exist twice for a moment: as they are read, and packed.
    let weights = 8 * options.shape.parameters(options.task);
    let activations = 4 * Encoder::numbers(options.threads, &options.shape, rows, longest);
    let need = MemoryNeed {
        total: weights + activations + PROCESS_BYTES,
        parts: format!("weights {}, activations {}", bytes_in_words(weights), bytes_in_words(activations)),
    };
    native::fits(&need, machine, |_| "choose a smaller batch_size or size".to_owned(), emitter)
}

/// Reports the scores and the class of one sentence.
pub(super) fn report_answer(logits: &[f32], labels: &[String], emitter: &mut Emitter<'_>) {
    for (step, logit) in (0..).zip(logits) {
        emitter.emit(WorkloadEvent::at(names::LOGITS, step, f64::from(*logit)));
    }
    for (step, share) in (0..).zip(probabilities(logits)) {
        emitter.emit(WorkloadEvent::at(names::PROBABILITIES, step, share));
    }
    let class = best(logits);
    let name = labels.get(class).map(|label| format!(" ({label})")).unwrap_or_default();
    emitter.setting("label", format!("{class}{name}").as_str());
}

/// The place of a share of the smallest of `count` sorted values: the nearest rank.
pub(super) fn rank(share: f64, count: usize) -> usize {
    ((share * count as f64).ceil() as usize).clamp(1, count.max(1)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_nearest_ones() {
        assert_eq!([0.5, 0.9, 0.99, 1.0].map(|share| rank(share, 10)), [4, 8, 9, 9]);
        assert_eq!([rank(0.5, 1), rank(0.5, 0), rank(0.01, 1000)], [0, 0, 9]);
    }
}
