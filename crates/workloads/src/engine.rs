//! What computes workloads, and adapters to other runtimes.

pub mod torch;

use crate::WorkloadError;
use crate::settings::{Checked, wrong};

/// What computes a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// This program.
    Native,
    /// A PyTorch that is installed here.
    Torch,
}

impl EngineKind {
    /// The engine that the settings name, if it can do what they ask for.
    pub(crate) fn read(checked: &Checked) -> Result<EngineKind, WorkloadError> {
        let (tasks, device) = (checked.count("tasks"), checked.text("device"));
        match checked.text("engine") {
            "torch" if tasks > 1 => {
                let error = wrong("tasks", &tasks, "the engine `torch` runs as one task");
                Err(error.or_hint("use engine = native"))
            }
            "torch" => Ok(EngineKind::Torch),
            _ if device != "cpu" => {
                let error = wrong("device", &device, "the native engine computes on the CPU only");
                Err(error.or_hint("use engine = torch for other devices"))
            }
            _ => Ok(EngineKind::Native),
        }
    }
}
