//! A table seen as things with named numbers, whichever way round it is written: a thing is a row, or a column of a
//! transposed table.

use assay_model::{Document, ReadRun, Role, Source, Table, TableCell, Unit, names};

use super::written::{self, Range};

/// One thing that a table describes.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// What distinguishes it from the others: the text of its label and setting cells.
    pub label: String,
    /// Its numbers.
    pub fields: Vec<Field<'a>>,
}

/// One number of a thing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    /// The header, without its group.
    pub header: &'a str,
    /// The header over it that it shares with others, for example a device; empty where there is none.
    pub group: &'a str,
    /// What it holds.
    pub role: &'a Role,
    /// The cell.
    pub cell: &'a TableCell,
    /// Which column it stands in, or which row of a transposed table.
    pub index: usize,
}

impl<'a> Field<'a> {
    /// The canonical name of the setting or metric.
    pub fn name(&self) -> Option<&'a str> {
        match self.role {
            Role::Setting(name) | Role::Metric(name) => Some(name),
            Role::Label | Role::Ratio | Role::Unknown => None,
        }
    }

    /// The metric, where it is one.
    pub fn metric(&self) -> Option<&'a str> {
        match self.role {
            Role::Metric(name) => Some(name),
            _ => None,
        }
    }

    /// What its number stands for.
    pub fn range(&self) -> Option<Range> {
        written::of_cell(self.cell, matches!(self.role, Role::Setting(_)))
    }

    /// What its number stands for in its base unit, and that unit, by the cell or else by the header: a column that no
    /// name fits still shows `MB/s` or `Seconds`.
    pub fn measured(&self) -> Option<(Range, Unit)> {
        let range = self.range()?;
        match &self.cell.unit {
            Some(unit) if *unit != Unit::One => Some((range, unit.clone())),
            _ => {
                let (unit, factor) = header_unit(self.header)?;
                Some((range.times(Range::exact(factor))?, unit))
            }
        }
    }

    /// Where it stands.
    pub fn source(&self, document: &Document) -> Source {
        document.source(self.cell.line)
    }
}

impl<'a> Entry<'a> {
    /// The field of that name in that group, or else in none. Only one that has a number.
    pub fn find(&self, name: &str, group: &str) -> Option<&Field<'a>> {
        let named = |field: &&Field<'a>| field.name() == Some(name) && field.cell.value.is_some();
        self.fields
            .iter()
            .filter(named)
            .find(|field| field.group == group)
            .or_else(|| self.fields.iter().filter(named).find(|field| field.group.is_empty()))
    }

    /// Tokens by what the column is called, where no name fits it: `input_length`, `Avg prompt length`.
    pub fn tokens_called(&self, words: &[&str]) -> Option<&Field<'a>> {
        self.fields.iter().filter(|field| *field.role == Role::Unknown && field.cell.value.is_some()).find(
            |field| {
                let header = field.header.to_lowercase();
                let tokens = matches!(&field.cell.unit, Some(Unit::Count(thing)) if thing == "tokens")
                    || ["token", "length", "len"].iter().any(|word| header.contains(word));
                let characters = header.contains("char") || header.contains("word");
                tokens && !characters && words.iter().any(|word| header.contains(word))
            },
        )
    }
}

/// The things of a table.
pub(super) fn entries(table: &Table) -> Vec<Entry<'_>> {
    if table.transposed { columns_of(table) } else { rows_of(table) }
}

fn rows_of(table: &Table) -> Vec<Entry<'_>> {
    table
        .rows
        .iter()
        .map(|row| {
            let fields: Vec<Field<'_>> = table
                .columns
                .iter()
                .zip(&row.cells)
                .enumerate()
                .map(|(index, (column, cell))| {
                    let (group, header) = split_header(&column.header);
                    Field { header, group, role: &column.role, cell, index }
                })
                .collect();
            Entry { label: label_of(&fields), fields }
        })
        .collect()
}

fn columns_of(table: &Table) -> Vec<Entry<'_>> {
    let systems = systems(table);
    systems
        .into_iter()
        .map(|place| {
            let fields = table.rows.iter().enumerate().filter_map(|(index, row)| {
                let header = row.cells.first().map_or("", |cell| cell.text.as_str());
                row.cells.get(place).map(|cell| Field { header, group: "", role: &row.role, cell, index })
            });
            let label = table.columns.get(place).map_or_else(String::new, |column| column.header.clone());
            Entry { label, fields: fields.collect() }
        })
        .collect()
}

