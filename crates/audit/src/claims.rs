//! Claims of prose, and the evidence for them in the same documents.

mod bound;
mod equation;
mod level;
mod method;
mod metric;
mod naming;
mod observed;
mod pairs;
mod relation;
mod relative;
mod sentence;

use crate::algebra::check_line;
use crate::checks::Checks;
use crate::grid::Grid;
use crate::interval::Interval;
use crate::manuscript::{Block, Manuscript};
use crate::quantity::{Quantity, quantities};
use bound::StatedLimits;
use observed::Observed;
use pairs::Pool;
use sentence::{Sentence, sentences};

/// Checks the equations of paragraphs and listings.
pub fn equations(manuscript: &Manuscript, checks: &mut Checks) {
    let file = &manuscript.file;
    for block in &manuscript.blocks {
        match block {
            Block::Paragraph(text) | Block::Heading(text) => {
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
            Block::Table(_) => {}
        }
    }
}

/// Numbers of listings that are kept as evidence.
const MOST_LISTED: usize = 2000;
/// Sentences and tables on either side of a sentence that it is held against. More than a paper has; a document that
/// has more is read in time that grows with its length and not with its square.
const SENTENCES_AROUND: usize = 500;
const GRIDS_AROUND: usize = 100;
/// Numbers of the text that are tried as constants of laws.
const MOST_CONSTANTS: usize = 200;

/// Checks the prose of a document against its tables, its listings and itself.
pub fn check(manuscript: &Manuscript, grids: &[Grid], checks: &mut Checks) {
    let sentences = sentences(manuscript);
    let listed = listed(manuscript);
    let limits = StatedLimits::of(&sentences);
    let observed = Observed::new(manuscript);
    let own: Vec<Grid> = grids.iter().filter(|grid| grid.file == manuscript.file).cloned().collect();
    bound::tables(&own)
        .into_iter()
        .chain(bound::answers(&own, &limits))
        .for_each(|finding| checks.push(finding));
    let places = places(grids, &manuscript.file);
    for (index, sentence) in sentences.iter().enumerate() {
        let at = places.partition_point(|(block, _)| *block < sentence.block);
        let at = places.get(at).or(places.last()).map_or(0, |(_, grid)| *grid);
        let pool = Pool {
            grids: around(grids, at, GRIDS_AROUND),
            sentences: around(&sentences, index, SENTENCES_AROUND),
            listed: &listed,
            limits: &limits,
        };
        let context = context(&sentences, index);
        let found = relative::check(sentence, &context, &pool);
        let found = found.into_iter().chain(level::check(sentence, &context, &pool));
        let found = found.chain(bound::check(sentence, &pool)).chain(observed.check(sentence));
        let found = found.chain(method::check(sentence, &pool));
        found.for_each(|finding| checks.push(finding));
    }
}

/// Where the tables of a file stand: their blocks, and their places among the tables of all files.
fn places(grids: &[Grid], file: &str) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = grids
        .iter()
        .enumerate()
        .filter(|(_, grid)| grid.file == file)
        .map(|(place, grid)| (grid.block, place))
        .collect();
    places.sort_unstable();
    places
}

/// The items before and after a place.
fn around<T>(all: &[T], at: usize, reach: usize) -> &[T] {
    all.get(at.saturating_sub(reach)..at.saturating_add(reach).min(all.len())).unwrap_or_default()
}

/// The numbers of the text that a law of a table may contain.
pub fn constants(manuscript: &Manuscript) -> Vec<Interval> {
    let prose = sentences(manuscript).into_iter().flat_map(|sentence| sentence.quantities);
    let listed = listed(manuscript).into_iter().take(40).flat_map(|(_, quantities)| quantities);
    let mut found: Vec<Interval> = prose
        .chain(listed)
        .filter(|quantity| !quantity.unit.is_relative() && quantity.value.abs() >= 20.0)
        .map(|quantity| Interval::new(quantity.low, quantity.high))
        .collect();
    found.sort_by(|one, other| one.low.total_cmp(&other.low));
    found.dedup();
    found.truncate(MOST_CONSTANTS);
    found
}

fn listed(manuscript: &Manuscript) -> Vec<(u64, Vec<Quantity>)> {
    let mut found = Vec::new();
    let mut count = 0;
    for block in &manuscript.blocks {
        let Block::Listing(lines) = block else { continue };
        for line in lines.iter().filter(|line| line.text.len() < 400) {
            let numbers = quantities(&line.text);
            count += numbers.len();
            if count > MOST_LISTED {
                return found;
            }
            if !numbers.is_empty() {
                found.push((line.number, numbers));
            }
        }
    }
    found
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
