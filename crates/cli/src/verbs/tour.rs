//! `tour`: small real campaigns that need nothing but this program.

use std::path::{Path, PathBuf};

use crate::execute::{assemble, run_and_print};
use crate::exit::Exit;
use crate::options::Tour;
use crate::records;
use crate::screen::Screen;

/// The campaigns, as they stand in `campaigns/`: what the first one adds to a record's name is nothing.
const CAMPAIGNS: [(&str, &str); 5] = [
    ("", include_str!("../../../../campaigns/tour.toml")),
    ("-lm", include_str!("../../../../campaigns/tour-lm.toml")),
    ("-chat", include_str!("../../../../campaigns/tour-chat.toml")),
    ("-bert", include_str!("../../../../campaigns/tour-bert.toml")),
    ("-mnist", include_str!("../../../../campaigns/tour-mnist.toml")),
];

/// Runs the tour; its records go to `records/tour`, `records/tour-lm` and so on in the current directory.
pub fn tour(options: &Tour, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut exit = Exit::Fine;
    for (part, text) in CAMPAIGNS {
        let file = PathBuf::from(format!("tour{part}.toml"));
        let record = options.how.record.as_deref().map(|record| named(record, part));
        let campaign = records::parse(&file, text)?;
        let record = records::of_campaign(&file, &campaign.name, record.as_deref());
        let assembled = assemble(&campaign, record)?;
        exit = run_and_print(&assembled, &options.how, screen)?;
        if exit != Exit::Fine {
            break;
        }
        screen.say("");
    }
    screen.hint("`assay show --runs` lists every run, `assay init` writes a campaign of your own");
    Ok(exit)
}

/// A record's directory with an addition to its name.
fn named(record: &Path, part: &str) -> PathBuf {
    let name = record.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    record.with_file_name(format!("{name}{part}"))
}
