//! Output files: `-o FILE` chooses the format by the ending of the file's name.

use std::path::Path;

use anyhow::Context;

use crate::screen::Screen;

/// The ending of a file's name; empty without one.
pub fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// Writes a file and says so.
pub fn write(path: &Path, text: &str, screen: &mut Screen) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    screen.say(&format!("wrote {}", path.display()));
    Ok(())
}
