//! Names the numbers of a line. The order: an explicit unit, the key on the left, the words on the right, the words
//! before an earlier colon. What gets no name this way is not read.

mod around;
mod chatter;
mod key;
mod labels;
mod left;
mod lists;
mod name;
mod parallel;
mod rest;
mod slots;

use self::around::{Equation, conditions, is_arrow};
use self::chatter::{is_configuration, is_parameter, is_sentence};
pub(super) use self::name::{in_share, suffix_unit};
use super::plan::{NumberForm, NumberPlace, Plan, Slot};
use super::tokens::{Token, TokenKind};
use crate::clock::is_moment;
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit, Split, Vocabulary, split_unit, words};

/// A longer word with digits in it is an identifier.
const LONGEST_NAME: usize = 40;

/// What lines before say about this one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct LineContext {
    /// The split that a heading names.
    pub split: Option<Split>,
    /// Words of the heading above, for keys that are a statistic alone.
    pub section: Vec<String>,
    /// The heading as written, where it ends with a colon: it may name the number below it.
    pub key: Option<String>,
    /// Whether the heading stands over a block: a banner, or a line that ends with a colon.
    pub titled: bool,
    /// Whether labels below the heading may be those of what it names.
    pub labels: bool,
    /// The name on a line of its own above indented lines.
    pub name: Option<String>,
    /// For a block of indented lines, how far the line above it is indented.
    pub indent: Option<usize>,
}

/// A line with its tokens.
pub(super) struct NumberedLine<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub runs: &'a [u32],
}

impl NumberedLine<'_> {
    pub fn slice(&self, token: &Token) -> &str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// Where a token's number stands among the runs of digits.
    pub fn place(&self, token: &Token) -> Option<NumberPlace> {
        let run_from = |from: usize| self.runs.iter().position(|start| *start as usize >= from);
        let run = run_from(token.start)?;
        let negative = self.text.as_bytes().get(token.start) == Some(&b'-');
        let form = match &token.kind {
            TokenKind::Clock { .. } if self.slice(token).contains(|letter: char| letter.is_alphabetic()) => {
                NumberForm::Span
            }
            TokenKind::Clock { .. } => NumberForm::Clock,
            TokenKind::Counter { .. } => {
                let slash = token.start + self.slice(token).find('/')?;
                NumberForm::Ratio(run_from(slash)?)
            }
            TokenKind::Number(number) if number.comma => NumberForm::Comma,
            _ => NumberForm::Plain,
        };
        Some(NumberPlace { run, negative, form })
    }

    /// The runs of digits inside some tokens, as far as they are short enough to be a part of a name.
    pub fn runs_in(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        tokens.iter().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Opaque)).flat_map(
            |token| {
                let inside =
                    |(_, start): &(usize, &u32)| (token.start..token.end).contains(&(**start as usize));
                let conditions = self.slice(token).starts_with("@[");
                let named = token.kind == TokenKind::Word && self.slice(token).len() <= LONGEST_NAME
                    || is_ordinal(self.slice(token));
                self.runs
                    .iter()
                    .enumerate()
                    .filter(inside)
                    .map(|(run, _)| run)
                    .filter(move |_| conditions || named)
            },
        )
    }
}

