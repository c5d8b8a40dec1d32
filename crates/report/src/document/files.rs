//! Files as a document: what they measured, whether what they say follows from it, and where every number stands.

use assay_audit::{Audit, Finding, Level};
use assay_model::{Document, Source};

use super::experiments::{Experiment, experiments};
use super::{DocumentPart, Report, Section};
use crate::number::counted;
use crate::table::{Footnote, Tone};
use crate::words::{clean, identifier, shorten};

/// Contradicted claims that are said above everything else.
const MOST_SAID: usize = 4;

/// The document of files that were read and audited. `command` is what makes it again.
pub fn files_report(documents: &[Document], audit: &Audit, command: &str) -> Report {
    let names = short_names(documents);
    let found: Vec<Vec<Experiment<'_>>> = documents.iter().map(experiments).collect();
    let title = match names.as_slice() {
        [one] => one.clone(),
        many => format!("What {} measured", counted(many.len() as u64, "file")),
    };
    let place = |source: &Source| {
        let known = documents.iter().position(|document| document.file == source.file);
        let file = known.and_then(|index| names.get(index)).map_or(source.file.as_str(), String::as_str);
        let cell = source.cell.map(|cell| format!(" cell {cell}")).unwrap_or_default();
        clean(&format!("{file}{cell}:{}", source.line))
    };
    let mut report = Report {
        title,
        question: Some("What was measured here, and does what is said follow from it?".to_owned()),
        summary: summary(documents, &found, audit, &place),
        caveats: caveats(&found),
        sections: Vec::new(),
    };
    for ((document, name), found) in documents.iter().zip(&names).zip(&found) {
        report.sections.push(chapter(document, name, found, audit, &place));
    }
    report.sections.push(how(documents, command));
    report
}

/// Names without the directory where that is enough to tell files apart.
fn short_names(documents: &[Document]) -> Vec<String> {
    let short = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
    let names: Vec<String> = documents.iter().map(|document| short(&document.file)).collect();
    let unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let chosen = names.iter().zip(documents);
    chosen.map(|(name, document)| clean(if unique(name) { name } else { &document.file })).collect()
}

