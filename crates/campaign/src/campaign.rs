//! One campaign file, read and validated. Every problem in the file is found in one go.

mod builder;
mod built_in;
mod fewer;
mod file;
mod gate;
mod names;
mod on_platform;
mod reading;
mod replay;
mod report;
mod resources;
mod schedule;
mod sweep;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_model::{Layout, Platform};

use crate::plan::{Plan, PlanContext};
use crate::problem::{Problem, Problems};
use crate::reader::{self, Collector, SpannedText, Table};
use crate::registry::Registry;
pub use builder::CampaignBuilder;
pub use fewer::Fewer;
pub use file::ConfigurationFile;
pub use gate::GateRule;
pub use names::Condition;
use names::Names;
pub use reading::{Pattern, ReadPolicy};
pub use replay::{REPLAY, Replay, ReplaySource};
pub use resources::{Amount, ResourceQuantity, ResourceRequest};
pub use schedule::{Expected, Order, OrderBy, Repeats, RunPolicy};
pub(crate) use sweep::MOST_POINTS;
pub use sweep::{Axis, Sweep};
pub(crate) use workload::COMMAND;
pub use workload::{CommandTemplate, Shell, Workload};

/// A campaign: a question, what is varied, where it runs, how often.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// The file's name, as shown to the user; empty for a campaign that was built in code.
    pub file: String,
    /// The file's text, or the text of a file that would give the same campaign.
    pub text: Arc<str>,
    /// The file's directory; relative paths in the file start here.
    pub directory: PathBuf,
    /// The campaign's name.
    pub name: String,
    /// The question it answers; may be empty.
    pub question: String,
    /// What is run.
    pub workload: Arc<Workload>,
    /// Which points there are.
    pub sweep: Sweep,
    /// How often each cell is run.
    pub repeats: Repeats,
    pub order: Order,
    /// For how long, and bound to what.
    pub run: RunPolicy,
    /// What runs ask of their platform.
    pub resources: ResourceRequest,
    /// What is read from logs.
    pub read: ReadPolicy,
    /// The tables that are asked for beside the plain one.
    pub layout: Layout,
    /// Bounds that runs must meet.
    pub gates: Vec<GateRule>,
    /// Workloads that platforms have of their own, by platform.
    pub own_workloads: BTreeMap<String, Arc<Workload>>,
    /// Where it runs, with the places of the names in the file.
    pub platforms: Vec<(Platform, Range<usize>)>,
    /// What is doubtful but stops nothing.
    pub(crate) warnings: Vec<Problem>,
}

/// Why a campaign file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The file could not be read.
    #[error("the campaign file `{path}` cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file was read, and is wrong.
    #[error("{0}")]
    Problems(Problems),
}

