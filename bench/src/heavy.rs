//! A run that prints much: whether storing and reading its output slows the run that is measured.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::measure::{Cost, cost, cost_with_output};
use crate::place::Place;

/// Bytes that a run prints.
pub const BYTES: usize = 50_000_000;

/// What one round measured.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// The command with its output in a file, without assay. `cat` lets the kernel copy file to file there, so this is
    /// less than any program needs that sees when output comes.
    pub to_file: Cost,
    /// The command with its output stored by `| cat >file`: the least that a reader of the pipe can take.
    pub piped: Cost,
    /// The same command as a run: what its record says.
    pub as_run: Cost,
    /// All of `assay run`, which also reads the output.
    pub whole: Cost,
}

/// Measures all ways in turn.
pub fn rounds(place: &Place, count: usize) -> anyhow::Result<Vec<Round>> {
    let directory = place.fresh("heavy")?;
    let log = directory.join("log.txt");
    write_log(&log)?;
    fs::write(
        directory.join("campaign.toml"),
        "name = \"heavy\"\n[workload]\ncommand = \"cat log.txt\"\n[repeats]\nat_least = 1\n",
    )?;
    (0..count).map(|number| round(place, &directory, number)).collect()
}

fn round(place: &Place, directory: &Path, number: usize) -> anyhow::Result<Round> {
    let copy = format!("copy-{number}.txt");
    let shell = |pipeline: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{pipeline} >{copy}")]).current_dir(directory);
        let cost = cost(&mut command)?;
        fs::remove_file(directory.join(&copy))?;
        anyhow::Ok(cost)
    };
    let to_file = shell("cat log.txt")?;
    let piped = shell("cat log.txt | cat")?;
    let record = format!("record-{number}");
    let whole =
        cost_with_output(place.assay(directory).args(["run", "campaign.toml", "--record", &record]), &[0])?;
    let kept = directory.join(&record).join("runs");
    let stored = stored_bytes(&kept)?;
    ensure!(stored as usize >= BYTES, "only {stored} bytes of the output were kept");
    let as_run = recorded(place, directory, &record)?;
    fs::remove_dir_all(directory.join(&record))?;
    Ok(Round { to_file, piped, as_run, whole })
}

fn stored_bytes(runs: &Path) -> anyhow::Result<u64> {
    let mut paths: Vec<PathBuf> = vec![runs.to_owned()];
    let mut bytes = 0;
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                paths.push(entry?.path());
            }
        } else if path.ends_with("stdout.log") {
            bytes += fs::metadata(&path)?.len();
        }
    }
    Ok(bytes)
}

fn recorded(place: &Place, directory: &Path, record: &str) -> anyhow::Result<Cost> {
    let sql = "select wall_s, user_s + system_s from run";
    let output = place.assay(directory).args(["query", sql, record, "--csv"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().nth(1).with_context(|| format!("no run in {text:?}"))?;
    let (wall, cpu) = line.split_once(',').context("no two columns")?;
    Ok(Cost { cpu_s: cpu.trim().parse()?, wall_s: wall.trim().parse()? })
}

fn write_log(path: &Path) -> anyhow::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let (mut step, mut bytes) = (0, 0);
    while bytes < BYTES {
        let line = format!(
            "step {step} loss {:.6} throughput {} samples/s\n",
            3.0 - f64::from(step) * 1e-6,
            900 + step % 97
        );
        bytes += line.len();
        step += 1;
        out.write_all(line.as_bytes())?;
    }
    Ok(out.flush()?)
}
