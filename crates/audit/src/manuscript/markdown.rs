//! Markdown, plain text and reStructuredText: what they share is read alike.

use super::{Block, Line, RawCell, RawTable, Text, aligned, markup};

pub(super) fn blocks(source: &str) -> Vec<Block> {
    let lines: Vec<&str> = source.lines().collect();
    blocks_from(&lines, 1)
}

/// The blocks of lines of which the first has this number.
pub(super) fn blocks_from(lines: &[&str], first: u64) -> Vec<Block> {
    let mut reader = Reader::new(lines, first, 0);
    if reader.line().trim() == "---" {
        reader.front_matter();
    }
    while reader.at < lines.len() {
        reader.step();
    }
    reader.end_paragraph();
    reader.blocks
}

struct Reader<'a> {
    lines: &'a [&'a str],
    /// The number of the first line.
    first: u64,
    /// How many directives it stands in.
    depth: usize,
    at: usize,
    blocks: Vec<Block>,
    paragraph: Text,
}

/// Directives in directives, each of which is read again.
const DEEPEST: usize = 8;

impl<'a> Reader<'a> {
    fn new(lines: &'a [&'a str], first: u64, depth: usize) -> Reader<'a> {
        Reader { lines, first, depth, at: 0, blocks: Vec::new(), paragraph: Text::default() }
    }

    fn line(&self) -> &'a str {
        self.peek(0)
    }

    fn peek(&self, ahead: usize) -> &'a str {
        self.lines.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn number(&self) -> u64 {
        self.first + self.at as u64
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.text.trim().is_empty() {
            let text = std::mem::take(&mut self.paragraph);
            self.blocks.push(Block::Paragraph(text));
        }
        self.paragraph = Text::default();
    }

    /// The settings between two `---` at the top of a Markdown file are no text.
    fn front_matter(&mut self) {
        let end = self.lines.iter().skip(1).take(60).position(|line| line.trim() == "---");
        if let Some(end) = end {
            self.at = end + 2;
        }
    }

    /// Reads what begins on this line.
    fn step(&mut self) {
        let line = self.line();
        let text = line.trim();
        if text.is_empty() {
            self.end_paragraph();
            self.at += 1;
            return;
        }
        let taken = self.fence(text)
            || self.heading(text)
            || self.directive(line)
            || self.pipe_table(text)
            || self.aligned_table(line)
            || self.indented(line);
        if !taken {
            self.prose(line);
        }
    }

    fn fence(&mut self, text: &str) -> bool {
        let Some(mark) = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark)) else { return false };
        self.end_paragraph();
        let mut listing = Vec::new();
        self.at += 1;
        while self.at < self.lines.len() && !self.line().trim_start().starts_with(mark) {
            listing.push(Line { number: self.number(), text: self.line().to_owned() });
            self.at += 1;
        }
        self.at += 1;
        self.blocks.extend(aligned::split(listing));
        true
    }

    fn heading(&mut self, text: &str) -> bool {
        let number = self.number();
        if is_rule(text) && self.paragraph.text.trim().is_empty() {
            // The upper rule of a heading, or a line across the page.
            self.at += 1;
            return true;
        }
        let hashes = text.len() - text.trim_start_matches('#').len();
        if (1..=6).contains(&hashes) && text[hashes..].starts_with(' ') {
            self.end_paragraph();
            self.blocks.push(Block::Heading(Text::new(&markup::plain(text[hashes..].trim()), number)));
            self.at += 1;
            return true;
        }
        let below = self.peek(1).trim();
        let underlined = is_rule(below) && self.peek(1).starts_with(['=', '-', '~', '^', '"', '*']);
        // A line of columns with a rule and rows below it is the head of a table.
        let is_head = text.contains("   ") && self.peek(2).trim().contains("  ");
        if underlined && below.len() >= 3 && !is_head && !text.contains('|') && !self.line().starts_with("  ")
        {
            self.end_paragraph();
            self.blocks.push(Block::Heading(Text::new(&markup::plain(text), number)));
            self.at += 2;
            return true;
        }
        false
    }

    /// Directives of reStructuredText.
    fn directive(&mut self, line: &str) -> bool {
        let Some(rest) = line.trim_start().strip_prefix(".. ") else { return false };
        self.end_paragraph();
        let indent = indent(line);
        let name = rest.split("::").next().unwrap_or_default().trim().to_owned();
        self.at += 1;
        let mut body: Vec<Line> = Vec::new();
        while self.at < self.lines.len() {
            let line = self.line();
            if !line.trim().is_empty() && self::indent(line) <= indent {
                break;
            }
            body.push(Line { number: self.number(), text: line.to_owned() });
            self.at += 1;
        }
        match name.as_str() {
            "list-table" => self.blocks.extend(list_table(&body, rest)),
            "csv-table" => self.blocks.extend(csv_table(&body)),
            "code-block" | "code" | "parsed-literal" | "sourcecode" => self.listing(body),
            _ if self.depth >= DEEPEST => {}
            "table" => self.nested(body),
            "note" | "warning" | "tip" | "important" | "admonition" => self.nested(body),
            _ => {}
        }
        true
    }

    fn listing(&mut self, mut body: Vec<Line>) {
        body.retain(|line| !line.text.trim_start().starts_with(':'));
        let start = body.iter().position(|line| !line.text.trim().is_empty()).unwrap_or(body.len());
        self.blocks.extend(aligned::split(body.split_off(start)));
    }

    /// Reads the body of a directive as a document of its own.
    fn nested(&mut self, body: Vec<Line>) {
        let Some(first) = body.first().map(|line| line.number) else { return };
        let least =
            body.iter().filter(|line| !line.text.trim().is_empty()).map(|line| indent(&line.text)).min();
        let cut = least.unwrap_or(0);
        let lines: Vec<&str> = body.iter().map(|line| line.text.get(cut..).unwrap_or_default()).collect();
        let mut inner = Reader::new(&lines, first, self.depth + 1);
        while inner.at < lines.len() {
            inner.step();
        }
        inner.end_paragraph();
        self.blocks.append(&mut inner.blocks);
    }

    fn pipe_table(&mut self, text: &str) -> bool {
        let rule = self.peek(1);
        let is_pipe = text.contains('|')
            && rule.contains('-')
            && rule.contains('|')
            && rule.trim().chars().all(|character| "|-: +".contains(character));
        let is_grid = text.starts_with("+-") || text.starts_with("+=");
        if is_grid {
            return self.grid_table();
        }
        if !is_pipe {
            return false;
        }
        self.end_paragraph();
        let header = pipe_cells(text);
        let header_line = self.number();
        self.at += 2;
        let mut rows = Vec::new();
        while self.line().contains('|') {
            let line = self.number();
            rows.push(
                pipe_cells(self.line().trim()).into_iter().map(|text| RawCell { text, line }).collect(),
            );
            self.at += 1;
        }
        self.blocks.push(Block::Table(RawTable { caption: String::new(), header, header_line, rows }));
        true
    }

    /// A table drawn with `+---+`.
    fn grid_table(&mut self) -> bool {
        self.end_paragraph();
        let mut table = RawTable { header_line: self.number(), ..RawTable::default() };
        // The lines between two rules.
        let mut sections: Vec<Vec<Vec<RawCell>>> = vec![Vec::new()];
        while self.line().trim().starts_with(['+', '|']) {
            let text = self.line().trim();
            let line = self.number();
            if text.starts_with('+') {
                sections.push(Vec::new());
            } else if let Some(last) = sections.last_mut() {
                last.push(pipe_cells(text).into_iter().map(|text| RawCell { text, line }).collect());
            }
            self.at += 1;
        }
        sections.retain(|section| !section.is_empty());
        // A header and one section: its lines are rows. Rules between all rows: the lines of a section are one row.
        let plain = sections.len() == 2;
        for (index, section) in sections.into_iter().enumerate() {
            if plain && index == 1 {
                table.rows.extend(section);
            } else {
                table.rows.extend(joined_lines(section));
            }
        }
        if !table.rows.is_empty() {
            table.header = table.rows.remove(0).into_iter().map(|cell| cell.text).collect();
        }
        self.blocks.push(Block::Table(table));
        true
    }

    /// A table aligned with spaces, which plain text writes without a fence.
    fn aligned_table(&mut self, line: &str) -> bool {
        let ruled = line.trim().contains("== =") && line.trim().chars().all(|one| "= ".contains(one));
        if !line.trim().contains("  ") && !ruled {
            return false;
        }
        let ahead = || {
            let lines = self.lines[self.at..].iter().take_while(|line| !line.trim().is_empty());
            (self.number()..).zip(lines.copied())
        };
        // The first lines show whether it is one; only then are all of them looked at.
        if aligned::table(ahead().take(if ruled { 8 } else { 6 })).is_none() {
            return false;
        }
        let Some((mut table, used)) = aligned::table(ahead()) else { return false };
        self.end_paragraph();
        table.rows.iter_mut().flatten().for_each(|cell| cell.text = markup::plain(&cell.text));
        self.blocks.push(Block::Table(table));
        self.at += used;
        true
    }

    /// Indented lines after a blank one are a listing, unless they go on an item of a list.
    fn indented(&mut self, line: &str) -> bool {
        let after_item = self.blocks.last().is_some_and(|block| matches!(block, Block::Paragraph(_)))
            && self.lines.get(self.at.wrapping_sub(2)).is_some_and(|line| is_item(line.trim_start()));
        if indent(line) < 4 || !self.paragraph.text.is_empty() || after_item || is_item(line.trim()) {
            return false;
        }
        let own = self.lines.get(self.at..).unwrap_or_default();
        let end = own.iter().position(|line| indent(line) < 4 || line.trim().is_empty());
        if is_written(own.get(..end.unwrap_or(own.len())).unwrap_or_default()) {
            return false;
        }
        let mut listing = Vec::new();
        while self.at < self.lines.len() && (indent(self.line()) >= 4 && !self.line().trim().is_empty()) {
            listing.push(Line { number: self.number(), text: self.line().to_owned() });
            self.at += 1;
        }
        self.blocks.extend(aligned::split(listing));
        true
    }

    fn prose(&mut self, line: &str) {
        let number = self.number();
        let text = line.trim().trim_start_matches(['>', ' ']);
        if is_item(text) {
            self.end_paragraph();
        }
        let text = item_text(text);
        // A line such as `Settings : 30 epochs` is a paragraph of its own.
        let field = is_field(text);
        if field && indent(line) < 8 {
            self.end_paragraph();
        }
        self.paragraph.push_line(&markup::plain(text), number);
        self.at += 1;
    }
}

