//! The table that every format is made from.

use unicode_width::UnicodeWidthStr;

/// A table with its heading and its footnotes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Lines above the table.
    pub heading: Vec<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// How many columns at the beginning name a row. A table that is too wide is printed in parts, each with these.
    pub keys: usize,
    /// The rows; each has one cell a column.
    pub rows: Vec<Vec<Cell>>,
    /// Lines below the table that say what the numbers mean.
    pub notes: Vec<String>,
    /// Doubts, numbered from 1, with what to do about each.
    pub footnotes: Vec<Footnote>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    /// A heading that it shares with the columns beside it, and its name below that; the name alone says both.
    pub group: Option<(String, String)>,
    pub align: Align,
    /// Left out where the table is wider than the terminal.
    pub secondary: bool,
}

/// Where text stands in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left: words.
    Left,
    /// To the right: numbers.
    Right,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// How a text is meant. Understandable without color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Plain.
    #[default]
    Plain,
    /// Success.
    Good,
    /// Failure.
    Bad,
    /// A doubt.
    Doubt,
    /// Less important.
    Faint,
    /// A heading.
    Strong,
}

/// A doubt below a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Footnote {
    /// What is doubtful.
    pub text: String,
    /// What to do about it.
    pub hint: String,
    /// Whether cells have its mark; without one it is about the whole table.
    pub is_marked: bool,
}

impl Footnote {
    /// A doubt about all of a table or document.
    pub fn about_all(text: impl Into<String>, hint: impl Into<String>) -> Footnote {
        Footnote { text: text.into(), hint: hint.into(), is_marked: false }
    }

    /// Its mark with a blank behind it, at this place among the footnotes; empty without one.
    pub fn lead(&self, index: usize) -> String {
        if self.is_marked { format!("{} ", superscript(index + 1)) } else { String::new() }
    }
}

impl Column {
    /// A column of words.
    pub fn left(name: impl Into<String>) -> Column {
        Column { name: name.into(), group: None, align: Align::Left, secondary: false }
    }

    /// A column of numbers.
    pub fn right(name: impl Into<String>) -> Column {
        Column { name: name.into(), group: None, align: Align::Right, secondary: false }
    }

    /// A column of numbers below a heading that it may share with those beside it.
    pub fn below(group: &str, name: &str) -> Column {
        let full = format!("{group} {name}");
        Column { group: Some((group.to_owned(), name.to_owned())), ..Column::right(full) }
    }

    /// How wide the name is; on a narrow terminal it may stand on several lines.
    pub fn name_width(&self) -> usize {
        self.name.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
    }

    /// The same column, left out where the table is too wide.
    pub fn secondary(self) -> Column {
        Column { secondary: true, ..self }
    }
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), tone: Tone::Plain }
    }

    /// A cell with a tone.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Cell {
        Cell { text: text.into(), tone }
    }
}

impl Table {
    /// Headings over several columns, from left to right: the heading, none where there is none, and over how many.
    /// Empty where no heading stands over two columns or more.
    pub fn groups(&self) -> Vec<(Option<&str>, usize)> {
        let mut groups: Vec<(Option<&str>, usize)> = Vec::new();
        for column in &self.columns {
            let heading = column.group.as_ref().map(|(heading, _)| heading.as_str());
            match groups.last_mut().filter(|(known, _)| *known == heading) {
                Some((_, count)) => *count += 1,
                None => groups.push((heading, 1)),
            }
        }
        if groups.iter().any(|(heading, count)| heading.is_some() && *count > 1) {
            groups
        } else {
            Vec::new()
        }
    }

    /// The mark for a doubt: the number of its footnote, which is added if it is new. Doubts that differ in one number
    /// share a footnote with the range of it.
    pub fn footnote(&mut self, text: &str, hint: &str) -> String {
        let index = add_note(&mut self.footnotes, text, hint);
        if let Some(footnote) = self.footnotes.get_mut(index) {
            footnote.is_marked = true;
        }
        superscript(index + 1)
    }

    /// Adds a doubt about the whole table.
    pub fn doubt(&mut self, text: &str, hint: &str) {
        add_note(&mut self.footnotes, text, hint);
    }
}

/// Adds a doubt unless it is there already, and gives its place. Doubts that differ in one number become one with its range.
pub fn add_note(notes: &mut Vec<Footnote>, text: &str, hint: &str) -> usize {
    for (index, note) in notes.iter_mut().enumerate().filter(|(_, note)| note.hint == hint) {
        if let Some(both) = crate::words::joined(&note.text, text) {
            note.text = both;
            return index;
        }
    }
    notes.push(Footnote::about_all(text, hint));
    notes.len() - 1
}

/// A number in small raised digits.
pub fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().filter_map(|byte| DIGITS.get(usize::from(byte.wrapping_sub(b'0')))).collect()
}
