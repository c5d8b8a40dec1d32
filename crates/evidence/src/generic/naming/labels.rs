//! Labels: what stands before dots, in a heading above, or in a remark behind a number.

use assay_model::Unit;

use super::Namer;
use super::key::Key;
use crate::generic::plan::{NumberForm, NumberPlace};
use crate::generic::tokens::{Token, TokenKind};
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit, split_unit, words};
use crate::writeup::vocabulary::setting_name;

/// Words of a remark that make its number another one than that of the same line without them.
const CONDITIONS: [&str; 7] = ["including", "excluding", "incl", "excl", "with", "without", "across"];
/// Words before a number that is a condition of what was measured.
const CONDITIONAL: [&str; 6] = ["with", "using", "con", "mit", "avec", "com"];
/// More words of a remark than this are a sentence.
const LONGEST_REMARK: usize = 8;
/// Fewer dots than this before a number may be an ellipsis.
const LEAST_DOTS: usize = 4;

impl Namer<'_> {
    /// Whether dots lead from a label to its number or colon: `http_req_waiting......: avg=3ms`.
    pub(super) fn is_leader(&self, index: usize) -> bool {
        let Some([dots, next]) = self.line.tokens.get(index..index + 2) else { return false };
        let length = self.line.slice(dots).bytes().filter(|byte| *byte == b'.').count();
        index > self.from
            && length == self.line.slice(dots).len()
            && match next.kind {
                TokenKind::Sign(b':' | b'=') => true,
                TokenKind::Number(_) => length >= LEAST_DOTS,
                _ => false,
            }
    }

    /// Whether a token is dots behind the name of what was measured: `test sort_small ... bench: 40 ns/iter`.
    pub(super) fn is_label_of_dots(&self, index: usize) -> bool {
        self.line.tokens.get(index).is_some_and(|token| {
            token.kind == TokenKind::Bar && token.gap > 0 && self.line.slice(token).starts_with('.')
        }) && index >= self.from + 2
    }

    /// Whether the key of a number is the first thing in a bracket that opens behind another number.
    pub(super) fn in_bracket(&self, index: usize) -> bool {
        let region = self.line.tokens.get(self.from..index).unwrap_or_default();
        self.from > 0 && region.first().is_some_and(|token| token.kind == TokenKind::Sign(b'['))
    }

    /// What a remark in parentheses behind a number says about its conditions: `(excluding connections)`.
    pub(super) fn remark(&self, index: usize) -> Option<String> {
        let rest = self.line.tokens.get(index + 1..)?;
        if rest.first()?.kind != TokenKind::Sign(b'(') {
            return None;
        }
        let close = rest.iter().position(|token| token.kind == TokenKind::Sign(b')'))?;
        let inside = rest.get(1..close).filter(|inside| inside.len() <= LONGEST_REMARK)?;
        let plain = |token: &Token| matches!(token.kind, TokenKind::Word | TokenKind::Sign(b','));
        if !inside.iter().all(plain) {
            return None;
        }
        let spoken: Vec<String> = inside.iter().flat_map(|token| words(self.line.slice(token))).collect();
        let at = spoken.iter().position(|word| CONDITIONS.contains(&word.as_str()))?;
        let said = spoken.iter().skip(at + 1).filter(|word| !self.vocabulary.is_filler(word)).take(2);
        let parts: Vec<&str> = spoken.get(at).into_iter().chain(said).map(String::as_str).collect();
        (parts.len() > 1).then(|| parts.join("_"))
    }

    /// `label: 0.91` below a heading that names what the numbers of all labels are.
    pub(super) fn by_heading(
        &self,
        key: &Key,
        printed: Option<&PrintedUnit>,
        token: &Token,
    ) -> Option<NamedMetric> {
        if !self.context.labels || !self.plan.slots.is_empty() || !self.plan.counters.is_empty() {
            return None;
        }
        let numbers = self.line.tokens.iter().filter(|token| {
            matches!(token.kind, TokenKind::Number(_) | TokenKind::Counter { .. } | TokenKind::Clock { .. })
        });
        let label = !key.words.is_empty()
            && key.words.len() <= 4
            && setting_name(&key.text).is_none()
            && self.vocabulary.counter(&key.text).is_none()
            && !self.vocabulary.is_budget(&key.words)
            && !self.vocabulary.is_filler(&key.text)
            && self.vocabulary.metric_of_words(&key.words, None).is_none();
        if !key.joined || !label || numbers.count() != 1 {
            return None;
        }
        let stated = split_unit(self.context.key.as_deref().unwrap_or_default()).1;
        let unit = printed.cloned().or(stated);
        let named = self.vocabulary.topic(&self.context.section.join(" "), unit.as_ref())?;
        let whole = matches!(&token.kind, TokenKind::Number(number) if number.whole);
        let fits = match named.kind {
            MetricKind::Share => !whole || unit.is_some(),
            MetricKind::Value => !whole,
            MetricKind::Time | MetricKind::Rate | MetricKind::Memory => unit.is_some(),
            _ => false,
        };
        fits.then(|| {
            let inferred = Some("named by the heading above");
            NamedMetric { qualifier: key.words.join("_"), inferred, ..named }
        })
    }

    /// `Execution time with 4 threads: 627 ms`: what the words behind `with` say, which distinguishes the line from
    /// others of its shape.
    pub(super) fn condition(&self, key: &Key) -> Option<String> {
        let (at, words) = self.label.as_ref()?;
        let conditional = words.last().is_some_and(|word| CONDITIONAL.contains(&word.as_str()));
        let number = self.line.tokens.get(*at).filter(|_| conditional)?;
        Some(format!("{}_{}", self.line.slice(number), key.words.join("_")))
    }

    /// The run of digits of such a condition.
    pub(super) fn run_of_condition(&self) -> Option<usize> {
        let (at, words) = self.label.as_ref()?;
        let conditional = words.last().is_some_and(|word| CONDITIONAL.contains(&word.as_str()));
        let number = self.line.tokens.get(*at).filter(|_| conditional)?;
        self.line.runs.iter().position(|run| *run as usize == number.start)
    }

    /// `||Ax-b||_oo/(eps*||A||_oo) = 4.4e-03`: the norm of a residual. None of the other words is a key.
    pub(super) fn residual(&mut self) -> bool {
        if !self.line.text.trim_start().starts_with("||") {
            return false;
        }
        let found = self.line.tokens.windows(2).enumerate().find_map(|(at, pair)| match pair {
            [joint, token] if joint.kind == TokenKind::Sign(b'=') => match &token.kind {
                TokenKind::Number(number) => Some((at + 1, token, number.value)),
                _ => None,
            },
            _ => None,
        });
        if let Some((index, token, value)) = found
            && let (Some(place), Some(named)) =
                (self.line.place(token), self.vocabulary.metric("residual", None))
        {
            let inferred = Some("a norm in a formula");
            self.push_at(index, place, value, NamedMetric { inferred, ..named });
        }
        true
    }

    /// `ok   example.org/codec   3.412s`: the time of a whole package, as `go test` prints it.
    pub(super) fn package_time(&mut self) -> bool {
        let [ok, name, time] = self.line.tokens else { return false };
        let TokenKind::Number(number) = &time.kind else { return false };
        let Some(unit) = number.unit.as_ref().filter(|unit| unit.unit == Unit::Seconds) else { return false };
        let package = matches!(name.kind, TokenKind::Word | TokenKind::Opaque)
            && self.line.slice(name).contains(['/', '.']);
        if self.line.slice(ok) != "ok" || !package {
            return false;
        }
        let Some(named) = self.vocabulary.metric("total time", Some(unit)) else { return false };
        let place = self.line.runs.iter().position(|run| *run as usize >= time.start);
        if let Some(run) = place {
            let place = NumberPlace { run, negative: false, form: NumberForm::Plain };
            self.push_at(2, place, number.value, named);
        }
        true
    }
}
