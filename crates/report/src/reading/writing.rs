//! How the tables and sentences of a write-up were understood.

use assay_model::{Column, Document, Role, Table};

use super::facts;
use crate::block::TerminalBlock;
use crate::table::{Cell, Tone};
use crate::words::shorten;

/// The tables with what each column was taken for, the cells that hold no number, and the sentences.
pub fn blocks(document: &Document, width: usize) -> Vec<TerminalBlock> {
    let mut blocks = Vec::new();
    for table in &document.tables {
        blocks.push(TerminalBlock::Gap);
        blocks.extend(table_blocks(table));
    }
    if !document.statements.is_empty() {
        blocks.push(TerminalBlock::Gap);
        blocks.push(TerminalBlock::toned(0, "statements", Tone::Strong));
    }
    for statement in &document.statements {
        let lead = Cell::toned(format!("line {}", statement.span.first), Tone::Faint);
        // Two lines are enough to know the sentence by.
        let text = shorten(&crate::words::clean(&statement.text), width.saturating_mul(2).saturating_sub(30));
        blocks.push(TerminalBlock::labelled(2, lead, vec![Cell::new(text)]));
    }
    blocks
}

fn table_blocks(table: &Table) -> Vec<TerminalBlock> {
    let mut title = vec![facts::lines_named(&table.span)];
    title.extend(table.headings.last().cloned());
    title.extend(table.platform.clone());
    let size = format!("{} × {}", table.rows.len(), table.columns.len());
    let mut blocks = vec![TerminalBlock::labelled(
        0,
        Cell::toned("table", Tone::Strong),
        vec![Cell::new(format!("· {} · {size}", title.join(" · ")))],
    )];
    let understood: Vec<String> = table.columns.iter().filter_map(column).collect();
    if !understood.is_empty() {
        blocks.push(TerminalBlock::labelled(4, Cell::default(), vec![Cell::new(understood.join("; "))]));
    }
    for cell in table.rows.iter().flat_map(|row| &row.cells) {
        if let Some(problem) = &cell.problem {
            let text = format!("`{}`: {problem} (line {})", cell.text, cell.line);
            blocks.push(TerminalBlock::labelled(4, Cell::toned("cell", Tone::Doubt), vec![Cell::new(text)]));
        }
    }
    blocks
}

/// What a column was taken for; nothing for labels and for what was not understood.
fn column(column: &Column) -> Option<String> {
    let role = match &column.role {
        Role::Setting(name) => format!("setting {name}"),
        Role::Metric(name) => format!("metric {name}"),
        Role::Ratio => "a ratio of other columns".to_owned(),
        Role::Label | Role::Unknown => return None,
    };
    Some(format!("{} → {role}", column.header))
}
