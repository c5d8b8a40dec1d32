//! What the ranks of a data-parallel run do together: agree, and take means.
//!
//! Every rank calls the same operations in the same order. Results are the same on every rank, bit for bit, and from
//! run to run.
//!
//! Gradients are averaged while the backward pass goes on: a rank hands in each tensor as soon as it is final, and takes
//! the means back before the update. No rank waits for another in between.
//!
//! | file | holds |
//! |---|---|
//! | `single.rs` | one rank, which agrees with itself |
//! | `threads.rs` | ranks that are threads of this process |
//! | `processes.rs` | whether a launcher started this process as one of several |
//! | `mpi.rs`, `mpi/` | ranks that are MPI processes (feature `mpi`) |

#[cfg(feature = "mpi")]
pub(crate) mod mpi;
pub(crate) mod processes;
mod single;
mod threads;

pub use single::Single;
pub use threads::team;

use crate::profile::Profile;

/// One rank's view of all ranks.
pub trait Collective {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Hands in a tensor of which the mean over all ranks is to be taken, all ranks one of the same length. Does what can
    /// be done by now for this one and those before, without waiting for other ranks.
    fn begin_mean(&mut self, values: Vec<f32>);

    /// The mean of the oldest tensor that was handed in and not taken back; empty where there is none. Waits for the
    /// other ranks.
    fn finish_mean(&mut self) -> Vec<f32>;

    /// The mean of one number over all ranks.
    fn mean_number(&mut self, number: f64) -> f64;

    /// The sum over all processes of a number that ranks of one process share, such as its memory.
    fn sum_of_processes(&mut self, number: f64) -> f64 {
        number
    }

    /// Whether any rank says yes. It is also a barrier: no rank goes on before all have come.
    fn any(&mut self, yes: bool) -> bool;
}

/// Hands in gradients that are final. Their vectors are empty until [`take_back`].
pub(crate) fn hand_in<'a>(
    profile: &Profile,
    ranks: &mut dyn Collective,
    tensors: impl IntoIterator<Item = &'a mut Vec<f32>>,
) {
    if ranks.size() > 1 {
        profile.timed("average", 0.0, || {
            tensors.into_iter().for_each(|tensor| ranks.begin_mean(std::mem::take(tensor)));
        });
    }
}

/// Takes means back, in the order in which the tensors were handed in.
pub(crate) fn take_back<'a>(
    profile: &Profile,
    ranks: &mut dyn Collective,
    tensors: impl IntoIterator<Item = &'a mut Vec<f32>>,
) {
    if ranks.size() > 1 {
        profile.timed("average", 0.0, || {
            tensors.into_iter().for_each(|tensor| *tensor = ranks.finish_mean());
        });
    }
}
