//! Compiled programs that came from a cache, which look like a speed-up.

use assay_model::{Document, Source, Statement, Unit, names};

use super::claims;
use super::facts::{Facts, Run, place};
use super::same::{compile_inside, compile_within, is_about_time};
use super::wording::{counted, plain, rough, with_unit};
use super::{Class, Finding, Level};

/// A step that takes less than this share of what it took before did not do the same.
const COLLAPSE: f64 = 0.05;
/// Compilations shorter than this are no reason to look for a cache.
const LONG: f64 = 5.0;

/// Looks for compilations that took no time beside ones that did.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let inside = facts.same.iter().filter_map(|same| compiled_inside(facts, &same.members));
    let collapsed = facts.documents.iter().filter_map(|document| collapse(facts, document));
    inside.chain(collapsed).collect()
}

/// Runs of the same thing of which some hold the compilation in their time and others do not.
fn compiled_inside(facts: &Facts<'_>, members: &[usize]) -> Option<Finding> {
    let runs: Vec<(&Run<'_>, f64)> = members
        .iter()
        .filter_map(|place| facts.runs.get(*place))
        .filter(|run| run.is_log() && !run.is_on(names::setting::PROFILER))
        .filter_map(|run| Some((run, time(run)?)))
        .collect();
    let compiled: Vec<&(&Run<'_>, f64)> =
        runs.iter().filter(|(run, _)| compile_inside(run) == Some(true)).collect();
    let cached: Vec<&(&Run<'_>, f64)> =
        runs.iter().filter(|(run, _)| compile_inside(run) == Some(false)).collect();
    let ((slow_run, slow), (_, fast)) = (compiled.first()?, cached.first()?);
    let compile = compile_within(slow_run)?;
    if compile < LONG || slow <= fast {
        return None;
    }
    let level = if is_compared(slow_run) { Level::Doubtful } else { Level::Supported };
    let mut sources: Vec<Source> = compiled.iter().chain(&cached).map(|(run, _)| run.source()).collect();
    sources.truncate(6);
    Some(Finding {
        class: Class::CacheHit,
        operands: Vec::new(),
        level,
        summary: format!(
            "{} s against {} s is no speed-up: {} held a compilation of {} s in its time and {} did not.",
            plain(*slow),
            plain(*fast),
            counted(compiled.len(), "run"),
            plain(compile),
            counted(cached.len(), "run"),
        ),
        arithmetic: vec![
            format!("{} s − {} s of compilation = {} s", plain(*slow), plain(compile), rough(slow - compile)),
            format!("{} s with the compiled program from a cache", plain(*fast)),
        ],
        sources,
        advice: match level {
            Level::Supported => String::new(),
            _ => "Leave the compilation out of the time, or empty the cache before every run.".to_owned(),
        },
    })
}

/// Whether the write-up compares times on the platform of a run, in a sentence or a table.
fn is_compared(run: &Run<'_>) -> bool {
    let document = run.document;
    if document.statements.iter().any(|one| claims::concerns(document, one, run.platform()) && explains(one))
    {
        return false;
    }
    let said = document.statements.iter().any(|statement| {
        claims::concerns(document, statement, run.platform())
            && (claims::names_kind(&statement.text, names::DURATION_LOOP)
                || statement.quantities.iter().any(|quantity| quantity.unit == Unit::Seconds))
    });
    let tabled = document.runs.iter().any(|row| {
        let is_row = row.dialects.first().is_some_and(|dialect| dialect == "table");
        let timed = || row.observations.iter().any(|one| is_about_time(&one.metric));
        is_row && row.platform == run.read.platform && timed()
    });
    said || tabled
}

/// The time of a loop: as stated, else by its bar.
fn time(run: &Run<'_>) -> Option<f64> {
    run.value(names::DURATION_LOOP).or_else(|| run.phase_seconds("train")).filter(|seconds| *seconds > 0.0)
}

/// A number in a document with its place.
struct Stated {
    value: f64,
    source: Source,
    label: String,
}

/// Times of scripts or compilations that collapse from one run to the next, in logs, tables or sentences.
fn collapse(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    if document.statements.iter().any(explains) {
        return None;
    }
    let stated = |metric: &str, wanted: &dyn Fn(&Run<'_>) -> bool| -> Vec<Stated> {
        facts
            .runs_of(document)
            .filter(|run| run.read.status.is_usable() && wanted(run))
            .filter_map(|run| {
                Some(Stated { value: run.value(metric)?, source: run.source_of(metric), label: run.label() })
            })
            .collect()
    };
    let find = |metric: &str, wanted: &dyn Fn(&Run<'_>) -> bool| -> Option<Finding> {
        pair(&stated(metric, wanted)).map(|(long, short)| finding(metric, long, short))
    };
    // A script that compiles and one that runs take different times by right, so that each kind is looked at apart.
    let by_metric = find(names::DURATION_SCRIPT, &|run| !has_results(run))
        .or_else(|| find(names::DURATION_SCRIPT, &|run| has_results(run)))
        // A zero in a table may also mean that there is nothing to compile.
        .or_else(|| {
            let compiled =
                |run: &Run<'_>| run.value(names::DURATION_COMPILE).is_some_and(|value| value > 0.0);
            // An index is built too, and some are built at once.
            let of_programs = document.text.is_empty() || document.text.to_lowercase().contains("compil");
            find(names::DURATION_COMPILE, &|run| of_programs && run.is_row() && compiled(run))
        })
        .or_else(|| {
            // In logs a compilation is a phase of its own, and its time misleads only where somebody speaks of it.
            let spoken = document.statements.iter().any(|one| {
                speaks_of_building(one) && compares(one) || ranks_with_compilation(facts, document, one)
            });
            find(names::DURATION_COMPILE, &|run| run.is_log()).filter(|_| spoken)
        });
    by_metric.or_else(|| {
        document.statements.iter().filter(|statement| speaks_of_building(statement)).find_map(|statement| {
            let stated: Vec<Stated> = statement
                .quantities
                .iter()
                .filter(|quantity| quantity.unit == Unit::Seconds)
                .map(|quantity| Stated {
                    value: quantity.value,
                    source: place(statement),
                    label: quantity.text.clone(),
                })
                .collect();
            // More times are of more things, which may take what they like.
            let two = Some(stated).filter(|stated| stated.len() == 2)?;
            pair(&two).map(|(long, short)| finding("the stated time", long, short))
        })
    })
}

/// Whether a sentence ranks the times of logs that hold their compilation inside.
fn ranks_with_compilation(facts: &Facts<'_>, document: &Document, statement: &Statement) -> bool {
    claims::tone(&statement.text) == Some(claims::Tone::Ranking)
        && claims::names_kind(&statement.text, names::DURATION_LOOP)
        && facts.logs_of(document).any(|run| {
            compile_inside(run) == Some(true) && claims::concerns(document, statement, run.platform())
        })
}

/// Whether a log states what a program achieved, rather than that it was built.
fn has_results(run: &Run<'_>) -> bool {
    let results = [
        names::SAMPLES_PER_S_LOOP,
        names::DURATION_LOOP,
        names::LOSS_FINAL,
        names::ACCURACY,
        names::TOKENS_PER_S,
    ];
    results.iter().any(|metric| run.value(metric).is_some())
}

/// The longest of some times and the first one that is next to nothing beside it.
fn pair(stated: &[Stated]) -> Option<(&Stated, &Stated)> {
    let long = stated.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let short = stated.iter().find(|other| other.value >= 0.0 && other.value <= COLLAPSE * long.value)?;
    (long.value >= LONG).then_some((long, short))
}

/// Whether the author knows of the cache.
fn explains(statement: &Statement) -> bool {
    let text = statement.text.to_lowercase();
    ["cache", "already compiled", "precompiled", "recompil", "reused the compiled"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether a sentence ranks something or states a time.
fn compares(statement: &Statement) -> bool {
    claims::tone(&statement.text) == Some(claims::Tone::Ranking)
        || statement.quantities.iter().any(|quantity| quantity.unit == Unit::Seconds)
}

fn speaks_of_building(statement: &Statement) -> bool {
    let text = statement.text.to_lowercase();
    ["compil", "build", "script", "second run", "second time"].iter().any(|word| text.contains(word))
}

fn finding(metric: &str, long: &Stated, short: &Stated) -> Finding {
    Finding {
        class: Class::CacheHit,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "{metric} falls from {} to {}: most likely the compiled program was found in a cache, so that this is no speed-up.",
            with_unit(long.value, &Unit::Seconds),
            with_unit(short.value, &Unit::Seconds),
        ),
        arithmetic: vec![
            format!("{}: {} s", long.label, plain(long.value)),
            format!("{}: {} s", short.label, plain(short.value)),
        ],
        sources: vec![short.source.clone(), long.source.clone()],
        advice: "Compare runs that both compiled, or time the run without the compilation.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{KnownBy, Phase, Value};

    use super::super::sample::{Build, document, found};
    use super::*;

    fn bar(build: &mut Build, compile: f64, whole: f64) {
        build.log("poptorch", "graphcore").observed("epochs", 10).metric(names::DURATION_LOOP, whole);
        for (name, seconds) in [("compile", compile), ("train", whole)] {
            let source = Source::new("notes.md", 1);
            build.run().phases.push(Phase {
                name: name.to_owned(),
                start_s: None,
                end_s: None,
                seconds: Some(seconds),
                known_by: KnownBy::Bar,
                source,
            });
        }
    }

    #[test]
    fn a_compilation_inside_the_first_epoch_is_no_slow_down() {
        let two = |says: &str| {
            document("notes.md", |build: &mut Build| {
                bar(build, 22.0, 109.9);
                bar(build, 0.0, 87.9);
                build.says(says, &[]);
            })
        };
        assert_eq!(found(check, &[two("Both ran.")])[0].level, Level::Supported);
        let findings = found(check, &[two("The second one is faster.")]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].level, Level::Doubtful);
        assert!(findings[0].arithmetic[0].contains("= 87.9 s"), "{:?}", findings[0].arithmetic);
    }

    #[test]
    fn a_script_that_suddenly_takes_no_time_found_its_output() {
        let collapsed = |second: f64| {
            document("notes.md", |build: &mut Build| {
                build.log("sambanova", "sambanova").metric(names::DURATION_SCRIPT, 781.0);
                build.log("sambanova", "sambanova").metric(names::DURATION_SCRIPT, second);
            })
        };
        assert_eq!(found(check, &[collapsed(1.0)]).len(), 1);
        assert!(found(check, &[collapsed(640.0)]).is_empty());
    }

    #[test]
    fn another_setting_is_no_reason_for_a_compilation_that_vanished() {
        let two = |says: &str| {
            document("notes.md", |build: &mut Build| {
                bar(build, 22.0, 109.9);
                build.observed("learning_rate", Value::Float(0.05)).metric(names::DURATION_COMPILE, 22.0);
                bar(build, 0.0, 87.9);
                build.observed("learning_rate", Value::Float(0.02)).metric(names::DURATION_COMPILE, 0.0);
                build.says(says, &[]);
            })
        };
        let findings = found(check, &[two("The lower learning rate speeds up the training time.")]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(found(check, &[two("Both learning rates reach the same accuracy.")]).is_empty());
    }

    #[test]
    fn an_author_who_names_the_cache_is_left_alone() {
        let document = document("notes.md", |build: &mut Build| {
            build.log("sambanova", "sambanova").metric(names::DURATION_SCRIPT, 781.0);
            build.log("sambanova", "sambanova").metric(names::DURATION_SCRIPT, 1.0);
            build.says("The second compile took 1 s since the result was in the cache.", &[(1.0, "s", None)]);
        });
        assert!(found(check, &[document]).is_empty());
    }
}
