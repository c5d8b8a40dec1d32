//! The roofline of a record: cells that state how much arithmetic and how much memory traffic they do in a second. The
//! ceiling is the arithmetic rate by the stated share of the peak; the slope is the highest traffic that any cell reached,
//! which is a lower bound of what the memory can do.

use assay_judge::gather::gather;
use assay_judge::{Evidence, JudgeError};
use assay_model::names;
use assay_report::document::label_of;
use assay_report::figure::{Roofline, RooflinePoint};
use assay_store::{Index, IndexSummary};

/// The roofline; none where a record has no arithmetic rate, no traffic or no share of a peak.
pub fn roofline(index: &Index, summary: &IndexSummary) -> Result<Option<Roofline>, JudgeError> {
    let wanted = [names::FLOPS_PER_S, names::BYTES_PER_S, names::MFU];
    let known: Vec<String> = index.metrics()?.into_iter().map(|metric| metric.name).collect();
    if !wanted.iter().all(|name| known.iter().any(|other| other == name)) {
        return Ok(None);
    }
    let of = |name: &str| gather(index, &summary.name, summary.plan.as_ref(), name);
    let [rates, traffic, shares] = [of(names::FLOPS_PER_S)?, of(names::BYTES_PER_S)?, of(names::MFU)?];
    Ok(drawn(&summary.name, &rates, &traffic, &shares))
}

fn drawn(name: &str, rates: &Evidence, traffic: &Evidence, shares: &Evidence) -> Option<Roofline> {
    let of = |evidence: &Evidence, cell| {
        evidence.cells.iter().find(|other| other.cell == cell).and_then(|found| median(&found.values))
    };
    let mut found = (0.0f64, 0.0f64, Vec::new());
    for cell in &rates.cells {
        let rate = assay_judge::estimate::estimate(&cell.values);
        let moved = of(traffic, cell.cell.clone()).filter(|moved| *moved > 0.0);
        let share = of(shares, cell.cell.clone()).filter(|share| *share > 0.0);
        let (Some(rate), Some(moved), Some(share)) = (rate, moved, share) else { continue };
        found.0 = found.0.max(rate.center / share);
        found.1 = found.1.max(moved);
        let label = label_of(&cell.settings);
        found.2.push(RooflinePoint {
            label: if label.is_empty() { cell.cell.platform.clone() } else { label },
            intensity: rate.center / moved,
            rate: rate.center,
            ends: (rate.samples > 1).then_some((rate.low, rate.high)),
            samples: rate.samples,
        });
    }
    let (peak, bandwidth, points) = found;
    let title = format!("Roofline of {name}: memory as far as these cells reach");
    (!points.is_empty()).then_some(Roofline { title, peak, bandwidth: Some(bandwidth), points })
}

fn median(values: &[f64]) -> Option<f64> {
    Some(assay_judge::estimate::estimate(values)?.center)
}
