//! The instruction set that the native engine uses on this machine, and why.

use assay_kernels::selection::{self, SelectionError, SelfCheck};
use serde::Serialize;

/// The environment variable that chooses an instruction set by hand.
pub use assay_kernels::selection::VARIABLE;

/// The instruction set in use, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstructionSet {
    pub name: &'static str,
    /// Whether the environment variable chose it.
    pub chosen_by_hand: bool,
    /// How it was compared with the plain one.
    pub self_check: String,
    /// Better ones that this machine supports and that differ from the plain one.
    pub rejected: Vec<RejectedInstructionSet>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RejectedInstructionSet {
    pub name: &'static str,
    pub reason: String,
}

/// The instruction set that the kernels use; compares it with the plain one if that was not done before.
pub fn instruction_set() -> Result<InstructionSet, &'static SelectionError> {
    let selection = selection::selection().as_ref()?;
    let self_check = match selection.check {
        SelfCheck::Unneeded => "not needed".to_owned(),
        SelfCheck::Cached => "passed earlier".to_owned(),
        SelfCheck::Passed(time) => format!("passed, took {:.1} ms", time.as_secs_f64() * 1e3),
    };
    Ok(InstructionSet {
        name: selection.isa.name(),
        chosen_by_hand: selection.by_hand,
        self_check,
        rejected: selection
            .rejected
            .iter()
            .map(|rejected| RejectedInstructionSet {
                name: rejected.isa.name(),
                reason: rejected.reason.clone(),
            })
            .collect(),
    })
}