/// `95th`.
fn is_ordinal(text: &str) -> bool {
    let digits = text.strip_suffix("th").unwrap_or_default();
    (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
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
        about_unit: None,
        noun: Vec::new(),
        last: None,
        last_value: 0.0,
        opening: None,
        label: None,
        bar: false,
        line_unit: None,
        class: None,
        conditions: Vec::new(),
        estimate: None,
        bare: Vec::new(),
        nested: Vec::new(),
        equation: Equation::default(),
        counted: None,
        part: None,
    };
    if namer.package_time() || namer.residual() {
        return namer.finish();
    }
    if !is_sentence(line) && !is_configuration(line) && !is_parameter(line, context) {
        namer.run();
    }
    namer.finish()
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
    /// The unit printed with these words, for statistics behind them: `clat (usec): min=102, max=575`.
    about_unit: Option<PrintedUnit>,
    /// The key before, without its statistic: `Latency avg=1 p50=2`.
    noun: Vec<String>,
    last: Option<NamedMetric>,
    /// The number that `last` names.
    last_value: f64,
    /// The first key of the line that a colon ends and that names no metric.
    opening: Option<Vec<String>>,
    /// Words before a number that numbers something: `Run 1:`.
    label: Option<(usize, Vec<String>)>,
    bar: bool,
    /// A unit of time that the first words of the line state for all of its numbers: `time (ms) | forward: 35.1`.
    line_unit: Option<PrintedUnit>,
    /// The class that a line of scores is about: `LOC: precision: 99.6%; recall: 98.1%`.
    class: Option<String>,
    /// Words of conditions in brackets, which part numbers of one name.
    conditions: Vec<(String, String)>,
    /// The middle of three numbers in brackets, which is the estimate between its bounds.
    estimate: Option<usize>,
    /// Times that nothing names.
    bare: Vec<Slot>,
    /// The names of the dictionaries that are open: `{'cpu': {'time': 3.1}, 'gpu': {'time': 1.2}}`.
    nested: Vec<Option<String>>,
    equation: Equation,
    /// The last word of the key of a number that counts something: `transactions:  11063`.
    counted: Option<String>,
    /// A word before a colon that distinguishes the numbers of a line from those of another: `Cold: 5.1ms GPU, 13.2ms CPU`.
    part: Option<String>,
}

