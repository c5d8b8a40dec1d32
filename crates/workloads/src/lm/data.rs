//! Where tokens come from: the seed, or a text.
//!
//! *Random tokens* have the kind `tokens` in the rule of [`crate::initial`]. Sequence `b` of the batch takes the
//! `context + 1` draws with `i = b * (context + 1) + t`; its token `t` is `(draw >> 32) mod vocabulary`. The first
//! `context` tokens are the inputs, the last `context` tokens are the targets.
//!
//! *Windows of a text* of `length` tokens have the kind `windows`: sequence `b` begins at the token
//! `draw(key, b) mod (length - context)`; it is `context + 1` tokens long and used as above.
//!
//! With several tasks the sequences of all ranks are numbered through, so that they are those of one joined batch.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use tokenizers::Tokenizer;

use super::options::LmOptions;
use crate::WorkloadError;
use crate::initial::DrawKey;

/// About how much text is turned into tokens at once, so that the memory for it stays small.
const PIECE_BYTES: usize = 1 << 20;

/// A text as tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizedText {
    tokens: Tokens,
    /// Tokens that its tokenizer knows: the smallest vocabulary that a model for it can have.
    pub vocabulary: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tokens {
    /// Every byte is a token.
    Bytes(Vec<u8>),
    Numbers(Vec<u32>),
}

impl TokenizedText {
    /// Reads the text that the options name, if it is not larger than `most` bytes; none if they name none.
    pub fn open(options: &LmOptions, most: Option<u64>) -> Result<Option<TokenizedText>, WorkloadError> {
        let Some(path) = &options.text else { return Ok(None) };
        let bytes = read(path, most.unwrap_or(u64::MAX - 1))?;
        let text = match &options.tokenizer {
            None => TokenizedText::from_bytes(bytes),
            Some(tokenizer) => TokenizedText::from_tokenizer(path, &bytes, tokenizer)?,
        };
        let needed = options.work.context.saturating_add(1);
        if text.len() < needed {
            let reason = format!("it has {} tokens, and one window takes {needed}", text.len());
            let error = WorkloadError::file("train on", path, reason);
            return Err(error.or_hint("take a longer text or a smaller `context`"));
        }
        Ok(Some(text))
    }

    fn from_bytes(bytes: Vec<u8>) -> TokenizedText {
        TokenizedText { tokens: Tokens::Bytes(bytes), vocabulary: 256 }
    }

