//! `resources`: what a run asks of its platform.

use std::ops::Range;

use super::names::{Condition, Names};
use crate::quantity;
use crate::reader::{Item, Table};

/// What runs ask for, before the settings of a cell are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceRequest {
    pub nodes: Option<Amount>,
    /// Tasks over all nodes.
    pub tasks: Option<Amount>,
    pub tasks_per_node: Option<Amount>,
    pub cpus_per_task: Option<Amount>,
    /// Memory on each node, in bytes.
    pub memory: Option<Amount>,
    /// Accelerators on each node.
    pub devices: Option<Amount>,
    /// Whether cells that do not fit their platform are left out instead of stopping everything.
    pub leave_out: bool,
}

/// A number of something.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// How it is given.
    pub quantity: ResourceQuantity,
    pub(crate) place: Range<usize>,
}

/// How a number is given.
#[derive(Debug, Clone, PartialEq)]
pub enum ResourceQuantity {
    /// The same for every cell.
    Fixed(u64),
    /// Computed from settings.
    Computed(Condition),
}

impl ResourceRequest {
    pub(super) fn read(top: &mut Table<'_>, names: &Names<'_>) -> ResourceRequest {
        let Some(mut table) = top.get("resources").and_then(|item| item.table()) else {
            return ResourceRequest::default();
        };
        let leave_out = table.get("unfit").is_some_and(|item| read_unfit(&item));
        let mut amount = |key| table.get(key).and_then(|item| amount(&item, names));
        let request = ResourceRequest {
            nodes: amount("nodes"),
            tasks: amount("tasks"),
            tasks_per_node: amount("tasks_per_node"),
            cpus_per_task: amount("cpus_per_task"),
            devices: amount("devices"),
            memory: table.get("memory").and_then(|item| memory(&item, names)),
            leave_out,
        };
        table.finish();
        request
    }
}

/// What happens to cells that do not fit: whether they are left out.
fn read_unfit(item: &Item<'_>) -> bool {
    match item.text().as_ref().map(|text| text.value.as_str()) {
        Some("leave out") => true,
        Some("refuse") | None => false,
        Some(other) => {
            item.problem(format!("`resources.unfit` cannot be `{other}`: use `refuse` or `leave out`"));
            false
        }
    }
}

fn amount(item: &Item<'_>, names: &Names<'_>) -> Option<Amount> {
    let quantity = match item.value.is_str() {
        true => ResourceQuantity::Computed(names.condition(&item.text()?, true)?),
        false => ResourceQuantity::Fixed(u64::try_from(item.whole(0..=1_000_000_000)?).ok()?),
    };
    Some(Amount { quantity, place: item.span.clone() })
}

/// Memory is a size with its unit, or an expression that gives bytes.
fn memory(item: &Item<'_>, names: &Names<'_>) -> Option<Amount> {
    let text = item.text()?;
    let begins_with_digit = text.value.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let quantity = match quantity::parse_size(&text.value) {
        Ok(bytes) => ResourceQuantity::Fixed(bytes),
        // `4 gigs` is a mistyped size; only what cannot be one is taken as an expression.
        Err(reason) if begins_with_digit && !text.value.contains(['*', '+', '-', '/']) => {
            item.problem(reason);
            return None;
        }
        Err(_) => ResourceQuantity::Computed(names.condition(&text, true)?),
    };
    Some(Amount { quantity, place: item.span.clone() })
}
