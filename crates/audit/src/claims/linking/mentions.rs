//! The words and numbers around a claim, and which rows and columns of a table they name.

use std::collections::HashMap;

use crate::claims::naming::counts_devices;
use crate::claims::sentence::Sentence;
use crate::grid::{ColumnKind, Grid, words};
use crate::quantity::count_word;
use crate::unit::is_device;

/// How much a word weighs by where it stands: in the clause of the claim, in its sentence, in the sentences before.
const PHRASE: f64 = 1.5;
const CLAUSE: f64 = 1.0;
const BEFORE: f64 = 0.8;
const BEHIND: f64 = 0.7;
const EARLIER: [f64; 3] = [0.45, 0.3, 0.2];
const HEADING: f64 = 0.25;

/// The words and the numbers around a claim.
pub struct Mentions {
    words: HashMap<String, f64>,
    /// The words right behind the number, which say what is counted or compared: `more frames`, `of its parameters`.
    phrase: HashMap<String, f64>,
    /// Values of plain counts, with the weight of their place.
    numbers: Vec<(f64, f64)>,
}

/// How clearly a claim names each row and each column of a table; 1 is a word that nothing else in the table has.
#[derive(Debug, Clone, Default)]
pub struct Affinity {
    pub rows: Vec<f64>,
    pub columns: Vec<f64>,
}

/// The beginning of a word, which its other forms share: `quantized` and `quantization`.
fn stem(word: &str) -> String {
    let plain = word.chars().all(char::is_alphabetic);
    if plain && word.chars().count() > 5 { word.chars().take(5).collect() } else { word.to_owned() }
}

/// Other usual names of what tables have.
const SYNONYMS: [(&str, &[&str]); 25] = [
    ("before", &["old", "previous", "baseline"]),
    ("previously", &["old", "before", "baseline"]),
    ("old", &["before", "previous"]),
    ("now", &["new", "after"]),
    ("whole", &["total", "sum"]),
    ("entire", &["total", "sum"]),
    ("new", &["after"]),
    ("wait", &["waiting", "queue"]),
    ("error", &["cer", "wer"]),
    ("median", &["p50"]),
    ("p50", &["median"]),
    ("tail", &["p99", "p95"]),
    ("percentile", &["p99", "p95"]),
    ("average", &["mean", "avg"]),
    ("mean", &["average", "avg"]),
    ("accuracy", &["acc", "top-1"]),
    ("memory", &["ram", "rss", "vram", "peak"]),
    ("throughput", &["rate", "qp", "speed"]),
    ("request", &["req", "qp", "rp"]),
    ("step", &["iteration", "iter"]),
    ("baseline", &["none", "default", "base", "original"]),
    ("cost", &["price"]),
    ("price", &["cost"]),
    ("our", &["ours"]),
    ("thread", &["core"]),
];

impl Mentions {
    /// The mentions around a position of a sentence, with the sentences before it in its paragraph and its heading.
    pub fn of(sentence: &Sentence, (at, end): (usize, usize), around: &[Sentence]) -> Mentions {
        let mut mentions = Mentions { words: HashMap::new(), phrase: HashMap::new(), numbers: Vec::new() };
        let behind = sentence.words_after(end);
        let stop = behind
            .iter()
            .position(|word| ["than", "compared", "with", "while", "and"].contains(&word.as_str()));
        let behind = behind.get(..stop.unwrap_or(behind.len()).min(4)).unwrap_or_default().join(" ");
        for word in words(&behind) {
            for (_, others) in SYNONYMS.iter().filter(|(name, _)| *name == word) {
                mentions.phrase.extend(others.iter().map(|other| (stem(other), 0.7 * PHRASE)));
            }
            mentions.phrase.insert(stem(&word), PHRASE);
        }
        let clauses = sentence.clauses_back(at);
        for (back, clause) in clauses.iter().enumerate() {
            mentions.add(clause, if back == 0 { CLAUSE } else { BEFORE });
        }
        mentions.add(sentence, BEHIND);
        let own = around.iter().position(|one| one.block == sentence.block && one.text == sentence.text);
        let before = around.get(..own.unwrap_or(0)).unwrap_or_default();
        let same = before.iter().rev().take_while(|one| one.block == sentence.block);
        for (earlier, weight) in same.zip(EARLIER) {
            mentions.add(earlier, weight);
        }
        if let Some(heading) = before.iter().rev().find(|one| one.heading) {
            mentions.add(heading, HEADING);
        }
        mentions
    }

