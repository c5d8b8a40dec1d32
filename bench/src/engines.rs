//! A built-in workload computed by the native engine beside PyTorch: peers that are separate processes, driven one
//! iteration each in turn.
//!
//! | file | holds |
//! |---|---|
//! | `peer.rs` | one process under the bench's control, and what it said |
//! | `contest.rs` | the rounds of one case |
//! | `result.rs` | the table and goals of a contest |

pub mod contest;
pub mod peer;
pub mod result;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;
use crate::rivals;

/// Threads of every peer.
pub const THREADS: usize = 2;

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    /// The name in tables.
    pub name: &'static str,
    /// The value of the setting `mode`; none for the native engine in any build.
    mode: Option<&'static str>,
}

impl Contender {
    /// The native engine.
    pub const NATIVE: Contender = Contender { name: "assay native", mode: None };
    /// Another build of the native engine.
    pub const OTHER_BUILD: Contender = Contender { name: "assay, other build", mode: None };
    /// PyTorch, operation by operation, attention written out.
    pub const EAGER: Contender = Contender { name: "torch eager", mode: Some("eager") };
    /// PyTorch with its fused attention.
    pub const SDPA: Contender = Contender { name: "torch sdpa", mode: Some("sdpa") };
    /// PyTorch with channels last.
    pub const CHANNELS_LAST: Contender =
        Contender { name: "torch channels last", mode: Some("channels_last") };
    /// PyTorch, compiled.
    pub const COMPILE: Contender = Contender { name: "torch compile", mode: Some("compile") };

    /// Whether it is PyTorch in one of its modes.
    pub fn is_torch(&self) -> bool {
        self.mode.is_some()
    }
}

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Rounds before those that count.
    pub warmup: usize,
    /// Rounds that count.
    pub rounds: usize,
    /// Whether all modes of PyTorch take part, or one.
    pub all_modes: bool,
}

/// What a contest must come to. The upper end of the interval of the time must be below PyTorch's in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseGoals {
    /// The largest ratio to the time of the fastest PyTorch.
    pub most_time: f64,
    /// The least share of the measured peak, in percent.
    pub least_of_peak: Option<f64>,
    /// The most memory beside weights, gradients and interpreter, as a share of PyTorch's.
    pub most_memory: Option<f64>,
}

/// What is computed.
#[derive(Debug, Clone)]
pub struct EngineCase {
    /// What it is called.
    pub title: String,
    /// The workload.
    pub workload: &'static str,
    /// Its settings, as they stand on a command line.
    pub settings: Vec<String>,
    /// Settings of PyTorch alone.
    pub torch_settings: Vec<String>,
    /// The settings that make a run as long as the effort asks for.
    pub length: fn(&Effort) -> Vec<String>,
    /// Modes of PyTorch, the one that stands for all in a quick run first.
    pub modes: &'static [Contender],
    /// Whether PyTorch's slower modes drop out after some rounds.
    pub drops_slower: bool,
    /// Copies of the weights that it cannot do without: the weights, and their gradients.
    pub copies: f64,
    /// What it must come to.
    pub goals: CaseGoals,
}

/// The length of a run for workloads that count iterations.
pub fn iterations(effort: &Effort) -> Vec<String> {
    vec![format!("warmup={}", effort.warmup), format!("iterations={}", effort.rounds)]
}

impl EngineCase {
    /// The command of a contender, with further settings.
    pub fn command(&self, place: &Place, python: Option<&Path>, who: Contender, more: &[String]) -> Command {
        let other = place.other_build.as_ref().filter(|_| who == Contender::OTHER_BUILD);
        let mut command = Command::new(other.unwrap_or(&place.assay));
        command.args(["work", self.workload]).args(&self.settings).arg(format!("threads={THREADS}"));
        if let (Some(mode), Some(python)) = (who.mode, python) {
            command.arg("engine=torch").arg(format!("mode={mode}"));
            command.arg(format!("python={}", python.display())).args(&self.torch_settings);
        }
        command.args(more);
        command
    }
}

/// A Python that has PyTorch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torch {
    /// The interpreter.
    pub python: PathBuf,
    /// The version of PyTorch.
    pub version: String,
}

impl Torch {
    /// Finds it where the other benches look for rivals; an error says what is missing and how to get it.
    pub fn find(place: &Place) -> Result<Torch, String> {
        const INSTALLATION: &str =
            "python3 -m venv VENV && VENV/bin/pip install torch, then ASSAY_BENCH_VENV=VENV";
        let missing = |reason: String| format!("missing: PyTorch ({reason}); to install: {INSTALLATION}");
        let python = rivals::find("python3", place).ok_or_else(|| missing("no python3".to_owned()))?;
        let output = Command::new(&python).args(["-c", "import torch; print(torch.__version__)"]).output();
        let output = output.map_err(|error| missing(error.to_string()))?;
        if !output.status.success() {
            let events = String::from_utf8_lossy(&output.stderr);
            return Err(missing(events.lines().last().unwrap_or("no reason given").to_owned()));
        }
        Ok(Torch { python, version: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
    }
}
