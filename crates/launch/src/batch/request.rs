//! What a campaign will request of a scheduler, for people who look before they submit.

use std::path::Path;

use assay_campaign::{Plan, Resources, RunPaths};
use assay_model::Platform;

use super::outcome::run_time_s;
use super::{QUEUED, scheduler_of};

/// The jobs of a campaign on one platform.
#[derive(Debug, Clone, PartialEq)]
pub struct JobsRequest {
    /// The platform.
    pub platform: String,
    /// Runs that are made at least.
    pub runs: u64,
    /// Runs of one job; none where that depends on how long they take.
    pub pack: Option<u64>,
    /// Whether jobs are submitted as tasks of arrays.
    pub has_arrays: bool,
    /// The most jobs in the queue at once.
    pub queued: u64,
    /// What an accelerator is called there; empty where the platform does not say.
    pub device: String,
    /// What the runs of each cell request.
    pub resources: Vec<Resources>,
    /// The time limit of a run, in seconds.
    pub time_s: Option<f64>,
    /// The most node hours that these runs can use; none without a time limit.
    pub node_hours: Option<f64>,
}

/// The request of a campaign to a platform with a scheduler.
pub fn jobs_request(plan: &Plan, platform: &Platform) -> Option<JobsRequest> {
    scheduler_of(platform).filter(|scheduler| !scheduler.is_direct())?;
    let on_it =
        |cell: &usize| plan.cells.get(*cell).is_some_and(|planned| planned.cell.platform == platform.name);
    let cells: Vec<usize> = (0..plan.cells.len()).filter(on_it).collect();
    let paths = RunPaths { assay: Path::new("assay"), run_directory: Path::new(".") };
    let invocation = plan.invocation(*cells.first()?, 1, &paths).ok()?;
    let settings = &platform.batch;
    let time_s = run_time_s(&invocation, settings);
    let runs = |cell: usize| u64::from(plan.least_of(cell));
    let nodes: u64 = cells.iter().map(|cell| runs(*cell) * nodes(&plan.resources(*cell))).sum();
    Some(JobsRequest {
        platform: platform.name.clone(),
        runs: cells.iter().map(|cell| runs(*cell)).sum(),
        pack: settings.pack_time_s.is_none().then_some(u64::from(settings.pack.max(1))),
        has_arrays: settings.array > 1,
        queued: settings.queued.unwrap_or(QUEUED).into(),
        device: platform.limits.device.clone().unwrap_or_default(),
        resources: cells.iter().map(|cell| plan.resources(*cell)).collect(),
        time_s,
        node_hours: time_s.map(|time_s| nodes as f64 * time_s / 3600.0),
    })
}

/// The nodes of a run.
fn nodes(resources: &Resources) -> u64 {
    let spread = || Some(resources.tasks?.div_ceil(resources.tasks_per_node?.max(1)));
    resources.nodes.or_else(spread).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_follow_from_tasks_where_they_are_not_given() {
        let spread = Resources { tasks: Some(9), tasks_per_node: Some(4), ..Resources::default() };
        assert_eq!(nodes(&spread), 3);
        assert_eq!(nodes(&Resources { nodes: Some(2), ..spread }), 2);
        assert_eq!(nodes(&Resources::default()), 1);
    }
}
