//! One run: numbers with their lines, phases, series, files.

use assay_model::{Entry, Observation, Origin, RunId, RunResult};
use assay_report::document::{DocumentPart, Figure, Report, Section, body, label_of, timeline_figure, trace};
use assay_report::markup::Markup;
use assay_report::number::fact;
use assay_store::{Record, RunFilter, RunRow, utc};

use super::{Query, ViewError, address, link, open, record_step, runs_step, shell, table};
use crate::catalog::ListedRecord;
use crate::site::Site;
use crate::study::example;

/// The run that a query names.
pub fn find(record: &Record, query: &Query) -> Result<RunRow, ViewError> {
    let name = query.get("run").ok_or_else(|| ViewError::Wrong("The address names no run.".to_owned()))?;
    let run: RunId = name.parse().map_err(ViewError::Wrong)?;
    let found = record.index()?.runs(&RunFilter { run: Some(run), ..RunFilter::default() })?;
    found.into_iter().next().ok_or_else(|| ViewError::Missing(format!("There is no run {name}.")))
}

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let (listed, record) = open(site, query)?;
    let row = find(&record, query)?;
    let result = result(&record, &row.run)?;
    let index = record.index()?;
    let label = super::runs::labels(&index)?.remove(&row.run.cell).unwrap_or_default();
    let title = format!("{label} · repeat {}", row.run.repeat);
    let cells = index.cells()?;
    let settings = cells.into_iter().find(|cell| cell.cell == row.run.cell).map(|cell| cell.settings);
    let settings = settings.unwrap_or_default();
    let name = row.run.to_string();
    let mut files = super::log::files(&record, &row);
    files.sort();
    Ok(shell(&title, &[record_step(&listed), runs_step(&listed)], |page| {
        let mut facts = vec![
            ("run".to_owned(), name.clone()),
            ("status".to_owned(), row.status.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string)),
            ("directory".to_owned(), row.directory.clone()),
        ];
        // Runs that were read from files have no script.
        let script = Some(record.script(&row.directory)).filter(|script| script.is_file());
        facts.extend(script.map(|script| ("redo".to_owned(), format!("sh {}", script.display()))));
        facts.extend(row.started_at.map(|at| ("started".to_owned(), utc(at))));
        facts.extend(settings.iter().map(|(name, value)| (name.clone(), value.to_string())));
        let section = Section {
            id: "facts".to_owned(),
            title: "Run".to_owned(),
            parts: vec![DocumentPart::Facts(facts)],
        };
        body(page, &Report { sections: vec![section], ..Report::default() });
        page.leaf("h2", &[("id", "files")], "Files");
        page.element("p", &[("class", "actions")], |page| {
            for file in &files {
                link(page, file, &address("/log", &[("id", &listed.id), ("run", &name), ("file", file)]));
            }
        });
        for hint in &row.hints {
            page.leaf("p", &[("class", "hint")], &format!("hint: {hint}"));
        }
        if let Some(result) = &result {
            observations(page, &listed, &name, result, &files);
            let shown = example(label_of(&settings), &row.run, result);
            let mut figures: Vec<Figure> =
                timeline_figure(std::slice::from_ref(&shown)).into_iter().collect();
            figures.extend(shown.series.iter().map(|course| trace(&shown, course)));
            let parts = figures.into_iter().map(DocumentPart::Figure).collect();
            let section = Section { id: "figures".to_owned(), title: "Over time".to_owned(), parts };
            body(page, &Report { sections: vec![section], ..Report::default() });
        }
    }))
}

fn result(record: &Record, run: &RunId) -> Result<Option<RunResult>, ViewError> {
    for entry in record.entries()? {
        if let Entry::Finished { run: finished, result } = entry?
            && finished == *run
        {
            return Ok(Some(*result));
        }
    }
    Ok(None)
}

fn observations(page: &mut Markup, listed: &ListedRecord, run: &str, result: &RunResult, files: &[String]) {
    page.leaf("h2", &[("id", "numbers")], "Numbers");
    let columns = [("metric", false), ("value", true), ("how it is known", false), ("line", false)];
    table(page, &columns, |page| {
        for found in &result.observations {
            page.element("tr", &[], |page| {
                page.leaf("td", &[("class", "words")], &found.metric);
                page.leaf("td", &[("class", "number")], &fact(&found.unit, found.value));
                page.leaf("td", &[("class", "words")], origin(found));
                page.element("td", &[("class", "words")], |page| match &found.source {
                    Some(source) if files.contains(&source.file) => {
                        let line = source.line.to_string();
                        let to = address(
                            "/log",
                            &[("id", &listed.id), ("run", run), ("file", &source.file), ("line", &line)],
                        );
                        link(page, &source.to_string(), &format!("{to}#L{line}"));
                    }
                    Some(source) => page.text(&source.to_string()),
                    None => page.text("measured by assay"),
                });
            });
            page.line();
        }
    });
}

fn origin(found: &Observation) -> &'static str {
    match found.origin {
        Origin::Measured => "measured",
        Origin::Reported => "reported by the program",
        Origin::Derived => "computed from other numbers",
        Origin::Prediction => "predicted, not measured",
    }
}