/// The longest indented text that is looked at for sentences.
const MOST_WRITTEN: usize = 20;

/// Whether indented lines are sentences: mostly words, from a capital to a full stop.
fn is_written(lines: &[&str]) -> bool {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
    let ends = first.trim().starts_with(char::is_uppercase) && last.trim_end().ends_with(['.', '!', '?']);
    if !ends || lines.len() > MOST_WRITTEN {
        return false;
    }
    let tokens: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    let is_word = |token: &&&str| {
        let word = token.trim_end_matches(['.', ',', ';', '!', '?', ')']).trim_start_matches('(');
        !word.is_empty() && word.chars().all(|one| one.is_alphabetic() || "'-".contains(one))
    };
    tokens.len() >= 5 && 5 * tokens.iter().filter(is_word).count() >= 3 * tokens.len()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_rule(text: &str) -> bool {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return false };
    text.len() >= 3 && "=-~^\"*_#+".contains(first) && characters.all(|character| character == first)
}

fn is_item(text: &str) -> bool {
    item_text(text).len() != text.len()
}

/// The text behind the mark of a list item.
fn item_text(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix(['-', '*', '+', '•']).filter(|rest| rest.starts_with(' ')) {
        return rest.trim_start();
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')']));
    match rest.filter(|rest| (1..=3).contains(&digits) && rest.starts_with(' ')) {
        Some(rest) => rest.trim_start(),
        None => text,
    }
}

