//! Runs the same work on every rank of a data-parallel run.

use std::sync::mpsc::{Receiver, channel};

use crate::collective::{Collective, Single, processes, team};
use crate::{Emitter, WorkloadEnd, WorkloadError};

/// Threads of one of several ranks that share this many.
pub(crate) fn threads_of_task(threads: usize, tasks: usize) -> usize {
    (threads / tasks.max(1)).max(1)
}

/// Runs `work` on this many ranks. Where a launcher started a process for each of them, this process is one. Otherwise the
/// first is on this thread with the emitter, the others on threads of their own, with nobody to listen to them. The answer is that of the first rank, or the first error of any. `work` must call the
/// collective operations in the same order on every rank.
pub(crate) fn on_all(
    tasks: usize,
    emitter: &mut Emitter<'_>,
    work: impl Fn(&mut dyn Collective, &mut Emitter<'_>) -> Result<WorkloadEnd, WorkloadError> + Sync,
) -> Result<WorkloadEnd, WorkloadError> {
    if tasks <= 1 {
        return work(&mut Single::default(), emitter);
    }
    if processes::started().is_some() {
        return processes::with(|ranks| work(ranks, emitter));
    }
    let stop = emitter.stop_flag();
    let mut members = team(tasks).into_iter();
    let Some(mut first) = members.next() else { return work(&mut Single::default(), emitter) };
    std::thread::scope(|scope| {
        // A rank begins when all are there.
        let mut others = Vec::new();
        for mut member in members {
            let (go, begin) = channel();
            let work = &work;
            let silent = move || {
                if !start_signal(&begin) {
                    return Ok(WorkloadEnd::Stopped);
                }
                work(member.as_mut(), &mut Emitter::new(&mut |_| {}, stop))
            };
            let thread = std::thread::Builder::new().spawn_scoped(scope, silent).map_err(|error| {
                WorkloadError::Setting {
                    name: "tasks".to_owned(),
                    value: tasks.to_string(),
                    reason: format!("the system refused a thread for each of them: {error}"),
                    hint: None,
                }
            })?;
            others.push((go, thread));
        }
        for (go, _) in &others {
            // A rank that is gone already has ended by itself, and its answer says why.
            let _ = go.send(());
        }
        let mut ended = work(first.as_mut(), emitter);
        for (_, thread) in others {
            let other = thread.join().unwrap_or_else(|_| {
                Err(WorkloadError::EngineFailed {
                    engine: "native",
                    reason: "one of the tasks broke off".to_owned(),
                    hint: None,
                })
            });
            if let (Ok(_), Err(error)) = (&ended, other) {
                ended = Err(error);
            }
        }
        ended
    })
}

fn start_signal(begin: &Receiver<()>) -> bool {
    begin.recv().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    fn run(
        tasks: usize,
        work: impl Fn(&mut dyn Collective, &mut Emitter<'_>) -> Result<WorkloadEnd, WorkloadError> + Sync,
    ) -> (Result<WorkloadEnd, WorkloadError>, Vec<String>) {
        let (mut notes, stop) = (Vec::new(), AtomicBool::new(false));
        let mut emit = |events| {
            if let assay_model::WorkloadEvent::Note { text, .. } = events {
                notes.push(text);
            }
        };
        let ended = on_all(tasks, &mut Emitter::new(&mut emit, &stop), work);
        (ended, notes)
    }

    #[test]
    fn every_rank_works_and_only_the_first_is_heard() {
        for tasks in [1, 2, 5] {
            let ranks = Mutex::new(Vec::new());
            let (ended, notes) = run(tasks, |ranks_of, emitter| {
                ranks.lock().unwrap().push(ranks_of.rank());
                emitter.note(format!("rank {} of {}", ranks_of.rank(), ranks_of.size()));
                Ok(WorkloadEnd::Done)
            });
            let mut ranks = ranks.into_inner().unwrap();
            ranks.sort_unstable();
            assert_eq!(ranks, (0..tasks).collect::<Vec<_>>());
            assert_eq!(ended.unwrap(), WorkloadEnd::Done);
            assert_eq!(notes, [format!("rank 0 of {tasks}")]);
        }
    }

    #[test]
    fn the_error_of_any_rank_is_the_answer() {
        let (ended, _) = run(3, |ranks, _| {
            let wrong = ranks.rank() == 2;
            ranks.any(wrong);
            if wrong {
                Err(WorkloadError::Memory { what: "weights", bytes: 7 })
            } else {
                Ok(WorkloadEnd::Stopped)
            }
        });
        assert!(ended.unwrap_err().to_string().contains("weights"));
    }
}
