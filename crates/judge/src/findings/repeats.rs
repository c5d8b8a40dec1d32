//! How many repeats it would take to separate cells.

use assay_model::Metric;
use assay_stats as stats;

use super::words::{counted, difference_shown, shown};
use super::{Finding, finding};
use crate::answer::{Answer, AnswerRow};
use crate::gather::{CellEvidence, Evidence};

/// The fewest cells whose own spread stands in for that of repeats.
const FEWEST_FOR_SPREAD: usize = 4;
/// Cells that spread more than this share differ by more than noise, whatever makes them differ.
const PLAUSIBLE_NOISE: f64 = 0.05;
/// The power with which a difference is to be found when repeats are counted: 80 %.
const POWER_QUANTILE: f64 = 0.841_621_233_572_914_3;

/// How many repeats would separate cells at the noise that the repeats show: n = 2·((c + z₀.₈)·s/δ)² a cell, c what the
/// comparisons with the best take of two among so many cells: 1.96 standard errors for two, 2.73 for five.
///
/// With repeats δ is the largest difference that the cells which may be the best show, or 0.3 points of an accuracy. Without repeats the
/// cells' own spread stands in for the noise, which is an upper bound of it; then δ must not come from the same numbers,
/// and is what the metric's margin calls a difference.
pub(super) fn repeats_needed(answer: &Answer, evidence: &Evidence) -> Option<Finding> {
    let metric = &answer.metric;
    let Noise { deviation, source, difference, cells } =
        with_repeats(answer, evidence).or_else(|| without_repeats(answer))?;
    if difference <= 0.0 || deviation <= 0.0 {
        return None;
    }
    let critical = stats::Family::among(cells, crate::CONFIDENCE)?.critical_value()?;
    let needed = 2.0 * ((critical + POWER_QUANTILE) * deviation / difference).powi(2);
    let text = format!(
        "{source}; to find a difference of {} in four of five cases takes about {} runs per cell",
        difference_shown(difference, &metric.unit),
        needed.ceil().max(4.0)
    );
    Some(finding("repeats_needed", text, Vec::new()))
}

struct Noise {
    /// The standard deviation of repeats.
    deviation: f64,
    /// Where it is known from.
    source: String,
    /// The difference to find.
    difference: f64,
    /// Among how many cells.
    cells: usize,
}

fn with_repeats(answer: &Answer, evidence: &Evidence) -> Option<Noise> {
    // Cells that are known to be worse say nothing about what would separate the others, and may have other noise.
    let in_question: Vec<&AnswerRow> = answer.candidates();
    let is_in_question = |cell: &&CellEvidence| in_question.iter().any(|row| row.cell == cell.cell);
    let cells = evidence.cells.iter().filter(is_in_question);
    let spread =
        stats::pooled(cells.map(|cell| cell.values.as_slice())).filter(|spread| spread.deviation > 0.0)?;
    let centers = centers(&in_question);
    let low = centers.iter().copied().min_by(f64::total_cmp)?;
    let largest = centers.iter().copied().max_by(f64::total_cmp)? - low;
    let source = format!(
        "Repeats differ by a standard deviation of {} ({} runs in {})",
        difference_shown(spread.deviation, &answer.metric.unit),
        spread.samples,
        counted(spread.groups, "cell")
    );
    let difference = points(&answer.metric).unwrap_or(largest);
    Some(Noise { deviation: spread.deviation, source, difference, cells: centers.len() })
}

fn without_repeats(answer: &Answer) -> Option<Noise> {
    let (centers, metric) = (centers(&answer.rows.iter().collect::<Vec<_>>()), &answer.metric);
    if centers.len() < FEWEST_FOR_SPREAD {
        return None;
    }
    let deviation = stats::pooled([centers.as_slice()])?.deviation;
    let middle = stats::median(&centers)?;
    if deviation > PLAUSIBLE_NOISE * middle.abs() {
        return None;
    }
    let source = format!(
        "Without repeats the noise is unknown; if no setting made a difference, it would be the standard deviation of \
         the {} cells, {}, around {}",
        centers.len(),
        difference_shown(deviation, &metric.unit),
        shown(middle, &metric.unit)
    );
    let difference = points(metric).unwrap_or(metric.margin() * middle.abs());
    Some(Noise { deviation, source, difference, cells: centers.len() })
}

fn centers(rows: &[&AnswerRow]) -> Vec<f64> {
    rows.iter().filter_map(|row| Some(row.estimate.as_ref()?.center)).collect()
}

/// What is worth finding of an accuracy: 0.3 points.
fn points(metric: &Metric) -> Option<f64> {
    metric.name.starts_with("accuracy").then_some(0.003)
}
