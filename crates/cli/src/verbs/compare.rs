//! `compare`: two records cell by cell, or the newest of many against the noise of those before it.

mod bisect;

use std::path::{Path, PathBuf};

use assay_judge::{Comparison, Evidence, History};
use assay_model::Verdict;
use assay_report::{Table, markdown, separated};
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::answer;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Compare;
use crate::output::{self, ending};
use crate::records;
use crate::screen::Screen;

/// Compares records by one metric.
pub fn compare(options: &Compare, screen: &mut Screen) -> anyhow::Result<Exit> {
    if options.bisect {
        return bisect::bisect(options, screen);
    }
    let judged = match options.records.as_slice() {
        [base, other] => Judged::Two(compared(base, other, options)?),
        all => Judged::Many(history(all, options)?),
    };
    let texts = options.output.iter().map(|file| judged.text(file)).collect::<Result<Vec<_>, _>>()?;
    for (file, text) in options.output.iter().zip(texts) {
        output::write(file, &text, screen)?;
    }
    if options.json {
        screen.json_text(&judged.json()?)?;
    } else {
        screen.table(&judged.table())?;
    }
    Ok(if options.fail_on.is_some() { judged.exit() } else { Exit::Fine })
}

/// What a comparison found.
enum Judged {
    Two(Comparison),
    Many(History),
}

#[derive(Serialize)]
struct ComparisonJson<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a History>,
}

impl Judged {
    fn table(&self) -> Table {
        match self {
            Judged::Two(comparison) => assay_report::comparison::table(comparison),
            Judged::Many(history) => assay_report::history::table(history),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        let (comparison, history) = match self {
            Judged::Two(comparison) => (Some(comparison), None),
            Judged::Many(history) => (None, Some(history)),
        };
        let json = ComparisonJson { schema: JSON_SCHEMA, comparison, history };
        Ok(output::json(&json)?)
    }

    /// The comparison in the format of a file's ending. The Markdown form is what a job prints into its summary.
    fn text(&self, file: &Path) -> anyhow::Result<String> {
        match (ending(file), self) {
            ("md", _) => Ok(markdown::render(&self.table())),
            ("csv", Judged::Two(comparison)) => Ok(separated::comparison(comparison)?),
            ("json", _) => self.json(),
            (other, _) => {
                let text = format!("no comparison format for the extension `.{other}`");
                let hint = "use .md or .json; two records can be written as .csv, too";
                Err(Mistake::new(text, hint).into())
            }
        }
    }

    /// A regression wins over doubt: what was found is sure.
    fn exit(&self) -> Exit {
        let (worse, unknown) = match self {
            Judged::Two(comparison) => {
                let effects = || comparison.rows.iter().map(|row| row.effect.as_ref());
                (
                    effects().flatten().any(|effect| effect.verdict == Verdict::Worse),
                    effects().any(|effect| effect.is_none_or(|effect| effect.interval.is_none())),
                )
            }
            Judged::Many(history) => (
                history.rows.iter().any(|row| row.verdict == Verdict::Worse),
                history.rows.iter().any(|row| row.verdict == Verdict::Unclear),
            ),
        };
        match (worse, unknown) {
            (true, _) => Exit::GateFailed,
            (_, true) => Exit::NotPrecise,
            _ => Exit::Fine,
        }
    }
}

fn evidence(record: &Path, metric: Option<&str>) -> anyhow::Result<(Evidence, String)> {
    let index = records::open(Some(record))?.index()?;
    let (evidence, subject) = answer::evidence(&index, metric)?;
    Ok((evidence, subject.metric))
}

fn compared(base: &Path, other: &Path, options: &Compare) -> anyhow::Result<Comparison> {
    let (mut old, metric) = evidence(base, options.metric.as_deref())?;
    let (mut new, _) = evidence(other, Some(&metric))?;
    if old.name == new.name {
        // Two records of one campaign differ only in their directory.
        old.name = base.display().to_string();
        new.name = other.display().to_string();
    }
    Ok(assay_judge::compare(&old, &new, &options.ignore)?)
}

fn history(given: &[PathBuf], options: &Compare) -> anyhow::Result<History> {
    let paths = oldest_first(given)?;
    let mut all = Vec::new();
    // The newest record's headline is the metric of all.
    let (newest, metric) = match paths.last() {
        Some(path) => evidence(path, options.metric.as_deref())?,
        None => return Err(Mistake::new("no records to compare", "name at least two").into()),
    };
    for path in &paths[..paths.len() - 1] {
        let (record, _) = evidence(path, Some(&metric))?;
        all.push(Evidence { name: path.display().to_string(), ..record });
    }
    all.push(Evidence { name: paths[paths.len() - 1].display().to_string(), ..newest });
    Ok(assay_judge::history(&all, &options.ignore)?)
}

/// Records in the order in which they were made: a pattern such as `n*` puts n10 before n9. What was read from files was
/// made when it was read, which says nothing of its order, so such records stay in the order in which they are given.
fn oldest_first(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut made = Vec::with_capacity(given.len());
    for path in given {
        let summary = records::open(Some(path))?.index()?.summary()?;
        if summary.plan.is_some_and(|plan| plan.hash.is_empty()) {
            return Ok(given.to_vec());
        }
        made.push((summary.created, path.clone()));
    }
    made.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(made.into_iter().map(|(_, path)| path).collect())
}
