//! How numbers came about: unequal comparisons, ranges, scaling words, rankings within the spread, choices on the test
//! set. All of these are doubtful at most: the text may have reasons that the audit does not see.

use assay_model::Source;

use super::naming::named_rows;
use super::pairs::Pool;
use super::relation::relation;
use super::relative::excused;
use super::sentence::Sentence;
use crate::finding::Level;
use crate::grid::{Column, ColumnKind, Grid, MOST_PAIRED_ROWS};
use crate::number::shown;
use crate::unit::is_device;
use crate::{Class, Finding};

/// Checks the method behind a sentence.
pub fn check(sentence: &Sentence, pool: &Pool<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(unequal(sentence, pool));
    found.extend(beyond(sentence, pool));
    found.extend(scaling(sentence, pool));
    found.extend(within_spread(sentence, pool));
    found.extend(single_runs(sentence, pool));
    found.extend(test_choice(sentence));
    found
}

fn finding(class: Class, sentence: &Sentence, summary: String, lines: &[u64], advice: &str) -> Finding {
    let at = sentence.quantities.first().map_or(0, |quantity| quantity.start);
    let mut sources = vec![Source::new(sentence.file.clone(), sentence.line_at(at))];
    sources.extend(lines.iter().map(|line| Source::new(sentence.file.clone(), *line)));
    Finding {
        class,
        level: Level::Doubtful,
        summary,
        arithmetic: Vec::new(),
        sources,
        operands: Vec::new(),
        advice: advice.to_owned(),
    }
}

/// What must be equal for a comparison of speed to mean something.
const CONDITIONS: [&str; 15] = [
    "model",
    "precision",
    "dtype",
    "weight",
    "quantization",
    "quantisation",
    "quant",
    "batch",
    "seq_len",
    "context",
    "prompt",
    "resolution",
    "dataset",
    "seq",
    "length",
];

/// Two rows that are compared and differ in what should be equal.
fn unequal(sentence: &Sentence, pool: &Pool<'_>) -> Option<Finding> {
    let compares = sentence.quantities.iter().any(|quantity| {
        let comparison = relation(sentence, quantity).is_some_and(|relation| relation.is_comparison());
        comparison && !quantity.unit.points && !excused(&sentence.clause_at(quantity.start))
    });
    let speed = [
        "faster",
        "fast",
        "beat",
        "slower",
        "throughput",
        "second",
        "efficient",
        "outperform",
        "energy-efficient",
    ];
    if !compares || !speed.iter().any(|word| sentence.mentions(word)) {
        return None;
    }
    for grid in pool.grids.iter().filter(|grid| grid.file == sentence.file || grid.rows.len() <= 4) {
        let named = named_rows(sentence, grid);
        let rows: Vec<usize> = match (named.len(), grid.rows.len()) {
            (2, _) => named,
            (1, 2) | (_, 2) if !named.is_empty() || pool.grids.len() == 1 => vec![0, 1],
            _ => continue,
        };
        let first_label = grid.columns.iter().position(|column| column.kind == ColumnKind::Label);
        for (index, column) in grid.columns.iter().enumerate() {
            let condition = column.words.iter().any(|word| CONDITIONS.contains(&word.as_str()));
            if !condition || Some(index) == first_label || column.kind == ColumnKind::Measure {
                continue;
            }
            let text = |row: usize| grid.rows[row].texts.get(index).map_or("", String::as_str);
            let (one, other) = (text(rows[0]), text(rows[1]));
            let acknowledged = pool.sentences.iter().any(|sentence| {
                let own = sentence.text.to_lowercase();
                own.contains(&one.to_lowercase()) && own.contains(&other.to_lowercase())
            });
            if one != other && !one.is_empty() && !other.is_empty() && !acknowledged {
                let summary = format!(
                    "{} and {} are compared, but {} is {one} for one and {other} for the other",
                    grid.row_name(rows[0]),
                    grid.row_name(rows[1]),
                    column.header
                );
                let lines = [grid.rows[rows[0]].line, grid.rows[rows[1]].line];
                let advice = "compare equal conditions, or say what the difference does";
                return Some(finding(Class::UnequalComparison, sentence, summary, &lines, advice));
            }
        }
    }
    None
}

