//! Adapters to other runtimes.

pub mod torch;
