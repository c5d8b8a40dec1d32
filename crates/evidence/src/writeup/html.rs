//! Tables in HTML, as write-ups embed them.
//!
//! No HTML library is used: they build a whole tree in memory and forget on which line a cell stood. Only tables matter
//! here, every cell must keep its line, and memory must stay bounded whatever is fed, so a small tolerant reader of
//! the six tags that make a table does more with less. Tags that were never closed are closed by the next one.

use super::markup::with_entities;
use super::raw::{LONGEST_CELL, MOST_COLUMNS, RawTable, joined_header};

const LONGEST_TAG: usize = 1024;
const MOST_HEADER_ROWS: usize = 4;

/// Reads an HTML table line by line.
#[derive(Debug, Default)]
pub struct HtmlTable {
    table: RawTable,
    /// How many `<table>` are open; tables inside a cell are part of its text.
    depth: u32,
    complete: bool,
    rest: String,
    /// The tag that is being read, without its angle brackets; it may span lines.
    tag: Option<String>,
    in_head: bool,
    row: Option<Vec<HtmlCell>>,
    cell: Option<HtmlCell>,
    hanging: Vec<Option<Hanging>>,
    header_rows: Vec<Vec<String>>,
    caption: Option<(u64, String)>,
    in_caption: bool,
    /// Inside of what pops up or is hidden: it explains the cell and is not part of its value.
    in_note: bool,
}

#[derive(Debug, Clone, Default)]
struct HtmlCell {
    text: String,
    line: u64,
    columns: usize,
    rows: usize,
    is_heading: bool,
}

/// A cell that reaches into rows below its own.
#[derive(Debug, Clone)]
struct Hanging {
    rows: usize,
    text: String,
    line: u64,
}

/// Whether a table begins on this line.
pub fn starts(text: &str) -> bool {
    table_tag(text).is_some()
}

/// Where a table begins.
pub(crate) fn table_tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes).find(|at| {
        let name = bytes.get(at + 1..at + 6).unwrap_or_default();
        name.eq_ignore_ascii_case(b"table") && !bytes.get(at + 6).is_some_and(u8::is_ascii_alphanumeric)
    })
}

impl HtmlTable {
    /// Takes the next line. False if the line is not part of the table: it ended before, or has not begun.
    pub fn push(&mut self, number: u64, text: &str) -> bool {
        if self.complete {
            return false;
        }
        let mut rest = text;
        if self.depth == 0 && self.tag.is_none() {
            let Some(at) = table_tag(text) else { return false };
            self.table.first = number;
            rest = text.get(at..).unwrap_or_default();
        }
        self.table.last = number;
        while !rest.is_empty() && !self.complete {
            rest = match self.tag.is_some() {
                true => self.continue_tag(rest, number),
                false => self.take_text(rest),
            };
        }
        if self.complete {
            self.rest = rest.to_owned();
        } else if let Some(tag) = &mut self.tag {
            tag.push(' ');
        } else {
            self.add_text(" ");
        }
        true
    }

    /// Whether the end of the table was seen.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// What stands behind the end of the table on its last line; another table may begin there.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// The table. One that was never closed counts too.
    pub fn finish(mut self) -> Option<RawTable> {
        self.close_row();
        let mut headers = std::mem::take(&mut self.header_rows);
        if headers.is_empty() && !self.table.rows.is_empty() {
            headers.push(self.table.rows.remove(0).into_iter().map(|(text, _)| text).collect());
        }
        self.table.header = joined_header(&headers);
        (!self.table.header.is_empty()).then_some(self.table)
    }

