//! What a server says of itself: its models, and its page of metrics, as Prometheus reads it, before and after a load.
//!
//! | file | holds |
//! |---|---|
//! | `metrics/fetch.rs` | getting the page, once and plainly: nothing is measured by it |

pub(crate) mod fetch;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::request::{Endpoint, EndpointError, Page};
use fetch::fetch;

/// The counters of a page: their names with labels, and their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    values: BTreeMap<String, f64>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The URL cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// No answer.
    #[error("{url} cannot be read: {source}")]
    Read {
        /// The URL.
        url: String,
        /// Why not.
        source: std::io::Error,
    },
    /// An answer that is not success.
    #[error("{url} answers with status {status}")]
    Status {
        /// The URL.
        url: String,
        /// The status.
        status: u16,
    },
}

/// The models that an endpoint lists (`/models`).
pub fn models(endpoint: &Endpoint) -> Result<Vec<String>, MetricsError> {
    let page = fetch(endpoint, &Page::models(endpoint)?)?;
    let listed: Listed = serde_json::from_str(&page).unwrap_or_default();
    Ok(listed.data.into_iter().map(|model| model.id).collect())
}

#[derive(Default, Deserialize)]
struct Listed {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}

impl Counters {
    /// Gets the page of an endpoint's server: the one at `url`, or the usual one, `/metrics` of the same host.
    pub fn fetch(endpoint: &Endpoint, url: Option<&str>) -> Result<Counters, MetricsError> {
        Ok(Counters::read(&fetch(endpoint, &Page::metrics(endpoint, url)?)?))
    }

    /// Reads a page. Counters, sums and counts are taken; gauges and buckets are not, since their difference means
    /// nothing by itself. Lines that are not understood are passed over.
    pub fn read(page: &str) -> Counters {
        let mut typed: BTreeMap<&str, &str> = BTreeMap::new();
        let mut values = BTreeMap::new();
        for line in page.lines().map(str::trim) {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let mut words = declared.split_whitespace();
                if let (Some(name), Some(kind)) = (words.next(), words.next()) {
                    typed.insert(name, kind);
                }
            } else if !line.starts_with('#')
                && let Some((series, value)) = sample(line)
                && is_counter(series, &typed)
            {
                values.insert(series.to_owned(), value);
            }
        }
        Counters { values }
    }

    /// By how much each counter has grown since an earlier page. A counter that has fallen was reset and means
    /// nothing; one that did not change is left out.
    pub fn since(&self, before: &Counters) -> BTreeMap<String, f64> {
        let grown = self.values.iter().filter_map(|(name, now)| {
            let growth = now - before.values.get(name).copied().unwrap_or(0.0);
            (growth > 0.0).then(|| (name.clone(), growth))
        });
        grown.collect()
    }

    /// Whether the page had no counter.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// A line of a page: a name with labels, a value, and perhaps a timestamp. Labels may hold spaces.
fn sample(line: &str) -> Option<(&str, f64)> {
    let end = match line.rfind('}') {
        Some(brace) => brace + 1,
        None => line.find(char::is_whitespace)?,
    };
    let (series, rest) = line.split_at_checked(end)?;
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    value.is_finite().then_some((series, value))
}

fn is_counter(series: &str, typed: &BTreeMap<&str, &str>) -> bool {
    let name = series.split('{').next().unwrap_or(series);
    let base = ["_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
    match (typed.get(name), base.and_then(|base| typed.get(base))) {
        (Some(kind), _) => *kind == "counter",
        (None, Some(kind)) => matches!(*kind, "histogram" | "summary"),
        // Exporters declare `x` and write `x_total`.
        (None, None) => name.ends_with("_total"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP a:tokens_total Tokens.\n# TYPE a:tokens_total counter\n\
        a:tokens_total{model_name=\"x y\",z=\"}\"} 12.5 1700000000\n\
        # TYPE a:running gauge\na:running 3\n\
        # TYPE a:time histogram\na:time_bucket{le=\"1\"} 4\na:time_sum 2.5\na:time_count 4\n\
        b_total 7\nstrange\n# TYPE c_total counter\nc_total NaN\n";

    #[test]
    fn counters_sums_and_counts_are_taken() {
        let counters = Counters::read(PAGE);
        let names: Vec<&str> = counters.values.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["a:time_count", "a:time_sum", "a:tokens_total{model_name=\"x y\",z=\"}\"}", "b_total"]
        );
    }

    #[test]
    fn growth_is_told_and_nothing_else() {
        let before = Counters::read("b_total 5\nd_total 9\na_total 1\n");
        let after = Counters::read("b_total 7.5\nd_total 2\na_total 1\nnew_total 3\n");
        let grown = after.since(&before);
        assert_eq!(grown, BTreeMap::from([("b_total".to_owned(), 2.5), ("new_total".to_owned(), 3.0)]));
        assert!(Counters::read("").is_empty());
    }
}
