//! What all checks look at: the documents, their runs with the settings that were really in effect, and which runs
//! did the same thing.

use std::collections::{BTreeMap, HashMap};

use assay_model::{
    Document, Observation, Origin, ReadRun, Series, SettingFact, Source, Statement, Table, TableRow, Unit,
    Value, names,
};

use self::settings::{disproved, effective};
use super::RepeatGroup;
use super::claims;
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
    /// Which of those that are the same each run belongs to.
    same_of: HashMap<usize, usize>,
    /// The runs of each table. Every table is looked at, so none may look through all runs.
    runs_of_tables: HashMap<*const Table, Vec<usize>>,
    /// Sentences of each document in which the author doubts differences.
    hedges: HashMap<*const Document, Vec<&'a Statement>>,
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
    /// The table that it was read from.
    table: Option<&'a Table>,
}

/// The tables of a document in the order of their first lines.
struct TablesByLine<'a>(Vec<&'a Table>);

impl<'a> TablesByLine<'a> {
    fn new(document: &'a Document) -> TablesByLine<'a> {
        let mut tables: Vec<&Table> = document.tables.iter().collect();
        tables.sort_by_key(|table| table.span.first);
        TablesByLine(tables)
    }

    /// The table that a line stands in.
    fn at(&self, line: u64) -> Option<&'a Table> {
        let behind = self.0.partition_point(|table| table.span.first <= line);
        self.0.get(behind.checked_sub(1)?).copied().filter(|table| line <= table.span.last)
    }
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
            .flat_map(|document| {
                let tables = TablesByLine::new(document);
                document.runs.iter().map(move |read| Run::new(document, read, &tables))
            })
            .collect();
        let same = same::find(&runs);
        let groups = same.iter().flat_map(Same::groups).collect();
        let mut same_of = HashMap::new();
        for (index, same) in same.iter().enumerate() {
            for run in &same.members {
                same_of.entry(*run).or_insert(index);
            }
        }
        let mut runs_of_tables: HashMap<*const Table, Vec<usize>> = HashMap::new();
        for (index, run) in runs.iter().enumerate() {
            if let Some(table) = run.table {
                runs_of_tables.entry(std::ptr::from_ref(table)).or_default().push(index);
            }
        }
        let hedges = documents.iter().map(|document| {
            let doubts = document.statements.iter().filter(|one| claims::is_hedge(&one.text));
            (std::ptr::from_ref(document), doubts.collect())
        });
        Facts { documents, same_of, runs_of_tables, hedges: hedges.collect(), runs, same, groups }
    }

    /// The runs that a table states, with their places among [`Facts::runs`].
    pub(super) fn runs_of_table(&self, table: &Table) -> Vec<(usize, &Run<'a>)> {
        let places = self.runs_of_tables.get(&std::ptr::from_ref(table));
        places.into_iter().flatten().filter_map(|place| Some((*place, self.runs.get(*place)?))).collect()
    }

    /// Whether the author doubts differences in the same part of the document.
    pub(super) fn hedge(&self, document: &Document, headings: &[String]) -> Option<&'a Statement> {
        let doubts = self.hedges.get(&std::ptr::from_ref(document))?;
        let near = |statement: &&&Statement| {
            let outer = headings.len().min(statement.headings.len()).min(2);
            headings.get(..outer) == statement.headings.get(..outer)
        };
        doubts.iter().find(near).copied()
    }

    /// Which of [`Facts::same`] a run belongs to.
    pub(super) fn same_index(&self, run: usize) -> Option<usize> {
        self.same_of.get(&run).copied()
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
        self.same.get(self.same_index(run)?)
    }
}

impl<'a> Run<'a> {
    fn new(document: &'a Document, read: &'a ReadRun, tables: &TablesByLine<'a>) -> Run<'a> {
        let disproved = disproved(read);
        let effective = effective(read, &disproved);
        let mut run = Run { document, read, effective, disproved, table: None };
        run.table = tables.at(read.span.first).filter(|_| run.is_row());
        run
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
        self.table
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