impl Campaign {
    /// Reads and validates a campaign file.
    pub fn load(path: &Path, registry: &Registry) -> Result<Campaign, CampaignError> {
        let failed = |source| CampaignError::Read { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let absolute = std::path::absolute(path).map_err(failed)?;
        let directory = absolute.parent().unwrap_or(Path::new("/"));
        Campaign::parse(&path.to_string_lossy(), &text, directory, registry).map_err(CampaignError::Problems)
    }

    /// Validates the text of a campaign file. `directory` is where its relative paths start.
    pub fn parse(
        file: &str,
        text: &str,
        directory: &Path,
        registry: &Registry,
    ) -> Result<Campaign, Problems> {
        let problems = Collector::new(text);
        let parsed = reader::parse(text, &problems);
        let campaign = {
            let mut top = Table::new(parsed.get_ref(), 0..0, "", &problems);
            let campaign = read(&mut top, file, text, directory, registry, &problems);
            top.finish();
            campaign
        };
        let found = Problems::new(file, text, problems.into_list());
        match campaign {
            Some(mut campaign) if !found.has_errors() => {
                campaign.warnings = found.list;
                Ok(campaign)
            }
            _ => Err(found),
        }
    }

    /// Starts a campaign on a built-in workload in code, without a file.
    pub fn for_workload(name: &str, workload: &str) -> CampaignBuilder {
        CampaignBuilder::new(name, workload)
    }

    /// Starts a campaign on commands in code, without a file.
    pub fn for_commands(name: &str) -> CampaignBuilder {
        CampaignBuilder::new(name, COMMAND)
    }

    /// Expands the campaign into a plan. Problems that stop nothing are part of the plan.
    pub fn plan(&self, context: &PlanContext<'_>) -> Result<Plan, Problems> {
        Plan::new(self, context)
    }
}

fn read<'a>(
    top: &mut Table<'a>,
    file: &str,
    text: &str,
    directory: &Path,
    registry: &Registry,
    problems: &'a Collector<'a>,
) -> Option<Campaign> {
    let name = top.get("name").map(|item| item.text());
    let name = match name {
        Some(text) => text.and_then(|text| read_name(Some(&text), problems)),
        None => read_name(None, problems),
    };
    let question = top.get("question").and_then(|item| item.text()).map(|text| text.value);
    let replay = replay::find(top);
    let given = workload::kind(top, replay.is_some(), problems);
    let built_in = given.as_ref().map_or(Ok(None), |given| given.built_in(registry, problems));
    let described = built_in.ok().flatten();
    let own: BTreeSet<String> = described
        .iter()
        .flat_map(|workload| workload.settings.iter().map(|setting| setting.name.clone()))
        .collect();
    let commands = given.as_ref().and_then(workload::command_names);
    let mut platform = on_platform::chosen(top, registry);
    let mut sweep = Sweep::read(top, platform.as_ref(), &own, commands, problems);
    let settings = own.iter().chain(sweep.places.keys()).cloned().collect();
    let names = Names::new(settings, problems);
    sweep.read_conditions(top, &names);
    let has_workload = given.is_some();
    let usual_platform = if replay.is_some() && !has_workload { REPLAY } else { "local" };
    let (mut run, mut platforms) = schedule::read_run(top, usual_platform, registry, &names, problems);
    if let Some(item) = platform.as_ref().and_then(|table| table.peek("timeout")) {
        run.timeout_s = schedule::duration(&item);
        run.timeout_place = Some(item.span);
    }
    let replay = replay::read(replay, &mut platforms, has_workload, registry, &names, problems);
    let tables = on_platform::find(top);
    run.job_time_places = on_platform::job_time_places(&tables);
    let own_workloads = on_platform::read(tables, &mut platforms, directory, registry, &names, problems);
    let of_platform = platform.as_mut().filter(|table| table.peek("resources").is_some());
    let resources = match of_platform {
        Some(table) => {
            // Read for its problems, too.
            ResourceRequest::read(top, &names);
            ResourceRequest::read(table, &names)
        }
        None => ResourceRequest::read(top, &names),
    };
    let policy = ReadPolicy::read(top, described, registry, &names, problems);
    if let (Some(place), true) = (&policy.follow_place, replay.is_some()) {
        let problem = Problem::warning("`follow` changes nothing where a log is played");
        problems.add(problem.at(place.clone()).label("never used"));
    }
    let layout = report::read(top, &policy, &names, problems);
    let gates = gate::read(top, &policy, &names, directory, problems);
    let (repeats, budget_place) = schedule::read_repeats(top, &names, problems);
    run.budget_place = budget_place;
    let order = schedule::read_order(top, problems);
    let known_workload = built_in.is_ok();
    // An unknown workload is one problem; its settings and keys cannot be judged.
    let workload = match given.filter(|_| known_workload) {
        Some(given) => workload::read(given, described, directory, &names, problems),
        None => replay.as_ref().map(|_| Workload::replayed(directory)),
    };
    if workload.is_some() {
        warn_unused(&sweep, &names, problems);
    }
    let labels = names.into_labels();
    if let Some(description) = described {
        built_in::check_settings(description, &mut sweep, &labels, problems);
    }
    Some(Campaign {
        file: file.to_owned(),
        text: text.into(),
        directory: directory.to_owned(),
        name: name?,
        question: question.unwrap_or_default(),
        workload: Arc::new(Workload { replay, ..workload? }),
        sweep,
        repeats,
        order,
        run,
        resources,
        read: policy,
        layout,
        gates,
        own_workloads,
        platforms,
        warnings: Vec::new(),
    })
}

/// The name is also a directory's, with room for what is added when a record is moved aside.
const LONGEST_NAME: usize = 200;

fn read_name(given: Option<&SpannedText>, problems: &Collector<'_>) -> Option<String> {
    let Some(text) = given else {
        problems.add(
            Problem::error("the campaign has no name").hint("add `name = \"…\"` at the top of the file"),
        );
        return None;
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    // The name becomes a directory: it must not hide there or lead elsewhere.
    let fitting = !text.value.is_empty() && text.value.len() <= LONGEST_NAME;
    if fitting && text.value.chars().all(fits) && !text.value.starts_with('.') {
        return Some(text.value.clone());
    }
    let shown: String = text.value.chars().take(60).collect();
    let problem = Problem::error(format!("`{shown}` cannot be the name of a campaign")).at(text.span.clone());
    problems.add(problem.hint(format!(
        "names are at most {LONGEST_NAME} letters, digits, `.`, `_` and `-`, and do not begin with a dot"
    )));
    None
}

/// A setting that nothing uses changes nothing, and the campaign would compare a thing with itself.
fn warn_unused(sweep: &Sweep, names: &Names<'_>, problems: &Collector<'_>) {
    for (name, place) in &sweep.places {
        if !names.is_used(name) && name != workload::COMMAND_SETTING {
            let problem = Problem::warning(format!("the setting `{name}` is never used: it changes nothing"));
            let hint = match problems.is_file() {
                true => {
                    format!("put `{{{name}}}` into the command, or list it in `labels` if it is only a label")
                }
                false => format!("put `{{{name}}}` into the command"),
            };
            problems.add(problem.at(place.clone()).label("never used").hint(hint));
        }
    }
}
