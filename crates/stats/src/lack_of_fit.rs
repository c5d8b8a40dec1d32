//! Whether repeats leave a law possible.

use crate::distribution::f_upper;

/// A run at a place, with its weight in the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighed {
    /// The setting's value.
    pub place: f64,
    /// What was measured there.
    pub value: f64,
    /// One over its variance, up to a common factor.
    pub weight: f64,
}

/// Whether repeats of the same levels leave a law possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LackOfFit {
    /// What the law misses over what repeats differ by, each by its degrees of freedom.
    pub statistic: f64,
    /// Different levels minus the law's parameters.
    pub freedom: f64,
    /// Repeats beyond the first of each level.
    pub freedom_of_repeats: f64,
    /// The chance of so large a statistic if the law were true.
    pub p: f64,
    /// By how much the law typically misses the means of the levels, as a share of them.
    pub misfit: f64,
}

/// Laws that miss the means by less are good enough, however exactly repeats agree.
const PRACTICAL_MISFIT: f64 = 0.01;
/// Below this chance a law is rejected.
const REJECTION: f64 = 0.05;

impl LackOfFit {
    /// Whether repeats reject the law: it misses their means by more than they differ, and by more than 1 %. A
    /// significance alone never decides.
    pub fn rejects(&self) -> bool {
        self.p < REJECTION && self.misfit > PRACTICAL_MISFIT
    }
}

/// The F test for lack of fit of a law with `parameters`: SS(lack)/(m − p) over SS(pure error)/(n − m), weighted as the
/// fit is.
///
/// `None` without repeats, with no more levels than parameters, or where repeats do not differ at all.
///
/// Source: Draper & Smith, "Applied Regression Analysis", 2.1. Oracle: numpy and `scipy.stats.f.sf`.
pub fn lack_of_fit(runs: &[Weighed], law: impl Fn(f64) -> f64, parameters: usize) -> Option<LackOfFit> {
    let mut groups: Vec<(f64, Vec<&Weighed>)> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|(place, _)| *place == run.place) {
            Some((_, group)) => group.push(run),
            None => groups.push((run.place, vec![run])),
        }
    }
    let (mut lack, mut pure, mut size) = (0.0, 0.0, 0.0);
    for (place, group) in &groups {
        let weight: f64 = group.iter().map(|run| run.weight).sum();
        let mean = group.iter().map(|run| run.weight * run.value).sum::<f64>() / weight;
        lack += weight * (mean - law(*place)).powi(2);
        size += weight * mean.powi(2);
        pure += group.iter().map(|run| run.weight * (run.value - mean).powi(2)).sum::<f64>();
    }
    let freedom = groups.len() as f64 - parameters as f64;
    let freedom_of_repeats = (runs.len() - groups.len()) as f64;
    if freedom < 1.0 || freedom_of_repeats < 1.0 || pure <= 0.0 {
        return None;
    }
    let statistic = (lack / freedom) / (pure / freedom_of_repeats);
    let p = f_upper(statistic, freedom, freedom_of_repeats)?;
    Some(LackOfFit { statistic, freedom, freedom_of_repeats, p, misfit: (lack / size).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two runs each at three places, of which the middle one is off a line by a share.
    fn runs(off: f64, noise: f64) -> Vec<Weighed> {
        let all = [1.0, 2.0, 3.0].into_iter().flat_map(|place| {
            let value = if place == 2.0 { place * (1.0 + off) } else { place };
            [1.0 - noise, 1.0 + noise].map(|factor| Weighed {
                place,
                value: value * factor,
                weight: place.powi(-2),
            })
        });
        all.collect()
    }

    #[test]
    fn a_significance_alone_rejects_nothing() {
        let test = |off, noise| lack_of_fit(&runs(off, noise), |place| place, 1).unwrap();
        // Far beyond the noise, and still nothing that anybody would act upon.
        let tiny = test(0.005, 0.00001);
        assert!(tiny.p < 1e-6 && tiny.misfit < 0.005 && !tiny.rejects(), "{tiny:?}");
        let bent = test(0.1, 0.001);
        assert!(bent.p < 1e-4 && bent.misfit > 0.05 && bent.rejects(), "{bent:?}");
        assert!(!test(0.1, 0.3).rejects());
    }
}
