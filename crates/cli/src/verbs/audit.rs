//! `audit`: what the evidence in write-ups, logs and records supports, what it contradicts, what cannot be told.

use std::path::Path;

use anyhow::Context;
use assay_audit::Audit as Findings;
use assay_evidence::Readers;
use assay_model::Document;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Audit;
use crate::output::ending;
use crate::screen::Screen;
use crate::{dialects, sources};

/// Audits files together and prints what was found.
pub fn audit(options: &Audit, screen: &mut Screen) -> anyhow::Result<Exit> {
    let readers = Readers::all(&dialects::find(Path::new("."), &options.dialect)?);
    let mut documents: Vec<Document> = Vec::new();
    for source in &sources::find(&options.files, screen)? {
        documents.extend(sources::read(source, &readers, screen)?);
    }
    let found = assay_audit::audit(&documents);
    for path in &options.output {
        write(path, &found, &documents)?;
        screen.say(&format!("wrote {}", path.display()));
    }
    if options.json {
        let mut text = String::new();
        for finding in &found.findings {
            text.push_str(&serde_json::to_string(finding)?);
            text.push('\n');
        }
        screen.json_text(&text)?;
    } else if options.output.is_empty() {
        screen.blocks(|shape| assay_report::audit::text(&found, &documents, &shape))?;
    }
    Ok(if found.contradicts() { Exit::GateFailed } else { Exit::Fine })
}

/// Writes the audit in the format that the file's ending asks for.
fn write(path: &Path, found: &Findings, documents: &[Document]) -> anyhow::Result<()> {
    let text = match ending(path) {
        "md" => assay_report::audit::markdown(found, documents),
        "html" => assay_report::audit::html(found, documents),
        other => {
            let text = format!("no audit format for the ending `.{other}`");
            return Err(Mistake::new(text, "use .md or .html; --json prints one finding a line").into());
        }
    };
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
