//! Runs that files state, as experiments: the rows of one table, or the logs of one platform. Each becomes a table with only
//! what differs, and the figures that show it.
//!
//! | file | holds |
//! |---|---|
//! | `experiments/grid.rs` | an experiment as a table |
//! | `experiments/drawn.rs` | an experiment as figures |

mod drawn;
mod grid;

use assay_model::{Document, ReadRun, Unit, Value};

use super::DocumentPart;
use crate::reading::{compared, effective, metric_rank};
use crate::words::{clean, shorten};

/// Metrics beside each other; the others open with a row.
const MOST_METRICS: usize = 5;
/// The setting whose values stand side by side where it varies beside others.
const ACROSS: &str = "device";

/// Runs that belong beside each other.
pub struct Experiment<'a> {
    pub title: String,
    document: &'a Document,
    runs: Vec<&'a ReadRun>,
    /// The settings in which runs differ, or in which what was asked for did not happen.
    varied: Vec<&'a str>,
    /// Its metrics with their units, the most important first.
    metrics: Vec<(&'a str, &'a Unit)>,
}

/// What holds runs together.
#[derive(PartialEq)]
enum RunGroup<'a> {
    Table(usize),
    Logs(Option<&'a str>),
}

/// The experiments of a document, in its order.
pub fn experiments(document: &Document) -> Vec<Experiment<'_>> {
    let mut groups: Vec<(RunGroup<'_>, Vec<&ReadRun>)> = Vec::new();
    for run in &document.runs {
        let place = place(document, run);
        match groups.iter_mut().find(|(known, _)| *known == place) {
            Some((_, runs)) => runs.push(run),
            None => groups.push((place, vec![run])),
        }
    }
    groups.into_iter().map(|(place, runs)| experiment(document, &place, runs)).collect()
}

fn place<'a>(document: &'a Document, run: &'a ReadRun) -> RunGroup<'a> {
    let holds = |first: u64, last: u64| (first..=last).contains(&run.span.first);
    let is_row = run.dialects.iter().any(|dialect| dialect == "table");
    let table = document.tables.iter().position(|table| is_row && holds(table.span.first, table.span.last));
    table.map_or(RunGroup::Logs(run.platform.as_deref()), RunGroup::Table)
}

fn experiment<'a>(document: &'a Document, place: &RunGroup<'a>, runs: Vec<&'a ReadRun>) -> Experiment<'a> {
    let title = match place {
        RunGroup::Table(index) => {
            let headings = document.tables.get(*index).map_or(&[] as &[String], |table| &table.headings);
            // The outermost heading is the title of the whole document.
            let inner = if headings.len() > 1 { headings.get(1..).unwrap_or_default() } else { headings };
            inner.join(" · ")
        }
        RunGroup::Logs(Some(platform)) => format!("Logs of {platform}"),
        RunGroup::Logs(None) => "Further numbers".to_owned(),
    };
    let title = if title.is_empty() { "Table".to_owned() } else { shorten(&clean(&title), 90) };
    let (varied, metrics) = (varied(&runs), metrics(&runs));
    Experiment { title, document, runs, varied, metrics }
}

/// Settings with several values, switches that only some runs have on, settings that at most half of the runs state, and
/// settings that did not take effect.
fn varied<'a>(runs: &[&'a ReadRun]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let settings: Vec<_> = runs.iter().map(|run| compared(run)).collect();
    for setting in settings.iter().flatten() {
        if !names.contains(&setting.name) {
            names.push(setting.name);
        }
    }
    names.retain(|name| {
        let of_name = || settings.iter().filter_map(|run| run.iter().find(|setting| setting.name == *name));
        let mut values: Vec<&Value> = Vec::new();
        for value in of_name().filter_map(|setting| setting.effective()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let switched = matches!(values.as_slice(), [Value::Switch(true)]) && of_name().count() < runs.len();
        let usable = || runs.iter().zip(&settings).filter(|(run, _)| run.status.is_usable());
        let stating = usable().filter(|(_, run)| run.iter().any(|setting| setting.name == *name)).count();
        let is_rare = stating > 0 && 2 * stating <= usable().count();
        let is_job = *name == assay_model::names::setting::JOB;
        !is_job && (values.len() > 1 || switched || is_rare || of_name().any(|setting| setting.mismatch))
    });
    names
}

