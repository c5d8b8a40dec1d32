//! Fuzz targets: functions that take any bytes and panic if the code under test does something it must never do.
//!
//! `cargo fuzz` (`./dev fuzz`, nightly) looks for inputs by coverage; [`hammer`] runs seeds and random changes of them on
//! stable Rust, as part of `./dev test`. Both call the same functions, so that targets cannot rot.
//!
//! | file | holds |
//! |---|---|
//! | `targets.rs` | the targets |
//! | `recovery.rs` | a record whose files are damaged |
//! | `seeds.rs` | well-formed inputs to start from |
//! | `mutation.rs` | random changes of inputs |

mod mutation;
mod recovery;
mod seeds;
mod targets;

pub use mutation::hammer;
pub use targets::{TARGETS, Target};

/// The target of a name, or none.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
