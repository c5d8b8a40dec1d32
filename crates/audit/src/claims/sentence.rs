//! Sentences with their quantities, their words and their lines.

use crate::grid::words;
use crate::manuscript::{Block, Manuscript, Text};
use crate::quantity::{Quantity, ending, quantities};

#[derive(Debug, Clone)]
pub struct Sentence {
    pub text: String,
    pub file: String,
    /// The line of each position is found through its paragraph.
    lines: Vec<(usize, u64)>,
    /// The position of its block in the manuscript.
    pub block: usize,
    pub quantities: Vec<Quantity>,
    pub words: Vec<String>,
}

impl Sentence {
    /// The source line of a position.
    pub fn line_at(&self, offset: usize) -> u64 {
        let index = self.lines.partition_point(|(start, _)| *start <= offset);
        self.lines.get(index.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }

    pub fn line_of(&self, quantity: &Quantity) -> u64 {
        self.line_at(quantity.start)
    }

    /// The words from a position on, up to the end of the clause, in lower case.
    pub fn words_after(&self, offset: usize) -> Vec<String> {
        let rest = self.text.get(offset..).unwrap_or_default();
        let end = clause_end(rest);
        lower_words(&rest[..end])
    }

    /// The words before a position, back to the start of the clause, the nearest last.
    pub fn words_before(&self, offset: usize) -> Vec<String> {
        let head = self.text.get(..offset).unwrap_or_default();
        let start = head
            .rfind([',', ';', ':', '(', ')', '–', '—'])
            .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
        lower_words(&head[start..])
    }

    /// The part of the sentence around a position that a comma, a bracket or a conjunction sets apart.
    pub fn clause_at(&self, offset: usize) -> Sentence {
        let (start, end) = self.clause_range(offset);
        let text = self.text.get(start..end).unwrap_or_default().to_owned();
        let quantities = self.quantities.iter().filter(|one| start <= one.start && one.end <= end).cloned();
        Sentence { words: words(&text), quantities: quantities.collect(), text, ..self.clone() }
    }

    /// The clauses from the one around a position back to the first.
    pub fn clauses_back(&self, offset: usize) -> Vec<Sentence> {
        let mut found = vec![self.clause_at(offset)];
        let mut at = self.clause_range(offset).0;
        while at > 0 {
            // Inside the mark before the clause.
            at = (0..at).rev().find(|one| self.text.is_char_boundary(*one)).unwrap_or(0);
            found.push(self.clause_at(at));
            let start = self.clause_range(at).0;
            if start >= at {
                break;
            }
            at = start;
        }
        found
    }

    fn clause_range(&self, offset: usize) -> (usize, usize) {
        const MARKS: [&str; 10] = [", ", "; ", ": ", " (", ") ", " – ", " — ", " and ", " but ", " while "];
        let cuts = |range: &str| -> Vec<(usize, usize)> {
            MARKS
                .iter()
                .flat_map(|mark| range.match_indices(mark).map(|(at, mark)| (at, at + mark.len())))
                .collect()
        };
        let (head, tail) = self.text.split_at(offset.min(self.text.len()));
        let start = cuts(head).into_iter().map(|(_, end)| end).max().unwrap_or(0);
        let end = offset + cuts(tail).into_iter().map(|(at, _)| at).min().unwrap_or(tail.len());
        (start, end.max(start))
    }

    /// Whether one of these words is in the sentence.
    pub fn mentions(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }
}

fn lower_words(text: &str) -> Vec<String> {
    text.split(|one: char| !(one.is_alphanumeric() || one == '-' || one == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Where a clause ends: at a mark that is not inside a number.
fn clause_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    for (at, character) in text.char_indices() {
        if ";:()–—".contains(character) {
            return at;
        }
        if character == ',' || character == '.' {
            let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
            if !(at > 0 && digit(at - 1) && digit(at + 1)) {
                return at;
            }
        }
    }
    text.len()
}

/// Nobody writes a paragraph of more lines, or a sentence of more numbers: that is a program's output, which states
/// nothing about other numbers. Reading it as prose would also cost the square of its length.
const MOST_LINES: usize = 60;
pub const LONGEST_PARAGRAPH: usize = 30_000;
const MOST_QUANTITIES: usize = 40;

/// The sentences of a manuscript, in order.
pub fn sentences(manuscript: &Manuscript) -> Vec<Sentence> {
    let mut found = Vec::new();
    for (block, content) in manuscript.blocks.iter().enumerate() {
        let (Block::Heading(text) | Block::Paragraph(text)) = content else { continue };
        if !is_prose(text) {
            continue;
        }
        let written = split(&text.text)
            .into_iter()
            .map(|(start, end)| sentence(text, start, end, block, &manuscript.file));
        found.extend(written.filter(|sentence| sentence.quantities.len() <= MOST_QUANTITIES));
    }
    found
}

/// Whether a text is as short as paragraphs are.
fn is_prose(text: &Text) -> bool {
    text.lines() <= MOST_LINES && text.text.len() <= LONGEST_PARAGRAPH
}

fn sentence(text: &Text, start: usize, end: usize, block: usize, file: &str) -> Sentence {
    let own = text.text.get(start..end).unwrap_or_default().to_owned();
    let mut lines = vec![(0, text.line_at(start))];
    for (at, _) in own.match_indices(' ') {
        let line = text.line_at(start + at + 1);
        if lines.last().is_some_and(|(_, last)| *last != line) {
            lines.push((at + 1, line));
        }
    }
    let quantities = quantities(&own);
    let words = words(&own);
    Sentence { text: own, file: file.to_owned(), lines, block, quantities, words }
}

const ABBREVIATIONS: [&str; 24] = [
    "vs", "e.g", "i.e", "approx", "fig", "eq", "cf", "al", "etc", "no", "avg", "resp", "ca", "incl", "excl",
    "max", "min", "std", "dev", "sec", "tab", "est", "nr", "temp",
];

/// How far the word before a full stop is looked for.
const LONGEST_WORD: usize = 80;

/// Where the sentences of a text begin and end.
fn split(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, character) in text.char_indices() {
        if !".!?".contains(character) {
            continue;
        }
        let end = at + 1;
        let after = text.get(end..).unwrap_or_default();
        let closing: usize =
            after.chars().take_while(|next| "\")'”*".contains(*next)).map(char::len_utf8).sum();
        let behind = &after[closing..];
        let mut before = ending(&text[start..at], LONGEST_WORD).rsplit([' ', '(']);
        let word = before.next().unwrap_or_default().to_lowercase();
        // `14.0 min.` ends a sentence, `min. 3` does not.
        let unit = before.next().is_some_and(|word| word.starts_with(|one: char| one.is_ascii_digit()));
        let short = ABBREVIATIONS.contains(&word.as_str()) && !(unit && word == "min");
        let small = behind.trim_start().starts_with(char::is_lowercase);
        // Notes begin sentences with small letters; abbreviations have few letters.
        let ends = behind.starts_with(' ')
            && !short
            && (!small
                || word.len() > 3
                || unit
                || word.ends_with(|one: char| one.is_ascii_digit() || one == '%'));
        if ends {
            found.push((start, end + closing));
            start = end + closing + (behind.len() - behind.trim_start().len());
        }
    }
    if start < text.len() {
        found.push((start, text.len()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn sentences_end_at_marks_before_capitals() {
        let text = "It took 3.5 s vs. 4 s. Next one! See e.g. Table 2.";
        let found: Vec<&str> = split(text).into_iter().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(found, ["It took 3.5 s vs. 4 s.", "Next one!", "See e.g. Table 2."]);
    }
}
