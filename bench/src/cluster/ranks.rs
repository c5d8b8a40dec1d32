//! Two MPI ranks against two threads of one process, on the same training.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

/// The training: a language model that computes for some hundredths of a second between two averages.
const TRAINING: [&str; 9] =
    ["work", "lm", "size=custom", "width=256", "layers=4", "heads=4", "hidden=704", "phase=step", "tasks=2"];

/// What a run of the training gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    pub tokens_per_s: f64,
    pub final_loss: f64,
}

/// Trains with two threads of one process.
pub fn threads(assay: &Path, iterations: u64) -> anyhow::Result<Trained> {
    trained(Command::new(assay).args(words(iterations)))
}

/// Trains with two MPI processes of one thread each.
pub fn processes(with_mpi: &Path, iterations: u64) -> anyhow::Result<Trained> {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", "2"]).arg(with_mpi);
    trained(command.args(words(iterations)))
}

fn words(iterations: u64) -> Vec<String> {
    let more = [format!("iterations={iterations}")];
    let fixed = ["vocabulary=4000", "context=128", "batch_size=4", "threads=2", "warmup=3"];
    TRAINING.into_iter().chain(fixed).map(str::to_owned).chain(more).collect()
}

fn trained(command: &mut Command) -> anyhow::Result<Trained> {
    let output = command.output().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let last = |metric: &str| {
        let is_it = |line: &&Value| line["metric"] == metric && line["step"].is_null();
        lines.iter().rfind(is_it).and_then(|line| line["value"].as_f64())
    };
    Ok(Trained {
        tokens_per_s: last("tokens_per_s").context("no tokens_per_s in the output")?,
        final_loss: last("loss.final").context("no loss.final in the output")?,
    })
}
