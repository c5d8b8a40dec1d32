//! Whether cells meet their gates. The interval decides: a gate that the interval straddles is neither met nor failed,
//! but undecided. A gate near an expectation follows the metric's direction: being better than expected never fails it.

use std::collections::BTreeMap;

use assay_model::{Bound, CellId, Direction, Estimate, Gate, Metric, PointId, Settings, Unit};
use assay_stats::{self as stats, RatioInterval};
use serde::Serialize;

use crate::estimate::estimate;
use crate::gather::{CellEvidence, Evidence};

/// How a cell stands at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GateState {
    /// The whole interval is inside the bound.
    Met,
    /// The whole interval is outside the bound.
    Failed,
    /// The interval reaches over the bound, or there is none because there is a single run: more runs would decide it.
    Undecided,
    /// There is nothing to hold against the bound: no value, or no such cell in the reference.
    Unknown,
}

/// One cell at one gate.
#[derive(Debug, Clone, Serialize)]
pub struct GateResult {
    /// Which cell.
    pub cell: CellId,
    /// Its settings.
    pub settings: Settings,
    /// The gate.
    pub gate: Gate,
    /// The metric's unit.
    pub unit: Unit,
    /// The bound in numbers, lower and upper end, where there is one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// What was measured.
    pub estimate: Option<Estimate>,
    /// How it stands.
    pub state: GateState,
    /// What to know about the reference, where it is not simply the same cell.
    pub note: Option<String>,
}

/// Holds cells against one gate. `reference` is the evidence of the record that the gate refers to.
pub fn check(gate: &Gate, evidence: &Evidence, reference: Option<&Evidence>) -> Vec<GateResult> {
    let asked = |cell: &&CellEvidence| {
        cell.planned && gate.points.as_ref().is_none_or(|points| points.contains(&cell.cell.point))
    };
    let reference = reference.map(|reference| Reference::new(&reference.cells));
    evidence
        .cells
        .iter()
        .filter(asked)
        .map(|cell| {
            let found = bounds(&gate.bound, cell, &evidence.metric, reference.as_ref());
            let estimate = cell.estimate();
            let state = match (&estimate, &found) {
                // The ends of its interval would be the value itself, which says nothing of the next run.
                (Some(estimate), Some(_)) if estimate.samples == 1 => GateState::Undecided,
                (Some(estimate), Some(found)) => state(estimate, found),
                _ => GateState::Unknown,
            };
            let bound = found.as_ref().map(|found| (found.low, found.high));
            GateResult {
                cell: cell.cell.clone(),
                settings: cell.settings.clone(),
                gate: gate.clone(),
                unit: evidence.metric.unit.clone(),
                low: bound.map(|(low, _)| low).filter(|end| end.is_finite()),
                high: bound.map(|(_, high)| high).filter(|end| end.is_finite()),
                note: found.and_then(|found| found.note),
                estimate,
                state,
            }
        })
        .collect()
}

/// A bound in numbers.
struct Bounds {
    low: f64,
    high: f64,
    /// The cell's values over the reference's, with the share of the reference that is allowed on either side, where
    /// the reference has an uncertainty of its own.
    ratio: Option<(RatioInterval, f64, f64)>,
    note: Option<String>,
}

fn bounds(
    bound: &Bound,
    cell: &CellEvidence,
    metric: &Metric,
    reference: Option<&Reference<'_>>,
) -> Option<Bounds> {
    match bound {
        Bound::Range { min, max } => Some(Bounds {
            low: min.unwrap_or(f64::NEG_INFINITY),
            high: max.unwrap_or(f64::INFINITY),
            ratio: None,
            note: None,
        }),
        Bound::Near { expect, within } => Some(near(*expect, *within, metric.better)),
        Bound::NearRecord { within, .. } => {
            let (same, note) = reference?.same_cell(cell)?;
            let found = near(estimate(&same.values)?.center, *within, metric.better);
            let ratio = stats::ratio_interval(&same.values, &cell.values, crate::CONFIDENCE).ok();
            let (least, most) = allowed(*within, metric.better);
            Some(Bounds { ratio: ratio.map(|ratio| (ratio, least, most)), note, ..found })
        }
    }
}

/// The shares of an expectation between which a value passes: only the worse direction is bounded, if there is one.
fn allowed(within: f64, better: Option<Direction>) -> (f64, f64) {
    match better {
        Some(Direction::Lower) => (f64::NEG_INFINITY, 1.0 + within),
        Some(Direction::Higher) => (1.0 - within, f64::INFINITY),
        None => (1.0 - within, 1.0 + within),
    }
}

fn near(expect: f64, within: f64, better: Option<Direction>) -> Bounds {
    let room = within * expect.abs();
    let (least, most) = allowed(within, better);
    Bounds {
        low: if least.is_finite() { expect - room } else { least },
        high: if most.is_finite() { expect + room } else { most },
        ratio: None,
        note: None,
    }
}

/// The cells of a reference, to be found by what they have in common with a measured one.
struct Reference<'a> {
    by_cell: BTreeMap<&'a CellId, &'a CellEvidence>,
    by_point: BTreeMap<&'a PointId, &'a CellEvidence>,
    by_settings: BTreeMap<String, &'a CellEvidence>,
}