/// A number of devices beyond all that were measured, stated with a measured rate.
fn beyond(sentence: &Sentence, pool: &Pool<'_>) -> Option<Finding> {
    const GUESSES: [&str; 9] = [
        "extrapolated",
        "extrapolation",
        "extrapolate",
        "predicted",
        "prediction",
        "projected",
        "fit",
        "model",
        "ideal",
    ];
    if excused(sentence) || GUESSES.iter().any(|word| sentence.mentions(word)) {
        return None;
    }
    let rate = sentence.quantities.iter().find(|quantity| {
        (quantity.unit.is_rate() || quantity.unit.is_time()) && !quantity.in_words && !quantity.hedged
    })?;
    for quantity in
        sentence.quantities.iter().filter(|quantity| quantity.is_integer() && quantity.unit.is_count())
    {
        for grid in pool.grids.iter().filter(|grid| !grid.rows.is_empty()) {
            for column in grid.settings() {
                let words = &grid.columns[column].words;
                let noun = words.iter().any(|word| quantity.unit.counts(word));
                let measured =
                    (0..grid.rows.len().min(MOST_PAIRED_ROWS)).filter_map(|row| grid.cell(row, column));
                let most = measured.map(|cell| cell.value).fold(0.0, f64::max);
                let rated = grid.measures().any(|other| grid.columns[other].unit.same_measure(&rate.unit));
                let restated = grid.rows.iter().flat_map(|row| row.cells.iter().flatten());
                let restated =
                    restated.map(|cell| cell.value).any(|value| (value / rate.value - 1.0).abs() < 0.02);
                if noun && rated && most > 0.0 && quantity.value > 1.5 * most && !restated {
                    let summary = format!(
                        "`{}` is stated for {} {}, but the largest measured is {}",
                        rate.text,
                        quantity.text,
                        words.first().map_or("", String::as_str),
                        shown(most)
                    );
                    let advice = "say that it is an extrapolation, or measure it";
                    return Some(finding(
                        Class::Extrapolation,
                        sentence,
                        summary,
                        &[grid.header_line],
                        advice,
                    ));
                }
            }
        }
    }
    None
}

/// How much of the ideal growth each row has over the first, for the first measure of a rate or a time.
fn efficiencies(grid: &Grid) -> Option<Vec<(f64, f64)>> {
    let setting =
        grid.settings().find(|column| grid.columns[*column].words.iter().any(|word| is_device(word)))?;
    let is_of = |column: &usize, wanted: &dyn Fn(&Column) -> bool| {
        grid.columns.get(*column).is_some_and(|column| wanted(column) && !column.header.contains("per "))
    };
    let timed = grid.measures().find(|column| is_of(column, &|column| column.unit.has("s")));
    let is_factor = |column: &Column| {
        let names = ["speedup", "speed-up", "throughput"];
        column.unit.is_count() && column.words.iter().any(|word| names.contains(&word.as_str()))
    };
    let factor = grid.measures().find(|column| is_of(column, &is_factor));
    let measure = timed.or(factor)?;
    let rate = timed.is_none() || grid.columns[measure].unit.is_rate();
    let points: Option<Vec<(f64, f64)>> = (0..grid.rows.len())
        .map(|row| Some((grid.cell(row, setting)?.value, grid.cell(row, measure)?.value)))
        .collect();
    let points = points?;
    let (devices, base) = *points.first()?;
    let growing = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let speed = |value: f64| if rate { value / base } else { base / value };
    (growing && points.len() >= 3 && devices > 0.0 && base > 0.0)
        .then(|| points.iter().map(|(count, value)| (*count, speed(*value) / (count / devices))).collect())
}

/// `scales linearly`, `saturates at 4`, `no further benefit from 16 to 32`.
fn scaling(sentence: &Sentence, pool: &Pool<'_>) -> Option<Finding> {
    let text = sentence.text.to_lowercase();
    let linear = (text.contains("linear") || text.contains("perfect")) && text.contains("scal");
    let flat = [
        "saturat",
        "no further benefit",
        "no benefit",
        "no further speed",
        "no further gain",
        "does not help",
        "doesn't help",
        "no gain",
        "nothing gained",
    ]
    .iter()
    .any(|word| text.contains(word));
    let hedged = ["near", "almost", "sub-", "not ", "less than", "super", "while", "until", "learning rate"]
        .iter()
        .any(|word| text.contains(word));
    let above = text.contains("super") && linear && !text.contains("not ") && !text.contains("until");
    if !(linear && !hedged || flat || above) || excused(sentence) {
        return None;
    }
    for grid in pool.grids.iter().filter(|grid| grid.rows.len() <= MOST_PAIRED_ROWS) {
        let Some(points) = efficiencies(grid) else { continue };
        let named = named_rows(sentence, grid);
        let advice = "give the efficiency instead of the word";
        let best = points.iter().skip(1).map(|(_, efficiency)| *efficiency).fold(0.0, f64::max);
        if above && best < 0.97 {
            let summary = format!(
                "scaling is called superlinear, but no efficiency is above {} %",
                shown((100.0 * best).round())
            );
            return Some(finding(Class::Scaling, sentence, summary, &[grid.header_line], advice));
        }
        if linear && !hedged {
            let last = if named.len() == 2 { named[1] } else { points.len() - 1 };
            let (count, efficiency) = points.get(last).copied()?;
            if efficiency < 0.88 {
                let summary = format!(
                    "scaling is called linear, but the efficiency at {} is {} %",
                    shown(count),
                    shown(100.0 * efficiency)
                );
                return Some(finding(Class::Scaling, sentence, summary, &[grid.rows[last].line], advice));
            }
        }
        if flat && !named.is_empty() {
            let from = named[0];
            let to = if named.len() >= 2 { named[1] } else { from + 1 };
            let (Some(one), Some(other)) = (points.get(from), points.get(to)) else { continue };
            let growth = (other.1 * other.0) / (one.1 * one.0);
            if growth > 1.3 {
                let summary = format!(
                    "the text says that more than {} brings nothing, but {} is {} times as fast",
                    shown(one.0),
                    shown(other.0),
                    shown(growth)
                );
                return Some(finding(Class::Scaling, sentence, summary, &[grid.rows[to].line], advice));
            }
        }
    }
    None
}

