//! What computes workloads, and adapters to other runtimes.

pub mod torch;

/// What computes a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// This program.
    Native,
    /// A PyTorch that is installed here.
    Torch,
}
