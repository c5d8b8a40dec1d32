//! Byte pair encoding by a file of ranks, as tiktoken does it. Written out here because only counts are needed, and the
//! crate that has it includes all vocabularies, many megabytes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use fancy_regex::Regex;

/// How a text is cut into words before pairs are merged: the vocabularies differ in that, and are recognized by size.
const SMALL: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const MIDDLE: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
);
const LARGE: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Vocabularies up to this many tokens are cut the small way: GPT-2 and the first code models.
const SMALL_TOKENS: usize = 60_000;
/// Vocabularies up to this many tokens are cut the middle way: cl100k and Llama 3. Larger ones are like o200k.
const MIDDLE_TOKENS: usize = 150_000;

/// A vocabulary with the order in which pairs are merged.
pub(super) struct Ranks {
    ranks: HashMap<Box<[u8]>, u32>,
    words: Regex,
}

impl Ranks {
    /// Reads lines of a token in base64 and its rank.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
        let mut ranks = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let located = |problem: &str| format!("line {}: {problem}", index + 1);
            if line.is_empty() {
                continue;
            }
            let (token, rank) = line.split_once(' ').ok_or_else(|| located("no token and rank"))?;
            let token = from_base64(token).ok_or_else(|| located("the token is not base64"))?;
            let rank = rank.trim().parse().map_err(|_| located("the rank is not a number"))?;
            ranks.insert(token.into(), rank);
        }
        if ranks.is_empty() {
            return Err("it is empty".to_owned());
        }
        let pattern = match ranks.len() {
            ..SMALL_TOKENS => SMALL,
            SMALL_TOKENS..MIDDLE_TOKENS => MIDDLE,
            _ => LARGE,
        };
        Ok(Self { ranks, words: Regex::new(pattern).map_err(|error| error.to_string())? })
    }

    /// Counts the tokens of a text. None if cutting it into words takes the pattern too long.
    pub(super) fn count(&self, text: &str) -> Option<u64> {
        let mut tokens = 0;
        for word in self.words.find_iter(text) {
            tokens += self.count_word(word.ok()?.as_str().as_bytes());
        }
        Some(tokens)
    }

    /// Counts the tokens of a word: the pair of neighbors with the lowest rank is merged until none has a rank. Of
    /// equal ranks the left one goes first.
    fn count_word(&self, word: &[u8]) -> u64 {
        if self.ranks.contains_key(word) {
            return 1;
        }
        // Pieces as a list by their first byte: where each ends, and which piece is before it.
        let mut end: Vec<usize> = (1..=word.len()).collect();
        let mut before: Vec<usize> = (0..word.len()).map(|start| start.wrapping_sub(1)).collect();
        let mut pairs = BinaryHeap::new();
        let rank = |from: usize, to: usize| self.ranks.get(word.get(from..to)?).copied();
        for start in 0..word.len().saturating_sub(1) {
            if let Some(rank) = rank(start, start + 2) {
                pairs.push(Reverse((rank, start, start + 2)));
            }
        }
        let mut tokens = word.len() as u64;
        while let Some(Reverse((_, left, to))) = pairs.pop() {
            // A pair of which a piece has been merged since is not a pair any more.
            let right = end[left];
            if right == 0 || right >= word.len() || end[right] != to {
                continue;
            }
            end[left] = to;
            end[right] = 0;
            if let Some(previous) = before.get_mut(to) {
                *previous = left;
                if let Some(rank) = rank(left, end[to]) {
                    pairs.push(Reverse((rank, left, end[to])));
                }
            }
            if left > 0
                && let Some(rank) = rank(before[left], to)
            {
                pairs.push(Reverse((rank, before[left], to)));
            }
            tokens -= 1;
        }
        tokens
    }
}

/// Bytes of a text in base64. None if it is none. The crate `base64` would be here in a second version beside the one that
/// `tokenizers` brings.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// Single letters a to d first, then some merges, in base64.
    const FILE: &str =
        "YQ== 0\nYg== 1\nYw== 2\nZA== 3\nYWI= 4\nYmM= 5\nYWJj 6\nY2Q= 7\nYWJhYg== 8\nIA== 9\nIGE= 10\n";

    /// Making the pattern takes long without optimization.
    static RANKS: LazyLock<Ranks> = LazyLock::new(|| Ranks::parse(FILE.as_bytes()).unwrap());

    /// The same, as one would write it down: look for the lowest rank again and again.
    fn plain(ranks: &Ranks, word: &[u8]) -> u64 {
        if ranks.ranks.contains_key(word) {
            return 1;
        }
        let mut pieces: Vec<Vec<u8>> = word.iter().map(|byte| vec![*byte]).collect();
        loop {
            let pairs = pieces.windows(2).enumerate();
            let ranked =
                pairs.filter_map(|(at, pair)| Some((*ranks.ranks.get(pair.concat().as_slice())?, at)));
            let Some((_, at)) = ranked.min() else { return pieces.len() as u64 };
            let right = pieces.remove(at + 1);
            pieces[at].extend(right);
        }
    }

    proptest! {
        #[test]
        fn merging_is_the_plain_way_only_faster(word in "[abcd]{1,40}") {
            prop_assert_eq!(RANKS.count_word(word.as_bytes()), plain(&RANKS, word.as_bytes()));
        }
    }

    #[test]
    fn words_are_cut_before_they_are_merged() {
        assert_eq!(RANKS.count("abc"), Some(1));
        // " a" and then b, c, each word for itself.
        assert_eq!(RANKS.count("abc abc"), Some(3));
        assert_eq!(RANKS.count(""), Some(0));
    }

    #[test]
    fn a_long_word_takes_no_time() {
        let long = "abcd".repeat(50_000);
        assert!(RANKS.count_word(long.as_bytes()) > 0);
    }

    #[test]
    fn base64_is_read() {
        assert_eq!(from_base64("aGVsbG8=").as_deref(), Some(b"hello".as_slice()));
        assert_eq!(from_base64("!"), None);
    }
}
