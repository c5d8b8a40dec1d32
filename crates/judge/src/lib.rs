//! Policy: which statistic for which metric, verdicts, caveats, gates, and when a cell has been repeated enough.
//! This is the only room that may say that something is better than something else.
//!
//! | file | holds |
//! |---|---|
//! | `gather.rs` | the runs of a record as samples by cell |
//! | `origin.rs` | doubts about runs of changed programs and mixed versions |
//! | `estimate.rs` | samples to an estimate with its caveats |
//! | `verdict.rs` | two sets of samples to a verdict |
//! | `answer.rs` | one record: the table of its cells, ranked where the evidence allows |
//! | `record.rs` | one record as it is judged everywhere: by which metric, which cells, which gates |
//! | `pivot.rs` | one record with some settings as columns |
//! | `scaling.rs` | one record as a scaling study: speedup, efficiency |
//! | `law.rs` | laws over batch sizes and workers, with bands and limits |
//! | `knee.rs` | latency against load, and its knee |
//! | `iterations.rs` | iterations within runs: warm-up, steady state, where the variance lives |
//! | `findings.rs`, `findings/` | what all this says, as sentences |
//! | `same_work.rs` | whether two cells did the same work |
//! | `comparison.rs` | two records, cell by cell |
//! | `course.rs` | warm-up and changes of level in the values of one run |
//! | `history.rs` | the newest of many records against the noise of those before it |
//! | `gate.rs` | bounds that cells must meet |
//! | `load.rs`, `load/` | requests to metrics of endpoints, and whether they are client-limited |
//! | `stopping.rs` | whether a cell needs more runs |

pub mod answer;
pub mod comparison;
pub mod course;
pub mod estimate;
pub mod findings;
pub mod gate;
pub mod gather;
pub mod history;
pub mod iterations;
pub mod knee;
pub mod law;
pub mod load;
mod origin;
pub mod pivot;
pub mod record;
pub mod same_work;
pub mod scaling;
pub mod stopping;
pub mod verdict;

pub use answer::{Answer, AnswerRow, answer};
pub use comparison::{Comparison, ComparisonRow, compare};
pub use gate::{GateResult, GateState};
pub use gather::{CellEvidence, Counts, Evidence, JudgeError, MetricSummary};
pub use history::{History, HistoryRow, history};
pub use verdict::Effect;

/// The coverage that intervals aim at.
pub const CONFIDENCE: f64 = 0.95;
