//! The plan: cells in order, with all that is needed to start their runs. It is made before anything starts, and two
//! machines that read the same file make the same one.

mod invocation;
mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_model::entry::PlannedCell;
use assay_model::identity::hash_text;
use assay_model::platform::Limits;
use assay_model::{CellId, Gate, Layout, Metric, Platform, PointId, Value};

use crate::campaign::{Campaign, Order, Pattern, Repeats, RunPolicy, Workload};
use crate::check::{self, Resources};
use crate::expand::{self, Expansion};
use crate::expression::NameScope;
use crate::problem::{Problem, Problems};
use crate::template::Template;
pub use invocation::{Invocation, InvocationError, Recording, RecordingSource, RenderedFile, RunPaths};
pub use order::TimeEstimate;

/// What is known about the world when a plan is made.
pub struct PlanContext<'a> {
    /// Probed limits by platform, for what the catalog leaves open.
    pub limits: BTreeMap<String, Limits>,
    /// Seconds that a run of a cell took in an earlier record.
    pub earlier: &'a dyn Fn(&CellId) -> Option<f64>,
}

impl Default for PlanContext<'_> {
    /// Nothing is known: no limits, no earlier record.
    fn default() -> Self {
        PlanContext { limits: BTreeMap::new(), earlier: &|_| None }
    }
}

/// A campaign expanded into cells.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The campaign's name.
    pub name: String,
    /// The campaign's question.
    pub question: String,
    /// The content hash: cells in their order, repeats and order policy.
    pub hash: String,
    /// The seed of the order and of the seeds of runs.
    pub seed: u64,
    /// The metric the answer is about.
    pub headline: String,
    /// The log dialect the campaign asks for; `auto` leaves it to the platform or to the text.
    pub dialect: String,
    /// The user's own patterns.
    pub patterns: Vec<Pattern>,
    /// Metrics the campaign declares, with units and directions.
    pub metrics: Vec<Metric>,
    /// The tables that are asked for beside the plain one.
    pub layout: Layout,
    /// Bounds that runs must meet; `gates_of` says which apply to a cell.
    pub gates: Vec<Gate>,
    /// The cells: points in the order of the file, each on every platform.
    pub cells: Vec<PlannedCell>,
    /// How many points of the matrix were excluded, and cells left out because they do not fit their platform.
    pub excluded: usize,
    /// The settings that differ between cells, in the order of the file.
    pub varied: Vec<String>,
    /// How often each cell is run.
    pub repeats: Repeats,
    pub order: Order,
    /// Where runs happen.
    pub platforms: Vec<Platform>,
    /// The campaign file's text, for the record.
    pub text: Arc<str>,
    /// What is doubtful but stops nothing.
    pub warnings: Problems,
    workload: Arc<Workload>,
    own_workloads: BTreeMap<String, Arc<Workload>>,
    follow: Vec<Template>,
    run: RunPolicy,
    directory: PathBuf,
    resources: Vec<Resources>,
    expected_s: Vec<Option<f64>>,
    least: Vec<u32>,
}

