//! Ranks that are MPI processes. MPI is one world for the whole process, so that it is joined once, before anything is
//! agreed upon, and left at the end. All calls come from the thread that joined.
//!
//! | file | holds |
//! |---|---|
//! | `sys.rs` | sums that go on in the background: calls of the C interface |

mod sys;

use std::cell::RefCell;
use std::collections::VecDeque;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;

use self::sys::Sum;
use super::Collective;
use crate::WorkloadError;

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// All processes that were started together. Dropping it waits until all of them have come to their end.
struct World {
    ranks: Ranks,
    _universe: Universe,
}

/// This process among all.
struct Ranks {
    world: SimpleCommunicator,
    open: VecDeque<Sum>,
    /// Buffers of earlier sums.
    spare: Vec<Vec<f32>>,
}

pub(super) fn join() -> Result<(), WorkloadError> {
    let (universe, _) =
        mpi::initialize_with_threading(Threading::Funneled).ok_or_else(|| WorkloadError::EngineFailed {
            engine: "native",
            reason: "MPI is in use already".to_owned(),
            hint: None,
        })?;
    let ranks = Ranks { world: universe.world(), open: VecDeque::new(), spare: Vec::new() };
    WORLD.set(Some(World { ranks, _universe: universe }));
    Ok(())
}

/// Runs `work` with the ranks that were joined; gives it back where none were.
pub(super) fn with<R, W: FnOnce(&mut dyn Collective) -> R>(work: W) -> Result<R, W> {
    let Some(mut world) = WORLD.take() else { return Err(work) };
    let done = work(&mut world.ranks);
    WORLD.set(Some(world));
    Ok(done)
}

pub(super) fn leave() {
    drop(WORLD.take());
}

/// Ends all processes.
pub(super) fn abort() {
    if let Some(world) = WORLD.take() {
        world.ranks.world.abort(1);
    }
}

impl Ranks {
    /// The numbers of all ranks, in their order.
    fn gather(&self, number: f64) -> Vec<f64> {
        let mut all = vec![0.0; self.size()];
        sys::gather(number, &mut all);
        all
    }
}

impl Collective for Ranks {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn begin_mean(&mut self, values: Vec<f32>) {
        let fits = |spare: &Vec<f32>| spare.len() == values.len();
        let sum = match self.spare.iter().position(fits) {
            Some(place) => self.spare.swap_remove(place),
            None => vec![0.0; values.len()],
        };
        self.open.push_back(Sum::start(values, sum));
        // MPI works while it is called.
        self.open.iter_mut().for_each(Sum::advance);
    }

    fn finish_mean(&mut self) -> Vec<f32> {
        let Some(sum) = self.open.pop_front() else { return Vec::new() };
        let (spare, mut means) = sum.finish();
        self.spare.push(spare);
        let factor = 1.0 / self.size() as f32;
        means.iter_mut().for_each(|mean| *mean *= factor);
        means
    }

    fn mean_number(&mut self, number: f64) -> f64 {
        self.gather(number).iter().sum::<f64>() / self.size() as f64
    }

    fn sum_of_processes(&mut self, number: f64) -> f64 {
        self.gather(number).iter().sum()
    }

    fn any(&mut self, yes: bool) -> bool {
        self.gather(f64::from(u8::from(yes))).iter().any(|number| *number > 0.0)
    }
}
