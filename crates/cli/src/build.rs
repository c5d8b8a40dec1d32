//! Which build of the measured programs runs. A record that is resumed after a rebuild would mix two programs in one
//! median; the version alone does not show that.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_campaign::Plan;
use assay_launch::tools;
use assay_model::identity::hash_text;

/// The version of this program, which files the runs execute, and their fingerprint:
/// `0.1.0 build 3f9a12c0.4d5e6b71c04d5e6b`.
pub fn of_plan(plan: &Plan) -> anyhow::Result<String> {
    let files: Vec<PathBuf> = match plan.is_built_in() {
        true => vec![std::env::current_exe().context("cannot find the path of this program")?],
        false => plan.programs().iter().filter_map(|name| file(name, plan.directory())).collect(),
    };
    let prints: Vec<String> = files.iter().filter_map(|path| fingerprint(path)).collect();
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let version = env!("CARGO_PKG_VERSION");
    Ok(format!("{version} build {}.{}", short(&names, 8), short(&prints, 16)))
}

fn short(lines: &[String], digits: usize) -> String {
    let mut hash = hash_text(&lines.join("\n"));
    hash.truncate(digits);
    hash
}

/// Whether the same programs were built again between two records of a build. An edited command that starts other
/// programs is not a rebuild. Records of earlier versions hold the version alone.
pub fn differs(earlier: &str, now: &str) -> bool {
    let Some((_, before)) = earlier.split_once(" build ") else { return false };
    let other_files = match (before.split_once('.'), now.rsplit_once('.')) {
        (Some((names, _)), Some((rest, _))) => !rest.ends_with(names),
        _ => false,
    };
    earlier != now && !other_files
}

/// The file that a command's first word starts.
fn file(name: &str, directory: &Path) -> Option<PathBuf> {
    if name.contains('/') { Some(directory.join(name)) } else { tools::program(name) }
}

/// Size and timestamp change with every build, and reading them costs nothing.
fn fingerprint(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(format!("{} {} {}.{:09}", path.display(), metadata.size(), metadata.mtime(), metadata.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rebuilt_file_has_another_fingerprint() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        std::fs::write(&path, "a").unwrap();
        let before = fingerprint(&path);
        std::fs::write(&path, "ab").unwrap();
        assert!(before.is_some() && before != fingerprint(&path));
        assert!(differs("0.1.0 build a", "0.1.0 build b") && !differs("0.1.0", "0.1.0 build b"));
        assert!(
            differs("0.1.0 build a.1", "0.1.0 build a.2") && !differs("0.1.0 build a.1", "0.1.0 build a.1")
        );
        assert!(!differs("0.1.0 build a.1", "0.1.0 build b.2"), "another command is no rebuild");
        assert_eq!(fingerprint(Path::new("/nonexistent")), None);
    }
}
