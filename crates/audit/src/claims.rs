//! Claims of prose, and the evidence for them in the same documents.

mod bound;
mod equation;
mod expected;
mod facts;
mod gloss;
mod level;
mod linking;
mod method;
mod metric;
mod naming;
mod observed;
mod outsider;
mod pairs;
mod part;
mod prior;
mod range;
mod relation;
mod relative;
mod sentence;

use std::collections::HashSet;

use crate::algebra::{Constant, check_line};
use crate::checks::Checks;
use crate::grid::{Grid, words};
use crate::interval::Interval;
use crate::manuscript::{Block, Manuscript};
use crate::quantity::{Quantity, count_word, quantities};
use crate::unit::leading_unit;
use bound::StatedLimits;
pub use observed::Observed;
use pairs::Pool;
use sentence::{LONGEST_PARAGRAPH, Sentence, sentences};

/// Checks the equations of paragraphs and listings.
pub fn equations(manuscript: &Manuscript, checks: &mut Checks) {
    let file = &manuscript.file;
    for block in &manuscript.blocks {
        match block {
            Block::Paragraph(text) | Block::Heading(text) if text.text.len() <= LONGEST_PARAGRAPH => {
                let found = equation::check(&text.text, file, |at| text.line_at(at));
                found.into_iter().for_each(|finding| checks.push(finding));
                if text.text.len() < 2000 {
                    check_line(&text.text, file, text.line_at(0), checks);
                }
            }
            Block::Listing(lines) => {
                for line in lines.iter().filter(|line| line.text.len() < 400) {
                    check_line(&line.text, file, line.number, checks);
                }
                for line in lines.iter().filter(|line| line.text.len() < 400 && line.text.contains('=')) {
                    let found = equation::check(&line.text, file, |_| line.number);
                    found.into_iter().for_each(|finding| checks.push(finding));
                }
            }
            Block::Paragraph(_) | Block::Heading(_) | Block::Table(_) => {}
        }
    }
}

/// Numbers of listings that are kept as evidence.
const MOST_LISTED: usize = 2000;
/// Sentences on either side of a sentence that it is held against. More than most papers have; a document that
/// has more is read in time that grows with its length and not with its square.
const SENTENCES_AROUND: usize = 100;
/// Numbers of the text that are tried as constants of laws.
const MOST_CONSTANTS: usize = 200;

/// Tables that a claim may be about: a document of thousands is a collection.
const MOST_TABLES: usize = 40;

/// The tables of all documents, those of one document in their order.
struct Neighbors<'a> {
    own: Vec<&'a Grid>,
    others: Vec<&'a Grid>,
}

impl<'a> Neighbors<'a> {
    fn new(grids: &'a [Grid], file: &str) -> Neighbors<'a> {
        let (mut own, mut others): (Vec<&Grid>, Vec<&Grid>) =
            grids.iter().partition(|grid| grid.file == file);
        own.sort_by_key(|grid| grid.block);
        others.truncate(MOST_TABLES);
        Neighbors { own, others }
    }

    /// The tables around a block, and those of the other documents.
    fn of(&self, block: usize) -> Vec<&'a Grid> {
        let at = self.own.partition_point(|grid| grid.block < block);
        let start = at.saturating_sub(MOST_TABLES / 2).min(self.own.len().saturating_sub(MOST_TABLES));
        let end = (start + MOST_TABLES).min(self.own.len());
        self.own[start..end].iter().chain(&self.others).copied().collect()
    }
}

/// Checks the prose of a document against its tables, its listings and itself.
pub fn check(manuscript: &Manuscript, grids: &[Grid], shown: &[Observed], checks: &mut Checks) {
    let sentences = sentences(manuscript);
    let listed = listed(manuscript);
    let listed_words = listed_words(manuscript);
    let limits = StatedLimits::of(&sentences);
    let neighbors = Neighbors::new(grids, &manuscript.file);
    let own = Observed::new(manuscript);
    let observed: Vec<&Observed> = std::iter::once(&own).chain(own.beside(shown)).collect();
    let own: Vec<Grid> = grids.iter().filter(|grid| grid.file == manuscript.file).cloned().collect();
    bound::tables(&own)
        .into_iter()
        .chain(bound::answers(&own, &limits))
        .for_each(|finding| checks.push(finding));
    let mut judged = Vec::new();
    let mut repeated = 0;
    for (index, sentence) in sentences.iter().enumerate() {
        let context = context(&sentences, index);
        let near = neighbors.of(sentence.block);
        let pool = Pool {
            grids: &near,
            sentences: around(&sentences, index, SENTENCES_AROUND),
            listed: &listed,
            listed_words: &listed_words,
            limits: &limits,
        };
        judged.extend(relative::check(sentence, &context, &pool));
        judged.extend(level::check(sentence, &context, &pool, &mut repeated));
        let shown = observed.iter().flat_map(|observed| observed.check(sentence));
        let found = bound::check(sentence, &pool).into_iter().chain(shown).chain(range::check(sentence));
        let found = found.chain(part::check(sentence, &near));
        let found = found.chain(method::check(sentence, &pool)).chain(gloss::check(sentence));
        found.for_each(|finding| checks.push(finding));
    }
    prior::settle(judged, repeated).into_iter().for_each(|finding| checks.push(finding));
}

