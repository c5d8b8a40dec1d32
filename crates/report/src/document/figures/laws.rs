//! Fitted laws as curves with bands. A law that its own repeats reject is not drawn.

use assay_judge::law::{FittedLaw, LawKind};
use assay_judge::scaling::{Scaling, scaling};
use assay_judge::{Evidence, findings};
use assay_model::Unit;

use crate::figure::ComputedCurve;
use crate::number::fact;

/// Steps of a drawn curve.
const STEPS: i32 = 60;

/// The study of a rate over a batch size or a count of workers; none for anything else.
pub fn over(evidence: &Evidence, name: &str) -> Option<Scaling> {
    let is_rate = matches!(evidence.metric.unit, Unit::PerSecond(_));
    (is_rate && findings::is_scaled_over(name)).then(|| scaling(evidence, name, &[]))?
}

/// The laws of a study that hold.
fn held(study: &Scaling) -> impl Iterator<Item = &FittedLaw> {
    study.laws.iter().filter_map(|(_, law)| law.as_ref().ok()).filter(|law| law.rejected().is_none())
}

/// The laws of a study between its smallest and its largest place.
pub fn curves(study: &Scaling) -> Vec<ComputedCurve> {
    held(study)
        .map(|law| {
            let first = law.band.iter().map(|point| point.at).fold(law.largest, f64::min);
            let growth = law.largest / first;
            let places = (0..=STEPS).map(|step| first * growth.powf(f64::from(step) / f64::from(STEPS)));
            let inside = law.band.iter().filter(|point| point.at <= law.largest);
            ComputedCurve {
                label: "fitted law".to_owned(),
                points: places.map(|place| (place, value(law, place))).collect(),
                band: inside
                    .filter_map(|point| point.value.ends.map(|ends| (point.at, ends.0, ends.1)))
                    .collect(),
            }
        })
        .filter(|curve| curve.points.iter().all(|(place, value)| place.is_finite() && value.is_finite()))
        .collect()
}

/// What a law says at a place.
fn value(law: &FittedLaw, place: f64) -> f64 {
    match (law.law, &law.asymptote) {
        (LawKind::HalfPerformance, Some(limit)) => place / (law.overhead.center + place / limit.center),
        (LawKind::HalfPerformance, None) => place / law.overhead.center,
        _ => {
            let waiting =
                law.contention.center * (place - 1.0) + law.coherence.center * place * (place - 1.0);
            law.single * place / (1.0 + waiting)
        }
    }
}

/// The batch sizes at which half of the limit is reached, where they lie among the measured ones.
pub fn half_performance(study: &Scaling) -> Vec<(f64, String)> {
    let mark = |law: &FittedLaw| {
        let (half, limit) = law.half_performance.as_ref().zip(law.asymptote.as_ref())?;
        let half = half.center;
        let least = law.band.iter().map(|point| point.at).fold(f64::INFINITY, f64::min);
        let text = format!(
            "half of {} at {}",
            fact(&study.metric.unit, limit.center),
            fact(&Unit::One, half.round())
        );
        (least..=law.largest).contains(&half).then_some((half, text))
    };
    held(study).filter_map(mark).collect()
}
