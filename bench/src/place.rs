//! Where a bench works, and the binary it measures.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use tempfile::TempDir;

/// Options that every bench has.
#[derive(Debug, Clone, clap::Args)]
pub struct BenchOptions {
    /// Answer within a minute, with less work. Shows the direction, proves nothing.
    #[arg(long)]
    pub quick: bool,
    /// Where to work; a directory is made there and removed at the end. What a sync costs depends on the disk.
    /// The default is `bench` in the build directory.
    #[arg(long, value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// The binary to measure; the default is the one built beside this bench.
    #[arg(long, value_name = "FILE")]
    pub assay: Option<PathBuf>,
}

/// A place to work in, removed when dropped.
#[derive(Debug)]
pub struct Place {
    work: TempDir,
    /// The binary to measure.
    pub assay: PathBuf,
    /// Another build of it that takes part where engines are compared.
    pub other_build: Option<PathBuf>,
    /// The directory for what outlives a bench, such as installed rivals.
    pub lasting: PathBuf,
}

impl Place {
    /// Makes the place and finds the binary.
    pub fn new(options: &BenchOptions) -> anyhow::Result<Place> {
        let own = env::current_exe().context("cannot find the path of this bench")?;
        let beside = own.parent().context("this bench has no directory")?;
        let built = beside.parent().unwrap_or(beside).join("bench");
        let lasting = options.directory.clone().unwrap_or(built);
        fs::create_dir_all(&lasting).with_context(|| format!("cannot make {}", lasting.display()))?;
        let lasting = lasting.canonicalize()?;
        let work = tempfile::Builder::new().prefix("work-").tempdir_in(&lasting)?;
        let assay = options.assay.clone().unwrap_or_else(|| beside.join("assay"));
        ensure!(
            assay.is_file(),
            "no binary {}: build it with `cargo build --release -p assay`",
            assay.display()
        );
        Ok(Place { work, assay: assay.canonicalize()?, other_build: None, lasting })
    }

    /// A fresh directory. Nothing is removed before the end: file systems pay for removals late, and the bill would
    /// go to whoever is measured next.
    pub fn fresh(&self, name: &str) -> anyhow::Result<PathBuf> {
        let directory = tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(self.work.path())?;
        Ok(directory.keep())
    }

    /// A command of the measured binary, in a directory.
    pub fn assay(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.assay);
        command.current_dir(directory);
        command
    }
}

/// What is measured, on what, and when: the head of every bench's output.
pub fn heading(bench: &str, options: &BenchOptions, place: &Place) -> String {
    let version = Command::new(&place.assay).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let kind = if options.quick { ", quick: less work, proves nothing" } else { "" };
    format!(
        "bench/{bench}{kind}\n{} on {}, {} cores, {} free, {}\n",
        version.unwrap_or_else(|error| error.to_string()),
        cpu_model().unwrap_or_else(|| "an unknown CPU".to_owned()),
        std::thread::available_parallelism().map_or(1, usize::from),
        idle_share().map_or_else(|| "unknown".to_owned(), |share| format!("{:.0} % of them", share * 100.0)),
        file_system(&place.lasting).unwrap_or_else(|| "unknown file system".to_owned()),
    )
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The share of CPU time that nobody wants just now, over a fifth of a second.
fn idle_share() -> Option<f64> {
    let sample = || -> Option<(f64, f64)> {
        let text = fs::read_to_string("/proc/stat").ok()?;
        let ticks: Vec<f64> = text.lines().next()?.split_whitespace().skip(1).flat_map(str::parse).collect();
        Some((ticks.iter().take(8).sum(), ticks.get(3)? + ticks.get(4)?))
    };
    let (total, idle) = sample()?;
    std::thread::sleep(std::time::Duration::from_millis(200));
    let (later_total, later_idle) = sample()?;
    Some((later_idle - idle) / (later_total - total).max(1.0))
}

/// The type of the file system that holds a path: the one mounted at its longest prefix.
fn file_system(path: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let mut fields = line.split_whitespace().skip(1);
        let (Some(point), Some(kind)) = (fields.next(), fields.next()) else { continue };
        if path.starts_with(point) && best.is_none_or(|(length, _)| point.len() >= length) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_described() {
        assert!(idle_share().unwrap() <= 1.0);
        assert!(file_system(Path::new("/proc/self")).unwrap().contains("proc"));
    }
}
