//! The workload `lm` of the native engine beside that of PyTorch: peers that are separate processes, driven one
//! iteration each in turn.
//!
//! | file | holds |
//! |---|---|
//! | `peer.rs` | one process under the bench's control, and what it said |
//! | `contest.rs` | the rounds of one size and phase |
//! | `result.rs` | the tables and goals of a contest |
//! | `start.rs` | how long it takes from the start to the first iteration |

pub mod contest;
pub mod peer;
pub mod result;
pub mod start;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;
use crate::rivals;

/// Threads of every peer.
pub const THREADS: usize = 2;
/// Sequences of an iteration.
pub const BATCH: usize = 4;
/// Tokens of a sequence.
pub const CONTEXT: usize = 128;

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// The native engine.
    Native,
    /// PyTorch, operation by operation, attention written out.
    Eager,
    /// PyTorch with its fused attention.
    Sdpa,
    /// PyTorch with its fused attention, compiled.
    Compile,
}

impl Contender {
    /// All of them.
    pub const ALL: [Contender; 4] =
        [Contender::Native, Contender::Eager, Contender::Sdpa, Contender::Compile];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Native => "assay native",
            Contender::Eager => "torch eager",
            Contender::Sdpa => "torch sdpa",
            Contender::Compile => "torch compile",
        }
    }

    /// The value of the setting `mode`; none for the native engine.
    fn mode(self) -> Option<&'static str> {
        match self {
            Contender::Native => None,
            Contender::Eager => Some("eager"),
            Contender::Sdpa => Some("sdpa"),
            Contender::Compile => Some("compile"),
        }
    }
}

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// The size of the model.
    pub size: &'static str,
    /// The phase.
    pub phase: &'static str,
    /// The largest ratio to the fastest PyTorch.
    pub most: f64,
}

impl Case {
    /// The cases in which goals are set.
    pub const ALL: [Case; 4] = [
        Case { size: "small", phase: "forward", most: 0.95 },
        Case { size: "small", phase: "forward_backward", most: 0.90 },
        Case { size: "medium", phase: "forward", most: 0.95 },
        Case { size: "medium", phase: "forward_backward", most: 0.90 },
    ];

    /// Copies of the weights that it cannot do without: the weights, and their gradients.
    fn copies(&self) -> f64 {
        if self.phase == "forward" { 1.0 } else { 2.0 }
    }

    /// The command of a contender, with further settings.
    fn command(&self, place: &Place, python: Option<&Path>, who: Contender, more: &[String]) -> Command {
        let mut command = Command::new(&place.assay);
        command.args(["work", "lm"]);
        command.arg(format!("size={}", self.size)).arg(format!("phase={}", self.phase));
        command.arg(format!("threads={THREADS}"));
        command.arg(format!("batch_size={BATCH}")).arg(format!("context={CONTEXT}"));
        if let (Some(mode), Some(python)) = (who.mode(), python) {
            command.arg("engine=torch").arg(format!("mode={mode}"));
            command.arg(format!("python={}", python.display()));
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
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(missing(told.lines().last().unwrap_or("no reason given").to_owned()));
        }
        Ok(Torch { python, version: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
    }
}
