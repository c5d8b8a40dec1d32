//! Values beyond what is possible: shares above 100 %, rates above a stated peak, more tokens than the limit allows.

use assay_model::Source;

use super::pairs::{Pool, operand};
use super::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::grid::{Grid, words};
use crate::quantity::Quantity;
use crate::{Class, Finding};

/// Metrics that cannot exceed the whole.
const SHARES: [&str; 10] =
    ["accuracy", "acc", "f1", "precision", "recall", "auc", "mfu", "utilization", "utilisation", "auroc"];

/// Checks the tables.
pub fn tables(grids: &[Grid]) -> Vec<Finding> {
    let mut found = Vec::new();
    for grid in grids {
        for column in grid.measures().filter(|column| is_share(&grid.columns[*column].words)) {
            let cells: Vec<_> = grid.rows.iter().filter_map(|row| row.cells.get(column)?.as_ref()).collect();
            let percent = cells.iter().any(|cell| cell.unit.percent);
            let fractions = cells.iter().filter(|cell| cell.value <= 1.0).count() * 2 > cells.len();
            for cell in cells.iter().filter(|cell| cell.low > 1.0 && (percent || fractions)) {
                let header = &grid.columns[column].header;
                let operand = Operand { text: cell.text.clone(), value: cell.value, line: cell.line };
                found.push(above(&grid.file, operand, header, "a share cannot exceed the whole", Vec::new()));
            }
        }
    }
    found
}

fn is_share(words: &[String]) -> bool {
    words.iter().any(|word| SHARES.contains(&word.as_str()))
}

/// Checks a sentence: shares, and the limits that the document states.
pub fn check(sentence: &Sentence, pool: &Pool<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for quantity in &sentence.quantities {
        let before = words(&sentence.words_before(quantity.start).join(" "));
        let near: Vec<String> = before.iter().rev().take(3).cloned().collect();
        let whole =
            quantity.unit.percent || quantity.unit.is_none() && near.first().is_some_and(|word| word == "f1");
        if whole && quantity.low > 1.0 && is_share(&near) && !sentence.mentions("above") {
            let reason = "a share cannot exceed the whole";
            found.push(above(&sentence.file, operand(sentence, quantity), &near[0], reason, Vec::new()));
        }
    }
    found.extend(sentence.quantities.iter().filter_map(|quantity| {
        let name = part_of_whole(sentence, quantity)?;
        let reason = "a part cannot exceed the whole";
        Some(above(&sentence.file, operand(sentence, quantity), name, reason, Vec::new()))
    }));
    found.extend(token_limit(sentence, pool));
    found.extend(peak(sentence, pool));
    found
}

/// What a percentage above 100 is a part of: `106 % of all tokens`, `a hit rate of 104 %`, `idle 128 % of the time`.
fn part_of_whole(sentence: &Sentence, quantity: &Quantity) -> Option<&'static str> {
    if !quantity.unit.percent || quantity.low <= 1.0 || quantity.in_words {
        return None;
    }
    let after = sentence.words_after(quantity.end);
    let behind: Vec<&str> = after.iter().take(3).map(String::as_str).collect();
    match behind.as_slice() {
        ["of", "all" | "them" | "these" | "those", ..] | ["of", "the", "time"] => return Some("a share of"),
        _ => {}
    }
    let before = sentence.words_before(quantity.start);
    let near: Vec<&str> = before.iter().rev().take(5).map(String::as_str).collect();
    let rates = ["hit", "acceptance", "success", "cache", "error", "failure", "miss", "pass", "survival"];
    let at = near.iter().position(|word| *word == "rate")?;
    let spoken = near[..at].iter().all(|word| ["is", "of", "was", "the", "a", "about"].contains(word));
    near.get(at + 1).filter(|word| spoken && rates.contains(word)).map(|_| "a rate of")
}

/// Limits that a document states in one place and that hold in all of it.
#[derive(Debug, Default)]
pub struct StatedLimits<'a> {
    /// The limit on generated tokens, with its line.
    tokens: Option<(f64, u64)>,
    /// Sentences that state a peak.
    peaks: Vec<&'a Sentence>,
}

/// Sentences about peaks that are looked at for every other sentence.
const MOST_PEAKS: usize = 100;

impl StatedLimits<'_> {
    pub fn of(sentences: &[Sentence]) -> StatedLimits<'_> {
        let stated = |other: &&Sentence| {
            other.mentions("peak") && !other.text.contains(" each") && !other.text.contains(" per ")
        };
        let peaks = sentences.iter().filter(stated).take(MOST_PEAKS).collect();
        StatedLimits { tokens: token_limit_of(sentences), peaks }
    }
}

