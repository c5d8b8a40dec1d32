//! Whole runs of the workloads, as a caller sees them: on the native engine, and, where they are there, on PyTorch and with
//! a real model.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

mod bert;
mod lm;
mod mnist;
mod support;
mod tasks;
