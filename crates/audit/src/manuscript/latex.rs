//! LaTeX: sections, paragraphs, lists, verbatim text and tabular environments.

use super::spans::{self, Spanning};
use super::{Block, Line, RawCell, Text, aligned};

pub(super) fn blocks(source: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    for (index, line) in source.lines().enumerate() {
        reader.line(index as u64 + 1, line);
    }
    reader.end_paragraph();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    paragraph: Text,
    listing: Option<Vec<Line>>,
    /// The rows of the tabular environment that is open, and the row under way.
    table: Option<Vec<Vec<Spanning>>>,
    /// The rows above the first rule below a row.
    headers: Option<usize>,
    row: String,
    row_line: u64,
    caption: String,
}

/// Environments whose content is shown as it is.
const VERBATIM: [&str; 3] = ["verbatim", "lstlisting", "minted"];
const TABULAR: [&str; 4] = ["tabular", "tabularx", "tabular*", "longtable"];

impl Reader {
    fn line(&mut self, number: u64, line: &str) {
        if let Some(listing) = &mut self.listing {
            if VERBATIM.iter().any(|name| line.contains(&format!("\\end{{{name}}}"))) {
                let lines = std::mem::take(listing);
                self.listing = None;
                self.blocks.extend(aligned::split(lines));
            } else {
                listing.push(Line { number, text: line.to_owned() });
            }
            return;
        }
        let line = without_comment(line);
        let trimmed = line.trim();
        if VERBATIM.iter().any(|name| trimmed.starts_with(&format!("\\begin{{{name}}}"))) {
            self.end_paragraph();
            self.listing = Some(Vec::new());
            return;
        }
        if self.table.is_some() {
            return self.table_line(number, trimmed);
        }
        if TABULAR.iter().any(|name| trimmed.contains(&format!("\\begin{{{name}}}"))) {
            self.end_paragraph();
            self.table = Some(Vec::new());
            self.headers = None;
            self.row.clear();
            return;
        }
        self.text_line(number, trimmed);
    }

    fn text_line(&mut self, number: u64, line: &str) {
        if line.is_empty() {
            return self.end_paragraph();
        }
        for command in ["\\section", "\\subsection", "\\subsubsection", "\\chapter", "\\title"] {
            if let Some(title) = line.strip_prefix(command).and_then(argument) {
                self.end_paragraph();
                self.blocks.push(Block::Heading(Text::new(&plain(title), number)));
                return;
            }
        }
        if let Some(at) = line.find("\\caption") {
            let text = line.get(at + 8..).and_then(argument).unwrap_or_default();
            self.caption = plain(text);
            self.end_paragraph();
            self.blocks.push(Block::Paragraph(Text::new(&self.caption, number)));
            return;
        }
        if line.starts_with("\\item") || line.starts_with("\\paragraph") {
            self.end_paragraph();
        }
        let structural = [
            "\\begin{",
            "\\end{",
            "\\documentclass",
            "\\usepackage",
            "\\label",
            "\\centering",
            "\\maketitle",
        ];
        if structural.iter().any(|command| line.starts_with(command)) {
            let inline = line.starts_with("\\begin{abstract}");
            if !inline {
                self.end_paragraph();
            }
            return;
        }
        self.paragraph.push_line(&plain(line.trim_start_matches("\\item")), number);
    }

    fn table_line(&mut self, number: u64, line: &str) {
        if TABULAR.iter().any(|name| line.contains(&format!("\\end{{{name}}}"))) {
            self.end_row();
            let rows = self.table.take().unwrap_or_default();
            if !rows.is_empty() {
                let caption = std::mem::take(&mut self.caption);
                let headers = self.headers.filter(|headers| names_only(rows.get(..*headers)));
                self.blocks.push(Block::Table(spans::table(caption, rows, headers.unwrap_or(1))));
            }
            return;
        }
        let mut rest = line;
        while let Some(at) = end_of_row(rest) {
            self.add(&rest[..at], number);
            self.end_row();
            rest = &rest[at + 2..];
            rest = &rest[bracketed(rest, '[', ']')..];
        }
        self.add(rest, number);
    }

    fn add(&mut self, text: &str, number: u64) {
        let mut text = text.trim();
        while let Some(rule) = ["\\toprule", "\\midrule", "\\bottomrule", "\\hline"]
            .iter()
            .find_map(|rule| text.strip_prefix(rule))
        {
            text = rule.trim_start();
            let rows = self.table.as_ref().map_or(0, Vec::len);
            self.headers = self.headers.or(Some(rows).filter(|rows| *rows > 0));
        }
        if text.starts_with("\\cmidrule") || text.starts_with("\\cline") || text.is_empty() {
            return;
        }
        if self.row.is_empty() {
            self.row_line = number;
        }
        self.row.push_str(text);
        self.row.push(' ');
    }

    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if row.trim().is_empty() {
            return;
        }
        let line = self.row_line;
        let cells = row.replace("\\&", "\u{1}");
        let cells = cells.split('&').map(|cell| {
            let (columns, cell) = multicolumn(cell.trim());
            let text = plain(cell.trim()).replace('\u{1}', "&").trim().to_owned();
            Spanning::new(RawCell { text, line }, columns, 1)
        });
        if let Some(table) = &mut self.table {
            table.push(cells.collect());
        }
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        if !text.text.trim().is_empty() {
            self.blocks.push(Block::Paragraph(text));
        }
    }
}

/// Whether no cell of some rows begins with a number.
fn names_only(rows: Option<&[Vec<Spanning>]>) -> bool {
    let mut cells = rows.into_iter().flatten().flatten();
    cells.all(|one| !one.cell.text.starts_with(|first: char| first.is_ascii_digit()))
}

