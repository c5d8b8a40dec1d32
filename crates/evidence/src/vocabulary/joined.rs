//! Words that are written without blanks between them: Chinese, Japanese and Korean, and compounds such as
//! `Trainingsverlust` and `valloss`.

use super::Vocabulary;
use crate::writeup::vocabulary::words::singular;

/// The most letters of one entry in a script without blanks.
const LONGEST: usize = 12;
/// A shorter end of a compound may be anything.
const SHORTEST_END: usize = 3;

/// Whether a letter belongs to a script that puts no blanks between words.
pub(crate) fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

impl Vocabulary {
    /// The same words with those taken apart that are several words of the vocabulary.
    pub(super) fn parted(&self, spoken: Vec<String>) -> Vec<String> {
        if !spoken.iter().any(|word| self.may_be_joined(word)) {
            return spoken;
        }
        let mut found = Vec::with_capacity(spoken.len() + 2);
        for word in spoken {
            if word.contains(is_unspaced) {
                self.segments(&word, &mut found);
            } else if let Some((start, end)) = self.compound(&word) {
                found.push(singular(start));
                found.push(end.to_owned());
            } else {
                found.push(word);
            }
        }
        found
    }

    pub(super) fn may_be_joined(&self, word: &str) -> bool {
        !word.is_ascii()
            || word.len() > SHORTEST_END + 2
                && self.starts.iter().any(|start| word.starts_with(start.as_str()))
    }

    /// The parts of a compound: a word for a split or a statistic, and one for a metric.
    fn compound<'a>(&self, word: &'a str) -> Option<(&'a str, &'a str)> {
        let known = self.phrases.contains_key(word)
            || self.splits.contains_key(word)
            || self.statistics.contains_key(word)
            || self.fillers.contains(word);
        if known {
            return None;
        }
        self.starts.iter().find_map(|start| {
            let end = word.strip_prefix(start.as_str())?;
            (end.len() >= SHORTEST_END && self.phrases.contains_key(end)).then(|| word.split_at(start.len()))
        })
    }

    /// Cuts a word at the entries of the vocabulary in it, the longest first.
    fn segments(&self, word: &str, found: &mut Vec<String>) {
        let starts: Vec<usize> = word.char_indices().map(|(start, _)| start).chain([word.len()]).collect();
        let (mut at, mut open) = (0, 0);
        while let Some(start) = starts.get(at).copied().filter(|start| *start < word.len()) {
            let entry = (1..=LONGEST).rev().find_map(|length| {
                let end = starts.get(at + length).copied()?;
                let part = word.get(start..end).filter(|part| self.joined.contains(*part))?;
                Some((length, end, part))
            });
            let Some((length, end, part)) = entry else {
                at += 1;
                continue;
            };
            push_unknown(word.get(open..start).unwrap_or_default(), found);
            found.push(part.to_owned());
            (at, open) = (at + length, end);
        }
        push_unknown(word.get(open..).unwrap_or_default(), found);
    }
}

/// What no entry covers is cut where the script changes.
fn push_unknown(text: &str, found: &mut Vec<String>) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = is_unspaced(first);
        let end = rest.find(|letter| is_unspaced(letter) != kind).unwrap_or(rest.len());
        found.push(rest.get(..end).unwrap_or_default().to_owned());
        rest = rest.get(end..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::vocabulary::words;

    #[test]
    fn words_without_blanks() {
        for (text, parts) in [
            ("最佳验证准确率", ["最佳", "验证", "准确率"].as_slice()),
            ("训练loss", &["训练", "loss"]),
            ("訓練損失", &["訓練", "損失"]),
            ("Trainingsverlust", &["training", "verlust"]),
            ("valacc", &["val", "acc"]),
            ("training", &["training"]),
            ("trainer", &["trainer"]),
            ("average", &["average"]),
        ] {
            assert_eq!(words(text), parts, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[a-z训练损失の精度 ]{0,40}|.*") {
            let _ = words(&text);
        }
    }
}
