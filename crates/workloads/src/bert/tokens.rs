//! Sentences as token ids: by a vocabulary or a tokenizer file, or made up where there is neither.
//!
//! *Made-up ids.* Without a vocabulary a word stands for `first + draw mod (vocabulary - first)`, where the draw is the
//! first of a key that is named by the word (see [`crate::initial`]), and words are what BERT's own rules divide a text
//! into. Such ids mean nothing, but work on them takes as long.

use std::collections::HashMap;
use std::path::Path;

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::bert::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{
    NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, Tokenizer,
};

use crate::WorkloadError;
use crate::initial::DrawKey;

/// The ids with a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Special {
    /// What fills up a sentence.
    pub pad: u32,
    /// What a sentence begins with.
    pub begin: u32,
    /// What a sentence ends with.
    pub end: u32,
    /// What stands for a hidden token.
    pub mask: u32,
    /// The first ordinary token.
    pub first: u32,
}

/// The ids of BERT's uncased vocabulary.
const USUAL: Special = Special { pad: 0, begin: 101, end: 102, mask: 103, first: 999 };
/// The ids of vocabularies that are too small for those.
pub(super) const SMALL: Special = Special { pad: 0, begin: 1, end: 2, mask: 3, first: 4 };

impl Special {
    /// Those of a vocabulary of which only the size is known.
    pub fn of_size(vocabulary: usize) -> Special {
        if vocabulary > 2 * USUAL.first as usize { USUAL } else { SMALL }
    }
}

/// A sentence as ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The ids, with those of beginning and end.
    pub ids: Vec<u32>,
    /// How many tokens were cut off because the sentence was too long.
    pub cut: usize,
}

/// What turns sentences into ids.
pub struct Tokens {
    kind: TokenSource,
    special: Special,
    vocabulary: usize,
}

enum TokenSource {
    /// A tokenizer that adds beginning and end itself.
    Whole(Box<Tokenizer>),
    /// A vocabulary alone.
    Words(Box<Tokenizer>),
    /// Nothing: ids are made up.
    MadeUp,
}

impl Tokens {
    /// Ids that are made up below a bound.
    pub fn made_up(vocabulary: usize) -> Tokens {
        Tokens { kind: TokenSource::MadeUp, special: Special::of_size(vocabulary), vocabulary }
    }

    /// Reads `vocab.txt` or `tokenizer.json`; `lower_case` is for a vocabulary.
    pub fn open(path: &Path, lower_case: bool) -> Result<Tokens, WorkloadError> {
        let bytes = std::fs::read(path).map_err(|error| WorkloadError::file("read", path, error))?;
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let tokens = if is_json { from_json(&bytes) } else { from_vocabulary(&bytes, lower_case) };
        tokens.map_err(|reason| {
            let hint = "take vocab.txt or tokenizer.json of a BERT model";
            WorkloadError::file("use", path, reason).or_hint(hint)
        })
    }

    /// Whether ids are made up.
    pub fn are_made_up(&self) -> bool {
        matches!(self.kind, TokenSource::MadeUp)
    }

    /// The ids with a meaning of their own.
    pub fn special(&self) -> Special {
        self.special
    }

    /// All ids are below this.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// A sentence as ids, cut to at most this many (at least two).
    pub fn encode(&self, text: &str, most: usize) -> Result<Encoded, String> {
        let mut ids = match &self.kind {
            TokenSource::Whole(tokenizer) => encode(tokenizer, text, true)?,
            TokenSource::Words(_) | TokenSource::MadeUp => {
                let words = self.encode_words(text)?;
                [&[self.special.begin], words.as_slice(), &[self.special.end]].concat()
            }
        };
        let cut = ids.len().saturating_sub(most);
        if cut > 0 {
            // The end stays the end.
            let last = ids.last().copied();
            ids.truncate(most);
            if let (Some(place), Some(last)) = (ids.last_mut(), last) {
                *place = last;
            }
        }
        Ok(Encoded { ids, cut })
    }

    /// A text as ids, without beginning and end.
    pub fn encode_words(&self, text: &str) -> Result<Vec<u32>, String> {
        match &self.kind {
            TokenSource::Whole(tokenizer) | TokenSource::Words(tokenizer) => encode(tokenizer, text, false),
            TokenSource::MadeUp => {
                let span = u64::from(self.vocabulary as u32 - self.special.first);
                let id = |word: &str| self.special.first + (DrawKey::new(word, 0).draw(0) % span) as u32;
                Ok(words(text)?.iter().map(|word| id(word)).collect())
            }
        }
    }
}

fn encode(tokenizer: &Tokenizer, text: &str, whole: bool) -> Result<Vec<u32>, String> {
    let encoding = tokenizer.encode_fast(text, whole).map_err(|error| error.to_string())?;
    Ok(encoding.get_ids().to_vec())
}

/// The words of a text by BERT's rules: lower case, no accents, punctuation and Chinese characters as words of their own.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut normalized = NormalizedString::from(text);
    rules(true).normalize(&mut normalized).map_err(|error| error.to_string())?;
    let mut pieces = PreTokenizedString::from(normalized);
    BertPreTokenizer.pre_tokenize(&mut pieces).map_err(|error| error.to_string())?;
    let splits = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte);
    Ok(splits.into_iter().map(|(word, ..)| word.to_owned()).collect())
}

fn rules(lower_case: bool) -> BertNormalizer {
    BertNormalizer::new(true, true, None, lower_case)
}