/// A difference between two rows that is smaller than the spread which the table gives for them.
fn within_spread(sentence: &Sentence, pool: &Pool<'_>) -> Option<Finding> {
    let ranks = ["best", "beat", "better", "fastest", "faster", "wins", "outperform", "clearly", "superior"];
    let modest =
        ["spread", "noise", "within", "error", "indistinguishable", "deviation", "significant", "not"];
    if !ranks.iter().any(|word| sentence.mentions(word)) || modest.iter().any(|word| sentence.mentions(word))
    {
        return None;
    }
    for grid in pool.grids {
        let named = named_rows(sentence, grid);
        let [one, other] = named.as_slice() else { continue };
        let deviation = grid.measures().find(|column| {
            let words = &grid.columns[*column].words;
            words.iter().any(|word| ["std", "sd", "stdev", "deviation"].contains(&word.as_str()))
        });
        for column in grid.measures().filter(|column| Some(*column) != deviation) {
            let (Some(a), Some(b)) = (grid.cell(*one, column), grid.cell(*other, column)) else { continue };
            let header = grid.columns[column].header.to_lowercase();
            let central = header.contains("mean") || header.contains("average") || a.spread.is_some();
            let of = |row: usize| deviation.and_then(|column| grid.cell(row, column)).map(|cell| cell.value);
            let spread = a.spread.or_else(|| of(*one)).zip(b.spread.or_else(|| of(*other)));
            let Some((first, second)) = spread.filter(|_| central) else { continue };
            let difference = (a.value - b.value).abs();
            if difference > 0.0 && difference < first.max(second) {
                let unit = grid.columns[column].unit.factor();
                let summary = format!(
                    "{} and {} differ by {} in {}, less than their spread of {}",
                    grid.row_name(*one),
                    grid.row_name(*other),
                    shown(difference / unit),
                    grid.columns[column].header,
                    shown(first.max(second) / unit)
                );
                let lines = [grid.rows[*one].line, grid.rows[*other].line];
                let advice = "call them equal, or measure more often";
                return Some(finding(Class::NoiseAsEffect, sentence, summary, &lines, advice));
            }
        }
    }
    None
}

/// A ranking by a few percent where the text says that each was run once.
fn single_runs(sentence: &Sentence, pool: &Pool<'_>) -> Option<Finding> {
    let small = sentence.quantities.iter().find(|quantity| {
        quantity.unit.percent
            && quantity.value < 0.055
            && relation(sentence, quantity).is_some_and(|relation| relation.is_comparison())
    })?;
    let ranks = ["more", "faster", "better", "ahead", "beat", "higher"];
    if !ranks.iter().any(|word| sentence.mentions(word)) || excused(sentence) {
        return None;
    }
    let once = pool.sentences.iter().find(|other| {
        let text = other.text.to_lowercase();
        ["one run", "single run", "single execution", "a single time", "run once", "ran once", "each once"]
            .iter()
            .any(|word| text.contains(word))
    })?;
    let line = once.line_at(0);
    let summary = format!("a difference of `{}` is ranked, but each was run once", small.text);
    Some(finding(Class::NoiseAsEffect, sentence, summary, &[line], "repeat the runs, and give their spread"))
}

/// The best on the test set, reported for the test set.
fn test_choice(sentence: &Sentence) -> Option<Finding> {
    let text = sentence.text.to_lowercase();
    let chosen = ["selected", "chosen", "picked", "choose", "highest", "best"]
        .iter()
        .any(|word| sentence.mentions(word));
    let how = [
        "selected",
        "chosen",
        "picked",
        "any of",
        "over all epochs",
        "reached in",
        "of all epochs",
        "across epochs",
    ]
    .iter()
    .any(|word| text.contains(word));
    let test = sentence.mentions("test") && !text.contains("validation") && !text.contains("dev set");
    let denied = ["never", "not", "no", "without", "untouched"]
        .iter()
        .any(|word| text.split(|one: char| !one.is_alphanumeric()).any(|own| own == *word));
    (chosen && how && test && !denied).then(|| {
        let summary = "a choice made on the test set is reported for the test set".to_owned();
        finding(Class::TestSetChoice, sentence, summary, &[], "choose on a validation set")
    })
}
