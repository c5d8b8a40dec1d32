//! Columns of one metric on several splits: `acc` and `test_acc`, `train/box_loss` and `val/box_loss`.

use assay_model::{Role, Table, names};

use super::is_repeat;
use crate::writeup::vocabulary::{other_metric, statistic};

/// Names columns by split and qualifier where two of them would share a name, and in the table of a training run,
/// whose columns say which data each number was taken on.
pub(super) fn name_columns(table: &mut Table) {
    // Beside `F2` and `F3`, `F1` is a fold.
    let headed = |header: &str| table.columns.iter().any(|column| column.header == header);
    let folds = headed("F2") && headed("F3");
    for column in table.columns.iter_mut().filter(|column| folds && column.header == "F1") {
        column.role = Role::Unknown;
    }
    let metric = |role: &Role| match role {
        Role::Metric(name) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<Option<String>> = table.columns.iter().map(|column| metric(&column.role)).collect();
    let progress = names.iter().flatten().any(|name| [names::EPOCH, names::STEPS].contains(&name.as_str()));
    for (index, column) in table.columns.iter_mut().enumerate() {
        let Some(Some(name)) = names.get(index) else { continue };
        let shared = names.iter().filter(|other| other.as_ref() == Some(name)).count() > 1;
        let parted = column.header.contains(" / ") || is_repeat(&column.header);
        if !(shared || progress) || parted || statistic(&column.header).is_some() {
            continue;
        }
        if let Some(named) = other_metric(&column.header)
            && (named.split.is_some() || !named.qualifier.is_empty() && (progress || is_bucket(name)))
        {
            column.role = Role::Metric(named.name());
        }
    }
}

/// Whether a name says no more than that something is a time: several such columns keep the words of their headers.
fn is_bucket(name: &str) -> bool {
    let base = name.strip_suffix(".std").unwrap_or(name);
    base == names::TIMING || base == names::DURATION_REPORTED
}
