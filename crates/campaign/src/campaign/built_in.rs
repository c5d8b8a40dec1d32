//! The settings of built-in workloads, checked against what the registry says of them.

use std::collections::BTreeSet;

use assay_model::{SettingKind, Value, WorkloadDescription, duration};

use super::sweep::Sweep;
use crate::problem::Problem;
use crate::reader::Collector;
use crate::suggest;

/// Checks the settings of a built-in workload against its description and fills in its defaults.
pub(super) fn check_settings(
    description: &WorkloadDescription,
    sweep: &mut Sweep,
    labels: &BTreeSet<String>,
    problems: &Collector<'_>,
) {
    let known = || description.settings.iter().map(|setting| setting.name.as_str());
    for (name, place) in &sweep.places {
        if labels.contains(name) || known().any(|known| known == name) {
            continue;
        }
        let problem = Problem::error(format!("the workload `{}` has no setting `{name}`", description.name));
        let labels = format!("if it only labels runs, add `labels = [\"{name}\"]` under [workload]");
        let hint = match (suggest::nearest(name, known()), problems.is_file()) {
            (Some(near), true) => Some(format!("did you mean `{near}`? Or {labels}")),
            (None, true) => Some(labels),
            (_, false) => suggest::hint(name, known()),
        };
        problems.add(problem.at(place.clone()).label("not a setting").maybe_hint(hint));
    }
    for setting in &description.settings {
        match (sweep.places.get(&setting.name), &setting.default) {
            (Some(place), _) => {
                if let Some(reason) =
                    sweep_values(sweep, &setting.name).find_map(|value| unfit(value, &setting.kind))
                {
                    let problem = Problem::error(format!("`{}` {reason}", setting.name)).at(place.clone());
                    problems.add(problem.hint(format!("`{}`: {}", setting.name, setting.summary)));
                }
            }
            (None, Some(default)) => {
                sweep.fixed.insert(setting.name.clone(), default.clone());
            }
            (None, None) if setting.optional => {}
            (None, None) => {
                let message =
                    format!("the workload `{}` needs the setting `{}`", description.name, setting.name);
                problems.add(Problem::error(message).hint(setting.summary.clone()));
            }
        }
    }
}

fn sweep_values<'a>(sweep: &'a Sweep, name: &'a str) -> impl Iterator<Item = &'a Value> {
    let fixed = sweep.fixed.get(name).into_iter();
    let varied = sweep.axes.iter().flat_map(move |axis| {
        let column = axis.names.iter().position(|known| known == name);
        axis.rows.iter().filter_map(move |row| row.get(column?))
    });
    let points = sweep.points.iter().filter_map(move |(settings, _)| settings.get(name));
    fixed.chain(varied).chain(points)
}

/// Why a value does not fit a setting; none if it does.
fn unfit(value: &Value, kind: &SettingKind) -> Option<String> {
    match (kind, value) {
        (SettingKind::Integer { min, max }, Value::Integer(number)) => match (min..=max).contains(&number) {
            true => None,
            false if number < min => Some(format!("is {number}, but the smallest allowed is {min}")),
            false => Some(format!("is {number}, but the largest allowed is {max}")),
        },
        (SettingKind::Integer { .. }, other) => Some(format!("must be an integer, not {other}")),
        (SettingKind::Number, Value::Integer(_) | Value::Float(_))
        | (SettingKind::Text, Value::Text(_))
        | (SettingKind::Switch, Value::Switch(_)) => None,
        (SettingKind::Duration, value) => duration::seconds(value).err(),
        (SettingKind::Number, other) => Some(format!("must be a number, not `{other}`")),
        (SettingKind::Text, other) => Some(format!("must be text, not {other}")),
        (SettingKind::Switch, other) => Some(format!("must be true or false, not `{other}`")),
        (SettingKind::Choice(words), Value::Text(word)) if words.contains(word) => None,
        (SettingKind::Choice(words), other) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Some(format!("is `{other}`, but must be one of {}", suggest::list(&words).unwrap_or_default()))
        }
    }
}
