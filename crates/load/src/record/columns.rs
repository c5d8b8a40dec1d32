//! Flat tables in Apache Parquet, a row group at a time: the part that knows nothing of loads.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    Integer,
    Float,
    Text,
    Switch,
}

/// A column: its name, its type, and whether every row has a value.
pub(super) type ColumnSpec = (&'static str, ColumnType, bool);

/// One value of a row that is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field<'a> {
    Integer(Option<u64>),
    Float(Option<f64>),
    Text(Option<&'a str>),
    /// A text that lives as long as the program, which is not copied.
    Word(&'static str),
    Switch(Option<bool>),
}

/// The values of one column in one row group.
#[derive(Debug)]
enum Values {
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Text(Vec<ByteArray>),
    Switch(Vec<bool>),
}

impl Values {
    fn new(kind: ColumnType) -> Values {
        match kind {
            ColumnType::Integer => Values::Integer(Vec::new()),
            ColumnType::Float => Values::Float(Vec::new()),
            ColumnType::Text => Values::Text(Vec::new()),
            ColumnType::Switch => Values::Switch(Vec::new()),
        }
    }
}

#[derive(Debug)]
struct RecordColumn {
    values: Values,
    /// For each row whether it has a value, 1 or 0; unused where all have one.
    present: Vec<i16>,
    is_required: bool,
}

impl RecordColumn {
    fn new((_, kind, is_required): ColumnSpec) -> RecordColumn {
        RecordColumn { values: Values::new(kind), present: Vec::new(), is_required }
    }

    fn push(&mut self, field: Field<'_>) -> Result<(), ParquetError> {
        let is_there = match (&mut self.values, field) {
            (Values::Integer(values), Field::Integer(Some(value))) => {
                values.push(i64::try_from(value).unwrap_or(i64::MAX));
                true
            }
            (Values::Float(values), Field::Float(Some(value))) => {
                values.push(value);
                true
            }
            (Values::Text(values), Field::Text(Some(text))) => {
                values.push(ByteArray::from(text));
                true
            }
            (Values::Text(values), Field::Word(word)) => {
                values.push(ByteArray::from(Bytes::from_static(word.as_bytes())));
                true
            }
            (Values::Switch(values), Field::Switch(Some(value))) => {
                values.push(value);
                true
            }
            (_, Field::Integer(None) | Field::Float(None) | Field::Text(None) | Field::Switch(None)) => false,
            (_, other) => return Err(ParquetError::General(format!("{other:?} does not fit its column"))),
        };
        if self.is_required && !is_there {
            return Err(ParquetError::General("a required value is missing".to_owned()));
        }
        if !self.is_required {
            self.present.push(i16::from(is_there));
        }
        Ok(())
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = (!self.is_required).then_some(self.present.as_slice());
        match &mut self.values {
            Values::Integer(values) => {
                writer.typed::<Int64Type>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Float(values) => {
                writer.typed::<DoubleType>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Text(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Switch(values) => {
                writer.typed::<BoolType>().write_batch(values, present, None)?;
                values.clear();
            }
        }
        self.present.clear();
        Ok(())
    }
}

/// Writes a table, a row group at a time.
pub(super) struct TableWriter {
    file: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<RecordColumn>,
    rows: usize,
    rows_in_group: usize,
}

impl TableWriter {
    /// Creates the file of a table.
    pub(super) fn create(
        path: &Path,
        specs: &[ColumnSpec],
        rows_in_group: usize,
    ) -> Result<TableWriter, ParquetError> {
        let fields: Result<Vec<_>, ParquetError> =
            specs.iter().map(|spec| field(*spec).map(Arc::new)).collect();
        let schema = Type::group_type_builder("assay").with_fields(fields?).build()?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("assay ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_statistics_enabled(EnabledStatistics::None)
            // Tables are read from end to end; an index of pages would only grow in memory with the requests.
            .set_offset_index_disabled(true);
        // Hardly two moments are the same: a dictionary of them would cost time and save nothing.
        for (name, ..) in specs.iter().filter(|(_, kind, _)| *kind == ColumnType::Float) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(*name), false);
        }
        let out = BufWriter::with_capacity(64 << 10, super::file::create(path)?);
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        let columns = specs.iter().map(|spec| RecordColumn::new(*spec)).collect();
        Ok(TableWriter { file, columns, rows: 0, rows_in_group })
    }

    /// Adds a row: a value for each column.
    pub(super) fn row(&mut self, row: &[Field<'_>]) -> Result<(), ParquetError> {
        for (field, column) in row.iter().zip(&mut self.columns) {
            column.push(*field)?;
        }
        self.rows += 1;
        if self.rows >= self.rows_in_group { self.write_row_group() } else { Ok(()) }
    }

    fn write_row_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let missing = || ParquetError::General("the schema has fewer columns than the row".to_owned());
            let mut writer = group.next_column()?.ok_or_else(missing)?;
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the rest and syncs the file.
    pub(super) fn finish(mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            self.write_row_group()?;
        }
        let out = self.file.into_inner()?;
        let file = out.into_inner().map_err(|error| error.into_error())?;
        Ok(file.sync_data()?)
    }
}

fn field((name, kind, is_required): ColumnSpec) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        ColumnType::Integer => (Physical::INT64, None),
        ColumnType::Float => (Physical::DOUBLE, None),
        ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Switch => (Physical::BOOLEAN, None),
    };
    let repetition = if is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    builder.with_logical_type(logical).build()
}

/// Reads a table row by row; a row group is in memory at a time.
pub(super) struct TableReader {
    file: SerializedFileReader<File>,
    /// Where each of our columns is in the file, if the file has it.
    places: Vec<Option<usize>>,
    columns: Vec<ReadColumn>,
    next_group: usize,
    rows_left: usize,
}

/// The values of one column of a row group that was read.
#[derive(Debug)]
struct ReadColumn {
    values: Values,
    present: Vec<i16>,
    is_required: bool,
    row: usize,
    value: usize,
}

impl ReadColumn {
    /// The place of the value of the next row, if it has one.
    fn next(&mut self) -> Option<usize> {
        let is_there = self.is_required || self.present.get(self.row) == Some(&1);
        self.row += 1;
        is_there.then(|| {
            self.value += 1;
            self.value - 1
        })
    }
}

impl TableReader {
    /// Opens a table. Columns that it does not have are empty.
    pub(super) fn open(path: &Path, specs: &[ColumnSpec]) -> Result<TableReader, ParquetError> {
        if !std::fs::metadata(path)?.is_file() {
            return Err(ParquetError::General("not a regular file".to_owned()));
        }
        let file = SerializedFileReader::new(File::open(path)?)?;
        let schema = file.metadata().file_metadata().schema_descr();
        let place = |name: &str| schema.columns().iter().position(|column| column.name() == name);
        let places = specs.iter().map(|(name, ..)| place(name)).collect();
        Ok(TableReader { file, places, columns: Vec::new(), next_group: 0, rows_left: 0 })
    }

    /// The next row; none at the end.
    pub(super) fn next_row(&mut self) -> Result<Option<RowValues<'_>>, ParquetError> {
        while self.rows_left == 0 {
            if self.next_group >= self.file.num_row_groups() {
                return Ok(None);
            }
            self.read_row_group()?;
        }
        self.rows_left -= 1;
        Ok(Some(RowValues { columns: &mut self.columns, next: 0 }))
    }

    fn read_row_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.next_group)?;
        let rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| ParquetError::General("a row group has a negative number of rows".to_owned()))?;
        self.columns.clear();
        for place in &self.places {
            self.columns.push(match place {
                Some(place) => read_column(group.get_column_reader(*place)?, rows)?,
                None => ReadColumn {
                    values: Values::Switch(Vec::new()),
                    present: Vec::new(),
                    is_required: false,
                    row: 0,
                    value: 0,
                },
            });
        }
        self.next_group += 1;
        self.rows_left = rows;
        Ok(())
    }
}

