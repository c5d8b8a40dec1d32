//! Which instruction sets passed their self-check, kept in a file for each processor model.
//!
//! The file is replaced as a whole by a rename, so that processes that start at once read either version; at worst one
//! of them compares again. A file that cannot be read, written or understood is the same as none.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers temporary files, so that threads do not share one.
static WRITES: AtomicU32 = AtomicU32::new(0);
/// More than any such file holds.
const MOST_BYTES: u64 = 1 << 14;
/// The lines of `/proc/cpuinfo` that name a processor model and its microcode.
const OF_PROCESSOR: [&str; 11] = [
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "stepping",
    "microcode",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "CPU revision",
];

pub(super) struct Cache {
    file: Option<PathBuf>,
    /// What the file must begin with: results of another build or processor do not count.
    head: String,
}

impl Cache {
    /// The cache in the user's cache directory, as the XDG base directory specification has it.
    pub(super) fn of_user() -> Cache {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        base.map_or_else(Cache::none, |base| Cache::at(base.join("assay")))
    }

    pub(super) fn at(directory: PathBuf) -> Cache {
        let (processor, build) = (processor(), build());
        // A different build replaces the file of the same processor, so that files do not pile up.
        let name = processor.bytes().fold(0, |hash, byte| assay_random::finalize(hash ^ u64::from(byte)));
        Cache {
            file: build.as_ref().map(|_| directory.join(format!("isa-{name:016x}"))),
            head: format!("{processor}{}\n", build.unwrap_or_default()),
        }
    }

    pub(super) fn none() -> Cache {
        Cache { file: None, head: String::new() }
    }

    /// The names of the instruction sets that passed.
    pub(super) fn passed(&self) -> Vec<String> {
        let text = self.file.as_ref().and_then(|file| {
            let mut text = String::new();
            fs::File::open(file).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
            Some(text)
        });
        let names = text.as_deref().and_then(|text| text.strip_prefix(self.head.as_str()));
        names.map(|names| names.lines().map(str::to_owned).collect()).unwrap_or_default()
    }

    /// Keeps the names of those that passed. A home that is read-only or full costs the next start a comparison.
    pub(super) fn keep(&self, passed: &[String]) {
        let Some(file) = &self.file else { return };
        let Some(directory) = file.parent() else { return };
        let mut temporary = OsString::from(file);
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        temporary.push(format!(".{}.{number}", std::process::id()));
        let text = format!("{}{}\n", self.head, passed.join("\n"));
        let written = fs::create_dir_all(directory)
            .and_then(|()| fs::write(&temporary, text))
            .and_then(|()| fs::rename(&temporary, file));
        if written.is_err() {
            let _nothing_more_to_do = fs::remove_file(&temporary);
        }
    }
}

/// The model of the first processor, a line for each thing that the system says about it.
fn processor() -> String {
    let mut text = Vec::new();
    // The first block comes first; on large machines the whole file takes longer to make than the comparison.
    if let Ok(file) = fs::File::open("/proc/cpuinfo") {
        let _part_is_enough = file.take(1 << 12).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let named = |line: &&str| line.split(':').next().is_some_and(|name| OF_PROCESSOR.contains(&name.trim()));
    text.lines()
        .take_while(|line| !line.trim().is_empty())
        .filter(named)
        .fold(std::env::consts::ARCH.to_owned() + "\n", |all, line| all + line + "\n")
}

/// What tells this build of the program from another of the same version: the length of the executable and when it was
/// written. None where the system does not say; then nothing is kept.
fn build() -> Option<String> {
    let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let written = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let library = if cfg!(feature = "openblas") { " openblas" } else { "" };
    Some(format!("assay {}{library} {} {}", env!("CARGO_PKG_VERSION"), file.len(), written.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_passed_is_kept_for_this_processor_and_build_only() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path().to_owned());
        assert!(cache.passed().is_empty());
        cache.keep(&names(&["avx512", "avx2"]));
        assert_eq!(cache.passed(), names(&["avx512", "avx2"]));
        let other = Cache { file: cache.file.clone(), head: format!("{}another build\n", cache.head) };
        assert!(other.passed().is_empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_damaged_file_counts_as_none() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path().to_owned());
        for damage in [b"\xff\xfe avx2\n".as_slice(), b"", b"avx2\n", &[0; 40_000]] {
            fs::write(cache.file.as_ref().unwrap(), damage).unwrap();
            assert!(cache.passed().is_empty());
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_does_no_harm() {
        let directory = tempfile::tempdir().unwrap();
        // A file where the directory should be: refused for the superuser too.
        fs::write(directory.path().join("assay"), "").unwrap();
        let cache = Cache::at(directory.path().join("assay"));
        cache.keep(&names(&["avx2"]));
        assert!(cache.passed().is_empty());
        Cache::none().keep(&names(&["avx2"]));
        assert!(Cache::none().passed().is_empty());
    }

    #[test]
    fn writers_at_once_always_leave_a_whole_file() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let cache = Cache::at(directory.path().to_owned());
                    for _ in 0..50 {
                        cache.keep(&names(&["avx2"]));
                        assert_eq!(cache.passed(), names(&["avx2"]));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