impl Plan {
    pub(crate) fn new(campaign: &Campaign, context: &PlanContext<'_>) -> Result<Plan, Problems> {
        let mut problems = campaign.warnings.clone();
        let expansion = expand::expand(campaign, &mut problems);
        let platforms: Vec<Platform> =
            campaign.platforms.iter().map(|(platform, _)| platform.clone()).collect();
        let excluded = expansion.excluded;
        let mut cells = cells(expansion, &platforms, campaign);
        let checked = check::check(campaign, &mut cells, context, &mut problems);
        let gates = gates(campaign, &cells, &mut problems);
        let hash = hash(campaign, &cells, &checked.least);
        let mut plan = Plan {
            name: campaign.name.clone(),
            question: campaign.question.clone(),
            seed: campaign.order.seed.unwrap_or_else(|| order::default_seed(&hash)),
            hash,
            headline: campaign.read.headline.clone(),
            dialect: campaign.read.dialect.clone(),
            patterns: campaign.read.patterns.clone(),
            metrics: campaign.read.metrics.clone(),
            layout: campaign.layout.clone(),
            gates,
            cells,
            excluded: excluded + checked.left_out,
            varied: campaign.sweep.varied(),
            repeats: campaign.repeats.clone(),
            order: campaign.order.clone(),
            platforms,
            text: campaign.text.clone(),
            warnings: Problems::new(campaign.file.clone(), campaign.text.clone(), Vec::new()),
            workload: campaign.workload.clone(),
            own_workloads: campaign.own_workloads.clone(),
            follow: campaign.read.follow.clone(),
            run: campaign.run.clone(),
            directory: campaign.directory.clone(),
            resources: checked.resources,
            expected_s: checked.expected_s,
            least: checked.least,
        };
        problems.extend(plan.verify_files());
        problems.extend(plan.verify_logs());
        let problems = Problems::new(campaign.file.clone(), campaign.text.clone(), problems);
        if problems.has_errors() {
            return Err(problems);
        }
        plan.warnings = problems;
        Ok(plan)
    }

    /// The directory of the campaign file.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The commands, what is run around them, and the texts of settings: what a record keeps word for word.
    pub fn texts(&self) -> Vec<&str> {
        let workloads = self.own_workloads.values().chain([&self.workload]);
        let commands = workloads.flat_map(|workload| {
            let steps = workload.prepare.iter().chain(&workload.cleanup);
            workload.commands.iter().map(|command| &command.template).chain(steps).map(|text| text.text())
        });
        let settings = self.cells.iter().flat_map(|cell| cell.settings.values());
        let settings = settings.filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        commands.chain(settings).collect()
    }

    /// The variables that the campaign and its platforms set for runs, with their texts.
    pub fn variables(&self) -> Vec<(&str, &str)> {
        let workloads = self.own_workloads.values().chain([&self.workload]);
        let of_workloads = workloads.flat_map(|workload| &workload.environment);
        let of_platforms = self.platforms.iter().flat_map(|platform| &platform.environment);
        of_workloads
            .map(|(name, template)| (name.as_str(), template.text()))
            .chain(of_platforms.map(|(name, value)| (name.as_str(), value.as_str())))
            .collect()
    }

    /// The expected run time of a cell in seconds, where known.
    pub fn expected_s(&self, cell: usize) -> Option<f64> {
        self.expected_s.get(cell).copied().flatten()
    }

