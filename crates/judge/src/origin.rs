//! Where the runs of a cell come from. Runs of a changed program, or made with other versions of what is around it, are
//! no repeats of those before, and their number says so.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Caveat, CellId};
use assay_store::{Index, RunOrigin, SessionFacts};

use crate::JudgeError;
use crate::estimate::caveat;

/// The most packages that a caveat names.
const MOST_NAMED: usize = 3;

/// The doubts about runs of one record that do not come from the same programs and versions, by cell.
pub fn doubts(index: &Index) -> Result<BTreeMap<CellId, Vec<Caveat>>, JudgeError> {
    let sessions: BTreeMap<i64, Facts> =
        index.sessions()?.into_iter().map(|session| (session.session, facts(session))).collect();
    Ok(of_origins(&index.origins()?, &sessions))
}

/// What is known of a session, by what people call it.
type Facts = BTreeMap<String, String>;

fn facts(session: SessionFacts) -> Facts {
    let named = |(name, value): (String, String)| {
        let known = match name.as_str() {
            "git.commit" => "commit of the campaign's directory",
            "python.packages" => PACKAGES,
            "driver.nvidia" => "NVIDIA driver",
            "driver.amdgpu" => "AMD GPU driver",
            "container.image" => "container image",
            "machine.host" => "host",
            "machine.cpu" => "CPU",
            "machine.kernel" => "kernel",
            "run.profiler" => PROFILER,
            other => match other.strip_prefix(PATTERNS) {
                Some(metric) => return (format!("{PATTERN_OF}`{metric}`"), value),
                None => return (name, value),
            },
        };
        (known.to_owned(), value)
    };
    let mut all: Facts = session.facts.into_iter().map(named).collect();
    all.insert("assay".to_owned(), session.program);
    all
}

const PACKAGES: &str = "Python packages";
const PROFILER: &str = "profiler";
/// Facts that say how the campaign's patterns read a metric.
const PATTERNS: &str = "read.";
const PATTERN_OF: &str = "pattern of ";

fn of_origins(origins: &[RunOrigin], sessions: &BTreeMap<i64, Facts>) -> BTreeMap<CellId, Vec<Caveat>> {
    let newest = newest_files(origins);
    let latest =
        origins.iter().filter_map(|origin| origin.session).max().and_then(|last| sessions.get(&last));
    let mut by_cell: BTreeMap<&CellId, Vec<&RunOrigin>> = BTreeMap::new();
    for origin in origins {
        by_cell.entry(&origin.cell).or_default().push(origin);
    }
    let mut found = BTreeMap::new();
    for (cell, origins) in by_cell {
        let mut all: Vec<Caveat> = changed_files(&origins, &newest);
        all.extend(latest.and_then(|latest| mixed_versions(&origins, sessions, latest)));
        if !all.is_empty() {
            found.insert(cell.clone(), all);
        }
    }
    found
}

/// The newest content of each file that is the same for all cells of a session. A program that is built anew for each
/// cell differs between cells on purpose.
fn newest_files(origins: &[RunOrigin]) -> BTreeMap<&str, &str> {
    let mut contents: BTreeMap<&str, BTreeMap<i64, BTreeSet<&str>>> = BTreeMap::new();
    for origin in origins {
        for file in &origin.files {
            let of_file = contents.entry(file.name.as_str()).or_default();
            of_file.entry(origin.session.unwrap_or(0)).or_default().insert(&file.content);
        }
    }
    let common = contents.into_iter().filter_map(|(name, by_session)| {
        let is_common = by_session.values().all(|contents| contents.len() == 1);
        let (_, last) = by_session.last_key_value()?;
        Some((name, *last.first()?)).filter(|_| is_common)
    });
    common.collect()
}

