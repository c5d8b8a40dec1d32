//! `compare`: two records, cell by cell.

use assay_judge::Comparison;
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::answer;
use crate::exit::Exit;
use crate::options::Compare;
use crate::records;
use crate::screen::Screen;

/// Compares two records by one metric.
pub fn compare(options: &Compare, screen: &mut Screen) -> anyhow::Result<Exit> {
    let comparison = comparison(options)?;
    if options.json {
        screen.json(&ComparisonJson { schema: JSON_SCHEMA, comparison })?;
    } else {
        screen.table(&assay_report::comparison::table(&comparison))?;
    }
    Ok(Exit::Fine)
}

#[derive(Serialize)]
struct ComparisonJson {
    schema: u32,
    comparison: Comparison,
}

fn comparison(options: &Compare) -> anyhow::Result<Comparison> {
    let (base_record, other_record) =
        (records::open(Some(&options.base))?, records::open(Some(&options.other))?);
    let (base_index, other_index) = (base_record.index()?, other_record.index()?);
    let (mut base, subject) = answer::evidence(&base_index, options.metric.as_deref())?;
    let (mut other, _) = answer::evidence(&other_index, Some(&subject.metric))?;
    if base.name == other.name {
        // Two records of one campaign are told apart by where they are.
        base.name = options.base.display().to_string();
        other.name = options.other.display().to_string();
    }
    let seed = subject.summary.plan.as_ref().map_or(0, |plan| plan.seed);
    Ok(assay_judge::compare(&base, &other, seed)?)
}
