//! Settings that prose declares: `learning_rate = 0.03`, `with a batch size of 512`, `using 4 GPUs`, `without warm-up`.
//! A list of values is a sweep, and a sentence that compares or supposes declares nothing.

use assay_model::Value;
use assay_model::names::setting;

use super::markup::plain;
use super::sentences::{is_comparison, split};
use super::tokens::{Kind, Token, scale, tokens};
use super::vocabulary::{device, settings};

/// A setting that a text declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The canonical name; for an assignment to a name that has none, the name as written.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The part of the text that says so.
    pub written: String,
}

/// Settings that are natural behind a number: `10 epochs`.
const COUNTED: [&str; 11] = [
    setting::EPOCHS,
    setting::STEPS,
    setting::TASKS,
    setting::NODES,
    setting::DEVICES,
    setting::THREADS,
    setting::LAYERS,
    setting::HEADS,
    setting::REQUESTS,
    setting::CLASSES,
    setting::BATCH_SIZE,
];

/// Words before a number that make it something else than a declaration: `after 200 steps`.
const POSITIONS: [&str; 12] = [
    "first",
    "last",
    "every",
    "after",
    "each",
    "per",
    "another",
    "additional",
    "within",
    "than",
    "step",
    "epoch",
];

/// Words of sentences that suppose something.
const SUPPOSING: [&str; 11] =
    ["would", "could", "may", "might", "should", "next", "future", "if", "suggest", "recommend", "worth"];

/// Words for sizes of a model.
const SIZES: [&str; 10] = ["tiny", "small", "medium", "base", "large", "xl", "xxl", "huge", "mini", "nano"];

/// Words before `model` that are not names, though a sentence may begin with them.
const COMMON: [&str; 38] = [
    "the",
    "this",
    "that",
    "a",
    "an",
    "my",
    "our",
    "your",
    "each",
    "both",
    "trained",
    "pytorch",
    "language",
    "every",
    "one",
    "load",
    "loading",
    "loaded",
    "save",
    "saving",
    "saved",
    "train",
    "training",
    "test",
    "testing",
    "evaluate",
    "evaluating",
    "create",
    "creating",
    "build",
    "building",
    "compile",
    "compiling",
    "best",
    "new",
    "final",
    "initialize",
    "initializing",
];

/// The settings that a paragraph, a line or a heading declares, each once.
pub fn declared(text: &str) -> Vec<Declared> {
    let mut found: Vec<Declared> = Vec::new();
    for line in text.lines() {
        let text = plain(line);
        let text = text.trim_start_matches(['#', '>', '-', ' ']);
        for sentence in split(text) {
            for one in of_sentence(sentence) {
                if !found.iter().any(|before| before.name == one.name) {
                    found.push(one);
                }
            }
        }
    }
    found
}