impl Namer<'_> {
    fn run(&mut self) {
        let mut behind = 0;
        for index in 0..self.line.tokens.len() {
            let Some(token) = self.line.tokens.get(index) else { break };
            if index < behind {
                continue;
            }
            if let Some(taken) = self.percentile(index).or_else(|| self.bracketed_list(index)) {
                behind = index + taken + 1;
                continue;
            }
            match &token.kind {
                TokenKind::Word => self.word(index),
                TokenKind::Bar if self.is_leader(index) => {}
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
                TokenKind::Opaque if self.line.slice(token).starts_with("@[") => {
                    self.conditions = conditions(self.line.slice(token));
                }
                TokenKind::Opaque
                    if Namer::is_list(token, self.line.slice(token)) && self.parallel(index) => {}
                TokenKind::Opaque if self.in_remark(index) || self.is_ordinal(index) => {}
                TokenKind::Opaque => self.boundary(index),
                TokenKind::Sign(sign) => self.sign(index, *sign),
                TokenKind::Number(_) | TokenKind::Counter { .. } | TokenKind::Clock { .. } => {
                    self.value(index)
                }
            }
        }
    }

    /// `95th percentile`.
    fn is_ordinal(&self, index: usize) -> bool {
        let Some([ordinal, noun]) = self.line.tokens.get(index..index + 2) else { return false };
        let noun = self.line.slice(noun).to_ascii_lowercase();
        is_ordinal(self.line.slice(ordinal))
            && (noun.starts_with("percentile") || noun == "pct" || noun == "%ile")
    }

    fn sign(&mut self, index: usize, sign: u8) {
        // What a noun says of a number ends with its part of the line.
        if matches!(sign, b',' | b';') {
            self.label = None;
        }
        match sign {
            b'-' | b'=' | b'>' if self.in_arrow(index) => {}
            b',' if self.joins_pair(index) || self.joins_last(index) => {}
            b'(' if self.joins_pair(index + 2) => self.open_pair(index),
            b'[' if self.is_interval(index) => self.estimate = Some(index + 2),
            b',' | b';' | b']' | b'<' | b'!' => self.boundary(index),
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
                self.nested.push(self.name_of_dictionary(&region));
                if !region.is_empty() {
                    self.split = self.vocabulary.split(&region.join(" ")).or(self.context.split);
                    self.about = region;
                }
                self.from = index + 1;
            }
            b'}' => {
                self.nested.pop();
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
        if self.from == 0 && text.len() < 40 && text.ends_with(')') {
            let (phrase, unit) = split_unit(text);
            let timed = self.vocabulary.metric(&phrase, unit.as_ref());
            self.line_unit = unit.filter(|_| timed.is_some_and(|named| named.kind == MetricKind::Time));
        }
        let text = self.text_of(self.from, index);
        let listed = self.line.tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Sign(b','));
        // `[READ], AverageLatency(us), 342.6`.
        let capitals = |class: &str| class.bytes().all(|byte| byte.is_ascii_uppercase());
        let counts = |class: &str| capitals(class) && self.vocabulary.counter(class).is_some();
        let class = text.strip_prefix('[').filter(|class| listed && (self.is_class(class) || counts(class)));
        if let Some(class) = class {
            self.class = Some(class.to_lowercase());
        }
        let text = self.text_of(self.from, index);
        if text.len() < 40
            && !self.is_label_of_dots(index)
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
        // `decreased (inf --> 0.42)` is where an early stopper begins, not a loss.
        if self.line.tokens.get(index + 1..index + 4).is_some_and(is_arrow) {
            return;
        }
        if text.len() == 3 && (text.eq_ignore_ascii_case("nan") || text.eq_ignore_ascii_case("inf")) {
            let key = self.key(index);
            let named = self.vocabulary.metric_of_words(&key.words, None);
            self.plan.diverged |= named.is_some_and(|named| named.base == "loss");
            self.from = index + 1;
        }
    }

    /// Whether a token stands in parentheses that a colon or an equals sign follows: `MRR (bs=1,000): 0.6`.
    fn in_remark(&self, index: usize) -> bool {
        let tokens = self.line.tokens;
        let signs = |token: &Token, wanted: u8| token.kind == TokenKind::Sign(wanted);
        let before = tokens.get(self.from..index).unwrap_or_default();
        let opened = before.iter().rposition(|token| signs(token, b'('));
        let closed = before.iter().rposition(|token| signs(token, b')'));
        let open = opened.is_some_and(|open| open > 0 && closed.is_none_or(|closed| closed < open));
        let rest = tokens.get(index + 1..).unwrap_or_default();
        let close = rest.iter().position(|token| signs(token, b')')).filter(|place| *place <= 3);
        let joined = close.and_then(|place| rest.get(place + 1));
        open && joined.is_some_and(|token| signs(token, b':') || signs(token, b'='))
    }

    fn value(&mut self, index: usize) {
        let Some(token) = self.line.tokens.get(index) else { return };
        let whole = matches!(&token.kind, TokenKind::Number(number) if number.whole && number.unit.is_none());
        if whole && self.in_remark(index) || self.is_key(index) {
            return;
        }
        let next = index + 1;
        match self.estimate {
            Some(middle) if index + 1 == middle => return,
            Some(middle) if index == middle + 1 => {
                (self.estimate, self.from) = (None, next);
                return;
            }
            _ => {}
        }
        if self.replaces(index, token) {
            self.from = next;
            return;
        }
        if index < self.equation.result {
            return;
        }
        if let Some(equation) = self.equation_from(index) {
            self.equation = equation;
            return;
        }
        let solved = index == self.equation.result && index > 0;
        let key = self.key(if solved { self.equation.first } else { index });
        if self.counter(index, token, &key) {
            self.from = next + usize::from(self.ordinal(index, &key).is_some());
            return;
        }
        let printed = match &token.kind {
            TokenKind::Number(number) => number
                .unit
                .clone()
                .or_else(|| key.unit.clone())
                .or_else(|| suffix_unit(number, &key.words))
                .or_else(|| self.per_second(index))
                .or_else(|| self.borrowed_unit(&key)),
            TokenKind::Clock { .. } => PrintedUnit::parse("s"),
            TokenKind::Counter { .. } => PrintedUnit::parse("fraction"),
            _ => None,
        };
        // The unit of both numbers of a quotient is not that of their ratio.
        let printed = printed.filter(|_| !(solved && self.equation.is_ratio));
        if let TokenKind::Number(number) = &token.kind
            && printed.is_none()
            && is_moment(&key.words.join(" "), number.value)
        {
            self.from = next;
            return;
        }
        let named = self.name(index, token, &key, printed.as_ref());
        match named {
            Some(named) if named.kind != MetricKind::Ignore => {
                self.fix_names(index);
                let condition = self.run_of_condition();
                self.plan.fix(condition.into_iter());
                self.push(index, token, named, printed.as_ref());
            }
            Some(_) => {}
            None => {
                if self.opening.is_none() && key.joined && self.plan.slots.is_empty() {
                    self.opening = Some(key.words.clone());
                }
                self.fix_names(index);
                self.counted = key.joined.then(|| self.last_word(index)).flatten();
                self.unknown(index, token, key, printed.as_ref());
            }
        }
        self.from = next;
    }
}
