//! Parameter counts against the shapes given beside them.

mod shape;

use assay_model::{Document, Role, Source, Table, names};

use super::facts::Facts;
use super::grid::{self, Entry};
use super::written::{self, Range};
use super::{Class, Finding, Standing, wording};
use shape::{BLOCKS, Block, Shape};

/// How far a name such as `7B` may be from the count beside it.
const NAME_TOLERANCE: f64 = 0.15;

/// A stated count with the shape beside it.
struct Model {
    label: String,
    shape: Shape,
    stated: Range,
    text: String,
    source: Source,
}

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        for table in &document.tables {
            let entries = grid::entries(table);
            let models: Vec<Model> =
                entries.iter().filter_map(|entry| model(document, table, entry)).collect();
            let vocabulary =
                grid::nearby(document, table, names::setting::VOCABULARY).map(|(value, _)| value);
            findings.extend(against_shapes(&models, vocabulary));
            findings.extend(against_names(document, &entries));
        }
        let logs: Vec<Model> =
            facts.runs_of(document).filter(|run| run.is_log()).filter_map(from_run).collect();
        for model in logs {
            let vocabulary = model.shape.vocabulary;
            if vocabulary.is_some() {
                findings.extend(against_shapes(std::slice::from_ref(&model), vocabulary));
            }
        }
    }
    findings
}

fn model(document: &Document, table: &Table, entry: &Entry<'_>) -> Option<Model> {
    let number = |name: &str| {
        let own = entry.find(name, "").and_then(|field| field.cell.value);
        own.or_else(|| grid::nearby(document, table, name).map(|(value, _)| value))
    };
    let field = entry.find(names::PARAMETERS, "")?;
    Some(Model {
        label: entry.label.clone(),
        shape: Shape::new(number)?,
        stated: field.range().filter(|range| range.low > 0.0)?,
        text: field.cell.text.trim().to_owned(),
        source: field.source(document),
    })
}

fn from_run(run: &super::facts::Run<'_>) -> Option<Model> {
    let stated = run.observation(names::PARAMETERS)?;
    let text = stated.written.clone().unwrap_or_else(|| wording::plain(stated.value));
    Some(Model {
        label: run.label(),
        shape: Shape::new(|name| run.number(name))?,
        stated: written::of_text(&text, stated.value, true),
        source: stated.source.clone().unwrap_or_else(|| run.source()),
        text,
    })
}

/// One formula with one number of embedding rows, and the models that it gives.
struct Fit {
    block: &'static Block,
    rows: f64,
    words: String,
    fits: Vec<usize>,
    /// How natural the number of embedding rows is: the smaller, the better.
    oddness: u8,
}

fn against_shapes(models: &[Model], vocabulary: Option<f64>) -> Option<Finding> {
    let vocabulary = vocabulary.or_else(|| agreed(models));
    let mut best: Option<Fit> = None;
    for block in BLOCKS {
        for (rows, words, oddness) in embeddings(models, block, vocabulary) {
            let fits: Vec<usize> = models
                .iter()
                .enumerate()
                .filter(|(_, model)| model.gives(block, rows))
                .map(|(place, _)| place)
                .collect();
            let better = best.as_ref().is_none_or(|best| {
                (fits.len(), std::cmp::Reverse(oddness)) > (best.fits.len(), std::cmp::Reverse(best.oddness))
            });
            if better && !fits.is_empty() {
                best = Some(Fit { block, rows, words, fits, oddness });
            }
        }
    }
    // With one unknown, one row always fits; it takes a second one, or a known vocabulary, to say anything.
    let convincing = |fit: &Fit| {
        fit.fits.len() >= 2 && fit.fits.len() * 2 >= models.len()
            || fit.oddness == 0 && fit.fits.len() * 2 >= models.len()
    };
    match best.filter(convincing) {
        Some(fit) => Some(verdict(models, &fit)),
        None => too_few(models).or_else(|| known_shape(models, vocabulary)),
    }
}

impl Model {
    fn gives(&self, block: &Block, rows: f64) -> bool {
        block.count(&self.shape, rows).is_some_and(|count| self.stated.meets(Range::exact(count)))
    }
}

