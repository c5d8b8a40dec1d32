//! The workload `mnist`: the cases in which goals are set.

use crate::engines::{CaseGoals, Contender, Effort, EngineCase};

/// Steps of an iteration.
pub const STEPS: usize = 20;

/// The cases in which goals are set, one for each batch size.
pub fn cases() -> Vec<EngineCase> {
    [8, 16, 32].map(case).into()
}

fn case(batch: usize) -> EngineCase {
    EngineCase {
        title: format!("batch {batch}"),
        workload: "mnist",
        settings: vec![format!("batch_size={batch}"), format!("steps_per_iteration={STEPS}")],
        torch_settings: Vec::new(),
        length,
        modes: &[Contender::EAGER, Contender::CHANNELS_LAST, Contender::COMPILE],
        drops_slower: false,
        copies: 2.0,
        goals: CaseGoals { most_time: 0.40, least_of_peak: None, most_memory: None },
    }
}

fn length(effort: &Effort) -> Vec<String> {
    let iterations = effort.warmup + effort.rounds;
    vec![format!("warmup={}", effort.warmup), format!("steps={}", iterations * STEPS)]
}
