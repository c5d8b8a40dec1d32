//! A document as one HTML file: no network, no script, light and dark, fit for paper. A number opens what it rests on:
//! with the mouse over its row, and with click, Enter or Space on the number itself.

use super::{DataTable, DocumentPart, Figure, Report, Section};
use crate::markup::Markup;
use crate::page::{self, tone_class};
use crate::table::{Align, Footnote};
use crate::words::code_pieces;

/// The whole file.
pub fn html(report: &Report) -> String {
    let header = |page: &mut Markup| {
        page.element("div", &[("class", "bar")], |page| {
            page.element("div", &[("class", "what")], |page| {
                page.leaf("h1", &[], &report.title);
                if let Some(question) = report.question.as_ref().filter(|question| !question.is_empty()) {
                    page.leaf("p", &[("class", "verdict")], question);
                }
            });
            page.element("nav", &[("aria-label", "sections")], |page| {
                for section in report.sections.iter().take(8) {
                    let target = format!("#{}", section.id);
                    page.leaf("a", &[("class", "count"), ("href", &*target)], &section.title);
                }
            });
        });
    };
    page::page(&report.title, header, |page| body(page, report))
}

/// What stands below the header.
pub fn body(page: &mut Markup, report: &Report) {
    let mut numbered = Numbered::default();
    if !report.summary.is_empty() || !report.caveats.is_empty() {
        page.element("section", &[("id", "answer"), ("class", "answer")], |page| {
            page.leaf("h2", &[], "Answer");
            for sentence in &report.summary {
                page.element("p", &[], |page| prose(page, sentence));
            }
            if !report.caveats.is_empty() {
                page.leaf("h3", &[], "Caveats");
                page.element("ul", &[("class", "caveats")], |page| {
                    report.caveats.iter().for_each(|caveat| caveat_item(page, caveat));
                });
            }
        });
        page.line();
    }
    for section in &report.sections {
        write_section(page, section, &mut numbered);
    }
}

/// Counters for what a page numbers.
#[derive(Default)]
struct Numbered {
    figures: usize,
    abouts: usize,
}

fn caveat_item(page: &mut Markup, caveat: &Footnote) {
    page.element("li", &[], |page| {
        prose(page, &caveat.text);
        if !caveat.hint.is_empty() {
            write_hint(page, "span", &caveat.hint);
        }
    });
}

/// What to do about a doubt; behind a sentence that has no full stop, it begins a new one.
fn write_hint(page: &mut Markup, element: &str, hint: &str) {
    if element == "span" {
        page.text(". ");
    }
    page.element(element, &[("class", "hint")], |page| {
        page.leaf("b", &[], "Hint: ");
        prose(page, hint);
    });
}

fn write_section(page: &mut Markup, section: &Section, numbered: &mut Numbered) {
    page.element("section", &[("id", &*section.id)], |page| {
        page.leaf("h2", &[], &section.title);
        write_parts(page, &section.parts, numbered);
    });
    page.line();
}

/// Small figures that follow each other stand side by side.
fn write_parts(page: &mut Markup, parts: &[DocumentPart], numbered: &mut Numbered) {
    let is_small =
        |part: &DocumentPart| matches!(part, DocumentPart::Figure(figure) if figure.drawing.is_small());
    for group in parts.chunk_by(|a, b| is_small(a) && is_small(b)) {
        match group {
            [one] if is_small(one) => {
                page.element("div", &[("class", "plots one")], |page| write_part(page, one, numbered));
            }
            [one] => write_part(page, one, numbered),
            several => page.element("div", &[("class", "plots")], |page| {
                several.iter().for_each(|part| write_part(page, part, numbered));
            }),
        }
    }
}