/// Whether a line names something and gives its value: `Duration  : 11 hours`.
fn is_field(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, value)| {
        let words = name.split_whitespace().count();
        (1..=3).contains(&words) && value.starts_with(' ') && (name.ends_with(' ') || name.len() < 24)
    })
}

/// The cells of a line of a pipe table.
fn pipe_cells(line: &str) -> Vec<String> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.replace("\\|", "\u{1}")
        .split('|')
        .map(|cell| markup::plain(cell.trim()).replace('\u{1}', "|"))
        .collect()
}

/// `list-table`: rows are items `* -`, cells items `-`.
fn list_table(body: &[Line], title: &str) -> Option<Block> {
    let mut rows: Vec<Vec<RawCell>> = Vec::new();
    for line in body {
        let text = line.text.trim();
        if text.starts_with(':') || text.is_empty() {
            continue;
        }
        let (begins, cell) = match text.strip_prefix("* -") {
            Some(cell) => (true, Some(cell)),
            None => (false, text.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))),
        };
        if begins {
            rows.push(Vec::new());
        }
        let row = rows.last_mut()?;
        match cell {
            Some(cell) => row.push(RawCell { text: markup::plain(cell.trim()), line: line.number }),
            None => {
                if let Some(last) = row.last_mut() {
                    last.text.push(' ');
                    last.text.push_str(&markup::plain(text));
                }
            }
        }
    }
    let header = (!rows.is_empty()).then(|| rows.remove(0))?;
    let header_line = header.first()?.line;
    let caption = title.split("::").nth(1).unwrap_or_default().trim().to_owned();
    let header = header.into_iter().map(|cell| cell.text).collect();
    Some(Block::Table(RawTable { caption, header, header_line, rows }))
}

/// The lines of a row, each cell with the texts of all of them.
fn joined_lines(lines: Vec<Vec<RawCell>>) -> Option<Vec<RawCell>> {
    let mut lines = lines.into_iter();
    let mut row = lines.next()?;
    for cells in lines {
        for (cell, more) in row.iter_mut().zip(cells).filter(|(_, more)| !more.text.is_empty()) {
            if !cell.text.is_empty() {
                cell.text.push(' ');
            }
            cell.text.push_str(&more.text);
        }
    }
    Some(row)
}

fn csv_table(body: &[Line]) -> Option<Block> {
    let split = |text: &str| -> Vec<String> {
        text.split(',').map(|cell| markup::plain(cell.trim().trim_matches('"'))).collect()
    };
    let mut header = Vec::new();
    let mut rows = Vec::new();
    for line in body {
        let text = line.text.trim();
        if let Some(names) = text.strip_prefix(":header:") {
            header = split(names);
        } else if !text.is_empty() && !text.starts_with(':') {
            let cells = split(text).into_iter();
            rows.push(cells.map(|text| RawCell { text, line: line.number }).collect());
        }
    }
    let header_line = body.first()?.number;
    Some(Block::Table(RawTable { caption: String::new(), header, header_line, rows }))
}
