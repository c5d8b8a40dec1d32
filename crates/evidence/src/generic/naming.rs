//! Names the numbers of a line. The order: an explicit unit, the key on the left, the words on the right, the words
//! before an earlier colon. What gets no name this way is not read.

use assay_model::Unit;

use super::plan::{CounterSlot, NumberForm, NumberPlace, Plan, Slot};
use super::tokens::{NumberToken, Token, TokenKind, scale_of};
use crate::vocabulary::{
    CounterKind, MetricKind, NamedMetric, PrintedUnit, Split, Vocabulary, split_unit, words,
};
use crate::writeup::vocabulary::setting_name;

/// A key of more words is a sentence.
const LONGEST_KEY: usize = 8;

/// Words of prose: a line with several of them and few numbers is a sentence.
const PROSE_WORDS: [&str; 18] = [
    "the", "we", "our", "this", "that", "these", "are", "were", "has", "have", "which", "they", "you", "can",
    "will", "a", "an", "be",
];

/// What lines before say about this one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct LineContext {
    /// The split that a heading names.
    pub split: Option<Split>,
    /// Words of the heading above, for keys that are a statistic alone.
    pub section: Vec<String>,
}

/// A line with its tokens.
pub(super) struct NumberedLine<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub runs: &'a [u32],
}

impl NumberedLine<'_> {
    fn slice(&self, token: &Token) -> &str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// Where a token's number stands among the runs of digits.
    pub fn place(&self, token: &Token) -> Option<NumberPlace> {
        let run_from = |from: usize| self.runs.iter().position(|start| *start as usize >= from);
        let run = run_from(token.start)?;
        let negative = self.text.as_bytes().get(token.start) == Some(&b'-');
        let form = match &token.kind {
            TokenKind::Clock { .. } => NumberForm::Clock,
            TokenKind::Counter { .. } => {
                let slash = token.start + self.slice(token).find('/')?;
                NumberForm::Ratio(run_from(slash)?)
            }
            _ => NumberForm::Plain,
        };
        Some(NumberPlace { run, negative, form })
    }
}

/// Whether a line is prose rather than output.
pub(super) fn is_sentence(line: &NumberedLine<'_>) -> bool {
    let mut found = (0, 0, 0);
    for token in line.tokens {
        match token.kind {
            TokenKind::Word => {
                found.0 += 1;
                found.1 +=
                    usize::from(PROSE_WORDS.contains(&line.slice(token).to_ascii_lowercase().as_str()));
            }
            TokenKind::Number(_) | TokenKind::Counter { .. } => found.2 += 1,
            _ => {}
        }
    }
    found.0 >= 8 && found.1 >= 2 && found.1 + 1 >= found.2
}

/// Whether a line lists settings: names with numbers among names with words, switches and paths.
fn is_configuration(line: &NumberedLine<'_>) -> bool {
    let is_joint = |token: &Token| matches!(token.kind, TokenKind::Sign(b'=' | b':'));
    let worded = line.tokens.windows(2).filter(|pair| match pair {
        [joint, value] => {
            let switch = ["True", "False", "None", "true", "false", "null"].contains(&line.slice(value));
            is_joint(joint) && value.gap <= 1 && switch
        }
        _ => false,
    });
    worded.count() >= 2 || line.text.contains("Namespace(")
}

/// Names the numbers of a line.
pub(super) fn plan(line: &NumberedLine<'_>, context: &LineContext, vocabulary: &Vocabulary) -> Plan {
    let mut namer = Namer {
        line,
        vocabulary,
        context,
        plan: Plan::default(),
        from: 0,
        split: context.split,
        line_split: None,
        about: Vec::new(),
        noun: Vec::new(),
        last: None,
        label: None,
        bar: false,
        bare: Vec::new(),
    };
    if !is_sentence(line) && !is_configuration(line) {
        namer.run();
    }
    namer.finish()
}

/// The words on the left of a number.
#[derive(Default)]
struct Key {
    words: Vec<String>,
    /// The same as written.
    text: String,
    unit: Option<PrintedUnit>,
    /// Whether a colon or an equals sign joins them to the number.
    joined: bool,
    /// A split that is a word of its own: it holds for the numbers behind it too.
    spoken_split: Option<Split>,
    /// A second metric in parentheses: `Accuracy (Loss): 0.9 (0.3)`.
    second: Option<String>,
}