/// The items before and after a place.
fn around<T>(all: &[T], at: usize, reach: usize) -> &[T] {
    all.get(at.saturating_sub(reach)..at.saturating_add(reach).min(all.len())).unwrap_or_default()
}

/// The numbers of the text that a law of a table may contain.
pub fn constants(manuscript: &Manuscript) -> Vec<Constant> {
    let sentences = sentences(manuscript);
    let prose = sentences.iter().flat_map(|sentence| sentence.quantities.iter().cloned());
    let listed = listed(manuscript).into_iter().take(40).flat_map(|(_, quantities)| quantities);
    let is_usable = |quantity: &Quantity| {
        // A price or a rate may be any number; a bare count of one says nothing.
        let quotient = quantity.unit.exponents.len() >= 2;
        let named = !quantity.unit.is_none() && (quotient || quantity.value.abs() >= 2.0);
        !quantity.unit.is_relative() && !quantity.in_words && (quantity.value.abs() >= 20.0 || named)
    };
    let written = prose.chain(listed).filter(is_usable).map(|quantity| Constant {
        interval: pairs::side(&quantity).interval,
        telling: quantity.written.abs() >= 20.0 || has_two_digits(&quantity.text),
        unit: quantity.unit,
    });
    let mut found: Vec<Constant> = written.chain(sentences.iter().flat_map(spelled_constants)).collect();
    found.sort_by(|one, other| one.interval.low.total_cmp(&other.interval.low));
    found.dedup();
    found.truncate(MOST_CONSTANTS);
    found
}

/// Whether a number has a decimal point and two digits that say something: 2.5, 0.31.
fn has_two_digits(text: &str) -> bool {
    let number = text.split_whitespace().next().unwrap_or_default();
    let digits = number.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
    number.contains('.') && digits >= 2
}

/// Counts in words with what they count: `one node with eight GPUs`.
fn spelled_constants(sentence: &Sentence) -> Vec<Constant> {
    let words: Vec<&str> = sentence.text.split_whitespace().collect();
    let counted = words.windows(2).filter_map(|pair| {
        let count = count_word(pair[0]).filter(|count| *count >= 2.0)?;
        let (unit, _) = leading_unit(pair[1]).filter(|(unit, _)| unit.is_count())?;
        Some(Constant { interval: Interval::exact(count), telling: count >= 20.0, unit })
    });
    counted.collect()
}

fn listed(manuscript: &Manuscript) -> Vec<(u64, Vec<Quantity>)> {
    let mut found = Vec::new();
    let mut count = 0;
    for block in &manuscript.blocks {
        // Settings and logs that stand in the text without a mark are listed too.
        let lines: Vec<(u64, &str)> = match block {
            Block::Listing(lines) => lines.iter().map(|line| (line.number, line.text.as_str())).collect(),
            Block::Paragraph(text) if text.lines() > 1 => {
                text.source_lines().filter(|(_, line)| line.contains('=')).collect()
            }
            _ => continue,
        };
        for (number, text) in lines.into_iter().filter(|(_, text)| text.len() < 400) {
            let numbers = quantities(text);
            count += numbers.len();
            if count > MOST_LISTED {
                return found;
            }
            if !numbers.is_empty() {
                found.push((number, numbers));
            }
        }
    }
    found
}

/// The words of the lines whose numbers are kept.
fn listed_words(manuscript: &Manuscript) -> HashSet<String> {
    let lines = manuscript.blocks.iter().flat_map(|block| match block {
        Block::Listing(lines) => lines.as_slice(),
        _ => &[],
    });
    let lines = lines.take(MOST_LISTED).filter(|line| line.text.len() < 400);
    lines.flat_map(|line| words(&line.text)).collect()
}

/// The sentence together with those before it in its paragraph, for what they name.
fn context(sentences: &[Sentence], index: usize) -> Sentence {
    let mut whole = sentences[index].clone();
    for earlier in sentences[..index].iter().rev().take_while(|earlier| earlier.block == whole.block).take(3)
    {
        whole.words.extend(earlier.words.iter().cloned());
        whole.quantities.extend(earlier.quantities.iter().cloned());
    }
    whole
}
