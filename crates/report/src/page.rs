//! HTML pages of one file each: no network, no script, light and dark, fit for paper.

use unicode_width::UnicodeWidthStr;

use crate::figure;
use crate::markup::Markup;
use crate::table::{Align, Cell, Table, Tone};

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
        page.element("table", table_width(table), |page| {
            table_head(page, table);
            page.element("tbody", &[], |page| {
                for row in &table.rows {
                    page.element("tr", &[], |page| {
                        for (index, cell) in row.iter().enumerate() {
                            let right = column_class(table, index) == "number";
                            let class = cell_class(right, cell);
                            page.element("td", &[("class", &*class)], |page| {
                                cell_text(page, right, &cell.text);
                            });
                        }
                    });
                }
            });
        });
    });
}

/// The attributes of a table: one that is wide has smaller letters, above all on paper, where nothing scrolls.
pub fn table_width(table: &Table) -> &'static [(&'static str, &'static str)] {
    let widest = |index: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
        let name = table.columns.get(index).map_or("", |column| column.name.as_str());
        let pieces = name.split(['.', '_', ' ']).map(UnicodeWidthStr::width);
        cells.chain(pieces).max().unwrap_or(0).min(32) + 2
    };
    match (0..table.columns.len()).map(widest).sum::<usize>() {
        0..=100 => &[],
        101..=145 => &[("class", "wide")],
        _ => &[("class", "wider")],
    }
}

/// The longest piece of a text in a cell that is not broken.
const LONGEST_PIECE: usize = 26;

/// Where texts in cells may be broken beside their spaces.
const BREAKS: [char; 5] = [',', ';', '/', '=', '_'];

/// The class of a cell.
pub fn cell_class(is_number: bool, cell: &Cell) -> String {
    let pieces = cell.text.split(|letter: char| letter.is_whitespace() || BREAKS.contains(&letter));
    let is_long = !is_number && pieces.map(UnicodeWidthStr::width).any(|width| width > LONGEST_PIECE);
    let shape = match (is_number, is_long) {
        (true, _) => "number",
        (false, false) => "words",
        (false, true) => "words long",
    };
    format!("{shape} {}", tone_class(cell.tone)).trim_end().to_owned()
}

/// The text of a cell; words may be broken behind what separates them, numbers nowhere.
pub fn cell_text(page: &mut Markup, is_number: bool, text: &str) {
    if is_number {
        return page.text(text);
    }
    let mut pieces = text.split_inclusive(BREAKS).peekable();
    while let Some(piece) = pieces.next() {
        page.text(piece);
        if pieces.peek().is_some() {
            page.empty("wbr", &[]);
        }
    }
}

/// The names of a table's columns.
pub fn table_head(page: &mut Markup, table: &Table) {
    let groups = table.groups();
    page.element("thead", &[], |page| {
        if !groups.is_empty() {
            page.element("tr", &[], |page| {
                for (heading, count) in &groups {
                    let count = count.to_string();
                    let over = [("class", "over"), ("scope", "colgroup"), ("colspan", &*count)];
                    match heading {
                        Some(heading) => page.leaf("th", &over, heading),
                        None => page.element("td", &[("colspan", &*count)], |_| {}),
                    }
                }
            });
        }
        page.element("tr", &[], |page| {
            for (index, column) in table.columns.iter().enumerate() {
                let class = column_class(table, index);
                let name = column
                    .group
                    .as_ref()
                    .filter(|_| !groups.is_empty())
                    .map_or(&column.name, |group| &group.1);
                page.element("th", &[("class", class), ("scope", "col")], |page| {
                    // Names of metrics may be broken behind their dots.
                    for piece in name.split_inclusive(['.', '_']) {
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
