//! Losses that are not numbers, or that grew.

use assay_model::{Document, Role, Source, names};

use super::facts::Facts;
use super::wording::plain;
use super::{Class, Finding, Level};

/// A loss that ends this many times above its start has grown.
const GROWN: f64 = 1.1;

/// One finding for a document.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().filter_map(|document| finding(facts, document)).collect()
}

fn finding(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let mut seen: Vec<(String, Source)> = Vec::new();
    for run in facts.runs_of(document) {
        for hint in run.read.hints.iter().filter(|hint| is_not_a_number(&hint.seen)) {
            seen.push((hint.seen.clone(), hint.source.clone()));
        }
        let ended = run.read.status.to_string();
        if is_not_a_number(&ended) {
            seen.push((ended, run.read.status_source.clone().unwrap_or_else(|| run.source())));
        }
        if let Some(series) = run.series(names::LOSS_TRAIN)
            && let Some((from, to)) = grown(&series.values)
        {
            let source = series.source.clone().unwrap_or_else(|| run.source());
            seen.push((format!("the loss grew from {} to {}", plain(from), plain(to)), source));
        }
    }
    seen.extend(cells(document));
    let (what, _) = seen.first()?;
    let stated = document.statements.iter().any(|statement| {
        let text = statement.text.to_lowercase();
        ["diverge", "nan", "not a number", "blew up", "blows up"].iter().any(|word| {
            text.split(|c: char| !c.is_alphanumeric() && c != ' ').any(|part| {
                part.contains(word) && (*word != "nan" || part.split(' ').any(|piece| piece == "nan"))
            })
        })
    });
    Some(Finding {
        class: Class::Divergence,
        operands: Vec::new(),
        level: if stated { Level::Supported } else { Level::Doubtful },
        summary: format!("Training diverged: {what}."),
        arithmetic: seen.iter().skip(1).take(7).map(|(what, _)| what.clone()).collect(),
        sources: seen.into_iter().take(8).map(|(_, source)| source).collect(),
        advice: if stated {
            String::new()
        } else {
            "Lower the learning rate or check the data; other numbers of such a run say nothing about learning.".to_owned()
        },
    })
}

/// Whether words of a log describe a value that is no number.
fn is_not_a_number(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("not a number")
        || lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
            matches!(word, "nan" | "inf" | "infinity" | "diverged" | "appliancenanerror" | "nanerror")
        })
}

/// The start and the end of a loss that ended well above its start.
fn grown(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 5 {
        return None;
    }
    let early = values.get(..2)?;
    let late = values.get(values.len().checked_sub(3)?..)?;
    let start = early.iter().sum::<f64>() / early.len() as f64;
    let end = assay_stats::median(late)?;
    (start > 0.0 && end > GROWN * start).then_some((start, end))
}

/// Cells of loss columns that say `nan` or `inf`.
fn cells(document: &Document) -> Vec<(String, Source)> {
    let mut found = Vec::new();
    for table in &document.tables {
        for row in &table.rows {
            for (column, cell) in table.columns.iter().zip(&row.cells) {
                let role = if table.transposed { &row.role } else { &column.role };
                let is_loss = matches!(role, Role::Metric(name) if name.starts_with("loss") || name == names::PERPLEXITY);
                let text = cell.text.trim().trim_matches(['*', '`', '+', '-']).to_ascii_lowercase();
                if is_loss && matches!(text.as_str(), "nan" | "inf" | "infinity" | "∞") {
                    let source = document.source(cell.line);
                    found.push((format!("{} is {}", column.header, cell.text.trim()), source));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use assay_model::Hint;

    use super::super::sample::{Build, document, found};
    use super::*;

    fn curve(losses: &[f64]) -> Document {
        document("notes.md", |build: &mut Build| {
            let points: Vec<(f64, f64, f64)> =
                losses.iter().enumerate().map(|(step, loss)| (step as f64, step as f64, *loss)).collect();
            build.log("cerebras", "cerebras").series(names::LOSS_TRAIN, &points);
        })
    }

    #[test]
    fn a_loss_that_grows_has_diverged() {
        assert_eq!(found(check, &[curve(&[2.3, 2.2, 2.9, 5.0, 9.1, 12.0])]).len(), 1);
        assert!(found(check, &[curve(&[9.4, 8.7, 7.8, 7.39, 7.8, 7.5])]).is_empty());
        assert!(found(check, &[curve(&[1.0, 5.0])]).is_empty());
    }

    #[test]
    fn a_hint_about_a_loss_that_is_no_number_counts() {
        let mut nan = curve(&[2.3, 2.2]);
        nan.runs[0].hints.push(Hint {
            seen: "loss is nan".to_owned(),
            advice: String::new(),
            source: Source::new("notes.md", 4),
        });
        assert_eq!(found(check, std::slice::from_ref(&nan))[0].level, Level::Doubtful);
        nan.runs[0].hints[0].seen = "financial information".to_owned();
        assert!(found(check, &[nan]).is_empty());
    }
}
