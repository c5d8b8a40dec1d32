//! What is checked cell by cell before anything starts: resources against limits, and times against each other.

mod repeats;
mod resources;
mod time;

use std::collections::BTreeMap;

use assay_model::entry::PlannedCell;
use assay_model::platform::Limits;

use crate::campaign::Campaign;
use crate::expand::describe;
use crate::plan::PlanContext;
use crate::problem::Problem;
pub use resources::Resources;

/// What the checks found out about the cells.
#[derive(Debug, Default)]
pub(crate) struct CheckedCells {
    /// How many cells were left out because they do not fit their platform.
    pub(crate) left_out: usize,
    /// What each cell asks for.
    pub(crate) resources: Vec<Resources>,
    /// The expected run time of each cell, in seconds.
    pub(crate) expected_s: Vec<Option<f64>>,
    /// How often each cell is run at least.
    pub(crate) least: Vec<u32>,
}

/// Checks every cell. Cells that do not fit their platform are taken out where the campaign wants that.
pub(crate) fn check(
    campaign: &Campaign,
    cells: &mut Vec<PlannedCell>,
    context: &PlanContext<'_>,
    problems: &mut Vec<Problem>,
) -> CheckedCells {
    let varied = campaign.sweep.varied();
    let mut groups = Groups { groups: BTreeMap::new(), varied: &varied, cells: cells.len() };
    let limits: Vec<Limits> = campaign
        .platforms
        .iter()
        .map(|(platform, _)| filled(&platform.limits, context.limits.get(&platform.name)))
        .collect();
    let width = limits.len().max(1);
    let mut checked = CheckedCells::default();
    let unlimited = Limits::default();
    let mut index = 0;
    cells.retain(|cell| {
        // Every point is there on every platform, in the order of the platforms.
        let limits = limits.get(index % width).unwrap_or(&unlimited);
        index += 1;
        let Some(resources) = resources::check(campaign, cell, limits, &mut groups) else { return false };
        checked.resources.push(resources);
        checked.expected_s.push(time::check(campaign, cell, limits, context, &mut groups));
        true
    });
    groups.report(problems);
    checked.left_out = index - cells.len();
    if checked.left_out > 0 && cells.is_empty() {
        problems.push(Problem::error("no cell is left: none fits its platform"));
    }
    checked.least = repeats::least(&campaign.repeats, cells, problems);
    time::check_budget(campaign, &checked, problems);
    time::check_limits(campaign, &limits, problems);
    time::check_required(campaign, problems);
    resources::check_pin(campaign, &limits, problems);
    checked
}

/// The limits of the catalog and of the probe, the smaller one where both have one.
fn filled(limits: &Limits, probed: Option<&Limits>) -> Limits {
    let Some(probed) = probed else { return limits.clone() };
    let least = |file: Option<u64>, probed: Option<u64>| file.into_iter().chain(probed).min();
    Limits {
        nodes: least(limits.nodes, probed.nodes),
        cpus_per_node: least(limits.cpus_per_node, probed.cpus_per_node),
        memory_per_node_bytes: least(limits.memory_per_node_bytes, probed.memory_per_node_bytes),
        devices_per_node: least(limits.devices_per_node, probed.devices_per_node),
        device: limits.device.clone().or_else(|| probed.device.clone()),
        time_s: limits.time_s.into_iter().chain(probed.time_s).reduce(f64::min),
    }
}

/// Problems that many cells share are reported once, with their number and the first cell.
struct Groups<'a> {
    groups: BTreeMap<(&'static str, String), Group>,
    varied: &'a [String],
    cells: usize,
}

struct Group {
    problem: Problem,
    first: String,
    count: usize,
}

impl Groups<'_> {
    /// Adds a problem of a cell. Its text is only made for the first cell of a group.
    fn add(&mut self, check: &'static str, cell: &PlannedCell, problem: impl FnOnce() -> Problem) {
        let key = (check, cell.cell.platform.clone());
        let varied = self.varied;
        let group = self.groups.entry(key).or_insert_with(|| {
            let settings = describe(&cell.settings, varied);
            let place = format!("on `{}`", cell.cell.platform);
            let first = if settings.is_empty() { place } else { format!("{settings} {place}") };
            Group { problem: problem(), first, count: 0 }
        });
        group.count += 1;
    }

    fn report(self, problems: &mut Vec<Problem>) {
        for group in self.groups.into_values() {
            let mut problem = group.problem;
            let share = match (group.count, self.cells) {
                (_, 1) => String::new(),
                (1, cells) => format!("1 of {cells} cells: "),
                (count, cells) => format!("{count} of {cells} cells, first: "),
            };
            problem.message = format!("{} ({share}{})", problem.message, group.first);
            problems.push(problem);
        }
    }
}