/// The limit on generated tokens that the document states, with its place.
fn token_limit_of(sentences: &[Sentence]) -> Option<(f64, u64)> {
    sentences.iter().find_map(|sentence| {
        let text = sentence.text.to_lowercase();
        let named =
            text.contains("max_tokens") || text.contains("max_new_tokens") || text.contains("new tokens");
        let limited = text.contains("max_") || text.contains("limited to") || text.contains("at most");
        let quantity = sentence.quantities.iter().find(|quantity| {
            let head = text.get(..quantity.start).unwrap_or_default();
            let key =
                head.rfind("max_").or_else(|| head.rfind("limited to")).or_else(|| head.rfind("at most"));
            quantity.is_integer() && key.is_some_and(|at| quantity.start - at < 32)
        })?;
        (named && limited).then(|| (quantity.value, sentence.line_of(quantity)))
    })
}

/// A mean length of answers above the limit.
fn token_limit(sentence: &Sentence, pool: &Pool<'_>) -> Vec<Finding> {
    let Some((most, line)) = pool.limits.tokens else { return Vec::new() };
    let answers = ["answer", "response", "long", "length", "completion", "reply"];
    if !answers.iter().any(|word| sentence.mentions(word)) {
        return Vec::new();
    }
    let long = |quantity: &&Quantity| {
        let near = sentence.words_after(quantity.end);
        let mean = near
            .iter()
            .take(4)
            .any(|word| ["long", "average", "answer", "response"].contains(&word.as_str()));
        quantity.unit.counts("token")
            && !quantity.unit.is_rate()
            && quantity.low > most
            && quantity.value < 50.0 * most
            && mean
    };
    let reason = format!("the limit is {most} tokens");
    let found = sentence.quantities.iter().filter(long).map(|quantity| {
        above(&sentence.file, operand(sentence, quantity), "tokens per answer", &reason, vec![line])
    });
    found.collect()
}

/// The cells of tokens per answer above the limit.
pub fn answers(grids: &[Grid], limits: &StatedLimits<'_>) -> Vec<Finding> {
    let Some((most, line)) = limits.tokens else { return Vec::new() };
    let mut found = Vec::new();
    for grid in grids {
        for column in grid.measures() {
            let names = &grid.columns[column].words;
            let has = |word: &str| names.iter().any(|own| own == word);
            if !(has("token") && (has("answer") || has("response") || has("completion"))) {
                continue;
            }
            let cells: Vec<_> = grid.rows.iter().filter_map(|row| row.cells.get(column)?.as_ref()).collect();
            // Where most are above the limit, they are of many answers.
            let header = &grid.columns[column].header;
            let of_one = header.contains(['/'])
                || ["per", "mean", "average", "avg"].iter().any(|word| header.contains(word));
            if !of_one && 2 * cells.iter().filter(|cell| cell.low > most).count() > cells.len() {
                continue;
            }
            for cell in cells {
                if cell.low > most {
                    let operand = Operand { text: cell.text.clone(), value: cell.value, line: cell.line };
                    let reason = format!("the limit is {most} tokens");
                    found.push(above(&grid.file, operand, &grid.columns[column].header, &reason, vec![line]));
                }
            }
        }
    }
    found
}

/// A rate above the peak that the same paragraph states.
fn peak(sentence: &Sentence, pool: &Pool<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for other in &pool.limits.peaks {
        for top in other.quantities.iter().filter(|top| top.unit.is_rate() && !top.unit.is_count()) {
            let before = other.words_before(top.start);
            if !before.iter().rev().take(5).any(|word| word == "peak") {
                continue;
            }
            let own = other.text == sentence.text;
            let over = sentence.quantities.iter().filter(|one| {
                !(own && one.start == top.start)
                    && one.unit.same_measure(&top.unit)
                    && one.unit.same_things(&top.unit)
                    && is_in_bits(one) == is_in_bits(top)
                    && one.low > top.high * 1.01
            });
            let reason = format!("the stated peak is {}", top.text);
            found.extend(over.map(|one| {
                above(&sentence.file, operand(sentence, one), "rate", &reason, vec![other.line_of(top)])
            }));
        }
    }
    found
}

/// Links are rated in bits, what runs over them is measured in bytes.
fn is_in_bits(quantity: &Quantity) -> bool {
    quantity.text.to_lowercase().contains("bit")
}

fn above(file: &str, operand: Operand, name: &str, reason: &str, lines: Vec<u64>) -> Finding {
    let mut sources = vec![Source::new(file, operand.line)];
    sources.extend(lines.into_iter().map(|line| Source::new(file, line)));
    Finding {
        class: Class::Bound,
        level: Level::Doubtful,
        summary: format!("{name} {} is impossible: {reason}", operand.text),
        arithmetic: Vec::new(),
        sources,
        operands: vec![operand],
        advice: "check the number and its unit".to_owned(),
    }
}
