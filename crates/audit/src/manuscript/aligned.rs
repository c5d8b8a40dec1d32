//! Tables whose columns are aligned with spaces, in plain text and in listings.

use super::{Block, Line, RawCell, RawTable};

/// Splits lines into tables and the lines between them.
pub(super) fn split(lines: Vec<Line>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest: Vec<Line> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match table(lines[at..].iter().map(|line| (line.number, line.text.as_str()))) {
            Some((table, used)) => {
                if !rest.is_empty() {
                    blocks.push(Block::Listing(std::mem::take(&mut rest)));
                }
                blocks.push(Block::Table(table));
                at += used;
            }
            None => {
                rest.push(lines[at].clone());
                at += 1;
            }
        }
    }
    if !rest.is_empty() {
        blocks.push(Block::Listing(rest));
    }
    blocks
}

/// How many rows show whether lines are a table: each line may begin one, and none may look through all that follow.
const ROWS_THAT_SHOW: usize = 64;

/// The table that begins with the first line, and how many lines it takes. Lines come with their numbers.
pub(super) fn table<'a>(mut lines: impl Iterator<Item = (u64, &'a str)>) -> Option<(RawTable, usize)> {
    let is_rule = |text: &str| text.contains("==") && text.chars().all(|one| "= ".contains(one));
    // A simple table of reStructuredText begins with a rule, which says where its columns are.
    let (mut header_line, mut first) = lines.next()?;
    let rule = Some(first).filter(|text| is_rule(text));
    let ruled = usize::from(rule.is_some());
    let spans = rule.map(spans).unwrap_or_default();
    if rule.is_some() {
        (header_line, first) = lines.next()?;
    }
    let columns = |text: &str| {
        if spans.len() < 2 { columns(text) } else { cut(text, &spans).unwrap_or_else(|| columns(text)) }
    };
    let mut header = columns(first);
    let numbers = header.iter().filter(|text| starts_as_number(text)).count();
    if header.len() < 2 || spans.len() < 2 && numbers * 2 >= header.len() {
        return None;
    }
    let mut rows: Vec<Vec<RawCell>> = Vec::new();
    let mut used = 1 + ruled;
    let mut width = None;
    let mut numbers = 0;
    for (line, whole) in lines {
        let text = whole.trim();
        let is_rule = !text.is_empty() && text.chars().all(|character| "-=+ ─━".contains(character));
        if is_rule {
            used += 1;
            continue;
        }
        let cells = columns(whole);
        if cells.len() < 2 || width.is_some_and(|width| width != cells.len()) {
            break;
        }
        if cells.len() != header.len() && cells.len() != header.len() + 1 {
            break;
        }
        width = Some(cells.len());
        used += 1;
        if rows.len() < ROWS_THAT_SHOW {
            numbers += cells.iter().filter(|text| starts_as_number(text)).count();
        } else if numbers < ROWS_THAT_SHOW {
            return None;
        }
        rows.push(cells.into_iter().map(|text| RawCell { text, line }).collect());
    }
    if rows.len() < 2 || numbers < rows.len().min(ROWS_THAT_SHOW) {
        return None;
    }
    if width == Some(header.len() + 1) {
        // The column of labels has no head.
        header.insert(0, String::new());
    }
    Some((RawTable { caption: String::new(), header, header_line, rows }, used))
}

/// Where the columns of a rule begin and end, in characters: `===== ====  ===`.
fn spans(rule: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut open = false;
    for (at, sign) in rule.chars().enumerate() {
        match found.last_mut() {
            Some(last) if open && sign == '=' => last.1 = at + 1,
            _ if sign == '=' => found.push((at, at + 1)),
            _ => {}
        }
        open = sign == '=';
    }
    found
}

/// The cells of a line under a rule; none where text stands between the columns, or in only one of them.
fn cut(line: &str, spans: &[(usize, usize)]) -> Option<Vec<String>> {
    let signs: Vec<char> = line.chars().collect();
    let between = spans.windows(2).flat_map(|pair| pair[0].1..pair[1].0);
    if between.filter_map(|at| signs.get(at)).any(|sign| !sign.is_whitespace()) {
        return None;
    }
    let last = spans.len() - 1;
    let cell = |(index, (from, to)): (usize, &(usize, usize))| {
        let to = if index == last { signs.len() } else { *to };
        let text: String = signs.iter().take(to).skip(*from).collect();
        text.trim().to_owned()
    };
    let cells: Vec<String> = spans.iter().enumerate().map(cell).collect();
    (cells.iter().filter(|text| !text.is_empty()).count() >= 2).then_some(cells)
}

/// The columns of a line: pieces with two or more spaces between them.
fn columns(line: &str) -> Vec<String> {
    let line = line.replace('\t', "  ");
    line.split("  ").map(str::trim).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}

fn starts_as_number(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+', '$', '~', '<', '>', '(']);
    text.starts_with(|character: char| character.is_ascii_digit())
}
