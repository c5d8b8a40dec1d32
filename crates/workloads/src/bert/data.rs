//! Sequences to pre-train on: tokens from the seed or windows of a text, and which of them are hidden.
//!
//! By the rule of [`crate::initial`], with the step as the number of the iteration, and `i = b * context + t` for the
//! token `t` of sequence `b`; the first token of a sequence is the beginning, the last the end:
//!
//! - *Random tokens* have the kind `tokens`: `first + (draw(i) >> 32) mod (vocabulary - first)`.
//! - *Windows of a text* of `length` tokens have the kind `windows`: sequence `b` takes `context - 2` tokens from
//!   `draw(b) mod (length - context + 3)` on.
//! - *Masks* have the kind `masks`: of the tokens between beginning and end those `(15 * context + 50) div 100` (at least
//!   one) are chosen whose `draw(i) >> 1` is smallest; of equal ones the first.
//! - *Replacements* have the kind `replacements`: a chosen token is hidden where `(draw(i) >> 32) mod 10` is below 8,
//!   replaced by an ordinary token (kind `others`, as random tokens) where it is 8, and left as it is where it is 9.
//!
//! With several tasks the sequences of all ranks are numbered through, so that they are those of one joined batch.

use std::sync::Arc;

use super::options::BertOptions;
use super::sentences::ordinary;
use super::tokens::{Special, Tokens};
use crate::WorkloadError;
use crate::initial::DrawKey;

/// About how much text is turned into tokens at once.
const PIECE_BYTES: usize = 1 << 20;

/// A text as tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizedText {
    pub tokens: Vec<u32>,
}

impl TokenizedText {
    /// Reads the text that the options name; none if they name none.
    pub fn open(options: &BertOptions, tokens: &Tokens) -> Result<Option<TokenizedText>, WorkloadError> {
        let Some(path) = &options.data else { return Ok(None) };
        let bytes = std::fs::read(path).map_err(|error| WorkloadError::file("read", path, error))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| WorkloadError::file("read", path, error))?;
        let mut all = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let line_end = rest.bytes().skip(PIECE_BYTES).position(|byte| byte == b'\n');
            let (piece, after) = rest.split_at(line_end.map_or(rest.len(), |place| PIECE_BYTES + place + 1));
            let piece = tokens.encode_words(piece);
            all.extend(piece.map_err(|error| WorkloadError::file("turn into tokens", path, error))?);
            rest = after;
        }
        let needed = options.context - 2;
        if all.len() < needed {
            let reason = format!("it has {} tokens, and one window takes {needed}", all.len());
            let error = WorkloadError::file("train on", path, reason);
            return Err(error.or_hint("take a longer text or a smaller `context`"));
        }
        Ok(Some(TokenizedText { tokens: all }))
    }
}

/// How many tokens of a sequence are masked.
pub fn masked_of(context: usize) -> usize {
    (context.saturating_mul(15).saturating_add(50) / 100).clamp(1, context.saturating_sub(2).max(1))
}

/// What one iteration of one rank takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequences {
    /// The tokens of all sequences, some of them hidden.
    pub ids: Vec<u32>,
    /// The places of the masked tokens in `ids`, in their order.
    pub places: Vec<u32>,
    /// What stood there.
    pub targets: Vec<u32>,
}

/// Gives every iteration its sequences.
pub struct BatchSource {
    text: Option<Arc<TokenizedText>>,
    special: Special,
    vocabulary: usize,
    context: usize,
    seed: u64,
    batch: usize,
    /// The number of its first sequence in the batch of all ranks.
    first: usize,
}

impl BatchSource {
    /// Sequences of a text, or random ones, for the rank with this number.
    pub fn new(
        options: &BertOptions,
        text: Option<Arc<TokenizedText>>,
        special: Special,
        rank: usize,
    ) -> BatchSource {
        BatchSource {
            text,
            special,
            vocabulary: options.shape.vocabulary,
            context: options.context,
            seed: options.seed,
            batch: options.batch,
            first: rank * options.batch,
        }
    }

    /// The sequences of the iteration with this number, from 0.
    pub fn fill(&self, iteration: u64, sequences: &mut Sequences) {
        let key = |kind: &str| DrawKey::new(kind, self.seed).at(iteration);
        let [masks, replacements, others] = ["masks", "replacements", "others"].map(key);
        sequences.ids.resize(self.batch * self.context, 0);
        sequences.places.clear();
        sequences.targets.clear();
        let mut chosen: Vec<(u64, usize)> = Vec::new();
        for (local, ids) in sequences.ids.chunks_exact_mut(self.context).enumerate() {
            let number = (self.first + local) as u64;
            self.tokens(key, number, ids);
            let draw_of = |t: usize| number * self.context as u64 + t as u64;
            chosen.clear();
            chosen.extend((1..self.context - 1).map(|t| (masks.draw(draw_of(t)) >> 1, t)));
            chosen.sort_unstable();
            chosen.truncate(masked_of(self.context));
            chosen.sort_unstable_by_key(|(_, t)| *t);
            for (_, t) in &chosen {
                sequences.places.push((local * self.context + t) as u32);
                sequences.targets.push(ids[*t]);
                match (replacements.draw(draw_of(*t)) >> 32) % 10 {
                    0..8 => ids[*t] = self.special.mask,
                    8 => ids[*t] = ordinary(others, draw_of(*t), self.vocabulary, self.special),
                    _ => {}
                }
            }
        }
    }

