//! The native engine against numbers that PyTorch computed in 64 bits, from files in `golden/`; what they hold and how they
//! are made is described in `scripts/golden.py`.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bert;
mod case;
mod lm;
mod mnist;
