//! How a time grows with the size of a model: arithmetic per second, its share of the peak, and where something else than
//! computing begins to take the time.

use std::collections::BTreeMap;

use assay_model::{CellId, Unit, names};
use assay_stats as stats;

use super::words::shown;
use super::{Finding, finding};
use crate::gather::{CellEvidence, Evidence};

/// The fewest sizes of a model that show how its time grows.
const FEWEST_SIZES: usize = 3;
/// Behind the best size, a rate below this share of it is no longer that of computing.
const COMPUTING: f64 = 0.8;

/// A model of one size.
struct SizeFinding {
    cell: CellId,
    name: String,
    parameters: f64,
    seconds: f64,
    /// Operations a second, or a second and token of the batch where its tokens are not known.
    rate: f64,
    /// Share of the machine's peak.
    share: Option<f64>,
}

/// Arithmetic per second by size: as the runs report it (`flops`), else 2 operations a parameter and token forward and 6
/// with the backward pass. `peak` is the share of the machine's peak, where the runs know it.
pub fn of_size(time: &Evidence, flops: Option<&Evidence>, peak: Option<&Evidence>) -> Vec<Finding> {
    if time.metric.unit != Unit::Seconds || !time.metric.name.starts_with("time.") {
        return Vec::new();
    }
    let value = |evidence: Option<&Evidence>, cell: &CellEvidence| {
        let found = evidence?.cells.iter().find(|other| other.cell == cell.cell)?;
        stats::median(&found.values)
    };
    let mut groups: BTreeMap<(String, String), Vec<SizeFinding>> = BTreeMap::new();
    let mut is_absolute = true;
    for cell in time.cells.iter().filter(|cell| cell.planned) {
        let (Some(parameters), Some(seconds)) = (parameters(cell), stats::median(&cell.values)) else {
            continue;
        };
        let how = |name: &str| cell.settings.get(name).map(ToString::to_string).unwrap_or_default();
        let name = [how(names::setting::MODEL), how("size")].into_iter().find(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("{:.0} M parameters", parameters / 1e6));
        let counted = operations(&time.metric.name, cell) * parameters;
        let tokens = tokens(cell);
        let reported = value(flops, cell);
        is_absolute &= reported.is_some() || tokens.is_some();
        let key = (
            cell.cell.platform.clone(),
            ["device", "engine", "batch_size", "phase", "mode", "threads"].map(how).join(" "),
        );
        groups.entry(key).or_default().push(SizeFinding {
            cell: cell.cell.clone(),
            name,
            parameters,
            seconds,
            rate: reported.unwrap_or(counted * tokens.unwrap_or(1.0) / seconds),
            share: value(peak, cell),
        });
    }
    let studies = groups.into_iter().filter(|(_, sizes)| sizes.len() >= FEWEST_SIZES);
    studies.map(|((platform, _), sizes)| sentence(&platform, time, sizes, is_absolute)).collect()
}

fn sentence(platform: &str, time: &Evidence, mut sizes: Vec<SizeFinding>, is_absolute: bool) -> Finding {
    sizes.sort_by(|a, b| a.parameters.total_cmp(&b.parameters));
    let best = sizes.iter().map(|size| size.rate).max_by(f64::total_cmp).unwrap_or(f64::NAN);
    let one = |size: &SizeFinding| match (size.share, is_absolute) {
        (Some(share), _) => format!("{} {} ({:.0} % of peak)", size.name, rate(size.rate), 100.0 * share),
        (None, true) => format!("{} {}", size.name, rate(size.rate)),
        (None, false) => format!("{} {:.0} %", size.name, 100.0 * size.rate / best),
    };
    let list: Vec<String> = sizes.iter().map(one).collect();
    let what = match is_absolute {
        true => "arithmetic per second",
        false => "arithmetic per second, of that of the best size (the tokens of a batch are not known)",
    };
    let text = format!(
        "{platform}: {} by size, {what}: {}{}",
        time.metric.name,
        list.join(", "),
        fall(&sizes, best)
    );
    finding("size_law", text, sizes.into_iter().map(|size| size.cell).collect())
}

