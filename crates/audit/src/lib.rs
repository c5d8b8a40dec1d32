//! The audit: which claims of a document its own numbers support, which they contradict, and which cannot be checked.
//!
//! | file | holds |
//! |---|---|
//! | `manuscript.rs`, `manuscript/` | a document as headings, paragraphs, listings and tables |
//! | `quantity.rs`, `quantity/`, `unit.rs`, `interval.rs` | numbers with units and with what their digits allow |
//! | `grid.rs`, `grid/` | tables of typed cells |
//! | `algebra.rs`, `algebra/` | laws between columns, discovered in the numbers |
//! | `claims.rs`, `claims/` | claims of prose and the evidence for them |
//! | `checks.rs` | broken laws sorted out into findings |
//! | `runs.rs`, `runs/` | checks of runs that `evidence` read |
//! | `assist.rs`, `assist/` | claims that a language model proposes, checked by the same arithmetic |
//! | `passages.rs` | a document with the places of its numbers, for showing |
//! | `finding.rs`, `number.rs` | the findings, and the numbers in them |

mod algebra;
pub mod assist;
mod checks;
mod claims;
mod finding;
mod grid;
mod interval;
mod manuscript;
mod number;
mod passages;
mod quantity;
mod runs;
mod unit;

use assay_model::{Document, Source};
use serde::Serialize;

use checks::Checks;
use grid::Grid;
use manuscript::{Block, Manuscript};

pub use finding::{Class, Finding, Level, Operand};
pub use manuscript::LONGEST_SOURCE;
pub use passages::{NumberPlace, Passage, Prose, number_places, passages};
pub use runs::Described;

/// All that was found in some documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Audit {
    /// Claims and findings, the worst first, then by file and line.
    pub findings: Vec<Finding>,
    /// Runs that did the same thing, over all documents.
    pub groups: Vec<RepeatGroup>,
}

impl Audit {
    pub fn contradicts(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Contradicted)
    }

    /// How many claims have this level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Runs that did the same thing, by what was observed and not by what was declared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatGroup {
    /// What they have in common, for people.
    pub label: String,
    pub metric: String,
    pub unit: assay_model::Unit,
    /// The values with their places.
    pub values: Vec<(f64, Source)>,
}

/// Audits documents together: tables of one are evidence for the prose of another.
pub fn audit(documents: &[Document]) -> Audit {
    let (mut findings, groups) = runs::check(documents);
    let written = documents.iter().filter(|document| !document.text.is_empty());
    let manuscripts: Vec<Manuscript> =
        written.map(|document| Manuscript::read(&document.file, &document.text)).collect();
    findings.extend(check(&manuscripts));
    name_cells(&mut findings, documents);
    findings.sort_by(|one, other| order(one).cmp(&order(other)));
    findings.dedup_by(|later, earlier| {
        later.class == earlier.class && later.summary == earlier.summary && is_one_place(later, earlier)
    });
    Audit { findings, groups }
}

/// Whether two equal findings are about one place: what is wrong is said once for each file, but every claim counts.
fn is_one_place(one: &Finding, other: &Finding) -> bool {
    let place = |finding: &Finding| finding.sources.first().map(|source| (source.file.clone(), source.line));
    let file = |finding: &Finding| finding.sources.first().map(|source| source.file.clone());
    if one.level <= Level::Doubtful { file(one) == file(other) } else { place(one) == place(other) }
}

/// Adds the cell to places in notebooks.
fn name_cells(findings: &mut [Finding], documents: &[Document]) {
    for document in documents.iter().filter(|document| !document.cells.is_empty()) {
        let sources = findings.iter_mut().flat_map(|finding| &mut finding.sources);
        for source in sources.filter(|source| source.file == document.file && source.cell.is_none()) {
            source.cell = document.source(source.line).cell;
        }
    }
}

/// Checks the tables and the prose of manuscripts.
fn check(manuscripts: &[Manuscript]) -> Vec<Finding> {
    let mut checks = Checks::default();
    let grids: Vec<Vec<Grid>> = manuscripts.iter().map(grids).collect();
    for (manuscript, grids) in manuscripts.iter().zip(&grids) {
        let constants = claims::constants(manuscript);
        for grid in grids {
            algebra::check(grid, &constants, &mut checks);
        }
        algebra::check_joined(grids, &constants, &mut checks);
    }
    algebra::check_samples(&grids.iter().flatten().cloned().collect::<Vec<Grid>>(), &mut checks);
    // The tables of the other documents may be what a write-up is about.
    let mut all: Vec<Grid> = grids.iter().flatten().filter(|grid| grid.rows.len() <= 1000).cloned().collect();
    let means: Vec<Grid> = all
        .iter_mut()
        .flat_map(|grid| {
            let means = grid::groups(grid);
            grid.repeats = !means.is_empty();
            means
        })
        .collect();
    all.extend(means);
    let shown: Vec<claims::Observed> = manuscripts.iter().map(claims::Observed::new).collect();
    for manuscript in manuscripts {
        claims::equations(manuscript, &mut checks);
        claims::check(manuscript, &all, &shown, &mut checks);
    }
    checks.findings
}

fn grids(manuscript: &Manuscript) -> Vec<Grid> {
    let blocks = manuscript.blocks.iter().enumerate();
    let tables = blocks.filter_map(|(block, content)| match content {
        Block::Table(table) => Grid::new(table, &manuscript.file, block),
        _ => None,
    });
    let records =
        manuscript.records().filter_map(|(block, table)| Grid::new(&table, &manuscript.file, block));
    let fields = manuscript.fields();
    let fields = fields.iter().filter_map(|(block, table)| Grid::new(table, &manuscript.file, *block));
    tables.chain(records).chain(fields).collect()
}

/// The worst first, then by file and line.
fn order(finding: &Finding) -> (Level, Option<(&str, u64)>, Class, &str) {
    let place = finding.sources.first().map(|source| (source.file.as_str(), source.line));
    (finding.level, place, finding.class, finding.summary.as_str())
}
