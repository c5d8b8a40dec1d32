//! Groups of columns: where one header stands over several columns, or the headers of several columns name devices,
//! a row states one run for each group.

use assay_model::{Role, Table, names};

use crate::writeup::interpret::is_repeat;
use crate::writeup::vocabulary::{device, metric_name, other_metric, statistic};

/// Columns that belong to one run of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    /// What the group is called; none for the only group of a plain table.
    pub(super) name: Option<String>,
    /// The metric columns that belong to it.
    pub(super) columns: Vec<usize>,
    /// The metric columns that belong to every group.
    pub(super) shared: Vec<usize>,
}

impl Group {
    /// Whether a column belongs to the group.
    pub(super) fn holds(&self, column: usize) -> bool {
        self.columns.contains(&column) || self.shares(column)
    }

    /// Whether a column belongs to every group.
    pub(super) fn shares(&self, column: usize) -> bool {
        self.shared.contains(&column)
    }
}

/// The groups of a table; always at least one.
pub(super) fn groups(table: &Table) -> Vec<Group> {
    let metrics: Vec<(usize, &str, &str)> = table
        .columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| match &column.role {
            Role::Metric(name) => Some((index, name.as_str(), column.header.as_str())),
            _ => None,
        })
        .collect();
    let named = by_name(&metrics, over_columns)
        .or_else(|| by_name(&metrics, device_in))
        .or_else(|| by_name(&metrics, repeated))
        .or_else(|| by_name(&metrics, system));
    named.unwrap_or_else(|| {
        vec![Group { columns: metrics.iter().map(|(index, ..)| *index).collect(), ..Group::default() }]
    })
}

/// Groups columns by a name that their headers hold, if one metric stands under two names. Columns without a name
/// belong to every group.
fn by_name(metrics: &[(usize, &str, &str)], name: fn(&str) -> Option<String>) -> Option<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut shared: Vec<usize> = Vec::new();
    let mut seen: Vec<(&str, String)> = Vec::new();
    for (index, metric, header) in metrics {
        let Some(key) = name(header) else {
            shared.push(*index);
            continue;
        };
        seen.push((metric, key.clone()));
        match groups.iter_mut().find(|group| group.name.as_ref() == Some(&key)) {
            Some(group) => group.columns.push(*index),
            None => groups.push(Group { name: Some(key), columns: vec![*index], shared: Vec::new() }),
        }
    }
    let one_metric_in_two_groups = seen.iter().any(|(metric, key)| {
        !is_resource(metric) && seen.iter().any(|(other, name)| other == metric && name != key)
    });
    // Two of many columns that share a name are no systems that the others were measured on.
    if !one_metric_in_two_groups || shared.len() > seen.len() {
        return None;
    }
    // A mean beside the repeats it was made of is not part of each of them.
    let metrics_in_groups: Vec<&str> = seen.iter().map(|(metric, _)| *metric).collect();
    let is_of_its_own = |index: &usize| {
        metrics.iter().any(|(own, metric, _)| own == index && metrics_in_groups.contains(metric))
    };
    let own: Vec<usize> = shared.iter().copied().filter(is_of_its_own).collect();
    shared.retain(|index| !own.contains(index));
    for group in &mut groups {
        group.shared.clone_from(&shared);
    }
    if !own.is_empty() && groups.iter().all(|group| !group.name.as_deref().is_some_and(is_repeat)) {
        groups.push(Group { columns: own, shared, ..Group::default() });
    }
    Some(groups)
}

/// The header over several columns: `CPU` in `CPU / forward_time`.
fn over_columns(header: &str) -> Option<String> {
    let (over, below) = header.rsplit_once(" / ")?;
    (metric_name(over).is_none() && metric_name(below).is_some()).then(|| over.to_owned())
}

fn device_in(header: &str) -> Option<String> {
    let mut found = header.split(|character: char| !character.is_alphanumeric()).filter_map(device);
    found.next().map(str::to_owned)
}

/// The header of a column that a caption named: it says what was measured, the header on what.
fn system(header: &str) -> Option<String> {
    let named = metric_name(header).is_some() || other_metric(header).is_some();
    (!named && statistic(header).is_none()).then(|| header.to_owned())
}

fn repeated(header: &str) -> Option<String> {
    is_repeat(header).then(|| header.split(['(', '[']).next().unwrap_or(header).trim().to_owned())
}

/// What a processor and a graphics card of one machine have each.
fn is_resource(metric: &str) -> bool {
    [names::UTILIZATION, names::MEMORY, names::POWER, names::TEMPERATURE, names::ENERGY]
        .iter()
        .any(|resource| metric.starts_with(resource))
}
