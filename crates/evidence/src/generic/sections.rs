//! Banners between results: programs that try several models print the same lines for each, below its name.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::plan::Plan;
use super::tokens::{Token, TokenKind};
use crate::vocabulary::Vocabulary;

/// More banners than this are chatter.
const MOST_BANNERS: usize = 1000;

/// Which section of its output a program is in.
#[derive(Default)]
pub(super) struct Sections {
    /// The number of each banner, by its text.
    seen: HashMap<u64, usize>,
    current: usize,
    title: String,
    below_rule: bool,
    /// The section that the run at hand is in.
    run: Option<usize>,
    /// The section in which lines of a shape were read last.
    shapes: HashMap<u64, usize>,
}

impl Sections {
    /// Whether the line before is a rule of signs.
    pub fn is_below_rule(&self) -> bool {
        self.below_rule
    }

    /// The banner above.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Takes the next line.
    pub fn next(&mut self, plan: &Plan) {
        self.below_rule = plan.rule;
        let Some(banner) = &plan.banner else { return };
        let mut hasher = DefaultHasher::new();
        banner.hash(&mut hasher);
        let fresh = self.seen.len() + 1;
        if fresh < MOST_BANNERS {
            self.current = *self.seen.entry(hasher.finish()).or_insert(fresh);
            self.title.clone_from(banner);
        }
    }

    /// A line with values was read.
    pub fn holds_values(&mut self) {
        self.run = Some(self.current);
    }

    /// Whether the banner above was not seen before the last values.
    pub fn is_new_run(&self) -> bool {
        self.run.is_some_and(|run| run > 0 && run < self.current)
    }

    /// Whether a line of this shape, which counts nothing, was read below another banner and is now read below one
    /// that was not seen before: the results of another run.
    pub fn repeats(&mut self, shape: u64) -> bool {
        if self.shapes.len() > 10 * MOST_BANNERS {
            self.shapes.clear();
        }
        let before = self.shapes.insert(shape, self.current);
        let again = before.is_some_and(|before| before > 0 && before < self.current);
        if again {
            self.shapes.clear();
            self.shapes.insert(shape, self.current);
        }
        again
    }
}

/// The words of a line that stands between signs (`*** ridge ***`, `[Adam]`) or below a rule of them. One that names a
/// part of the data or a metric is no name of a run.
pub(super) fn banner(text: &str, found: &[Token], below_rule: bool) -> Option<String> {
    let is = |token: Option<&Token>, kind: &TokenKind| token.is_some_and(|token| token.kind == *kind);
    let barred = is(found.first(), &TokenKind::Bar) && is(found.last(), &TokenKind::Bar) && found.len() > 2;
    let bracketed = is(found.first(), &TokenKind::Sign(b'['))
        && is(found.last(), &TokenKind::Sign(b']'))
        && found.len() < 8;
    // `== ridge ==`.
    let trimmed = text.trim();
    let doubled = trimmed.starts_with("==") && trimmed.ends_with("==") && found.len() > 4;
    // `# base` above the numbers of one model.
    let hashed = is(found.first(), &TokenKind::Sign(b'#')) && (2..=5).contains(&found.len());
    if !(barred || doubled || bracketed || below_rule || hashed) || text.len() > 120 {
        return None;
    }
    let words = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    let vocabulary = Vocabulary::current();
    let spoken = crate::vocabulary::words(words);
    let known = spoken.iter().any(|word| vocabulary.split(word).is_some() || vocabulary.is_statistic(word));
    let named = vocabulary.metric_of_words(&spoken, None).is_some();
    (!spoken.is_empty() && spoken.len() <= 10 && !known && !named).then(|| words.to_owned())
}
