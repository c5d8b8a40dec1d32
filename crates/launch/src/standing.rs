//! How a plan and the record it goes on with stand to each other.

use std::collections::BTreeSet;

use assay_campaign::Plan;
use assay_model::{CellId, CurrentPlan, Entry, PlannedCell, Status};
use assay_store::secrets::Secrets;
use assay_store::{Store, StoreError};

use crate::schedule::CellProgress;

/// Writes the plan down if it is not the one in effect: new cells and cells that are no longer planned.
pub fn record_plan(plan: &Plan, store: &mut Store, secrets: &Secrets) -> Result<(), StoreError> {
    let text = secrets.mask(&plan.text);
    let state = store.state();
    let known = state.plan.as_ref();
    if known.is_some_and(|known| known.hash == plan.hash && known.campaign == text) {
        return Ok(());
    }
    let wanted: BTreeSet<&CellId> = plan.cells.iter().map(|planned| &planned.cell).collect();
    let add: Vec<PlannedCell> = plan
        .cells
        .iter()
        .filter(|planned| !state.cells.get(&planned.cell).is_some_and(|cell| cell.planned))
        .cloned()
        .collect();
    let drop: Vec<CellId> = state
        .cells
        .iter()
        .filter(|(cell, known)| known.planned && !wanted.contains(cell))
        .map(|(cell, _)| cell.clone())
        .collect();
    let current = CurrentPlan {
        hash: plan.hash.clone(),
        question: secrets.mask(&plan.question),
        headline: plan.headline.clone(),
        seed: plan.seed,
        campaign: text,
        repeats: plan.repeats.at_least,
        precision: plan.repeats.precision,
        fewer: fewer(plan),
        varied: plan.varied.clone(),
        metrics: plan.metrics.clone(),
        gates: plan.gates.clone(),
        layout: plan.layout.clone(),
    };
    store.commit(&Entry::Plan { plan: Box::new(current), add, drop })?;
    Ok(())
}

/// The cells that are run less often than the others.
fn fewer(plan: &Plan) -> Vec<(CellId, u32)> {
    let of_cell =
        |(index, planned): (usize, &PlannedCell)| Some((planned.cell.clone(), plan.fewer_of(index)?));
    plan.cells.iter().enumerate().filter_map(of_cell).collect()
}

/// What the record already has of the plan's cells.
pub fn progress(plan: &Plan, store: &Store) -> Vec<CellProgress> {
    let state = store.state();
    let of_cell = |(index, planned): (usize, &PlannedCell)| {
        let mut progress = CellProgress { fewer: plan.fewer_of(index), ..CellProgress::default() };
        for run in state.cells.get(&planned.cell).map_or(&[] as &[_], |cell| &cell.runs) {
            match &run.status {
                Some(Status::Interrupted) | None => {}
                Some(status) if status.is_usable() => {
                    progress.done.insert(run.repeat);
                    progress.values.extend(state.value(run, &plan.headline));
                }
                Some(_) => {
                    progress.done.insert(run.repeat);
                    progress.failed.insert(run.repeat);
                }
            }
        }
        progress
    };
    plan.cells.iter().enumerate().map(of_cell).collect()
}
