//! `init`: write a commented example campaign.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use anyhow::Context;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Init;
use crate::screen::Screen;

/// Writes the example, never over an existing file unless asked to.
pub fn init(options: &Init, screen: &mut Screen) -> anyhow::Result<Exit> {
    let path = options.file.display();
    let mut how = OpenOptions::new();
    how.write(true).create(true).truncate(true);
    if !options.force {
        how.create_new(true);
    }
    let mut file = match how.open(&options.file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Mistake::new(format!("{path} exists already"), "`--force` overwrites it").into());
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Mistake::new(
                format!("cannot write {path}: no such directory"),
                "make the directory first",
            )
            .into());
        }
        opened => opened.with_context(|| format!("cannot write {path}"))?,
    };
    file.write_all(assay_campaign::EXAMPLE.as_bytes()).with_context(|| format!("cannot write {path}"))?;
    screen.say(&format!("wrote {path}"));
    screen.hint(&format!("`assay plan {path}` checks it, `assay run {path}` runs it"));
    Ok(Exit::Fine)
}
