//! An audit as a section of a document.

use assay_audit::{Audit, Level};
use assay_model::Document;

use super::{DocumentPart, Section};
use crate::number::counted;
use crate::table::Tone;

/// What is wrong or open, each with its arithmetic and its lines, then what is supported.
pub fn audit_section(audit: &Audit, documents: &[Document]) -> Section {
    let mut parts = vec![DocumentPart::Text(format!("{}.", counts(audit)))];
    let mut supported = Vec::new();
    for finding in &audit.findings {
        let tone = match finding.level {
            Level::Contradicted => Tone::Bad,
            Level::Doubtful => Tone::Doubt,
            Level::NotChecked => Tone::Plain,
            Level::Supported => Tone::Good,
        };
        let places: Vec<String> = finding.sources.iter().map(ToString::to_string).collect();
        let text = format!("{} ({})", finding.summary, places.join(", "));
        let part = DocumentPart::Finding { tone, text, advice: finding.advice.clone() };
        let into = if finding.level == Level::Supported { &mut supported } else { &mut parts };
        into.push(part);
        if finding.level != Level::Supported && !finding.arithmetic.is_empty() {
            parts.push(DocumentPart::Listing { title: String::new(), text: finding.arithmetic.join("\n") });
        }
    }
    if !supported.is_empty() {
        parts.push(DocumentPart::Folded {
            title: counted(supported.len() as u64, "supported claim"),
            parts: supported,
        });
    }
    let names: Vec<&str> = documents.iter().map(|document| document.file.as_str()).collect();
    Section { id: "audit".to_owned(), title: format!("Audit of {}", names.join(", ")), parts }
}

/// The coverage: `5 claims: 1 contradicted, 3 doubtful, 1 supported`.
fn counts(audit: &Audit) -> String {
    let levels = [
        (Level::Contradicted, "contradicted"),
        (Level::Doubtful, "doubtful"),
        (Level::NotChecked, "not checked"),
        (Level::Supported, "supported"),
    ];
    let parts: Vec<String> = levels
        .iter()
        .map(|(level, word)| (audit.count(*level), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{}: {}", counted(audit.findings.len() as u64, "claim"), parts.join(", "))
}
