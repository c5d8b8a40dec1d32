//! A table of typed cells: every column has a unit and a kind, every number its interval, every row what names it.

mod cell;
mod groups;
mod header;

use crate::manuscript::{LIST_HEADER, RawCell, RawTable};
use crate::unit::Unit;

pub use cell::Cell;
pub use groups::groups;
pub use header::{header_unit, is_numbered, is_statistic, is_uncertainty, words};

/// Cells with numbers beyond this count are read, but only the first rows are compared pairwise.
pub const MOST_PAIRED_ROWS: usize = 60;

#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub file: String,
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    pub header_line: u64,
    /// The position of its block in the manuscript.
    pub block: usize,
    /// Its rows repeat one another, and another table has their means.
    pub repeats: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub header: String,
    pub unit: Unit,
    pub kind: ColumnKind,
    /// The words of the header, in lower case and singular.
    pub words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Names.
    Label,
    /// Numbers that were chosen: nodes, batch size.
    Setting,
    /// Numbers that were measured or computed.
    Measure,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub line: u64,
    /// The texts of the label columns.
    pub label: String,
    pub words: Vec<String>,
    pub cells: Vec<Option<Cell>>,
    pub texts: Vec<String>,
}

impl Grid {
    /// Gives a table its types. None where it has no numbers.
    pub fn new(raw: &RawTable, file: &str, block: usize) -> Option<Grid> {
        let mut raw = raw.clone();
        let width = raw.rows.iter().map(Vec::len).chain([raw.header.len()]).max()?;
        if !(2..=200).contains(&width) || raw.rows.is_empty() {
            return None;
        }
        raw.header.resize(width, String::new());
        for row in &mut raw.rows {
            let line = row.last().map_or(raw.header_line, |cell| cell.line);
            row.resize(width, RawCell { text: String::new(), line });
        }
        header_is_data(&mut raw);
        if is_transposed(&raw) {
            raw = transposed(&raw);
        }
        let grid = typed(&raw, file, block);
        grid.columns.iter().any(|column| column.kind != ColumnKind::Label).then_some(grid)
    }

    /// The columns that hold numbers.
    pub fn numeric(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| column.kind != ColumnKind::Label).map(|(index, _)| index)
    }

    /// Whether it is a list of names with one number each, which is prose as well.
    pub fn is_list(&self) -> bool {
        self.columns.len() == 2 && self.columns[1].header == LIST_HEADER
    }

    /// The columns that a law may relate: bars and numbers without a name or a unit mean nothing.
    pub fn lawful(&self, column: usize) -> bool {
        self.columns
            .get(column)
            .is_some_and(|column| !column.unit.is_none() || column.header.chars().any(char::is_alphanumeric))
    }

    pub fn measures(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| column.kind == ColumnKind::Measure).map(|(index, _)| index)
    }

    pub fn settings(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| column.kind == ColumnKind::Setting).map(|(index, _)| index)
    }

    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        self.rows.get(row)?.cells.get(column)?.as_ref()
    }

    /// What a row is called: its label, or its settings where it has none.
    pub fn row_name(&self, row: usize) -> String {
        let Some(found) = self.rows.get(row) else { return String::new() };
        if !found.label.is_empty() {
            return found.label.clone();
        }
        let settings = self.settings().filter_map(|column| {
            let text = found.texts.get(column)?;
            Some(format!("{} {text}", self.columns.get(column)?.header))
        });
        let named: Vec<String> = settings.collect();
        if named.is_empty() { format!("row {}", row + 1) } else { named.join(", ") }
    }
}

/// A header row of numbers is data: `GPUs | 4 | 8 | 16` over `h/epoch | 9.60 | 4.95 | 2.62`.
fn header_is_data(raw: &mut RawTable) {
    let numbers = raw.header.iter().skip(1).filter(|text| cell::leads_with_number(text)).count();
    // A header without a name for its first column names things, such as versions.
    let named = raw.header.first().is_some_and(|text| !text.trim().is_empty());
    let versions = raw.header.iter().skip(1).any(|text| text.contains('.'));
    if named && !versions && numbers * 2 > raw.header.len().saturating_sub(1) {
        let line = raw.header_line;
        let row = std::mem::take(&mut raw.header).into_iter().map(|text| RawCell { text, line });
        raw.rows.insert(0, row.collect());
        raw.header = vec![String::new(); raw.rows.first().map_or(0, Vec::len)];
    }
}

/// Whether metrics stand in rows and the things compared in columns.
fn is_transposed(raw: &RawTable) -> bool {
    if raw.rows.len() > 60 {
        return false;
    }
    let names = raw.rows.iter().filter(|row| !cell::leads_with_number(&row[0].text)).count();
    if names < raw.rows.len() {
        return false;
    }
    if raw.header.iter().all(String::is_empty) {
        return true;
    }
    let with_unit = |text: &str| {
        let unit = header_unit(text);
        !unit.is_none() && (unit.is_relative() || !unit.is_count())
    };
    let rows = raw.rows.iter().filter(|row| {
        with_unit(&row[0].text)
            || row[1..].iter().any(|cell| {
                Cell::read(&cell.text, &Unit::none(), 0).is_some_and(|cell| !cell.unit.is_count())
            })
    });
    let rows = rows.count();
    let columns = raw.header.iter().skip(1).filter(|text| with_unit(text)).count();
    let numeric_column = (1..raw.header.len()).any(|column| {
        raw.rows.iter().all(|row| cell::leads_with_number(&row[column].text)) && raw.rows.len() > 1
    });
    let mixed = distinct_units(raw);
    rows >= 2 && columns == 0 && (mixed || !numeric_column)
}

