//! Campaign and platform files: read, validated, and expanded into a plan that is ordered, seeded and hashed.
//!
//! `text -> reader -> campaign (every problem in one go) -> expansion -> checks -> plan -> invocations`
//!
//! | file | holds |
//! |---|---|
//! | `problem.rs` | what is wrong with a file, with line, column and hint |
//! | `reader.rs` | walks TOML tables, remembers which keys are known |
//! | `quantity.rs` | durations, sizes and shares as people write them |
//! | `expression.rs` | the small language of `where`, `resources` and `expected` |
//! | `template.rs` | text with `{setting}` placeholders |
//! | `shell.rs` | text quoted for shell commands |
//! | `configuration.rs` | configuration files rendered from a base file by key path |
//! | `campaign.rs` | one campaign file, validated |
//! | `expand.rs` | sweeps turned into points |
//! | `check.rs` | what is checked cell by cell before anything starts |
//! | `plan.rs` | the plan: cells, order, estimate, invocations |
//! | `catalog.rs`, `platform_keys.rs` | platform files, and the keys that say how jobs are submitted |
//! | `suggest.rs` | the nearest known name to a mistyped one |
//! | `registry.rs` | what workloads, dialects, launchers, platforms and metrics exist, as the caller describes them |

pub mod campaign;
pub mod catalog;
mod check;
pub mod configuration;
mod expand;
pub mod expression;
pub mod plan;
mod platform_keys;
pub mod problem;
pub mod quantity;
mod reader;
pub mod registry;
pub mod shell;
mod suggest;
pub mod template;

pub use campaign::{
    Campaign, CampaignBuilder, CampaignError, Fewer, GateRule, OrderBy, Pattern, REPLAY, Repeats, Shell,
};
pub use catalog::Catalog;
pub use check::Resources;
pub use plan::{
    Invocation, InvocationError, Plan, PlanContext, Recording, RecordingSource, RenderedFile, RunPaths,
    TimeEstimate,
};
pub use problem::{Problem, Problems, Severity};
pub use registry::Registry;

/// A commented campaign file that runs on any Linux machine; what `assay init` writes.
pub const EXAMPLE: &str = include_str!("../example.toml");
