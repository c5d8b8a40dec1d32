//! Write-ups of records: one document, written in the format of a file's ending with its figures beside it.

use std::path::Path;

use assay_model::Settings;
use assay_page::study::{StudyOptions, studies, study};
use assay_report::document::{self, Rendered, Report};
use assay_report::study::Studies;
use assay_store::Record;

use crate::failure::Mistake;
use crate::output::{self, ending};
use crate::records;
use crate::screen::Screen;
use crate::workloads;

/// Gathers what is to be said about records; empty metrics stand for those of their campaigns.
pub fn gather(from: &[Record], metrics: &[String]) -> anyhow::Result<Studies> {
    let options = StudyOptions { metrics, defaults: &defaults };
    let each = from.iter().map(|record| study(record, &records::shown(record.directory()), &options));
    Ok(studies(each.collect::<Result<_, _>>()?))
}

/// The settings that a workload has unless a campaign says otherwise.
pub fn defaults(workload: &str) -> Settings {
    let Ok(description) = workloads::description(workload) else { return Settings::new() };
    description.settings.into_iter().filter_map(|setting| Some((setting.name, setting.default?))).collect()
}

/// A document in the format of a file's ending; none where there is no such format.
pub fn render(report: &Report, file: &Path) -> Option<Rendered> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match ending(file) {
        "html" => Some(Rendered { text: document::html(report), files: Vec::new() }),
        "md" => Some(document::markdown(report, &stem)),
        "tex" => Some(document::latex(report, &stem)),
        _ => None,
    }
}

/// Writes a document and what stands beside it.
pub fn write(file: &Path, rendered: &Rendered, screen: &mut Screen) -> anyhow::Result<()> {
    output::write(file, &rendered.text, screen)?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    for (ending, text) in &rendered.files {
        output::put(&file.with_file_name(format!("{stem}{ending}")), text)?;
    }
    if !rendered.files.is_empty() {
        let count = assay_report::number::counted(rendered.files.len() as u64, "figure");
        screen.say(&format!("wrote {count} beside it: {stem}-figure-*.svg"));
    }
    Ok(())
}

/// An ending that no write-up has.
pub fn unknown_format(ending: &str) -> Mistake {
    let text = format!("no report format for the extension `.{ending}`");
    let hint = "use .html, .md, .tex, .csv or .json; `assay query runs -o` writes .jsonl and .parquet";
    Mistake::new(text, hint)
}