/// How many columns a cell spans, and what it shows: `\multicolumn{2}{c}{memory}`.
fn multicolumn(cell: &str) -> (usize, &str) {
    let spanning = cell.strip_prefix("\\multicolumn").and_then(|rest| {
        let columns = argument(rest)?;
        let rest = rest.get(rest.find('{')? + columns.len() + 2..)?;
        let format = argument(rest)?;
        let rest = rest.get(rest.find('{')? + format.len() + 2..)?;
        Some((columns.trim().parse().ok()?, argument(rest)?))
    });
    spanning.unwrap_or((1, cell))
}

/// Where a row ends: at a `\\` outside of braces. Inside of them it breaks a line within a cell (`\shortstack`, `\makecell`).
fn end_of_row(text: &str) -> Option<usize> {
    let (mut depth, mut escaped) = (0_usize, false);
    for (at, character) in text.char_indices() {
        match character {
            '\\' if escaped && depth == 0 => return Some(at - 1),
            '\\' => {
                escaped = !escaped;
                continue;
            }
            '{' if !escaped => depth += 1,
            '}' if !escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = false;
    }
    None
}

fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        match character {
            '%' if !escaped => return &line[..at],
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    line
}

/// The text between the first pair of braces.
fn argument(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().skip_while(|(at, _)| *at < start) {
        match character {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(start + 1..at);
                }
            }
            _ => {}
        }
    }
    None
}

/// LaTeX text as a reader sees it.
fn plain(text: &str) -> String {
    let text = text.replace("{,}", ",");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(character) = rest.chars().next() {
        match character {
            '\\' => {
                let (shown, length) = command(rest);
                out.push_str(shown);
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            '{' | '}' | '$' => {}
            '~' => out.push(' '),
            '-' if rest.starts_with("--") => {
                out.push('–');
                rest = rest.trim_start_matches('-');
                continue;
            }
            _ => out.push(character),
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    out
}

/// The longest argument that is no text. One that is never closed is looked for no further.
const LONGEST_ARGUMENT: usize = 600;

/// The length of an argument in brackets that a text begins with; 0 where it has none.
fn bracketed(text: &str, open: char, close: char) -> usize {
    if !text.starts_with(open) {
        return 0;
    }
    let near = &text.as_bytes()[..text.len().min(LONGEST_ARGUMENT)];
    near.iter().position(|byte| char::from(*byte) == close).map_or(0, |end| end + 1)
}

/// What a command shows, and its length. Arguments are left to be shown as text.
fn command(text: &str) -> (&'static str, usize) {
    let name: String = text.chars().skip(1).take_while(char::is_ascii_alphabetic).collect();
    if name.is_empty() {
        let next = text.chars().nth(1).unwrap_or(' ');
        let length = 1 + next.len_utf8().min(text.len().saturating_sub(1));
        let shown = match next {
            '%' => "%",
            '&' => "&",
            '#' => "#",
            '_' => "_",
            '$' => "$",
            '@' | '/' => "",
            _ => " ",
        };
        return (shown, length);
    }
    let length = 1 + name.len();
    // These take arguments that are no text.
    if ["label", "ref", "cite", "citep", "eqref", "url", "vspace", "hspace"].contains(&name.as_str()) {
        let rest = text.get(length..).unwrap_or_default();
        return ("", length + bracketed(rest, '{', '}'));
    }
    // How lines of a cell are aligned is no text.
    if ["shortstack", "makecell", "thead"].contains(&name.as_str()) {
        let rest = text.get(length..).unwrap_or_default();
        return ("", length + bracketed(rest, '[', ']'));
    }
    let shown = match name.as_str() {
        "times" | "cdot" => "×",
        "approx" | "sim" => "≈",
        "pm" => "±",
        "to" | "rightarrow" => "→",
        "percent" => "%",
        "euro" | "EUR" => "€",
        "mu" | "micro" => "µ",
        "leq" | "le" => "≤",
        "geq" | "ge" => "≥",
        "quad" | "qquad" => " ",
        _ => "",
    };
    (shown, length)
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Manuscript};

    #[test]
    fn headers_that_span_columns_belong_to_each() {
        let text = "\\begin{tabular}{l rr}\n\\toprule\n & \\multicolumn{2}{c}{memory} \\\\\n\\cmidrule(lr){2-3}\n\
                    method & batch 1 & batch 8 \\\\\n\\midrule\none & 12.3 & 14.0 \\\\\n\\midrule\n\
                    \\multicolumn{3}{@{}l}{\\emph{others}} \\\\\ntwo & 22.5 & 23.0 \\\\\n\\end{tabular}\n";
        let manuscript = Manuscript::read("a.tex", text);
        let Some(Block::Table(table)) = manuscript.blocks.first() else { panic!("no table") };
        assert_eq!(table.header, ["method", "memory batch 1", "memory batch 8"]);
        let cells: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(cells, [["one", "12.3", "14.0"], ["others", "", ""], ["two", "22.5", "23.0"]]);
    }

    #[test]
    fn a_line_break_within_a_cell_ends_no_row() {
        let text = "\\begin{tabular}{lr}\n\\toprule\nt & \\shortstack[r]{median\\\\(ms)} \\\\\n\\midrule\n\
                    one & 12.3 \\\\\ntwo & \\makecell{22.5} \\\\\n\\end{tabular}\n";
        let manuscript = Manuscript::read("a.tex", text);
        let table = manuscript.blocks.iter().find_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
        let Some(table) = table else { panic!("no table") };
        assert_eq!(table.header, ["t", "median (ms)"]);
        let cells: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(cells, [["one", "12.3"], ["two", "22.5"]]);
    }
}
