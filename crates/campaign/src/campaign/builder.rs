//! A campaign that is built in code, as `assay bench` and `assay load` do from their flags. It goes through the checks
//! of a campaign file; what is wrong is reported about settings instead of lines.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use assay_model::metric::Direction;
use assay_model::{Against, Settings, Value};
use serde::ser::{Serialize, Serializer};

use super::schedule::{self, RepeatBounds};
use super::sweep::Sweep;
use super::workload::{self, COMMAND, COMMAND_SETTING, Shell, Workload};
use super::{Campaign, Order, OrderBy, ReadPolicy, ResourceRequest, read_name, report, warn_unused};
use super::{built_in, names::Names};
use crate::problem::{Problem, Problems};
use crate::quantity;
use crate::reader::{Collector, SpannedText, Table};
use crate::registry::Registry;

/// A campaign in the making. Serialized, it is the campaign file that would give the same campaign.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CampaignBuilder {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    question: String,
    workload: WorkloadTable,
    #[serde(skip_serializing_if = "Settings::is_empty")]
    fixed: Settings,
    #[serde(skip_serializing_if = "VaryTable::is_empty")]
    vary: VaryTable,
    #[serde(rename = "where", skip_serializing_if = "WhereTable::is_empty")]
    conditions: WhereTable,
    #[serde(skip_serializing_if = "RepeatBounds::is_empty")]
    repeats: RepeatBounds,
    #[serde(skip_serializing_if = "OrderTable::is_empty")]
    order: OrderTable,
    #[serde(skip_serializing_if = "RunTable::is_empty")]
    run: RunTable,
    #[serde(skip_serializing_if = "ReadTable::is_empty")]
    read: ReadTable,
    #[serde(skip_serializing_if = "ReportTable::is_empty")]
    report: ReportTable,
}

#[derive(Debug, Clone, Default, serde::Serialize)]
struct WorkloadTable {
    kind: String,
    /// The command where there is one, which needs no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<Shell>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prepare: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleanup: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    #[serde(skip_serializing_if = "CommandsTable::is_empty")]
    commands: CommandsTable,
}

impl WorkloadTable {
    fn commands(&self) -> Vec<(Option<String>, SpannedText)> {
        let one = self.command.iter().map(|text| (None, SpannedText::given(text)));
        let several =
            self.commands.0.iter().map(|(name, text)| (Some(name.clone()), SpannedText::given(text)));
        one.chain(several).collect()
    }
}

/// Several commands by name, in the order in which they were given.
#[derive(Debug, Clone, Default)]
struct CommandsTable(Vec<(String, String)>);

impl CommandsTable {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for CommandsTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, command)| (name, command)))
    }
}

/// The varied settings in the order in which they were given, which is the order of the axes.
#[derive(Debug, Clone, Default)]
struct VaryTable(Vec<(String, Vec<Value>)>);

impl VaryTable {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for VaryTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, values)| (name, values)))
    }
}

#[derive(Debug, Clone, Default, serde::Serialize)]
struct WhereTable {
    exclude: Vec<String>,
}

impl WhereTable {
    fn is_empty(&self) -> bool {
        self.exclude.is_empty()
    }
}

#[derive(Debug, Clone, Default, serde::Serialize)]
struct OrderTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<OrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffle: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

impl OrderTable {
    fn is_empty(&self) -> bool {
        self.by.is_none() && self.shuffle.is_none() && self.seed.is_none()
    }
}

#[derive(Debug, Clone, Default, serde::Serialize)]
struct RunTable {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "schedule::seconds")]
    timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warmup: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    compact: bool,
}

impl RunTable {
    fn is_empty(&self) -> bool {
        self.timeout.is_none() && self.warmup.is_none() && !self.compact
    }
}

#[derive(Debug, Clone, Default, serde::Serialize)]
struct ReadTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metric: Vec<ExpectedMetric>,
}

#[derive(Debug, Clone, Default, serde::Serialize)]
struct ReportTable {
    across: Vec<String>,
    against: BTreeMap<String, Value>,
}

impl ReportTable {
    fn is_empty(&self) -> bool {
        self.across.is_empty()
    }
}

/// A metric that only the output of runs will show.
#[derive(Debug, Clone, serde::Serialize)]
struct ExpectedMetric {
    name: String,
    better: Direction,
}

impl ReadTable {
    fn is_empty(&self) -> bool {
        self.headline.is_none()
    }
}

impl CampaignBuilder {
    pub(super) fn new(name: &str, workload: &str) -> CampaignBuilder {
        CampaignBuilder {
            name: name.to_owned(),
            question: String::new(),
            workload: WorkloadTable { kind: workload.to_owned(), ..WorkloadTable::default() },
            fixed: Settings::new(),
            vary: VaryTable::default(),
            conditions: WhereTable::default(),
            repeats: RepeatBounds::default(),
            order: OrderTable::default(),
            run: RunTable::default(),
            read: ReadTable::default(),
            report: ReportTable::default(),
        }
    }

