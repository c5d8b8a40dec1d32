//! What it would take to reach a precision that was requested and not reached.

use assay_judge::gather::split_settings;
use assay_judge::stopping::repeats_for;
use assay_model::metric;
use assay_report::number::{counted, duration};
use assay_store::Index;

use crate::screen::Screen;

/// The most cells that are named with the repeats they need.
const MOST_NAMED: usize = 5;

/// The most runs that are counted.
const COUNTED: usize = 1_000_000;

/// A cell that is not precise enough.
struct Need {
    /// The settings that distinguish it; empty for the only cell.
    label: String,
    /// About how many repeats it would take in all.
    repeats: usize,
    /// How many of them are missing.
    missing: usize,
    /// How long these would take.
    seconds: Option<f64>,
}

/// Says that the precision was not reached, and what it would take at the spread that was seen: repeats for each cell, and
/// the time of all of them.
pub fn warn_of_precision(precision: Option<f64>, index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    screen.warn("requested precision not reached in every cell");
    let (mut needs, cells) = needs(precision.unwrap_or(0.0), index)?;
    if needs.is_empty() {
        return Ok(());
    }
    needs.sort_by_key(|need| std::cmp::Reverse(need.repeats));
    let named = needs.iter().take(MOST_NAMED).map(|need| match need.label.as_str() {
        "" => repeats(need.repeats),
        label => format!("{label} {}", repeats(need.repeats)),
    });
    let mut named = named.collect::<Vec<_>>().join(", ");
    if needs.len() > MOST_NAMED {
        named.push_str(&format!(" and {} more", needs.len() - MOST_NAMED));
    }
    let missing = needs.iter().fold(0, |all: usize, need| all.saturating_add(need.missing));
    let time = needs.iter().map(|need| need.seconds).sum::<Option<f64>>();
    let time = time.filter(|_| missing <= COUNTED);
    let time =
        time.map_or_else(String::new, |seconds| format!(", about {} one at a time", duration(seconds)));
    let missing = match missing > COUNTED {
        true => "more than a million more runs".to_owned(),
        false => counted(missing as u64, "more run"),
    };
    screen.say(&format!(
        "{} of {cells} cells need more at this spread: {named}; {missing} in all{time}",
        needs.len(),
    ));
    Ok(())
}

/// A number of repeats in words; beyond what anybody makes it says nothing.
fn repeats(count: usize) -> String {
    match count > COUNTED {
        true => "more than a million repeats".to_owned(),
        false => format!("about {count} repeats"),
    }
}

/// The planned cells that are not precise enough, and how many planned cells there are.
fn needs(precision: f64, index: &Index) -> anyhow::Result<(Vec<Need>, usize)> {
    let (evidence, _) = crate::answer::evidence(index, None)?;
    let walls = index.values(metric::WALL)?;
    let (varied, _) = split_settings(evidence.cells.iter().map(|cell| &cell.settings));
    let planned: Vec<_> = evidence.cells.iter().filter(|cell| cell.planned).collect();
    let need = |cell: &&assay_judge::CellEvidence| {
        let repeats = repeats_for(&cell.values, precision)?;
        let missing = repeats.saturating_sub(cell.values.len());
        let words = varied.iter().filter_map(|name| Some(format!("{name}={}", cell.settings.get(name)?)));
        let times: Vec<f64> = walls.get(&cell.cell).into_iter().flatten().map(|wall| wall.value).collect();
        let seconds = assay_judge::estimate::estimate(&times).map(|wall| wall.center * missing as f64);
        Some(Need { label: words.collect::<Vec<_>>().join(" "), repeats, missing, seconds })
    };
    Ok((planned.iter().filter_map(need).collect(), planned.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_nobody_reaches_are_not_shown() {
        assert_eq!(repeats(12), "about 12 repeats");
        assert_eq!(repeats(usize::MAX), "more than a million repeats");
    }
}