    /// The programs that runs start, as the commands name them; none where this program itself runs a workload. What
    /// follows from settings or from shell syntax is left out.
    pub fn programs(&self) -> Vec<String> {
        if self.workload.is_built_in() {
            return Vec::new();
        }
        let words = self.workload.commands.iter().filter_map(|command| command.template.words().ok());
        let first = words.filter_map(|words| {
            let mut texts = words.iter().map(|word| word.render(&|_| None).unwrap_or_default());
            texts.find(|text| !text.contains('='))
        });
        first.filter(|text| !text.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether this program itself runs a workload.
    pub fn is_built_in(&self) -> bool {
        self.workload.is_built_in()
    }

    /// How often each cell is run before its first measured run.
    pub fn warmup(&self) -> u32 {
        self.run.warmup
    }

    /// How often a cell is run at least.
    pub fn least_of(&self, cell: usize) -> u32 {
        self.least.get(cell).copied().unwrap_or(self.repeats.at_least)
    }

    /// How often a cell is run at most.
    pub fn most_of(&self, cell: usize) -> u32 {
        self.fewer_of(cell).unwrap_or(self.repeats.at_most)
    }

    /// How often a cell is run that is run less often than the others: so often, and never more.
    pub fn fewer_of(&self, cell: usize) -> Option<u32> {
        Some(self.least_of(cell)).filter(|least| *least < self.repeats.at_least)
    }

    /// What a run of a cell asks of its platform.
    pub fn resources(&self, cell: usize) -> Resources {
        self.resources.get(cell).copied().unwrap_or_default()
    }

    /// What is run for a cell: its platform's own workload, or the campaign's.
    fn workload_of(&self, cell: usize) -> &Workload {
        let platform = self.cells.get(cell).map(|planned| planned.cell.platform.as_str()).unwrap_or_default();
        self.own_workloads.get(platform).unwrap_or(&self.workload)
    }

    pub fn platform(&self, cell: usize) -> Option<&Platform> {
        let name = &self.cells.get(cell)?.cell.platform;
        self.platforms.iter().find(|platform| platform.name == *name)
    }

    /// The log dialect on a platform: what the campaign asks for, else what the platform writes, else `auto`.
    pub fn dialect_on<'a>(&'a self, platform: &'a Platform) -> &'a str {
        match self.dialect.as_str() {
            "auto" => platform.dialect.as_deref().unwrap_or("auto"),
            asked => asked,
        }
    }
}

/// Every point on every platform.
fn cells(expansion: Expansion, platforms: &[Platform], campaign: &Campaign) -> Vec<PlannedCell> {
    let mut cells = Vec::with_capacity(expansion.points.len() * platforms.len());
    for (point, settings) in expansion.points {
        let cell = |point: PointId, platform: &Platform, settings| {
            let own = campaign.own_workloads.get(&platform.name);
            // What a platform runs instead is part of what its cells are.
            let point = match own {
                Some(own) => expand::point_with(&point, own, &settings),
                None => point,
            };
            PlannedCell {
                cell: CellId { point, platform: platform.name.clone() },
                workload: own.unwrap_or(&campaign.workload).kind.clone(),
                settings,
            }
        };
        // The last platform takes the settings over: most campaigns have one, and then nothing is copied.
        let Some((last, others)) = platforms.split_last() else { continue };
        cells.extend(others.iter().map(|platform| cell(point.clone(), platform, settings.clone())));
        cells.push(cell(point, last, settings));
    }
    cells
}

/// The gates, each with the points that it is for.
fn gates(campaign: &Campaign, cells: &[PlannedCell], problems: &mut Vec<Problem>) -> Vec<Gate> {
    let mut gates = Vec::new();
    for rule in &campaign.gates {
        let points = rule.condition.as_ref().map(|condition| {
            let mut failure = None;
            let mut points = BTreeSet::new();
            for cell in cells {
                match condition.expression.holds(NameScope::of(&cell.settings)) {
                    Ok(true) => drop(points.insert(cell.cell.point.clone())),
                    Ok(false) => {}
                    Err(error) => drop(failure.get_or_insert_with(|| condition.failure(error))),
                }
            }
            match failure {
                Some(problem) => problems.push(problem),
                None if !cells.is_empty() && points.is_empty() => {
                    let mut problem =
                        condition.problem(format!("the gate on `{}` applies to no cell", rule.metric));
                    problem.severity = crate::problem::Severity::Warning;
                    problems.push(problem);
                }
                None => {}
            }
            points.into_iter().collect()
        });
        gates.push(Gate { metric: rule.metric.clone(), bound: rule.bound.clone(), points });
    }
    gates
}

/// The content hash of a plan. The seed is part of it only where the file gives one: otherwise it follows from it.
fn hash(campaign: &Campaign, cells: &[PlannedCell], least: &[u32]) -> String {
    /// Written in the order of these fields, whatever order maps have elsewhere.
    #[derive(serde::Serialize)]
    struct Content<'a> {
        cells: Vec<&'a CellId>,
        order: &'a Order,
        repeats: &'a Repeats,
        /// Absent where all cells are run alike, so that such plans keep the hash they always had.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fewer: Vec<(&'a CellId, u32)>,
    }
    let usual = campaign.repeats.at_least;
    let fewer = cells.iter().zip(least).filter(|(_, least)| **least < usual);
    let content = Content {
        cells: cells.iter().map(|cell| &cell.cell).collect(),
        order: &campaign.order,
        repeats: &campaign.repeats,
        fewer: fewer.map(|(cell, least)| (&cell.cell, *least)).collect(),
    };
    // Plain data under text keys: writing it cannot fail.
    hash_text(&serde_json::to_string(&content).unwrap_or_default())
}
