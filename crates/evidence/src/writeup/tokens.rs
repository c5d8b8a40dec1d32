//! Words, numbers and signs of a sentence.

use super::number::leading_number;
use super::units::leading_unit;
use super::vocabulary::words::words;

/// One piece of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Its words in lower case and in the singular; empty for numbers and signs.
    pub words: Vec<String>,
}

/// What a piece of a sentence is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A word, a name, a file name.
    Word,
    /// A number that stands by itself.
    Number {
        /// The number.
        value: f64,
    },
    /// Any other sign.
    Sign(char),
}

impl Token {
    /// Whether the token is this sign.
    pub fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Number { value } => Some(value),
            _ => None,
        }
    }

    /// Whether the token is one of these words.
    pub fn is_word(&self, wanted: &[&str]) -> bool {
        matches!(self.words.as_slice(), [word] if wanted.contains(&word.as_str()))
    }
}

/// Cuts a text without mark-up into tokens.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let (kind, length) = if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        } else if let Some(number) = number(rest, found.last().is_some_and(|before| before.end == at)) {
            number
        } else if character.is_alphanumeric() || character == '_' {
            (Kind::Word, word_length(rest))
        } else {
            (Kind::Sign(character), character.len_utf8())
        };
        let end = at + length.max(character.len_utf8());
        let words = match kind {
            Kind::Word => words(text.get(at..end).unwrap_or_default()),
            _ => Vec::new(),
        };
        found.push(Token { kind, start: at, end, words });
        at = end;
    }
    found
}

/// A number that stands by itself: not a date, a time of day, a version, a fraction or part of a name.
fn number(rest: &str, is_glued: bool) -> Option<(Kind, usize)> {
    let first = rest.chars().next()?;
    let signed = matches!(first, '-' | '+' | '\u{2212}');
    // A sign glued to what comes before it is a hyphen: `37-179`.
    if !(first.is_ascii_digit() || first == '.' || signed && !is_glued) {
        return None;
    }
    let number = leading_number(rest)?;
    let after = rest.get(number.length..).unwrap_or_default();
    let mut following = after.chars();
    let next = following.next().unwrap_or(' ');
    let then = following.next().unwrap_or(' ');
    let is_part_of_more = match next {
        ':' | '/' => then.is_ascii_digit(),
        '-' => is_date(rest) || then.is_alphabetic(),
        '_' => true,
        _ if next.is_alphabetic() => !is_unit_or_scale(after),
        _ => false,
    };
    (!is_part_of_more).then_some((Kind::Number { value: number.value }, number.length))
}

/// Three numbers with hyphens between them.
fn is_date(rest: &str) -> bool {
    let run = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'-');
    run.filter(|byte| *byte == b'-').count() >= 2
}

fn is_unit_or_scale(after: &str) -> bool {
    scale(after).is_some() || leading_unit(after).is_some()
}

/// The factor of a scale letter behind a number: `K`, `M`, `B`, or `T`, where a word ends behind it.
pub fn scale(after: &str) -> Option<f64> {
    let mut characters = after.chars();
    let factor = match characters.next()? {
        'k' | 'K' => 1e3,
        'M' => 1e6,
        'B' | 'b' => 1e9,
        'T' => 1e12,
        _ => return None,
    };
    (!characters.next().is_some_and(char::is_alphanumeric)).then_some(factor)
}

/// A name runs on over signs that stand between letters or digits: `ntasks-per-node`, `openai/gpt-oss-120b`, `run.py`.
fn word_length(rest: &str) -> usize {
    let mut end = 0;
    let mut before = ' ';
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next).unwrap_or(' ');
        let joins = matches!(character, '-' | '.' | '/' | '+' | '\'' | '’') && next.is_alphanumeric()
            || character == ':' && before.is_ascii_digit() && next.is_ascii_digit();
        before = character;
        if !(character.is_alphanumeric() || character == '_' || joins) {
            break;
        }
        end = at + character.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(text: &str) -> Vec<f64> {
        tokens(text).iter().filter_map(Token::number).collect()
    }

    #[test]
    fn numbers_stand_by_themselves() {
        assert_eq!(numbers("from 175 seconds to 304.5s, 3.07× and 8x"), [175.0, 304.5, 3.07, 8.0]);
        assert_eq!(numbers("97.13%, 98.58%, and 98.43%."), [97.13, 98.58, 98.43]);
        assert_eq!(numbers("short answers (37-179 characters)"), [37.0, 179.0]);
        assert_eq!(numbers("batch_size=16, lr = -0.5"), [16.0, -0.5]);
        assert_eq!(numbers("a 7B model with 2.7B parameters"), [7.0, 2.7]);
    }

    #[test]
    fn parts_of_names_are_no_numbers() {
        for text in [
            "CS-3",
            "gpt-oss-120b",
            "v1.1",
            "2024-03-30",
            "14:09:43",
            "Release 2.6.0",
            "2nd",
            "3D",
            "a_2",
            "10/10",
        ] {
            assert_eq!(numbers(text), Vec::<f64>::new(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn tokens_follow_each_other(text in ".*") {
            let found = tokens(&text);
            prop_assert!(found.iter().all(|token| token.start < token.end && text.get(token.start..token.end).is_some()));
            prop_assert!(found.is_sorted_by(|before, after| before.end <= after.start));
        }
    }
}
