//! Dialects of the user's own: TOML files in `dialects/` beside the campaign or here, in the user's configuration
//! directory, and named on the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use assay_evidence::user::{UserDialect, UserDialectFile};

use crate::failure::Mistake;

/// The directory that dialect files stand in.
const DIRECTORY: &str = "dialects";

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
        found.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        found.sort();
        files.extend(found);
    }
    let mut dialects: Vec<Arc<UserDialect>> = Vec::new();
    for file in files {
        let dialect = load(&file)?;
        if dialects.iter().all(|known| known.name() != dialect.name()) {
            dialects.push(Arc::new(dialect));
        }
    }
    Ok(dialects)
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
