//! The logs that are read: three large ones, and many small ones.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

/// A log on disk.
#[derive(Debug, Clone)]
pub struct Log {
    /// The kind of sample.
    pub kind: &'static str,
    /// Its file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

/// The kinds of large logs.
pub const LARGE: [&str; 3] = ["cerebras", "tqdm", "prose"];

/// The kinds of small logs; each file holds at least one run.
pub const SMALL: [&str; 8] =
    ["cerebras", "poptorch", "sambanova", "tqdm", "hugging-face", "megatron", "nanogpt", "vllm-bench"];

/// The length of a small log.
const SMALL_BYTES: u64 = 4096;

/// Writes a log of about this many bytes.
pub fn make(directory: &Path, kind: &'static str, bytes: u64, seed: u64) -> anyhow::Result<Log> {
    let path = directory.join(format!("{kind}-{}.log", bytes / 1_000_000));
    write(&path, kind, &BTreeMap::new(), bytes, seed)?;
    let log = Log { kind, bytes: fs::metadata(&path)?.len(), path };
    ensure!(log.bytes.abs_diff(bytes) < bytes / 10, "the {kind} log has {} bytes, not {bytes}", log.bytes);
    Ok(log)
}

fn write(
    path: &Path,
    kind: &str,
    options: &BTreeMap<String, String>,
    bytes: u64,
    seed: u64,
) -> anyhow::Result<()> {
    let file = File::create(path).with_context(|| format!("cannot make {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    assay_samples::write(kind, options, seed, Some(bytes), &mut out)?;
    out.flush()?;
    Ok(())
}

/// Reads a log once, so that it is in memory for all who read it after.
pub fn warm(log: &Log) -> anyhow::Result<()> {
    io::copy(&mut File::open(&log.path)?, &mut io::sink())?;
    Ok(())
}

/// Writes many small logs of several kinds, a hundred to a directory.
pub fn make_small(directory: &Path, count: usize) -> anyhow::Result<()> {
    // A bar of the usual 200 steps would be four times as long as the other files.
    let short_bars = BTreeMap::from([("steps".to_owned(), "40".to_owned())]);
    for (index, kind) in SMALL.iter().cycle().take(count).enumerate() {
        let options = if *kind == "tqdm" { &short_bars } else { &BTreeMap::new() };
        let folder = directory.join(format!("{:03}", index / 100));
        fs::create_dir_all(&folder)?;
        write(&folder.join(format!("{index:05}.log")), kind, options, SMALL_BYTES, index as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_have_about_the_length_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        for kind in LARGE {
            let log = make(directory.path(), kind, 2_000_000, 1).unwrap();
            assert!(log.bytes > 1_800_000, "{kind} {}", log.bytes);
        }
    }

    #[test]
    fn small_logs_are_small_and_of_all_kinds() {
        let directory = tempfile::tempdir().unwrap();
        make_small(directory.path(), 120).unwrap();
        let files =
            |folder: &str| fs::read_dir(directory.path().join(folder)).unwrap().flatten().collect::<Vec<_>>();
        assert_eq!((files("000").len(), files("001").len()), (100, 20));
        for file in files("000") {
            let bytes = file.metadata().unwrap().len();
            assert!((2_000..9_000).contains(&bytes), "{:?} {bytes}", file.path());
        }
    }
}
