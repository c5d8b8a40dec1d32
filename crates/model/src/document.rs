//! What a reading of a file gives: runs, tables and statements, each with the line it stands on.

use serde::{Deserialize, Serialize};

use crate::{Observation, Series, Source, Status, Value};

/// The version of the JSON form of [`ReadRun`].
pub const READ_VERSION: u32 = 1;

/// All that one file or stream holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The file, as it was named.
    pub file: String,
    /// The text of the file, where the reader was asked to keep it; an audit reads the words around every number.
    #[serde(default, skip_serializing)]
    pub text: String,
    /// Lines read.
    pub lines: u64,
    /// The runs, in the order of the file. A row of a table that states results is a run too.
    pub runs: Vec<ReadRun>,
    /// The tables, in the order of the file.
    pub tables: Vec<Table>,
    /// Sentences that state numbers or compare things, in the order of the file.
    pub statements: Vec<Statement>,
    /// The cells of a notebook and the lines they take, in the order of the file; empty for other files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<NotebookCell>,
    /// What a limit kept out of all this, so that nobody takes a part for the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omissions: Vec<Omission>,
}

impl Document {
    /// The place of a line: in a notebook it names the cell too.
    pub fn source(&self, line: u64) -> Source {
        let cell = self.cells.iter().find(|cell| (cell.first..=cell.last).contains(&line));
        Source { cell: cell.map(|cell| cell.number), ..Source::new(self.file.clone(), line) }
    }
}

/// One cell of a notebook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotebookCell {
    /// Its place in the notebook, from 1.
    pub number: u32,
    /// Its first line.
    pub first: u64,
    /// Its last line.
    pub last: u64,
}

/// A part of a file that a limit of this program left unread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omission {
    /// What was left out: `table rows`, `bytes of a line`, ...
    pub what: String,
    /// How many of them.
    pub count: u64,
    /// The line where it begins.
    pub line: u64,
}

/// One run as the evidence shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadRun {
    /// The version of this form.
    pub version: u32,
    /// Where it stands.
    pub span: Span,
    /// The heading or label over it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The dialects that found something, the one that found most first. `table` for a row of a table.
    pub dialects: Vec<String>,
    /// The make of machine, in lower case, where a dialect or a heading names it: `cerebras`, `graphcore`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// How it ended; metrics are kept whatever this says.
    pub status: Status,
    /// The line that reports how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_source: Option<Source>,
    /// The time of the first timestamp in seconds since 1970, or since midnight where the log has no dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<f64>,
    /// What the log's clock lacks, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockKind>,
    /// Settings, declared and observed. The same setting may be there several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingFact>,
    /// Phases, in the order they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Metrics: the last value of each, and derived ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// Values per step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// What to do about error texts seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

/// Where something stands in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The file, as it was named.
    pub file: String,
    /// The first line, from 1.
    pub first: u64,
    /// The last line.
    pub last: u64,
    /// The cell of a notebook it begins in, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
}

impl Span {
    /// Lines of a file that is not a notebook.
    pub fn new(file: impl Into<String>, first: u64, last: u64) -> Span {
        Span { file: file.into(), first, last, cell: None }
    }

    /// The place where it begins.
    pub fn source(&self) -> Source {
        Source { cell: self.cell, ..Source::new(self.file.clone(), self.first) }
    }
}

/// What a log's clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// Date, time and zone.
    Absolute,
    /// Date and time, but no zone.
    NoZone,
    /// Time of day alone.
    NoDate,
    /// Timestamps of both kinds are mixed; they agree only up to an integer of hours.
    Mixed,
}

/// Whether a setting was asked for or seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Asked for.
    Declared,
    /// Seen to be in effect.
    Observed,
}

/// One value of one setting, and how it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingFact {
    /// The canonical name.
    pub name: String,
    pub value: Value,
    /// Asked for or seen.
    pub standing: Standing,
    /// Where it stands: `prose`, `command line`, `configuration`, `file name`, `environment`, `table`, `log`,
    /// `progress bar`, `arithmetic`.
    pub by: String,
    /// The arithmetic, where the value follows from other numbers: `60000 / (50 × 150) = 8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<String>,
    pub source: Source,
}

/// The names of phases.
pub const PHASES: [&str; 13] = [
    "submit",
    "queue",
    "run",
    "image_build",
    "compile",
    "schedule",
    "stage",
    "program",
    "warmup",
    "train",
    "eval",
    "checkpoint",
    "teardown",
];

/// How a phase is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KnownBy {
    /// Timestamps at both ends.
    Timestamp,
    /// A progress bar's own clock.
    Bar,
    /// A script or program that says how long it took.
    Script,
    /// Computed from other numbers.
    Derived,
}

impl KnownBy {
    /// The word that stands for it in files and in the index.
    pub fn word(self) -> &'static str {
        match self {
            KnownBy::Timestamp => "timestamp",
            KnownBy::Bar => "bar",
            KnownBy::Script => "script",
            KnownBy::Derived => "derived",
        }
    }
}

/// A named interval of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// One of [`PHASES`].
    pub name: String,
    /// Start in seconds after the run's first timestamp, where the log has a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
    /// End, likewise; absent for a phase that never ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_s: Option<f64>,
    /// Its length, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    pub known_by: KnownBy,
    /// The line it began on.
    pub source: Source,
}

/// What to do about something seen in the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// What was seen, in short.
    pub seen: String,
    /// What to do.
    pub advice: String,
    pub source: Source,
}

/// A table of a write-up or a result file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Where it stands.
    pub span: Span,
    /// The headings over it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The make of machine that heading or caption names, in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Columns, left to right.
    pub columns: Vec<Column>,
    /// Rows, top to bottom.
    pub rows: Vec<TableRow>,
    /// Whether metrics stand in rows and systems in columns.
    pub transposed: bool,
}

/// One column of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its header; group headers first, joined by ` / `.
    pub header: String,
    /// What it holds.
    pub role: Role,
}

/// What a column (or, in a transposed table, a row) holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A setting, under its canonical name.
    Setting(String),
    /// A metric, under its canonical name.
    Metric(String),
    /// Names of what the rows are about.
    Label,
    /// Ratios of other columns.
    Ratio,
    /// Nothing this program understands.
    #[default]
    Unknown,
}

/// One row of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    pub line: u64,
    pub cells: Vec<TableCell>,
    /// What the row holds in a transposed table.
    #[serde(default)]
    pub role: Role,
}

/// One cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// Its text, without mark-up.
    pub text: String,
    pub line: u64,
    /// The number in it, in its base unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The unit, by the cell or else by the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<crate::Unit>,
    /// What is wrong with it, where a number is due: empty, `TBD`, letters behind the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A sentence of a write-up that states numbers or compares things.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The sentence.
    pub text: String,
    /// Where it begins.
    pub span: Span,
    /// The headings over it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Numbers in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<Quantity>,
}

/// A number in a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// The number, in its base unit.
    pub value: f64,
    /// The upper end, for a range such as `37-179`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// The unit; `times` for a factor such as `3×`.
    pub unit: crate::Unit,
    /// As it is written, unit and all.
    pub text: String,
    /// The canonical setting or metric that the words around it name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
