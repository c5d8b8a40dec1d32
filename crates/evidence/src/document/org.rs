//! Org files: headings, source blocks, tables and prose.

use super::builder::DocumentBuilder;
use crate::writeup::{RawTable, pipe};

/// Reads an Org text.
pub(super) fn read(text: &str, builder: &mut DocumentBuilder) {
    let mut reader = OrgReader { builder, table: None, in_listing: false, said: false };
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        last = index as u64 + 1;
        reader.line(last, line);
    }
    reader.end_block();
    if reader.in_listing {
        reader.builder.close_listing(last);
    }
}

struct OrgReader<'b> {
    builder: &'b mut DocumentBuilder,
    table: Option<OrgTable>,
    in_listing: bool,
    said: bool,
}

#[derive(Default)]
struct OrgTable {
    raw: RawTable,
    rows: Vec<Vec<(String, u64)>>,
    /// How many rows stand above the first rule.
    heads: Option<usize>,
}

impl OrgReader<'_> {
    fn line(&mut self, number: u64, line: &str) {
        let text = line.trim();
        let keyword = text.strip_prefix("#+").map(str::to_ascii_lowercase);
        if self.in_listing {
            match keyword.is_some_and(|keyword| keyword.starts_with("end_")) {
                true => {
                    self.in_listing = false;
                    self.builder.close_listing(number);
                }
                false => self.builder.listing_line(number, line.as_bytes()),
            }
        } else if text.starts_with('|') {
            self.row(number, text);
        } else if let Some(keyword) = keyword {
            self.keyword(number, text, &keyword);
        } else if let Some(stars) = heading(line) {
            self.end_block();
            let title = line.get(stars..).unwrap_or_default().trim();
            self.builder.heading(number, stars.min(6), title.trim_end_matches(':'));
        } else if text.is_empty() || text.starts_with("# ") || text.starts_with(':') {
            self.end_block();
        } else {
            self.end_table();
            self.builder.prose(number, text.as_bytes());
            self.said = true;
        }
    }

    fn keyword(&mut self, number: u64, text: &str, keyword: &str) {
        self.end_block();
        let value = text.split_once(':').map_or("", |(_, value)| value.trim());
        if ["begin_src", "begin_example", "begin_quote"].iter().any(|begin| keyword.starts_with(begin)) {
            self.in_listing = true;
            self.builder.open_listing(number);
        } else if keyword.starts_with("caption:") {
            self.builder.caption(number, value);
        } else if keyword.starts_with("title:") {
            self.builder.heading(number, 1, value);
        }
    }

    fn row(&mut self, number: u64, text: &str) {
        if std::mem::take(&mut self.said) {
            self.builder.end_of_block();
        }
        let table = self.table.get_or_insert_with(|| OrgTable {
            raw: RawTable { first: number, ..RawTable::default() },
            ..OrgTable::default()
        });
        table.raw.last = number;
        if text.starts_with("|-") {
            if !table.rows.is_empty() {
                table.heads.get_or_insert(table.rows.len());
            }
        } else {
            table.rows.push(pipe::cells(text).into_iter().map(|cell| (cell, number)).collect());
        }
    }

    fn end_table(&mut self) {
        let Some(mut table) = self.table.take() else { return };
        let heads = table.heads.unwrap_or(1).clamp(1, 4).min(table.rows.len());
        let body = table.rows.split_off(heads);
        let header: Vec<Vec<String>> =
            table.rows.into_iter().map(|row| row.into_iter().map(|(text, _)| text).collect()).collect();
        table.raw.header = crate::writeup::raw::joined_header(&header);
        body.into_iter().for_each(|row| table.raw.add_row(row));
        if !table.raw.header.is_empty() && !table.raw.rows.is_empty() {
            self.builder.table(table.raw);
        }
    }

    fn end_block(&mut self) {
        self.end_table();
        if std::mem::take(&mut self.said) {
            self.builder.end_of_block();
        }
    }
}

/// How many stars a heading begins with.
fn heading(line: &str) -> Option<usize> {
    let stars = line.bytes().take_while(|byte| *byte == b'*').count();
    (stars > 0 && line.get(stars..).is_some_and(|rest| rest.starts_with(' '))).then_some(stars)
}

#[cfg(test)]
mod tests {
    use crate::document::read_document;
    use assay_model::Document;
    use proptest::prelude::*;

    fn read(text: &str) -> Document {
        read_document("notes.org", text.as_bytes())
    }

    #[test]
    fn headings_tables_sources_and_sentences() {
        let document = read(
            "#+TITLE: Bench\n* Runs\n#+CAPTION: Times\n| GPUs | Time (s) |\n|------+----------|\n| 1 | 10.5 |\n| 2 | 5.5 |\n\nIt is 1.9x faster.\n#+begin_example\nAccuracy on test set: 97.13%\n#+end_example\n",
        );
        let table = &document.tables[0];
        assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [6, 7]);
        assert_eq!(table.columns[1].header, "Time (s)");
        assert_eq!(document.statements[0].text, "It is 1.9x faster.");
        assert!(document.runs.iter().any(|run| run.span.first == 11), "{:?}", document.runs);
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in proptest::collection::vec(
            "\\| a \\| 1 \\|\n|\\|--\\+--\\|\n|\\* h\n|#\\+begin_src\n|#\\+end_src\n|\n|.{0,6}\n", 0..30)) {
            let _ = read(&pieces.concat());
        }
    }
}
