//! Lines without numbers that say something about the ones below them.

use super::naming::LineContext;
use super::tokens::{Token, TokenKind};
use crate::vocabulary::{Split, Vocabulary, split_unit};

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
        // That of training ends what was announced before; lines of training need no heading.
        let evaluated = |split: Split| (split != Split::Train).then_some(split);
        return split.map(|split| LineContext { split: evaluated(split), ..LineContext::default() });
    }
    let words = found.iter().filter(|token| token.kind == TokenKind::Word).count();
    if words == 0 || words > 6 || text.len() > 80 {
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
    let titled = below_rule
        || found.first().is_some_and(|token| matches!(token.kind, TokenKind::Bar | TokenKind::Sign(b'[')))
        || text.trim_end().ends_with(':');
    let phrase = split_unit(text.trim_end().trim_end_matches(':')).0;
    let section = if titled { crate::vocabulary::words(&phrase) } else { Vec::new() };
    let key = text.trim_end().strip_suffix(':').filter(|_| words <= 4).map(str::to_owned);
    (split.is_some() || titled).then_some(LineContext { split, section, key, titled })
}
