//! What it would take to reach a precision that was requested and not reached.

use assay_judge::gather::split_settings;
use assay_judge::stopping::repeats_for;
use assay_model::metric;
use assay_report::number::{counted, duration};
use assay_store::Index;

use crate::screen::Screen;

/// The most cells that are named with the repeats they need.
const MOST_NAMED: usize = 5;

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
        "" => format!("about {} repeats", need.repeats),
        label => format!("{label} about {} repeats", need.repeats),
    });
    let mut named = named.collect::<Vec<_>>().join(", ");
    if needs.len() > MOST_NAMED {
        named.push_str(&format!(" and {} more", needs.len() - MOST_NAMED));
    }
    let missing: usize = needs.iter().map(|need| need.missing).sum();
    let time = needs.iter().map(|need| need.seconds).sum::<Option<f64>>();
    let time =
        time.map_or_else(String::new, |seconds| format!(", about {} one at a time", duration(seconds)));
    screen.say(&format!(
        "{} of {cells} cells need more at this spread: {named}; {} in all{time}",
        needs.len(),
        counted(missing as u64, "more run")
    ));
    Ok(())
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
