//! Mathematics on slices. No clock, no printing, no randomness of its own: seeds are passed in, and the same seed
//! gives the same numbers on every machine. Every result has its sample count, and every interval the coverage
//! it really has.
//!
//! Inputs are slices of finite numbers in any order. A function that is given too few samples, or one that is not
//! finite, returns `None` or a [`Refusal`]; nothing is dropped silently and nothing panics. Who wants to leave out a
//! value does so before the call, and counts it.
//!
//! | file | holds |
//! |---|---|
//! | `quantile.rs` | the one definition of a quantile |
//! | `interval.rs` | intervals for medians, quantiles and means |
//! | `rate.rs` | geometric means of ratios |
//! | `spread.rs` | how far repeats spread |
//! | `outlier.rs` | labels for far values, and the first-repeat test |
//! | `rank_test.rs` | Mann-Whitney, exact with and without ties |
//! | `welch.rs` | Welch's test, for means |
//! | `effect.rs` | ratio of medians, Hodges-Lehmann shift and interval, Cliff's delta |
//! | `ratio.rs` | the ratio interval that verdicts rest on, alone and in a family |
//! | `studentized_range.rs` | how far equal groups lie apart |
//! | `group.rs` | values prepared once for many ratio intervals |
//! | `bootstrap.rs` | percentile intervals, seeded |
//! | `pooled.rs` | the spread of repeats over groups, and the difference it can explain |
//! | `nested.rs` | variance within and between jobs |
//! | `change_point.rs` | PELT on mean and variance |
//! | `steady.rs` | warm-up, steady state, correlated repeats |
//! | `trend.rs` | a trend over the order of repeats, and two modes |
//! | `stopping.rs` | when to stop repeating |
//! | `proportion.rs` | Wilson's interval, and whether a tail bound is met |
//! | `multiple.rs` | corrections for many comparisons |
//! | `history.rs` | thresholds learned from earlier records |
//! | `scaling.rs` | Amdahl and the universal scalability law |
//! | `knee.rs` | latency against load |
//! | `lack_of_fit.rs` | whether repeats leave a law possible |
//! | `pairwise.rs` | order statistics of all pairs of two groups |
//! | `samples.rs`, `distribution.rs`, `random.rs` | what analyses share: sorted samples, distributions, seeded resampling |
//! | `extremes.rs` | intervals from the smallest and largest of some values |

pub mod bootstrap;
pub mod change_point;
mod distribution;
pub mod effect;
pub mod extremes;
pub mod group;
pub mod history;
pub mod interval;
pub mod knee;
pub mod lack_of_fit;
pub mod multiple;
pub mod nested;
pub mod outlier;
mod pairwise;
pub mod pooled;
pub mod proportion;
pub mod quantile;
mod random;
pub mod rank_test;
pub mod rate;
pub mod ratio;
mod samples;
pub mod scaling;
pub mod spread;
pub mod steady;
pub mod stopping;
pub mod studentized_range;
pub mod trend;
pub mod welch;

pub use effect::{cliffs_delta, hodges_lehmann_interval, hodges_lehmann_shift, ratio_of_medians};
pub use group::{Flaw, PositiveSamples};
pub use interval::{Interval, mean_interval, median_interval, quantile_interval};
pub use multiple::holm;
pub use outlier::{Label, first_is_outlier, labels, tukey};
pub use pooled::{Pooled, pooled};
pub use quantile::{median, quantile, quantiles};
pub use rank_test::{MannWhitney, mann_whitney};
pub use rate::{GeometricSummary, geometric_mean, geometric_summary};
pub use ratio::{Family, MarginPosition, RatioInterval, RatioMethod, Refusal, ratio_interval};
pub use spread::{Spread, spread};
pub use stopping::{Decision, PrecisionRule, decide};