fn read_column(reader: ColumnReader, rows: usize) -> Result<ReadColumn, ParquetError> {
    match reader {
        ColumnReader::Int64ColumnReader(reader) => read_values(reader, rows, Values::Integer),
        ColumnReader::DoubleColumnReader(reader) => read_values(reader, rows, Values::Float),
        ColumnReader::ByteArrayColumnReader(reader) => read_values(reader, rows, Values::Text),
        ColumnReader::BoolColumnReader(reader) => read_values(reader, rows, Values::Switch),
        _ => Err(ParquetError::General("a column has a type that this version does not write".to_owned())),
    }
}

fn read_values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    wrap: impl FnOnce(Vec<T::T>) -> Values,
) -> Result<ReadColumn, ParquetError> {
    let (mut values, mut present) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(&mut present), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General("a column ends before its row group".to_owned()));
        }
        read += records;
    }
    // Levels are only read of columns that may be empty.
    let is_required = present.is_empty();
    Ok(ReadColumn { values: wrap(values), present, is_required, row: 0, value: 0 })
}

/// The values of one row, asked for in the order of the columns.
pub(super) struct RowValues<'a> {
    columns: &'a mut [ReadColumn],
    next: usize,
}

impl RowValues<'_> {
    fn place(&mut self) -> Option<(usize, usize)> {
        let column = self.next;
        self.next += 1;
        Some((column, self.columns.get_mut(column)?.next()?))
    }

    pub(super) fn integer(&mut self) -> Option<u64> {
        let (column, place) = self.place()?;
        match &self.columns[column].values {
            Values::Integer(values) => values.get(place).and_then(|value| u64::try_from(*value).ok()),
            _ => None,
        }
    }

    pub(super) fn float(&mut self) -> Option<f64> {
        let (column, place) = self.place()?;
        match &self.columns[column].values {
            Values::Float(values) => values.get(place).copied(),
            _ => None,
        }
    }

    pub(super) fn text(&mut self) -> Option<&str> {
        let (column, place) = self.place()?;
        match &self.columns[column].values {
            Values::Text(values) => std::str::from_utf8(values.get(place)?.data()).ok(),
            _ => None,
        }
    }

    pub(super) fn switch(&mut self) -> Option<bool> {
        let (column, place) = self.place()?;
        match &self.columns[column].values {
            Values::Switch(values) => values.get(place).copied(),
            _ => None,
        }
    }
}