fn of_sentence(text: &str) -> Vec<Declared> {
    let tokens = tokens(text);
    let reader = Reader { text, tokens: &tokens };
    if let Some(assignment) = reader.assignment() {
        return vec![assignment];
    }
    let mut found = Vec::new();
    if tokens.iter().any(|token| token.is_word(&SUPPOSING)) {
        return found;
    }
    found.extend(reader.model());
    if is_comparison(text) {
        return found;
    }
    let mut at = 0;
    while at < tokens.len() {
        match reader.at(at) {
            Some((declared, end)) => {
                found.push(declared);
                at = end.max(at + 1);
            }
            None => at += 1,
        }
    }
    found.extend(reader.device());
    found
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl Reader<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn slice(&self, first: usize, last: usize) -> &str {
        let start = self.token(first).map_or(0, |token| token.start);
        let end = self.token(last).map_or(self.text.len(), |token| token.end);
        self.text.get(start..end).unwrap_or_default()
    }

    /// A line that is nothing but `name = value`; the name may be any.
    fn assignment(&self) -> Option<Declared> {
        let [name, equals, rest @ ..] = self.tokens else { return None };
        if name.kind != Kind::Word || !equals.is_sign('=') || rest.is_empty() {
            return None;
        }
        let written = self.text.get(name.start..name.end)?;
        let value = match rest {
            [one] => self.value(one)?,
            [one, end] if end.is_sign(',') || end.is_sign('.') => self.value(one)?,
            _ => return None,
        };
        let canonical = settings::of_words(&name.words).map_or_else(|| written.to_owned(), str::to_owned);
        Some(Declared { name: canonical, value, written: self.text.trim().to_owned() })
    }

    fn value(&self, token: &Token) -> Option<Value> {
        let written = self.text.get(token.start..token.end)?;
        match token.kind {
            Kind::Number { value } => {
                let factor = self.text.get(token.end..).and_then(scale).unwrap_or(1.0);
                Some(number_value(value * factor, written))
            }
            Kind::Word => Some(match written.to_lowercase().as_str() {
                "true" => Value::Switch(true),
                "false" => Value::Switch(false),
                _ => Value::from(written),
            }),
            Kind::Sign(_) => None,
        }
    }

    /// A declaration that begins with this token, and where it ends.
    fn at(&self, at: usize) -> Option<(Declared, usize)> {
        self.switch(at).or_else(|| self.name_first(at)).or_else(|| self.number_first(at))
    }

    /// The longest phrase at a token that names a setting, and where it ends.
    fn setting(&self, at: usize) -> Option<(&'static str, usize)> {
        for end in (at + 1..=at + 5).rev() {
            let Some(phrase) = self.tokens.get(at..end) else { continue };
            if phrase.iter().any(|token| token.kind != Kind::Word) {
                continue;
            }
            let words: Vec<String> = phrase.iter().flat_map(|token| token.words.iter().cloned()).collect();
            if let Some(name) = settings::of_words(&words) {
                return Some((name, end));
            }
        }
        None
    }

    /// `batch size of 512`, `epochs: 10`, `lr 0.03`, `--nodes 1`.
    fn name_first(&self, at: usize) -> Option<(Declared, usize)> {
        let (name, mut end) = self.setting(at)?;
        let mut is_assigned = false;
        while let Some(token) = self.token(end) {
            let assigns = token.is_sign('=') || token.is_sign(':');
            if !is_connector(token) {
                break;
            }
            is_assigned |= assigns;
            end += 1;
        }
        let value = self.token(end)?;
        let is_number = value.number().is_some();
        // Words that are common in prose count only with an equals sign or a colon.
        let phrase = self.slice(at, end.saturating_sub(1)).to_lowercase();
        let is_weak = matches!(name, setting::MODEL | setting::DEVICE | setting::INPUT | setting::PRECISION)
            || ["context", "users", "labels", "cards", "workers"].iter().any(|weak| phrase.starts_with(weak));
        let is_text = value.kind == Kind::Word
            && is_assigned
            && matches!(name, setting::MODEL | setting::DEVICE | setting::PRECISION)
            // `Model: d_model=32` describes one.
            && !self.token(end + 1).is_some_and(|next| next.is_sign('='));
        // `Task 1` and `GPU 0` number one of them; `tasks 16` and `--nodes 1` say how many.
        let directly = self.setting(at).is_some_and(|(_, behind)| behind == end);
        let name_end = self.token(end.saturating_sub(1)).map_or(0, |token| token.end);
        let is_plural = self.text.get(..name_end).is_some_and(|before| before.ends_with(['s', 'S']));
        if directly && COUNTED.contains(&name) && name != setting::BATCH_SIZE && !is_plural {
            return None;
        }
        if !(is_number && (!is_weak || is_assigned && name != setting::MODEL) || is_text)
            || self.is_in_list(end)
        {
            return None;
        }
        if is_number && self.unit_contradicts(end) {
            return None;
        }
        let value = self.value(value)?;
        Some((Declared { name: name.to_owned(), value, written: self.slice(at, end).to_owned() }, end + 1))
    }

    /// `512 batch size`, `4 GPUs`, `200 training steps`.
    fn number_first(&self, at: usize) -> Option<(Declared, usize)> {
        let digits = self.token(at)?.number();
        let (name, end) = self.setting(at + 1)?;
        let value = digits.or_else(|| spelt(self.token(at)?).filter(|_| SPELT.contains(&name)))?;
        let is_batch =
            name == setting::BATCH_SIZE && !self.slice(at + 1, end - 1).to_lowercase().contains("size");
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        let is_position = before.is_some_and(|token| token.is_word(&POSITIONS) || token.is_sign('.'));
        if !COUNTED.contains(&name)
            || is_batch
            || is_position
            || value < 1.0
            || value.fract() != 0.0
            || self.is_in_list(at)
        {
            return None;
        }
        let value = match digits {
            Some(_) => self.value(self.token(at)?)?,
            None => number_value(value, ""),
        };
        Some((Declared { name: name.to_owned(), value, written: self.slice(at, end - 1).to_owned() }, end))
    }

    /// Whether a number is one of several: `[8, 16, 32]`, `10, 4, and 14`, `from 512 to 2048`, `8-64`. In
    /// `batch size 8 and 4 GPUs` each number has a name of its own.
    fn is_in_list(&self, at: usize) -> bool {
        let is_number = |at: usize| self.token(at).is_some_and(|token| token.number().is_some());
        let mut next = at + 1;
        while self.token(next).is_some_and(is_joint) {
            next += 1;
        }
        let own_names = self.is_named(at) && self.setting(next + 1).is_some();
        if next > at + 1 && is_number(next) && !own_names {
            return true;
        }
        let mut before = at;
        while before.checked_sub(1).and_then(|one| self.token(one)).is_some_and(is_joint) {
            before -= 1;
        }
        let Some(opened) = before.checked_sub(1) else { return false };
        before < at && is_number(opened) && !self.is_named(opened)
            || self.token(opened).is_some_and(|token| token.is_sign('['))
    }

    /// Whether the name of a setting stands before a number.
    fn is_named(&self, at: usize) -> bool {
        let mut end = at;
        while end.checked_sub(1).and_then(|one| self.token(one)).is_some_and(is_connector) {
            end -= 1;
        }
        (end.saturating_sub(5)..end).any(|start| self.setting(start).is_some_and(|(_, found)| found == end))
    }

    /// `learning rate of 5%` is fine; `batch size of 512 MB` is something else.
    fn unit_contradicts(&self, at: usize) -> bool {
        let behind = self.token(at).and_then(|token| self.text.get(token.end..)).unwrap_or_default();
        let unit = super::units::leading_unit(behind.trim_start());
        unit.is_some_and(|(unit, ..)| {
            matches!(
                unit,
                assay_model::Unit::Seconds | assay_model::Unit::Bytes | assay_model::Unit::PerSecond(_)
            ) || unit == super::units::times()
        })
    }

    /// `with warm-up`, `without warmup`, `under a profiler`.
    fn switch(&self, at: usize) -> Option<(Declared, usize)> {
        let leading = self.token(at)?;
        let given = leading.is_word(&["with", "after", "under", "using", "excluding", "skipping", "had"]);
        let lacking = leading.is_word(&["without", "no", "including"]);
        if !given && !lacking {
            return None;
        }
        let mut thing = at + 1;
        while self
            .token(thing)
            .is_some_and(|token| token.is_word(&["a", "an", "the", "any", "one"]) || token.number().is_some())
        {
            thing += 1;
        }
        let token = self.token(thing)?;
        let words = &token.words;
        let (name, end) = if token.is_word(&["warmup"]) || words.as_slice() == ["warm", "up"] {
            (setting::WARMUP, thing)
        } else if token.is_word(&["warm"]) && self.token(thing + 1).is_some_and(|next| next.is_word(&["up"]))
        {
            (setting::WARMUP, thing + 1)
        } else if token.is_word(&["profiler", "profiling"])
            && !leading.is_word(&["after", "excluding", "skipping"])
        {
            (setting::PROFILER, thing)
        } else {
            return None;
        };
        let written = self.slice(at, end).to_owned();
        Some((Declared { name: name.to_owned(), value: Value::Switch(given), written }, end + 1))
    }

    /// `the Llama-7B model`, `large model`, `with Llama-7B`; none where the sentence names two models.
    fn model(&self) -> Option<Declared> {
        let mut found: Option<&str> = None;
        for at in 0..self.tokens.len() {
            let Some(name) = self.model_at(at) else { continue };
            if found.is_some_and(|before| before != name) {
                return None;
            }
            found = Some(name);
        }
        let name = found?;
        Some(Declared { name: setting::MODEL.to_owned(), value: Value::from(name), written: name.to_owned() })
    }

    fn model_at(&self, at: usize) -> Option<&str> {
        let token = self.token(at).filter(|token| token.kind == Kind::Word)?;
        let written = self.text.get(token.start..token.end)?;
        let next =
            self.token(at + 1).and_then(|next| self.text.get(next.start..next.end)).unwrap_or_default();
        let looks_like_name =
            written.chars().any(|character| character.is_uppercase() || character.is_ascii_digit());
        // `Created model with fresh parameters`: what was done with it, at the start of a sentence.
        let done = written.get(1..).is_some_and(|rest| {
            rest.bytes().all(|byte| byte.is_ascii_lowercase())
                && (rest.ends_with("ed") || rest.ends_with("ing"))
        });
        let is_name = looks_like_name
            && !done
            && matches!(next, "model" | "network" | "example")
            && !COMMON.contains(&written.to_lowercase().as_str());
        let is_size = next == "model" && SIZES.contains(&written.to_lowercase().as_str());
        (has_size(written) || is_size || is_name).then_some(written)
    }

    /// `on the CPU`, `with CUDA`; none where the sentence names two kinds of device.
    fn device(&self) -> Option<Declared> {
        let mut found: Option<(usize, &'static str)> = None;
        for (at, token) in self.tokens.iter().enumerate() {
            let word = self.text.get(token.start..token.end).unwrap_or_default();
            let Some(kind) = device(word).filter(|_| token.kind == Kind::Word) else { continue };
            if found.is_some_and(|(_, before)| before != kind) {
                return None;
            }
            found = found.or(Some((at, kind)));
        }
        let (at, kind) = found?;
        let mut before = at.checked_sub(1)?;
        while self.token(before)?.is_word(&["the", "a", "an", "one", "single"]) {
            before = before.checked_sub(1)?;
        }
        let is_place = self.token(before)?.is_word(&["on", "with", "using", "via"]);
        let written = self.slice(before, at).to_owned();
        is_place.then(|| Declared { name: setting::DEVICE.to_owned(), value: Value::from(kind), written })
    }
}

/// Settings that prose counts in words: `ten classes`. Two tasks or three steps may be anything.
const SPELT: [&str; 4] = [setting::CLASSES, setting::EPOCHS, setting::LAYERS, setting::HEADS];

/// The number that a word spells.
fn spelt(token: &Token) -> Option<f64> {
    const WORDS: [(&str, f64); 14] = [
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("twelve", 12.0),
        ("twenty", 20.0),
        ("fifty", 50.0),
        ("hundred", 100.0),
        ("thousand", 1000.0),
    ];
    WORDS.iter().find(|(word, _)| token.is_word(&[word])).map(|(_, value)| *value)
}

/// What may stand between a setting and its value.
fn is_connector(token: &Token) -> bool {
    token.is_sign('=')
        || token.is_sign(':')
        || token.is_word(&["of", "is", "was", "to", "set", "equal", "at", "as", "being"])
}

/// What may stand between the numbers of a list.
fn is_joint(token: &Token) -> bool {
    [',', '/', '-', '–'].iter().any(|sign| token.is_sign(*sign)) || token.is_word(&["and", "or", "to"])
}

/// Whether a name ends in a number of parameters: `Llama-7B`, `gpt-oss-120b`, `pythia-160M`.
fn has_size(name: &str) -> bool {
    let mut parts = name.split('-');
    let starts_with_letter =
        parts.next().is_some_and(|first| first.starts_with(|letter: char| letter.is_alphabetic()));
    starts_with_letter
        && parts.any(|part| {
            let number = part.strip_suffix(['B', 'b', 'M', 'm']).unwrap_or_default();
            number.starts_with(|digit: char| digit.is_ascii_digit()) && number.parse::<f64>().is_ok()
        })
}

/// The value that a number stands for: whole where it is written whole.
pub(super) fn number_value(value: f64, written: &str) -> Value {
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15 && !written.contains(['.', 'e', 'E']);
    let scaled = written.contains('.') && value.fract() == 0.0 && value.abs() >= 1e3;
    if is_whole || scaled && value.abs() < 9e15 { Value::Integer(value as i64) } else { Value::Float(value) }
}

#[cfg(test)]
mod tests;