/// One caveat for each file that changed between the runs of a cell, or after them.
fn changed_files(origins: &[&RunOrigin], newest: &BTreeMap<&str, &str>) -> Vec<Caveat> {
    let names: BTreeSet<&str> =
        origins.iter().flat_map(|origin| &origin.files).map(|file| file.name.as_str()).collect();
    let mut found = Vec::new();
    for name in names {
        let mut parts: Vec<(&str, (u32, u32))> = Vec::new();
        for origin in origins {
            let Some(file) = origin.files.iter().find(|file| file.name == name) else { continue };
            match parts.last_mut().filter(|(content, _)| *content == file.content) {
                Some((_, repeats)) => repeats.1 = repeats.1.max(origin.repeats.1),
                None => parts.push((&file.content, origin.repeats)),
            }
        }
        let text = match parts.as_slice() {
            [(first, before), .., (last, after)] if first != last || parts.len() > 2 => format!(
                "`{name}` changed between the runs: {} used {first}, {} used {last}",
                repeats(*before),
                repeats(*after)
            ),
            [(only, _)] if newest.get(name).is_some_and(|newest| newest != only) => {
                format!("`{name}` changed after these runs: they used {only}, later rows {}", newest[name])
            }
            _ => continue,
        };
        found.push(caveat(
            "changed_program",
            &text,
            "runs of a changed program are not repeats: run it into a record of its own, then `assay compare`",
        ));
    }
    found
}

fn repeats((first, last): (u32, u32)) -> String {
    if first == last { format!("repeat {first}") } else { format!("repeats {first} to {last}") }
}

/// What differs between the sessions of a cell's runs, or between them and the latest one of the record.
fn mixed_versions(origins: &[&RunOrigin], sessions: &BTreeMap<i64, Facts>, latest: &Facts) -> Option<Caveat> {
    let own: Vec<&Facts> = origins.iter().filter_map(|origin| sessions.get(&origin.session?)).collect();
    let mut differences: Vec<String> = Vec::new();
    for facts in own {
        for name in facts.keys().chain(latest.keys().filter(|name| !facts.contains_key(*name))) {
            let unknown = String::from(if name == PROFILER { "none" } else { "unknown" });
            let (old, new) = (facts.get(name).unwrap_or(&unknown), latest.get(name).unwrap_or(&unknown));
            // Runs from before a pattern was added have no value of its metric.
            let is_added = name.starts_with(PATTERN_OF) && [old, new].contains(&&unknown);
            if old != new && !is_added {
                let text = match name.as_str() {
                    PACKAGES => format!("{PACKAGES} {}", changed_packages(old, new)),
                    _ => format!("{name} {old} and {new}"),
                };
                if !differences.contains(&text) {
                    differences.push(text);
                }
            }
        }
    }
    (!differences.is_empty()).then(|| {
        caveat(
            "mixed_versions",
            &format!("runs of this record were made with different versions: {}", differences.join("; ")),
            "rerun all of it in one go, into a record of its own, before comparing its rows",
        )
    })
}

