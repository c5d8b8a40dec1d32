//! Sentences of a write-up that state numbers or compare things.

use assay_model::{Span, Statement};

use super::markup::plain;
use super::quantities::quantities;

/// How much of a paragraph is read; more than that is not prose.
const LONGEST_PARAGRAPH: usize = 64 * 1024;

/// The sentences of a paragraph that state numbers or compare things. The paragraph comes as lines with their numbers.
pub fn statements(paragraph: &[(u64, String)], headings: &[String], file: &str) -> Vec<Statement> {
    if !paragraph.iter().any(|(_, text)| worth_reading(text)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for block in blocks(paragraph) {
        for (first, last, sentence) in block.sentences() {
            let text = plain(strip_list_mark(sentence));
            if !worth_reading(&text) {
                continue;
            }
            let quantities = quantities(&text);
            if quantities.is_empty() && !is_comparison(&text) && !is_explanation(&text) {
                continue;
            }
            found.push(Statement {
                text,
                span: Span::new(file.to_owned(), first, last),
                headings: headings.to_vec(),
                quantities,
            });
        }
    }
    found
}

/// Whether a text may state numbers or compare things. Cheap enough to be asked about every line of a long document.
pub fn worth_reading(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) || is_comparison(text) || is_explanation(text)
}

/// Whether a text explains how numbers came about: what was cached, queued, compiled, profiled, predicted, repeated, or
/// what failed. Such a sentence can take the doubt off a number.
pub fn is_explanation(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_alphabetic()).any(|word| matches(word, explaining))
}

/// Beginnings of words that explain, and whole words that do, for each first letter.
fn explaining(letter: u8) -> Words {
    match letter {
        b'a' => (&["abort"], &[]),
        b'b' => (&[], &["bound", "bounds"]),
        b'c' => (&["cache", "compil", "crash", "cancel", "chance", "compared"], &[]),
        b'd' => (&["diverg"], &[]),
        b'e' => (&["estimat", "exclud"], &[]),
        b'f' => (&["fail"], &[]),
        b'g' => (&["gate", "guess"], &[]),
        b'm' => (&["measure", "median"], &["mean", "means"]),
        b'o' => (&["outlier"], &[]),
        b'p' => (&["profil", "predict"], &[]),
        b'q' => (&["queue", "queuing"], &[]),
        b'r' => (&["repeat"], &[]),
        b't' => (&["threshold"], &[]),
        b'w' => (&["warmup", "warm"], &[]),
        _ => (&[], &[]),
    }
}

/// Beginnings of words, and whole words.
type Words = (&'static [&'static str], &'static [&'static str]);

/// Whether a text compares things. Works on bytes, because it is asked about every line of a long document.
pub fn is_comparison(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_alphabetic()).any(|word| matches(word, comparing))
}

/// Beginnings of words that compare, and whole words that do, for each first letter.
fn comparing(letter: u8) -> Words {
    match letter {
        b'b' => (&[], &["best", "better", "beat", "beats"]),
        b'c' => (&["consisten", "comparab", "converge", "constant"], &[]),
        b'd' => (
            &["differenc", "degrad", "decreas", "diverge"],
            &["differ", "differs", "differed", "drops", "dropped"],
        ),
        b'e' => (&["equal"], &[]),
        b'f' => (&["faster", "fastest", "fewer"], &[]),
        b'g' => (&["greater", "greatest"], &[]),
        b'h' => (&["higher", "highest"], &[]),
        b'i' => (&["improv", "increas", "identical", "inferior"], &[]),
        b'l' => (&["longer", "longest", "lower", "lowest", "larger", "largest", "linear"], &[]),
        b'm' => (&[], &["marginal", "marginally"]),
        b'n' => (&["negligib"], &[]),
        b'o' => (&["outperform", "overfit", "optimal"], &[]),
        b'p' => (&["proportional"], &[]),
        b'r' => (&["reduc"], &[]),
        b's' => (
            &[
                "slower",
                "slowest",
                "significan",
                "similar",
                "shorter",
                "shortest",
                "smaller",
                "smallest",
                "superior",
                "speedup",
            ],
            &["same", "scale", "scales", "scaled", "scaling"],
        ),
        b't' => (&[], &["trend"]),
        b'u' => (&["unchanged", "underfit"], &[]),
        b'w' => (&[], &["worse", "worst"]),
        _ => (&[], &[]),
    }
}

fn matches(word: &[u8], words: fn(u8) -> Words) -> bool {
    let Some(first) = word.first().filter(|_| word.len() >= 4) else { return false };
    let (beginnings, wholes) = words(first.to_ascii_lowercase());
    let begins = |beginning: &&str| {
        word.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning.as_bytes()))
    };
    beginnings.iter().any(begins) || wholes.iter().any(|whole| whole.as_bytes().eq_ignore_ascii_case(word))
}

/// Lines that belong together: a paragraph, or one item of a list.
struct Block {
    text: String,
    /// Where each line begins in the text, and its number.
    starts: Vec<(usize, u64)>,
}

