//! Blocks of lines that belong together: tables of three kinds, and arrays that Python prints.

use std::collections::HashMap;

use assay_model::document::READ_VERSION;
use assay_model::{ReadRun, SettingFact, Source, Span, Standing, Value};

use crate::writeup::{Array, Arrays, Context, GridTable, HtmlTable, PipeTable, RawTable, grid, html, pipe};

/// A block that is complete.
pub(super) enum Block {
    /// A table.
    Table(RawTable),
}

/// Settings that the label of an array names.
type LabelSettings = Vec<(String, Value)>;

enum Open {
    Pipe(PipeTable),
    Grid(GridTable),
    Html(Box<HtmlTable>),
}

/// The blocks of a file.
#[derive(Default)]
pub(super) struct Blocks {
    open: Option<Open>,
    arrays: Arrays,
}

impl Blocks {
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
    pub fn push(&mut self, number: u64, text: &str) -> Option<Block> {
        if self.arrays.is_open() && self.arrays.push(number, text) {
            return None;
        }
        let (goes_on, complete) = match &mut self.open {
            Some(Open::Pipe(table)) => (table.push(number, text), false),
            Some(Open::Grid(table)) => (table.push(number, text), false),
            Some(Open::Html(table)) => (table.push(number, text), table.is_complete()),
            None => (false, false),
        };
        if complete {
            let behind = match &self.open {
                Some(Open::Html(table)) => table.rest().to_owned(),
                _ => String::new(),
            };
            let done = self.end();
            // Another table may begin on the line that ended this one.
            self.begin(number, &behind);
            return done;
        }
        if goes_on {
            return None;
        }
        let done = self.end();
        self.begin(number, text);
        done
    }

    fn begin(&mut self, number: u64, text: &str) {
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
        } else {
            self.arrays.push(number, text);
        }
    }

    /// Ends the open table.
    pub fn end(&mut self) -> Option<Block> {
        let raw = match self.open.take()? {
            Open::Pipe(table) => table.finish(),
            Open::Grid(table) => table.finish(),
            Open::Html(table) => table.finish(),
        };
        raw.map(Block::Table)
    }

    /// The arrays so far as runs: one for all whose labels give the same settings.
    pub fn arrays(&mut self, context: &Context, declared: &[SettingFact]) -> Vec<ReadRun> {
        let arrays = std::mem::take(&mut self.arrays).finish();
        let mut groups: Vec<(LabelSettings, Vec<Array>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for array in arrays {
            let settings = array.settings();
            let place = *places.entry(format!("{settings:?}")).or_insert(groups.len());
            match groups.get_mut(place) {
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
    let around = declared.iter().filter(|fact| settings.iter().all(|(name, _)| *name != fact.name)).cloned();
    Some(ReadRun {
        version: READ_VERSION,
        span: Span::new(context.file.clone(), first.first, last.last),
        title: (!title.is_empty()).then(|| title.join(" ")),
        dialects: vec!["array".to_owned()],
        platform: context.platform.clone(),
        settings: around.chain(own).collect(),
        series: arrays.iter().map(|array| array.series(&context.file)).collect(),
        ..ReadRun::default()
    })
}
