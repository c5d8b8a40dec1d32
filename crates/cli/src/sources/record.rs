//! A record of this program as a document.

use std::path::Path;

use assay_model::{
    Document, Entry, ReadRun, RunId, RunResult, SettingFact, Source, Span, Standing, Value, document,
};
use assay_store::Record;

/// A record as a document: its finished runs, with the settings that its campaign declares.
pub fn document(path: &Path) -> anyhow::Result<Document> {
    let record = Record::open(path)?;
    let mut settings = std::collections::BTreeMap::new();
    let mut document = Document { file: path.display().to_string(), ..Document::default() };
    for (line, entry) in record.entries()?.enumerate() {
        let line = line as u64 + 1;
        match entry? {
            Entry::Plan { add, .. } => {
                settings.extend(
                    add.into_iter().map(|planned| (planned.cell, (planned.workload, planned.settings))),
                );
            }
            Entry::Finished { run, result } => {
                let declared = settings.get(&run.cell).cloned().unwrap_or_default();
                document.runs.push(read_run(&document.file, line, &run, *result, declared));
            }
            _ => {}
        }
        document.lines = line;
    }
    Ok(document)
}

fn read_run(
    file: &str,
    line: u64,
    run: &RunId,
    result: RunResult,
    (workload, settings): (String, assay_model::Settings),
) -> ReadRun {
    let source = Source::new(file, line);
    let fact = |name: &str, value: Value| SettingFact {
        name: name.to_owned(),
        value,
        standing: Standing::Declared,
        by: "campaign".to_owned(),
        arithmetic: None,
        source: source.clone(),
    };
    let mut facts: Vec<SettingFact> = settings.into_iter().map(|(name, value)| fact(&name, value)).collect();
    facts.extend(result.settings);
    ReadRun {
        version: document::READ_VERSION,
        span: Span::new(file, line, line),
        title: Some(format!("{workload} {run}")),
        dialects: vec!["record".to_owned()],
        platform: Some(run.cell.platform.clone()),
        status: result.status,
        status_source: Some(source.clone()),
        began_at: Some(result.started_at),
        clock: None,
        settings: facts,
        phases: result.phases,
        observations: result.observations,
        series: result.series,
        hints: Vec::new(),
    }
}