    /// Takes text up to the next tag and returns what follows.
    fn take_text<'a>(&mut self, text: &'a str) -> &'a str {
        let mut searched = 0;
        while let Some(found) = text.get(searched..).and_then(|tail| tail.find('<')) {
            let at = searched + found;
            let next = text.as_bytes().get(at + 1);
            if next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!')) {
                self.add_text(text.get(..at).unwrap_or_default());
                self.tag = Some(String::new());
                return text.get(at + 1..).unwrap_or_default();
            }
            searched = at + 1;
        }
        self.add_text(text);
        ""
    }

    /// The caption with its line.
    pub fn caption(&self) -> Option<(u64, &str)> {
        self.caption.as_ref().map(|(line, text)| (*line, text.trim())).filter(|(_, text)| !text.is_empty())
    }

    fn add_text(&mut self, text: &str) {
        if self.in_note {
            return;
        }
        if let Some((_, caption)) = self.caption.as_mut().filter(|_| self.in_caption) {
            if caption.len() + text.len() <= LONGEST_CELL {
                caption.push_str(&with_entities(text));
            }
            return;
        }
        if let Some(cell) = &mut self.cell {
            let room = LONGEST_CELL.saturating_sub(cell.text.len());
            if text.len() > room && room > 0 {
                self.table.cut_cells += 1;
            }
            let mut end = text.len().min(room);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            cell.text.push_str(text.get(..end).unwrap_or_default());
        }
    }

    /// Takes the rest of a tag and returns what follows it.
    fn continue_tag<'a>(&mut self, text: &'a str, number: u64) -> &'a str {
        let (inside, after) = match text.find('>') {
            Some(end) => (text.get(..end).unwrap_or_default(), Some(text.get(end + 1..).unwrap_or_default())),
            None => (text, None),
        };
        if let Some(tag) = &mut self.tag
            && tag.len() + inside.len() <= LONGEST_TAG
        {
            tag.push_str(inside);
        }
        let Some(after) = after else { return "" };
        let tag = self.tag.take().unwrap_or_default();
        self.act(&tag, number);
        after
    }

    fn act(&mut self, tag: &str, number: u64) {
        let name: String = tag
            .chars()
            .take_while(|character| character.is_ascii_alphanumeric() || *character == '/')
            .collect();
        match (name.to_ascii_lowercase().trim_end_matches('/'), self.depth) {
            ("table", _) => self.depth = self.depth.saturating_add(1),
            ("/table", 0 | 1) => {
                self.close_row();
                self.depth = 0;
                self.complete = true;
            }
            ("/table", _) => self.depth -= 1,
            ("caption", 1) => {
                self.caption.get_or_insert_with(|| (number, String::new()));
                self.in_caption = true;
            }
            ("/caption", 1) => self.in_caption = false,
            ("thead", 1) => self.in_head = true,
            ("/thead" | "tbody" | "tfoot", 1) => {
                self.close_row();
                self.in_head = false;
                self.hanging.clear();
            }
            ("tr", 1) => {
                self.in_caption = false;
                self.close_row();
                self.row = Some(Vec::new());
            }
            ("/tr", 1) => self.close_row(),
            (kind @ ("td" | "th"), 1) => {
                self.close_cell();
                self.cell = Some(HtmlCell {
                    text: String::new(),
                    line: number,
                    columns: span(tag, "colspan"),
                    rows: span(tag, "rowspan"),
                    is_heading: kind == "th",
                });
            }
            ("/td" | "/th", 1) => self.close_cell(),
            ("div", _) if tag.contains(" popover") || tag.contains(" hidden") => self.in_note = true,
            ("/div", _) => self.in_note = false,
            ("br" | "p" | "/p" | "li" | "div", _) => self.add_text(" "),
            _ => {}
        }
    }

    fn close_cell(&mut self) {
        self.in_note = false;
        if let Some(mut cell) = self.cell.take() {
            let text = with_entities(&cell.text);
            cell.text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let row = self.row.get_or_insert_default();
            if row.len() < MOST_COLUMNS {
                row.push(cell);
            } else {
                self.table.left_out_cells += u64::from(!cell.text.is_empty());
            }
        }
    }

    fn close_row(&mut self) {
        self.close_cell();
        let Some(cells) = self.row.take().filter(|cells| !cells.is_empty()) else { return };
        let all_headings = cells.iter().all(|cell| cell.is_heading);
        let row = self.lay_out(cells);
        let is_header = self.in_head || all_headings && self.table.rows.is_empty();
        if is_header && self.header_rows.len() < MOST_HEADER_ROWS {
            self.header_rows.push(row.into_iter().map(|(text, _)| text).collect());
        } else {
            self.table.add_row(row);
        }
    }

    /// Puts the cells of a row into columns, beside cells that reach down from rows above.
    fn lay_out(&mut self, cells: Vec<HtmlCell>) -> Vec<(String, u64)> {
        let mut row: Vec<(String, u64)> = Vec::new();
        for cell in cells {
            self.take_hanging(&mut row, false);
            for _ in 0..cell.columns {
                if row.len() >= MOST_COLUMNS {
                    break;
                }
                if cell.rows > 1 {
                    self.hanging.resize(self.hanging.len().max(row.len() + 1), None);
                    if let Some(place) = self.hanging.get_mut(row.len()) {
                        *place =
                            Some(Hanging { rows: cell.rows - 1, text: cell.text.clone(), line: cell.line });
                    }
                }
                row.push((cell.text.clone(), cell.line));
            }
        }
        self.take_hanging(&mut row, true);
        row
    }

    /// Copies cells that hang into the next columns of this row; at the end of a row also over a gap.
    fn take_hanging(&mut self, row: &mut Vec<(String, u64)>, to_the_end: bool) {
        let last = self.hanging.iter().rposition(Option::is_some);
        while let Some(place) = self.hanging.get_mut(row.len()) {
            match place {
                Some(hanging) => {
                    row.push((hanging.text.clone(), hanging.line));
                    hanging.rows -= 1;
                    if hanging.rows == 0 {
                        *place = None;
                    }
                }
                None if to_the_end && last.is_some_and(|last| last > row.len()) => {
                    row.push((String::new(), self.table.last));
                }
                None => break,
            }
        }
    }
}

