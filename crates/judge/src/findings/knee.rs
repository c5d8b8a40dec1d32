//! Latency against load, in sentences.

use assay_stats::knee::LoadShape;
use assay_stats::lack_of_fit::LackOfFit;

use super::words::{label, shown};
use super::{Finding, finding};
use crate::gather::Evidence;
use crate::knee::{LoadStudy, load_studies};

/// What a latency does over load: a knee with its interval, or why none is named.
pub fn of_load(evidence: &Evidence) -> Vec<Finding> {
    let sentence = |study: LoadStudy| {
        let place = if study.settings.is_empty() {
            String::new()
        } else {
            format!("At {}: ", label(&study.settings))
        };
        let text =
            format!("{place}{} over {}: {}", evidence.metric.name, study.over, words(&study, evidence));
        finding("knee", text, study.cells)
    };
    load_studies(evidence).into_iter().map(sentence).collect()
}

fn words(study: &LoadStudy, evidence: &Evidence) -> String {
    let (from, to) = study.range;
    let unit = &evidence.metric.unit;
    let hinge = study.law.hinge;
    let limit = format!("nothing is said beyond {} {to}", study.over);
    match study.law.shape {
        LoadShape::Flat => {
            format!(
                "no knee in the measured range ({from} to {to}), it stays at {}; {limit}",
                shown(hinge.base, unit)
            )
        }
        LoadShape::Rising => format!(
            "no knee in the measured range ({from} to {to}), it rises from the smallest load on: smaller loads would show \
             where that begins; {limit}"
        ),
        LoadShape::Knee => {
            let rejected = study.law.lack_of_fit.filter(LackOfFit::rejects);
            match (rejected, study.law.knee) {
                (Some(test), _) => format!(
                    "repeats reject a flat and a rising line (F({}, {}) = {:.0}, p = {:.1e}), so no knee is computed; by its \
                     medians it is within 10 % of that at {from} up to {}{}; {limit}",
                    test.freedom,
                    test.freedom_of_repeats,
                    test.statistic,
                    test.p,
                    study.bracket.below,
                    study
                        .bracket
                        .above
                        .map_or_else(String::new, |load| format!(" and above it from {load} on"))
                ),
                (None, Some(knee)) => format!(
                    "a knee at {:.1} (95 % interval {:.1} – {:.1}, {} runs): {} before it, and {} more for each further \
                     one; {limit}",
                    knee.center,
                    knee.low,
                    knee.high,
                    study.runs,
                    shown(hinge.base, unit),
                    shown(hinge.slope, unit)
                ),
                (None, None) => format!(
                    "about {} up to {} and above it from there; {} runs give no interval of the knee; {limit}",
                    shown(hinge.base, unit),
                    study.bracket.below,
                    study.runs
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::CellEvidence;
    use assay_model::{CellId, Direction, Metric, PointId, Unit};

    fn found(latency: impl Fn(f64) -> f64) -> String {
        let cell = |streams: i64| {
            let id = CellId { point: PointId(streams.to_string()), platform: "local".to_owned() };
            let noise = [0.98, 1.01, 1.0, 1.03];
            let turned = |run: usize| noise[(run + streams as usize) % 4] * latency(streams as f64);
            let settings = [("streams".to_owned(), streams.into())].into();
            CellEvidence::new(id, "chat", settings, (0..4).map(turned).collect())
        };
        let metric = Metric { name: "e2e".to_owned(), unit: Unit::Seconds, better: Some(Direction::Lower) };
        let cells = [1, 2, 4, 8, 16, 32].map(cell).into();
        let evidence = Evidence { name: "load".to_owned(), metric, cells, rate: None, of_other_studies: 0 };
        let all = of_load(&evidence);
        assert_eq!((all.len(), all[0].cells.len()), (1, 6));
        all[0].text.clone()
    }

    #[test]
    fn a_knee_has_an_interval_and_a_flat_line_has_none() {
        let knee = found(|streams| 0.05 * (streams / 6.0_f64).max(1.0));
        assert!(knee.starts_with("e2e over streams: a knee at ") && knee.contains("95 % interval"), "{knee}");
        assert!(knee.contains("nothing is said beyond streams 32"), "{knee}");
        let flat = found(|_| 0.05);
        assert!(flat.contains("no knee in the measured range (1 to 32)"), "{flat}");
    }

    #[test]
    fn a_curve_that_repeats_reject_gives_neighboring_loads_instead() {
        let bent = found(|streams| 0.05 * (1.0 + (streams / 8.0_f64).powi(3)));
        assert!(bent.contains("repeats reject") && bent.contains("up to 2 and above it from 4 on"), "{bent}");
    }
}
