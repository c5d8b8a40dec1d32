//! What people's words mean: `Batch Size`, `bs` and `batch_size` are one setting, `Avg Rate (samples/sec)` is the
//! mean of the rates at single steps, and `IPU` is a Graphcore machine.
//!
//! | file | holds |
//! |---|---|
//! | `vocabulary/words.rs` | cutting a phrase into words that can be compared |
//! | `vocabulary/settings.rs` | names of settings |
//! | `vocabulary/metrics.rs` | names of metrics with unit, scope and statistic |
//! | `vocabulary/platforms.rs` | makes of machines and kinds of devices |

pub mod metrics;
pub mod platforms;
pub mod settings;
pub mod words;

pub use metrics::{MetricWord, Statistic, is_telling, metric_name, metric_of, statistic};
pub use platforms::{device, platform};
pub use settings::setting_name;
