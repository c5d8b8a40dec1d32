//! Which settings were in effect: what was observed against what was declared.

use std::collections::BTreeMap;

use assay_model::document::Standing as Known;
use assay_model::{ReadRun, SettingFact, Value, names};

use super::{Disproved, close, equal};

/// Settings that a write-up states about a run, rather than passing them to it.
fn is_told(fact: &SettingFact) -> bool {
    matches!(fact.by.as_str(), "prose" | "table")
}

/// How much a way of declaring a setting counts: later ones overrule earlier ones in most programs.
fn authority(fact: &SettingFact) -> u8 {
    match fact.by.as_str() {
        "command line" => 5,
        "environment" => 4,
        "configuration" | "log" => 3,
        "prose" | "table" => 2,
        _ => 1,
    }
}

/// Settings whose observed value may rightly differ from the declared one: schedules change them, or what is seen
/// is another thing of the same name.
const NOT_COMPARED: [&str; 6] = [
    names::setting::LEARNING_RATE,
    names::setting::SEED,
    names::setting::MODEL,
    names::setting::DEVICE,
    names::setting::INPUT,
    names::setting::PRECISION,
];

/// Declared settings that the observed ones contradict.
pub(super) fn disproved(read: &ReadRun) -> Vec<Disproved<'_>> {
    if read.dialects.first().is_some_and(|dialect| dialect == "table") {
        return Vec::new();
    }
    let mut found: Vec<Disproved<'_>> = Vec::new();
    for declared in read.settings.iter().filter(|fact| fact.standing == Known::Declared) {
        if NOT_COMPARED.contains(&declared.name.as_str()) || is_overruled(read, declared) {
            continue;
        }
        let seen: Vec<&SettingFact> = observed(read, &declared.name).collect();
        let Some(observed) = seen.last() else { continue };
        let known = found.iter().any(|other| other.declared.name == declared.name);
        if !known && seen.iter().all(|observed| !agrees(read, declared, observed)) {
            found.push(Disproved { declared, observed });
        }
    }
    found
}

fn observed<'a>(read: &'a ReadRun, name: &'a str) -> impl Iterator<Item = &'a SettingFact> {
    read.settings.iter().filter(move |fact| fact.standing == Known::Observed && fact.name == name)
}

/// Whether something that is passed to the program later sets another value. What a write-up says stands alone.
fn is_overruled(read: &ReadRun, declared: &SettingFact) -> bool {
    !is_told(declared)
        && read.settings.iter().any(|other| {
            other.standing == Known::Declared
                && other.name == declared.name
                && !is_told(other)
                && authority(other) > authority(declared)
        })
}

/// Whether what was seen can be what was asked for.
fn agrees(read: &ReadRun, declared: &SettingFact, observed: &SettingFact) -> bool {
    if equal(&declared.value, &observed.value) {
        return true;
    }
    let (Some(asked), Some(seen)) = (declared.value.number(), observed.value.number()) else {
        return declared.value.kind() != observed.value.kind();
    };
    let is_count = matches!(declared.name.as_str(), names::setting::STEPS | names::setting::EPOCHS);
    if is_count && seen < asked && !read.status.is_usable() {
        // A run that ended early has done less than was asked for, and says nothing about the setting.
        return true;
    }
    // A batch may be counted for each device or for all of them.
    declared.name == names::setting::BATCH_SIZE
        && read
            .settings
            .iter()
            .filter(|fact| {
                [names::setting::TASKS, names::setting::DEVICES, names::setting::NODES]
                    .contains(&fact.name.as_str())
            })
            .filter_map(|fact| fact.value.number())
            .any(|factor| {
                factor > 1.0 && (close(asked * factor, seen, 1e-6) || close(seen * factor, asked, 1e-6))
            })
}

/// The settings in effect. Once one declared setting is contradicted, others that were declared in the same way and
/// that nothing confirms are left out: most likely they did not reach the program either.
pub(super) fn effective<'a>(read: &'a ReadRun, disproved: &[Disproved<'a>]) -> BTreeMap<&'a str, &'a Value> {
    let mut chosen: BTreeMap<&'a str, (u8, &'a Value)> = BTreeMap::new();
    for fact in read.settings.iter().filter(|fact| fact.name != names::setting::JOB) {
        let weight = match fact.standing {
            Known::Observed => u8::MAX,
            Known::Declared if disproved.iter().any(|other| other.declared.by == fact.by) => continue,
            Known::Declared => authority(fact),
        };
        let entry = chosen.entry(fact.name.as_str()).or_insert((weight, &fact.value));
        if weight >= entry.0 {
            *entry = (weight, &fact.value);
        }
    }
    chosen.into_iter().map(|(name, (_, value))| (name, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{Build, document};
    use super::super::Facts;
    use super::*;

    #[test]
    fn observed_settings_come_before_declared_ones() {
        let document = document("notes.md", |build: &mut Build| {
            build
                .log("poptorch", "graphcore")
                .declared("epochs", 50)
                .declared("batch_size", 16)
                .observed("epochs", 10)
                .metric("accuracy", 0.9872);
        });
        let documents = [document];
        let facts = Facts::new(&documents);
        let run = &facts.runs[0];
        assert_eq!(run.number("epochs"), Some(10.0));
        // The batch was asked for in the same way as the epochs, and nothing confirms it.
        assert_eq!(run.number("batch_size"), None);
        assert_eq!(run.disproved.len(), 1);
    }

    #[test]
    fn what_was_overruled_or_cut_short_is_no_contradiction() {
        let mut overruled = document("a.log", |build: &mut Build| {
            build.log("cerebras", "cerebras").declared("batch_size", 512).observed("batch_size", 1024);
        });
        let settings = &mut overruled.runs[0].settings;
        settings[0].by = "configuration".to_owned();
        let mut passed = settings[1].clone();
        passed.standing = Known::Declared;
        passed.by = "command line".to_owned();
        settings.push(passed);
        let mut cut = document("b.log", |build: &mut Build| {
            build.log("tqdm", "local").declared("steps", 1000).observed("steps", 400);
        });
        cut.runs[0].status = assay_model::Status::Truncated;
        let for_each = document("c.log", |build: &mut Build| {
            build
                .log("megatron", "nvidia")
                .declared("batch_size", 8)
                .observed("batch_size", 64)
                .observed("devices", 8);
        });
        let documents = [overruled, cut, for_each];
        let facts = Facts::new(&documents);
        assert!(facts.runs.iter().all(|run| run.disproved.is_empty()));
    }
}
