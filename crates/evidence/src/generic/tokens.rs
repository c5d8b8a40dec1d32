//! Cuts a line into tokens. Timestamps, clocks, counters, durations and numbers with their units are single tokens,
//! because a number that is torn out of one of them gets a wrong name.

mod numbers;
mod times;

use crate::text::number;
use crate::vocabulary::{PrintedUnit, is_unspaced};
pub(super) use numbers::scale_of;
pub(super) use times::span;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Word,
    Number(NumberToken),
    /// `3/10`, `7138 / 10000`, with the percentage that may follow in parentheses.
    Counter {
        done: f64,
        total: f64,
        percent: Option<f64>,
    },
    /// `1:02:03` in seconds; whether it may be a time of day.
    Clock {
        seconds: f64,
        time_of_day: bool,
    },
    /// Dates and times of day, paths, versions, lists of numbers: nothing that a metric could be.
    Opaque,
    /// A progress bar or a line of decoration.
    Bar,
    /// A column border.
    Pipe,
    Sign(u8),
}

/// A number with what is printed behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberToken {
    pub value: f64,
    /// Whether it has no decimal point and no exponent.
    pub whole: bool,
    pub unit: Option<PrintedUnit>,
    /// Whether a comma stands before its decimals.
    pub comma: bool,
    /// A letter behind it that scales it or is a unit in some company: `k`, `M`, `G`, `m`.
    pub suffix: Option<u8>,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    /// Blanks before it; a tab counts as two.
    pub gap: usize,
}

/// More tokens of a line than this are not looked at.
const MOST_TOKENS: usize = 400;

/// Functions around a number that printing a tensor leaves behind.
const WRAPPERS: [&str; 11] = [
    "tensor",
    "tf.Tensor",
    "jnp.array",
    "array",
    "float32",
    "float64",
    "np.float32",
    "np.float64",
    "numpy.float64",
    "Array",
    "DeviceArray",
];

/// Devices that programs number behind a colon.
const DEVICES: [&str; 12] =
    ["cuda", "cpu", "gpu", "xla", "hpu", "mps", "xpu", "npu", "ipu", "GPU", "CPU", "CUDA"];

/// The tokens of a line.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut cutter = Cutter { text, at: 0, found: Vec::new() };
    while cutter.at < text.len() && cutter.found.len() < MOST_TOKENS {
        cutter.next();
    }
    share_units(&mut cutter.found);
    cutter.found
}

/// `12.3 ± 0.4 ms` and `1.3 µs ± 4 ns per loop`: what is printed behind the spread holds for the number before it.
fn share_units(found: &mut [Token]) {
    for place in 0..found.len().saturating_sub(2) {
        let Some([first, sign, second]) = found.get_mut(place..place + 3) else { continue };
        let (TokenKind::Number(first), TokenKind::Sign(b'~'), TokenKind::Number(second)) =
            (&mut first.kind, &sign.kind, &second.kind)
        else {
            continue;
        };
        match (&mut first.unit, &second.unit) {
            (None, Some(unit)) => first.unit = Some(unit.clone()),
            (Some(first), Some(second)) if first.per.is_none() && first.unit == second.unit => {
                first.per.clone_from(&second.per);
            }
            _ => {}
        }
    }
}

struct Cutter<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token>,
}

impl Cutter<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, end: usize, gap: usize) {
        // Never stop inside a letter, whatever was scanned by bytes.
        let mut end = end.clamp(self.at + 1, self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.found.push(Token { kind, start: self.at, end, gap });
        self.at = end;
    }