impl<'a> Reference<'a> {
    fn new(cells: &'a [CellEvidence]) -> Reference<'a> {
        // Of several cells with the same key the first one counts.
        let all = || cells.iter().rev();
        Reference {
            by_cell: all().map(|cell| (&cell.cell, cell)).collect(),
            by_point: all().map(|cell| (&cell.cell.point, cell)).collect(),
            by_settings: all().map(|cell| (format!("{:?}", cell.settings), cell)).collect(),
        }
    }

    /// The same cell: by its identity, else by its point on another platform, else by its settings, so that an edited
    /// command does not switch a gate off.
    fn same_cell(&self, cell: &CellEvidence) -> Option<(&'a CellEvidence, Option<String>)> {
        if let Some(same) = self.by_cell.get(&cell.cell) {
            return Some((same, None));
        }
        if let Some(same) = self.by_point.get(&cell.cell.point) {
            let note = format!("the reference ran on platform {}", same.cell.platform);
            return Some((same, Some(note)));
        }
        let same = self.by_settings.get(&format!("{:?}", cell.settings))?;
        Some((same, Some("the command of the reference differs: matched by settings".to_owned())))
    }
}

fn state(estimate: &Estimate, bounds: &Bounds) -> GateState {
    // With a reference of several runs the interval of the ratio decides: it has the reference's own uncertainty.
    let (low, high, least, most) = match &bounds.ratio {
        Some((ratio, least, most)) => (ratio.low, ratio.high, *least, *most),
        None => (estimate.low, estimate.high, bounds.low, bounds.high),
    };
    if low >= least && high <= most {
        GateState::Met
    } else if high < least || low > most {
        GateState::Failed
    } else {
        GateState::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(values: &[f64]) -> Evidence {
        let id = CellId { point: PointId("p".into()), platform: "local".into() };
        let cell = CellEvidence::new(id, "command", Settings::new(), values.to_vec());
        Evidence {
            name: "test".into(),
            metric: Metric { name: "rate".into(), unit: Unit::One, better: None },
            cells: vec![cell],
            rate: None,
            of_other_studies: 0,
        }
    }

    fn state_of(bound: Bound, values: &[f64], reference: Option<&Evidence>) -> GateState {
        let gate = Gate { metric: "rate".into(), bound, points: None };
        check(&gate, &evidence(values), reference)[0].state
    }

    #[test]
    fn the_interval_decides() {
        let values = [10., 11., 12., 13., 14., 15.];
        let at_least = |min| Bound::Range { min: Some(min), max: None };
        assert_eq!(state_of(at_least(9.0), &values, None), GateState::Met);
        assert_eq!(state_of(at_least(20.0), &values, None), GateState::Failed);
        assert_eq!(state_of(at_least(12.0), &values, None), GateState::Undecided);
        assert_eq!(state_of(Bound::Range { min: None, max: Some(9.0) }, &values, None), GateState::Failed);
        assert_eq!(state_of(Bound::Near { expect: 12.5, within: 0.5 }, &values, None), GateState::Met);
        assert_eq!(state_of(at_least(9.0), &[], None), GateState::Unknown);
        assert_eq!(state_of(at_least(9.0), &[10.], None), GateState::Undecided);
    }

    #[test]
    fn a_reference_record_gives_the_expectation() {
        let near = || Bound::NearRecord { record: "nightly".into(), within: 0.1 };
        let reference = evidence(&[100., 100., 100., 100., 100., 100.]);
        assert_eq!(state_of(near(), &[101., 102., 99., 98., 103., 100.], Some(&reference)), GateState::Met);
        assert_eq!(state_of(near(), &[50., 51., 52., 53., 54., 55.], Some(&reference)), GateState::Failed);
        assert_eq!(state_of(near(), &[50.], None), GateState::Unknown);
    }

    #[test]
    fn better_than_expected_never_fails() {
        let reference = evidence(&[100., 101., 102., 99., 98., 100.]);
        let near = |better, values: &[f64]| {
            let gate = Gate {
                metric: "rate".into(),
                bound: Bound::NearRecord { record: "nightly".into(), within: 0.1 },
                points: None,
            };
            let mut measured = evidence(values);
            measured.metric.better = better;
            check(&gate, &measured, Some(&reference))[0].state
        };
        let fast = [25., 25.5, 26., 24.5, 25., 25.2];
        assert_eq!(near(Some(Direction::Lower), &fast), GateState::Met);
        assert_eq!(near(Some(Direction::Higher), &fast), GateState::Failed);
        assert_eq!(near(None, &fast), GateState::Failed);
        assert_eq!(near(Some(Direction::Lower), &[105., 125., 99., 118., 104., 112.]), GateState::Undecided);
    }

    #[test]
    fn an_edited_command_is_matched_by_its_settings() {
        let gate = Gate {
            metric: "rate".into(),
            bound: Bound::NearRecord { record: "nightly".into(), within: 0.1 },
            points: None,
        };
        let mut edited = evidence(&[100.; 6]);
        edited.cells[0].cell.point = PointId("other".into());
        let found = &check(&gate, &edited, Some(&evidence(&[100.; 6])))[0];
        assert_eq!(found.state, GateState::Met);
        assert!(found.note.as_ref().unwrap().contains("matched by settings"));
    }
}
