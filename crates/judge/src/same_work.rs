//! Whether two cells did the same work. Engines that do not compute the same thing, and runs that were watched while
//! they ran, have times that mean nothing beside others.

use std::collections::BTreeMap;

use assay_model::{Settings, Value, names};

/// How far parity values of two engines may differ, as a share: rounding differs, mathematics does not. The norm of
/// a gradient gathers the rounding of every layer.
const TOLERANCES: [(&str, f64); 3] =
    [(names::PARITY_LOSS, 2e-5), (names::PARITY_OUTPUT, 1e-4), (names::PARITY_GRADIENT, 1e-3)];

/// Why two cells must not be compared by their speed; none if nothing speaks against it.
pub fn difference(a: &Work<'_>, b: &Work<'_>) -> Option<String> {
    if is_profiled(a.settings) != is_profiled(b.settings) {
        return Some("one of the two was profiled, which costs time".to_owned());
    }
    if !same_task(a.settings, b.settings) {
        return None;
    }
    TOLERANCES.iter().find_map(|(name, tolerance)| {
        let (a, b) = (a.parity.get(*name)?, b.parity.get(*name)?);
        let differs = (a - b).abs() > tolerance * a.abs().max(b.abs());
        differs.then(|| format!("they compute different results: {name} is {a} and {b}"))
    })
}

/// What a cell computed, as far as its runs report.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// Its settings.
    pub settings: &'a Settings,
    /// Its parity values.
    pub parity: &'a BTreeMap<String, f64>,
}

/// Whether a cell's runs were profiled.
pub fn is_profiled(settings: &Settings) -> bool {
    match settings.get(names::setting::PROFILE) {
        Some(Value::Text(path)) => !path.is_empty(),
        Some(Value::Switch(on)) => *on,
        _ => false,
    }
}

/// Whether two cells were asked for the same computation: they differ only in settings that say how it is done.
fn same_task(a: &Settings, b: &Settings) -> bool {
    let what = |settings: &Settings| -> Vec<(String, Value)> {
        let of_task = |name: &str| !names::setting::HOW.contains(&name);
        let pairs = settings.iter().filter(|(name, _)| of_task(name));
        pairs.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    what(a) == what(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
    }

    fn parity(loss: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(names::PARITY_LOSS.to_owned(), loss)])
    }

    #[test]
    fn engines_that_give_another_loss_are_not_compared() {
        let native = settings(&[("engine", "native"), ("size", "small")]);
        let torch = settings(&[("engine", "torch"), ("size", "small")]);
        let larger = settings(&[("engine", "torch"), ("size", "medium")]);
        let check = |b: &Settings, loss: f64| {
            let (ours, theirs) = (parity(9.224_354), parity(loss));
            difference(&Work { settings: &native, parity: &ours }, &Work { settings: b, parity: &theirs })
        };
        assert_eq!(check(&torch, 9.224_353_8), None);
        assert!(check(&torch, 9.2311).unwrap().contains("9.2311"));
        // Another size has another loss, and nobody claims otherwise.
        assert_eq!(check(&larger, 9.5), None);
    }

    #[test]
    fn a_profiled_run_is_not_compared_with_a_plain_one() {
        let plain = settings(&[("profile", "")]);
        let profiled = settings(&[("profile", "trace.json")]);
        let none = BTreeMap::new();
        let work = |settings| Work { settings, parity: &none };
        assert!(difference(&work(&plain), &work(&profiled)).is_some());
        assert_eq!(difference(&work(&profiled), &work(&profiled)), None);
        assert_eq!(difference(&work(&plain), &work(&plain)), None);
    }
}
