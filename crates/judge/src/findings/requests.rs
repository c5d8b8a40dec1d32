//! Endpoints of which no more is known than the mean, the smallest and the largest latency of a few requests: how far
//! apart they are, and how sure that is.

use std::collections::BTreeMap;

use assay_model::{CellId, Settings, names};
use assay_stats::extremes::{Extremes, ratio_of_means, ratio_of_medians};
use assay_store::Index;

use super::words::{label, shown};
use super::{Finding, finding};
use crate::CONFIDENCE;
use crate::gather::JudgeError;

/// What is known of the requests of one endpoint.
struct Endpoint {
    cell: CellId,
    name: String,
    extremes: Extremes,
    mean: Option<f64>,
    median: Option<f64>,
}

/// The ratios of latencies between endpoints whose requests are known by their extremes alone. Runs of this program keep
/// every request, and are judged by those.
pub fn of_requests(index: &Index) -> Result<Vec<Finding>, JudgeError> {
    let has = index.metrics()?;
    let known = |name: &str| has.iter().any(|metric| metric.name == name);
    if ["e2e.min", "e2e.max", names::REQUESTS].iter().any(|name| !known(name)) || known("client.cpu") {
        return Ok(Vec::new());
    }
    let only = |name: &str| -> Result<BTreeMap<CellId, f64>, JudgeError> {
        let values = index.values(name)?.into_iter();
        Ok(values.filter_map(|(cell, runs)| Some((cell, <[_; 1]>::try_from(runs).ok()?[0].value))).collect())
    };
    let (low, high, count) = (only("e2e.min")?, only("e2e.max")?, only(names::REQUESTS)?);
    let (mean, median) = (only(names::E2E)?, only("e2e.p50")?);
    let endpoints: Vec<Endpoint> = index
        .cells()?
        .into_iter()
        .filter_map(|cell| {
            let of = |values: &BTreeMap<CellId, f64>| values.get(&cell.cell).copied();
            let extremes = Extremes { count: of(&count)? as usize, low: of(&low)?, high: of(&high)? };
            let (mean, median) = (of(&mean), of(&median));
            Some(Endpoint {
                name: named(&cell.cell, &cell.settings),
                cell: cell.cell,
                extremes,
                mean,
                median,
            })
        })
        .collect();
    let pairs = endpoints.iter().enumerate().flat_map(|(place, base)| {
        endpoints.iter().skip(place + 1).filter_map(move |other| compared(base, other))
    });
    Ok(pairs.collect())
}

fn named(cell: &CellId, settings: &Settings) -> String {
    match settings.is_empty() {
        true => cell.platform.clone(),
        false => format!("{} ({})", cell.platform, label(settings)),
    }
}

/// One sentence about two endpoints, the slower over the faster.
fn compared(one: &Endpoint, other: &Endpoint) -> Option<Finding> {
    let middle = |endpoint: &Endpoint| endpoint.median.or(endpoint.mean);
    let (fast, slow) = if middle(one)? <= middle(other)? { (one, other) } else { (other, one) };
    let medians = ratio_of_medians(&fast.extremes, &slow.extremes)?;
    let means = fast.mean.zip(slow.mean).and_then(|(fast_mean, slow_mean)| {
        let ends = ratio_of_means((&fast.extremes, fast_mean), (&slow.extremes, slow_mean), CONFIDENCE)?;
        Some((slow_mean / fast_mean, ends))
    });
    let verdict = match medians.low > 1.0 {
        true => format!("{} is slower than {}", slow.name, fast.name),
        false => format!("{} and {} are not shown to differ", slow.name, fast.name),
    };
    let ratio = fast.median.zip(slow.median).map(|(fast, slow)| {
        let unit = assay_model::Unit::Seconds;
        format!(
            "the medians, {} and {}, have the ratio {:.2}, which lies",
            shown(slow, &unit),
            shown(fast, &unit),
            slow / fast
        )
    });
    let ratio = ratio.unwrap_or_else(|| "the ratio of the medians lies".to_owned());
    let means = means.map_or_else(String::new, |(ratio, ends)| {
        format!(
            "; if latencies are roughly normal, the ratio of the means is {ratio:.2} ({:.2} – {:.2}, {:.0} %)",
            ends.low,
            ends.high,
            100.0 * ends.confidence
        )
    });
    let text = format!(
        "e2e: {verdict}: {ratio} between {:.2} and {:.2} with at least {:.1} % confidence, from the smallest and the largest \
         of {} and {} requests alone{means}",
        medians.low,
        medians.high,
        (1000.0 * medians.confidence).floor() / 10.0,
        slow.extremes.count,
        fast.extremes.count
    );
    Some(finding("endpoints", text, vec![slow.cell.clone(), fast.cell.clone()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::PointId;

    fn endpoint(name: &str, low: f64, high: f64, mean: f64, median: f64) -> Endpoint {
        Endpoint {
            cell: CellId { point: PointId(name.to_owned()), platform: name.to_owned() },
            name: name.to_owned(),
            extremes: Extremes { count: 10, low, high },
            mean: Some(mean),
            median: Some(median),
        }
    }

    #[test]
    fn ten_requests_each_separate_endpoints_whose_extremes_do_not_overlap() {
        let slow = endpoint("metis", 4.465, 5.535, 4.987, 5.044);
        let fast = endpoint("sophia", 0.597, 3.133, 1.621, 1.761);
        let text = compared(&slow, &fast).unwrap().text;
        assert!(text.starts_with("e2e: metis is slower than sophia"), "{text}");
        assert!(
            text.contains("ratio 2.86, which lies between 1.43 and 9.27 with at least 99.6 % confidence"),
            "{text}"
        );
        assert!(text.contains("ratio of the means is 3.08 ("), "{text}");
        let near = endpoint("near", 3.0, 6.0, 4.9, 5.0);
        assert!(compared(&slow, &near).unwrap().text.contains("not shown to differ"));
    }
}