    /// Lays the values of a setting side by side, each compared with one of them at equal other settings.
    #[must_use]
    pub fn against(mut self, setting: &str, value: impl Into<Value>) -> Self {
        self.report.across = vec![setting.to_owned()];
        self.report.against = BTreeMap::from([(setting.to_owned(), value.into())]);
        self
    }

    /// The question the campaign answers, as a heading of its tables.
    #[must_use]
    pub fn question(mut self, question: impl Into<String>) -> Self {
        self.question = question.into();
        self
    }

    /// Runs this command alone.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.workload.command = Some(command.into());
        self
    }

    /// Runs several commands, each under its name, which is the value of the setting `command`.
    #[must_use]
    pub fn commands(mut self, commands: Vec<(String, String)>) -> Self {
        self.workload.commands.0 = commands;
        self
    }

    /// What interprets the commands; `sh` unless something else is asked for.
    #[must_use]
    pub fn shell(mut self, shell: Shell) -> Self {
        self.workload.shell = Some(shell);
        self
    }

    /// Runs a shell command before every run, untimed.
    #[must_use]
    pub fn prepare(mut self, command: impl Into<String>) -> Self {
        self.workload.prepare = Some(command.into());
        self
    }

    /// Runs a shell command after every run, untimed.
    #[must_use]
    pub fn cleanup(mut self, command: impl Into<String>) -> Self {
        self.workload.cleanup = Some(command.into());
        self
    }

    /// Runs each cell this often before its first measured run.
    #[must_use]
    pub fn warmup(mut self, runs: u32) -> Self {
        self.run.warmup = Some(runs);
        self
    }

    /// Keeps the output of short runs in the journal instead of a directory for each.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.run.compact = true;
        self
    }

    /// Gives a setting the same value in every run.
    #[must_use]
    pub fn fixed(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fixed.insert(name.into(), value.into());
        self
    }

    /// Runs the workload with each of these values. The setting varied last changes fastest.
    #[must_use]
    pub fn vary(mut self, name: impl Into<String>, values: Vec<Value>) -> Self {
        self.vary.0.push((name.into(), values));
        self
    }

    /// Gives a setting as flags do: one value is fixed, several are varied.
    #[must_use]
    pub fn setting(self, name: &str, mut values: Vec<Value>) -> Self {
        match (values.pop(), values.is_empty()) {
            (Some(only), true) => self.fixed(name, only),
            (Some(last), false) => {
                values.push(last);
                self.vary(name, values)
            }
            (None, _) => self,
        }
    }

    /// Declares settings that the workload does not know and that only label its runs.
    #[must_use]
    pub fn labels(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.workload.labels.extend(names);
        self
    }

    /// Leaves out the combinations for which an expression holds.
    #[must_use]
    pub fn exclude(mut self, expression: impl Into<String>) -> Self {
        self.conditions.exclude.push(expression.into());
        self
    }

    /// Runs each cell at least this often.
    #[must_use]
    pub fn repeats(mut self, at_least: u32) -> Self {
        self.repeats.at_least = Some(at_least);
        self
    }

    /// Runs no cell more often than this.
    #[must_use]
    pub fn at_most(mut self, at_most: u32) -> Self {
        self.repeats.at_most = Some(at_most);
        self
    }

    /// Repeats until the half-width of the headline's interval is below this share of its center.
    #[must_use]
    pub fn precision(mut self, share: f64) -> Self {
        self.repeats.precision = Some(share);
        self
    }

    /// What is finished first; rounds unless something else is asked for.
    #[must_use]
    pub fn order(mut self, by: OrderBy) -> Self {
        self.order.by = Some(by);
        self
    }

    /// Whether runs are shuffled; they are unless something else is asked for.
    #[must_use]
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.order.shuffle = Some(shuffle);
        self
    }

    /// The seed of the order; without one it follows from the plan.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.order.seed = Some(seed);
        self
    }

    /// Stops runs that take longer than this many seconds.
    #[must_use]
    pub fn timeout(mut self, seconds: f64) -> Self {
        self.run.timeout = Some(seconds);
        self
    }

    /// The metric the answer is about, instead of the workload's own.
    #[must_use]
    pub fn headline(mut self, metric: impl Into<String>) -> Self {
        self.read.headline = Some(metric.into());
        self
    }

    /// Declares a metric that runs print, and which direction is better.
    #[must_use]
    pub fn metric(mut self, name: impl Into<String>, better: Direction) -> Self {
        self.read.metric.push(ExpectedMetric { name: name.into(), better });
        self
    }

    /// Checks the campaign as a file would be checked. `directory` is where relative paths start.
    pub fn build(self, directory: &Path, registry: &Registry) -> Result<Campaign, Problems> {
        // Plain tables with text keys: writing them cannot fail.
        let text: Arc<str> = toml::to_string(&self).unwrap_or_default().into();
        let problems = Collector::for_flags();
        let campaign = self.check(text.clone(), directory, registry, &problems);
        let found = Problems::new("", text, problems.into_list());
        match campaign {
            Some(mut campaign) if !found.has_errors() => {
                campaign.warnings = found.list;
                Ok(campaign)
            }
            _ => Err(found),
        }
    }

    fn check_amounts(&self, problems: &Collector<'_>) {
        let repeats = &self.repeats;
        if repeats.at_least == Some(0) || repeats.at_most == Some(0) {
            problems.add(Problem::error("repeats must be at least 1"));
        }
        if let (Some(least), Some(most)) = (repeats.at_least, repeats.at_most)
            && least > most
        {
            problems.add(Problem::error(format!("at least {least} repeats, but at most {most}")));
        }
        if let Some(Err(reason)) = repeats.precision.map(quantity::check_share) {
            problems.add(Problem::error(format!("precision: {reason}")));
        }
        if self.run.timeout.is_some_and(|seconds| !(seconds > 0.0 && seconds < quantity::LONGEST_S)) {
            problems.add(Problem::error("the timeout must be above zero and below 300 years"));
        }
    }

    fn check(
        self,
        text: Arc<str>,
        directory: &Path,
        registry: &Registry,
        problems: &Collector<'_>,
    ) -> Option<Campaign> {
        self.check_amounts(problems);
        let name = read_name(Some(&SpannedText::given(&self.name)), problems);
        let kind = SpannedText::given(&self.workload.kind);
        let described = match self.workload.kind.as_str() {
            COMMAND => None,
            _ => Some(workload::find_built_in(&kind, registry, problems)?),
        };
        let settings = described.iter().flat_map(|described| &described.settings);
        let own = settings.map(|setting| setting.name.clone()).collect();
        let commands = self.workload.commands();
        let named: Vec<Value> =
            commands.iter().filter_map(|(name, _)| name.clone().map(Value::Text)).collect();
        let mut vary = self.vary.0;
        if !named.is_empty() {
            vary.insert(0, (COMMAND_SETTING.to_owned(), named));
        }
        let mut sweep = Sweep::given(self.fixed, vary, &own, problems);
        let names = Names::new(own.iter().chain(sweep.places.keys()).cloned().collect(), problems);
        for label in &self.workload.labels {
            names.label(&SpannedText::given(label));
        }
        let exclude = self.conditions.exclude.iter().map(|text| SpannedText::given(text));
        sweep.exclude = exclude.filter_map(|text| names.condition(&text, false)).collect();
        // What cannot be given in code is what an empty file has.
        let nothing = toml::de::DeTable::new();
        let mut top = Table::new(&nothing, 0..0, "", problems);
        let (mut run, platforms) = schedule::read_run(&mut top, "local", registry, &names, problems);
        run.timeout_s = self.run.timeout;
        run.warmup = self.run.warmup.unwrap_or(0);
        run.compact = self.run.compact;
        let mut read = ReadPolicy::read(&mut top, described, registry, &names, problems);
        for metric in &self.read.metric {
            read.expect(&metric.name, metric.better);
        }
        if let Some(headline) = &self.read.headline {
            read.read_headline(SpannedText::given(headline), problems);
        }
        let mut layout = report::read(&mut top, &read, &names, problems);
        layout.across = self.report.across;
        layout.against =
            self.report.against.into_iter().next().map(|(setting, value)| Against { setting, value });
        let mut workload = match described {
            Some(described) => Workload::built_in(described, directory, &names, problems),
            None => {
                let shell = self.workload.shell.unwrap_or(Shell::Sh);
                Workload::of_commands(&commands, shell, directory, &names, problems)
            }
        };
        if let Some(workload) = &mut workload {
            let step =
                |step: Option<String>| step.and_then(|text| names.template(&SpannedText::given(&text)));
            workload.prepare = step(self.workload.prepare);
            workload.cleanup = step(self.workload.cleanup);
        }
        warn_unused(&sweep, &names, problems);
        let labels = names.into_labels();
        if let Some(described) = described {
            built_in::check_settings(described, &mut sweep, &labels, problems);
        }
        Some(Campaign {
            file: String::new(),
            text,
            directory: directory.to_owned(),
            name: name?,
            question: self.question,
            workload: Arc::new(workload?),
            sweep,
            repeats: self.repeats.resolve(),
            order: Order {
                by: self.order.by.unwrap_or(OrderBy::Rounds),
                shuffle: self.order.shuffle.unwrap_or(true),
                seed: self.order.seed,
            },
            run,
            resources: ResourceRequest::default(),
            read,
            layout,
            gates: Vec::new(),
            own_workloads: BTreeMap::new(),
            platforms,
            warnings: Vec::new(),
        })
    }
}
