//! Small documents for tests.

use assay_model::document::Standing as Known;
use assay_model::{
    Column, Document, KnownBy, Observation, Origin, Phase, Quantity, ReadRun, Role, Series, SettingFact,
    Source, Span, Statement, Status, Table, TableCell, TableRow, Unit, Value, names,
};

use super::Finding;
use super::facts::Facts;

/// Builds one document, line after line.
pub(super) struct Build {
    pub(super) document: Document,
    pub(super) headings: Vec<String>,
    line: u64,
}

/// A document with the content that the closure adds.
pub(super) fn document(file: &str, fill: impl FnOnce(&mut Build)) -> Document {
    let mut build = Build {
        document: Document { file: file.to_owned(), ..Document::default() },
        headings: Vec::new(),
        line: 0,
    };
    fill(&mut build);
    build.document.lines = build.line;
    build.document
}

/// What one check finds in documents.
pub(super) fn found(check: fn(&Facts<'_>) -> Vec<Finding>, documents: &[Document]) -> Vec<Finding> {
    check(&Facts::new(documents))
}

impl Build {
    fn next(&mut self) -> u64 {
        self.line += 1;
        self.line
    }

    fn source(&self) -> Source {
        self.document.source(self.line)
    }

    /// Puts what follows under a heading.
    pub(super) fn heading(&mut self, text: &str) -> &mut Build {
        self.next();
        self.headings = vec![text.to_owned()];
        self
    }

    /// Begins a run that comes from a log.
    pub(super) fn log(&mut self, dialect: &str, platform: &str) -> &mut Build {
        let line = self.next();
        self.document.runs.push(ReadRun {
            version: 1,
            span: Span::new(self.document.file.clone(), line, line),
            dialects: vec![dialect.to_owned()],
            platform: Some(platform.to_owned()),
            status: Status::Succeeded,
            ..ReadRun::default()
        });
        self
    }

    /// The run begun last.
    pub(super) fn run(&mut self) -> &mut ReadRun {
        self.document.runs.last_mut().unwrap()
    }

    /// A setting that prose asks for.
    pub(super) fn declared(&mut self, name: &str, value: impl Into<Value>) -> &mut Build {
        self.setting(name, value.into(), Known::Declared, "prose")
    }

    /// A setting that the log shows.
    pub(super) fn observed(&mut self, name: &str, value: impl Into<Value>) -> &mut Build {
        self.setting(name, value.into(), Known::Observed, "log")
    }

    fn setting(&mut self, name: &str, value: Value, standing: Known, by: &str) -> &mut Build {
        self.next();
        let source = self.source();
        let fact = SettingFact {
            name: name.to_owned(),
            value,
            standing,
            by: by.to_owned(),
            arithmetic: None,
            source,
        };
        self.run().settings.push(fact);
        self
    }

    /// A value that the log states.
    pub(super) fn metric(&mut self, metric: &str, value: f64) -> &mut Build {
        self.next();
        let source = Some(self.source());
        let observation = Observation {
            source,
            written: Some(value.to_string()),
            ..Observation::new(metric, value, names::unit(metric), Origin::Reported)
        };
        self.run().observations.push(observation);
        self
    }

    /// A phase that begins where the one before it ended.
    pub(super) fn phase(&mut self, name: &str, seconds: f64) -> &mut Build {
        self.next();
        let source = self.source();
        let start = self.run().phases.iter().filter_map(|phase| phase.end_s).fold(0.0, f64::max);
        self.run().phases.push(Phase {
            name: name.to_owned(),
            start_s: Some(start),
            end_s: Some(start + seconds),
            seconds: Some(seconds),
            known_by: KnownBy::Timestamp,
            source,
        });
        self
    }

    /// Values per step.
    pub(super) fn series(&mut self, metric: &str, points: &[(f64, f64, f64)]) -> &mut Build {
        self.next();
        let source = Some(self.source());
        self.run().series.push(Series {
            metric: metric.to_owned(),
            unit: names::unit(metric),
            values: points.iter().map(|point| point.2).collect(),
            seen: points.len() as u64,
            steps: points.iter().map(|point| point.0).collect(),
            at_s: points.iter().map(|point| point.1).collect(),
            source,
        });
        self
    }

    /// A sentence.
    pub(super) fn says(&mut self, text: &str, quantities: &[(f64, &str, Option<&str>)]) -> &mut Build {
        let line = self.next();
        self.document.statements.push(Statement {
            text: text.to_owned(),
            span: Span::new(self.document.file.clone(), line, line),
            headings: self.headings.clone(),
            quantities: quantities
                .iter()
                .map(|(value, unit, name)| Quantity {
                    value: *value,
                    to: None,
                    unit: Unit::parse(unit).0,
                    text: format!("{value} {unit}"),
                    name: name.map(str::to_owned),
                })
                .collect(),
        });
        self
    }

    /// A table of settings (`batch_size`) and metrics (`accuracy`), with its rows as runs. A column that is neither
    /// holds labels.
    pub(super) fn table(&mut self, platform: &str, columns: &[&str], rows: &[&[f64]]) -> &mut Build {
        let first = self.next();
        let role = |name: &str| {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            match names::canonical(name).or(names::canonical(stem)) {
                Some(_) => Role::Metric(name.to_owned()),
                None if name == "label" => Role::Label,
                None => Role::Setting(name.to_owned()),
            }
        };
        let columns: Vec<Column> =
            columns.iter().map(|name| Column { header: (*name).to_owned(), role: role(name) }).collect();
        let mut table = Table {
            span: Span::new(self.document.file.clone(), first, first),
            headings: self.headings.clone(),
            platform: Some(platform.to_owned()),
            columns,
            ..Table::default()
        };
        for values in rows {
            self.table_row(&mut table, platform, values);
        }
        table.span.last = self.line;
        self.document.tables.push(table);
        self
    }

    fn table_row(&mut self, table: &mut Table, platform: &str, values: &[f64]) {
        let line = self.next();
        let source = self.source();
        let mut row = TableRow { line, ..TableRow::default() };
        let mut run = ReadRun {
            version: 1,
            span: Span::new(self.document.file.clone(), line, line),
            dialects: vec!["table".to_owned()],
            platform: Some(platform.to_owned()),
            ..ReadRun::default()
        };
        for (column, value) in table.columns.iter().zip(values) {
            let written = value.to_string();
            row.cells.push(TableCell {
                text: written.clone(),
                line,
                value: Some(*value),
                ..TableCell::default()
            });
            match &column.role {
                Role::Setting(name) => run.settings.push(SettingFact {
                    name: name.clone(),
                    value: Value::Integer(*value as i64),
                    standing: Known::Declared,
                    by: "table".to_owned(),
                    arithmetic: None,
                    source: source.clone(),
                }),
                Role::Metric(name) => run.observations.push(Observation {
                    source: Some(source.clone()),
                    written: Some(written),
                    ..Observation::new(name, *value, names::unit(name), Origin::Reported)
                }),
                Role::Label | Role::Ratio | Role::Unknown => {}
            }
        }
        table.rows.push(row);
        self.document.runs.push(run);
    }
}
