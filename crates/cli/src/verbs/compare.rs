//! `compare`: two records, cell by cell.

use std::path::Path;

use assay_judge::{Comparison, ComparisonRow};
use assay_model::Verdict;
use assay_report::{markdown, separated};
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::answer;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Compare;
use crate::output::{self, ending};
use crate::records;
use crate::screen::Screen;

/// Compares two records by one metric.
pub fn compare(options: &Compare, screen: &mut Screen) -> anyhow::Result<Exit> {
    let comparison = comparison(options)?;
    let texts = options.output.iter().map(|file| text(file, &comparison)).collect::<Result<Vec<_>, _>>()?;
    for (file, text) in options.output.iter().zip(texts) {
        output::write(file, &text, screen)?;
    }
    if options.json {
        screen.json(&ComparisonJson::new(&comparison))?;
    } else {
        screen.table(&assay_report::comparison::table(&comparison))?;
    }
    let is_worse =
        |row: &ComparisonRow| row.effect.as_ref().is_some_and(|effect| effect.verdict == Verdict::Worse);
    let has_regression = options.fail_on_regression && comparison.rows.iter().any(is_worse);
    Ok(if has_regression { Exit::GateFailed } else { Exit::Fine })
}

/// The comparison in the format of a file's ending.
fn text(file: &Path, comparison: &Comparison) -> anyhow::Result<String> {
    match ending(file) {
        "md" => Ok(markdown::render(&assay_report::comparison::table(comparison))),
        "csv" => Ok(separated::comparison(comparison)?),
        "json" => Ok(serde_json::to_string_pretty(&ComparisonJson::new(comparison))? + "\n"),
        other => {
            let text = format!("no comparison format for the ending `.{other}`");
            Err(Mistake::new(text, "use .md, .csv or .json").into())
        }
    }
}

#[derive(Serialize)]
struct ComparisonJson<'a> {
    schema: u32,
    comparison: &'a Comparison,
}

impl<'a> ComparisonJson<'a> {
    fn new(comparison: &'a Comparison) -> ComparisonJson<'a> {
        ComparisonJson { schema: JSON_SCHEMA, comparison }
    }
}

fn comparison(options: &Compare) -> anyhow::Result<Comparison> {
    let (base_record, other_record) =
        (records::open(Some(&options.base))?, records::open(Some(&options.other))?);
    let (base_index, other_index) = (base_record.index()?, other_record.index()?);
    let (mut base, subject) = answer::evidence(&base_index, options.metric.as_deref())?;
    let (mut other, _) = answer::evidence(&other_index, Some(&subject.metric))?;
    if base.name == other.name {
        // Two records of one campaign differ only in their directory.
        base.name = options.base.display().to_string();
        other.name = options.other.display().to_string();
    }
    let seed = subject.summary.plan.as_ref().map_or(0, |plan| plan.seed);
    Ok(assay_judge::compare(&base, &other, seed)?)
}
