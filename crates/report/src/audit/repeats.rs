//! Groups of repeats: their mean, how far they lie apart, and how many there are.

use assay_audit::{Audit, Described, RepeatGroup};

use crate::number::{Scale, fact};
use crate::table::{Cell, Column, Table, Tone};
use crate::words::clean;

/// The numbers of a group as texts in one scale: mean, deviation, range.
pub fn shown(group: &RepeatGroup, described: &Described) -> [String; 3] {
    let Described { mean, deviation, low, high, .. } = *described;
    let scale = Scale::for_value(&group.unit, mean);
    if mean.abs() >= 1e15 {
        return [
            fact(&group.unit, mean),
            deviation.map(|sd| fact(&group.unit, sd)).unwrap_or_default(),
            String::new(),
        ];
    }
    // Two digits of the deviation; all other numbers are shown as finely.
    let decimals = scale.decimals(mean, mean, mean + deviation.unwrap_or(0.0));
    let show = |value: f64| scale.show(value, decimals);
    let unit = if scale.name.is_empty() { String::new() } else { format!(" {}", scale.name) };
    let deviation = deviation.map(|deviation| scale.show(deviation, decimals)).unwrap_or_default();
    [format!("{}{unit}", show(mean)), deviation, format!("{} – {}", show(low), show(high))]
}

/// All groups as a table; none without groups.
pub fn table(audit: &Audit) -> Option<Table> {
    let rows = |group: &RepeatGroup| {
        let mut cells = vec![Cell::new(clean(&group.label))];
        cells.extend(numbers(group)?);
        Some(cells)
    };
    let mut table = Table { columns: vec![Column::left("runs of the same thing")], ..Table::default() };
    table.columns.extend(columns());
    table.rows = audit.groups.iter().filter_map(rows).collect();
    (!table.rows.is_empty()).then_some(table)
}

/// Groups by what their runs have in common, each with a table of its metrics. Labels are too long for a column.
pub fn by_label(audit: &Audit) -> Vec<(String, Table)> {
    let mut found: Vec<(String, Table)> = Vec::new();
    for group in &audit.groups {
        let Some(cells) = numbers(group).map(Vec::from) else { continue };
        let label = clean(&group.label);
        match found.iter_mut().find(|(known, _)| *known == label) {
            Some((_, table)) => table.rows.push(cells),
            None => {
                let table = Table { columns: columns().to_vec(), rows: vec![cells], ..Table::default() };
                found.push((label, table));
            }
        }
    }
    found
}

fn columns() -> [Column; 5] {
    [
        Column::left("metric"),
        Column::right("n"),
        Column::right("mean"),
        Column::right("sd"),
        Column::left("range"),
    ]
}

fn numbers(group: &RepeatGroup) -> Option<[Cell; 5]> {
    let described = group.described()?;
    let [mean, deviation, range] = shown(group, &described).map(|text| clean(&text));
    Some([
        Cell::new(clean(&group.metric)),
        Cell::new(described.count.to_string()),
        Cell::new(mean),
        Cell::new(deviation),
        Cell::toned(range, Tone::Faint),
    ])
}