/// How many columns or rows a cell takes.
fn span(tag: &str, attribute: &str) -> usize {
    let lower = tag.to_ascii_lowercase();
    let Some(at) = lower.find(attribute) else { return 1 };
    let value = lower.get(at + attribute.len()..).unwrap_or_default().trim_start();
    let value = value.strip_prefix('=').unwrap_or_default().trim_start_matches([' ', '"', '\'']);
    let digits: String = value.chars().take_while(char::is_ascii_digit).take(4).collect();
    digits.parse::<usize>().unwrap_or(1).clamp(1, MOST_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<RawTable> {
        let mut table = HtmlTable::default();
        for (index, line) in text.lines().enumerate() {
            table.push(index as u64 + 1, line);
        }
        table.finish()
    }

    #[test]
    fn grouped_headers_are_joined_and_cells_keep_their_lines() {
        let table = read(
            "<table>\n<thead><tr><th rowspan=\"2\">Size</th><th colspan='2'>CPU</th><th colspan=2>GPU</th></tr>\n\
             <tr><th>fwd</th><th>both</th><th>fwd</th><th>both</th></tr></thead>\n<tbody>\n<tr>\n<td>small</td>\n\
             <td><b>1</b>&nbsp;ms</td>\n<td></td>\n<td>3 ms<td>TBD\n</tr>\n</tbody></table>",
        )
        .unwrap();
        assert_eq!(table.header, ["Size", "CPU / fwd", "CPU / both", "GPU / fwd", "GPU / both"]);
        let row = &table.rows[0];
        let texts: Vec<&str> = row.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["small", "1 ms", "", "3 ms", "TBD"]);
        assert_eq!(row.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [6, 7, 8, 9, 9]);
    }

    #[test]
    fn cells_reach_down_and_unclosed_tags_close() {
        let table = read("<table><tr><td>a<td>b<tr><td rowspan=2>1<td>2<tr><td>3</table> after").unwrap();
        assert_eq!(table.header, ["a", "b"]);
        assert_eq!(table.rows, [[("1".into(), 1), ("2".into(), 1)], [("1".into(), 1), ("3".into(), 1)]]);
        let mut table = HtmlTable::default();
        assert!(!table.push(1, "no table here"));
        assert!(table.push(2, "x <TABLE class='a'"));
        assert!(table.push(3, "> <tr><th>a</th></tr></table><table>"));
        assert!(table.is_complete());
        assert_eq!(table.rest(), "<table>");
        assert!(!table.push(4, "<table>"));
        assert_eq!(table.finish().unwrap().header, ["a"]);
    }

    #[test]
    fn what_pops_up_is_no_part_of_a_cell() {
        let row =
            "<tr><td>97.64<div id=n popover=auto><ul><li>epochs = 40</li></ul></div></td><td>9.3</td></tr>";
        let table = read(&format!("<table><tr><th>a</th><th>b</th></tr>{row}</table>")).unwrap();
        assert_eq!(table.rows, [[("97.64".to_owned(), 1), ("9.3".to_owned(), 1)]]);
    }

    #[test]
    fn a_table_inside_a_cell_is_text() {
        let table =
            read("<table><tr><th>a</th></tr><tr><td>x<table><tr><td>y</td></tr></table></td></tr></table>")
                .unwrap();
        assert_eq!(table.rows, [[("xy".to_owned(), 1)]]);
    }

    proptest! {
        #[test]
        fn any_lines_are_read_without_panic(
            pieces in proptest::collection::vec(
                "<table>|<tr>|<td rowspan=3>|<th colspan=9>|</td>|</tr>|</table>|<thead>|<tbody>|<|>|a|\n|.{0,5}", 0..40),
        ) {
            let _ = read(&format!("<table>{}", pieces.concat()));
        }
    }
}
