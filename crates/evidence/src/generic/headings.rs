//! Lines without numbers that say something about the ones below them.

use super::naming::LineContext;
use super::tokens::{Token, TokenKind, tokens};
use crate::vocabulary::{PrintedUnit, Split, Vocabulary, split_unit};

/// A line of more words is no heading.
const LONGEST_HEADING: usize = 6;
/// The same for one that announces percentiles.
const LONGEST_ANNOUNCEMENT: usize = 10;
/// The same for a phrase above an indented block.
const MOST_WORDS_OF_BLOCK: usize = 14;
/// A longer line is prose.
const LONGEST_BLOCK: usize = 100;

/// What a line without numbers says about the ones below it.
pub(super) fn heading(
    text: &str,
    found: &[Token],
    vocabulary: &Vocabulary,
    below_rule: bool,
) -> Option<LineContext> {
    // `2020-02-10 21:04:42 - train.log - INFO - evaluate:dev`: what stands behind the level is the heading.
    if let Some((_, message)) =
        [" INFO - ", " INFO: ", " INFO ", "] INFO: "].iter().find_map(|level| text.split_once(level))
    {
        let split = vocabulary.split(message).filter(|_| message.len() < 40);
        let message = message.trim_start_matches([']', ':', ' ']);
        if split.is_none() && message.trim_end().ends_with(':') && message.len() < 40 {
            return heading(message, &tokens(message), vocabulary, below_rule);
        }
        // That of training ends what was announced before; lines of training need no heading.
        let evaluated = |split: Split| (split != Split::Train).then_some(split);
        return split.map(|split| LineContext { split: evaluated(split), ..LineContext::default() });
    }
    if let Some(name) = name(text, found) {
        let indent = Some(indent(text));
        return Some(LineContext { name: Some(name), indent, ..LineContext::default() });
    }
    let words = found.iter().filter(|token| token.kind == TokenKind::Word).count();
    let announces = ["ercentile", "istribution", "ercentage of"].iter().any(|word| text.contains(word));
    if words == 0
        || words > (if announces { LONGEST_ANNOUNCEMENT } else { LONGEST_HEADING })
        || text.len() > 80
    {
        return None;
    }
    // `HOLDOUT TEST - DEFAULT ARGMAX` below a rule names one split among other words.
    let banner = || {
        let mut named = found
            .iter()
            .filter(|token| token.kind == TokenKind::Word)
            .filter_map(|token| vocabulary.split(text.get(token.start..token.end)?));
        let split = named.next().filter(|split| below_rule && *split != Split::Train)?;
        named.all(|other| other == split).then_some(split)
    };
    let split = vocabulary.split(text).or_else(banner);
    let plain = text.trim_matches(|letter: char| "=-#*~ \t".contains(letter));
    let (phrase, unit) = split_unit(plain.trim_end_matches(':'));
    // `Inference time (ms)` stands over the times of several things.
    let measured = plain.trim_end_matches(':').ends_with([')', ']'])
        && unit.as_ref().is_some_and(PrintedUnit::is_telling)
        && vocabulary.metric(&phrase, unit.as_ref()).is_some();
    let titled = below_rule
        || found.first().is_some_and(|token| matches!(token.kind, TokenKind::Bar | TokenKind::Sign(b'[')))
        || plain.ends_with(':')
        || announces
        || measured;
    let section = if titled { crate::vocabulary::words(&phrase) } else { Vec::new() };
    let short = titled && (words <= 4 || announces || measured);
    let key = short.then(|| plain.trim_end_matches(':').to_owned());
    let labels = !section.is_empty();
    (split.is_some() || titled).then_some(LineContext {
        split,
        section,
        key,
        titled,
        labels,
        ..LineContext::default()
    })
}

/// The name of what the indented lines below measure: `codec/decode/small` alone on its line.
fn name(text: &str, found: &[Token]) -> Option<String> {
    let plain = |token: &Token| matches!(token.kind, TokenKind::Word | TokenKind::Opaque);
    let parted = text.contains("::") || text.trim().get(1..).is_some_and(|rest| rest.contains('/'));
    let path = text.contains("://") || text.trim_start().starts_with(['/', '.', '~']) || text.contains('\\');
    let named = (1..=3).contains(&found.len()) && found.iter().all(plain) && parted && !path;
    named.then(|| crate::vocabulary::words(text).join("_"))
}

/// What a line with numbers, which are no measurements, says about the lines below it that are indented more:
/// `Statistics of 90 entries in the validation set`.
pub(super) fn block(text: &str, found: &[Token], vocabulary: &Vocabulary) -> Option<LineContext> {
    if text.len() > LONGEST_BLOCK || text.trim_end().ends_with(['.', ',', ';']) {
        return None;
    }
    let joins = |token: &Token| matches!(token.kind, TokenKind::Sign(b':' | b'=') | TokenKind::Pipe);
    let words = found.iter().filter(|token| token.kind == TokenKind::Word);
    let words: Vec<&str> = words.filter_map(|token| text.get(token.start..token.end)).collect();
    if !(3..=MOST_WORDS_OF_BLOCK).contains(&words.len()) || found.iter().any(joins) {
        return None;
    }
    let mut named = words.iter().filter_map(|word| vocabulary.split_of_word(word));
    let split = named.next()?;
    named.all(|other| other == split).then(|| LineContext {
        split: Some(split),
        titled: true,
        indent: Some(indent(text)),
        ..LineContext::default()
    })
}

/// How far a line is indented.
pub(super) fn indent(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
