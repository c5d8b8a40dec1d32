//! The audit as one HTML file: no network, no script, light and dark, fit for paper.

mod figures;

use assay_judge::audit::{Audit, Finding, Standing};
use assay_model::Document;

use super::markdown::capital;
use super::{SECTIONS, class_words, counts, documents_table, findings, read_counts, title, verdict};
use crate::figure;
use crate::markup::Markup;
use crate::reading::{place, runs_table};
use crate::table::{Align, Table, Tone};

/// The style sheet of the page.
const STYLE: &str = include_str!("html/page.css");

/// Runs listed for one document.
const MOST_RUNS: usize = 200;

/// The whole page.
pub fn html(audit: &Audit, documents: &[Document]) -> String {
    let title = title(documents);
    let mut page = Markup::default();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        page.element("head", &[], |page| head(page, &title));
        page.line();
        page.element("body", &[], |page| {
            page.element("header", &[], |page| header(page, audit, documents, &title));
            page.line();
            page.element("main", &[], |page| body(page, audit, documents));
        });
    });
    page.line();
    page.finish()
}

fn head(page: &mut Markup, title: &str) {
    page.empty("meta", &[("charset", "utf-8")]);
    page.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    page.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    page.leaf("title", &[], title);
    page.element("style", &[], |page| {
        page.own(figure::STYLE);
        page.own(STYLE);
    });
}

/// What stays in sight: what was audited, the sentence, and the counts as links to their sections.
fn header(page: &mut Markup, audit: &Audit, documents: &[Document], title: &str) {
    let (sentence, tone) = verdict(audit, documents);
    page.element("div", &[("class", "bar")], |page| {
        page.element("div", &[("class", "what")], |page| {
            page.leaf("h1", &[], title);
            page.leaf("p", &[("class", &*format!("verdict {}", tone_class(tone)))], sentence);
        });
        page.element("nav", &[("aria-label", "findings")], |page| {
            for ((count, name, _), (standing, ..)) in counts(audit).into_iter().zip(SECTIONS) {
                let class =
                    format!("count {}{}", section_id(standing), if count == 0 { " none" } else { "" });
                let inside = |page: &mut Markup| {
                    page.leaf("b", &[], &count.to_string());
                    page.text(&format!(" {name}"));
                };
                // A link that leads nowhere would be a small lie.
                match count {
                    0 => page.element("span", &[("class", &*class)], inside),
                    _ => {
                        let target = format!("#{}", section_id(standing));
                        page.element("a", &[("class", &*class), ("href", &*target)], inside);
                    }
                }
            }
        });
    });
}

fn body(page: &mut Markup, audit: &Audit, documents: &[Document]) {
    for (standing, name, mark, _) in SECTIONS {
        let findings = findings(audit, standing);
        if findings.is_empty() {
            continue;
        }
        let id = section_id(standing);
        page.element("section", &[("id", id), ("class", id)], |page| {
            page.leaf("h2", &[], &capital(name));
            findings.iter().for_each(|finding| card(page, finding, mark));
        });
        page.line();
    }
    figures::repeats(page, audit);
    figures::timelines(page, documents);
    figures::series(page, documents);
    read(page, audit, documents);
}

/// One finding.
fn card(page: &mut Markup, finding: &Finding, mark: &str) {
    page.element("article", &[("class", "card")], |page| {
        page.element("h3", &[], |page| {
            page.leaf("span", &[("class", "mark"), ("aria-hidden", "true")], mark);
            prose(page, &finding.summary);
        });
        if !finding.arithmetic.is_empty() {
            page.leaf("pre", &[("class", "arithmetic")], &finding.arithmetic.join("\n"));
        }
        if !finding.advice.is_empty() {
            page.element("p", &[("class", "advice")], |page| {
                page.leaf("b", &[], "What to do ");
                prose(page, &finding.advice);
            });
        }
        page.element("p", &[("class", "places")], |page| {
            page.leaf("span", &[("class", "kind")], &class_words(finding.class));
            for source in &finding.sources {
                page.text(" ");
                page.leaf("code", &[], &place(source));
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

/// A table with its heading above it.
fn table(page: &mut Markup, table: &Table) {
    for line in &table.heading {
        page.leaf("p", &[("class", "note")], line);
    }
    page.element("div", &[("class", "scroll")], |page| {
        page.element("table", &[], |page| {
            let class = |index: usize| match table.columns.get(index).map(|column| column.align) {
                Some(Align::Right) => "number",
                _ => "words",
            };
            page.element("thead", &[], |page| {
                page.element("tr", &[], |page| {
                    for (index, column) in table.columns.iter().enumerate() {
                        page.leaf("th", &[("class", class(index)), ("scope", "col")], &column.name);
                    }
                });
            });
            page.element("tbody", &[], |page| {
                for row in &table.rows {
                    page.element("tr", &[], |page| {
                        for (index, cell) in row.iter().enumerate() {
                            let class = format!("{} {}", class(index), tone_class(cell.tone));
                            page.leaf("td", &[("class", class.trim_end())], &cell.text);
                        }
                    });
                }
            });
        });
    });
}

fn section_id(standing: Standing) -> &'static str {
    match standing {
        Standing::Contradicted => "contradicted",
        Standing::Doubtful => "doubtful",
        Standing::Open => "open",
        Standing::Supported => "supported",
    }
}

fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubt => "doubt",
        Tone::Faint => "faint",
        Tone::Strong => "strong",
    }
}
