//! Losses of unequal work.

use super::laws::is_scaled_over;
use super::words::labels_apart;
use super::{Finding, finding};
use crate::gather::{CellEvidence, Evidence};

/// Amounts that say how much of the data a run saw.
const SEEN: [&str; 3] = [assay_model::names::SAMPLES, assay_model::names::TOKENS, assay_model::names::STEPS];

/// A loss says nothing where cells saw different numbers of samples, or where nobody knows how many they saw.
pub fn of_loss(evidence: &Evidence) -> Option<Finding> {
    if !evidence.metric.name.starts_with("loss") {
        return None;
    }
    let cells: Vec<&CellEvidence> =
        evidence.cells.iter().filter(|cell| cell.planned && !cell.values.is_empty()).collect();
    counted_apart(evidence, &cells).or_else(|| uncounted(evidence, &cells))
}

/// The cells whose counts of what they saw are furthest apart.
fn counted_apart(evidence: &Evidence, cells: &[&CellEvidence]) -> Option<Finding> {
    let first = cells.first()?;
    for (name, amount) in first.amounts.iter().filter(|(name, _)| SEEN.contains(&name.as_str())) {
        let others = cells.iter().filter_map(|cell| Some((cell, *cell.amounts.get(name)?)));
        let far = others.max_by(|a, b| (a.1 / amount).ln().abs().total_cmp(&(b.1 / amount).ln().abs()));
        if let Some((cell, other)) = far.filter(|(_, other)| (other / amount - 1.0).abs() > 0.02) {
            let (this, that) = labels_apart(&cell.settings, &first.settings);
            let text = format!(
                "{} is not comparable: {this} saw {:.3} times the {name} of {that}",
                evidence.metric.name,
                other / amount,
            );
            return Some(finding("loss_of_unequal_work", text, vec![first.cell.clone(), cell.cell.clone()]));
        }
    }
    None
}

/// Cells on one platform that differ in workers or batch size, and with that in the samples of a step, while nothing
/// says how many samples each of them saw.
fn uncounted(evidence: &Evidence, cells: &[&CellEvidence]) -> Option<Finding> {
    let is_counted = |cell: &CellEvidence| SEEN.iter().any(|name| cell.amounts.contains_key(*name));
    for (place, cell) in cells.iter().enumerate() {
        for (name, value) in cell.settings.iter().filter(|(name, _)| is_scaled_over(name)) {
            let other = cells.iter().skip(place + 1).find(|other| {
                let differs = other.settings.get(name).is_some_and(|other| other != value);
                differs && other.cell.platform == cell.cell.platform && !is_counted(other)
            });
            if let Some(other) = other.filter(|_| !is_counted(cell)) {
                let (this, that) = labels_apart(&cell.settings, &other.settings);
                let text = format!(
                    "{} is not comparable between {this} and {that}: a step takes other samples, and nothing says how \
                     many each run saw",
                    evidence.metric.name,
                );
                return Some(finding(
                    "loss_of_unknown_work",
                    text,
                    vec![cell.cell.clone(), other.cell.clone()],
                ));
            }
        }
    }
    None
}