    fn next(&mut self) {
        let mut gap = 0;
        while let blank @ (b' ' | b'\t' | b'\'' | b'"' | b'`') = self.byte(self.at) {
            gap += match blank {
                b'\t' => 2,
                b' ' => 1,
                _ => 0,
            };
            self.at += 1;
        }
        let Some(first) = self.rest().chars().next() else { return };
        let at = self.at;
        match first {
            '0'..='9' => self.number(gap),
            '-' | '+' | '.' if self.starts_number() => self.number(gap),
            // `AP @[ IoU=0.50:0.95 | area=all ] = 0.374`: the conditions of one number.
            '@' if self.byte(at + 1) == b'[' => {
                let close = self.rest().find(']').map_or(self.text.len(), |close| at + close + 1);
                self.push(TokenKind::Opaque, close, gap);
            }
            '[' | '(' => self.bracket(gap),
            '|' | '│' | '┃' | '║' => self.push(TokenKind::Pipe, at + first.len_utf8(), gap),
            '\u{2500}'..='\u{259f}' => {
                let end = self.while_char(at, |letter| ('\u{2500}'..='\u{259f}').contains(&letter));
                self.push(TokenKind::Bar, end, gap);
            }
            '/' | '\\' | '~' if self.byte(at + 1).is_ascii_alphanumeric() || self.byte(at + 1) == b'/' => {
                let end = self.while_char(at, |letter| !letter.is_whitespace() && letter != ',');
                self.push(TokenKind::Opaque, end, gap);
            }
            '=' | '-' | '*' | '#' | '_' | '>' | '<' | '.' | '~' | '+' => {
                let end = self.while_char(at, |letter| letter == first);
                if end - at >= 3 {
                    self.push(TokenKind::Bar, end, gap);
                } else if first == '_' {
                    self.word(gap);
                } else {
                    self.push(TokenKind::Sign(first as u8), at + 1, gap);
                }
            }
            letter if letter.is_alphabetic() => self.word(gap),
            letter if letter.is_ascii() => self.push(TokenKind::Sign(letter as u8), at + 1, gap),
            '：' | '＝' => self.push(TokenKind::Sign(b':'), at + first.len_utf8(), gap),
            '，' | '、' => self.push(TokenKind::Sign(b','), at + first.len_utf8(), gap),
            '；' | '。' => self.push(TokenKind::Sign(b';'), at + first.len_utf8(), gap),
            '（' => self.push(TokenKind::Sign(b'('), at + first.len_utf8(), gap),
            '）' => self.push(TokenKind::Sign(b')'), at + first.len_utf8(), gap),
            '±' => self.push(TokenKind::Sign(b'~'), at + first.len_utf8(), gap),
            letter => self.push(TokenKind::Sign(b'?'), at + letter.len_utf8(), gap),
        }
    }

    /// A sign or a point before digits, not behind a letter or number.
    fn starts_number(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(b' ', |at| self.byte(at));
        let (mut at, first) = (self.at + 1, self.byte(self.at));
        if first != b'.' && self.byte(at) == b'.' {
            at += 1;
        }
        self.byte(at).is_ascii_digit()
            && !before.is_ascii_alphanumeric()
            && !matches!(before, b')' | b']' | b'_')
    }

    fn while_char(&self, from: usize, goes_on: impl Fn(char) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.char_indices()
            .find(|(_, letter)| !goes_on(*letter))
            .map_or(self.text.len(), |(place, _)| from + place)
    }

    /// Where letters and digits end. Digits behind a script without blanks are a number: `第1轮`.
    fn end_of_letters(&self, from: usize) -> usize {
        let mut before = ' ';
        for (place, letter) in self.text.get(from..).unwrap_or_default().char_indices() {
            let parted = letter.is_ascii_digit() && is_unspaced(before);
            if parted || !(letter.is_alphanumeric() || letter == '_') {
                return from + place;
            }
            before = letter;
        }
        self.text.len()
    }

    /// A bar, a list of numbers, or a plain bracket.
    fn bracket(&mut self, gap: usize) {
        let at = self.at;
        let (open, close) = if self.byte(at) == b'[' { ('[', ']') } else { ('(', ')') };
        let body = self.text.get(at + 1..).unwrap_or_default();
        let end = body.find(close);
        let inside = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
        let is_bar = inside.len() >= 3
            && inside.bytes().all(|byte| b"=>.#- ".contains(&byte))
            && !inside.trim().is_empty();
        if is_bar && end.is_some() {
            return self.push(TokenKind::Bar, at + 2 + inside.len(), gap);
        }
        let inside = inside.trim_matches([open, ' ']);
        let listed = inside.split([',', ' ', '\t']).filter(|part| !part.is_empty());
        let mut count = 0;
        let is_list = listed.clone().all(|part| {
            count += 1;
            matches!(part, "None" | "nan" | "...")
                || number(part).is_some_and(|(_, rest)| rest.is_empty() || rest == ".")
        });
        if is_list && count >= 2 {
            let end = end.map_or(self.text.len(), |end| at + 2 + end);
            return self.push(TokenKind::Opaque, end, gap);
        }
        self.push(TokenKind::Sign(open as u8), at + 1, gap);
    }

