//! Strangers' text made safe to print, and lines that fit their width.

use assay_model::untrusted::is_harmful;
use unicode_width::UnicodeWidthStr;

use crate::table::{Align, Cell, Table, Tone};

/// A text without anything that could move the cursor, change colors or turn the direction of writing. What logs
/// and write-ups say is shown, never obeyed.
pub fn clean(text: &str) -> String {
    text.chars()
        // Variation selectors change the width of the letter before them, which differs between terminals.
        .filter(|letter| !matches!(letter, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'))
        .map(|letter| if is_harmful(letter) || letter.is_ascii_control() { ' ' } else { letter })
        .collect()
}

/// Pieces of a sentence, each with whether it stood between backticks. A backtick without a partner is text.
pub fn code_pieces(text: &str) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((code, after)) = behind.split_once('`') else { break };
        pieces.extend([(false, before), (true, code)]);
        rest = after;
    }
    pieces.push((false, rest));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

/// A name for links: letters, digits and hyphens, never empty.
pub fn identifier(text: &str) -> String {
    let letters: String =
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    format!("r-{}", letters.trim_matches('-').to_ascii_lowercase())
}

/// A word of a shell command, in quotes where it needs them.
pub fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._/-+=:@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The text, cut with an ellipsis where it is wider than it may be.
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = take(text, width.saturating_sub(1)).0.trim_end().to_owned();
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// The text, cut in its middle where it is wider than it may be: names of cells differ at their ends.
pub fn squeeze(text: &str, width: usize) -> String {
    if text.width() <= width || width < 8 {
        return shorten(text, width);
    }
    let head = take(text, width * 2 / 5).0.trim_end();
    let room = width - head.width() - 1;
    let tail = text.char_indices().map(|(start, _)| text.split_at(start).1).find(|tail| tail.width() <= room);
    format!("{head}…{}", tail.unwrap_or_default().trim_start())
}

/// Two texts that differ in one number as one text with the range of both: `up to 68–73 % of the time`. None where they
/// differ in anything else.
pub fn joined(one: &str, other: &str) -> Option<String> {
    // A change has a sign, and which row it belongs to matters.
    let ends = |word: &str| -> Option<(f64, f64)> {
        if word.starts_with(['+', '-']) {
            return None;
        }
        let (low, high) = word.split_once('–').unwrap_or((word, word));
        Some((low.parse().ok()?, high.parse().ok()?))
    };
    let (words, others): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    if words.len() != others.len() {
        return None;
    }
    let mut merged = Vec::with_capacity(words.len());
    let mut ranges = 0;
    for (word, other) in words.into_iter().zip(others) {
        if word == other {
            merged.push(word.to_owned());
            continue;
        }
        let (ours, theirs) = (ends(word)?, ends(other)?);
        let (low, high) = (ours.0.min(theirs.0), ours.1.max(theirs.1));
        merged.push(if low < high { format!("{low}–{high}") } else { word.to_owned() });
        ranges += 1;
    }
    (ranges <= 1).then(|| merged.join(" "))
}

/// Labels without the parts that all of them share: what is left distinguishes them.
pub fn distinguishing(labels: &mut [&mut String]) {
    let shared = |part: &str, labels: &[&mut String]| {
        labels.iter().all(|label| label.split(',').any(|other| other.trim() == part.trim()))
    };
    if labels.len() < 2 {
        return;
    }
    let shortened: Vec<String> = labels
        .iter()
        .map(|label| {
            let own: Vec<&str> =
                label.split(',').filter(|part| !shared(part, labels)).map(str::trim).collect();
            if own.is_empty() { (*label).clone() } else { own.join(", ") }
        })
        .collect();
    for (label, short) in labels.iter_mut().zip(shortened) {
        **label = short;
    }
}

/// The longest beginning that fits the width, and the rest. The width of a text is not the sum of the widths of its
/// letters, so it is measured as a whole.
fn take(text: &str, width: usize) -> (&str, &str) {
    let mut fits = 0;
    for (index, letter) in text.char_indices() {
        let end = index + letter.len_utf8();
        if text.split_at(end).0.width() > width {
            break;
        }
        fits = end;
    }
    text.split_at(fits)
}

/// The longest beginning of a word too long for a line; a word held together is first broken where it was joined.
fn break_word(word: &str, width: usize) -> (&str, &str) {
    let (head, tail) = take(word, width);
    // The space at the break belongs to neither line.
    if let Some(tail) = tail.strip_prefix(HOLDING) {
        return (head, tail);
    }
    match head.rsplit_once(HOLDING) {
        Some((before, _)) if !before.is_empty() => (before, word.split_at(before.len() + HOLDING.len()).1),
        _ => (head, tail),
    }
}

/// The text with spaces at which no line is broken: a number stays with its unit.
pub fn together(text: &str) -> String {
    text.replace(' ', HOLDING)
}

/// A space at which no line is broken.
const HOLDING: &str = "\u{a0}";

/// The pieces as lines of words, none wider than the width; a word that is too long is broken.
pub fn wrap(pieces: &[Cell], width: usize) -> Vec<Vec<Cell>> {
    let width = width.max(4);
    let mut lines: Vec<Vec<Cell>> = vec![Vec::new()];
    let mut used = 0;
    for piece in pieces {
        for word in piece.text.split(' ').filter(|word| !word.is_empty()) {
            let mut rest = word;
            // A word that was broken at its end has no rest.
            while !rest.is_empty() {
                let gap = usize::from(used > 0);
                if used + gap + rest.width() <= width {
                    push_word(&mut lines, piece.tone, rest);
                    used += gap + rest.width();
                    break;
                }
                if used == 0 {
                    let (head, tail) = break_word(rest, width);
                    if head.is_empty() {
                        // A single letter wider than the line cannot be broken.
                        push_word(&mut lines, piece.tone, rest);
                        break;
                    }
                    push_word(&mut lines, piece.tone, head);
                    rest = tail;
                }
                lines.push(Vec::new());
                used = 0;
            }
        }
    }
    lines
}

/// Adds a word to the last line; words of one tone become one piece.
fn push_word(lines: &mut [Vec<Cell>], tone: Tone, word: &str) {
    let Some(line) = lines.last_mut() else { return };
    let word = word.replace(HOLDING, " ");
    match line.last_mut() {
        Some(last) if last.tone == tone => {
            last.text.push(' ');
            last.text.push_str(&word);
        }
        _ => line.push(Cell::toned(word, tone)),
    }
}

/// The table with its columns of words narrowed, and their cells on several lines, so that it fits the width.
pub fn fit(table: &Table, width: usize) -> Table {
    let natural: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = table.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
            cells.fold(column.name_width(), usize::max)
        })
        .collect();
    let narrowed = narrow(table, natural, width);
    let mut fitted = Table { rows: Vec::new(), ..table.clone() };
    for (column, width) in fitted.columns.iter_mut().zip(&narrowed) {
        let lines: Vec<String> = column.name.split('\n').map(|line| shorten(line, *width)).collect();
        column.name = lines.join("\n");
    }
    for row in &table.rows {
        fitted.rows.extend(split(row, &narrowed));
    }
    fitted
}

