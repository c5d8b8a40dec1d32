//! What all checks look at: the documents, their runs with the settings that were really in effect, and which runs
//! did the same thing.

use std::collections::BTreeMap;

use assay_model::{
    Document, Observation, Origin, ReadRun, Series, SettingFact, Source, Statement, Table, TableRow, Unit,
    Value, names,
};

use self::settings::{disproved, effective};
use super::RepeatGroup;
use super::same::{self, Same};

mod settings;

/// The documents under audit, looked through once.
pub(super) struct Facts<'a> {
    /// The documents, in the order given.
    pub(super) documents: &'a [Document],
    /// All runs of all documents, in the order of the documents.
    pub(super) runs: Vec<Run<'a>>,
    /// Runs that did the same thing, two at least.
    pub(super) same: Vec<Same>,
    /// Those by metric, as they are shown.
    pub(super) groups: Vec<RepeatGroup>,
}

/// A run with what was really in effect.
pub(super) struct Run<'a> {
    /// The document it stands in.
    pub(super) document: &'a Document,
    /// The run as it was read.
    pub(super) read: &'a ReadRun,
    /// Settings in effect: observed before declared, without declared ones that the evidence makes doubtful.
    pub(super) effective: BTreeMap<&'a str, &'a Value>,
    /// Declared settings that the run's own evidence contradicts.
    pub(super) disproved: Vec<Disproved<'a>>,
}

/// A declared setting and the observed one that contradicts it.
pub(super) struct Disproved<'a> {
    /// What was asked for.
    pub(super) declared: &'a SettingFact,
    /// What was seen.
    pub(super) observed: &'a SettingFact,
}

impl<'a> Facts<'a> {
    /// Looks through the documents.
    pub(super) fn new(documents: &'a [Document]) -> Facts<'a> {
        let runs: Vec<Run<'a>> = documents
            .iter()
            .flat_map(|document| document.runs.iter().map(move |read| Run::new(document, read)))
            .collect();
        let same = same::find(&runs);
        let groups = same.iter().flat_map(Same::groups).collect();
        Facts { documents, runs, same, groups }
    }

    /// The runs of one document.
    pub(super) fn runs_of(&self, document: &'a Document) -> impl Iterator<Item = &Run<'a>> {
        self.runs.iter().filter(move |run| std::ptr::eq(run.document, document))
    }

    /// The runs of one document that come from logs.
    pub(super) fn logs_of(&self, document: &'a Document) -> impl Iterator<Item = &Run<'a>> {
        self.runs_of(document).filter(|run| run.is_log())
    }

    /// The runs that did the same thing as the one at this place among [`Facts::runs`], itself included.
    pub(super) fn same_as(&self, run: usize) -> Option<&Same> {
        self.same.iter().find(|same| same.members.contains(&run))
    }
}

impl<'a> Run<'a> {
    fn new(document: &'a Document, read: &'a ReadRun) -> Run<'a> {
        let disproved = disproved(read);
        let effective = effective(read, &disproved);
        Run { document, read, effective, disproved }
    }

    /// Whether it is a row of a table rather than a log.
    pub(super) fn is_row(&self) -> bool {
        self.read.dialects.first().is_some_and(|dialect| dialect == "table")
    }

    /// Whether it comes from a log.
    pub(super) fn is_log(&self) -> bool {
        !self.read.dialects.is_empty() && !self.is_row()
    }

    /// Whether a dialect found something in both runs.
    pub(super) fn shares_dialect(&self, other: &Run<'_>) -> bool {
        self.read.dialects.iter().any(|dialect| other.read.dialects.contains(dialect))
    }

    /// The make of machine.
    pub(super) fn platform(&self) -> Option<&'a str> {
        self.read.platform.as_deref()
    }

    /// The value of a setting in effect.
    pub(super) fn setting(&self, name: &str) -> Option<&'a Value> {
        self.effective.get(name).copied()
    }