    fn word(&mut self, gap: usize) {
        let at = self.at;
        let mut end = at;
        loop {
            end = self.end_of_letters(end);
            let joins = b"-/.@#+&\\'".contains(&self.byte(end)) && end < self.text.len();
            let next = self.text.get(end + 1..).and_then(|rest| rest.chars().next());
            if joins && next.is_some_and(char::is_alphanumeric) {
                end += 1;
            } else {
                break;
            }
        }
        // `C.E. Loss`: the last point belongs to the abbreviation.
        if self.byte(end) == b'.' && self.byte(end + 1) == b' ' && end >= 2 && self.byte(end - 2) == b'.' {
            end += 1;
        }
        let word = self.text.get(at..end).unwrap_or_default();
        // `p(90)=31.2ms`: a percentile.
        let share = matches!(word, "p" | "percentile");
        if share && self.byte(end) == b'(' && self.byte(end + 1).is_ascii_digit() {
            let close =
                self.while_char(end + 1, |letter| letter.is_ascii_digit() || matches!(letter, '.' | '%'));
            if self.byte(close) == b')' {
                return self.push(TokenKind::Word, close + 1, gap);
            }
        }
        // `Top 5 error`: the number belongs to the name.
        if word.eq_ignore_ascii_case("top") && self.byte(end) == b' ' && self.byte(end + 1).is_ascii_digit() {
            let digits = self.while_char(end + 1, |letter| letter.is_ascii_digit());
            if digits <= end + 3 && matches!(self.byte(digits), b' ' | b':' | b'=' | b'-' | b')') {
                return self.push(TokenKind::Word, digits, gap);
            }
        }
        // `(trainer:338)` is a place in a program.
        let parenthesis = at.checked_sub(1).is_some_and(|before| self.byte(before) == b'(');
        if parenthesis && self.byte(end) == b':' && self.byte(end + 1).is_ascii_digit() {
            let close = self.while_char(end + 1, |letter| letter.is_ascii_digit());
            if self.byte(close) == b')' {
                return self.push(TokenKind::Opaque, close, gap);
            }
        }
        // `cuda:0` is a device.
        if self.byte(end) == b':' && self.byte(end + 1).is_ascii_digit() && DEVICES.contains(&word) {
            let end = self.while_char(end + 1, |letter| letter.is_ascii_digit());
            return self.push(TokenKind::Opaque, end, gap);
        }
        if self.byte(end) == b'(' && WRAPPERS.contains(&word) {
            self.at = end + 1 + usize::from(self.byte(end + 1) == b'[');
            return;
        }
        let url = self.text.get(end..).is_some_and(|rest| rest.starts_with("://") || rest.starts_with(":\\"));
        if url || is_path(word) {
            let end = self.while_char(end, |letter| !letter.is_whitespace() && !matches!(letter, ',' | '|'));
            return self.push(TokenKind::Opaque, end, gap);
        }
        self.push(TokenKind::Word, end, gap);
    }
}

fn is_path(word: &str) -> bool {
    let extension = [
        ".py", ".cc", ".cpp", ".pt", ".pth", ".txt", ".log", ".json", ".csv", ".yaml", ".yml", ".h5", ".bin",
        ".jpg", ".png", ".sh",
    ];
    let slashes = word.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    extension.iter().any(|end| word.ends_with(end))
        || (slashes >= 1 && word.contains('.'))
        || slashes >= 3
        || (word.bytes().filter(|byte| *byte == b'.').count() >= 2 && word.len() > 8)
}
