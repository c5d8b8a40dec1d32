//! The names of files in a record.

use std::path::{Path, PathBuf};

use assay_model::RunId;

/// The journal: the truth.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// Locked by the one writer; its text says who that is.
pub(crate) const LOCK: &str = "lock";
/// The derived index.
pub(crate) const INDEX: &str = "index.sqlite";
/// Locked by whoever makes or extends the index.
pub(crate) const INDEX_LOCK: &str = "index.lock";
/// Length, change times and checksum of the index and its journal, as of the last time the index was written.
pub(crate) const INDEX_CHECK: &str = "index.check";
/// The result of a run in its run directory: the line of the journal that acknowledges it.
pub(crate) const RESULT: &str = "result.jsonl";
/// The script of a run, in its directory or in that of its cell.
pub const SCRIPT: &str = "run.sh";
/// The directory of run directories.
pub(crate) const RUNS: &str = "runs";

/// The directory of a scheduler's submissions.
pub(crate) const JOBS: &str = "jobs";

/// Whether a file is one that a record consists of, so that nothing else may be written in its place: the journal and
/// what belongs to it, and everything of runs and submissions. Links are followed.
pub fn belongs_to_record(path: &Path) -> bool {
    let Some(real) = real(path) else { return false };
    let is_record = |directory: &Path| directory.join(JOURNAL).is_file();
    let named = |names: &[&str], path: &Path| {
        path.file_name().is_some_and(|file| names.iter().any(|name| file == *name))
            && path.parent().is_some_and(is_record)
    };
    named(&[JOURNAL, LOCK, INDEX, INDEX_LOCK, INDEX_CHECK], &real)
        || real.ancestors().skip(1).any(|directory| named(&[RUNS, JOBS], directory))
}

/// The place of a file behind all links, whether the file exists or not.
fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(parent.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    })
}

/// Where the run directory of a run belongs, relative to its record: `runs/3f2a91c04b1d77e2@local/r3`.
/// Characters that could leave the directory or trouble a shell are written as `%` and their hexadecimal code, so
/// different cells never share a directory.
pub fn relative_run_directory(run: &RunId) -> String {
    let cell = run.cell.to_string();
    let mut name = String::with_capacity(cell.len());
    for byte in cell.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'@' | b'-' | b'_' | b'.' => {
                name.push(char::from(byte))
            }
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{RUNS}/{name}/{}", run.leaf())
}

/// The run that a run directory belongs to, by the names of its last two path components; none for a directory that
/// this program would not have made.
pub(crate) fn run_of_directory(cell: &str, leaf: &str) -> Option<RunId> {
    let mut bytes = Vec::with_capacity(cell.len());
    let mut rest = cell.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, behind) = match (first, tail) {
            (b'%', [_, _, behind @ ..]) => {
                let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
                (u8::from_str_radix(digits, 16).ok()?, behind)
            }
            (byte, behind) => (*byte, behind),
        };
        bytes.push(byte);
        rest = behind;
    }
    let run: RunId = format!("{}/{leaf}", String::from_utf8(bytes).ok()?).parse().ok()?;
    (run.leaf() == leaf).then_some(run)
}

/// The run directory inside a record. The relative path comes from a journal, which may come from a stranger:
/// parts that would lead out of the record are left out.
pub fn run_directory(record: &Path, relative: &str) -> PathBuf {
    let mut path = record.to_path_buf();
    path.extend(relative.split('/').filter(|part| !matches!(*part, "" | "." | "..")));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_records_are_known_also_behind_links() {
        let place = tempfile::tempdir().unwrap();
        let record = place.path().join("record");
        std::fs::create_dir_all(record.join("runs/a/r1")).unwrap();
        std::fs::write(record.join(JOURNAL), "").unwrap();
        std::os::unix::fs::symlink("record/journal.jsonl", place.path().join("link.jsonl")).unwrap();
        let belongs = |name: &str| belongs_to_record(&place.path().join(name));
        for name in ["record/journal.jsonl", "record/runs/a/r1/new.csv", "record/index.sqlite", "link.jsonl"]
        {
            assert!(belongs(name), "{name}");
        }
        for name in ["record/report.html", "journal.jsonl", "runs/a.csv", "nowhere/a.csv"] {
            assert!(!belongs(name), "{name}");
        }
    }

    #[test]
    fn run_directories_stay_inside_the_record() {
        let run: RunId = "3f2a91c04b1d77e2@local/r3.2".parse().unwrap();
        assert_eq!(relative_run_directory(&run), "runs/3f2a91c04b1d77e2@local/r3.2");
        let odd: RunId = "aa@../my cluster/r1".parse().unwrap();
        assert_eq!(relative_run_directory(&odd), "runs/aa@..%2fmy%20cluster/r1");
        for run in [run, odd] {
            let relative = relative_run_directory(&run);
            let (cell, leaf) = relative["runs/".len()..].split_once('/').unwrap();
            assert_eq!(run_of_directory(cell, leaf), Some(run));
        }
        assert_eq!(run_of_directory("aa@local", "r01"), None);
        assert_eq!(run_of_directory("aa@%zz", "r1"), None);
        assert_eq!(run_directory(Path::new("record"), "/../runs/./a/r1"), Path::new("record/runs/a/r1"));
    }
}
