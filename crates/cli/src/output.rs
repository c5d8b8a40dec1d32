//! Output files: `-o FILE` chooses the format by the ending of the file's name.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;

use crate::failure::Mistake;
use crate::screen::Screen;

/// The ending of a file's name; empty without one.
pub fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// Opens a file for output. A path that cannot be opened is a usage error, unlike a disk that fills up later.
pub fn create(path: &Path) -> Result<File, Mistake> {
    File::create(path).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Mistake {
    let hint = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "create the directory first",
        io::ErrorKind::IsADirectory => "name a file in it",
        _ => "choose another file",
    };
    Mistake::new(format!("cannot write {}: {error}", path.display()), hint)
}

/// Writes a whole file.
pub fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = create(path)?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file and says so.
pub fn write(path: &Path, text: &str, screen: &mut Screen) -> anyhow::Result<()> {
    put(path, text)?;
    screen.say(&format!("wrote {}", path.display()));
    Ok(())
}