struct Namer<'a> {
    line: &'a NumberedLine<'a>,
    vocabulary: &'a Vocabulary,
    context: &'a LineContext,
    plan: Plan,
    /// The first token that may belong to the next number's key.
    from: usize,
    split: Option<Split>,
    /// The split that words alone at the start of the line name; it holds for the whole line.
    line_split: Option<Split>,
    /// Words before an earlier colon.
    about: Vec<String>,
    /// The key before, without its statistic: `Latency avg=1 p50=2`.
    noun: Vec<String>,
    last: Option<NamedMetric>,
    /// Words before a number that numbers something: `Run 1:`.
    label: Option<(usize, Vec<String>)>,
    bar: bool,
    /// Times that nothing names.
    bare: Vec<Slot>,
}

impl Namer<'_> {
    fn run(&mut self) {
        for index in 0..self.line.tokens.len() {
            let Some(token) = self.line.tokens.get(index) else { break };
            match &token.kind {
                TokenKind::Word => self.word(index),
                TokenKind::Bar => {
                    self.bar = true;
                    self.boundary(index);
                }
                TokenKind::Pipe => {
                    let number = |at: usize| {
                        matches!(
                            self.line.tokens.get(at).map(|token| &token.kind),
                            Some(TokenKind::Number(_))
                        )
                    };
                    let keyed = index > self.from
                        && number(index + 1)
                        && matches!(
                            self.line.tokens.get(index - 1).map(|token| &token.kind),
                            Some(TokenKind::Word)
                        );
                    if !keyed {
                        self.boundary(index);
                        self.split = self.line_split.or(self.context.split);
                    }
                }
                TokenKind::Opaque => self.boundary(index),
                TokenKind::Sign(sign) => self.sign(index, *sign),
                TokenKind::Number(_) | TokenKind::Counter { .. } | TokenKind::Clock { .. } => {
                    self.value(index)
                }
            }
        }
    }

    fn sign(&mut self, index: usize, sign: u8) {
        match sign {
            b',' | b';' | b']' | b'<' => self.boundary(index),
            b'-' | b'>' | b'@'
                if !self
                    .region(index)
                    .iter()
                    .any(|token| matches!(token.kind, TokenKind::Sign(b':' | b'='))) =>
            {
                self.boundary(index);
            }
            b'{' => {
                let region = words(self.text_of(self.from, index));
                if !region.is_empty() {
                    self.split = self.vocabulary.split(&region.join(" ")).or(self.context.split);
                    self.about = region;
                }
                self.from = index + 1;
            }
            b'}' => {
                self.boundary(index);
                self.split = self.context.split;
                self.about.clear();
            }
            _ => {}
        }
    }

    fn region(&self, to: usize) -> &[Token] {
        self.line.tokens.get(self.from..to).unwrap_or_default()
    }

    fn text_of(&self, from: usize, to: usize) -> &str {
        let (Some(first), Some(last)) =
            (self.line.tokens.get(from), to.checked_sub(1).and_then(|last| self.line.tokens.get(last)))
        else {
            return "";
        };
        if from >= to { "" } else { self.line.text.get(first.start..last.end).unwrap_or_default() }
    }

    /// Words that belong to no number end here. Where they name a split, it holds for what follows.
    fn boundary(&mut self, index: usize) {
        let text = self.text_of(self.from, index);
        if text.len() < 40
            && let Some(split) = self.vocabulary.split(text)
        {
            self.split = Some(split);
            if self.plan.slots.is_empty() {
                self.line_split = Some(split);
            }
        }
        self.from = index + 1;
    }

    /// A loss that is not a number.
    fn word(&mut self, index: usize) {
        let Some(token) = self.line.tokens.get(index) else { return };
        let text = self.line.slice(token);
        if text.len() == 3 && (text.eq_ignore_ascii_case("nan") || text.eq_ignore_ascii_case("inf")) {
            let key = self.key(index);
            let named = self.vocabulary.metric_of_words(&key.words, None);
            self.plan.diverged |= named.is_some_and(|named| named.base == "loss");
            self.from = index + 1;
        }
    }

    fn value(&mut self, index: usize) {
        let Some(token) = self.line.tokens.get(index) else { return };
        let key = self.key(index);
        let next = index + 1;
        if self.counter(index, token, &key) {
            self.from = next;
            return;
        }
        let printed = match &token.kind {
            TokenKind::Number(number) => {
                number.unit.clone().or_else(|| key.unit.clone()).or_else(|| suffix_unit(number, &key.words))
            }
            TokenKind::Clock { .. } => PrintedUnit::parse("s"),
            TokenKind::Counter { .. } => PrintedUnit::parse("fraction"),
            _ => None,
        };
        let named = self.name(index, token, &key, printed.as_ref());
        match named {
            Some(named) if named.kind != MetricKind::Ignore => self.push(token, named, printed.as_ref()),
            Some(_) => {}
            None => self.unknown(index, token, key, printed.as_ref()),
        }
        self.from = next;
    }

    fn push(&mut self, token: &Token, mut named: NamedMetric, printed: Option<&PrintedUnit>) {
        let Some(place) = self.line.place(token) else { return };
        if let (TokenKind::Number(number), None) = (&token.kind, printed)
            && let Some(suffix) = number.suffix
        {
            named.factor *= scale_of(suffix);
        }
        if named.kind == MetricKind::Share && named.unit == Unit::One && in_share(token) {
            named.unit = Unit::Fraction;
        }
        // A counter's quotient is a share already.
        if matches!(token.kind, TokenKind::Counter { .. }) {
            (named.unit, named.factor) = (Unit::Fraction, 1.0);
        }
        self.plan.slots.push(Slot {
            place,
            metric: named.name(),
            unit: named.unit.clone(),
            factor: named.factor,
            kind: named.kind,
            known: true,
            when_complete: false,
            inferred: named.inferred,
        });
        self.last = Some(named);
    }

    /// The words on the left of a number, as far as they belong to it.
    fn key(&mut self, index: usize) -> Key {
        let mut key = Key::default();
        let region = self.line.tokens.get(self.from..index).unwrap_or_default();
        let mut groups: Vec<(usize, usize)> = Vec::new();
        let mut start = self.from;
        for (offset, token) in region.iter().enumerate() {
            let at = self.from + offset;
            match token.kind {
                TokenKind::Sign(b':' | b'=') => {
                    groups.push((start, at));
                    start = at + 1;
                }
                TokenKind::Word if token.gap >= 2 && at > start => start = at,
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
                Some(split) => self.split = Some(split),
                None => self.about = words(&text).into_iter().take(4).collect(),
            }
        }
        self.read_key(own, &mut key);
        key
    }

    fn read_key(&self, (from, to): (usize, usize), key: &mut Key) {
        let tokens = self.line.tokens.get(from..to).unwrap_or_default();
        let single = tokens.iter().filter(|token| token.kind == TokenKind::Word).count() == 1;
        let mut inside: Option<usize> = None;
        for (offset, token) in tokens.iter().enumerate() {
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
                TokenKind::Word => {
                    let text = self.line.slice(token);
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
        key.text = key.words.join(" ");
        if key.words.len() > LONGEST_KEY {
            key.words.clear();
        }
    }

    /// Whether a number is a counter: `Epoch 3/10`, `step 100`, `[12]` at the start.
    fn counter(&mut self, index: usize, token: &Token, key: &Key) -> bool {
        let (whole, fraction) = match &token.kind {
            TokenKind::Number(number) => (
                number.whole && number.unit.is_none() && number.suffix.is_none() && number.value >= 0.0,
                false,
            ),
            TokenKind::Counter { .. } => (true, true),
            _ => return false,
        };
        if !whole {
            return false;
        }
        let first = self.plan.slots.is_empty() && self.plan.counters.is_empty();
        let text = if key.text.is_empty() { String::new() } else { key.text.clone() };
        let last_word = key.words.last().cloned().unwrap_or_default();
        let kind = self
            .vocabulary
            .counter(&text)
            .or_else(|| self.vocabulary.counter(&last_word).filter(|_| !key.joined || fraction));
        let tokens = self.line.tokens;
        let bracketed = index == 1
            && matches!(tokens.first().map(|token| &token.kind), Some(TokenKind::Sign(b'[')))
            && matches!(tokens.get(2).map(|token| &token.kind), Some(TokenKind::Sign(b']')));
        let kind = match kind {
            Some(kind) => kind,
            None if bracketed && tokens.len() > 4 => CounterKind::Step,
            None if fraction && first && key.words.is_empty() => CounterKind::Step,
            None if fraction && (self.bar || tokens.iter().any(|token| token.kind == TokenKind::Bar)) => {
                CounterKind::Step
            }
            None => return false,
        };
        let Some(place) = self.line.place(token) else { return true };
        let batch = matches!(last_word.as_str(), "batch" | "minibatch" | "");
        let within_epoch = kind == CounterKind::Step && (fraction || batch) && !bracketed;
        if !self.plan.counters.iter().any(|known| known.kind == kind && known.within_epoch == within_epoch) {
            self.plan.counters.push(CounterSlot { kind, place, within_epoch });
        }
        true
    }

    fn name(
        &mut self,
        index: usize,
        token: &Token,
        key: &Key,
        printed: Option<&PrintedUnit>,
    ) -> Option<NamedMetric> {
        let numeric = match &token.kind {
            TokenKind::Number(number) => Some(number),
            _ => None,
        };
        // `0.50 (0.61)`: the mean so far of what stands before.
        let closed =
            matches!(self.line.tokens.get(index + 1).map(|token| &token.kind), Some(TokenKind::Sign(b')')));
        if key.words.is_empty() && closed && self.opens(index, b'(') && !key.joined && self.from + 1 == index
        {
            return self.second(index);
        }
        if key.words.is_empty() && self.opens(index, b'~') && index > 0 {
            return self.last.clone().map(|last| NamedMetric { statistic: Some("std".to_owned()), ..last });
        }
        let mut named = self.by_left(key, printed, token);
        let right = self.right_words(index);
        let timed = matches!(printed.map(|printed| &printed.unit), Some(Unit::Seconds))
            && printed.is_some_and(|printed| printed.per.is_none());
        let weak = named.as_ref().is_none_or(|named| {
            named.base == "duration" && named.qualifier.is_empty() && !timed_words(&key.words)
        }) || (timed && !timed_words(&key.words));
        let bare = numeric.is_some_and(|number| number.whole && number.unit.is_none());
        if weak && !bare && !right.is_empty() && (!key.joined || timed) {
            let from_right = self.vocabulary.metric_of_words(&right, printed);
            let fits = from_right.as_ref().is_some_and(|named| {
                !matches!(named.kind, MetricKind::Count | MetricKind::Knob)
                    && (!timed || named.kind == MetricKind::Time)
            });
            if fits && (!timed || self.right_ends(index)) {
                named = from_right;
            }
        }
        let mut named = named?;
        if timed
            && key.words.is_empty()
            && right.is_empty()
            && named.base == "duration"
            && named.qualifier.is_empty()
        {
            if matches!(token.kind, TokenKind::Number(_)) || self.line.text.len() > token.end {
                self.bare_time(token, &named);
            }
            return Some(NamedMetric { kind: MetricKind::Ignore, ..named });
        }
        if let TokenKind::Clock { time_of_day, .. } = token.kind {
            let spoken = key.words.iter().any(|word| {
                [
                    "total", "elapsed", "took", "duration", "train", "training", "taken", "cost", "epoch",
                    "spent", "used", "runtime",
                ]
                .contains(&word.as_str())
            });
            if (time_of_day && !spoken) || key.words.is_empty() {
                return None;
            }
        }
        if let Some(number) = numeric
            && !is_plausible(number, &named)
        {
            return None;
        }
        if matches!(named.kind, MetricKind::Value | MetricKind::Share) {
            if key.spoken_split.is_some() {
                self.split = key.spoken_split;
            }
            named.split = named.split.or(self.split);
        }
        if !self.vocabulary.is_statistic(&key.text) {
            self.noun = key.words.clone();
        }
        Some(named)
    }

    /// From the words on the left, then from these with the words before an earlier colon or a heading.
    fn by_left(&self, key: &Key, printed: Option<&PrintedUnit>, token: &Token) -> Option<NamedMetric> {
        if key.words.is_empty() {
            if let (Some((_, label)), true) = (&self.label, key.joined) {
                return self.vocabulary.metric_of_words(label, printed);
            }
            let telling =
                printed.is_some_and(|printed| printed.is_telling() && printed.unit != Unit::Fraction);
            return if telling && !matches!(token.kind, TokenKind::Clock { .. }) {
                self.vocabulary.metric_of_words(&[], printed)
            } else {
                None
            };
        }
        let decimal = matches!(&token.kind, TokenKind::Number(number) if !number.whole);
        let measured =
            |named: NamedMetric| matches!(named.kind, MetricKind::Share | MetricKind::Knob) && decimal;
        if setting_name(&key.text).is_some()
            && !self.vocabulary.metric_of_words(&key.words, None).is_some_and(measured)
        {
            return None;
        }
        if self.vocabulary.is_statistic(&key.text) {
            for noun in [&self.noun, &self.about, &self.context.section] {
                let whole: Vec<String> = noun.iter().chain(&key.words).cloned().collect();
                if let Some(named) =
                    self.vocabulary.metric_of_words(&whole, printed).filter(|_| !noun.is_empty())
                {
                    return Some(named);
                }
            }
        }
        let own = self.vocabulary.metric_of_words(&key.words, printed);
        let own = own.filter(|named| {
            key.joined || (named.kind != MetricKind::Count && ends_with_noun(key, named, printed))
        });
        own.or_else(|| {
            let whole: Vec<String> = self.about.iter().chain(&key.words).cloned().collect();
            (key.joined && !self.about.is_empty())
                .then(|| self.vocabulary.metric_of_words(&whole, printed))
                .flatten()
        })
    }

    /// A number in parentheses behind another.
    fn second(&self, index: usize) -> Option<NamedMetric> {
        let behind = self.line.tokens.get(index + 1).map(|token| &token.kind);
        let adjacent = self.from + 1 == index;
        if !adjacent || behind != Some(&TokenKind::Sign(b')')) {
            return None;
        }
        let TokenKind::Number(number) = &self.line.tokens.get(index)?.kind else { return None };
        let last = self.last.clone()?;
        if number.unit.as_ref().is_some_and(|unit| unit.unit != last.unit) || number.whole {
            return None;
        }
        match self.label.as_ref().filter(|(at, _)| *at == usize::MAX) {
            Some((_, words)) => {
                let mut named = self.vocabulary.metric_of_words(words, None)?;
                named.split = last.split;
                named.qualifier = last.qualifier;
                Some(named)
            }
            None => Some(NamedMetric {
                statistic: Some("mean".to_owned()),
                inferred: Some("a second value in parentheses is the running mean"),
                ..last
            }),
        }
    }

    /// Whether a sign stands right before a token.
    fn opens(&self, index: usize, sign: u8) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.line.tokens.get(before));
        matches!(before.map(|token| &token.kind), Some(TokenKind::Sign(found)) if *found == sign)
    }

    /// The words on the right of a number, up to the next sign; none where they are the next number's key.
    fn right_words(&self, index: usize) -> Vec<String> {
        let mut found = Vec::new();
        for token in self.line.tokens.iter().skip(index + 1).take(4) {
            match token.kind {
                TokenKind::Word if token.gap <= 1 => found.extend(words(self.line.slice(token))),
                TokenKind::Sign(b':' | b'=' | b'(') | TokenKind::Number(_) | TokenKind::Counter { .. } => {
                    return Vec::new();
                }
                _ => break,
            }
        }
        if found.len() > 4 { Vec::new() } else { found }
    }

    /// Whether the words on the right end their part of the line.
    fn right_ends(&self, index: usize) -> bool {
        let rest = self.line.tokens.iter().skip(index + 1).find(|token| token.kind != TokenKind::Word);
        rest.is_none_or(|token| {
            matches!(token.kind, TokenKind::Sign(b',' | b')' | b';' | b'.' | b']') | TokenKind::Pipe)
        })
    }

    /// A time that nothing names is an epoch's on a line that counts epochs.
    fn bare_time(&mut self, token: &Token, named: &NamedMetric) {
        if let Some(place) = self.line.place(token) {
            self.bare.push(Slot {
                place,
                metric: "epoch_s".to_owned(),
                unit: Unit::Seconds,
                factor: named.factor,
                kind: MetricKind::Time,
                known: true,
                when_complete: false,
                inferred: Some("the only time on a line that counts epochs"),
            });
        }
    }

    fn unknown(&mut self, index: usize, token: &Token, key: Key, printed: Option<&PrintedUnit>) {
        if let Some(second) = key.second {
            self.label = Some((usize::MAX, words(&second)));
        }
        let TokenKind::Number(number) = &token.kind else { return };
        if key.words.is_empty() || key.words.len() > 4 {
            return;
        }
        if !key.joined {
            // `Run 1: 3.5s`: the words before a whole number name what it numbers.
            self.label = number.whole.then_some((index, key.words));
            return;
        }
        let plain = setting_name(&key.text).is_none()
            && self.vocabulary.metric(&format!("{} loss", key.text), None).is_some();
        if !plain || number.suffix.is_some() {
            return;
        }
        let Some(place) = self.line.place(token) else { return };
        let (unit, factor) =
            printed.map_or((Unit::One, 1.0), |printed| (printed.unit.clone(), printed.factor));
        let metric = key.words.join("_");
        self.plan.slots.push(Slot {
            place,
            metric,
            unit,
            factor,
            kind: MetricKind::Value,
            known: false,
            when_complete: false,
            inferred: None,
        });
    }

    fn finish(mut self) -> Plan {
        let epochs = self.plan.counters.iter().any(|counter| counter.kind == CounterKind::Epoch);
        let batches = self.plan.counters.iter().any(|counter| counter.within_epoch);
        let steps = self.plan.slots.iter().any(|slot| slot.metric == "step_s");
        if let [time] = self.bare.as_slice()
            && !self.plan.slots.iter().any(|slot| slot.metric == "epoch_s")
            && (epochs && !batches || batches && steps && self.bar)
        {
            self.plan.slots.push(Slot { when_complete: batches, ..time.clone() });
        }
        let known = self.plan.is_known();
        let counted = !self.plan.counters.is_empty();
        self.plan.slots.retain(|slot| slot.kind != MetricKind::Knob || known || counted);
        // One name, one number: the first of a line counts.
        let mut seen: Vec<String> = Vec::new();
        self.plan.slots.retain(|slot| {
            let fresh = !seen.contains(&slot.metric);
            seen.push(slot.metric.clone());
            fresh
        });
        self.plan
    }
}

