//! Tables as Apache Parquet. Rows are collected by column into row groups of bounded size.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{ColumnKind, ExportColumn, Obstacle, Sink};
use crate::Datum;

/// Rows of a row group.
const ROWS: usize = 1 << 16;
/// Bytes of text after which a row group ends early.
const BYTES: usize = 16 << 20;

/// Writes Parquet. The library wants a writer that can be sent between threads, so it writes into memory, which is
/// emptied into the real one after each row group.
pub(super) struct Parquet<'o> {
    out: &'o mut dyn Write,
    file: SerializedFileWriter<Vec<u8>>,
    columns: Vec<Collected>,
    rows: usize,
    bytes: usize,
}

/// The values of one column in the row group at hand.
struct Collected {
    values: Values,
    /// For each row whether it has a value: 1 or 0.
    present: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Switch(Vec<bool>),
}

impl From<ParquetError> for Obstacle {
    fn from(error: ParquetError) -> Obstacle {
        Obstacle(error.to_string())
    }
}

impl<'o> Parquet<'o> {
    pub(super) fn new(out: &'o mut dyn Write, columns: &[ExportColumn]) -> Result<Parquet<'o>, Obstacle> {
        let fields = columns.iter().map(|column| field(column).map(Arc::new));
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Type::group_type_builder("assay").with_fields(fields).build()?;
        let properties = WriterProperties::builder().set_created_by("assay".to_owned()).build();
        let file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        let columns = columns.iter().map(|column| Collected::new(column.kind)).collect();
        Ok(Parquet { out, file, columns, rows: 0, bytes: 0 })
    }

    fn write_row_group(&mut self) -> Result<(), Obstacle> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group
                .next_column()?
                .ok_or_else(|| Obstacle("the schema has fewer columns than the rows".to_owned()))?;
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        self.file.flush()?;
        self.out.write_all(self.file.inner())?;
        self.file.inner_mut().clear();
        Ok(())
    }
}

impl Sink for Parquet<'_> {
    fn row(&mut self, row: &[Datum]) -> Result<(), Obstacle> {
        for (datum, column) in row.iter().zip(&mut self.columns) {
            self.bytes += column.push(datum)?;
        }
        self.rows += 1;
        if self.rows >= ROWS || self.bytes >= BYTES { self.write_row_group() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Obstacle> {
        if self.rows > 0 {
            self.write_row_group()?;
        }
        let rest = self.file.into_inner()?;
        self.out.write_all(&rest)?;
        Ok(self.out.flush()?)
    }
}

impl Collected {
    fn new(kind: ColumnKind) -> Collected {
        let values = match kind {
            ColumnKind::Text => Values::Text(Vec::new()),
            ColumnKind::Integer => Values::Integer(Vec::new()),
            ColumnKind::Float => Values::Float(Vec::new()),
            ColumnKind::Switch => Values::Switch(Vec::new()),
        };
        Collected { values, present: Vec::new() }
    }

    /// Takes a value and says how many bytes of text it has.
    fn push(&mut self, datum: &Datum) -> Result<usize, Obstacle> {
        let mut bytes = 0;
        match (&mut self.values, datum) {
            (_, Datum::Null) => {
                self.present.push(0);
                return Ok(0);
            }
            (Values::Text(values), Datum::Text(text)) => {
                bytes = text.len();
                values.push(ByteArray::from(text.as_str()));
            }
            (Values::Integer(values), Datum::Integer(number)) => values.push(*number),
            (Values::Float(values), Datum::Float(number)) => values.push(*number),
            (Values::Switch(values), Datum::Integer(number)) => values.push(*number != 0),
            (_, other) => return Err(Obstacle(format!("`{other}` does not fit its column"))),
        }
        self.present.push(1);
        Ok(bytes)
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = Some(self.present.as_slice());
        match &mut self.values {
            Values::Text(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Integer(values) => {
                writer.typed::<Int64Type>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Float(values) => {
                writer.typed::<DoubleType>().write_batch(values, present, None)?;
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

fn field(column: &ExportColumn) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Integer => (Physical::INT64, None),
        ColumnKind::Float => (Physical::DOUBLE, None),
        ColumnKind::Switch => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}
