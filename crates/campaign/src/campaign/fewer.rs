//! `repeats.fewer`: cells that are run less often than the others.

use super::names::{Condition, Names};
use super::schedule::count;
use crate::problem::Problem;
use crate::reader::{Collector, Item, Table};

/// Cells that are run less often than the others, because each of their runs takes long.
#[derive(Debug, Clone, PartialEq)]
pub struct Fewer {
    /// Which cells.
    pub condition: Condition,
    /// They are run this often, and never more.
    pub at_least: u32,
}

/// Reads the entries; `usual` is how often the other cells are run at least.
pub(super) fn read(
    tables: Vec<Table<'_>>,
    usual: u32,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Vec<Fewer> {
    tables.into_iter().filter_map(|table| read_one(table, usual, names, problems)).collect()
}

fn read_one(mut table: Table<'_>, usual: u32, names: &Names<'_>, problems: &Collector<'_>) -> Option<Fewer> {
    let (condition, least) = (table.get("where"), table.get("at_least"));
    if condition.is_none() {
        let problem = Problem::error("[[repeats.fewer]] needs `where`, which says for which cells it is");
        table.problem(problem.hint("add `where = \"…\"`, an expression over settings and `platform`"));
    }
    if least.is_none() {
        let problem = Problem::error("[[repeats.fewer]] needs `at_least`, which says how often they are run");
        table.problem(problem.hint("add `at_least = 2`"));
    }
    table.finish();
    let condition = condition.and_then(|item| item.text()).and_then(|text| names.condition(&text, true));
    let at_least = least.and_then(|item| fewer_than(usual, &item, problems));
    Some(Fewer { condition: condition?, at_least: at_least? })
}

/// A number of repeats below the usual one.
fn fewer_than(usual: u32, item: &Item<'_>, problems: &Collector<'_>) -> Option<u32> {
    let found = count(item)?;
    if found < usual {
        return Some(found);
    }
    let repeats = if usual == 1 { "repeat" } else { "repeats" };
    let message = format!("{found} is not fewer than the {usual} {repeats} that all other cells get");
    let hint = match usual {
        1 => "leave this entry out, or raise `at_least` under [repeats]".to_owned(),
        2 => format!("set it to 1, or raise `at_least` under [repeats] above {found}"),
        _ => format!("set it to {} or less, or raise `at_least` under [repeats] above {found}", usual - 1),
    };
    problems.add(Problem::error(message).at(item.span.clone()).label("not fewer").hint(hint));
    None
}
