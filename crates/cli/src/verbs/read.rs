//! `read`: logs and write-ups into runs with settings, phases, series and metrics, each with its line.

use assay_evidence::Readers;
use assay_model::Document;
use assay_report::block::Options;

use crate::exit::Exit;
use crate::options::Read;
use crate::screen::Screen;
use crate::{dialects, sources};

mod into;

/// Reads files and prints what is in them, or stores it.
pub fn read(options: &Read, screen: &mut Screen) -> anyhow::Result<Exit> {
    let readers = Readers::all(&dialects::find(std::path::Path::new("."), &options.dialect)?);
    let sources = sources::find(&options.files)?;
    if options.json {
        // One file after the other, so that any number of them takes no more memory than the largest.
        for source in &sources {
            print(&sources::read(source, &readers)?, screen)?;
        }
        return Ok(Exit::Fine);
    }
    let documents: Vec<Document> =
        sources.iter().map(|source| sources::read(source, &readers)).collect::<Result<_, _>>()?;
    if let Some(record) = &options.into {
        return into::store(record, &documents, screen);
    }
    screen.blocks(|shape| {
        assay_report::reading::summary(&documents, &Options { full: options.full, ..shape })
    })?;
    Ok(Exit::Fine)
}

/// One run a line.
fn print(document: &Document, screen: &mut Screen) -> anyhow::Result<()> {
    let mut text = String::new();
    for run in &document.runs {
        text.push_str(&serde_json::to_string(run)?);
        text.push('\n');
    }
    Ok(screen.json_text(&text)?)
}
