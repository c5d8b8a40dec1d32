//! The instruction set of the built-in kernels: refused at the start if it was chosen by hand and cannot be used.

use assay_workloads::instructions::{self, InstructionSet, VARIABLE};

use crate::failure::Mistake;

/// Refuses a value of the environment variable that names no instruction set of this machine, whatever the command:
/// otherwise each run of a campaign would fail on its own.
pub fn check() -> Result<(), Mistake> {
    if std::env::var_os(VARIABLE).is_some() {
        instruction_set()?;
    }
    Ok(())
}

pub fn instruction_set() -> Result<InstructionSet, Mistake> {
    instructions::instruction_set().map_err(|error| Mistake::new(error.to_string(), error.hint()))
}

/// In words, one line each: the instruction set in use, and those that were rejected.
pub fn lines(set: &InstructionSet) -> Vec<String> {
    let by_hand = if set.chosen_by_hand { format!("chosen by {VARIABLE}, ") } else { String::new() };
    let used = format!("{} ({by_hand}self-check against plain: {})", set.name, set.self_check);
    let rejected = set
        .rejected
        .iter()
        .map(|rejected| format!("{} rejected, it differs from plain: {}", rejected.name, rejected.reason));
    std::iter::once(used).chain(rejected).collect()
}

#[cfg(test)]
mod tests {
    use assay_workloads::instructions::RejectedInstructionSet;

    use super::*;

    #[test]
    fn rejected_instruction_sets_are_listed_with_their_reason() {
        let reason = "matmul gives 1 instead of 2 (result 3)".to_owned();
        let set = InstructionSet {
            name: "avx2",
            chosen_by_hand: false,
            self_check: "passed earlier".to_owned(),
            rejected: vec![RejectedInstructionSet { name: "avx512", reason }],
        };
        assert_eq!(
            lines(&set),
            [
                "avx2 (self-check against plain: passed earlier)",
                "avx512 rejected, it differs from plain: matmul gives 1 instead of 2 (result 3)"
            ]
        );
    }
}
