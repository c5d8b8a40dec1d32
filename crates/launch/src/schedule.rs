//! Which run comes next. Every cell gets its first repeat before any gets its second, so that a drift of the machine
//! touches all cells alike; beyond the least number of repeats only cells that are not precise enough go on. Cells that
//! are to be run less often drop out when they have had their repeats, and are never repeated for precision.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use assay_judge::stopping::{Repeats, is_precise, needs_more};

/// Which runs are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunSelection {
    /// Those that are missing.
    #[default]
    Missing,
    /// Those that failed or timed out, again; nothing else.
    Failed,
}

/// One cell as the schedule sees it.
#[derive(Debug, Clone, Default)]
pub struct CellProgress {
    /// Repeats that need no further attempt.
    pub done: BTreeSet<u32>,
    /// Repeats that failed or timed out.
    pub failed: BTreeSet<u32>,
    /// The headline's values over succeeded runs.
    pub values: Vec<f64>,
    /// How often it is run, if that is less often than the other cells: so often, and never more.
    pub fewer: Option<u32>,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Start this repeat of this cell.
    Run {
        /// The cell's index in the plan.
        cell: usize,
        /// The repeat, from 1.
        repeat: u32,
    },
    /// Wait for a running run to end.
    Wait,
    /// Nothing is left.
    Done,
}

/// The schedule of one campaign.
pub struct RunSchedule<'a> {
    /// The order of cells in a round.
    order: &'a dyn Fn(u32) -> Vec<usize>,
    repeats: Repeats,
    budget: Option<Duration>,
    began: Instant,
    cells: Vec<CellProgress>,
    only: RunSelection,
    /// Cells that are worked on together: all of them, or one after the other.
    blocks: VecDeque<BTreeSet<usize>>,
    round: u32,
    queue: VecDeque<(usize, u32)>,
    running: usize,
}

