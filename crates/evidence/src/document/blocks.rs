//! Blocks of lines that belong together: tables of four kinds, and arrays that Python prints.

use assay_model::document::READ_VERSION;
use assay_model::{ReadRun, SettingFact, Source, Span, Standing, Value};

use crate::writeup::{
    Array, Arrays, Context, GridTable, HtmlTable, PipeTable, RawTable, SeparatedTable, grid, html, pipe,
    separated,
};

/// A block that is complete.
pub(super) enum Block {
    /// A table.
    Table(RawTable),
}

/// Settings that the label of an array tells.
type WorkloadEvent = Vec<(String, Value)>;

enum Open {
    Pipe(PipeTable),
    Grid(GridTable),
    Html(Box<HtmlTable>),
    Separated(SeparatedTable),
}

/// The blocks of a file.
pub(super) struct Blocks {
    open: Option<Open>,
    arrays: Arrays,
    /// The first lines, until it is known whether the file is a table of separated values.
    head: Vec<(u64, String)>,
    separated_name: bool,
}

impl Blocks {
    pub fn new(file: &str) -> Blocks {
        let separated_name = [".csv", ".tsv"].iter().any(|end| file.to_ascii_lowercase().ends_with(end));
        Blocks { open: None, arrays: Arrays::default(), head: Vec::new(), separated_name }
    }

    /// Whether a table or an array is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some() || self.arrays.is_open()
    }

    /// Whether an HTML table is open: blank lines do not end it.
    pub fn in_html(&self) -> bool {
        matches!(self.open, Some(Open::Html(_)))
    }

    /// A dialect took a line of the block: it is not a table of a write-up.
    pub fn abandon(&mut self) {
        self.open = None;
    }

    /// Takes a line; gives the table that ended before it or on it.
    pub fn push(&mut self, number: u64, text: &str, in_fence: bool) -> Option<Block> {
        if self.arrays.is_open() && self.arrays.push(number, text) {
            return None;
        }
        let (goes_on, complete) = match &mut self.open {
            Some(Open::Pipe(table)) => (table.push(number, text), false),
            Some(Open::Grid(table)) => (table.push(number, text), false),
            Some(Open::Html(table)) => (table.push(number, text), table.is_complete()),
            Some(Open::Separated(table)) => (table.push(number, text), false),
            None => (false, false),
        };
        if complete {
            let behind = match &self.open {
                Some(Open::Html(table)) => table.rest().to_owned(),
                _ => String::new(),
            };
            let done = self.end();
            // Another table may begin on the line that ended this one.
            self.begin(number, &behind, in_fence);
            return done;
        }
        if goes_on {
            return None;
        }
        let done = self.end();
        self.begin(number, text, in_fence);
        done
    }

    fn begin(&mut self, number: u64, text: &str, in_fence: bool) {
        if html::starts(text) {
            let mut table = Box::<HtmlTable>::default();
            table.push(number, text);
            self.open = Some(Open::Html(table));
        } else if grid::starts(text) {
            let mut table = GridTable::default();
            table.push(number, text);
            self.open = Some(Open::Grid(table));
        } else if pipe::starts(text) {
            let mut table = PipeTable::default();
            table.push(number, text);
            self.open = Some(Open::Pipe(table));
        } else if !self.arrays.push(number, text) && number <= 3 && !in_fence {
            self.head(number, text);
        }
    }

    /// The first lines decide whether a file is a table of separated values.
    fn head(&mut self, number: u64, text: &str) {
        self.head.push((number, text.to_owned()));
        let enough = self.head.len() >= if self.separated_name { 2 } else { 3 };
        let whole = self.head.first().is_some_and(|(first, _)| *first == 1);
        if !enough || !whole {
            return;
        }
        let lines: Vec<&str> = self.head.iter().map(|(_, line)| line.as_str()).collect();
        if let Some(separator) = separated::separator(&lines) {
            let mut table = SeparatedTable::new(separator);
            for (number, line) in self.head.drain(..) {
                table.push(number, &line);
            }
            self.open = Some(Open::Separated(table));
        }
    }

    /// Ends the open table.
    pub fn end(&mut self) -> Option<Block> {
        let raw = match self.open.take()? {
            Open::Pipe(table) => table.finish(),
            Open::Grid(table) => table.finish(),
            Open::Html(table) => table.finish(),
            Open::Separated(table) => table.finish(),
        };
        raw.map(Block::Table)
    }

    /// The arrays so far as runs: one for all whose labels give the same settings.
    pub fn arrays(&mut self, context: &Context, declared: &[SettingFact]) -> Vec<ReadRun> {
        let arrays = std::mem::take(&mut self.arrays).finish();
        let mut groups: Vec<(WorkloadEvent, Vec<Array>)> = Vec::new();
        for array in arrays {
            let settings = array.settings();
            match groups.iter_mut().find(|(known, _)| *known == settings) {
                Some((_, group)) => group.push(array),
                None => groups.push((settings, vec![array])),
            }
        }
        let runs = groups.iter();
        runs.filter_map(|(settings, group)| array_run(context, declared, settings, group)).collect()
    }
}

/// The run that printed some arrays.
fn array_run(
    context: &Context,
    declared: &[SettingFact],
    settings: &[(String, Value)],
    arrays: &[Array],
) -> Option<ReadRun> {
    let (first, last) = (arrays.first()?, arrays.last()?);
    let about: Vec<&str> = context.recent.iter().rev().take(4).map(|(_, line)| line.trim()).collect();
    let mut title: Vec<&str> = about.into_iter().rev().collect();
    if !settings.is_empty() {
        title.push(&first.label);
    }
    let own = settings.iter().map(|(name, value)| SettingFact {
        name: name.clone(),
        value: value.clone(),
        standing: Standing::Declared,
        by: "log".to_owned(),
        arithmetic: None,
        source: Source::new(context.file.clone(), first.first),
    });
    let told = declared.iter().filter(|fact| settings.iter().all(|(name, _)| *name != fact.name)).cloned();
    Some(ReadRun {
        version: READ_VERSION,
        span: Span::new(context.file.clone(), first.first, last.last),
        title: (!title.is_empty()).then(|| title.join(" ")),
        dialects: vec!["array".to_owned()],
        platform: context.platform.clone(),
        settings: told.chain(own).collect(),
        series: arrays.iter().map(|array| array.series(&context.file)).collect(),
        ..ReadRun::default()
    })
}