    /// The text is cut behind line ends into pieces of about a megabyte; each becomes tokens on its own.
    fn from_tokenizer(
        path: &Path,
        bytes: &[u8],
        tokenizer_path: &Path,
    ) -> Result<TokenizedText, WorkloadError> {
        let tokenizer = Tokenizer::from_file(tokenizer_path).map_err(|error| {
            let error = WorkloadError::file("read", tokenizer_path, error);
            error.or_hint("`tokenizer` takes a tokenizer.json as the `tokenizers` library writes it")
        })?;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            WorkloadError::file("read", path, error).or_hint("without `tokenizer` any bytes are taken")
        })?;
        let mut tokens = Vec::new();
        for piece in pieces(text) {
            let encoding = tokenizer
                .encode_fast(piece, false)
                .map_err(|error| WorkloadError::file("turn into tokens", path, error))?;
            tokens.extend_from_slice(encoding.get_ids());
        }
        let largest = tokens.iter().copied().max().unwrap_or(0) as usize;
        let vocabulary = tokenizer.get_vocab_size(true).max(largest + 1);
        Ok(TokenizedText { tokens: Tokens::Numbers(tokens), vocabulary })
    }

    /// How many tokens it has.
    pub fn len(&self) -> usize {
        match &self.tokens {
            Tokens::Bytes(bytes) => bytes.len(),
            Tokens::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory it takes.
    pub fn bytes(&self) -> u64 {
        match &self.tokens {
            Tokens::Bytes(bytes) => bytes.len() as u64,
            Tokens::Numbers(numbers) => 4 * numbers.len() as u64,
        }
    }

    /// All tokens, as engines outside this process take them.
    pub fn numbers(&self) -> Vec<u32> {
        match &self.tokens {
            Tokens::Bytes(bytes) => bytes.iter().copied().map(u32::from).collect(),
            Tokens::Numbers(numbers) => numbers.clone(),
        }
    }

    /// The token at a place.
    pub fn token(&self, place: usize) -> u32 {
        match &self.tokens {
            Tokens::Bytes(bytes) => u32::from(bytes[place]),
            Tokens::Numbers(numbers) => numbers[place],
        }
    }
}

/// The text in pieces of about [`PIECE_BYTES`], cut behind line ends where there are any.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A line end is never part of a longer character, so that bytes can be searched.
        let line_end = rest.bytes().skip(PIECE_BYTES).position(|byte| byte == b'\n');
        let end = line_end.map_or(rest.len(), |place| PIECE_BYTES + place + 1);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, WorkloadError> {
    let system = |error: std::io::Error| WorkloadError::file("read", path, error);
    let too_large = || {
        let error =
            WorkloadError::file("read", path, format!("it has more than the {most} bytes of free memory"));
        error.or_hint("take a part of the text")
    };
    let file = File::open(path).map_err(system)?;
    let length = file.metadata().map_err(system)?.len();
    if length > most {
        return Err(too_large());
    }
    // What is not a regular file says nothing of its length, so the limit is kept while reading, too.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(most + 1).read_to_end(&mut bytes).map_err(system)?;
    if bytes.len() as u64 > most {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Gives every iteration its tokens.
pub struct BatchSource {
    text: Option<Arc<TokenizedText>>,
    vocabulary: u32,
    key: DrawKey,
    context: usize,
    /// The number of its first sequence in the batch of all ranks.
    first: usize,
}

impl BatchSource {
    /// Windows of a text, or random tokens below `vocabulary`; `first` is the number of the first sequence in the batch
    /// of all ranks.
    pub fn new(
        text: Option<Arc<TokenizedText>>,
        vocabulary: usize,
        context: usize,
        seed: u64,
        first: usize,
    ) -> BatchSource {
        let key = DrawKey::new(if text.is_some() { "windows" } else { "tokens" }, seed);
        BatchSource { text, vocabulary: u32::try_from(vocabulary).unwrap_or(u32::MAX), key, context, first }
    }

    /// The tokens of an iteration: `inputs` and `targets` hold an integer of sequences.
    pub fn fill(&self, iteration: u64, inputs: &mut [u32], targets: &mut [u32]) {
        let key = self.key.at(iteration);
        let sequences = inputs.chunks_mut(self.context).zip(targets.chunks_mut(self.context));
        for (number, (inputs, targets)) in (self.first..).zip(sequences) {
            match &self.text {
                None => {
                    let first = number as u64 * (self.context as u64 + 1);
                    let token = |t: usize| (key.draw(first + t as u64) >> 32) as u32 % self.vocabulary;
                    window(inputs, targets, token);
                }
                Some(text) => {
                    let places = (text.len() - self.context) as u64;
                    let first = (key.draw(number as u64) % places) as usize;
                    window(inputs, targets, |t| text.token(first + t));
                }
            }
        }
    }
}

fn window(inputs: &mut [u32], targets: &mut [u32], token: impl Fn(usize) -> u32) {
    for (t, (input, target)) in inputs.iter_mut().zip(targets).enumerate() {
        (*input, *target) = (token(t), token(t + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(source: &BatchSource, iteration: u64) -> (Vec<u32>, Vec<u32>) {
        let (mut inputs, mut targets) = (vec![0; 12], vec![0; 12]);
        source.fill(iteration, &mut inputs, &mut targets);
        (inputs, targets)
    }

    #[test]
    fn targets_are_the_next_tokens_and_every_iteration_has_its_own() {
        let text = TokenizedText::from_bytes((0..=255).collect());
        for source in
            [BatchSource::new(None, 11, 4, 1, 0), BatchSource::new(Some(Arc::new(text)), 256, 4, 1, 0)]
        {
            let (inputs, targets) = sample(&source, 3);
            for (inputs, targets) in inputs.chunks(4).zip(targets.chunks(4)) {
                assert_eq!(inputs[1..], targets[..3]);
            }
            assert_eq!(sample(&source, 3), (inputs.clone(), targets));
            assert_ne!(sample(&source, 4).0, inputs);
        }
        assert!(sample(&BatchSource::new(None, 11, 4, 1, 0), 0).0.iter().all(|token| *token < 11));
    }

    #[test]
    fn ranks_have_the_parts_of_one_batch() {
        let text = Arc::new(TokenizedText::from_bytes((0..=255).collect()));
        for text in [None, Some(text)] {
            let source = |first| BatchSource::new(text.clone(), 256, 4, 1, first);
            let (whole, part) = (sample(&source(0), 3), sample(&source(2), 3));
            assert_eq!(whole.0[8..], part.0[..4]);
        }
    }

    #[test]
    fn a_text_of_one_window_is_enough() {
        let source =
            BatchSource::new(Some(Arc::new(TokenizedText::from_bytes(b"abcde".to_vec()))), 256, 4, 1, 0);
        assert_eq!(sample(&source, 0).1[..4], *b"bcde".map(u32::from).as_slice());
    }

    #[test]
    fn pieces_end_behind_lines_and_make_up_the_text() {
        let text = "ein Wort, ü und mehr\n".repeat(200_000);
        let cut: Vec<&str> = pieces(&text).collect();
        assert!(cut.len() > 3 && cut.iter().all(|piece| piece.ends_with('\n')));
        assert_eq!(cut.concat(), text);
        assert_eq!(pieces("").count(), 0);
    }
}
