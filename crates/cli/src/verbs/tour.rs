//! `tour`: a small real campaign that needs nothing but this program.

use std::path::Path;

use super::plan::assemble;
use super::run::carry_out;
use crate::exit::Exit;
use crate::options::Tour;
use crate::records;
use crate::screen::Screen;

/// The campaign, as it stands in `campaigns/tour.toml`.
const CAMPAIGN: &str = include_str!("../../../../campaigns/tour.toml");

/// Runs the tour; its record goes to `records/tour` in the current directory.
pub fn tour(options: &Tour, screen: &mut Screen) -> anyhow::Result<Exit> {
    let file = Path::new("tour.toml");
    let assembled = assemble(file, &records::parse(file, CAMPAIGN)?, options.how.record.as_deref())?;
    let exit = carry_out(&assembled, &options.how, screen)?;
    screen.hint("`assay show --runs` lists every run, `assay init` writes a campaign of your own");
    Ok(exit)
}