fn metrics<'a>(runs: &[&'a ReadRun]) -> Vec<(&'a str, &'a Unit)> {
    let mut metrics: Vec<(&str, &Unit)> = Vec::new();
    for run in runs {
        let stated = run.observations.iter().map(|found| (found.metric.as_str(), &found.unit));
        let repeated = run.series.iter().filter(|series| is_repeated(series));
        for metric in stated.chain(repeated.map(|series| (series.metric.as_str(), &series.unit))) {
            if !metrics.iter().any(|(name, _)| *name == metric.0) {
                metrics.push(metric);
            }
        }
    }
    metrics.sort_by_key(|(name, _)| metric_rank(name));
    // The same numbers under two names are shown under the more important one.
    let column = |name: &str| -> Vec<_> { runs.iter().map(|run| value(run, name)).collect() };
    let mut seen: Vec<Vec<Option<(f64, usize)>>> = Vec::new();
    metrics.retain(|(name, _)| {
        let values = column(name);
        let is_new = !seen.contains(&values);
        seen.push(values);
        is_new
    });
    metrics
}

/// Whether a series is the same measurement again and again: it has neither steps nor a clock.
fn is_repeated(series: &assay_model::Series) -> bool {
    use assay_model::names::{LOGITS, PROBABILITIES};
    series.steps.is_empty()
        && series.at_s.is_empty()
        && series.values.len() > 1
        && ![LOGITS, PROBABILITIES].contains(&series.metric.as_str())
}

impl<'a> Experiment<'a> {
    /// How many of its rows stand for a single run.
    pub fn single_runs(&self) -> usize {
        self.runs.iter().filter(|run| !run.observations.is_empty()).count()
    }

    /// Whether it has anything to show.
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty() && self.runs.iter().all(|run| run.phases.is_empty() && run.status.is_usable())
    }

    /// Its table and its figures.
    pub fn parts(&self) -> Vec<DocumentPart> {
        let mut parts =
            vec![DocumentPart::Heading(self.title.clone()), DocumentPart::Table(grid::table(self))];
        parts.extend(drawn::figures(self).into_iter().map(DocumentPart::Figure));
        parts
    }

    fn shown_metrics(&self) -> &[(&'a str, &'a Unit)] {
        self.metrics.get(..MOST_METRICS).unwrap_or(&self.metrics)
    }

    /// The values of the setting that stands across, where the table has one beside other settings.
    fn across(&self) -> Vec<String> {
        if !self.varied.contains(&ACROSS) || self.varied.len() < 2 {
            return Vec::new();
        }
        let mut values: Vec<String> = Vec::new();
        for run in &self.runs {
            let Some(value) = setting(run, ACROSS) else { return Vec::new() };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// A name for each run.
    fn names(&self) -> Vec<String> {
        let members: Vec<(&Document, &ReadRun)> = self.runs.iter().map(|run| (self.document, *run)).collect();
        crate::reading::names(&members)
    }
}

/// A setting's value in effect.
fn setting(run: &ReadRun, name: &str) -> Option<String> {
    effective(run).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
}

/// A metric of a run: as it is stated, else the median of repeated values; and how many values it rests on.
fn value(run: &ReadRun, metric: &str) -> Option<(f64, usize)> {
    let stated = run.observations.iter().find(|found| found.metric == metric);
    if let Some(found) = stated {
        return Some((found.value, 1));
    }
    let series = run.series.iter().find(|series| series.metric == metric && is_repeated(series))?;
    let mut sorted: Vec<f64> = series.values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(((low + high) / 2.0, sorted.len()))
}
