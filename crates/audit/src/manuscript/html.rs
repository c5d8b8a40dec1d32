//! HTML: block elements become blocks, everything else is text.

use super::spans::{self, Spanning};
use super::{Block, Line, RawCell, Text, aligned};

pub(super) fn blocks(source: &str) -> Vec<Block> {
    let mut reader = Reader { line: 1, ..Reader::default() };
    let mut rest = source;
    while !rest.is_empty() {
        let used = reader.step(rest);
        let passed = rest.get(..used).unwrap_or(rest);
        reader.line += passed.bytes().filter(|byte| *byte == b'\n').count() as u64;
        rest = rest.get(used..).unwrap_or_default();
    }
    reader.end_text();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    text: Text,
    line: u64,
    heading: bool,
    listing: bool,
    table: Option<Table>,
    /// Whether the cell that is open holds data.
    cell: Option<bool>,
    caption: bool,
    /// The element whose content is no text.
    skipped: Option<&'static str>,
}

/// A table that is open.
#[derive(Default)]
struct Table {
    caption: String,
    rows: Vec<Vec<Spanning>>,
    /// Rows at the top without data.
    headers: usize,
    /// Whether the row under way has data.
    data_row: bool,
}

impl Reader {
    /// Reads a tag, an entity or a run of text; returns its length.
    fn step(&mut self, rest: &str) -> usize {
        if let Some(name) = self.skipped {
            let found = closing_tag(rest, name).unwrap_or(rest.len());
            self.skipped = None;
            return found.max(1).min(rest.len());
        }
        if rest.starts_with("<!--") {
            return rest.find("-->").map_or(rest.len(), |end| end + 3);
        }
        if rest.starts_with('<')
            && rest[1..].starts_with(|next: char| next.is_ascii_alphabetic() || "/!".contains(next))
        {
            // A tag that never ends takes the rest of the file.
            let end = rest.find('>').unwrap_or(rest.len());
            self.tag(&rest[1..end]);
            return (end + 1).min(rest.len());
        }
        if rest.starts_with('&') {
            let (text, length) = entity(rest);
            self.push(&text);
            return length;
        }
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(_, next)| "<&\n".contains(*next))
            .map_or(rest.len(), |(at, _)| at);
        self.push(&rest[..length]);
        length
    }

    fn push(&mut self, text: &str) {
        if self.listing {
            self.text.text.push_str(text);
            return;
        }
        let text = text.replace(['\n', '\r', '\t', '\u{a0}', '\u{2009}', '\u{202f}'], " ");
        let text = if self.text.text.ends_with(' ') || self.text.text.is_empty() {
            text.trim_start()
        } else {
            &text
        };
        if text.is_empty() {
            return;
        }
        if self.text.starts.last().is_none_or(|(_, line)| *line != self.line) {
            self.text.starts.push((self.text.text.len(), self.line));
        }
        self.text.text.push_str(text);
    }

    fn tag(&mut self, tag: &str) {
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|character| character.to_ascii_lowercase())
            .collect();
        let closes = tag.starts_with('/');
        match name.as_str() {
            // Figures are drawn from the numbers, and what pops up explains them.
            "svg" if !closes && !tag.ends_with('/') => self.skipped = Some("svg"),
            "div" if !closes && (tag.contains(" popover") || tag.contains(" hidden")) => {
                self.skipped = Some("div");
            }
            "script" | "style" | "head" if !closes => {
                // Only the title of a head is text, and headings repeat it.
                self.skipped = Some(match name.as_str() {
                    "script" => "script",
                    "style" => "style",
                    _ => "head",
                });
            }
            "br" => self.push(" "),
            "td" | "th" => self.begin_cell(name == "td", closes, tag),
            "tr" => self.row(closes),
            "table" => self.begin_table(closes),
            "caption" | "figcaption" => {
                self.end_text();
                self.caption = !closes && name == "caption";
            }
            "pre" => {
                self.end_text();
                self.listing = !closes;
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_text();
                self.heading = !closes;
            }
            "p" | "div" | "li" | "ul" | "ol" | "section" | "article" | "body" | "html" | "header"
            | "footer" | "blockquote" | "dl" | "dt" | "dd" | "thead" | "tbody" | "tfoot" | "details"
            | "summary" | "main" | "nav" | "aside" | "figure" | "hr"
                if self.cell.is_none() =>
            {
                self.end_text();
            }
            _ => {}
        }
    }

    fn begin_table(&mut self, closes: bool) {
        self.end_text();
        if let Some(mut table) = self.table.take() {
            table.end_row();
            let table = spans::table(table.caption, table.rows, table.headers);
            self.blocks.push(Block::Table(table));
        }
        if !closes {
            self.table = Some(Table::default());
        }
    }

    fn row(&mut self, closes: bool) {
        self.end_text();
        if let Some(table) = &mut self.table {
            table.end_row();
            if !closes {
                table.rows.push(Vec::new());
                table.data_row = false;
            }
        }
    }

    fn begin_cell(&mut self, data: bool, closes: bool, tag: &str) {
        self.end_text();
        if closes {
            self.cell = None;
            return;
        }
        self.cell = Some(data);
        let cell = RawCell { text: String::new(), line: self.line };
        let Some(table) = &mut self.table else { return };
        table.data_row |= data;
        if let Some(row) = table.rows.last_mut() {
            row.push(Spanning::new(cell, span(tag, "colspan"), span(tag, "rowspan")));
        }
    }

    /// Hands the text so far to what it belongs to.
    fn end_text(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        if self.listing {
            let first = self.line.saturating_sub(text.text.matches('\n').count() as u64);
            let lines = text.text.split('\n').enumerate();
            let lines =
                lines.map(|(index, text)| Line { number: first + index as u64, text: text.to_owned() });
            self.blocks.extend(aligned::split(lines.collect()));
            return;
        }
        let kept = text.text.trim_end().len();
        text.text.truncate(kept);
        if text.text.is_empty() {
            return;
        }
        let last_cell =
            self.table.as_mut().and_then(|table| table.rows.last_mut()).and_then(|row| row.last_mut());
        match (self.cell, last_cell) {
            (Some(_), Some(Spanning { cell, .. })) => {
                if !cell.text.is_empty() {
                    cell.text.push(' ');
                }
                cell.text.push_str(text.text.trim());
            }
            _ if self.caption => {
                if let Some(table) = &mut self.table {
                    table.caption = text.text.clone();
                }
                self.blocks.push(Block::Paragraph(text));
            }
            _ if self.heading => self.blocks.push(Block::Heading(text)),
            _ => self.blocks.push(Block::Paragraph(text)),
        }
    }
}

