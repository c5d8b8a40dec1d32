//! The audit as one HTML file: no network, no script, light and dark, fit for paper.
//!
//! | file | holds |
//! |---|---|
//! | `marks.rs` | which finding is about which number |
//! | `marked.rs`, `marked.css` | the documents, their numbers marked |
//! | `figures.rs` | repeats, phases and series |

mod figures;
mod marked;
mod marks;

use assay_audit::{Audit, Finding, Level};
use assay_model::{Document, Source};

use super::markdown::capital;
use super::{
    SECTIONS, class_words, counts, distinct, documents_table, extra_arithmetic, read_counts, title, verdict,
};
use crate::markup::Markup;
use crate::page::{self, table, tone_class};
use crate::reading::{place, runs_table};
use marks::MarkedDocument;

/// Runs listed for one document.
const MOST_RUNS: usize = 200;

/// How marked documents look.
const STYLE: &str = include_str!("html/marked.css");

/// The whole page.
pub fn html(audit: &Audit, documents: &[Document]) -> String {
    let title = title(documents);
    page::styled_page(
        &title,
        STYLE,
        |page| header(page, audit, documents, &title),
        |page| body(page, audit, documents),
    )
}

/// What stays in sight: what was audited, the sentence, and the counts as links to their sections.
fn header(page: &mut Markup, audit: &Audit, documents: &[Document], title: &str) {
    let (sentence, tone) = verdict(audit, documents);
    page.element("div", &[("class", "bar")], |page| {
        page.element("div", &[("class", "what")], |page| {
            page.leaf("h1", &[], title);
            page.leaf("p", &[("class", &*format!("verdict {}", tone_class(tone)))], &sentence);
        });
        page.element("nav", &[("aria-label", "findings")], |page| {
            for ((count, name, _), (level, ..)) in counts(audit).into_iter().zip(SECTIONS) {
                let class = format!("count {}{}", section_id(level), if count == 0 { " none" } else { "" });
                let inside = |page: &mut Markup| {
                    page.leaf("b", &[], &count.to_string());
                    page.text(&format!(" {name}"));
                };
                // A link that leads nowhere would be a small lie.
                match count {
                    0 => page.element("span", &[("class", &*class)], inside),
                    _ => {
                        let target = format!("#{}", section_id(level));
                        page.element("a", &[("class", &*class), ("href", &*target)], inside);
                    }
                }
            }
            if documents.iter().any(|document| !document.text.is_empty()) {
                page.leaf("a", &[("class", "count"), ("href", "#text")], "the text");
            }
        });
    });
}

fn body(page: &mut Markup, audit: &Audit, documents: &[Document]) {
    let marked = marks::marked(audit, documents);
    if marked.iter().all(|document| document.passages.is_empty()) {
        sections(page, audit, documents, &marked);
    } else {
        marked::legend(page);
        page.element("div", &[("class", "audited")], |page| {
            page.element("div", &[("class", "findings")], |page| sections(page, audit, documents, &marked));
            page.line();
            page.element("div", &[("class", "texts"), ("id", "text")], |page| {
                marked::documents(page, audit, documents, &marked);
            });
        });
        page.line();
    }
    figures::repeats(page, audit);
    figures::timelines(page, documents);
    figures::series(page, documents);
    read(page, audit, documents);
}

/// The findings, level by level.
fn sections(page: &mut Markup, audit: &Audit, documents: &[Document], marked: &[MarkedDocument]) {
    for (level, name, mark, _) in SECTIONS {
        let own: Vec<(usize, &Finding)> =
            audit.findings.iter().enumerate().filter(|(_, finding)| finding.level == level).collect();
        if own.is_empty() {
            continue;
        }
        let id = section_id(level);
        page.element("section", &[("id", id), ("class", id)], |page| {
            page.leaf("h2", &[], &capital(name));
            for (index, finding) in own {
                card(page, (index, finding), mark, |source| link_to(source, documents, marked));
            }
        });
        page.line();
    }
}

/// The address of a line, if the page shows it.
fn link_to(source: &Source, documents: &[Document], marked: &[MarkedDocument]) -> Option<String> {
    let index = documents.iter().position(|document| document.file == source.file)?;
    let is_shown = marked.get(index).is_some_and(|document| document.has_line(source.line));
    is_shown.then(|| format!("#{}", marked::line_id(index, source.line)))
}

/// One finding.
fn card(
    page: &mut Markup,
    (index, finding): (usize, &Finding),
    mark: &str,
    link: impl Fn(&Source) -> Option<String>,
) {
    page.element("article", &[("class", "card"), ("id", &*marked::card_id(index))], |page| {
        page.element("h3", &[], |page| {
            page.leaf("span", &[("class", "mark"), ("aria-hidden", "true")], mark);
            page.leaf("span", &[("class", "which")], &(index + 1).to_string());
            prose(page, &finding.summary);
        });
        let arithmetic = extra_arithmetic(finding);
        if !arithmetic.is_empty() {
            page.leaf("pre", &[("class", "arithmetic")], &arithmetic.join("\n"));
        }
        if !finding.advice.is_empty() {
            page.element("p", &[("class", "advice")], |page| {
                page.leaf("b", &[], "What to do ");
                prose(page, &finding.advice);
            });
        }
        page.element("p", &[("class", "places")], |page| {
            page.leaf("span", &[("class", "kind")], &class_words(finding.class));
            for source in distinct(&finding.sources) {
                page.text(" ");
                match link(source) {
                    Some(target) => page.element("a", &[("href", &*target)], |page| {
                        page.leaf("code", &[], &place(source));
                    }),
                    None => page.leaf("code", &[], &place(source)),
                }
            }
        });
    });
    page.line();
}

/// A sentence in which backticks mark what is to be typed.
fn prose(page: &mut Markup, text: &str) {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((code, after)) = behind.split_once('`') else { break };
        page.text(before);
        page.leaf("code", &[], code);
        rest = after;
    }
    page.text(rest);
}

/// What was read: a row for each document, and its runs on demand.
fn read(page: &mut Markup, audit: &Audit, documents: &[Document]) {
    page.element("section", &[("id", "read")], |page| {
        page.leaf("h2", &[], "What was read");
        if documents.is_empty() {
            page.leaf("p", &[], "Nothing.");
            return;
        }
        table(page, &documents_table(audit, documents));
        for document in documents.iter().filter(|document| !document.runs.is_empty()) {
            page.element("details", &[], |page| {
                page.element("summary", &[], |page| {
                    page.text("Runs of ");
                    page.leaf("code", &[], &document.file);
                    page.text(&format!(" ({})", read_counts(document)));
                });
                let mut runs = runs_table(document, true);
                let more = runs.rows.len().saturating_sub(MOST_RUNS);
                runs.rows.truncate(MOST_RUNS);
                table(page, &runs);
                if more > 0 {
                    page.leaf("p", &[("class", "note")], &format!("… and {more} more runs"));
                }
            });
        }
    });
    page.line();
}

fn section_id(level: Level) -> &'static str {
    match level {
        Level::Contradicted => "contradicted",
        Level::Doubtful => "doubtful",
        Level::NotChecked => "not_checked",
        Level::Supported => "supported",
    }
}

#[cfg(test)]
mod tests;