fn agreed(models: &[Model]) -> Option<f64> {
    let first = models.first()?.shape.vocabulary?;
    models.iter().all(|model| model.shape.vocabulary == Some(first)).then_some(first)
}

/// Numbers of embedding rows worth trying, with words for them and how odd they are.
fn embeddings(models: &[Model], block: &Block, vocabulary: Option<f64>) -> Vec<(f64, String, u8)> {
    let mut tried = Vec::new();
    if let Some(vocabulary) = vocabulary {
        let said = wording::plain(vocabulary);
        for (positions, words) in shape::positions(models.iter().filter_map(|model| model.shape.positions)) {
            tried.push((vocabulary + positions, format!("a vocabulary of {said}{words}"), 0));
            tried.push((
                2.0 * vocabulary + positions,
                format!("a vocabulary of {said}, in and out{words}"),
                0,
            ));
        }
        return tried;
    }
    // Without a vocabulary, each count leaves a range for the embedding rows; the roundest number in what they have
    // in common is tried, from the narrowest range on.
    let mut ranges: Vec<Range> =
        models.iter().filter_map(|model| block.rows_left(&model.shape, model.stated)).collect();
    ranges.sort_by(|a, b| a.half().total_cmp(&b.half()));
    for range in ranges.iter().take(12) {
        let common = ranges.iter().filter(|other| other.meets(*range)).fold(*range, |common, other| {
            Range::between(common.low.max(other.low), common.high.min(other.high))
        });
        let usable = if common.low <= common.high { common } else { *range };
        if let Some((rows, oddness)) = shape::roundest(usable) {
            tried.push((rows, format!("{} rows of embeddings", wording::plain(rows)), oddness));
        }
    }
    tried
}

fn verdict(models: &[Model], fit: &Fit) -> Finding {
    let missed: Vec<usize> = (0..models.len()).filter(|place| !fit.fits.contains(place)).collect();
    let line = |place: &usize| {
        let model = models.get(*place)?;
        let count = fit.block.count(&model.shape, fit.rows)?;
        let formula = fit.block.arithmetic(&model.shape, fit.rows);
        Some(format!("{}: {formula} = {}, stated {}", model.label, wording::plain(count), model.text))
    };
    let places = if missed.is_empty() { &fit.fits } else { &missed };
    let labels = missed.iter().filter_map(|place| models.get(*place)).map(|model| model.label.clone());
    let rule = format!("{} with {}", fit.block.formula, fit.words);
    let (standing, summary, advice) = match missed.is_empty() {
        true => (
            Standing::Supported,
            match models.len() {
                1 => format!("The parameter count follows from the shape: {rule}."),
                count => format!("All {count} parameter counts follow from the shapes: {rule}."),
            },
            String::new(),
        ),
        false => (
            Standing::Contradicted,
            format!(
                "{} of {} parameter counts follow from the shapes ({rule}); {} does not.",
                fit.fits.len(),
                models.len(),
                labels.collect::<Vec<_>>().join(", ")
            ),
            "Count the parameters again, or correct the shape beside them.".to_owned(),
        ),
    };
    Finding {
        class: Class::ParameterCount,
        standing,
        summary,
        arithmetic: places.iter().filter_map(line).take(8).collect(),
        sources: places
            .iter()
            .filter_map(|place| models.get(*place))
            .map(|model| model.source.clone())
            .take(8)
            .collect(),
        advice,
    }
}

/// Counts that are less than the layers alone hold, whatever the rest is.
fn too_few(models: &[Model]) -> Option<Finding> {
    let lacking: Vec<(&Model, f64)> = models
        .iter()
        .map(|model| (model, model.shape.least()))
        .filter(|(model, least)| model.stated.high < least * 0.99)
        .collect();
    (!lacking.is_empty()).then(|| Finding {
        class: Class::ParameterCount,
        standing: Standing::Contradicted,
        summary: "Parameter counts are less than the layers of the given shapes hold.".to_owned(),
        arithmetic: lacking
            .iter()
            .map(|(model, least)| {
                format!("{}: at least {}, stated {}", model.label, wording::plain(*least), model.text)
            })
            .take(8)
            .collect(),
        sources: lacking.iter().map(|(model, _)| model.source.clone()).take(8).collect(),
        advice: "Count the parameters again, or correct the shape beside them.".to_owned(),
    })
}

