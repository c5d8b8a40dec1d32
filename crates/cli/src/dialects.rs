//! Dialects of the user's own: TOML files in `dialects/` beside the campaign or here, in the user's configuration
//! directory, and named on the command line.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use assay_evidence::user::{UserDialect, UserDialectFile};
use assay_evidence::vocabulary::Vocabulary;

use crate::failure::Mistake;

/// The directory that dialect files stand in.
const DIRECTORY: &str = "dialects";

/// The file among them that extends the vocabulary.
const VOCABULARY: &str = "vocabulary.toml";

/// The user's dialects: those named, those beside `here`, and those of the configuration directory. Of several with one
/// name the first counts.
pub fn find(here: &Path, named: &[PathBuf]) -> anyhow::Result<Vec<Arc<UserDialect>>> {
    let mut files = named.to_vec();
    let configuration = crate::registry::configuration_directory();
    for directory in
        [Some(here.join(DIRECTORY)), configuration.map(|path| path.join(DIRECTORY))].into_iter().flatten()
    {
        let Ok(listed) = std::fs::read_dir(&directory) else { continue };
        let mut found: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
        // A pipe would be waited for.
        let is_other = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| !found.is_file());
        found.retain(|path| path.extension().is_some_and(|ending| ending == "toml") && !is_other(path));
        found.sort();
        files.extend(found);
    }
    let is_vocabulary = |file: &PathBuf| file.file_name().is_some_and(|name| name == VOCABULARY);
    if let Some(file) = files.iter().find(|file| is_vocabulary(file)) {
        extend_vocabulary(file)?;
    }
    files.retain(|file| !is_vocabulary(file));
    let mut dialects: Vec<Arc<UserDialect>> = Vec::new();
    for file in files {
        let dialect = load(&file)?;
        if dialects.iter().all(|known| known.name() != dialect.name()) {
            dialects.push(Arc::new(dialect));
        }
    }
    Ok(dialects)
}

/// Adds the words of a file to the vocabulary, once for the process.
fn extend_vocabulary(path: &Path) -> anyhow::Result<()> {
    static DONE: OnceLock<PathBuf> = OnceLock::new();
    if DONE.get().is_some_and(|done| done == path) {
        return Ok(());
    }
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the vocabulary {}", path.display()))?;
    Vocabulary::extend(&text).map_err(|error| {
        Mistake::new(
            format!("{} is not a vocabulary: {}", path.display(), error.to_string().trim()),
            "docs/reading.md shows how a vocabulary is written",
        )
    })?;
    DONE.get_or_init(|| path.to_owned());
    Ok(())
}

fn load(path: &Path) -> anyhow::Result<UserDialect> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the dialect {}", path.display()))?;
    let wrong = |why: String| {
        Mistake::new(
            format!("{} is not a dialect: {why}", path.display()),
            "docs/dialects/README.md shows how a dialect is written",
        )
    };
    let file: UserDialectFile =
        toml::from_str(&text).map_err(|error| wrong(error.to_string().trim().to_owned()))?;
    if assay_evidence::dialect(&file.name).is_some() {
        return Err(wrong(format!("there is a built-in dialect named `{}`", file.name)).into());
    }
    UserDialect::new(file).map_err(|error| wrong(error.to_string()).into())
}
