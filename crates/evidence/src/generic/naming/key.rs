//! The words on the left of a number, and the counters among the numbers.

use assay_model::Unit;

use super::Namer;
use crate::generic::plan::CounterSlot;
use crate::generic::tokens::{Token, TokenKind};
use crate::vocabulary::{CounterKind, MetricKind, PrintedUnit, Split, split_unit, words};

/// A key of more words is a sentence.
const LONGEST_KEY: usize = 8;

/// The words on the left of a number.
#[derive(Default)]
pub(super) struct Key {
    pub(super) words: Vec<String>,
    /// The same as written.
    pub(super) text: String,
    pub(super) unit: Option<PrintedUnit>,
    /// Whether a colon or an equals sign joins them to the number.
    pub(super) joined: bool,
    /// Whether the line is nothing but the key and the number, with blanks between them.
    pub(super) pair: bool,
    /// A split that is a word of its own: it holds for the numbers behind it too.
    pub(super) spoken_split: Option<Split>,
    /// A second metric in parentheses: `Accuracy (Loss): 0.9 (0.3)`.
    pub(super) second: Option<String>,
}

/// Words that join a number to what stands before them.
const LINKING_VERBS: [&str; 5] = ["is", "was", "are", "were", "equals"];

impl Namer<'_> {
    /// The words on the left of a number, as far as they belong to it.
    pub(super) fn key(&mut self, index: usize) -> Key {
        let mut key = Key::default();
        let region = self.line.tokens.get(self.from..index).unwrap_or_default();
        let mut groups: Vec<(usize, usize)> = Vec::new();
        let mut start = self.from;
        for (offset, token) in region.iter().enumerate() {
            let at = self.from + offset;
            match token.kind {
                // A comma here stands in a pair; others end the region.
                TokenKind::Sign(b':' | b'=' | b',') => {
                    let word = self.joins_word(at, index);
                    if !word {
                        groups.push((start, at));
                    }
                    start = at + if word { 2 } else { 1 };
                }
                // `bw (  KiB/s)`: a gap inside parentheses parts nothing.
                TokenKind::Word if token.gap >= 2 && at > start && !self.opens(at, b'(') => start = at,
                TokenKind::Pipe => {
                    groups.push((start, at));
                    start = at + 1;
                }
                _ => {}
            }
        }
        let tail = (start, index);
        let has_words = |(from, to): (usize, usize)| {
            self.line
                .tokens
                .get(from..to)
                .unwrap_or_default()
                .iter()
                .any(|token| token.kind == TokenKind::Word)
        };
        let own = if has_words(tail) {
            tail
        } else {
            key.joined = !groups.is_empty();
            groups.pop().unwrap_or((index, index))
        };
        let earlier: Vec<String> =
            groups.into_iter().map(|(from, to)| self.text_of(from, to).to_owned()).collect();
        for text in earlier.into_iter().filter(|text| !text.is_empty()) {
            match self.vocabulary.split(&text) {
                Some(split) => {
                    self.split = Some(split);
                    // `val: N=177 | AUROC=0.51`: before all numbers it holds for the line.
                    if self.plan.slots.is_empty() {
                        self.line_split = Some(split);
                    }
                }
                None if self.plan.slots.is_empty() && self.is_class(&text) => {
                    self.class = Some(text.to_lowercase());
                }
                None => {
                    let (phrase, unit) = split_unit(&text);
                    self.about = words(&phrase).into_iter().take(4).collect();
                    self.about_unit = unit;
                }
            }
        }
        self.read_key(own, &mut key);
        key.joined |= index > self.from && self.is_leader(index - 1);
        key.pair = !key.joined && self.is_pair(index, &key);
        key.joined |= key.pair;
        key
    }

    /// Whether a sign joins a key to a word, and another key follows: `type=native layers=4`.
    fn joins_word(&self, sign: usize, to: usize) -> bool {
        let Some([joint, value, next]) = self.line.tokens.get(sign..sign + 3) else { return false };
        sign + 2 < to
            && joint.kind == TokenKind::Sign(b'=')
            && joint.gap == 0
            && value.gap == 0
            && matches!(value.kind, TokenKind::Word | TokenKind::Opaque)
            && next.kind == TokenKind::Word
            && next.gap >= 1
    }

    /// Whether a line is one key and one number, parted by blanks: `wandb: val_loss 0.69`, `real  0m11.8s`.
    fn is_pair(&self, index: usize, key: &Key) -> bool {
        let tokens = self.line.tokens;
        let Some(token) = tokens.get(index).filter(|_| index + 1 == tokens.len()) else { return false };
        let words = tokens.get(self.from..index).unwrap_or_default();
        let numbers = tokens
            .iter()
            .filter(|token| matches!(token.kind, TokenKind::Number(_) | TokenKind::Counter { .. }));
        let plain = words.iter().rev().take_while(|token| token.kind == TokenKind::Word).count();
        let wide = token.gap >= 2 && plain <= 4;
        let compound = |token: &Token| self.line.slice(token).contains(['_', '/']);
        let one = plain == 1 && words.last().is_some_and(compound);
        !key.words.is_empty() && numbers.count() <= 1 && plain > 0 && (wide || one)
    }

    /// Whether a word before a colon may name a class: capitals, and neither a metric nor the level of a log line.
    pub(super) fn is_class(&self, text: &str) -> bool {
        (2..=8).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_uppercase())
            && !["INFO", "WARN", "WARNING", "DEBUG", "ERROR", "FATAL", "CRITICAL", "NOTICE", "TRACE"]
                .contains(&text)
            && !self.vocabulary.is_statistic(text)
            && self.vocabulary.split(text).is_none()
            && self.vocabulary.metric(text, None).is_none()
            && self.vocabulary.counter(text).is_none()
    }

    /// The token behind a remark in parentheses that opens here; 0 where none does.
    fn end_of_remark(&self, open: usize, to: usize) -> usize {
        let tokens = self.line.tokens;
        if tokens.get(open).map(|token| &token.kind) != Some(&TokenKind::Sign(b'(')) {
            return 0;
        }
        let rest = tokens.get(open + 1..to).unwrap_or_default();
        let Some(close) = rest.iter().position(|token| token.kind == TokenKind::Sign(b')')) else { return 0 };
        let digits = rest.iter().take(close).any(|token| {
            matches!(token.kind, TokenKind::Number(_) | TokenKind::Opaque | TokenKind::Counter { .. })
        });
        if digits { open + close + 2 } else { 0 }
    }

    pub(super) fn read_key(&self, (from, to): (usize, usize), key: &mut Key) {
        let tokens = self.line.tokens.get(from..to).unwrap_or_default();
        let single = tokens.iter().filter(|token| token.kind == TokenKind::Word).count() == 1;
        let mut inside: Option<usize> = None;
        let mut aside = 0;
        for (offset, token) in tokens.iter().enumerate() {
            // `Accuracy (4-digits)`, `MRR (bs=1,000)`: what holds digits in parentheses is a remark.
            aside = aside.max(self.end_of_remark(from + offset, to));
            if from + offset < aside {
                continue;
            }
            match token.kind {
                TokenKind::Sign(b'(') => inside = Some(from + offset + 1),
                TokenKind::Sign(b')') => {
                    let text =
                        inside.take().map(|start| self.text_of(start, from + offset)).unwrap_or_default();
                    if let Some(unit) = PrintedUnit::parse(text) {
                        key.unit = Some(unit);
                        key.words.truncate(key.words.len().saturating_sub(words(text).len()));
                    } else if self
                        .vocabulary
                        .metric(text, None)
                        .is_some_and(|named| named.qualifier.is_empty())
                        && self.vocabulary.split(text).is_none()
                    {
                        key.second = Some(text.to_owned());
                        key.words.truncate(key.words.len().saturating_sub(words(text).len()));
                    }
                }
                TokenKind::Opaque if self.is_ordinal(from + offset) => {
                    key.words.push(self.line.slice(token).to_owned());
                }
                TokenKind::Word
                    if self.line.slice(token).starts_with(|first: char| first.is_ascii_digit()) =>
                {
                    let text = self.line.slice(token);
                    let share = text.split(' ').next().and_then(|text| text.parse::<f64>().ok());
                    key.words.extend(share.map(|share| format!("p{share}")));
                    // `95thPercentileLatency`.
                    if let Some((share, name)) = text.split_once("th") {
                        key.words.push(format!("p{share}"));
                        key.words.extend(words(name).into_iter().filter(|word| word != "percentile"));
                    }
                }
                TokenKind::Word => {
                    let text = self.line.slice(token);
                    // `p(90)=3.1ms`.
                    let share = text.strip_prefix("percentile(").or_else(|| text.strip_prefix("p("));
                    if let Some(share) = share {
                        key.words.push(format!("p{}", share.trim_end_matches(['%', ')'])));
                        continue;
                    }
                    if ["INFO", "WARNING", "DEBUG", "ERROR", "WARN"].contains(&text) {
                        key.words.clear();
                        continue;
                    }
                    let (spoken, unit) = if single { split_unit(text) } else { (text.to_owned(), None) };
                    key.unit = key.unit.take().or(unit);
                    if !single && let Some(split) = self.vocabulary.split(text) {
                        key.spoken_split = Some(split);
                    }
                    key.words.extend(words(&spoken));
                }
                _ => {}
            }
        }
        // `ms/batch 45.1`: a key that is a unit.
        let written = self.text_of(from, to);
        if key.unit.is_none()
            && let Some(unit) = PrintedUnit::parse(written.trim_end_matches([':', '=', ' ']))
            && (unit.per.is_some() || matches!(unit.unit, Unit::PerSecond(_)))
        {
            key.unit = Some(unit);
            key.words.clear();
        }
        // `Secs: 132`: a key that is a unit of time is a time.
        if let [word] = key.words.as_slice()
            && key.unit.is_none()
            && ["sec", "second", "msec"].contains(&word.as_str())
        {
            key.unit = PrintedUnit::parse(if word == "msec" { "ms" } else { "s" });
            key.words = vec!["time".to_owned()];
        }
        // `Score at iteration 100 is 1.39`: a verb joins a number to its key as a colon does.
        if key.words.last().is_some_and(|word| LINKING_VERBS.contains(&word.as_str())) {
            key.words.pop();
            key.joined = true;
        }
        key.text = key.words.join(" ");
        if key.words.len() > LONGEST_KEY {
            key.words.clear();
        }
    }

    /// Whether a number is the total that one line of a box states: `|    total_timesteps | 2048 |`.
    fn is_boxed_count(&self, key: &Key) -> bool {
        let numbers =
            self.line.tokens.iter().filter(|token| matches!(token.kind, TokenKind::Number(_))).count();
        let boxed = self.line.tokens.first().is_some_and(|token| token.kind == TokenKind::Pipe);
        let counted = self.vocabulary.metric_of_words(&key.words, None);
        boxed && numbers == 1 && counted.is_some_and(|named| named.kind == MetricKind::Count)
    }

    /// What `第 3 轮` counts: the word stands behind the number.
    pub(super) fn ordinal(&self, index: usize, key: &Key) -> Option<CounterKind> {
        let next = self.line.tokens.get(index + 1).filter(|_| key.text == "第")?;
        let word = words(self.line.slice(next));
        self.vocabulary.counter(word.first()?)
    }

    /// Whether a number is a counter: `Epoch 3/10`, `step 100`, `[12]` at the start.
    pub(super) fn counter(&mut self, index: usize, token: &Token, key: &Key) -> bool {
        let (whole, fraction) = match &token.kind {
            TokenKind::Number(number) => (
                number.whole && number.unit.is_none() && number.suffix.is_none() && number.value >= 0.0,
                false,
            ),
            TokenKind::Counter { .. } => (true, true),
            _ => return false,
        };
        if !whole || self.is_boxed_count(key) {
            return false;
        }
        // `Generation: 100 tokens` counts tokens.
        let right = self.right_words(index);
        let counts = self.vocabulary.metric_of_words(&right, None);
        if !fraction && key.joined && counts.is_some_and(|named| named.kind == MetricKind::Count) {
            return false;
        }
        let text = if key.text.is_empty() { String::new() } else { key.text.clone() };
        let last_word = key.words.last().cloned().unwrap_or_default();
        // `best epoch 12` is none that the line is of.
        let best = key.words.iter().any(|word| word == "best");
        if best
            && !key.joined
            && self.vocabulary.counter(&key.words.last().cloned().unwrap_or_default()).is_some()
        {
            return true;
        }
        let kind = self
            .ordinal(index, key)
            .or_else(|| self.vocabulary.counter(&text))
            .or_else(|| self.vocabulary.counter(&last_word).filter(|_| !key.joined || fraction));
        let tokens = self.line.tokens;
        let bracketed = index == 1
            && matches!(tokens.first().map(|token| &token.kind), Some(TokenKind::Sign(b'[')))
            && matches!(tokens.get(2).map(|token| &token.kind), Some(TokenKind::Sign(b']')));
        // `100:	learn: 0.37	test: 0.38`: the number before everything else counts.
        let leading = index == 0
            && !fraction
            && matches!(tokens.get(1).map(|token| &token.kind), Some(TokenKind::Sign(b':')))
            && tokens.iter().filter(|token| token.kind == TokenKind::Sign(b':')).count() >= 3;
        let kind = match kind {
            Some(kind) => kind,
            None if leading => CounterKind::Step,
            // `Test: [0/48]`.
            None if fraction && self.plan.slots.is_empty() && self.vocabulary.split(&text).is_some() => {
                CounterKind::Step
            }
            None if bracketed && tokens.len() > 4 => CounterKind::Step,
            None if fraction && key.words.is_empty() && self.plan.slots.is_empty() => CounterKind::Step,
            None if fraction && (self.bar || tokens.iter().any(|token| token.kind == TokenKind::Bar)) => {
                CounterKind::Step
            }
            None => return false,
        };
        // `Score at iteration 100 is 1.39`: the words before the counter name the number behind it.
        let before: Vec<String> = key.words.iter().rev().skip(1).rev().cloned().collect();
        if !before.is_empty() && !key.joined && self.vocabulary.metric_of_words(&before, None).is_some() {
            self.label = Some((index, before));
        }
        let Some(place) = self.line.place(token) else { return true };
        let batch = matches!(last_word.as_str(), "batch" | "minibatch" | "");
        let within_epoch = kind == CounterKind::Step && (fraction || batch) && !bracketed && !leading;
        // `Epoch(val) [1][79/79]`, `Test: [0/48]`: a split beside a counter holds for the line.
        if let Some(split) = self.vocabulary.split(&text) {
            (self.split, self.line_split) = (Some(split), Some(split));
        }
        let known =
            self.plan.counters.iter().any(|known| known.kind == kind && known.within_epoch == within_epoch);
        // `epoch 1: loss=2.31; epoch 2: loss=1.94`: the line holds several.
        if known && !last_word.is_empty() && !self.plan.slots.is_empty() {
            self.plan.pieces.push((place.run, last_word));
        }
        if !known {
            self.plan.counters.push(CounterSlot { kind, place, within_epoch });
        }
        true
    }
}