fn summary(
    documents: &[Document],
    found: &[Vec<Experiment<'_>>],
    audit: &Audit,
    place: &dyn Fn(&Source) -> String,
) -> Vec<String> {
    let runs: usize = documents.iter().map(|document| document.runs.len()).sum();
    let count: usize = found.iter().map(Vec::len).sum();
    let mut platforms: Vec<&str> = documents
        .iter()
        .flat_map(|document| &document.runs)
        .filter_map(|run| run.platform.as_deref())
        .collect();
    platforms.sort_unstable();
    platforms.dedup();
    let on = if platforms.is_empty() { String::new() } else { format!(" on {}", platforms.join(", ")) };
    let (one, many) = if documents.len() == 1 { ("This file", "states") } else { ("These files", "state") };
    let mut said = vec![format!(
        "{one} {many} {} in {}{on}.",
        counted(runs as u64, "run"),
        counted(count as u64, "experiment")
    )];
    said.extend(claims(audit));
    let wrong = audit.findings.iter().filter(|finding| finding.level == Level::Contradicted);
    said.extend(wrong.take(MOST_SAID).map(|finding| {
        let at = finding.sources.first().map(|source| format!(" ({})", place(source))).unwrap_or_default();
        format!("Contradicted: {}{at}", finding.summary.trim_end_matches('.'))
    }));
    said
}

/// How many claims there are, and how they stand.
pub fn claims(audit: &Audit) -> Option<String> {
    let all = audit.findings.len();
    let parts: Vec<String> = [
        (Level::Contradicted, "contradicted by the numbers beside them"),
        (Level::Doubtful, "doubtful"),
        (Level::Supported, "supported"),
        (Level::NotChecked, "not decidable from what is here"),
    ]
    .iter()
    .map(|(level, words)| (audit.count(*level), words))
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{count} {words}"))
    .collect();
    (all > 0).then(|| format!("{}: {}.", counted(all as u64, "claim"), parts.join(", ")))
}

fn caveats(found: &[Vec<Experiment<'_>>]) -> Vec<Footnote> {
    let single: usize = found.iter().flatten().map(Experiment::single_runs).sum();
    if single < 2 {
        return Vec::new();
    }
    vec![Footnote::about_all(
        format!("{single} rows rest on a single run each, so nothing says how much of a difference is noise"),
        "repeat every setting six times or more, in turns; `assay run` does that",
    )]
}

/// Claims that cannot be decided and are not folded.
const MOST_OPEN: usize = 4;

fn chapter(
    document: &Document,
    name: &str,
    found: &[Experiment<'_>],
    audit: &Audit,
    place: &dyn Fn(&Source) -> String,
) -> Section {
    let counts = [
        (document.lines, "line"),
        (document.runs.len() as u64, "run"),
        (document.tables.len() as u64, "table"),
        (document.statements.len() as u64, "statement"),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, thing)| counted(*count, thing)).collect();
    let mut parts = vec![DocumentPart::Text(format!("{}.", counts.join(", ")))];
    let of_file =
        |finding: &&Finding| finding.sources.first().is_some_and(|source| source.file == document.file);
    let findings: Vec<&Finding> = audit.findings.iter().filter(of_file).collect();
    let wrong = findings.iter().filter(|finding| finding.level < Level::NotChecked);
    parts.extend(wrong.flat_map(|finding| finding_parts(finding, &document.file, place)));
    // What cannot be decided and yet has numbers is worth a look.
    let has_numbers =
        |finding: &&&Finding| finding.level == Level::NotChecked && !finding.arithmetic.is_empty();
    let open: Vec<&Finding> = findings.iter().filter(has_numbers).take(MOST_OPEN).copied().collect();
    parts.extend(open.iter().flat_map(|finding| finding_parts(finding, &document.file, place)));
    let findings: Vec<&Finding> = findings
        .into_iter()
        .filter(|finding| !open.iter().any(|shown| std::ptr::eq(*shown, *finding)))
        .collect();
    for experiment in found.iter().filter(|experiment| !experiment.is_empty()) {
        parts.extend(experiment.parts());
    }
    for (level, title) in [
        (Level::Supported, "supported claim"),
        (Level::NotChecked, "claim that cannot be decided from what is here"),
    ] {
        let of_level: Vec<DocumentPart> = findings
            .iter()
            .filter(|finding| finding.level == level)
            .flat_map(|finding| finding_parts(finding, &document.file, place))
            .collect();
        let count = findings.iter().filter(|finding| finding.level == level).count();
        if count > 0 {
            let title = match (level, count) {
                (Level::NotChecked, 2..) => {
                    format!("{count} claims that cannot be decided from what is here")
                }
                _ => counted(count as u64, title),
            };
            parts.push(DocumentPart::Folded { title, parts: of_level });
        }
    }
    for omission in &document.omissions {
        parts.push(DocumentPart::Finding {
            tone: Tone::Doubt,
            text: format!("not read from line {}: {} {}", omission.line, omission.count, omission.what),
            advice: "split the file".to_owned(),
        });
    }
    Section { id: identifier(name), title: chapter_title(document, name), parts }
}

/// The file's own title with its name, so that a reader need not know files by their names.
fn chapter_title(document: &Document, name: &str) -> String {
    let titles = || document.tables.iter().filter_map(|table| table.headings.first());
    // A heading that all tables stand below is the title; of one table it may be that of its part alone.
    match titles().next().filter(|first| document.tables.len() > 1 && titles().all(|title| title == *first)) {
        Some(title) => format!("{} · {name}", shorten(&clean(title.trim().trim_end_matches(':')), 60)),
        None => name.to_owned(),
    }
}

fn finding_parts(finding: &Finding, own: &str, place: &dyn Fn(&Source) -> String) -> Vec<DocumentPart> {
    let (tone, word) = match finding.level {
        Level::Contradicted => (Tone::Bad, "✗ contradicted"),
        Level::Doubtful => (Tone::Doubt, "! doubtful"),
        Level::NotChecked => (Tone::Plain, "? open"),
        Level::Supported => (Tone::Good, "✓ supported"),
    };
    let places = places(finding, own, place);
    let text = format!("{word}: {} ({})", finding.summary, places);
    let mut parts = vec![DocumentPart::Finding { tone, text, advice: finding.advice.clone() }];
    if !finding.arithmetic.is_empty() {
        parts.push(DocumentPart::Listing { title: String::new(), text: finding.arithmetic.join("\n") });
    }
    parts
}

/// The lines of a finding; those of the chapter's own file without its name.
fn places(finding: &Finding, own: &str, place: &dyn Fn(&Source) -> String) -> String {
    let here = |source: &&Source| source.file == own && source.cell.is_none();
    let mut lines: Vec<u64> = finding.sources.iter().filter(here).map(|source| source.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut places: Vec<String> = Vec::new();
    if !lines.is_empty() {
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        places.push(format!("{word} {}", lines.join(", ")));
    }
    for source in finding.sources.iter().filter(|source| !here(source)) {
        let place = place(source);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.join("; ")
}

fn how(documents: &[Document], command: &str) -> Section {
    let mut facts = vec![("program".to_owned(), format!("assay {}", env!("CARGO_PKG_VERSION")))];
    facts.extend(documents.iter().map(|document| ("file".to_owned(), clean(&document.file))));
    let parts = vec![
        DocumentPart::Text(
            "Numbers are taken from the files as they stand; nothing was run. Point at a row, or press a number, for its lines."
                .to_owned(),
        ),
        DocumentPart::Facts(facts),
        DocumentPart::Listing { title: "Commands".to_owned(), text: command.to_owned() },
    ];
    Section { id: "how".to_owned(), title: "How it was made".to_owned(), parts }
}