/// Columns of words are not made narrower than this.
const LEAST: usize = 8;

/// Whether a table can be narrowed to a width; its numbers cannot, so breaking its words would be of no use.
pub(crate) fn can_fit(table: &Table, natural: &[usize], width: usize) -> bool {
    let least = natural.iter().zip(&table.columns).map(|(natural, column)| match column.align {
        Align::Left => (*natural).min(LEAST) + 2,
        Align::Right => natural + 2,
    });
    least.sum::<usize>() <= width
}

/// Column widths that fit: the widest column of words gives way first.
fn narrow(table: &Table, mut widths: Vec<usize>, width: usize) -> Vec<usize> {
    loop {
        let total: usize = widths.iter().map(|width| width + 2).sum();
        let Some(excess) = total.checked_sub(width).filter(|excess| *excess > 0) else { return widths };
        let words = || {
            widths
                .iter()
                .zip(&table.columns)
                .enumerate()
                .filter(|(_, (width, column))| column.align == Align::Left && **width > LEAST)
                .map(|(index, (width, _))| (*width, index))
        };
        let Some((widest, index)) = words().max_by_key(|(width, index)| (*width, std::cmp::Reverse(*index)))
        else {
            return widths;
        };
        let next =
            words().filter(|(_, other)| *other != index).map(|(width, _)| width).max().unwrap_or(LEAST);
        // Down to just below the next widest, so that two wide columns share what is missing.
        let target = next.saturating_sub(1).max(LEAST).max(widest.saturating_sub(excess)).min(widest - 1);
        if let Some(width) = widths.get_mut(index) {
            *width = target;
        }
    }
}

