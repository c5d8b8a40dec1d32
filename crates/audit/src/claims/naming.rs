//! Which rows and columns of a table a sentence names.

use super::sentence::Sentence;
use crate::grid::Grid;
use crate::quantity::count_word;
use crate::unit::is_device;

/// Rows that are looked for in sentences; longer tables are data, not results.
const MOST_ROWS: usize = 200;

/// The rows of a table that a sentence names, by a word of their label that no other row has or by a setting.
pub fn named_rows(sentence: &Sentence, grid: &Grid) -> Vec<usize> {
    if grid.rows.len() > MOST_ROWS {
        return Vec::new();
    }
    let mut named: Vec<usize> = (0..grid.rows.len())
        .filter(|row| by_label(sentence, grid, *row) || by_setting(sentence, grid, *row))
        .collect();
    // Several settings together name one row: `Rust with 16 threads`.
    if named.len() > 2
        && grid.settings().next().is_some()
        && grid.rows.iter().any(|row| !row.label.is_empty())
    {
        let both: Vec<usize> = named
            .iter()
            .copied()
            .filter(|row| by_label(sentence, grid, *row) && by_setting(sentence, grid, *row))
            .collect();
        if !both.is_empty() {
            named = both;
        }
    }
    if named.is_empty() { by_shared_word(sentence, grid) } else { named }
}

/// The rows that the number at a position is about: those that its clause names, else those of the nearest clause
/// before it, else those of the sentences before where this one goes on about them (`It finishes in 1.02 hours`).
pub fn subject_rows(sentence: &Sentence, context: &Sentence, at: usize, grid: &Grid) -> Vec<usize> {
    for (back, clause) in sentence.clauses_back(at).iter().enumerate() {
        let rows = named_rows(clause, grid);
        if !rows.is_empty() {
            // A clause before is about what it names first.
            return if back == 0 { rows } else { first_named(clause, grid, rows) };
        }
    }
    let first = sentence.text.split_whitespace().next().unwrap_or_default();
    let goes_on = ["It", "This", "That", "They", "Its", "Here"].contains(&first);
    if goes_on { first_named(context, grid, named_rows(context, grid)) } else { Vec::new() }
}

/// The row whose label a text mentions first; all of them where labels do not say.
fn first_named(sentence: &Sentence, grid: &Grid, rows: Vec<usize>) -> Vec<usize> {
    let place = |row: &usize| {
        let words = &grid.rows[*row].words;
        sentence.words.iter().position(|word| words.contains(word))
    };
    let places: Option<Vec<usize>> = rows.iter().map(place).collect();
    let Some(places) = places else { return rows };
    let least = places.iter().min().copied();
    let first: Vec<usize> =
        rows.iter().zip(&places).filter(|(_, place)| Some(**place) == least).map(|(row, _)| *row).collect();
    first
}

/// The rows that share a word of their labels which the sentence has and other rows have not: `on code`, where two
/// rows are about code.
fn by_shared_word(sentence: &Sentence, grid: &Grid) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    for word in
        grid.rows.iter().flat_map(|row| &row.words).filter(|word| word.len() > 2 && sentence.mentions(word))
    {
        let rows: Vec<usize> =
            (0..grid.rows.len()).filter(|row| grid.rows[*row].words.contains(word)).collect();
        if rows.len() < grid.rows.len() && (best.is_empty() || rows.len() < best.len()) {
            best = rows;
        }
    }
    best
}

fn by_label(sentence: &Sentence, grid: &Grid, row: usize) -> bool {
    let own = &grid.rows[row].words;
    if own.is_empty() {
        return false;
    }
    let shared = |word: &String| {
        grid.rows.iter().enumerate().any(|(other, found)| other != row && found.words.contains(word))
    };
    let distinct = own.iter().filter(|word| word.len() > 1 || own.len() == 1).filter(|word| !shared(word));
    let mut distinct = distinct.peekable();
    if lettered(sentence, &grid.rows[row].label) {
        return true;
    }
    if distinct.peek().is_none() {
        return own.iter().all(|word| sentence.mentions(word));
    }
    distinct.any(|word| sentence.mentions(word))
}

/// A label that begins with a letter: `B (Dimensity)` is what `phone B` names.
fn lettered(sentence: &Sentence, label: &str) -> bool {
    let mut characters = label.chars();
    let (Some(letter), second) = (characters.next(), characters.next()) else { return false };
    if !letter.is_ascii_uppercase() || second.is_some_and(|next| next.is_alphanumeric()) {
        return false;
    }
    let mut words = sentence.text.split(|one: char| !one.is_alphanumeric() && one != '\'');
    let is_first = sentence.text.starts_with(letter);
    words.any(|word| word.len() == 1 && word.starts_with(letter)) && !(letter == 'A' && is_first)
}

