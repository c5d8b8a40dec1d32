//! `read`: logs and write-ups into runs with settings, phases, series and metrics, each with its line.

use assay_evidence::Readers;
use assay_model::Document;
use assay_report::block::LayoutOptions;
use assay_report::{document, separated};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Read;
use crate::output::{self, ending, protect};
use crate::screen::Screen;
use crate::{dialects, sources, write_up};

mod into;
mod pattern;

/// Reads files and prints what is in them, or stores it.
pub fn read(options: &Read, screen: &mut Screen) -> anyhow::Result<Exit> {
    check_output(options)?;
    let readers = Readers::all(&dialects::find(std::path::Path::new("."), &options.dialect)?);
    // An audit reads the words around numbers.
    let readers = if options.output.is_empty() { readers } else { readers.keeping_source() };
    let sources = sources::find(&options.files, screen)?;
    protect(&options.output, &sources::paths(&sources))?;
    if options.json {
        // One file after the other, so that any number of them takes no more memory than the largest.
        for source in &sources {
            if let Some(document) = sources::read(source, &readers, screen)? {
                print(&document, screen)?;
            }
        }
        return Ok(Exit::Fine);
    }
    let mut documents: Vec<Document> = Vec::new();
    for source in &sources {
        documents.extend(sources::read(source, &readers, screen)?);
    }
    if options.pattern {
        for document in &documents {
            screen.json_text(&pattern::dialect(document)?)?;
        }
        return Ok(Exit::Fine);
    }
    if let Some(record) = &options.into {
        return into::store(record, &documents, screen);
    }
    if !options.output.is_empty() {
        return write_report(options, &documents, screen);
    }
    screen.blocks(|shape| {
        assay_report::reading::summary(&documents, &LayoutOptions { full: options.full, ..shape })
    })?;
    Ok(Exit::Fine)
}

/// An ending that no report has is found before anything is read.
fn check_output(options: &Read) -> anyhow::Result<()> {
    for file in &options.output {
        if !matches!(ending(file), "html" | "md" | "tex" | "csv" | "json") {
            let text = format!("no report format for the extension `.{}`", ending(file));
            let hint = "use .html, .md, .tex, .csv or .json; --json prints one run per line";
            return Err(Mistake::new(text, hint).into());
        }
    }
    Ok(())
}

/// Writes what the files measured, what they say, and whether that follows.
fn write_report(options: &Read, documents: &[Document], screen: &mut Screen) -> anyhow::Result<Exit> {
    let audit = assay_audit::audit(documents);
    let quoted = |path: &std::path::PathBuf| assay_campaign::shell::quoted(&path.display().to_string());
    let files: Vec<String> = options.files.iter().map(quoted).collect();
    let files = files.join(" ");
    let outputs: Vec<String> = options.output.iter().map(|file| format!(" -o {}", quoted(file))).collect();
    let command =
        format!("assay read {files}{}\nassay audit {files}\nassay read {files} --full\n", outputs.concat());
    let report = document::files_report(documents, &audit, &command);
    for file in &options.output {
        match ending(file) {
            "csv" => output::write(file, &separated::documents(documents)?, screen)?,
            "json" => output::write(file, &runs_json(documents)?, screen)?,
            _ => {
                if let Some(rendered) = write_up::render(&report, file) {
                    write_up::write(file, &rendered, screen)?;
                }
            }
        }
    }
    screen.blocks(|_| {
        let sentences = report.summary.iter();
        sentences.map(|sentence| assay_report::TerminalBlock::plain(0, sentence)).collect()
    })?;
    Ok(Exit::Fine)
}

/// All runs of all files as one list, each as `--json` prints it.
fn runs_json(documents: &[Document]) -> anyhow::Result<String> {
    let runs: Vec<_> = documents.iter().flat_map(|document| &document.runs).collect();
    Ok(output::json(&runs)?)
}

/// The last line of a file that a limit kept from being read to the end.
#[derive(serde::Serialize)]
struct Omissions<'a> {
    file: &'a str,
    omissions: &'a [assay_model::Omission],
}

/// One run a line, and a last line that lists what a limit left out, where one did.
fn print(document: &Document, screen: &mut Screen) -> anyhow::Result<()> {
    let mut text = String::new();
    for run in &document.runs {
        text.push_str(&serde_json::to_string(run)?);
        text.push('\n');
    }
    if !document.omissions.is_empty() {
        let omissions = Omissions { file: &document.file, omissions: &document.omissions };
        text.push_str(&serde_json::to_string(&omissions)?);
        text.push('\n');
    }
    Ok(screen.json_text(&text)?)
}
