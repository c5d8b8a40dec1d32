//! Platforms: where runs happen. One catalogue file each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One platform of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// Its name, as campaigns use it.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// How runs are started there: `local`, or a launcher of a later version.
    pub launcher: String,
    /// Hardware facts and limits; what is absent is not checked (for `local` it is probed).
    pub limits: Limits,
    /// Environment variables set for every run there.
    pub environment: BTreeMap<String, String>,
    /// The dialect of its logs.
    pub dialect: Option<String>,
    /// Hints for error texts in logs.
    pub hints: Vec<ErrorHint>,
}

/// Hardware facts and limits of a platform.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Nodes that one run may have.
    pub nodes: Option<u64>,
    pub cpus_per_node: Option<u64>,
    /// Memory of a node, in bytes.
    pub memory_per_node_bytes: Option<u64>,
    /// Accelerators of a node.
    pub devices_per_node: Option<u64>,
    /// What an accelerator is called there, for example `IPU`.
    pub device: Option<String>,
    /// The longest time a run may take, in seconds.
    pub time_s: Option<f64>,
}

/// An error text and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorHint {
    /// The text to look for in the output of a failed run.
    pub text: String,
    pub hint: String,
}
