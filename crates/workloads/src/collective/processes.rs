//! Whether a launcher (mpirun, srun) started this process as one of several, and the ranks that these are.
//!
//! Without a word from the launcher a process is alone, and its tasks are its threads. A build without MPI that is started
//! several times refuses to run: every process would make the whole run for itself.

use crate::collective::{Collective, Single};
use crate::{Emitter, WorkloadError};

/// How a launcher started this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Started {
    /// Processes in all.
    pub(crate) processes: usize,
    /// Those on this node.
    pub(crate) on_this_node: usize,
}

/// Variables with the number of all processes: of Open MPI, of PMI, and of a step of Slurm.
const PROCESSES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
/// Variables with the number of processes on this node.
const ON_THIS_NODE: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];

impl Started {
    /// Threads of all processes together, where this many are on a node or a launcher says how many each may have.
    pub(crate) fn threads(&self, on_a_node: usize) -> usize {
        let each = std::env::var("SLURM_CPUS_PER_TASK").ok().and_then(|cpus| cpus.parse::<usize>().ok());
        match each {
            Some(each) => each.saturating_mul(self.processes),
            None => on_a_node.saturating_mul(self.processes.div_ceil(self.on_this_node.max(1))),
        }
    }
}

/// What the environment says; none where this process is alone.
pub(crate) fn started() -> Option<Started> {
    started_as(|name| std::env::var(name).ok())
}

fn started_as(variable: impl Fn(&str) -> Option<String>) -> Option<Started> {
    let number = |name: &&str| variable(name)?.trim().parse::<usize>().ok();
    let processes = PROCESSES.iter().find_map(number).filter(|processes| *processes > 1)?;
    // Slurm says how many tasks are on each node, as in `2(x3),1`: the first number is that of most nodes.
    let by_slurm = || {
        let list = variable("SLURM_STEP_TASKS_PER_NODE")?;
        list.split(['(', ',']).next()?.trim().parse::<usize>().ok()
    };
    let on_this_node = ON_THIS_NODE.iter().find_map(number).or_else(by_slurm).unwrap_or(processes);
    Some(Started { processes, on_this_node })
}

/// How many of a run's tasks share the memory of this node.
pub(crate) fn tasks_on_this_node(tasks: usize) -> usize {
    started().map_or(tasks, |started| started.on_this_node.min(tasks))
}

/// Bytes that taking means over this many tasks needs: MPI has a second buffer for every gradient, threads use their own.
pub(crate) fn averaging_bytes(tasks: usize, parameters: u128) -> u128 {
    if started().is_some() { 4 * tasks_on_this_node(tasks) as u128 * parameters } else { 0 }
}

/// Whether a run with this many tasks can be made by the processes that were started.
pub(crate) fn check(started: Started, tasks: usize) -> Result<(), WorkloadError> {
    let Started { processes, .. } = started;
    let wrong = |reason: String, hint: String| WorkloadError::Setting {
        name: "tasks".to_owned(),
        value: tasks.to_string(),
        reason,
        hint: Some(hint),
    };
    if tasks != processes {
        let reason = format!("{processes} processes were started, and each is one task");
        return Err(wrong(reason, format!("set tasks = {processes}, or start {tasks} processes")));
    }
    if cfg!(not(feature = "mpi")) {
        let reason = format!("{processes} processes were started, and this build has no MPI");
        let hint = "build with `--features mpi`, or start one process: its tasks are threads".to_owned();
        return Err(wrong(reason, hint));
    }
    Ok(())
}

/// Joins the other processes, where there are any; to be left by [`leave`].
#[cfg(feature = "mpi")]
pub(crate) fn join() -> Result<(), WorkloadError> {
    super::mpi::join()
}

/// Joins the other processes.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join() -> Result<(), WorkloadError> {
    Ok(())
}

/// Runs `work` with the ranks of this process: those that were joined, or itself alone.
pub(crate) fn with<R>(work: impl FnOnce(&mut dyn Collective) -> R) -> R {
    #[cfg(feature = "mpi")]
    let work = match super::mpi::with(work) {
        Ok(done) => return done,
        Err(work) => work,
    };
    work(&mut Single::default())
}

/// Leaves the other processes, when all of them have come to their end.
pub(crate) fn leave() {
    #[cfg(feature = "mpi")]
    super::mpi::leave();
}

/// Reports an error of this process alone, and ends all processes: the others wait for it.
pub(crate) fn give_up(error: &WorkloadError, emitter: &mut Emitter<'_>) {
    let rank = with(|ranks| ranks.rank());
    emitter.emit(assay_model::WorkloadEvent::Failed {
        reason: format!("rank {rank}: {error}"),
        hint: error.hint(),
    });
    #[cfg(feature = "mpi")]
    super::mpi::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_variables(variables: &[(&str, &str)]) -> Option<Started> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        started_as(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_are_understood() {
        let started = |processes, on_this_node| Some(Started { processes, on_this_node });
        assert_eq!(with_variables(&[]), None);
        assert_eq!(with_variables(&[("OMPI_COMM_WORLD_SIZE", "1")]), None);
        let mpirun = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "2")];
        assert_eq!(with_variables(&mpirun), started(4, 2));
        let srun = [("SLURM_STEP_NUM_TASKS", "6"), ("SLURM_STEP_TASKS_PER_NODE", "2(x3)")];
        assert_eq!(with_variables(&srun), started(6, 2));
        // The script of a job is one process, however many tasks the job may start.
        assert_eq!(with_variables(&[("SLURM_NTASKS", "6"), ("SLURM_NPROCS", "6")]), None);
        assert_eq!(with_variables(&[("PMI_SIZE", "3")]), started(3, 3));
    }

    #[test]
    fn processes_that_are_not_the_tasks_are_refused() {
        let error = check(Started { processes: 2, on_this_node: 2 }, 4).unwrap_err();
        assert!(error.to_string().contains("2 processes were started"), "{error}");
        let as_many = check(Started { processes: 4, on_this_node: 2 }, 4);
        assert_eq!(as_many.is_ok(), cfg!(feature = "mpi"));
    }
}
