//! `scrub`: remove secrets from a record.

use crate::exit::Exit;
use crate::options::Scrub;
use crate::records;
use crate::screen::Screen;

/// Rewrites the record without secrets and says what was removed.
pub fn scrub(options: &Scrub, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(Some(&options.record))?;
    let host = assay_launch::probe::machine().host;
    let summary = assay_store::scrub(record.directory(), &records::writer(String::new(), host))?;
    // Made here, so that the next command finds it.
    record.index()?;
    screen.say(&format!(
        "scrubbed {}: {} environment variables removed, {} texts masked, {} files of runs rewritten",
        records::shown(record.directory()),
        summary.variables,
        summary.texts,
        summary.files
    ));
    screen.hint("output that runs printed (stdout.log, stderr.log) is kept as it is; check it before sharing the record");
    Ok(Exit::Fine)
}
