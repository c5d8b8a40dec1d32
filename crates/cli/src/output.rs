//! Output files: `-o FILE` chooses the format by the ending of the file's name.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_model::untrusted;
use serde::Serialize;

use crate::failure::Mistake;
use crate::screen::Screen;

/// The ending of a file's name; empty without one.
pub fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// Refuses to write over what a command reads, and over the files of records. To be asked before anything is done.
pub fn protect(outputs: &[PathBuf], inputs: &[&Path]) -> Result<(), Mistake> {
    let identity = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    for output in outputs {
        refuse_record(output)?;
        let same = |input: &Path| identity(output).is_some_and(|output| identity(input) == Some(output));
        if inputs.iter().any(|input| same(input)) {
            let text = format!("cannot write {}: it is one of the files to read", output.display());
            return Err(Mistake::new(text, "name another file with `-o`"));
        }
    }
    Ok(())
}

/// Refuses a file that a record consists of.
pub fn refuse_record(path: &Path) -> Result<(), Mistake> {
    if assay_store::belongs_to_record(path) {
        let text = format!("cannot write {}: the file belongs to a record", path.display());
        return Err(Mistake::new(text, "name another file with `-o`"));
    }
    if path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1) {
        let text = format!("cannot write {}: the file has other names (hard links)", path.display());
        return Err(Mistake::new(text, "name another file with `-o`: one of them may belong to a record"));
    }
    Ok(())
}

/// Opens a file for output. A path that cannot be opened is a usage error, unlike a disk that fills up later.
pub fn create(path: &Path) -> Result<File, Mistake> {
    refuse_record(path)?;
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

/// The text of a JSON file. What strangers wrote is in it, so nothing in it may steer a terminal.
pub fn json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(format!("{}\n", untrusted::json(&text)))
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
