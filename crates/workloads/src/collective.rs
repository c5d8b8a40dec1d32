//! What the ranks of a data-parallel run do together: agree, and take means.
//!
//! Every rank calls the same operations in the same order. Results are the same on every rank, bit for bit, and from
//! run to run: sums are taken in the order of the ranks.
//!
//! | file | holds |
//! |---|---|
//! | `single.rs` | one rank, which agrees with itself |
//! | `threads.rs` | ranks that are threads of this process |

mod single;
mod threads;

pub use single::Single;
pub use threads::team;

/// One rank's view of all ranks. Another way to connect ranks, for example over a network, is another implementation.
pub trait Collective: Send {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Replaces `values` by their means over all ranks. All ranks give slices of the same length.
    fn mean(&mut self, values: &mut [f32]);

    /// The mean of one number over all ranks.
    fn mean_number(&mut self, number: f64) -> f64;

    /// Whether any rank says yes. It is also a barrier: no rank goes on before all have come.
    fn any(&mut self, yes: bool) -> bool;
}
