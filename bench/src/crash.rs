//! Kills and losses of power, and what they must not cost.

pub mod audit;
pub mod events;
pub mod groups;
pub mod orphan;
pub mod power;
pub mod scene;
pub mod session;
