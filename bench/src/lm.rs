//! The workload `lm`: the cases in which goals are set, and how long it takes to begin.
//!
//! | file | holds |
//! |---|---|
//! | `start.rs` | how long it takes from the start to the first iteration |

pub mod start;

use crate::engines::{CaseGoals, Contender, EngineCase, iterations};

/// Sequences of an iteration.
pub const BATCH: usize = 4;
/// Tokens of a sequence.
pub const CONTEXT: usize = 128;

/// The cases in which goals are set, those of the small model first.
pub fn cases() -> Vec<EngineCase> {
    let phases = |size| [case(size, "forward", 1.0, 0.95), case(size, "forward_backward", 2.0, 0.90)];
    [phases("small"), phases("medium")].concat()
}

fn case(size: &str, phase: &str, copies: f64, most_time: f64) -> EngineCase {
    EngineCase {
        title: format!("{size} {phase}"),
        workload: "lm",
        settings: vec![
            format!("size={size}"),
            format!("phase={phase}"),
            format!("batch_size={BATCH}"),
            format!("context={CONTEXT}"),
        ],
        torch_settings: Vec::new(),
        length: iterations,
        modes: &[Contender::SDPA, Contender::EAGER, Contender::COMPILE],
        // Rounds of a large model are long.
        drops_slower: size != "small",
        copies,
        goals: CaseGoals { most_time, least_of_peak: Some(70.0), most_memory: Some(0.6) },
    }
}