fn write_part(page: &mut Markup, part: &DocumentPart, numbered: &mut Numbered) {
    match part {
        DocumentPart::Heading(text) => page.leaf("h3", &[("class", "part")], text),
        DocumentPart::Text(text) => page.element("p", &[], |page| prose(page, text)),
        DocumentPart::Table(table) => write_table(page, table, numbered),
        DocumentPart::Figure(figure) => write_figure(page, figure, numbered),
        DocumentPart::Listing { title, text } => {
            if !title.is_empty() {
                page.leaf("h3", &[], title);
            }
            page.leaf("pre", &[("class", "arithmetic"), ("tabindex", "0")], text);
        }
        DocumentPart::Facts(facts) => page.element("dl", &[("class", "facts")], |page| {
            for (name, value) in facts {
                page.leaf("dt", &[], name);
                page.leaf("dd", &[], value);
            }
        }),
        DocumentPart::Finding { tone, text, advice } => {
            let class = format!("finding {}", tone_class(*tone));
            page.element("div", &[("class", &*class)], |page| {
                page.element("p", &[], |page| prose(page, text));
                if !advice.is_empty() {
                    write_hint(page, "p", advice);
                }
            });
        }
        DocumentPart::Folded { title, parts } => page.element("details", &[], |page| {
            page.leaf("summary", &[], title);
            write_parts(page, parts, numbered);
        }),
    }
    page.line();
}

fn write_figure(page: &mut Markup, figure: &Figure, numbered: &mut Numbered) {
    numbered.figures += 1;
    page.element("figure", &[], |page| {
        page.element(
            "div",
            &[("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", "figure")],
            |page| {
                page.append(figure.drawing.svg());
            },
        );
        page.element("figcaption", &[], |page| {
            page.leaf("b", &[], &format!("Figure {}. ", numbered.figures));
            page.text(&figure.caption);
        });
    });
}

fn write_table(page: &mut Markup, data: &DataTable, numbered: &mut Numbered) {
    let table = &data.table;
    page.element("div", &[("class", "block")], |page| {
        for line in &table.heading {
            page.leaf("p", &[("class", "note")], line);
        }
        page.element(
            "div",
            &[("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", "table")],
            |page| {
                page.element("table", page::table_width(table), |page| {
                    page::table_head(page, table);
                    page.element("tbody", &[], |page| {
                        for (index, row) in table.rows.iter().enumerate() {
                            let about = data.abouts.get(index).filter(|lines| !lines.is_empty());
                            write_row(page, data, row, about, numbered);
                        }
                    });
                });
            },
        );
        for note in &table.notes {
            page.element("p", &[("class", "note")], |page| prose(page, note));
        }
        for (index, footnote) in table.footnotes.iter().enumerate() {
            page.element("p", &[("class", "note")], |page| {
                page.text(&footnote.lead(index));
                prose(page, &footnote.text);
                if !footnote.hint.is_empty() {
                    write_hint(page, "span", &footnote.hint);
                }
            });
        }
    });
}

fn write_row(
    page: &mut Markup,
    data: &DataTable,
    row: &[crate::Cell],
    about: Option<&Vec<String>>,
    numbered: &mut Numbered,
) {
    let title = about.map(|lines| lines.join("\n")).unwrap_or_default();
    let attributes: &[(&str, &str)] = if title.is_empty() { &[] } else { &[("title", &title)] };
    page.element("tr", attributes, |page| {
        for (index, cell) in row.iter().enumerate() {
            let right = data.table.columns.get(index).is_some_and(|column| column.align == Align::Right);
            let class = page::cell_class(right, cell);
            match about.filter(|_| data.main == index) {
                Some(lines) => page.element("td", &[("class", &*class)], |page| {
                    numbered.abouts += 1;
                    write_about(page, &cell.text, lines, numbered.abouts);
                }),
                None => {
                    page.element("td", &[("class", &*class)], |page| {
                        page::cell_text(page, right, &cell.text)
                    });
                }
            }
        }
    });
    page.line();
}

/// A number that opens what it rests on.
fn write_about(page: &mut Markup, text: &str, lines: &[String], number: usize) {
    let id = format!("n{number}");
    page.leaf("button", &[("type", "button"), ("class", "about"), ("popovertarget", &*id)], text);
    page.element("div", &[("id", &*id), ("popover", "auto"), ("class", "about")], |page| {
        page.element("ul", &[], |page| lines.iter().for_each(|line| page.leaf("li", &[], line)));
    });
}

/// A sentence in which backticks mark what is to be typed.
fn prose(page: &mut Markup, text: &str) {
    for (is_code, piece) in code_pieces(text) {
        match is_code {
            true => page.leaf("code", &[], piece),
            false => page.text(piece),
        }
    }
}
