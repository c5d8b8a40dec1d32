//! `report`: write what a record says to a file.

use crate::answer::file;
use crate::exit::Exit;
use crate::options::Report;
use crate::records;
use crate::screen::Screen;

/// Writes a report in the format that the file's ending asks for.
pub fn report(options: &Report, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    let metrics: Vec<Option<&str>> = match options.metric.as_slice() {
        [] => vec![None],
        named => named.iter().map(|metric| Some(metric.as_str())).collect(),
    };
    match &options.output {
        None => screen.data(&file::text(&record, &index, &metrics, "md")?)?,
        Some(path) => file::write(&record, &index, &metrics, path, screen)?,
    }
    Ok(Exit::Fine)
}