/// The measure columns that a sentence names, by a word of the header that no other column has, or by the unit.
pub fn named_columns(sentence: &Sentence, grid: &Grid) -> Vec<usize> {
    let shared = |column: usize, word: &String| {
        grid.columns.iter().enumerate().any(|(other, found)| other != column && found.words.contains(word))
    };
    let units = [
        "second", "minute", "hour", "ms", "gb", "mb", "gib", "mib", "image", "token", "sample", "step",
        "time", "mean", "total", "model",
    ];
    let named = grid.measures().filter(|column| {
        let words = &grid.columns[*column].words;
        words.iter().any(|word| {
            word.len() > 1
                && !units.contains(&word.as_str())
                && (sentence.mentions(word) || synonym(word).is_some_and(|other| sentence.mentions(other)))
                && !shared(*column, word)
        })
    });
    named.collect()
}

/// The other usual name of a statistic.
fn synonym(word: &str) -> Option<&'static str> {
    Some(match word {
        "p50" => "median",
        "median" => "p50",
        "accuracy" => "acc",
        "acc" => "accuracy",
        "avg" => "mean",
        "average" => "mean",
        _ => return None,
    })
}

/// `at 16 nodes`, `with four workers`, `num_workers=0`, `92 % at 16 GPUs and 62 % at 64`.
fn by_setting(sentence: &Sentence, grid: &Grid, row: usize) -> bool {
    grid.settings().any(|column| {
        let Some(cell) = grid.cell(row, column) else { return false };
        let header = &grid.columns[column].words;
        if joined_settings(sentence, grid, column, cell.value) {
            return true;
        }
        let other_name = counts_devices(grid, column) && sentence.words.iter().any(|word| is_device(word));
        if !other_name && !header.iter().any(|word| word.len() > 1 && mentions_noun(sentence, word)) {
            return false;
        }
        let plain = sentence.quantities.iter().any(|quantity| {
            quantity.value == cell.value
                && quantity.unit.is_count()
                && (quantity.unit.is_none()
                    || header.iter().any(|word| quantity.unit.counts(word))
                    || quantity.is_integer())
        });
        let behind = header.iter().any(|word| follows(sentence, word, &cell.text));
        plain || behind || spelled(sentence, cell.value) || glued(sentence, &cell.text)
    })
}

/// Whether a column of settings is the only one of its table that counts devices: `64 cards` under `GPUs`.
pub fn counts_devices(grid: &Grid, column: usize) -> bool {
    let counts = |column: &usize| grid.columns[*column].words.iter().any(|word| is_device(word));
    counts(&column) && grid.settings().filter(counts).count() == 1
}

/// `from 32 to 128`: two settings of one column need no noun.
fn joined_settings(sentence: &Sentence, grid: &Grid, column: usize, value: f64) -> bool {
    let holds = |wanted: f64| {
        (0..grid.rows.len()).any(|row| grid.cell(row, column).is_some_and(|cell| cell.value == wanted))
    };
    let counts: Vec<&crate::quantity::Quantity> = sentence
        .quantities
        .iter()
        .filter(|quantity| quantity.unit.is_count() && quantity.is_integer())
        .collect();
    counts.windows(2).any(|pair| {
        let between = sentence.text.get(pair[0].end..pair[1].start).unwrap_or_default().trim();
        ["to", "and", "vs", "versus", "->", "→"].contains(&between)
            && pair.iter().all(|one| holds(one.value))
            && pair.iter().any(|one| one.value == value)
    })
}

pub fn mentions_noun(sentence: &Sentence, noun: &str) -> bool {
    sentence.words.iter().any(|word| word == noun || word.len() > 3 && noun.ends_with(word.as_str()))
}

/// A number word: `eight nodes`, `four workers`; `a single GPU` and `one node` are one.
fn spelled(sentence: &Sentence, value: f64) -> bool {
    let text = sentence.text.to_lowercase();
    let mut words = text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| count_word(word) == Some(value) || value == 1.0 && word == "single")
}

/// `epoch 7`, `step 5,000`: the number behind the noun names a row.
fn follows(sentence: &Sentence, noun: &str, value: &str) -> bool {
    let text = sentence.text.to_lowercase().replace(',', "");
    let wanted = format!("{noun} {}", value.replace(',', ""));
    text.match_indices(&wanted).any(|(at, found)| {
        let after = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
        !after.is_some_and(|next| next.is_alphanumeric() || next == '.')
            || after == Some('.') && text.len() == at + found.len() + 1
    })
}

/// A setting glued to its name or its unit: `8-GPU`, `num_workers=4`, `512-GPU`.
fn glued(sentence: &Sentence, text: &str) -> bool {
    let plain = text.replace(',', "");
    sentence.text.replace(',', "").match_indices(&plain).any(|(at, _)| {
        let rest = sentence.text.get(at + plain.len()..).unwrap_or_default();
        let head = sentence.text.get(..at).unwrap_or_default();
        (rest.starts_with('-') || head.ends_with('='))
            && !head.ends_with(|one: char| one.is_ascii_digit() || one == '.')
    })
}
