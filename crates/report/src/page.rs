//! HTML pages of one file each: no network, no script, light and dark, fit for paper.

use crate::figure;
use crate::markup::Markup;
use crate::table::{Align, Table, Tone};

/// The style sheet of pages.
pub const STYLE: &str = include_str!("page.css");

/// A whole page. The header stays in sight.
pub fn page(title: &str, header: impl FnOnce(&mut Markup), body: impl FnOnce(&mut Markup)) -> String {
    styled_page(title, "", header, body)
}

/// A whole page with a style sheet of its own behind the common one.
pub fn styled_page(
    title: &str,
    style: &'static str,
    header: impl FnOnce(&mut Markup),
    body: impl FnOnce(&mut Markup),
) -> String {
    let mut page = Markup::default();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        page.element("head", &[], |page| head(page, title, style));
        page.line();
        page.element("body", &[], |page| {
            page.element("header", &[], header);
            page.line();
            page.element("main", &[], body);
        });
    });
    page.line();
    page.finish()
}

fn head(page: &mut Markup, title: &str, style: &'static str) {
    page.empty("meta", &[("charset", "utf-8")]);
    page.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    page.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    page.leaf("title", &[], title);
    page.element("style", &[], |page| {
        page.own(figure::STYLE);
        page.own(STYLE);
        page.own(style);
    });
}

/// A table with its heading above it.
pub fn table(page: &mut Markup, table: &Table) {
    for line in &table.heading {
        page.leaf("p", &[("class", "note")], line);
    }
    page.element("div", &[("class", "scroll")], |page| {
        page.element("table", &[], |page| {
            let class = |index: usize| column_class(table, index);
            table_head(page, table);
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

/// The names of a table's columns.
pub fn table_head(page: &mut Markup, table: &Table) {
    page.element("thead", &[], |page| {
        page.element("tr", &[], |page| {
            for (index, column) in table.columns.iter().enumerate() {
                let class = column_class(table, index);
                page.element("th", &[("class", class), ("scope", "col")], |page| {
                    // Names of metrics may be broken behind their dots.
                    for piece in column.name.split_inclusive(['.', '_']) {
                        page.text(piece);
                        if piece.ends_with(['.', '_']) {
                            page.empty("wbr", &[]);
                        }
                    }
                });
            }
        });
    });
}

fn column_class(table: &Table, index: usize) -> &'static str {
    match table.columns.get(index).map(|column| column.align) {
        Some(Align::Right) => "number",
        _ => "words",
    }
}

/// The class of a tone.
pub fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubt => "doubt",
        Tone::Faint => "faint",
        Tone::Strong => "strong",
    }
}
