//! Pages: headings, paragraphs, tables and logs, and the ways in which people mark them up.

use std::fmt::Write;

/// One piece of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading, with its level from 2.
    Heading(usize, String),
    /// A paragraph.
    Text(String),
    /// A list.
    Items(Vec<String>),
    /// A table.
    WriteUpTable(WriteUpTable),
    /// Output of a program, as it was printed.
    Output(String),
}

/// A table: a header and rows of the same length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WriteUpTable {
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl WriteUpTable {
    /// A table without rows.
    pub fn new(header: &[&str]) -> WriteUpTable {
        WriteUpTable { header: header.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The cell in a row and a column, where there is one.
    pub fn cell(&mut self, row: usize, column: usize) -> Option<&mut String> {
        self.rows.get_mut(row)?.get_mut(column)
    }
}

/// Sets commas between the thousands of the large numbers of all tables, as some people do.
pub fn with_commas(blocks: &mut [Block]) {
    for block in blocks {
        if let Block::WriteUpTable(table) = block {
            table.rows.iter_mut().flatten().for_each(|cell| *cell = grouped(cell));
        }
    }
}

/// A cell with commas between the thousands of every integer, or whole part of one, of five digits and more.
fn grouped(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some(start) = rest.find(|sign: char| sign.is_ascii_digit()) {
        let (before, behind) = rest.split_at(start);
        let end = behind.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, behind) = behind.split_at(end);
        text.push_str(before);
        let decimals = text.ends_with('.');
        for (index, digit) in digits.chars().enumerate() {
            if !decimals && digits.len() >= 5 && index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// How a page is marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    /// Markdown with pipe tables, as narrow as they can be.
    Pipe,
    /// Markdown with pipe tables whose columns line up.
    Aligned,
    /// Markdown with HTML tables.
    HtmlTables,
    /// A page of HTML.
    Html,
    /// The first table alone, its values separated by commas.
    Separated,
}

impl Markup {
    /// The ending of the file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Markup::Pipe | Markup::Aligned | Markup::HtmlTables => "md",
            Markup::Html => "html",
            Markup::Separated => "csv",
        }
    }
}

/// A page as text.
pub fn render(title: &str, blocks: &[Block], markup: Markup) -> String {
    match markup {
        Markup::Html => html(title, blocks),
        Markup::Separated => {
            let table = blocks.iter().find_map(|block| match block {
                Block::WriteUpTable(table) => Some(table),
                _ => None,
            });
            table.map(separated).unwrap_or_default()
        }
        Markup::Pipe | Markup::Aligned | Markup::HtmlTables => markdown(title, blocks, markup),
    }
}

fn markdown(title: &str, blocks: &[Block], markup: Markup) -> String {
    let mut text = format!("# {title}\n");
    for block in blocks {
        text.push('\n');
        match block {
            Block::Heading(level, words) => text.push_str(&format!("{} {words}\n", "#".repeat(*level))),
            Block::Text(words) => text.push_str(&wrapped(words)),
            Block::Items(items) => {
                for item in items {
                    text.push_str(&format!("- {item}\n"));
                }
            }
            Block::WriteUpTable(table) => text.push_str(&match markup {
                Markup::HtmlTables => html_table(table),
                Markup::Aligned => pipe(table, true),
                _ => pipe(table, false),
            }),
            Block::Output(output) => text.push_str(&format!("```\n{}\n```\n", output.trim_end_matches('\n'))),
        }
    }
    text
}

/// Words in lines of up to 100 characters.
fn wrapped(words: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 100 {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text.push('\n');
    text
}

fn pipe(table: &WriteUpTable, aligned: bool) -> String {
    let all = || std::iter::once(&table.header).chain(&table.rows);
    let width = |column: usize| {
        let widest = all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        if aligned { widest.unwrap_or(0).max(3) } else { 0 }
    };
    let line = |cells: &[String]| {
        let cells =
            cells.iter().enumerate().map(|(column, cell)| format!("{cell:<width$}", width = width(column)));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let dashes: Vec<String> =
        (0..table.header.len()).map(|column| "-".repeat((width(column) + 2).max(3))).collect();
    let mut text = line(&table.header);
    text.push_str(&format!("|{}|\n", dashes.join("|")));
    for row in &table.rows {
        text.push_str(&line(row));
    }
    text
}

fn html_table(table: &WriteUpTable) -> String {
    let line = |cells: &[String], tag: &str| {
        let cells = cells.iter().map(|cell| format!("    <{tag}>{}</{tag}>\n", escaped(cell)));
        format!("  <tr>\n{}  </tr>\n", cells.collect::<String>())
    };
    let rows: String = table.rows.iter().map(|row| line(row, "td")).collect();
    format!("<table>\n{}{rows}</table>\n", line(&table.header, "th"))
}

fn html(title: &str, blocks: &[Block]) -> String {
    let mut body = String::new();
    for block in blocks {
        let _ = match block {
            Block::Heading(level, words) => writeln!(body, "<h{level}>{}</h{level}>", escaped(words)),
            Block::Text(words) => writeln!(body, "<p>\n{}</p>", wrapped(&escaped(words))),
            Block::Items(items) => {
                let items: String =
                    items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
                writeln!(body, "<ul>\n{items}</ul>")
            }
            Block::WriteUpTable(table) => write!(body, "{}", html_table(table)),
            Block::Output(output) => writeln!(body, "<pre>\n{}</pre>", escaped(output)),
        };
    }
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn separated(table: &WriteUpTable) -> String {
    let field = |cell: &String| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    let line = |cells: &Vec<String>| format!("{}\n", cells.iter().map(field).collect::<Vec<_>>().join(","));
    std::iter::once(&table.header).chain(&table.rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Vec<Block> {
        let mut table = WriteUpTable::new(&["Size", "Rate (MB/s)"]);
        table.row(vec!["16".to_owned(), "1,380.5".to_owned()]);
        vec![
            Block::Heading(2, "Rates".to_owned()),
            Block::Text("Higher is better & more is < less.".to_owned()),
            Block::WriteUpTable(table),
            Block::Output("100%|██| 3/3 [00:01<00:00]\n".to_owned()),
        ]
    }

    #[test]
    fn markdown_has_headings_tables_and_fences() {
        assert_eq!(
            render("A page", &page(), Markup::Aligned),
            "# A page\n\n## Rates\n\nHigher is better & more is < less.\n\n\
             | Size | Rate (MB/s) |\n|------|-------------|\n| 16   | 1,380.5     |\n\n\
             ```\n100%|██| 3/3 [00:01<00:00]\n```\n"
        );
    }

    #[test]
    fn commas_stand_between_thousands_and_not_in_decimals() {
        let cells = ["21500.123456 ± 1308.1", "512000", "4605.5", "0.045123", "14741.4, 16932.5", "TBD"];
        let expected =
            ["21,500.123456 ± 1308.1", "512,000", "4605.5", "0.045123", "14,741.4, 16,932.5", "TBD"];
        assert_eq!(cells.map(grouped), expected);
    }

    #[test]
    fn html_escapes_what_it_must() {
        let text = render("A page", &page(), Markup::Html);
        assert!(text.contains("better &amp; more is &lt; less"), "{text}");
        assert!(text.contains("<td>1,380.5</td>"), "{text}");
    }

    #[test]
    fn separated_values_are_quoted_where_they_must_be() {
        assert_eq!(render("A page", &page(), Markup::Separated), "Size,Rate (MB/s)\n16,\"1,380.5\"\n");
    }
}
