//! What the checks of tables found, sorted out: which cell of a row is to blame, and which findings are one.

use assay_model::Source;

use crate::finding::{Level, Operand};
use crate::grid::Grid;
use crate::number::shown;
use crate::{Class, Finding};

/// A law that a row breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub row: usize,
    /// Other rows that the law relates: those of a sum, the one that ratios are taken against.
    pub others: Vec<usize>,
    /// The columns that the law relates.
    pub columns: Vec<usize>,
    /// What a column would have to hold, as written.
    pub expected: Vec<(usize, f64)>,
    pub law: String,
    /// Rows that keep the law.
    pub kept: usize,
    /// What the law's sides differ by.
    pub factor: f64,
    /// Whether the text cannot mean something else.
    pub certain: bool,
}

/// The most other rows whose lines a finding lists.
const MOST_SOURCES: usize = 60;

/// Rows that break one law in more rows than this are reported together.
const MOST_SINGLE: usize = 4;

/// A law may have one exception without a cause in this many rows.
const MOST_EXCEPTIONS: usize = 10;

/// The findings so far.
#[derive(Debug, Default)]
pub struct Checks {
    pub findings: Vec<Finding>,
}

impl Checks {
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Turns the broken laws of a table into one finding a row, and names the cell that all of them share.
    pub fn settle(&mut self, grid: &Grid, broken: Vec<Check>, holds: &[(usize, usize)]) {
        let held: std::collections::HashSet<(usize, usize)> = holds.iter().copied().collect();
        let mut rows: std::collections::BTreeMap<usize, Vec<Check>> = std::collections::BTreeMap::new();
        for check in broken {
            let free = check.expected.is_empty()
                || check.columns.iter().any(|column| !held.contains(&(check.row, *column)));
            if free {
                rows.entry(check.row).or_default().push(check);
            }
        }
        if rows.is_empty() {
            if !held.is_empty() {
                self.findings.push(table_holds(grid, &held));
            }
            return;
        }
        if rows.len() > MOST_SINGLE {
            self.many(grid, &rows);
            return;
        }
        for (row, checks) in rows {
            self.findings.push(row_finding(grid, row, &checks, &held));
        }
    }

    /// One finding for many rows.
    fn many(&mut self, grid: &Grid, rows: &std::collections::BTreeMap<usize, Vec<Check>>) {
        let mut laws: std::collections::BTreeMap<&str, Vec<&Check>> = std::collections::BTreeMap::new();
        for check in rows.values().flatten() {
            laws.entry(&check.law).or_default().push(check);
        }
        let Some((law, checks)) = laws.into_iter().max_by_key(|(_, checks)| checks.len()) else { return };
        let cause = common_factor(grid, &checks);
        let kept = checks.first().map_or(0, |check| check.kept);
        // What many rows break without a common cause is no law of the table.
        if cause.is_none() && checks.len() * MOST_EXCEPTIONS > kept {
            return;
        }
        let summary = format!(
            "{} rows break {law}, which {kept} rows keep{}",
            checks.len(),
            cause.map(|cause| format!("; they are off by {cause}")).unwrap_or_default()
        );
        let sources =
            checks.iter().take(20).map(|check| source(grid, check.row, check.columns.first().copied()));
        self.findings.push(Finding {
            class: Class::TableLaw,
            level: Level::Doubtful,
            summary,
            arithmetic: vec![law.to_owned()],
            sources: sources.collect(),
            operands: Vec::new(),
            advice: "recompute the column, or say what is different about these rows".to_owned(),
        });
    }
}

/// Cells that are listed as operands of a finding about a whole table.
const MOST_CELLS: usize = 400;

fn table_holds(grid: &Grid, held: &std::collections::HashSet<(usize, usize)>) -> Finding {
    let cells = held.len();
    let mut places: Vec<(usize, usize)> = held.iter().copied().collect();
    places.sort_unstable();
    let operands = places.iter().take(MOST_CELLS).filter_map(|(row, column)| {
        let cell = grid.cell(*row, *column)?;
        Some(Operand { text: cell.text.clone(), value: cell.value, line: cell.line })
    });
    Finding {
        class: Class::TableLaw,
        level: Level::Supported,
        summary: format!("{cells} cells of the table at line {} follow from other cells", grid.header_line),
        arithmetic: Vec::new(),
        sources: vec![Source::new(grid.file.clone(), grid.header_line)],
        operands: operands.collect(),
        advice: String::new(),
    }
}

fn source(grid: &Grid, row: usize, column: Option<usize>) -> Source {
    let cell = column.and_then(|column| grid.cell(row, column)).map(|cell| cell.line);
    let line = cell.or_else(|| grid.rows.get(row).map(|row| row.line)).unwrap_or(grid.header_line);
    Source::new(grid.file.clone(), line)
}