/// Reads a `tokenizer.json`. Takes any bytes.
pub fn from_json(bytes: &[u8]) -> Result<Tokens, String> {
    let mut tokenizer =
        Tokenizer::from_bytes(bytes).map_err(|error| format!("it is not a tokenizer.json: {error}"))?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    let special = special(|token| tokenizer.token_to_id(token))?;
    let vocabulary =
        tokenizer.get_vocab(true).values().copied().max().map_or(0, |largest| largest as usize + 1);
    // A sentence must come out with its ends, or the model would see something else than it was trained on.
    let ends = encode(&tokenizer, "a", true)?;
    if ends.first() != Some(&special.begin) || ends.last() != Some(&special.end) {
        return Err("it does not put [CLS] before and [SEP] behind a sentence".to_owned());
    }
    Ok(Tokens { kind: TokenSource::Whole(Box::new(tokenizer)), special, vocabulary })
}

/// Reads a `vocab.txt`: one token a line, its id is the number of the line. Takes any bytes.
pub fn from_vocabulary(bytes: &[u8], lower_case: bool) -> Result<Tokens, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let mut ids = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let id = u32::try_from(number).map_err(|_| "it has too many lines".to_owned())?;
        if let Some(other) = ids.insert(line.trim_end_matches('\r').to_owned(), id) {
            return Err(format!("lines {} and {} are the same token", other + 1, number + 1));
        }
    }
    let special = special(|token| ids.get(token).copied())?;
    let vocabulary = ids.len();
    if !ids.contains_key("[UNK]") {
        return Err("it has no [UNK]".to_owned());
    }
    let words = WordPiece::read_bytes(bytes).map_err(|error| error.to_string())?;
    let model = WordPiece::builder().vocab(words).build().map_err(|error| error.to_string())?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(rules(lower_case))).map_err(|error| error.to_string())?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    Ok(Tokens { kind: TokenSource::Words(Box::new(tokenizer)), special, vocabulary })
}

/// The special ids of a vocabulary.
fn special(id: impl Fn(&str) -> Option<u32>) -> Result<Special, String> {
    let needed = |token: &str| id(token).ok_or_else(|| format!("it has no {token}"));
    let (begin, end) = (needed("[CLS]")?, needed("[SEP]")?);
    let mask = needed("[MASK]")?;
    let pad = needed("[PAD]")?;
    let first = 1 + [begin, end, mask, pad].into_iter().max().unwrap_or(0);
    Ok(Special { pad, begin, end, mask, first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VOCABULARY: &str =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ndune\nis\na\ngreat\nmovie\n!\n##s\ncafe\n中\n";

    fn ids(text: &str) -> Vec<u32> {
        from_vocabulary(VOCABULARY.as_bytes(), true).unwrap().encode(text, 99).unwrap().ids
    }

    #[test]
    fn words_are_divided_by_the_rules_of_bert() {
        assert_eq!(ids("Dune is a great movie!"), [2, 5, 6, 7, 8, 9, 10, 3]);
        assert_eq!(ids("MOVIES, Café\u{0} 中中 ünknown"), [2, 9, 11, 1, 12, 13, 13, 1, 3]);
        assert_eq!(ids("  \t "), [2, 3]);
    }

    #[test]
    fn long_sentences_are_cut_and_keep_their_end() {
        let tokens = from_vocabulary(VOCABULARY.as_bytes(), true).unwrap();
        let encoded = tokens.encode("dune dune dune dune", 4).unwrap();
        assert_eq!(encoded, Encoded { ids: vec![2, 5, 5, 3], cut: 2 });
        assert_eq!(tokens.special(), Special { pad: 0, begin: 2, end: 3, mask: 4, first: 5 });
    }

    #[test]
    fn made_up_ids_are_the_same_for_the_same_word_and_in_range() {
        let tokens = Tokens::made_up(3000);
        let ids = tokens.encode("great, GREAT movie", 99).unwrap().ids;
        assert_eq!((ids[0], ids[5], ids.len()), (101, 102, 6));
        assert_eq!(ids[1], ids[3]);
        assert!(ids[1..5].iter().all(|id| (999..3000).contains(id)) && tokens.are_made_up());
    }

    #[test]
    fn vocabularies_that_cannot_be_used_are_refused() {
        let refused = |bytes: &[u8]| from_vocabulary(bytes, true).err().unwrap();
        assert!(refused(b"").contains("[CLS]"));
        assert!(refused(b"[CLS]\n[SEP]\n[MASK]\n[PAD]\n").contains("[UNK]"));
        assert!(refused(b"a\nb\na\n").contains("lines 1 and 3"));
        assert!(refused(b"\xff\xfe").contains("UTF-8"));
        assert!(from_json(b"{}").err().unwrap().contains("tokenizer.json"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = from_vocabulary(&bytes, true);
            let _ = from_json(&bytes);
        }

        #[test]
        fn any_text_becomes_ids_in_range(text in ".{0,60}") {
            for tokens in [from_vocabulary(VOCABULARY.as_bytes(), true).unwrap(), Tokens::made_up(50)] {
                let encoded = tokens.encode(&text, 12).unwrap();
                prop_assert!((2..=12).contains(&encoded.ids.len()));
                prop_assert!(encoded.ids.iter().all(|id| (*id as usize) < tokens.vocabulary()));
            }
        }
    }
}