impl<'a> RunSchedule<'a> {
    /// Makes the schedule. `by_cells` finishes one cell before the next starts.
    pub fn new(
        cells: Vec<CellProgress>,
        order: &'a dyn Fn(u32) -> Vec<usize>,
        by_cells: bool,
        repeats: Repeats,
        budget: Option<Duration>,
        only: RunSelection,
    ) -> RunSchedule<'a> {
        let blocks = match by_cells {
            true => order(1).into_iter().map(|cell| BTreeSet::from([cell])).collect(),
            false => VecDeque::from([(0..cells.len()).collect()]),
        };
        let began = Instant::now();
        let (round, running) = (0, 0);
        let queue = VecDeque::new();
        let mut schedule =
            RunSchedule { order, repeats, budget, began, cells, only, blocks, round, queue, running };
        if only == RunSelection::Failed {
            schedule.blocks.clear();
            schedule.queue = schedule.failed_runs();
        }
        schedule
    }

    /// How many runs are certain to come; precision may ask for more.
    pub fn certain(&self) -> usize {
        if self.only == RunSelection::Failed {
            return self.queue.len();
        }
        let missing = |cell: &CellProgress| {
            let least = cell.fewer.unwrap_or(self.repeats.at_least);
            (1..=least).filter(|repeat| !cell.done.contains(repeat)).count()
        };
        self.cells.iter().map(missing).sum()
    }

    /// What to do next.
    pub fn take_next(&mut self) -> Next {
        loop {
            if let Some((cell, repeat)) = self.queue.pop_front() {
                self.running += 1;
                return Next::Run { cell, repeat };
            }
            let Some(block) = self.blocks.front() else { return Next::Done };
            let wanting = if self.round < self.repeats.at_least {
                block.clone()
            } else if self.running > 0 {
                // Whether more is needed is known only when all that runs has ended.
                return Next::Wait;
            } else {
                block.iter().copied().filter(|cell| self.wants_more(*cell)).collect()
            };
            if wanting.is_empty() {
                self.blocks.pop_front();
                self.round = 0;
                continue;
            }
            self.round += 1;
            self.queue = self.fill(&wanting);
        }
    }

    /// A run of an earlier coordinator goes on.
    pub fn adopt(&mut self, cell: usize, repeat: u32) {
        self.running += 1;
        if let Some(progress) = self.cells.get_mut(cell) {
            progress.done.insert(repeat);
        }
    }

    /// A run ended for good, with its value of the headline if it succeeded and has one.
    pub fn ended(&mut self, cell: usize, repeat: u32, value: Option<f64>) {
        self.running = self.running.saturating_sub(1);
        if let Some(progress) = self.cells.get_mut(cell) {
            progress.done.insert(repeat);
            progress.values.extend(value);
        }
    }

    /// A run was stopped and will be run again another time.
    pub fn stopped(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Whether every cell is as precise as asked; true if no precision was asked. It is not asked of cells that are run
    /// less often than the others.
    pub fn is_precise(&self) -> bool {
        self.cells.iter().all(|cell| cell.fewer.is_some() || is_precise(&cell.values, &self.repeats))
    }

    fn fill(&self, wanting: &BTreeSet<usize>) -> VecDeque<(usize, u32)> {
        let missing = |progress: &CellProgress| {
            !progress.done.contains(&self.round) && progress.fewer.is_none_or(|repeats| self.round <= repeats)
        };
        let wanted = |cell: &usize| wanting.contains(cell) && self.cells.get(*cell).is_some_and(missing);
        (self.order)(self.round).into_iter().filter(wanted).map(|cell| (cell, self.round)).collect()
    }

    fn wants_more(&self, cell: usize) -> bool {
        let spent = self.budget.is_some_and(|budget| self.began.elapsed() >= budget);
        let open = |progress: &&CellProgress| !spent && progress.fewer.is_none();
        let Some(progress) = self.cells.get(cell).filter(open) else { return false };
        let runs = u32::try_from(progress.done.len()).unwrap_or(u32::MAX);
        self.round < self.repeats.at_most && needs_more(&progress.values, runs, &self.repeats)
    }

    fn failed_runs(&self) -> VecDeque<(usize, u32)> {
        let mut runs = VecDeque::new();
        let most = self.cells.iter().filter_map(|cell| cell.failed.last()).max().copied().unwrap_or(0);
        for round in 1..=most {
            for cell in (self.order)(round) {
                if self.cells.get(cell).is_some_and(|progress| progress.failed.contains(&round)) {
                    runs.push_back((cell, round));
                }
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(_: u32) -> Vec<usize> {
        vec![1, 0, 2]
    }

    fn fixed(at_least: u32) -> Repeats {
        Repeats { at_least, at_most: at_least, precision: None }
    }

    /// Runs the schedule to its end; every run gives the value that `value` says.
    fn run_all(schedule: &mut RunSchedule<'_>, value: impl Fn(usize, u32) -> f64) -> Vec<(usize, u32)> {
        let mut runs = Vec::new();
        loop {
            match schedule.take_next() {
                Next::Run { cell, repeat } => {
                    runs.push((cell, repeat));
                    schedule.ended(cell, repeat, Some(value(cell, repeat)));
                }
                Next::Wait => panic!("nothing is running"),
                Next::Done => return runs,
            }
        }
    }

    #[test]
    fn rounds_interleave_all_cells() {
        let cells = vec![CellProgress::default(); 3];
        let mut schedule = RunSchedule::new(cells, &order, false, fixed(2), None, RunSelection::Missing);
        assert_eq!(schedule.certain(), 6);
        let runs = run_all(&mut schedule, |_, _| 1.0);
        assert_eq!(runs, [(1, 1), (0, 1), (2, 1), (1, 2), (0, 2), (2, 2)]);
    }

    #[test]
    fn by_cells_finishes_one_cell_first() {
        let cells = vec![CellProgress::default(); 3];
        let mut schedule = RunSchedule::new(cells, &order, true, fixed(2), None, RunSelection::Missing);
        let runs = run_all(&mut schedule, |_, _| 1.0);
        assert_eq!(runs, [(1, 1), (1, 2), (0, 1), (0, 2), (2, 1), (2, 2)]);
    }

    #[test]
    fn what_is_done_is_not_done_again() {
        let mut cells = vec![CellProgress::default(); 3];
        cells[1].done = BTreeSet::from([1, 2]);
        cells[0].done = BTreeSet::from([2]);
        let mut schedule = RunSchedule::new(cells, &order, false, fixed(2), None, RunSelection::Missing);
        assert_eq!(schedule.certain(), 3);
        assert_eq!(run_all(&mut schedule, |_, _| 1.0), [(0, 1), (2, 1), (2, 2)]);
    }

    #[test]
    fn only_the_noisy_cell_goes_on() {
        let repeats = Repeats { at_least: 10, at_most: 14, precision: Some(0.02) };
        let noisy = |cell: usize, repeat: u32| if cell == 2 { f64::from(repeat % 5) + 1.0 } else { 1.0 };
        let cells = vec![CellProgress::default(); 3];
        let mut schedule = RunSchedule::new(cells, &order, false, repeats, None, RunSelection::Missing);
        let runs = run_all(&mut schedule, noisy);
        assert_eq!(runs.len(), 34);
        assert!(runs[30..].iter().all(|(cell, _)| *cell == 2));
        assert!(!schedule.is_precise());
    }

    #[test]
    fn a_spent_budget_stops_extra_repeats_only() {
        let repeats = Repeats { at_least: 2, at_most: 50, precision: Some(0.0) };
        let cells = vec![CellProgress::default(); 3];
        let budget = Some(Duration::ZERO);
        let mut schedule = RunSchedule::new(cells, &order, false, repeats, budget, RunSelection::Missing);
        assert_eq!(run_all(&mut schedule, |_, repeat| f64::from(repeat)).len(), 6);
    }

    #[test]
    fn a_cell_with_fewer_repeats_drops_out_and_is_never_repeated_for_precision() {
        let repeats = Repeats { at_least: 10, at_most: 14, precision: Some(0.02) };
        let noisy = |cell: usize, repeat: u32| if cell == 2 { 1.0 } else { f64::from(repeat % 5) + 1.0 };
        for by_cells in [false, true] {
            let mut cells = vec![CellProgress::default(); 3];
            cells[1].fewer = Some(2);
            let mut schedule =
                RunSchedule::new(cells, &order, by_cells, repeats, None, RunSelection::Missing);
            assert_eq!(schedule.certain(), 22);
            let runs = run_all(&mut schedule, noisy);
            let of_cell = |cell: usize| runs.iter().filter(|(found, _)| *found == cell).count();
            assert_eq!([of_cell(0), of_cell(1), of_cell(2)], [14, 2, 10]);
            let start = if by_cells { [(1, 1), (1, 2), (0, 1)] } else { [(1, 1), (0, 1), (2, 1)] };
            assert_eq!(runs[..3], start);
        }
    }

    #[test]
    fn precision_is_not_asked_of_a_cell_with_fewer_repeats() {
        let repeats = Repeats { at_least: 10, at_most: 12, precision: Some(0.02) };
        let noisy = |cell: usize, repeat: u32| if cell == 1 { f64::from(repeat) } else { 1.0 };
        let mut cells = vec![CellProgress::default(); 3];
        cells[1] = CellProgress { fewer: Some(3), done: BTreeSet::from([1, 7]), ..CellProgress::default() };
        let mut schedule = RunSchedule::new(cells, &order, false, repeats, None, RunSelection::Missing);
        assert_eq!(schedule.certain(), 22);
        let runs = run_all(&mut schedule, noisy);
        let of_cell: Vec<u32> = runs.iter().filter(|run| run.0 == 1).map(|run| run.1).collect();
        assert_eq!(of_cell, [2, 3]);
        assert!(schedule.is_precise());
    }

    #[test]
    fn only_failed_runs_are_tried_again_on_request() {
        let mut cells = vec![CellProgress::default(); 3];
        cells[2].failed = BTreeSet::from([1]);
        cells[0].failed = BTreeSet::from([1, 2]);
        let mut schedule = RunSchedule::new(cells, &order, false, fixed(3), None, RunSelection::Failed);
        assert_eq!(run_all(&mut schedule, |_, _| 1.0), [(0, 1), (2, 1), (0, 2)]);
    }

    #[test]
    fn precision_waits_for_running_runs() {
        let repeats = Repeats { at_least: 1, at_most: 2, precision: Some(0.02) };
        let mut schedule = RunSchedule::new(
            vec![CellProgress::default()],
            &|_| vec![0],
            false,
            repeats,
            None,
            RunSelection::Missing,
        );
        assert_eq!(schedule.take_next(), Next::Run { cell: 0, repeat: 1 });
        assert_eq!(schedule.take_next(), Next::Wait);
        schedule.ended(0, 1, Some(1.0));
        assert_eq!(schedule.take_next(), Next::Run { cell: 0, repeat: 2 });
    }
}