/// The finding about one row: the cell that most broken laws share and no kept law contains.
fn row_finding(
    grid: &Grid,
    row: usize,
    checks: &[Check],
    held: &std::collections::HashSet<(usize, usize)>,
) -> Finding {
    let blame = |column: usize| {
        let broken = checks.iter().filter(|check| check.columns.contains(&column)).count();
        let measured = usize::from(grid.settings().all(|setting| setting != column));
        (!held.contains(&(row, column)), broken, measured, column)
    };
    let columns = checks.iter().flat_map(|check| check.columns.iter().copied());
    let culprit = columns.max_by_key(|column| blame(*column)).unwrap_or(0);
    let check = checks
        .iter()
        .filter(|check| check.columns.contains(&culprit))
        .max_by_key(|check| (check.certain, check.kept))
        .or(checks.first());
    let cell = grid.cell(row, culprit);
    let text = cell.map_or("", |cell| cell.text.as_str());
    let header = grid.columns.get(culprit).map_or("", |column| column.header.as_str());
    let name = grid.row_name(row);
    let expected = check.and_then(|check| check.expected.iter().find(|(column, _)| *column == culprit));
    let law = check.map_or("", |check| check.law.as_str());
    let summary = match expected {
        Some((_, value)) => format!("{name}: {header} is {text}, but {law} gives {}", shown(*value)),
        None => {
            let others = check.map(|check| beside(grid, row, check, culprit)).unwrap_or_default();
            format!("{name}: {header} {text} breaks {law}{others}")
        }
    };
    let lines: Vec<&Check> = checks.iter().collect();
    let mut sources: Vec<Source> = vec![source(grid, row, Some(culprit))];
    for other in lines.iter().flat_map(|check| check.columns.iter()) {
        let place = source(grid, row, Some(*other));
        if !sources.contains(&place) {
            sources.push(place);
        }
    }
    for check in checks.iter().filter(|check| check.others.len() <= MOST_SOURCES) {
        for (other, column) in
            check.others.iter().flat_map(|row| check.columns.iter().map(move |column| (row, column)))
        {
            let place = source(grid, *other, Some(*column));
            if !sources.contains(&place) {
                sources.push(place);
            }
        }
    }
    let operands = check.into_iter().flat_map(|check| &check.columns).filter_map(|column| {
        let cell = grid.cell(row, *column)?;
        Some(Operand {
            text: format!("{} {}", grid.columns[*column].header, cell.text),
            value: cell.value,
            line: cell.line,
        })
    });
    let certain = lines.iter().any(|check| check.certain);
    let single = !held.contains(&(row, culprit));
    Finding {
        class: Class::TableLaw,
        level: if certain && single { Level::Contradicted } else { Level::Doubtful },
        summary,
        arithmetic: lines.iter().map(|check| format!("{} ({} other rows)", check.law, check.kept)).collect(),
        operands: operands.collect(),
        sources,
        advice: cause_of(grid, row, check.map_or(1.0, |check| check.factor)),
    }
}

/// The other cells of a broken law.
fn beside(grid: &Grid, row: usize, check: &Check, culprit: usize) -> String {
    let others = check.columns.iter().filter(|column| **column != culprit).filter_map(|column| {
        let cell = grid.cell(row, *column)?;
        Some(format!("{} {}", grid.columns[*column].header, cell.text))
    });
    let others: Vec<String> = others.collect();
    if others.is_empty() { String::new() } else { format!(" with {}", others.join(", ")) }
}

/// Factors that people forget, besides the settings of the row.
const FACTORS: [f64; 6] = [8.0, 60.0, 1000.0, 1024.0, 100.0, 3600.0];

/// What a factor looks like: a setting of the row, or a number that units differ by.
fn cause_of(grid: &Grid, row: usize, factor: f64) -> String {
    let is = |value: f64| {
        value > 1.5 && ((factor / value).ln().abs() < 0.01 || (factor * value).ln().abs() < 0.01)
    };
    for column in grid.settings() {
        if let Some(cell) = grid.cell(row, column).filter(|cell| is(cell.value)) {
            return format!(
                "the factor {} is its {} ({})",
                shown(factor),
                grid.columns[column].header,
                cell.text
            );
        }
    }
    match FACTORS.into_iter().find(|value| is(*value)) {
        Some(value) => format!("it is off by a factor of {}", shown(value)),
        None => String::new(),
    }
}

/// The column whose value is the factor in most rows.
fn common_factor(grid: &Grid, checks: &[&Check]) -> Option<String> {
    let most = |hits: usize| hits * 10 >= checks.len() * 7;
    for column in grid.numeric() {
        let hits = checks.iter().filter(|check| {
            grid.cell(check.row, column).is_some_and(|cell| {
                let value = cell.value;
                value > 1.5
                    && ((check.factor / value).ln().abs() < 0.02 || (check.factor * value).ln().abs() < 0.02)
            })
        });
        if most(hits.count()) {
            return Some(grid.columns[column].header.clone());
        }
    }
    let constant = FACTORS.into_iter().find(|value| {
        let hits = checks.iter().filter(|check| {
            check.factor.ln().abs() > 0.0 && ((check.factor.ln().abs() - value.ln()).abs() < 0.02)
        });
        most(hits.count())
    })?;
    Some(format!("a factor of {}", shown(constant)))
}
