//! Names in a list before their numbers in another: `Latencies  [min, mean, 99, max]  1.2ms, 2.1ms, 8.0ms, 9.9ms`.

use super::Namer;
use crate::generic::tokens::{Token, TokenKind};
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit, words};

/// Longer lists are data.
const MOST_NAMES: usize = 12;

impl Namer<'_> {
    /// Reads such a pair of lists from the bracket that opens the first. The tokens behind it that it took.
    pub(super) fn bracketed_list(&mut self, open: usize) -> Option<usize> {
        let tokens = self.line.tokens;
        if tokens.get(open)?.kind != TokenKind::Sign(b'[') {
            return None;
        }
        let behind = tokens.get(open + 1..)?;
        let close = behind.iter().position(|token| token.kind == TokenKind::Sign(b']'))?;
        let names = items(behind.get(..close)?)?;
        let colon = usize::from(behind.get(close + 1)?.kind == TokenKind::Sign(b':'));
        let from = close + 1 + colon;
        let values = items(behind.get(from..)?.get(..names.len() * 2 - 1)?)?;
        let is_value = |token: &&Token| matches!(token.kind, TokenKind::Number(_) | TokenKind::Clock { .. });
        let ended =
            behind.get(from + names.len() * 2 - 1).is_none_or(|next| next.kind != TokenKind::Sign(b','));
        if values.len() != names.len() || !values.iter().all(is_value) || !ended {
            return None;
        }
        let noun = words(self.text_of(self.from, open));
        let named: Vec<Option<NamedMetric>> =
            names.iter().zip(&values).map(|(name, value)| self.listed_name(&noun, name, value)).collect();
        if named.iter().flatten().count() * 2 < names.len() {
            return None;
        }
        let inside = |run: &u32| names.iter().any(|name| (name.start..name.end).contains(&(*run as usize)));
        let fixed: Vec<usize> = self
            .line
            .runs
            .iter()
            .enumerate()
            .filter(|(_, run)| inside(run))
            .map(|(place, _)| place)
            .collect();
        self.plan.fix(fixed.into_iter());
        for (index, (value, named)) in values.iter().zip(named).enumerate() {
            if let (Some(place), Some(named)) = (self.line.place(value), named) {
                self.push_at(open + 1 + from + index * 2, place, 0.0, named);
            }
        }
        let taken = from + names.len() * 2 - 1;
        self.from = open + 1 + taken;
        Some(taken)
    }

    fn listed_name(&self, noun: &[String], name: &Token, value: &Token) -> Option<NamedMetric> {
        let printed = match &value.kind {
            TokenKind::Number(number) => number.unit.clone(),
            _ => PrintedUnit::parse("s"),
        };
        let text = self.line.slice(name);
        let spoken = match &name.kind {
            TokenKind::Number(_) => vec![format!("p{text}")],
            _ => words(text),
        };
        let whole: Vec<String> = noun.iter().chain(&spoken).cloned().collect();
        let named = self
            .vocabulary
            .metric_of_words(&whole, printed.as_ref())
            .or_else(|| self.vocabulary.metric_of_words(&spoken, printed.as_ref()))?;
        (!matches!(named.kind, MetricKind::Ignore | MetricKind::Knob)).then_some(named)
    }
}

/// Single tokens between commas, at least two.
fn items(tokens: &[Token]) -> Option<Vec<&Token>> {
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match (place % 2, &token.kind) {
            (0, TokenKind::Word | TokenKind::Number(_) | TokenKind::Clock { .. }) => found.push(token),
            (1, TokenKind::Sign(b',')) => {}
            _ => return None,
        }
    }
    ((2..=MOST_NAMES).contains(&found.len()) && tokens.len() % 2 == 1).then_some(found)
}