impl Block {
    fn sentences(&self) -> Vec<(u64, u64, &str)> {
        let line =
            |at: usize| self.starts.iter().rev().find(|(start, _)| *start <= at).map_or(0, |(_, line)| *line);
        let mut found = Vec::new();
        let mut from = 0;
        for sentence in split(&self.text) {
            let Some(at) = self.text.get(from..).and_then(|rest| rest.find(sentence)) else { continue };
            let start = from + at;
            from = start + sentence.len();
            found.push((line(start), line(from.saturating_sub(1)), sentence));
        }
        found
    }
}

fn blocks(paragraph: &[(u64, String)]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (number, line) in paragraph {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let begins = strip_list_mark(line).len() != line.len();
        match blocks.last_mut().filter(|block| !begins && block.text.len() + line.len() < LONGEST_PARAGRAPH) {
            Some(block) => {
                block.text.push(' ');
                block.starts.push((block.text.len(), *number));
                block.text.push_str(line);
            }
            None => blocks.push(Block { text: line.to_owned(), starts: vec![(0, *number)] }),
        }
    }
    blocks
}

/// The text without the mark of a list item, a quotation or a heading.
fn strip_list_mark(text: &str) -> &str {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match text.as_bytes().first() {
        Some(b'-' | b'*' | b'+' | b'>' | b'#') => text.trim_start_matches(['-', '*', '+', '>', '#']),
        Some(_) if (1..=3).contains(&digits) => {
            text.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')'])).unwrap_or(text)
        }
        _ => text,
    };
    // `**bold**` and `-5` are not marks: a mark has a space behind it.
    if rest.len() < text.len() && rest.starts_with(' ') { rest.trim_start() } else { text }
}

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 12] =
    ["vs", "e.g", "i.e", "approx", "fig", "eq", "cf", "al", "etc", "no", "avg", "resp"];

/// The sentences of a text.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if !matches!(character, '.' | '!' | '?') {
            continue;
        }
        // Closing marks belong to the sentence that they close.
        let mut end = at + 1;
        while let Some((closing, _)) =
            characters.next_if(|(_, next)| matches!(next, '*' | '_' | '`' | '"' | ')' | '\'' | '”'))
        {
            end =
                closing + text.get(closing..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        }
        let after = text.get(end..).unwrap_or_default();
        let ends = after.starts_with(char::is_whitespace)
            && !after.trim_start().starts_with(char::is_lowercase)
            && !is_abbreviation(text.get(start..at).unwrap_or_default());
        if ends || after.is_empty() {
            found.extend(text.get(start..end).map(str::trim));
            start = end;
        }
    }
    found.extend(text.get(start..).map(str::trim));
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(|character: char| character.is_whitespace() || character == '(')
        .next()
        .unwrap_or_default();
    let word = word.to_lowercase();
    // A number and a full stop at the beginning is the mark of a list item.
    let is_mark = word.len() == before.trim().len()
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_digit());
    is_mark || ABBREVIATIONS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paragraph(lines: &[&str]) -> Vec<(u64, String)> {
        lines.iter().enumerate().map(|(index, line)| (index as u64 + 5, (*line).to_owned())).collect()
    }

    #[test]
    fn sentences_know_their_lines() {
        let lines = paragraph(&["We ran it. The larger one", "is 2.5x faster. Nothing else", "to say here."]);
        let found = statements(&lines, &["Results".to_owned()], "a.md");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, "The larger one is 2.5x faster.");
        assert_eq!((found[0].span.first, found[0].span.last), (5, 6));
        assert_eq!(found[0].headings, ["Results"]);
        assert_eq!(found[0].quantities.len(), 1);
    }

    #[test]
    fn full_stops_inside_sentences() {
        assert_eq!(
            split("It took 3.5 s vs. 4 s. Next one! See e.g. Table 2."),
            ["It took 3.5 s vs. 4 s.", "Next one!", "See e.g. Table 2."]
        );
        assert_eq!(split("**Done (all of it.)** Then more"), ["**Done (all of it.)**", "Then more"]);
        assert_eq!(split("Version 2.6.0 was used"), ["Version 2.6.0 was used"]);
    }

    #[test]
    fn items_of_a_list_are_apart() {
        let found = statements(&paragraph(&["- first took 3 s", "- second took 4 s"]), &[], "a.md");
        assert_eq!(
            found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(),
            ["first took 3 s", "second took 4 s"]
        );
        assert_eq!(found[1].span.first, 6);
    }

    #[test]
    fn words_that_compare() {
        for text in [
            "It is faster.",
            "The best one",
            "Quality was similar",
            "it scales well",
            "OUTPERFORMED",
            "no difference",
            "proportional to",
        ] {
            assert!(is_comparison(text), "{text}");
        }
        for text in ["We ran the job", "A fast car", "the scalar", "bestow", "samedi", ""] {
            assert!(!is_comparison(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_lines_are_read_without_panic(lines in proptest::collection::vec(".{0,60}", 0..5)) {
            let lines: Vec<(u64, String)> = lines.into_iter().map(|line| (1, line)).collect();
            let _ = statements(&lines, &[], "f");
        }

        #[test]
        fn splitting_loses_nothing_but_spaces(text in "[A-Za-z0-9 .!?*)]{0,80}") {
            let kept: String = split(&text).concat().chars().filter(|character| *character != ' ').collect();
            let whole: String = text.chars().filter(|character| *character != ' ').collect();
            prop_assert_eq!(kept, whole);
        }
    }
}