/// The columns of a transposed table that stand for systems: all but the names in front and ratios.
pub(super) fn systems(table: &Table) -> Vec<usize> {
    let is_system = |(place, column): (usize, &assay_model::Column)| {
        (place > 0 && column.role != Role::Ratio).then_some(place)
    };
    table.columns.iter().enumerate().filter_map(is_system).collect()
}

/// The unit that a header shows, in brackets or by being one, with the factor to the base unit. Only times, data and
/// rates, since any word may count things.
fn header_unit(header: &str) -> Option<(Unit, f64)> {
    let bracketed = header.rsplit_once(['(', '[']).map(|(_, rest)| rest.trim_end_matches([')', ']', ' ']));
    let words = header.trim().to_lowercase();
    let spelled = match words.as_str() {
        "kilobytes" => "kB",
        "megabytes" => "MB",
        "gigabytes" => "GB",
        other => other,
    };
    let texts = [bracketed.unwrap_or_default(), header.trim(), spelled];
    texts.into_iter().filter(|text| !text.is_empty()).map(Unit::parse).find(|(unit, _)| {
        matches!(unit, Unit::Seconds | Unit::Bytes)
            || matches!(unit, Unit::PerSecond(thing) if !thing.is_empty() && !thing.contains(' '))
    })
}

fn split_header(header: &str) -> (&str, &str) {
    header.rsplit_once(" / ").unwrap_or(("", header))
}

/// What people would call a row: its label or model, or else its settings.
fn label_of(fields: &[Field<'_>]) -> String {
    let is_label = |field: &&Field<'_>| match field.role {
        Role::Label => !field.cell.text.is_empty(),
        Role::Setting(name) => name == names::setting::MODEL,
        _ => false,
    };
    let labels = fields.iter().filter(is_label);
    let label = labels.map(|field| field.cell.text.clone()).collect::<Vec<_>>().join(" ");
    if !label.is_empty() {
        return label;
    }
    let settings = fields.iter().filter(|field| matches!(field.role, Role::Setting(_)));
    let said = settings.map(|field| format!("{} {}", field.header.to_lowercase(), field.cell.text));
    said.take(2).collect::<Vec<_>>().join(", ")
}

/// A number that the text around a table gives for all of its rows: by a setting that the reader took from the
/// prose, or else by a statement in the nearest section, if all such numbers agree.
pub(super) fn nearby(document: &Document, table: &Table, name: &str) -> Option<(f64, Source)> {
    from_rows(document, table, name).or_else(|| from_statements(document, table, name))
}

fn from_rows(document: &Document, table: &Table, name: &str) -> Option<(f64, Source)> {
    let inside = |run: &&ReadRun| {
        run.dialects.iter().any(|dialect| dialect == "table")
            && run.span.first >= table.span.first
            && run.span.last <= table.span.last
    };
    let facts = document.runs.iter().filter(inside).flat_map(|run| &run.settings);
    agreed(
        facts
            .filter(|fact| fact.name == name && fact.by != "table")
            .filter_map(|fact| Some((fact.value.number()?, fact.source.clone()))),
    )
}

fn from_statements(document: &Document, table: &Table, name: &str) -> Option<(f64, Source)> {
    let shared =
        document.statements.iter().map(|statement| shared_headings(&statement.headings, &table.headings));
    let mut depths: Vec<usize> = shared.collect();
    depths.sort_unstable();
    depths.dedup();
    depths.iter().rev().find_map(|depth| {
        let section = document
            .statements
            .iter()
            .filter(|statement| shared_headings(&statement.headings, &table.headings) == *depth);
        let quantities = section.flat_map(|statement| {
            let source = document.source(statement.span.first);
            statement.quantities.iter().map(move |quantity| (quantity, source.clone()))
        });
        agreed(
            quantities
                .filter(|(quantity, _)| quantity.name.as_deref() == Some(name) && quantity.to.is_none())
                .map(|(quantity, source)| (quantity.value, source)),
        )
    })
}

/// The first of some numbers, if all are the same.
fn agreed(mut numbers: impl Iterator<Item = (f64, Source)>) -> Option<(f64, Source)> {
    let first = numbers.next()?;
    numbers.all(|(value, _)| value == first.0).then_some(first)
}

/// How many headings two places share, from the outermost on.
pub(super) fn shared_headings(one: &[String], other: &[String]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
