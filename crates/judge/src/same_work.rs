//! Whether two cells did the same work. Engines that do not compute the same thing, and runs that were watched while
//! they ran, have times that mean nothing beside others.

use std::collections::BTreeMap;

use assay_model::names::setting;
use assay_model::{Metric, Settings, Unit, Value, names};

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
    /// How much it did, by the metrics that count work.
    pub amounts: &'a BTreeMap<String, f64>,
}

/// How far counts of work may differ, as a share: a last batch that was cut short is the same work.
const SAME_AMOUNT: f64 = 0.02;

/// Settings of which one step or iteration does more with more.
const PER_STEP: [&str; 14] = [
    setting::BATCH_SIZE,
    setting::MICRO_BATCH_SIZE,
    setting::SEQUENCE_LENGTH,
    setting::D_MODEL,
    setting::D_FF,
    setting::LAYERS,
    setting::HEADS,
    setting::VOCABULARY,
    "batch",
    "bs",
    "global_batch_size",
    "per_device_train_batch_size",
    "seq_len",
    "max_seq_length",
];
/// Settings that say how many steps, passes or items a whole run does.
const PER_RUN: [&str; 10] = [
    setting::EPOCHS,
    setting::STEPS,
    setting::REQUESTS,
    "iterations",
    "max_steps",
    "num_epochs",
    "num_train_epochs",
    "num_prompts",
    "samples",
    "train_steps",
];

/// What of the work a metric grows with; none where it does not depend on how much was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grows {
    /// The time of one step or iteration: with what a step takes in.
    WithStep,
    /// The time of a whole run: with the number of steps, too.
    WithRun,
}

/// Times and energies grow with the work. Rates and shares do not, nor does what a service takes to answer, which is
/// what its users wait for; a time to a quality is the whole point of a comparison.
fn growth(metric: &Metric) -> Option<Grows> {
    let name = metric.name.as_str();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if metric.unit != Unit::Seconds && !name.starts_with(names::ENERGY)
        || starts(&["ttft", "ttfo", "tpot", "itl", "e2e", "time_to", "time.to", "epoch_s"])
    {
        return None;
    }
    Some(if starts(&["time.", "step_s", "latency", "timing"]) { Grows::WithStep } else { Grows::WithRun })
}

/// Why two cells must not be ranked by a metric: it grows with the work, and they do not do the same amount. None for
/// metrics that do not depend on the amount of work, and where nothing says that it differs.
pub fn unequal(a: &Work<'_>, b: &Work<'_>, metric: &Metric) -> Option<String> {
    let growth = growth(metric)?;
    let differs = |name: &&&str| match (a.settings.get(**name), b.settings.get(**name)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    let found = match growth {
        Grows::WithStep => PER_STEP.iter().find(differs),
        // The batch size does not change what an epoch takes, but it does change what a number of steps takes.
        Grows::WithRun => PER_RUN.iter().find(differs).or_else(|| {
            let counted = [setting::STEPS, "max_steps", "train_steps", "iterations"];
            let by_steps = counted.iter().any(|name| a.settings.contains_key(*name));
            by_steps.then(|| PER_STEP.iter().find(differs)).flatten()
        }),
    };
    if let Some(name) = found {
        let value = |work: &Work<'_>| work.settings.get(*name).map(ToString::to_string).unwrap_or_default();
        return Some(format!("the work differs with {name} ({} and {})", value(a), value(b)));
    }
    a.amounts.iter().find_map(|(name, a)| {
        let b = b.amounts.get(name)?;
        let differs = (a - b).abs() > SAME_AMOUNT * a.abs().max(b.abs());
        differs.then(|| format!("the work differs: {name} {} and {}", rounded(*a), rounded(*b)))
    })
}

/// A count for people: whole where it nearly is.
fn rounded(amount: f64) -> String {
    let digits = if amount.abs() >= 100.0 { 0 } else { 2 };
    format!("{amount:.digits$}")
}

/// Whether a cell's runs were profiled.
pub fn is_profiled(settings: &Settings) -> bool {
    match settings.get(setting::PROFILE) {
        Some(Value::Text(path)) => !path.is_empty(),
        Some(Value::Switch(on)) => *on,
        _ => false,
    }
}

/// Whether two cells were asked for the same computation: they differ only in settings that say how it is done.
fn same_task(a: &Settings, b: &Settings) -> bool {
    let what = |settings: &Settings| -> Vec<(String, Value)> {
        let of_task = |name: &str| !setting::HOW.contains(&name);
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
            let amounts = BTreeMap::new();
            let (ours, theirs) = (
                Work { settings: &native, parity: &ours, amounts: &amounts },
                Work { settings: b, parity: &theirs, amounts: &amounts },
            );
            difference(&ours, &theirs)
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
        let work = |settings| Work { settings, parity: &none, amounts: &none };
        assert!(difference(&work(&plain), &work(&profiled)).is_some());
        assert_eq!(difference(&work(&profiled), &work(&profiled)), None);
        assert_eq!(difference(&work(&plain), &work(&plain)), None);
    }

    #[test]
    fn times_of_unequal_work_are_not_ranked_and_rates_are() {
        let none = BTreeMap::new();
        let (small, large) = (settings(&[("batch_size", "8")]), settings(&[("batch_size", "32")]));
        let amounts = |tokens: f64| BTreeMap::from([("tokens".to_owned(), tokens)]);
        let metric = |name: &str, unit: &str| Metric {
            name: name.to_owned(),
            unit: Unit::parse(unit).0,
            better: None,
        };
        let work = |settings| Work { settings, parity: &none, amounts: &none };
        let why = unequal(&work(&small), &work(&large), &metric("time.iteration", "s")).unwrap();
        assert!(why.contains("batch_size (8 and 32)"), "{why}");
        for (name, unit) in
            [("tokens_per_s", "tokens/s"), ("accuracy", "fraction"), ("ttft", "s"), ("epoch_s", "s")]
        {
            assert_eq!(unequal(&work(&small), &work(&large), &metric(name, unit)), None, "{name}");
        }
        // The same epochs are the same work, whatever the batch size; the same steps are not.
        assert_eq!(unequal(&work(&small), &work(&large), &metric("duration.wall", "s")), None);
        let steps = |batch| settings(&[("batch_size", batch), ("steps", "100")]);
        let (a, b) = (steps("8"), steps("32"));
        assert!(unequal(&work(&a), &work(&b), &metric("duration.wall", "s")).is_some());
        let (few, many, plain) = (amounts(1000.0), amounts(4000.0), settings(&[]));
        let counted = |amounts| Work { settings: &plain, parity: &none, amounts };
        let why = unequal(&counted(&few), &counted(&many), &metric("duration.wall", "s")).unwrap();
        assert!(why.contains("tokens 1000 and 4000"), "{why}");
        assert_eq!(unequal(&counted(&few), &counted(&amounts(1001.0)), &metric("duration.wall", "s")), None);
    }
}
