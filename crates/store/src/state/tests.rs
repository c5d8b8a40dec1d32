use assay_model::{Entry, SCHEMA_VERSION, Status};
use proptest::prelude::*;

use super::*;
use crate::sample::{any_entry, cell, exit, finished, launching, plan, record, run, session, started};

fn fold(entries: &[Entry]) -> JournalState {
    let mut state = JournalState::default();
    entries.iter().for_each(|entry| state.apply(entry));
    state
}

#[test]
fn a_run_is_open_from_launch_to_finish() {
    let first = run(1, 1, 1);
    let mut state = fold(&[record(), plan(&[1], &[]), launching(&first)]);
    assert_eq!(state.open_runs[&first].process, None);
    state.apply(&started(&first));
    assert_eq!(state.open_runs[&first].process.as_ref().unwrap().pid, 99);
    assert_eq!(state.counts(), StatusCounts { open: 1, ..StatusCounts::default() });
    state.apply(&finished(&first, Status::Succeeded, 8.0));
    assert!(state.open_runs.is_empty());
    assert_eq!(state.counts().succeeded, 1);
    let kept = state.run(&first.cell, 1).unwrap();
    assert_eq!(state.value(kept, "rate.train"), Some(8.0));
    assert_eq!(state.value(kept, "duration.wall"), Some(0.3));
    assert_eq!(state.value(kept, "nothing"), None);
    assert_eq!(state.directory(&first.cell, 1).unwrap(), "runs/0000000000000001@local/r1");
}

#[test]
fn a_result_counts_once() {
    let first = run(1, 1, 1);
    let (good, bad) = (finished(&first, Status::Succeeded, 8.0), finished(&first, exit(1), 9.0));
    let state = fold(&[record(), launching(&first), good, bad, launching(&first), started(&first)]);
    assert_eq!(state.repeated_results, 1);
    assert!(state.open_runs.is_empty());
    assert_eq!(state.run(&first.cell, 1).unwrap().status, Some(Status::Succeeded));
}

#[test]
fn the_newest_attempt_counts_in_whatever_order_results_come() {
    let (first, second) = (run(1, 1, 1), run(1, 1, 2));
    let mut state = fold(&[record(), launching(&first), launching(&second)]);
    assert_eq!(state.open_runs.len(), 2);
    state.apply(&finished(&second, Status::Succeeded, 2.0));
    for _ in 0..2 {
        state.apply(&finished(&first, exit(1), 1.0));
    }
    let kept = state.run(&cell(1), 1).unwrap();
    assert_eq!((kept.attempt, kept.status.clone()), (2, Some(Status::Succeeded)));
    assert_eq!(
        state.values(&cell(1), "rate.train").iter().map(|(_, value)| *value).collect::<Vec<_>>(),
        [2.0]
    );
    assert_eq!(
        (state.repeated_results, state.next_attempt(&cell(1), 1), state.next_attempt(&cell(1), 2)),
        (1, 3, 1)
    );
    state.apply(&launching(&run(1, 1, 3)));
    assert_eq!(state.counts(), StatusCounts { open: 1, ..StatusCounts::default() });
    state.apply(&finished(&second, Status::Succeeded, 2.0));
    assert_eq!(state.repeated_results, 2);
}

#[test]
fn dropped_cells_stay_and_can_return() {
    let first = run(1, 1, 1);
    let mut state =
        fold(&[record(), plan(&[1, 2], &[]), finished(&first, Status::Succeeded, 1.0), plan(&[3], &[1, 9])]);
    assert!(!state.cells[&cell(1)].planned && state.cells[&cell(3)].planned);
    assert_eq!((state.cells.len(), state.cells[&cell(1)].runs.len()), (3, 1));
    state.apply(&plan(&[1], &[]));
    assert!(state.cells[&cell(1)].planned);
    assert_eq!(state.plan.unwrap().seed, u64::MAX);
}

#[test]
fn sessions_are_counted_and_the_last_is_kept() {
    let state = fold(&[record(), session(1.0), session(2.0)]);
    assert_eq!((state.sessions, state.last_session.unwrap().at), (2, 2.0));
    assert_eq!(state.machine.unwrap().cpus, Some(2));
    assert_eq!((state.name.as_str(), state.schema, state.entries), ("nightly", SCHEMA_VERSION, 3));
}

proptest! {
    /// Whatever is written twice, as after a crash between write and acknowledgement, changes no result.
    #[test]
    fn repeating_results_changes_nothing_but_the_count(entries in prop::collection::vec(any_entry(), 0..40)) {
        let mut once = fold(&entries);
        let mut twice = JournalState::default();
        for entry in &entries {
            twice.apply(entry);
            if matches!(entry, Entry::Finished { .. }) {
                twice.apply(entry);
            }
        }
        once.entries = twice.entries;
        once.repeated_results = twice.repeated_results;
        prop_assert_eq!(once, twice);
    }
}
