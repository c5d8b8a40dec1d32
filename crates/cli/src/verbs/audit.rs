//! `audit`: checks the claims of write-ups, logs and records against their own numbers.

use std::path::Path;

use assay_audit::{Audit as Findings, LONGEST_SOURCE};
use assay_evidence::Readers;
use assay_model::Document;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Audit;
use crate::output::{ending, protect, put};
use crate::screen::Screen;
use crate::{assist, dialects, sources};

/// Audits files together and prints what was found.
pub fn audit(options: &Audit, screen: &mut Screen) -> anyhow::Result<Exit> {
    let readers = Readers::all(&dialects::find(Path::new("."), &options.dialect)?).keeping_source();
    let mut documents: Vec<Document> = Vec::new();
    let sources = sources::find(&options.files, screen)?;
    protect(&options.output, &sources::paths(&sources))?;
    for source in &sources {
        documents.extend(sources::read(source, &readers, screen)?);
    }
    for document in documents.iter().filter(|document| document.text.len() > LONGEST_SOURCE) {
        let most = LONGEST_SOURCE >> 20;
        screen.warn(&format!("{}: only the first {most} MiB are read for claims", document.file));
    }
    let mut found = assay_audit::audit(&documents);
    let assisted = assist::assist(&options.assist, &mut found, &documents, screen)?;
    for path in &options.output {
        write(path, &found, &documents)?;
        screen.say(&format!("wrote {}", path.display()));
    }
    if options.json {
        let mut text = String::new();
        for finding in &found.findings {
            text.push_str(&json_line(finding)?);
            text.push('\n');
        }
        if let Some(assisted) = &assisted {
            text.push_str(&assisted.json_line());
        }
        screen.json_text(&text)?;
    } else {
        screen.blocks(|mut shape| {
            shape.full |= options.claims;
            assay_report::audit::text(&found, &documents, &shape)
        })?;
        if let Some(assisted) = &assisted {
            screen.data(&assisted.text())?;
        }
    }
    Ok(if found.contradicts() { Exit::GateFailed } else { Exit::Fine })
}

/// A finding as one JSON object, its id first.
fn json_line(finding: &assay_audit::Finding) -> anyhow::Result<String> {
    let mut object = serde_json::Map::new();
    object.insert("id".to_owned(), finding.id().into());
    if let serde_json::Value::Object(fields) = serde_json::to_value(finding)? {
        object.extend(fields);
    }
    Ok(serde_json::to_string(&object)?)
}

/// Writes the audit in the format that the file's ending asks for.
fn write(path: &Path, found: &Findings, documents: &[Document]) -> anyhow::Result<()> {
    let text = match ending(path) {
        "md" => assay_report::audit::markdown(found, documents),
        "html" => assay_report::audit::html(found, documents),
        other => {
            let text = format!("no audit format for the extension `.{other}`");
            return Err(
                Mistake::new(text, "use .md or .html; --json prints one claim or finding per line").into()
            );
        }
    };
    put(path, &text)
}
