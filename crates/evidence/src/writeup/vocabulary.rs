//! What people's words mean: `Batch Size`, `bs` and `batch_size` are one setting, `Avg Rate (samples/sec)` is the
//! mean of the rates at single steps, and `IPU` is a Graphcore machine.
//!
//! | file | holds |
//! |---|---|
//! | `vocabulary/words.rs` | cutting a phrase into words that can be compared |
//! | `vocabulary/settings.rs` | names of settings |
//! | `vocabulary/metrics.rs` | names of metrics with unit, scope and statistic |
//! | `vocabulary/platforms.rs` | makes of machines and kinds of devices |

use assay_model::names;

use crate::vocabulary::{MetricKind, NamedMetric, Vocabulary, split_unit};

pub mod metrics;
pub mod platforms;
pub mod settings;
pub mod words;

pub use metrics::{MetricWord, is_telling, metric_name, metric_of, statistic};
pub use platforms::{device, platform};
pub use settings::setting_name;

/// The name of what a header measures. Where the words of tables only know that it is a quality, the vocabulary of logs
/// knows which.
pub(crate) fn specific_name(header: &str, word: &MetricWord) -> String {
    // `Acc@5` is not an accuracy of the first answer.
    let rank = |named: &NamedMetric| {
        named.base != "accuracy" || named.qualifier.bytes().any(|byte| byte.is_ascii_digit())
    };
    let other = match word.name {
        names::QUALITY => other_metric(header),
        names::ACCURACY => other_metric(header).filter(rank),
        names::SAMPLES_PER_S if counts_other(header, word) => other_metric(header),
        _ => None,
    };
    other.map_or_else(|| word.full_name(), |named| named.name())
}

/// Whether a rate states that it counts something that tables have no name for: `Throughput (ops/sec)`.
pub(crate) fn counts_other(header: &str, word: &MetricWord) -> bool {
    word.name == names::SAMPLES_PER_S && !word.unit_told && header.contains("/s")
}

/// The metric that a header names in words that only the vocabulary of logs knows: `metrics/mAP50(B)`.
pub(crate) fn other_metric(header: &str) -> Option<NamedMetric> {
    let has_unit = split_unit(header).1.is_some();
    let header = if has_unit { header.to_owned() } else { header.replace('/', " ") };
    let named = Vocabulary::current().header(&header)?;
    (!matches!(named.kind, MetricKind::Ignore | MetricKind::Count | MetricKind::Knob)).then_some(named)
}