/// The packages in which two lists differ: `numpy==1.26 → numpy==2.1`.
fn changed_packages(old: &str, new: &str) -> String {
    let list = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<String>>();
    let (old, new) = (list(old), list(new));
    let name = |package: &str| package.split("==").next().unwrap_or(package).to_owned();
    let mut changes: Vec<String> = Vec::new();
    for package in old.difference(&new) {
        let other = new.difference(&old).find(|other| name(other) == name(package));
        changes
            .push(other.map_or_else(|| format!("without {package}"), |other| format!("{package} → {other}")));
    }
    let added = new.difference(&old).filter(|package| old.iter().all(|other| name(other) != name(package)));
    changes.extend(added.map(|package| format!("with {package}")));
    let more = changes.len().saturating_sub(MOST_NAMED);
    changes.truncate(MOST_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", changes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{PointId, UsedFile};

    fn origin(cell: &str, session: i64, repeats: (u32, u32), files: &[(&str, &str)]) -> RunOrigin {
        let used =
            |(name, content): &(&str, &str)| UsedFile { name: (*name).into(), content: (*content).into() };
        RunOrigin {
            cell: CellId { point: PointId(cell.to_owned()), platform: "local".to_owned() },
            session: Some(session),
            files: files.iter().map(used).collect(),
            repeats,
        }
    }

    fn texts(origins: &[RunOrigin], sessions: &[(i64, &[(&str, &str)])]) -> BTreeMap<String, Vec<String>> {
        let facts = |facts: &[(&str, &str)]| {
            facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Facts>()
        };
        let sessions = sessions.iter().map(|(number, known)| (*number, facts(known))).collect();
        let found = of_origins(origins, &sessions).into_iter();
        found.map(|(cell, all)| (cell.point.0, all.into_iter().map(|caveat| caveat.text).collect())).collect()
    }

    #[test]
    fn a_program_that_changed_is_named_where_it_counts() {
        let origins = [
            origin("a", 1, (1, 3), &[("./solve", "old"), ("data", "same")]),
            origin("a", 2, (4, 6), &[("./solve", "new"), ("data", "same")]),
            origin("b", 1, (1, 6), &[("./solve", "old"), ("data", "same")]),
            origin("c", 2, (1, 6), &[("./solve", "new"), ("data", "same")]),
        ];
        let found = texts(&origins, &[]);
        assert_eq!(
            found["a"],
            ["`./solve` changed between the runs: repeats 1 to 3 used old, repeats 4 to 6 used new"]
        );
        assert_eq!(found["b"], ["`./solve` changed after these runs: they used old, later rows new"]);
        assert!(!found.contains_key("c"));
    }

    #[test]
    fn a_program_that_is_built_for_each_cell_is_no_reason_for_doubt() {
        let origins =
            [origin("a", 1, (1, 6), &[("./solve", "x")]), origin("b", 1, (1, 6), &[("./solve", "y")])];
        assert!(texts(&origins, &[]).is_empty());
    }

    #[test]
    fn versions_that_differ_are_named_at_the_older_cells() {
        let origins = [origin("a", 1, (1, 6), &[]), origin("b", 2, (1, 6), &[])];
        let old: &[(&str, &str)] = &[("assay", "0.1"), (PACKAGES, "numpy==1.26 torch==2.1"), ("host", "n1")];
        let new: &[(&str, &str)] = &[("assay", "0.1"), (PACKAGES, "numpy==1.26 torch==2.2"), ("host", "n1")];
        let found = texts(&origins, &[(1, old), (2, new)]);
        assert_eq!(
            found["a"],
            [
                "runs of this record were made with different versions: Python packages torch==2.1 → torch==2.2"
            ]
        );
        assert!(!found.contains_key("b"));
        let plain: &[(&str, &str)] = &[("assay", "0.1")];
        let profiled: &[(&str, &str)] = &[("assay", "0.1"), (PROFILER, "PVTI_OPTIONS")];
        let found = texts(&origins, &[(1, profiled), (2, plain)]);
        assert_eq!(
            found["a"],
            ["runs of this record were made with different versions: profiler PVTI_OPTIONS and none"]
        );
    }

    #[test]
    fn a_changed_pattern_is_a_caveat_and_a_new_one_is_not() {
        let origins = [origin("a", 1, (1, 4), &[]), origin("a", 2, (5, 8), &[])];
        let name = "pattern of `t`";
        let old: &[(&str, &str)] = &[("assay", "0.1"), (name, "`took (.*)` × 0.001 s")];
        let new: &[(&str, &str)] = &[("assay", "0.1"), (name, "`took (.*)` × 1 s")];
        let found = texts(&origins, &[(1, old), (2, new)]);
        assert!(found["a"][0].contains("× 0.001 s and `took (.*)` × 1 s"), "{found:?}");
        let none: &[(&str, &str)] = &[("assay", "0.1")];
        assert!(texts(&origins, &[(1, none), (2, new)]).is_empty());
    }
}