/// What is said of sizes behind the best one that lose much of its rate, and whether more of them were measured than once.
fn fall(sizes: &[SizeFinding], best: f64) -> String {
    let peak = sizes.iter().position(|size| size.rate == best).unwrap_or(0);
    let behind: Vec<&SizeFinding> = sizes.iter().skip(peak + 1).collect();
    let Some(first) = behind.iter().position(|size| size.rate < COMPUTING * best) else {
        return String::new();
    };
    let before = if first == 0 { sizes.get(peak) } else { behind.get(first - 1).copied() };
    let slow: Vec<String> = behind
        .iter()
        .skip(first)
        .map(|size| {
            let unit = Unit::Seconds;
            let seconds = shown(size.seconds, &unit);
            let expected = shown(size.seconds * size.rate / best, &unit);
            format!("{} takes {seconds} instead of {expected}", size.name)
        })
        .collect();
    let before = before.map(|size| format!(" behind {}", size.name)).unwrap_or_default();
    format!(
        "; {} at the best rate: something else than computing (memory, swapping) begins{before}",
        slow.join(", ")
    )
}

fn rate(operations: f64) -> String {
    shown(operations, &Unit::PerSecond("FLOP".to_owned()))
}

/// Operations of one parameter and token: a multiplication and an addition forward, twice as many backward.
fn operations(metric: &str, cell: &CellEvidence) -> f64 {
    let phase = cell.settings.get("phase").map(ToString::to_string).unwrap_or_default();
    match metric == names::TIME_FORWARD || phase == "forward" {
        true => 2.0,
        false => 6.0,
    }
}

/// Tokens of one iteration, where the settings say them.
fn tokens(cell: &CellEvidence) -> Option<f64> {
    let setting = |name: &str| cell.settings.get(name).and_then(assay_model::Value::number);
    let length = setting(names::setting::SEQUENCE_LENGTH).or_else(|| setting("context"))?;
    Some(setting(names::setting::BATCH_SIZE)? * length)
}

/// The parameters of a cell's model: as its runs report them, else the matrices of a transformer,
/// L·(4d² + 3·d·d_ff), from its settings.
fn parameters(cell: &CellEvidence) -> Option<f64> {
    let setting = |name: &str| cell.settings.get(name).and_then(assay_model::Value::number);
    let reported = cell.amounts.get(names::PARAMETERS).copied();
    reported.or_else(|| {
        let (layers, width, inner) = (setting("layers")?, setting("d_model")?, setting("d_ff")?);
        Some(layers * (4.0 * width * width + 3.0 * width * inner))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Direction, Metric, PointId};

    fn record(tokens: bool) -> Evidence {
        let cell = |(name, millions, seconds): (&str, f64, f64)| {
            let id = CellId { point: PointId(name.to_owned()), platform: "cpu".to_owned() };
            let mut settings: assay_model::Settings = [("model".to_owned(), name.into())].into();
            if tokens {
                settings.insert("batch_size".to_owned(), 4.into());
                settings.insert("sequence_length".to_owned(), 128.into());
            }
            let mut cell = CellEvidence::new(id, "table", settings, vec![seconds]);
            cell.amounts.insert(names::PARAMETERS.to_owned(), millions * 1e6);
            cell
        };
        let name = names::TIME_FORWARD_BACKWARD.to_owned();
        let metric = Metric { name, unit: Unit::Seconds, better: Some(Direction::Lower) };
        let cells =
            [("small", 100.0, 1.0), ("large", 1000.0, 7.0), ("xl", 2000.0, 19.0), ("xxl", 3000.0, 80.0)];
        Evidence {
            name: "sizes".to_owned(),
            metric,
            cells: cells.map(cell).into(),
            rate: None,
            of_other_studies: 0,
        }
    }

    #[test]
    fn where_something_else_than_computing_begins_is_named() {
        let found = of_size(&record(false), None, None);
        let text = &found[0].text;
        assert!(text.contains("small 70 %, large 100 %, xl 74 %, xxl 26 %"), "{text}");
        assert!(
            text.contains("xl takes 19.00 s instead of 14.00 s, xxl takes 80.00 s instead of 21.00 s"),
            "{text}"
        );
        assert!(text.ends_with("begins behind large"), "{text}");
        assert_eq!(found[0].cells.len(), 4);
    }

    #[test]
    fn with_known_tokens_the_rate_is_absolute() {
        let text = &of_size(&record(true), None, None)[0].text;
        // 6 · 10⁹ parameters · 512 tokens in 7 s.
        assert!(text.contains("large 438.9 G FLOP/s"), "{text}");
    }
}
