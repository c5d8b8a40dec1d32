//! A run of the native engine, as far as it is the same for every workload: what is said before, the ranks, their
//! iterations, and what is said after.

use std::path::Path;
use std::time::Instant;

use assay_model::{Settings, Told, Value, names};

use crate::memory::bytes_in_words;
use crate::process::{anonymous_memory, tell_memory};
use crate::session::{self, Course, Work};
use crate::summary::{Effort, Summary};
use crate::{Ended, Limits, Outlet, WorkloadError, ranks};

/// Tells every setting that is in force, but those that mean nothing here.
pub(crate) fn tell_settings(settings: Settings, elsewhere: &[&str], outlet: &mut Outlet<'_>) {
    const OF_TORCH: [&str; 2] = ["mode", "python"];
    // An empty text is a setting that is not in use.
    let unused = Value::from("");
    for (name, value) in settings {
        match name.as_str() {
            name if OF_TORCH.contains(&name) || elsewhere.contains(&name) => {}
            names::setting::PROFILE => outlet.setting(&name, Value::Switch(value != unused)),
            _ if value == unused => {}
            name => outlet.setting(name, value),
        }
    }
    outlet.setting(names::setting::PRECISION, "float32");
    outlet.setting("instructions", assay_kernels::instructions().as_str());
}

/// Memory that a run needs.
pub(crate) struct Need {
    /// All of it, in bytes.
    pub(crate) total: u128,
    /// What it consists of, in words; empty where that says nothing.
    pub(crate) parts: String,
}

/// Whether the memory suffices; tells what is needed either way, and where it does not, what to do about it.
pub(crate) fn fits(
    need: &Need,
    machine: &Limits,
    hint: impl FnOnce(u64) -> String,
    outlet: &mut Outlet<'_>,
) -> bool {
    match machine.memory_bytes.filter(|available| need.total > u128::from(*available)) {
        Some(available) => {
            let parts = if need.parts.is_empty() { String::new() } else { format!(" ({})", need.parts) };
            let (total, free) = (bytes_in_words(need.total), bytes_in_words(u128::from(available)));
            let reason = format!("it needs {total}{parts}, and {free} are free");
            outlet.tell(Told::DoesNotFit { reason, hint: Some(hint(available)) });
            false
        }
        None => {
            outlet.value_in("memory.planned", need.total as f64, "B", None);
            true
        }
    }
}

/// When a run began, and what the process had taken by then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    /// When.
    pub(crate) at: Instant,
    memory: Option<u64>,
}

impl Began {
    /// Now.
    pub(crate) fn now() -> Began {
        Began { at: Instant::now(), memory: anonymous_memory() }
    }

    /// Tells that everything has been laid ready since.
    pub(crate) fn tell_stage(&self, outlet: &mut Outlet<'_>) {
        let end_s = self.at.elapsed().as_secs_f64();
        outlet.tell(Told::Phase { name: "stage".to_owned(), start_s: 0.0, end_s });
    }

    /// Tells how much memory has been used since.
    pub(crate) fn tell_memory(&self, outlet: &mut Outlet<'_>) {
        tell_memory(self.memory, outlet);
    }
}

/// What all ranks of a run share.
pub(crate) struct Run<'a> {
    pub(crate) began: Began,
    pub(crate) course: Course,
    pub(crate) effort: Effort,
    /// Where the trace goes, if there is one.
    pub(crate) profile: Option<&'a Path>,
}

impl Run<'_> {
    /// Does the work of all ranks to its end. `prepare` makes the work of one of them, and tells how long that took.
    pub(crate) fn on_all<W: Work>(
        &self,
        machine: &Limits,
        outlet: &mut Outlet<'_>,
        prepare: impl Fn(usize, &mut Outlet<'_>) -> Result<W, WorkloadError> + Sync,
    ) -> Result<Ended, WorkloadError> {
        ranks::on_all(self.effort.tasks, outlet, |ranks, outlet| {
            let work = prepare(ranks.rank(), outlet);
            let refused = ranks.any(work.is_err());
            let mut work = work?;
            if refused {
                return Ok(Ended::Stopped);
            }
            let mut summary = Summary::default();
            summary.tell_before(&self.effort, outlet);
            let began = self.began.at;
            let ended = session::iterate(&self.course, &mut work, ranks, began, &mut summary, outlet)?;
            if ranks.rank() == 0 {
                self.finish(&mut work, ended, &summary, machine, outlet)?;
            }
            Ok(ended)
        })
    }

    /// Tells what all iterations together came to.
    fn finish(
        &self,
        work: &mut impl Work,
        ended: Ended,
        summary: &Summary,
        machine: &Limits,
        outlet: &mut Outlet<'_>,
    ) -> Result<(), WorkloadError> {
        work.close(ended, summary.done(), self.began.at, outlet)?;
        summary.tell_after(&self.effort, machine.peak_flops, outlet);
        self.began.tell_memory(outlet);
        if let Some(path) = self.profile {
            work.profile().tell(machine.peak_flops, summary.counted(), outlet);
            work.profile().write(path)?;
        }
        if matches!(ended, Ended::Done | Ended::Stopped) {
            outlet.tell(Told::Done { steps: work.steps(summary.done()) });
        }
        Ok(())
    }
}
