//! What was read without finding fault.

use super::facts::Facts;
use super::wording::counted;
use super::{Class, Finding, Standing};

/// One line for each document in which nothing is contradicted or doubtful.
pub(super) fn check(facts: &Facts<'_>, findings: &[Finding]) -> Vec<Finding> {
    let mut sound = Vec::new();
    for document in facts.documents {
        let here =
            |finding: &&Finding| finding.sources.first().is_some_and(|source| source.file == document.file);
        let faults =
            |finding: &&Finding| matches!(finding.standing, Standing::Contradicted | Standing::Doubtful);
        if findings.iter().filter(here).any(|finding| faults(&finding)) {
            continue;
        }
        let open = findings.iter().filter(here).filter(|finding| finding.standing == Standing::Open).count();
        let nothing =
            document.runs.is_empty() && document.tables.is_empty() && document.statements.is_empty();
        let read = format!(
            "{}, {} and {} in {}",
            counted(document.runs.len(), "run"),
            counted(document.tables.len(), "table"),
            counted(document.statements.len(), "statement"),
            document.file,
        );
        let summary = match (nothing, open) {
            (true, _) => format!(
                "Nothing to audit was found in {} ({}).",
                document.file,
                counted(document.lines.try_into().unwrap_or(usize::MAX), "line")
            ),
            (false, 0) => format!("Nothing is contradicted or doubtful: {read} were read."),
            (false, open) => {
                format!("Nothing is contradicted or doubtful, {open} cannot be told: {read} were read.")
            }
        };
        sound.push(Finding {
            class: Class::Sound,
            standing: Standing::Supported,
            summary,
            arithmetic: Vec::new(),
            sources: vec![document.source(1)],
            advice: String::new(),
        });
    }
    sound
}
