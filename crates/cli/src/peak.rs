//! The peak of this machine: its highest rates of arithmetic and memory, measured once and cached. Built-in workloads
//! report their rates as a share of it.

use std::path::PathBuf;

use anyhow::Context;
use assay_workloads::peak::{self, Peak};

use crate::records;
use crate::registry;
use crate::screen::Screen;

/// The peak of this machine with this number of threads, if it was measured before.
pub fn cached(threads: usize) -> Option<Peak> {
    let text = std::fs::read_to_string(file(threads)?).ok()?;
    let peak: Peak = serde_json::from_str(&text).ok()?;
    // Home directories are shared between machines; another processor or instruction set has another peak.
    let same = peak.processor == peak::processor() && peak.path == peak::instruction_set();
    (same && peak.threads == threads).then_some(peak)
}

/// Measures the machine and caches the result.
pub fn measure(threads: usize, screen: &mut Screen) -> anyhow::Result<Peak> {
    screen.say("measuring the peak of this machine; this takes a few seconds");
    let peak = peak::measure(threads);
    if let Some(path) = file(threads)
        && let Err(error) = write(&path, &peak)
    {
        screen.warn(&format!("cannot write {}: {error}", records::shown(&path)));
    }
    Ok(peak)
}

fn write(path: &std::path::Path, peak: &Peak) -> anyhow::Result<()> {
    let directory = path.parent().context("no parent directory")?;
    std::fs::create_dir_all(directory)?;
    // Written aside and renamed: a reader never sees half a file.
    let aside = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&aside, serde_json::to_string_pretty(peak)?)?;
    Ok(std::fs::rename(&aside, path)?)
}

/// The cache file of this processor.
fn file(threads: usize) -> Option<PathBuf> {
    let name: String = peak::processor()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    Some(registry::cache_directory()?.join(format!("peak-{name}-{threads}.json")))
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