/// A letter behind a number that is a unit beside these words: `2.13G` of memory, `330m` of time.
fn suffix_unit(number: &NumberToken, key: &[String]) -> Option<PrintedUnit> {
    let memory = key.iter().any(|word| ["mem", "memory", "vram", "ram", "rss"].contains(&word.as_str()));
    match number.suffix? {
        b'G' if memory => PrintedUnit::parse("GB"),
        b'M' if memory => PrintedUnit::parse("MB"),
        b'K' | b'k' if memory => PrintedUnit::parse("kB"),
        b'm' if timed_words(key) => PrintedUnit::parse("min"),
        _ => None,
    }
}

fn timed_words(key: &[String]) -> bool {
    key.iter().any(|word| {
        [
            "time", "took", "elapsed", "ran", "duration", "taken", "spent", "wall", "timer", "latency",
            "runtime", "in", "cost", "used",
        ]
        .contains(&word.as_str())
    })
}

fn in_share(token: &Token) -> bool {
    matches!(&token.kind, TokenKind::Number(number) if (0.0..=1.0).contains(&number.value))
}

/// Without a colon the metric's word must stand right before the number.
fn ends_with_noun(key: &Key, named: &NamedMetric, printed: Option<&PrintedUnit>) -> bool {
    let Some(last) = key.words.last() else { return false };
    let qualifies = named.qualifier.split('_').next_back() == Some(last.as_str());
    let timed = printed.is_some_and(|printed| matches!(printed.unit, Unit::Seconds));
    !qualifies && (!timed || timed_words(&key.words) || named.base != "duration")
}

/// Whether a number can be what the words say.
fn is_plausible(number: &NumberToken, named: &NamedMetric) -> bool {
    let unit = number.unit.as_ref().map(|unit| &unit.unit);
    match named.kind {
        MetricKind::Share => {
            let percent = unit == Some(&Unit::Fraction);
            let whole = number.whole && number.value > 1.0 && !percent && named.base != "accuracy";
            (percent || (-1.0..=100.0).contains(&number.value)) && !whole
        }
        MetricKind::Value => !(number.whole && number.value >= 1e9),
        MetricKind::Time => number.value >= 0.0,
        MetricKind::Count | MetricKind::Memory | MetricKind::Rate => number.value >= 0.0,
        _ => true,
    }
}