/// Whether the cells of a column, by their row labels, have different units.
fn distinct_units(raw: &RawTable) -> bool {
    let mut seen: Vec<[i8; 7]> = Vec::new();
    for row in &raw.rows {
        let own = row[1..].iter().find_map(|cell| Cell::read(&cell.text, &Unit::none(), 0));
        let Some(own) = own else { continue };
        let label = header_unit(&row[0].text);
        let unit = if own.unit.is_none() { label } else { own.unit };
        let exponents = unit.measure_exponents();
        if !seen.contains(&exponents) {
            seen.push(exponents);
        }
    }
    seen.len() > 1
}

fn transposed(raw: &RawTable) -> RawTable {
    let header = raw.rows.iter().map(|row| row[0].text.clone());
    let header = std::iter::once(raw.header[0].clone()).chain(header).collect();
    let rows = (1..raw.header.len()).map(|column| {
        let label = RawCell { text: raw.header[column].clone(), line: raw.header_line };
        std::iter::once(label).chain(raw.rows.iter().map(|row| row[column].clone())).collect()
    });
    RawTable { caption: raw.caption.clone(), header, header_line: raw.header_line, rows: rows.collect() }
}

fn typed(raw: &RawTable, file: &str, block: usize) -> Grid {
    let mut units: Vec<Unit> = raw.header.iter().map(|text| header_unit(text)).collect();
    // `Images per second, four jobs each`: a caption may give the unit of columns that have none.
    let caption = crate::unit::leading_unit(&raw.caption).map(|(unit, _)| unit).filter(Unit::is_rate);
    if let Some(caption) = caption.filter(|_| units.iter().all(Unit::is_count)) {
        let numbered = raw.header.iter().map(|text| is_numbered(text) || is_statistic(text));
        units
            .iter_mut()
            .zip(numbered)
            .filter(|(_, named)| *named)
            .for_each(|(unit, _)| *unit = caption.clone());
    }
    header::count_things(&raw.header, &mut units);
    let mut columns = Vec::new();
    let mut cells: Vec<Vec<Option<Cell>>> = vec![Vec::new(); raw.rows.len()];
    let mut measured = false;
    for (index, unit) in units.iter().enumerate() {
        let mut numbers = 0;
        let mut filled = 0;
        let per = header::price_of(&raw.header[index]);
        for (row, kept) in raw.rows.iter().zip(&mut cells) {
            let mut cell = Cell::read(&row[index].text, unit, row[index].line);
            if let (Some(cell), Some(per)) = (&mut cell, &per) {
                cell.divide(per);
            }
            numbers += usize::from(cell.is_some());
            filled += usize::from(!cell::is_empty(&row[index].text));
            kept.push(cell);
        }
        let column = cells.iter().filter_map(|row| row[index].as_ref());
        let is_label = numbers == 0 || numbers * 2 < filled;
        let named = is_statistic(&raw.header[index]) || is_numbered(&raw.header[index]);
        let chosen = !measured && !named && unit.is_count() && column.clone().all(Cell::is_chosen);
        let kind = match (is_label, chosen) {
            (true, _) => ColumnKind::Label,
            (_, true) => ColumnKind::Setting,
            _ => ColumnKind::Measure,
        };
        measured |= kind == ColumnKind::Measure;
        let own = column.clone().map(|cell| cell.unit.clone()).next();
        let unit = if unit.is_none() { own.unwrap_or_else(Unit::none) } else { unit.clone() };
        let header = raw.header[index].clone();
        columns.push(Column { words: words(&header), header, unit, kind });
        for cell in cells.iter_mut().filter_map(|row| row.get_mut(index)) {
            match kind {
                ColumnKind::Label => *cell = None,
                // What was chosen is exact, however few digits it has.
                ColumnKind::Setting => cell.iter_mut().for_each(Cell::make_exact),
                ColumnKind::Measure => {}
            }
        }
    }
    let labels: Vec<usize> =
        (0..columns.len()).filter(|index| columns[*index].kind == ColumnKind::Label).collect();
    let rows = raw.rows.iter().zip(cells).map(|(row, cells)| {
        // A word among the numbers of the first column names its row: `mean` below the numbers of the runs.
        let word = |index: &usize| {
            *index == 0 && cells[0].is_none() && row[0].text.starts_with(|one: char| one.is_alphabetic())
        };
        let named = (0..columns.len()).filter(|index| labels.contains(index) || word(index));
        let label: Vec<&str> =
            named.map(|index| row[index].text.as_str()).filter(|text| !cell::is_empty(text)).collect();
        let label = label.join(" ");
        let line = row.iter().find(|cell| !cell.text.is_empty()).map_or(raw.header_line, |cell| cell.line);
        let texts = row.iter().map(|cell| cell.text.clone()).collect();
        Row { line, words: words(&label), label, cells, texts }
    });
    let rows = rows.collect();
    Grid {
        file: file.to_owned(),
        caption: raw.caption.clone(),
        columns,
        rows,
        header_line: raw.header_line,
        block,
        repeats: false,
    }
}
