//! What exists, as the caller describes it, so that a new workload, dialect or launcher needs no change here.

use assay_model::{Metric, Platform, WorkloadDescription};

/// What campaigns may name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry {
    /// Built-in workloads.
    pub workloads: Vec<WorkloadDescription>,
    /// Log dialects; `auto` is always allowed.
    pub dialects: Vec<String>,
    /// Ways to start runs that this program supports.
    pub launchers: Vec<String>,
    /// Platforms of the catalog.
    pub platforms: Vec<Platform>,
    /// The platform to run on instead of those that the campaign names.
    pub on: Option<String>,
    /// Kinds of logs that can be generated.
    pub samples: Vec<SampleKind>,
    /// Metrics that dialects and workloads report. Those that the launcher measures are always known.
    pub metrics: Vec<Metric>,
    /// Metrics that output without a dialect may show. A campaign may ask for them; it may also declare them otherwise.
    pub found: Vec<Metric>,
}

/// A kind of log that can be generated, as campaigns name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleKind {
    pub name: String,
    /// The names of its options.
    pub options: Vec<String>,
}