/// One row as several, each cell wrapped to its column.
fn split(row: &[Cell], widths: &[usize]) -> Vec<Vec<Cell>> {
    let columns: Vec<Vec<Cell>> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            if cell.text.width() <= *width {
                return vec![Cell::toned(cell.text.replace(HOLDING, " "), cell.tone)];
            }
            let lines = wrap(std::slice::from_ref(cell), *width);
            lines.into_iter().map(|line| line.into_iter().next().unwrap_or_default()).collect()
        })
        .collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(1);
    (0..height)
        .map(|line| columns.iter().map(|cells| cells.get(line).cloned().unwrap_or_default()).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Column;
    use crate::text::{plain, render};

    #[test]
    fn texts_that_differ_in_one_number_become_one() {
        let text = |share: u32| format!("others used up to {share} % of the time");
        let both = joined(&text(69), &text(73)).unwrap();
        assert_eq!(both, "others used up to 69–73 % of the time");
        assert_eq!(joined(&both, &text(68)).unwrap(), "others used up to 68–73 % of the time");
        assert_eq!(joined(&both, &text(70)).unwrap(), both);
        assert_eq!(joined("2 of 3 runs", "3 of 4 runs"), None, "which of them go together would be lost");
        assert_eq!(joined("a run failed", "a run ended"), None);
        assert_eq!(joined("drift: +3.9 %", "drift: +7.6 %"), None);
    }

    #[test]
    fn words_are_written_for_people_and_shells() {
        assert_eq!(quoted("records/tour"), "records/tour");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(code_pieces("a `b` c` d"), [(false, "a "), (true, "b"), (false, " c` d")]);
    }

    #[test]
    fn long_texts_are_cut_where_they_tell_least() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        let mut labels = [
            "mock = slots=4,ttft=20ms, streams = 1".to_owned(),
            "mock = slots=9,ttft=20ms, streams = 1".to_owned(),
        ];
        distinguishing(&mut labels.iter_mut().collect::<Vec<_>>());
        assert_eq!(labels, ["mock = slots=4", "mock = slots=9"]);
        assert_eq!(squeeze("abcdefghijklmnop", 10), "abcd…lmnop");
        assert_eq!(clean("a\u{1b}[31mb\u{202e}"), "a [31mb ");
    }

    #[test]
    fn wide_columns_of_words_give_way() {
        let table = Table {
            columns: vec![Column::right("n"), Column::left("words"), Column::left("more")],
            rows: vec![vec![
                Cell::new("1"),
                Cell::new("one two three four five"),
                Cell::new("six seven eight nine ten eleven"),
            ]],
            ..Table::default()
        };
        let text = render(&fit(&table, 34), &plain);
        assert!(text.lines().all(|line| line.width() <= 34), "{text}");
        assert!(text.contains("one two three"), "{text}");
        assert_eq!(fit(&table, 80), table);
    }

    proptest! {
        /// Letters of every width that adds up; scripts whose letters join are as wide as their terminal makes them.
        #[test]
        fn lines_keep_every_word_and_fit(texts in prop::collection::vec("[ -~à-ü⺀-⻳\u{a0}\u{b}]{0,60}", 0..4), width in 4usize..50) {
            let pieces: Vec<Cell> = texts.iter().map(|text| Cell::new(clean(text))).collect();
            let lines = wrap(&pieces, width);
            for line in &lines {
                let used: usize = line.iter().map(|piece| piece.text.width()).sum::<usize>() + line.len().saturating_sub(1);
                prop_assert!(used <= width);
            }
            let letters = |cells: Vec<&Cell>| -> String {
                cells.iter().flat_map(|cell| cell.text.chars()).filter(|letter| !matches!(letter, ' ' | '\u{a0}')).collect()
            };
            prop_assert_eq!(letters(lines.iter().flatten().collect()), letters(pieces.iter().collect()));
        }
    }
}
