//! Counting tokens as a model does.

use std::fmt;
use std::path::{Path, PathBuf};

use super::ranks::Ranks;

/// A tokenizer.
pub struct Tokenizer {
    inner: Inner,
}

enum Inner {
    /// A `tokenizer.json`.
    File(Box<tokenizers::Tokenizer>),
    /// Ranks of tiktoken.
    Ranks(Ranks),
}

/// Why a tokenizer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// The file cannot be read.
    #[error("the tokenizer {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not a tokenizer.
    #[error("{} is neither a tokenizer.json nor ranks of tiktoken: {problem}", path.display())]
    PromptFormat {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl Tokenizer {
    /// Opens a `tokenizer.json` or a file of tiktoken's ranks (lines of a token in base64 and its rank).
    pub fn open(path: &Path) -> Result<Self, TokenizerError> {
        let bytes =
            std::fs::read(path).map_err(|source| TokenizerError::Read { path: path.to_owned(), source })?;
        let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let inner =
            if is_json { from_json(&bytes).map(Inner::File) } else { Ranks::parse(&bytes).map(Inner::Ranks) };
        let broken = |problem| TokenizerError::PromptFormat { path: path.to_owned(), problem };
        Ok(Self { inner: inner.map_err(broken)? })
    }

    /// Counts the tokens of a text, without those that mark its beginning and end. None if the tokenizer refuses.
    pub fn count(&self, text: &str) -> Option<u64> {
        match &self.inner {
            Inner::File(tokenizer) => {
                let encoding = tokenizer.encode_fast(text, false).ok()?;
                Some(encoding.get_ids().len() as u64)
            }
            Inner::Ranks(ranks) => ranks.count(text),
        }
    }
}

fn from_json(bytes: &[u8]) -> Result<Box<tokenizers::Tokenizer>, String> {
    let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
    // Some files pad or cut to a model's length, which would be counted.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    Ok(Box::new(tokenizer))
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.inner {
            Inner::File(_) => "Tokenizer(tokenizer.json)",
            Inner::Ranks(_) => "Tokenizer(ranks)",
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tokenizer that has some English words as tokens and spells the others.
    pub(in super::super) const SMALL: &str = r###"{
        "version": "1.0", "truncation": null,
        "padding": {"strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[UNK]"},
        "added_tokens": [], "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "the": 1, "of": 2, "and": 3, "to": 4, "in": 5,
            "is": 6, "that": 7, "wa": 8, "##s": 9, "for": 10, "##d": 11, "w": 12}}
    }"###;

    /// Writes a tokenizer to a file and opens it.
    pub(in super::super) fn small() -> Tokenizer {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), SMALL).unwrap();
        Tokenizer::open(file.path()).unwrap()
    }

    #[test]
    fn padding_is_not_counted() {
        assert_eq!(small().count("the was"), Some(3));
        assert_eq!(small().count(""), Some(0));
    }

    #[test]
    fn what_is_no_tokenizer_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["{\"a\": 1}", "not ranks", ""] {
            std::fs::write(file.path(), text).unwrap();
            let error = Tokenizer::open(file.path()).unwrap_err().to_string();
            assert!(error.contains("is neither a tokenizer.json nor ranks"), "{text}: {error}");
        }
    }
}
