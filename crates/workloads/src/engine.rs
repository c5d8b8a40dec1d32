//! What computes workloads, and adapters to other runtimes.

pub mod torch;

use crate::WorkloadError;
use crate::collective::processes;
use crate::settings::{CheckedSettings, wrong};

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
    pub(crate) fn read(checked: &CheckedSettings) -> Result<EngineKind, WorkloadError> {
        let (tasks, device) = (checked.count("tasks"), checked.text("device"));
        match checked.text("engine") {
            "torch" if processes::started().is_some() => {
                let error = wrong("engine", &"torch", "it starts a process for every task itself");
                Err(error.or_hint("start one process: without srun or mpirun"))
            }
            "torch" if tasks > 1 && device != "cpu" => {
                let error =
                    wrong("tasks", &tasks, "several tasks of the engine `torch` compute on the CPU only");
                Err(error.or_hint("use device = cpu, or one task"))
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
