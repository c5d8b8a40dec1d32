//! The pool under many joins, panics, nesting and more threads than cores.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::dispatch::{Isa, isa, with_isa};

/// Runs some tasks and checks that each was done once.
fn check(threads: &Threads, tasks: usize) {
    let done: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
    threads.run(tasks, |task| {
        done[task].fetch_add(1, Ordering::Relaxed);
    });
    assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
}

#[test]
fn every_task_is_done_once_for_any_count() {
    for count in [0, 1, 2, 3, 4, 7, 16] {
        let threads = Threads::new(count);
        assert_eq!(threads.count(), count.max(1));
        for tasks in [0, 1, 2, 3, 10, 1000] {
            check(&threads, tasks);
        }
    }
}

#[test]
fn many_joins_in_a_row() {
    let threads = Threads::new(2);
    let total = AtomicUsize::new(0);
    for round in 0..100_000 {
        threads.run(1 + round % 5, |_| {
            total.fetch_add(1, Ordering::Relaxed);
        });
    }
    assert_eq!(total.into_inner(), 300_000);
}

#[test]
fn joins_with_pauses_wake_sleeping_workers() {
    let threads = Threads::new(3);
    for round in 0..50 {
        std::thread::sleep(Duration::from_micros(round * 10));
        check(&threads, 7);
    }
}

#[test]
fn long_tasks_let_the_caller_sleep() {
    let threads = Threads::new(2);
    for _ in 0..20 {
        threads.run(2, |task| std::thread::sleep(Duration::from_millis(task as u64)));
    }
}

#[test]
fn more_threads_than_cores_still_finish_quickly() {
    let threads = Threads::new(64);
    for _ in 0..2000 {
        check(&threads, 64);
    }
}

#[test]
fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
    let threads = Threads::new(3);
    for bad in [0, 1, 50, 99] {
        let result = catch_unwind(AssertUnwindSafe(|| {
            threads.run(100, |task| assert!(task != bad, "task {task} is bad"));
        }));
        let message = result.unwrap_err();
        assert_eq!(message.downcast_ref::<String>().unwrap(), &format!("task {bad} is bad"));
        check(&threads, 100);
    }
}

#[test]
fn a_pool_used_inside_its_own_task_runs_there() {
    let threads = Threads::new(2);
    let total = AtomicUsize::new(0);
    threads.run(4, |_| {
        threads.run(5, |_| {
            total.fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(total.into_inner(), 20);
}

#[test]
fn several_callers_take_turns() {
    let threads = Threads::new(2);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| check(&threads, 5)));
        }
    });
}

#[test]
fn pools_are_dropped_cleanly() {
    for round in 0..200 {
        let threads = Threads::new(3);
        if round % 2 == 0 {
            check(&threads, 3);
        }
    }
}

#[test]
fn a_forced_path_travels_with_the_work() {
    let threads = Threads::new(3);
    with_isa(Isa::Plain, || {
        threads.run(50, |_| assert_eq!(isa(), Isa::Plain));
    });
    let usual = isa();
    threads.run(50, |_| assert_eq!(isa(), usual));
}

#[test]
fn parts_cover_a_buffer_without_overlap() {
    let threads = Threads::new(3);
    let (mut numbers, mut sizes) = (vec![0_usize; 103], vec![0_usize; 11]);
    let parts = (Chunks::new(&mut numbers, 10), Chunks::new(&mut sizes, 1));
    threads.run_parts(parts, |index, (numbers, size)| {
        numbers.iter_mut().for_each(|number| *number += index + 1);
        size[0] = numbers.len();
    });
    assert!(numbers.iter().enumerate().all(|(at, &number)| number == at / 10 + 1));
    assert_eq!(sizes[10], 3);
}

#[test]
#[should_panic(expected = "the same number of parts")]
fn parts_that_do_not_match_are_refused() {
    let (mut long, mut short) = (vec![0; 10], vec![0; 5]);
    let parts = (Chunks::new(&mut long, 1), Chunks::new(&mut short, 1));
    Threads::new(1).run_parts(parts, |_, _| ());
}

#[test]
fn items_per_task_is_never_zero_and_respects_the_least() {
    let threads = Threads::new(2);
    assert_eq!(threads.items_per_task(0, 0), 1);
    assert_eq!(threads.items_per_task(80, 1), 10);
    assert_eq!(threads.items_per_task(80, 64), 64);
    assert_eq!(Threads::new(1).items_per_task(80, 1), 80);
}
