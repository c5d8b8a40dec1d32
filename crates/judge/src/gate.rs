//! Whether cells meet their gates. The interval decides: a gate that the interval straddles is neither met nor
//! failed, and says how it stands.

use assay_model::{Bound, CellId, Estimate, Gate, Settings, Unit};
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
    /// The interval reaches over the bound.
    Unclear,
    /// There is nothing to hold against the bound: no value, or no reference.
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
}

/// Holds cells against one gate. `reference` is the evidence of the record that the gate refers to.
pub fn check(gate: &Gate, evidence: &Evidence, reference: Option<&Evidence>) -> Vec<GateResult> {
    let asked = |cell: &&CellEvidence| {
        cell.planned && gate.points.as_ref().is_none_or(|points| points.contains(&cell.cell.point))
    };
    evidence
        .cells
        .iter()
        .filter(asked)
        .map(|cell| {
            let bound = ends(&gate.bound, cell, reference);
            let estimate = estimate(&cell.values);
            let state = match (&estimate, bound) {
                (Some(estimate), Some((low, high))) => state(estimate, low, high),
                _ => GateState::Unknown,
            };
            GateResult {
                cell: cell.cell.clone(),
                settings: cell.settings.clone(),
                gate: gate.clone(),
                unit: evidence.metric.unit.clone(),
                low: bound.map(|(low, _)| low).filter(|end| end.is_finite()),
                high: bound.map(|(_, high)| high).filter(|end| end.is_finite()),
                estimate,
                state,
            }
        })
        .collect()
}

fn ends(bound: &Bound, cell: &CellEvidence, reference: Option<&Evidence>) -> Option<(f64, f64)> {
    let near = |expect: f64, within: f64| (expect - within * expect.abs(), expect + within * expect.abs());
    match bound {
        Bound::Range { min, max } => Some((min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY))),
        Bound::Near { expect, within } => Some(near(*expect, *within)),
        Bound::NearRecord { within, .. } => {
            let cells = &reference?.cells;
            let same = cells
                .iter()
                .find(|other| other.cell == cell.cell)
                .or_else(|| cells.iter().find(|other| other.cell.point == cell.cell.point))?;
            Some(near(estimate(&same.values)?.center, *within))
        }
    }
}

fn state(estimate: &Estimate, low: f64, high: f64) -> GateState {
    if estimate.low >= low && estimate.high <= high {
        GateState::Met
    } else if estimate.high < low || estimate.low > high {
        GateState::Failed
    } else {
        GateState::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Metric, PointId};

    fn evidence(values: &[f64]) -> Evidence {
        let cell = CellEvidence {
            replayed: None,
            fewer: None,
            cell: CellId { point: PointId("p".into()), platform: "local".into() },
            workload: "command".into(),
            settings: Settings::new(),
            planned: true,
            counts: Default::default(),
            values: values.to_vec(),
            without: 0,
            parity: Default::default(),
        };
        Evidence {
            name: "test".into(),
            metric: Metric { name: "rate".into(), unit: Unit::One, better: None },
            cells: vec![cell],
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
        assert_eq!(state_of(at_least(12.0), &values, None), GateState::Unclear);
        assert_eq!(state_of(Bound::Range { min: None, max: Some(9.0) }, &values, None), GateState::Failed);
        assert_eq!(state_of(Bound::Near { expect: 12.5, within: 0.5 }, &values, None), GateState::Met);
        assert_eq!(state_of(at_least(9.0), &[], None), GateState::Unknown);
    }

    #[test]
    fn a_reference_record_gives_the_expectation() {
        let near = || Bound::NearRecord { record: "nightly".into(), within: 0.1 };
        let reference = evidence(&[100., 100., 100., 100., 100., 100.]);
        assert_eq!(state_of(near(), &[101., 102., 99., 98., 103., 100.], Some(&reference)), GateState::Met);
        assert_eq!(state_of(near(), &[50., 51., 52., 53., 54., 55.], Some(&reference)), GateState::Failed);
        assert_eq!(state_of(near(), &[50.], None), GateState::Unknown);
    }
}