    /// The value of a setting in effect, where it is a number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.setting(name).and_then(Value::number)
    }

    /// Whether a setting is in effect that is switched on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        match self.setting(name) {
            Some(Value::Switch(state)) => *state,
            Some(Value::Text(text)) => matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on"),
            Some(other) => other.number().is_some_and(|number| number != 0.0),
            None => false,
        }
    }

    /// The last measured or stated value of a metric; predictions do not count.
    pub(super) fn observation(&self, metric: &str) -> Option<&'a Observation> {
        self.read
            .observations
            .iter()
            .rev()
            .find(|observation| observation.metric == metric && is_measured(observation))
    }

    /// The number of an observation.
    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.observation(metric).map(|observation| observation.value).filter(|value| value.is_finite())
    }

    /// All values of a metric: one, or several where the columns of a table number repeats.
    pub(super) fn observations(&self, metric: &str) -> Vec<&'a Observation> {
        let numbered = self.row().is_some_and(|(table, _)| {
            table.columns.iter().filter(|column| same::numbers_repeats(&column.header)).count() > 1
        });
        let measured = |observation: &&Observation| {
            observation.metric == metric && is_measured(observation) && observation.value.is_finite()
        };
        match numbered {
            true => self.read.observations.iter().filter(measured).collect(),
            false => self.observation(metric).filter(|one| one.value.is_finite()).into_iter().collect(),
        }
    }

    /// The numbers of [`Run::observations`].
    pub(super) fn values(&self, metric: &str) -> Vec<f64> {
        self.observations(metric).into_iter().map(|observation| observation.value).collect()
    }

    /// How much was done, as near as is known: counted, or else the rate times the seconds.
    pub(super) fn rough_work(&self) -> Option<f64> {
        let product = || Some(self.value(names::SAMPLES_PER_S_LOOP)? * self.value(names::DURATION_LOOP)?);
        self.work().or_else(product).filter(|work| work.is_finite() && *work > 0.0)
    }

    /// The values of a metric per step.
    pub(super) fn series(&self, metric: &str) -> Option<&'a Series> {
        self.read.series.iter().find(|series| series.metric == metric && !series.values.is_empty())
    }

    /// How much was done: samples, else tokens, as the evidence counts them.
    pub(super) fn work(&self) -> Option<f64> {
        let stated = self.value(names::SAMPLES).or_else(|| self.value(names::TOKENS));
        let counted = || {
            self.read
                .observations
                .iter()
                .filter(|observation| observation.unit == Unit::PerSecond("samples".to_owned()))
                .filter(|observation| observation.scope != Some(assay_model::Scope::Instant))
                .find_map(|observation| observation.count)
        };
        stated.or_else(counted).filter(|work| work.is_finite() && *work > 0.0)
    }

    /// Seconds of all phases of this name together; none if there is none whose length is known.
    pub(super) fn phase_seconds(&self, name: &str) -> Option<f64> {
        let lengths: Vec<f64> = self
            .read
            .phases
            .iter()
            .filter(|phase| phase.name == name)
            .filter_map(|phase| phase.seconds)
            .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
            .collect();
        (!lengths.is_empty()).then(|| lengths.iter().sum())
    }

    /// Where the run begins.
    pub(super) fn source(&self) -> Source {
        self.read.span.source()
    }

    /// Where a metric is stated, or else where the run begins.
    pub(super) fn source_of(&self, metric: &str) -> Source {
        self.observation(metric)
            .and_then(|observation| observation.source.clone())
            .unwrap_or_else(|| self.source())
    }

    /// The table that the run was read from.
    pub(super) fn table(&self) -> Option<&'a Table> {
        let line = self.read.span.first;
        let tables = self.document.tables.iter();
        tables.filter(|_| self.is_row()).find(|table| (table.span.first..=table.span.last).contains(&line))
    }

    /// The table and the row that the run was read from; none where it is a column of its table.
    pub(super) fn row(&self) -> Option<(&'a Table, &'a TableRow)> {
        let table = self.table().filter(|table| !table.transposed)?;
        let after = table.rows.partition_point(|row| row.line <= self.read.span.first);
        Some((table, table.rows.get(after.checked_sub(1)?)?))
    }

    /// Whether nothing that is known says that another run did something else: same platform, and no setting that says
    /// what is run differs.
    pub(super) fn agrees_with(&self, other: &Run<'_>) -> bool {
        let settings = self.effective.iter().filter(|(name, _)| same::identifies(name));
        self.platform() == other.platform()
            && settings
                .into_iter()
                .all(|(name, value)| other.setting(name).is_none_or(|known| equal(value, known)))
    }

    /// Whether a setting says what was run; a column of a table does, whatever it is called.
    fn tells_apart(&self, name: &str) -> bool {
        let is_column = || self.read.settings.iter().any(|fact| fact.name == name && fact.by == "table");
        same::identifies(name) || self.is_row() && same::is_own(name) && is_column()
    }

    /// A few words that distinguish the run from another one: the settings in effect in which they differ.
    pub(super) fn label_against(&self, other: &Run<'_>) -> String {
        let differing: Vec<String> = self
            .effective
            .iter()
            .filter(|(name, value)| {
                self.tells_apart(name) && other.setting(name).is_some_and(|known| !equal(value, known))
            })
            .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
            .collect();
        if differing.is_empty() { self.label() } else { differing.join(", ") }
    }

    /// A few words that distinguish the run from others: its settings in effect.
    pub(super) fn label(&self) -> String {
        let parts: Vec<String> = self
            .effective
            .iter()
            .filter(|(name, _)| self.tells_apart(name))
            .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
            .collect();
        match (parts.is_empty(), &self.read.title) {
            (false, _) => parts.join(", "),
            (true, Some(title)) => title.clone(),
            (true, None) => format!("line {}", self.read.span.first),
        }
    }
}

/// Whether a value was measured, stated or derived, rather than predicted.
pub(super) fn is_measured(observation: &Observation) -> bool {
    observation.origin != Origin::Prediction
}

/// Where a statement begins.
pub(super) fn place(statement: &Statement) -> Source {
    statement.span.source()
}

/// Whether two values are the same, numbers up to the last digits of their arithmetic.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one.number(), other.number()) {
        (Some(a), Some(b)) => close(a, b, 1e-6),
        _ => one.to_string().eq_ignore_ascii_case(&other.to_string()),
    }
}

/// Whether two numbers agree within a share of the larger one.
pub(super) fn close(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * one.abs().max(other.abs())
}