    fn add(&mut self, text: &Sentence, weight: f64) {
        for word in &text.words {
            self.note(stem(word), weight);
            if let Some(count) = count_word(word) {
                self.note(count.to_string(), weight);
                self.numbers.push((count, weight));
            }
            for (_, others) in SYNONYMS.iter().filter(|(name, _)| name == word) {
                others.iter().for_each(|other| self.note(stem(other), 0.7 * weight));
            }
        }
        let lower = text.text.to_lowercase();
        if lower.contains(" our ") || lower.starts_with("our ") || lower.contains(" ours") {
            self.note("our".to_owned(), weight);
        }
        if lower.contains("single") {
            self.numbers.push((1.0, weight));
        }
        let counts = text.quantities.iter().filter(|quantity| quantity.unit.is_count() && !quantity.in_words);
        self.numbers.extend(counts.map(|quantity| (quantity.value, weight)));
        // `a 512-token prompt`, `8-GPU`, `k=5`.
        for token in text.text.split_whitespace() {
            let token = token.trim_matches(|one: char| !one.is_alphanumeric());
            let glued =
                [token.split_once('-').map(|(head, _)| head), token.split_once('=').map(|(_, tail)| tail)];
            for number in glued.into_iter().flatten() {
                self.numbers.extend(number.replace(',', "").parse::<f64>().ok().map(|value| (value, weight)));
            }
        }
    }

    fn note(&mut self, word: String, weight: f64) {
        let known = self.words.entry(word).or_insert(0.0);
        *known = known.max(weight);
    }

    fn weight(&self, word: &str) -> f64 {
        self.words.get(&stem(word)).copied().unwrap_or(0.0)
    }

    fn number(&self, value: f64) -> f64 {
        self.numbers.iter().filter(|(one, _)| *one == value).map(|(_, weight)| *weight).fold(0.0, f64::max)
    }

    /// How clearly the rows and the columns of a table are named.
    pub fn affinity(&self, grid: &Grid) -> Affinity {
        let labels: Vec<&[String]> = grid.rows.iter().map(|row| row.words.as_slice()).collect();
        let mut rows = self.named(&labels, &self.words);
        for column in grid.settings() {
            self.add_settings(grid, column, &mut rows);
        }
        let headers: Vec<Vec<String>> = grid
            .columns
            .iter()
            .map(|column| if column.kind == ColumnKind::Label { Vec::new() } else { column.words.clone() })
            .collect();
        let headers: Vec<&[String]> = headers.iter().map(Vec::as_slice).collect();
        let plain = self.named(&headers, &self.words);
        let phrase = self.named(&headers, &self.phrase);
        let columns = plain.iter().zip(&phrase).map(|(one, other)| one.max(*other)).collect();
        Affinity { rows, columns }
    }

    /// How much of what distinguishes each of some names is mentioned.
    fn named(&self, names: &[&[String]], mentioned: &HashMap<String, f64>) -> Vec<f64> {
        let mut counts: HashMap<String, f64> = HashMap::new();
        for name in names {
            let mut stems: Vec<String> = name.iter().map(|word| stem(word)).collect();
            stems.sort_unstable();
            stems.dedup();
            stems.into_iter().for_each(|stem| *counts.entry(stem).or_insert(0.0) += 1.0);
        }
        let all = names.len() as f64;
        let rarity = |word: &String| {
            let count = counts.get(&stem(word)).copied().unwrap_or(1.0);
            if count >= all { 0.0 } else { (all / count).ln() / all.max(2.0).ln() }
        };
        let score = |name: &&[String]| {
            let mut best: f64 = 0.0;
            let mut rest = 0.0;
            let mut unmentioned = 0.0;
            for word in name.iter() {
                let (rare, weight) = (rarity(word), mentioned.get(&stem(word)).copied().unwrap_or(0.0));
                // A single letter or digit is mentioned by chance.
                let short = word.chars().count() == 1 && !word.chars().all(|one| one.is_ascii_digit());
                let gain = rare * weight * if short { 0.3 } else { 1.0 };
                rest += gain;
                best = best.max(gain);
                unmentioned += if weight == 0.0 { rare } else { 0.0 };
            }
            let first = best + 0.3 * (rest - best);
            first - 0.1 * f64::min(unmentioned, 2.0) * f64::min(first, 1.0)
        };
        names.iter().map(score).collect()
    }

    fn add_settings(&self, grid: &Grid, column: usize, rows: &mut [f64]) {
        let own = grid.columns[column].words.iter().map(|word| self.weight(word));
        let others = self.words.iter().filter(|(word, _)| counts_devices(grid, column) && is_device(word));
        let noun = own.chain(others.map(|(_, weight)| *weight)).fold(0.0, f64::max);
        for (row, score) in rows.iter_mut().enumerate() {
            let Some(cell) = grid.cell(row, column) else { continue };
            let weight = self.number(cell.value);
            // A small number without its noun counts anything.
            let bare = if cell.value.abs() < 10.0 { 0.35 } else { 0.7 };
            *score += weight * if noun > 0.0 { 1.0 } else { bare };
        }
    }
}

/// The words that a caption or a heading shares with a claim.
pub fn shared_words(mentions: &Mentions, caption: &str) -> f64 {
    words(caption).iter().map(|word| mentions.weight(word)).fold(0.0, f64::max)
}
