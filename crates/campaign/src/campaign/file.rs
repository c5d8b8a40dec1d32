//! `workload.config`: configuration files made for every run from a base file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path};

use toml::de::DeValue;

use super::names::Names;
use crate::configuration::{Assignment, ConfigurationFormat, KeyPath, Skeleton};
use crate::problem::Problem;
use crate::reader::{Collector, Item, SpannedText, Table};

/// A configuration file made for every run.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigurationFile {
    /// Its name inside the run directory.
    pub name: String,
    /// The base file with the values to set cut out.
    pub skeleton: Skeleton,
    /// SHA-256 of the base file's bytes.
    pub base_hash: String,
    /// The assignments in canonical form, for the point's hash.
    pub(crate) canonical: serde_json::Value,
    pub(crate) place: Range<usize>,
}

pub(super) fn read(
    mut table: Table<'_>,
    directory: &Path,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Option<ConfigurationFile> {
    let place = table.span.clone();
    let base = table.get("base");
    let write = table.get("write").and_then(|item| item.text());
    let set = table.get("set").and_then(|item| item.table());
    if base.is_none() {
        table.problem(Problem::error("[[workload.config]] has no `base` file"));
    }
    table.finish();
    let (places, assignments): (Vec<_>, Vec<_>) =
        set.map(|set| read_assignments(&set, names, problems)).unwrap_or_default().into_iter().unzip();
    let base = base?;
    let base_text = base.text()?;
    let base_name = Path::new(&base_text.value).file_name().map(|name| name.to_string_lossy().into_owned());
    let name_place = write.as_ref().map_or(base_text.span.clone(), |text| text.span.clone());
    let name = write.map(|text| text.value).or(base_name).unwrap_or_default();
    check_name(&name, &name_place, problems)?;
    let Some(format) = ConfigurationFormat::of(&base_text.value) else {
        base.problem(
            "the format of the base file is not known: its name must end in .yaml, .yml, .json or .toml",
        );
        return None;
    };
    let content = read_base(&base, &base_text, directory)?;
    let canonical: BTreeMap<String, serde_json::Value> =
        assignments.iter().map(|(path, assignment)| (path.to_string(), assignment.canonical())).collect();
    let canonical = canonical.into_iter().map(|(path, value)| serde_json::json!([path, value])).collect();
    match Skeleton::new(format, &content, assignments) {
        Ok(skeleton) => {
            let base_hash = assay_model::identity::hash_text(&content);
            Some(ConfigurationFile { name, skeleton, base_hash, canonical, place })
        }
        Err(errors) => {
            for error in errors {
                let span = error.assignment.and_then(|index| places.get(index).cloned());
                let message = format!("in `{}`: {}", base_text.value, error.message);
                let problem = Problem::error(message).at(span.unwrap_or(base_text.span.clone()));
                problems.add(problem.maybe_hint(error.hint));
            }
            None
        }
    }
}

/// The values to set, each with the place of its key.
fn read_assignments(
    set: &Table<'_>,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Vec<(Range<usize>, (KeyPath, Assignment))> {
    let mut assignments = Vec::new();
    for (key, item) in set.entries() {
        let value = assignment(&item, names);
        match (KeyPath::parse(&key.value), value) {
            (Ok(path), Some(value)) => assignments.push((key.span, (path, value))),
            (Ok(_), None) => {}
            (Err(reason), _) => {
                let problem = Problem::error(format!("`{}` is not a key path: {reason}", key.value));
                problems.add(problem.at(key.span).hint("write for example `trainer.callbacks[0].name`"));
            }
        }
    }
    assignments
}

fn read_base(item: &Item<'_>, name: &SpannedText, directory: &Path) -> Option<String> {
    let path = directory.join(&name.value);
    // A pipe would be waited for, and a device may have no end.
    if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        item.problem(format!("the base `{}` is not a regular file", name.value));
        return None;
    }
    match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(content)) => Some(content),
        Ok(Err(_)) => {
            item.problem(format!("the base file `{}` is not UTF-8 text", name.value));
            None
        }
        Err(error) => {
            item.problem(format!("the base file `{}` cannot be read: {error}", name.value));
            None
        }
    }
}

/// Whether the launcher writes a file of this name into run directories itself.
fn is_taken(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["run.sh", "stdout.log", "stderr.log", "arrival.tsv", "steps.log", "result.jsonl"];
    NAMES.contains(&name) || (name.starts_with("follow-") && name.ends_with(".log"))
}

/// A file name must stay inside the run directory and must not hide what the launcher writes there.
fn check_name(name: &str, place: &Range<usize>, problems: &Collector<'_>) -> Option<()> {
    let path = Path::new(name);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_taken(name) {
        let problem = Problem::error(format!("`{name}` is a file that every run directory has"));
        problems.add(problem.at(place.clone()).hint("choose another name with `write`"));
        return None;
    }
    if inside && path.components().count() > 0 && !name.ends_with('/') {
        return Some(());
    }
    let problem = Problem::error(format!("`{name}` is not a name inside the run directory"));
    problems.add(problem.at(place.clone()).hint("write a plain file name such as `params.yaml`"));
    None
}

fn assignment(item: &Item<'_>, names: &Names<'_>) -> Option<Assignment> {
    match item.value {
        DeValue::String(_) => names.template(&item.text()?).map(Assignment::Text),
        DeValue::Array(_) => {
            let items = item.list("a list")?;
            items.iter().map(|item| assignment(item, names)).collect::<Option<_>>().map(Assignment::List)
        }
        DeValue::Table(_) => {
            let entries = item.table()?.entries();
            entries
                .into_iter()
                .map(|(key, item)| Some((key.value, assignment(&item, names)?)))
                .collect::<Option<_>>()
                .map(Assignment::Table)
        }
        _ => item.scalar().map(Assignment::Fixed),
    }
}
