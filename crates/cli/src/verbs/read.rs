//! `read`: logs and write-ups into runs with settings, phases, series and metrics, each with its line.

use assay_evidence::Readers;
use assay_model::Document;
use assay_report::block::Options;

use crate::exit::Exit;
use crate::options::Read;
use crate::screen::Screen;
use crate::{dialects, sources};

mod into;
mod pattern;

/// Reads files and prints what is in them, or stores it.
pub fn read(options: &Read, screen: &mut Screen) -> anyhow::Result<Exit> {
    let readers = Readers::all(&dialects::find(std::path::Path::new("."), &options.dialect)?);
    let sources = sources::find(&options.files, screen)?;
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
    screen.blocks(|shape| {
        assay_report::reading::summary(&documents, &Options { full: options.full, ..shape })
    })?;
    Ok(Exit::Fine)
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
