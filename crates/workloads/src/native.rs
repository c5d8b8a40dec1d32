//! A run of the native engine, as far as it is the same for every workload: what is said before, the ranks, their
//! iterations, and what is said after.

use std::path::Path;
use std::time::Instant;

use assay_model::{Settings, Value, WorkloadEvent, names};

use crate::collective::processes;
use crate::memory::bytes_in_words;
use crate::process::{MemoryUse, anonymous_memory};
use crate::session::{self, IterationSchedule, TimedWork};
use crate::summary::{IterationSummary, WorkAmount};
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, ranks};

/// Reports every setting that is in effect, but those that mean nothing here.
pub(crate) fn report_settings(settings: Settings, elsewhere: &[&str], emitter: &mut Emitter<'_>) {
    const OF_TORCH: [&str; 2] = ["mode", "python"];
    // An empty text is a setting that is not in use.
    let unused = Value::from("");
    let tasks = settings.get("tasks").and_then(Value::number).unwrap_or(1.0) as usize;
    for (name, value) in settings {
        match name.as_str() {
            name if OF_TORCH.contains(&name) || elsewhere.contains(&name) => {}
            names::setting::PROFILE => emitter.setting(&name, Value::Switch(value != unused)),
            _ if value == unused => {}
            name => emitter.setting(name, value),
        }
    }
    emitter.setting(names::setting::PRECISION, "float32");
    if tasks > 1 {
        let ranks = if processes::started().is_some() { "mpi" } else { "threads" };
        emitter.setting("ranks", ranks);
    }
    emitter.setting("instructions", assay_kernels::instructions().as_str());
}

/// Memory that a run needs.
pub(crate) struct MemoryNeed {
    /// All of it, in bytes.
    pub(crate) total: u128,
    /// What it consists of, in words; empty where that says nothing.
    pub(crate) parts: String,
}

/// Whether the memory suffices; reports what is needed either way, and where it does not, what to do about it.
pub(crate) fn fits(
    need: &MemoryNeed,
    machine: &SeriesLimits,
    hint: impl FnOnce(u64) -> String,
    emitter: &mut Emitter<'_>,
) -> bool {
    let lacking = machine.memory_bytes.filter(|available| need.total > u128::from(*available));
    let refused = processes::with(|ranks| ranks.any(lacking.is_some()));
    match lacking {
        None if refused => {
            let reason = "it does not fit into the memory of another node".to_owned();
            emitter.emit(WorkloadEvent::DoesNotFit { reason, hint: None });
            false
        }
        Some(available) => {
            let parts = if need.parts.is_empty() { String::new() } else { format!(" ({})", need.parts) };
            let (total, free) = (bytes_in_words(need.total), bytes_in_words(u128::from(available)));
            let reason = format!("it needs {total}{parts}, and {free} are free");
            emitter.emit(WorkloadEvent::DoesNotFit { reason, hint: Some(hint(available)) });
            false
        }
        None => {
            emitter.value_in("memory.planned", need.total as f64, "B", None);
            true
        }
    }
}

/// When a run began, and what the process had taken by then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunStart {
    /// When.
    pub(crate) at: Instant,
    memory: Option<u64>,
}

impl RunStart {
    pub(crate) fn now() -> RunStart {
        RunStart { at: Instant::now(), memory: anonymous_memory() }
    }

    /// Reports that everything has been laid ready since.
    pub(crate) fn report_stage(&self, emitter: &mut Emitter<'_>) {
        let end_s = self.at.elapsed().as_secs_f64();
        emitter.emit(WorkloadEvent::Phase { name: "stage".to_owned(), start_s: 0.0, end_s });
    }

    /// How much memory this process has used since.
    pub(crate) fn memory_use(&self) -> MemoryUse {
        MemoryUse::of_this_process(self.memory)
    }
}

/// What all ranks of a run share.
pub(crate) struct NativeRun<'a> {
    pub(crate) began: RunStart,
    pub(crate) schedule: IterationSchedule,
    pub(crate) effort: WorkAmount,
    /// Where the trace goes, if there is one.
    pub(crate) profile: Option<&'a Path>,
}

impl NativeRun<'_> {
    /// Does the work of all ranks to its end. `prepare` makes the work of one of them, and reports how long that took.
    pub(crate) fn on_all<W: TimedWork>(
        &self,
        machine: &SeriesLimits,
        emitter: &mut Emitter<'_>,
        prepare: impl Fn(usize, &mut Emitter<'_>) -> Result<W, WorkloadError> + Sync,
    ) -> Result<WorkloadEnd, WorkloadError> {
        ranks::on_all(self.effort.tasks, emitter, |ranks, emitter| {
            let work = prepare(ranks.rank(), emitter);
            let refused = ranks.any(work.is_err());
            let mut work = work?;
            if refused {
                return Ok(WorkloadEnd::Stopped);
            }
            let mut summary = IterationSummary::default();
            summary.report_before(&self.effort, emitter);
            let began = self.began.at;
            let ended = session::iterate(&self.schedule, &mut work, ranks, began, &mut summary, emitter)?;
            let memory = self.began.memory_use().of_all(ranks);
            if ranks.rank() == 0 {
                self.finish(&mut work, ended, &summary, machine, emitter)?;
                memory.report(emitter);
                if matches!(ended, WorkloadEnd::Done | WorkloadEnd::Stopped) {
                    emitter.emit(WorkloadEvent::Done { steps: work.steps(summary.done()) });
                }
            }
            Ok(ended)
        })
    }

    /// Reports what all iterations together came to.
    fn finish(
        &self,
        work: &mut impl TimedWork,
        ended: WorkloadEnd,
        summary: &IterationSummary,
        machine: &SeriesLimits,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        work.close(ended, summary.done(), self.began.at, emitter)?;
        summary.report_after(&self.effort, machine.peak_flops, emitter);
        if let Some(path) = self.profile {
            work.profile().report(machine.peak_flops, summary.counted(), emitter);
            work.profile().write(path)?;
        }
        Ok(())
    }
}