/// The vocabulary is known, and no usual formula gives most of the counts.
fn known_shape(models: &[Model], vocabulary: Option<f64>) -> Option<Finding> {
    let vocabulary = vocabulary?;
    let far = |model: &&Model| {
        let counts = BLOCKS.iter().flat_map(|block| {
            [1.0, 2.0]
                .iter()
                .filter_map(|times| block.count(&model.shape, times * vocabulary))
                .collect::<Vec<_>>()
        });
        let ratios: Vec<f64> = counts.map(|count| model.stated.value() / count).collect();
        !ratios.is_empty() && ratios.iter().all(|ratio| !(0.8..=1.25).contains(ratio))
    };
    let wrong: Vec<&Model> = models.iter().filter(far).collect();
    (!wrong.is_empty()).then(|| Finding {
        class: Class::ParameterCount,
        standing: Standing::Contradicted,
        summary: format!(
            "No usual transformer of the given shapes with a vocabulary of {} has the stated number of parameters.",
            wording::plain(vocabulary)
        ),
        arithmetic: wrong
            .iter()
            .filter_map(|model| {
                let block = BLOCKS.first()?;
                let count = block.count(&model.shape, vocabulary)?;
                let formula = block.arithmetic(&model.shape, vocabulary);
                Some(format!("{}: {formula} = {}, stated {}", model.label, wording::plain(count), model.text))
            })
            .take(8)
            .collect(),
        sources: wrong.iter().map(|model| model.source.clone()).take(8).collect(),
        advice: "Count the parameters again, or correct the shape beside them.".to_owned(),
    })
}

/// Names such as `2.7B` beside a count that is another one.
fn against_names(document: &Document, entries: &[Entry<'_>]) -> Option<Finding> {
    let mut lines = Vec::new();
    let mut sources = Vec::new();
    for entry in entries {
        let Some(field) = entry.find(names::PARAMETERS, "") else { continue };
        let Some(stated) = field.range() else { continue };
        let names = entry.fields.iter().filter(|field| match field.role {
            Role::Label => true,
            Role::Setting(name) => name == names::setting::MODEL,
            _ => false,
        });
        for name in names {
            let Some(size) = size_in_name(&name.cell.text) else { continue };
            let ratio = stated.value() / size;
            if !(1.0 - NAME_TOLERANCE..=1.0 + NAME_TOLERANCE).contains(&ratio) {
                let text = (name.cell.text.trim(), field.cell.text.trim());
                lines.push(format!("`{}` has {}, {} times its name", text.0, text.1, wording::rough(ratio)));
                sources.push(field.source(document));
            }
        }
    }
    let first = lines.first()?.clone();
    Some(Finding {
        class: Class::ParameterCount,
        // The true count stands beside the name, so that nobody need be misled.
        standing: Standing::Open,
        summary: format!("A model is called by another size than it has: {first}."),
        arithmetic: lines.into_iter().take(8).collect(),
        sources: sources.into_iter().take(8).collect(),
        advice: "Name models by their own count, or say which parts the name leaves out.".to_owned(),
    })
}

/// The size that a name such as `2.7B` or `Llama-7B` tells.
fn size_in_name(name: &str) -> Option<f64> {
    let word = |word: &str| {
        let (number, scale) = match word.trim_end_matches(['b', 'B', 'm', 'M']) {
            number if number.len() + 1 == word.len() => (number, word.chars().next_back()?),
            _ => return None,
        };
        let number: f64 = number.parse().ok().filter(|number: &f64| *number > 0.0)?;
        Some(number * if scale.eq_ignore_ascii_case(&'b') { 1e9 } else { 1e6 })
    };
    name.split(|character: char| !(character.is_ascii_alphanumeric() || character == '.')).find_map(word)
}

#[cfg(test)]
mod tests;
