//! Tables as text: CSV and JSON lines.

use std::io::{BufWriter, Write};

use assay_model::untrusted::csv_field;

use super::{ColumnKind, ExportColumn, Obstacle, Sink};
use crate::Datum;

/// Writes CSV.
pub(super) struct Csv<'o> {
    writer: csv::Writer<&'o mut dyn Write>,
    kinds: Vec<ColumnKind>,
}

impl<'o> Csv<'o> {
    pub(super) fn new(out: &'o mut dyn Write, columns: &[ExportColumn]) -> Result<Csv<'o>, Obstacle> {
        let mut writer = csv::Writer::from_writer(out);
        writer
            .write_record(columns.iter().map(|column| csv_field(&column.name).into_owned()))
            .map_err(csv_error)?;
        Ok(Csv { writer, kinds: columns.iter().map(|column| column.kind).collect() })
    }
}

impl Sink for Csv<'_> {
    fn row(&mut self, row: &[Datum]) -> Result<(), Obstacle> {
        for (datum, kind) in row.iter().zip(&self.kinds) {
            let written = match (datum, kind) {
                (Datum::Text(text), _) => self.writer.write_field(csv_field(text).as_ref()),
                (Datum::Integer(number), ColumnKind::Switch) => self.writer.write_field(switch(*number)),
                (other, _) => self.writer.write_field(other.to_string()),
            };
            written.map_err(csv_error)?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(csv_error)
    }

    fn finish(mut self: Box<Self>) -> Result<(), Obstacle> {
        Ok(self.writer.flush()?)
    }
}

fn csv_error(error: csv::Error) -> Obstacle {
    Obstacle(error.to_string())
}

fn switch(number: i64) -> &'static str {
    if number == 0 { "false" } else { "true" }
}

/// Writes JSON lines.
pub(super) struct JsonLines<'o> {
    out: BufWriter<&'o mut dyn Write>,
    /// For each column what comes before its value: a brace or comma, and the name.
    leads: Vec<(String, ColumnKind)>,
}

impl<'o> JsonLines<'o> {
    pub(super) fn new(out: &'o mut dyn Write, columns: &[ExportColumn]) -> Result<JsonLines<'o>, Obstacle> {
        let mut leads = Vec::with_capacity(columns.len());
        for column in columns {
            let opening = if leads.is_empty() { '{' } else { ',' };
            let name = serde_json::to_string(&column.name).map_err(std::io::Error::from)?;
            leads.push((format!("{opening}{name}:"), column.kind));
        }
        Ok(JsonLines { out: BufWriter::new(out), leads })
    }
}

impl Sink for JsonLines<'_> {
    fn row(&mut self, row: &[Datum]) -> Result<(), Obstacle> {
        for (datum, (lead, kind)) in row.iter().zip(&self.leads) {
            self.out.write_all(lead.as_bytes())?;
            match (datum, kind) {
                (Datum::Null, _) => self.out.write_all(b"null")?,
                (Datum::Integer(number), ColumnKind::Switch) => {
                    self.out.write_all(switch(*number).as_bytes())?
                }
                (Datum::Integer(number), _) => write!(self.out, "{number}")?,
                (Datum::Float(number), _) => {
                    serde_json::to_writer(&mut self.out, number).map_err(std::io::Error::from)?;
                }
                (text, _) => {
                    serde_json::to_writer(&mut self.out, &text.to_string()).map_err(std::io::Error::from)?;
                }
            }
        }
        Ok(self.out.write_all(b"}\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), Obstacle> {
        Ok(self.out.flush()?)
    }
}