    /// The tokens of one sequence before anything is hidden.
    fn tokens(&self, key: impl Fn(&str) -> DrawKey, number: u64, ids: &mut [u32]) {
        let inside = self.context - 2;
        match &self.text {
            Some(text) => {
                let places = (text.tokens.len() - inside + 1) as u64;
                let begin = (key("windows").draw(number) % places) as usize;
                ids[1..=inside].copy_from_slice(&text.tokens[begin..begin + inside]);
            }
            None => {
                let tokens = key("tokens");
                for (t, id) in (0..).zip(ids.iter_mut()) {
                    let i = number * self.context as u64 + t;
                    *id = ordinary(tokens, i, self.vocabulary, self.special);
                }
            }
        }
        if let [begin, .., end] = ids {
            (*begin, *end) = (self.special.begin, self.special.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, i64)]) -> BertOptions {
        let numbers = pairs.iter().map(|(name, number)| ((*name).to_owned(), (*number).into()));
        let task = ("task".to_owned(), "pretrain".into());
        BertOptions::read(&numbers.chain([task]).collect(), 1).unwrap()
    }

    fn filled(source: &BatchSource, iteration: u64) -> Sequences {
        let mut sequences = Sequences::default();
        source.fill(iteration, &mut sequences);
        sequences
    }

    #[test]
    fn every_sequence_has_its_share_of_masks_by_the_usual_rule() {
        let options = options(&[("context", 128), ("batch_size", 200)]);
        let special = Special::of_size(30_522);
        let sequences = filled(&BatchSource::new(&options, None, special, 0), 3);
        assert_eq!((masked_of(128), masked_of(10), masked_of(3)), (19, 2, 1));
        assert_eq!(sequences.targets.len(), 200 * 19);
        let (mut hidden, mut kept) = (0, 0);
        for (row, places) in sequences.places.chunks(19).enumerate() {
            assert!(places.iter().all(|place| (1..127).contains(&(*place as usize - row * 128))));
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        }
        for (place, target) in sequences.places.iter().zip(&sequences.targets) {
            let now = sequences.ids[*place as usize];
            hidden += usize::from(now == special.mask);
            kept += usize::from(now == *target);
        }
        let share = |count: usize| count as f64 / 3800.0;
        assert!((share(hidden) - 0.8).abs() < 0.03 && (share(kept) - 0.1).abs() < 0.03, "{hidden} {kept}");
        assert_ne!(sequences, filled(&BatchSource::new(&options, None, special, 0), 4));
    }

    #[test]
    fn ranks_have_the_sequences_of_the_joined_batch() {
        let special = Special::of_size(30_522);
        let joined =
            filled(&BatchSource::new(&options(&[("context", 20), ("batch_size", 4)]), None, special, 0), 5);
        let half = options(&[("context", 20), ("batch_size", 2)]);
        let ranks = [0, 1].map(|rank| filled(&BatchSource::new(&half, None, special, rank), 5));
        assert_eq!(joined.ids, [&ranks[0].ids[..], &ranks[1].ids].concat());
        assert_eq!(joined.targets, [&ranks[0].targets[..], &ranks[1].targets].concat());
        assert!(
            ranks[1].places.iter().zip(&joined.places[ranks[0].places.len()..]).all(|(a, b)| a + 40 == *b)
        );
    }

    #[test]
    fn windows_of_a_text_lie_in_it() {
        let text = Arc::new(TokenizedText { tokens: (1000..1012).collect() });
        let source = BatchSource::new(
            &options(&[("context", 12), ("batch_size", 50)]),
            Some(text),
            Special::of_size(30_522),
            0,
        );
        let mut sequences = filled(&source, 0);
        for (place, target) in sequences.places.iter().zip(&sequences.targets) {
            sequences.ids[*place as usize] = *target;
        }
        let begins: Vec<u32> = sequences.ids.chunks(12).map(|ids| ids[1]).collect();
        assert!(begins.iter().all(|begin| (1000..=1002).contains(begin)));
        assert!([1000, 1001, 1002].iter().all(|begin| begins.contains(begin)));
        assert!(sequences.ids.chunks(12).all(|ids| ids[1..11].windows(2).all(|pair| pair[0] + 1 == pair[1])));
    }
}