impl Table {
    /// Counts the row that ends here if it belongs to the header.
    fn end_row(&mut self) {
        let is_last = self.headers + 1 == self.rows.len();
        if is_last && !self.data_row && self.rows.last().is_some_and(|row| !row.is_empty()) {
            self.headers += 1;
        }
    }
}

/// How many columns or rows a cell spans.
fn span(tag: &str, attribute: &str) -> usize {
    let value = tag.to_ascii_lowercase();
    let value = value.split_once(attribute).map_or("", |(_, behind)| behind);
    let digits = value.trim_start_matches(['=', '"', '\'', ' ']);
    let end = digits.find(|one: char| !one.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(1)
}

/// Where an element ends, in letters of either case.
fn closing_tag(text: &str, name: &str) -> Option<usize> {
    let is_end = |at: &usize| {
        let behind = text.as_bytes().get(at + 2..at + 2 + name.len());
        behind.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    text.match_indices("</").map(|(at, _)| at).find(is_end)
}

/// The character that an entity stands for, and the entity's length.
pub(super) fn entity(text: &str) -> (String, usize) {
    let end = text.char_indices().take(12).find(|(_, character)| *character == ';').map(|(at, _)| at);
    let Some(end) = end else { return ("&".to_owned(), 1) };
    let name = text.get(1..end).unwrap_or_default();
    let known = match name {
        "nbsp" | "thinsp" | "ensp" | "emsp" | "#160" | "#8239" => " ",
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" | "#39" | "rsquo" => "'",
        "times" | "#215" => "×",
        "plusmn" | "#177" => "±",
        "ndash" => "–",
        "mdash" => "—",
        "minus" => "−",
        "rarr" => "→",
        "asymp" | "approx" => "≈",
        "euro" => "€",
        "micro" | "mu" => "µ",
        "middot" => "·",
        "deg" => "°",
        _ => "",
    };
    if !known.is_empty() {
        return (known.to_owned(), end + 1);
    }
    let code = name.strip_prefix('#').and_then(|code| match code.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
        None => code.parse().ok(),
    });
    match code.and_then(char::from_u32) {
        Some(character) => (character.to_string(), end + 1),
        None => ("&".to_owned(), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Manuscript};

    #[test]
    fn headers_of_two_rows_name_each_column() {
        let text = "<table><tr><th rowspan=\"2\">node</th><th colspan='2'>wait (min)</th></tr>\n\
                    <tr><th>before</th><th>after</th></tr>\n<tr><td>a</td><td>13</td><td>7</td></tr></table>";
        let manuscript = Manuscript::read("a.html", text);
        let Some(Block::Table(table)) = manuscript.blocks.first() else { panic!("no table") };
        assert_eq!(table.header, ["node", "wait (min) before", "wait (min) after"]);
        assert_eq!(table.rows.len(), 1);
    }
}
