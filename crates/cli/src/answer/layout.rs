//! The additional tables of a campaign's `[report]`: metrics side by side, settings as columns, series.

use assay_judge::{Answer, pivot, scaling};
use assay_model::{CurrentPlan, Status, names};
use assay_report::number::Scale;
use assay_report::{Cell, Column, Table};
use assay_store::{Index, RunFilter};

use super::{Subject, evidence, judged};

/// The tables that the campaign asks for beside the plain one.
pub fn tables(index: &Index, subject: &Subject) -> anyhow::Result<Vec<Table>> {
    let Some(plan) = subject.summary.plan.as_ref().filter(|plan| !plan.layout.is_plain()) else {
        return Ok(Vec::new());
    };
    let mut tables = Vec::new();
    if let Some(table) = columns_table(index, plan)? {
        tables.push(table);
    }
    if !plan.layout.across.is_empty() {
        let (evidence, _) = evidence(index, None)?;
        let pivot = pivot::pivot(&evidence, &plan.layout, &plan.varied);
        tables.extend(pivot.map(|pivot| assay_report::pivot::table(&pivot, Some(&plan.question))));
    }
    if let Some(study) = &plan.layout.scaling {
        let (evidence, _) = evidence(index, Some(&study.metric))?;
        let scaling = scaling::scaling(&evidence, &study.over, &plan.varied);
        tables.extend(scaling.map(|scaling| assay_report::scaling::table(&scaling)));
    }
    if let Some(metric) = &plan.layout.series {
        tables.push(series_table(index, plan, metric)?);
    }
    Ok(tables)
}

/// Leaves the question to the first table that has it as its title, where further tables have more than a title.
pub fn without_repeated_titles(tables: &mut [Table]) {
    let mut seen: Vec<String> = Vec::new();
    for table in tables {
        match table.heading.first() {
            Some(title) if seen.contains(title) && table.heading.len() > 1 => {
                table.heading.remove(0);
            }
            Some(title) => seen.push(title.clone()),
            None => {}
        }
    }
}

/// A series of the first good run of every cell, value by value.
fn series_table(index: &Index, plan: &CurrentPlan, metric: &str) -> anyhow::Result<Table> {
    let mut table = Table {
        heading: vec![format!("{metric} over the first successful run of each cell")],
        ..Table::default()
    };
    table.columns = plan.varied.iter().map(Column::left).collect();
    let unit = names::unit(metric);
    table.columns.push(Column::left(Scale::for_value(&unit, 1.0).name));
    for cell in index.cells()?.into_iter().filter(|cell| cell.planned) {
        let runs = index.runs(&RunFilter { cell: Some(cell.cell.clone()), ..RunFilter::default() })?;
        let good = runs.iter().find(|run| run.status.as_ref().is_some_and(Status::is_usable));
        let Some(run) = good else { continue };
        let series = index.series(&run.run)?;
        let Some(series) = series.iter().find(|series| series.metric == metric) else { continue };
        let setting = |name: &String| cell.settings.get(name).map(ToString::to_string).unwrap_or_default();
        let mut cells: Vec<Cell> = plan.varied.iter().map(|name| Cell::new(setting(name))).collect();
        let values: Vec<String> = series.values.iter().map(|value| format!("{value:.4}")).collect();
        cells.push(Cell::new(values.join(" ")));
        table.rows.push(cells);
    }
    Ok(table)
}

/// The metrics that the campaign wants side by side, if it names any.
fn columns_table(index: &Index, plan: &CurrentPlan) -> anyhow::Result<Option<Table>> {
    let has: Vec<String> = index.metrics()?.into_iter().map(|metric| metric.name).collect();
    let columns = plan.layout.columns.iter().filter(|column| has.contains(column));
    let answers: Vec<Answer> =
        columns.map(|column| Ok(judged(index, Some(column), 0)?.0)).collect::<anyhow::Result<_>>()?;
    // Where settings go across, that table has them.
    let published = if plan.layout.across.is_empty() { plan.layout.published.as_slice() } else { &[] };
    Ok((!answers.is_empty()).then(|| assay_report::columns::table(&answers, Some(&plan.question), published)))
}
