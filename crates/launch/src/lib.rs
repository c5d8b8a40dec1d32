//! Runs a plan on this machine or through a scheduler. Emits events and prints nothing.
//!
//! | file | holds |
//! |---|---|
//! | `coordinator.rs` | the one that hands out runs, writes the journal and shows what happens |
//! | `standing.rs` | what a record already has of a plan |
//! | `provenance.rs` | commit, driver, container and packages behind a session |
//! | `surroundings.rs`, `gpu.rs` | what else the machine and its GPUs did during a run |
//! | `unsynced.rs` | results that are in the journal and not synced yet |
//! | `used_files.rs` | the program and the files of a run, by their content |
//! | `schedule.rs` | which run comes next: rounds, repeats, precision, budget |
//! | `launcher.rs` | the one trait that starts runs |
//! | `local.rs` | runs as processes of this machine |
//! | `batch.rs`, `batch/` | runs as jobs of a scheduler, here or over ssh |
//! | `worker.rs` | one run from its directory to its result |
//! | `process.rs` | one process: group, streams, timeout, usage |
//! | `replay.rs`, `pace.rs` | a recorded log played instead of a process, by the log's own clock |
//! | `watcher.rs` | what is seen of a run while it goes on |
//! | `follow.rs`, `followed.rs` | growing files that a run writes its log to |
//! | `capture.rs` | the files that keep a run's output |
//! | `script.rs` | the script of a run |
//! | `steps.rs` | warm-up runs, and the commands before and after a run |
//! | `orphan.rs`, `leftover.rs` | processes of runs whose coordinator died; processes that runs left behind |
//! | `interrupt.rs` | Ctrl-C |
//! | `environment.rs` | the environment as it is recorded |
//! | `worker_group.rs` | control groups of worker threads, by which leftover processes are attributed to runs |
//! | `small_file.rs` | files that a run may have replaced by something else |
//! | `pin.rs`, `group.rs`, `sys.rs` | CPUs, control groups, waiting for a child |
//! | `probe.rs`, `noise.rs`, `tools.rs` | this machine, what makes it noisy, what is installed |

pub mod batch;
mod capture;
pub mod coordinator;
pub mod environment;
pub mod follow;
mod followed;
mod gpu;
pub mod group;
pub mod interrupt;
pub mod launcher;
mod leftover;
pub mod local;
pub mod noise;
pub mod orphan;
pub mod pace;
mod pin;
pub mod probe;
pub mod process;
pub mod provenance;
pub mod replay;
pub mod schedule;
pub mod script;
mod small_file;
mod standing;
mod steps;
mod surroundings;
mod sys;
pub mod tools;
mod unsynced;
mod used_files;
mod watcher;
pub mod worker;
pub mod worker_group;

pub use coordinator::{Ending, LaunchError, LaunchEvent, LaunchOptions, LaunchOutcome, execute};
pub use interrupt::Interrupt;
pub use schedule::RunSelection;

/// The launchers of this version, by the names that platforms use.
pub const LAUNCHERS: &[&str] = &["local", "slurm", "pbs", assay_campaign::REPLAY];
