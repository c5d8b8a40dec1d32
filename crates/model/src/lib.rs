//! The nouns of assay as plain data. No input or output, no clock, no randomness, no printing.
//!
//! | file | holds |
//! |---|---|
//! | `value.rs` | setting values and settings |
//! | `unit.rs` | units of measure and how they are written |
//! | `identity.rs` | content hashes: points, cells, runs |
//! | `observation.rs` | facts found in evidence, and series |
//! | `workload_event.rs` | what a built-in workload says while it runs |
//! | `run.rs` | how one execution went |
//! | `names.rs` | canonical names of metrics and settings |
//! | `document.rs` | what a reading of a file gives: runs, tables, statements |
//! | `entry.rs` | the lines of the journal |
//! | `layout.rs` | how a campaign wants its answer laid out |
//! | `machine.rs` | what a probe of a machine found |
//! | `output.rs` | the streams of a run, and which of several values counts |
//! | `platform.rs` | catalog entries: where runs happen |
//! | `duration.rs` | lengths of time as people write them |
//! | `workload.rs` | what is computed, as the registry describes it |
//! | `metric.rs` | names, units and directions of metrics |
//! | `gate.rs` | bounds that cells must meet |
//! | `secret_name.rs` | names whose values are secrets |
//! | `untrusted.rs` | cleaning text that strangers wrote, for every exit of the program |
//! | `statistic.rs` | mean, median and other statistics, as write-ups name them |
//! | `estimate.rs` | estimates, verdicts and caveats |

pub mod document;
pub mod duration;
pub mod entry;
pub mod estimate;
pub mod gate;
pub mod identity;
pub mod layout;
pub mod machine;
pub mod metric;
pub mod names;
pub mod observation;
pub mod output;
pub mod platform;
pub mod run;
pub mod secret_name;
pub mod statistic;
pub mod unit;
pub mod untrusted;
pub mod value;
pub mod workload;
pub mod workload_event;

pub use document::{
    ClockKind, Column, Document, Hint, KnownBy, NotebookCell, Omission, Phase, Quantity, ReadRun, Role,
    SettingFact, Span, Standing, Statement, Table, TableCell, TableRow,
};
pub use entry::{CurrentPlan, Entry, PlannedCell, SCHEMA_VERSION};
pub use estimate::{Caveat, Estimate, Verdict};
pub use gate::{Bound, Gate};
pub use identity::{CellId, PointId, RunId};
pub use layout::{Against, Layout, Published, ScalingStudy};
pub use machine::Machine;
pub use metric::{Direction, Metric};
pub use observation::{Observation, Origin, Scope, Series, Source};
pub use output::{Keep, Stream};
pub use platform::Platform;
pub use run::{Failure, Replayed, RunResult, ShortOutput, Speed, Status, Usage, UsedFile};
pub use secret_name::is_secret_name;
pub use statistic::Statistic;
pub use unit::Unit;
pub use value::{Settings, Value};
pub use workload::{SettingDescription, SettingKind, WorkloadDescription};
pub use workload_event::WorkloadEvent;
