//! Campaigns through a scheduler: a real Slurm with jobs of one second, a simulated cluster with very many runs, and ranks
//! over MPI.
//!
//! | file | holds |
//! |---|---|
//! | `slurm.rs` | a Slurm on this machine, and what its controller counts |
//! | `jobs.rs` | the same jobs by `assay`, a shell loop and ReFrame |
//! | `simulated.rs` | very many runs over a simulated cluster with faults |
//! | `ranks.rs` | two MPI ranks against two threads |

pub mod jobs;
pub mod ranks;
pub mod simulated;
pub mod slurm;
