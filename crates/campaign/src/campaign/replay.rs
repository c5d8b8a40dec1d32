//! `replay`: a recorded log that is played as if the job ran.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_model::{Platform, Speed};
use toml::de::DeValue;

use super::names::Names;
use crate::problem::Problem;
use crate::reader::{Collector, Item, SpannedText, Table};
use crate::registry::Registry;
use crate::suggest;
use crate::template::Template;

/// The launcher of platforms on which logs are played instead of anything being run.
pub const REPLAY: &str = "replay";

/// What is played for each run.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Where the log comes from.
    pub source: ReplaySource,
    /// How fast it is played.
    pub speed: Speed,
    /// Where the file says what is played.
    pub(crate) place: Range<usize>,
}

/// Where a log comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplaySource {
    /// A file, relative to the campaign file.
    Log(Template),
    /// A log that is generated for each run.
    Sample {
        /// The kind of log.
        kind: String,
        options: BTreeMap<String, Template>,
    },
}

impl Replay {
    /// All that decides what is played, and nothing about how fast: the part of it in a point's identity.
    pub(crate) fn canonical(&self) -> serde_json::Value {
        match &self.source {
            ReplaySource::Log(log) => serde_json::json!({ "log": log.text() }),
            ReplaySource::Sample { kind, options } => {
                let options: BTreeMap<&str, &str> =
                    options.iter().map(|(name, value)| (name.as_str(), value.text())).collect();
                serde_json::json!({ "options": options, "sample": kind })
            }
        }
    }
}

/// The table `replay` as the file gives it.
pub(super) struct Given<'a> {
    table: Table<'a>,
    key: Range<usize>,
    /// Whether the file says what is different on platforms.
    is_for_several: bool,
}

/// Finds the table, before it is known whether the campaign needs a workload.
pub(super) fn find<'a>(top: &mut Table<'a>) -> Option<Given<'a>> {
    let item = top.get("replay")?;
    let table = item.table()?;
    Some(Given { table, key: item.key_span, is_for_several: top.peek("platform").is_some() })
}

/// Reads the table. Platforms that replay take over the limits, the dialect and the hints of the one they stand for.
pub(super) fn read(
    given: Option<Given<'_>>,
    platforms: &mut [(Platform, Range<usize>)],
    has_workload: bool,
    registry: &Registry,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Option<Replay> {
    let replaying = check_platforms(given.as_ref(), platforms, has_workload, problems);
    let Given { mut table, key, .. } = given?;
    let (log, sample) = (table.get("log"), table.get("sample"));
    let options = table.get("options");
    let speed = table.get("speed").map_or(Some(Speed::Max), |item| read_speed(&item));
    if let Some(text) = table.get("of").and_then(|item| item.text()) {
        stand_for(&text, platforms, registry, problems);
    }
    table.finish();
    let place = log.as_ref().or(sample.as_ref()).map_or(key.clone(), |item| item.span.clone());
    let source = match (log, sample) {
        (Some(log), None) => {
            if let Some(options) = options {
                let problem = Problem::error("`replay.options` cannot be used with a recorded log")
                    .at(options.key_span);
                problems.add(problem.hint("options are for `sample`"));
            }
            log.text().and_then(|text| names.template(&text)).map(ReplaySource::Log)
        }
        (None, Some(sample)) => read_sample(&sample, options, registry, names, problems),
        (Some(_), Some(sample)) => {
            let problem = Problem::error("[replay] has both `log` and `sample`").at(sample.key_span);
            problems
                .add(problem.hint("`log` plays a recorded file, `sample` generates one: keep one of them"));
            None
        }
        (None, None) => {
            let problem = Problem::error("[replay] needs `log` or `sample`").at(key);
            problems
                .add(problem.hint("add `log = \"…\"` with a file, or `sample = \"…\"` with a kind of log"));
            None
        }
    };
    Some(Replay { source: source?, speed: speed?, place }).filter(|_| replaying)
}

/// Whether logs are played. A replayed run is not a measurement, so it must not stand in one record beside real ones.
fn check_platforms(
    given: Option<&Given<'_>>,
    platforms: &[(Platform, Range<usize>)],
    has_workload: bool,
    problems: &Collector<'_>,
) -> bool {
    let replays = |platform: &Platform| platform.launcher == REPLAY;
    let replayed = platforms.iter().find(|(platform, _)| replays(platform));
    let real = platforms.iter().find(|(platform, _)| !replays(platform));
    match (given, replayed, real) {
        (_, Some((replayed, place)), Some((real, _))) => {
            let message = format!(
                "`{}` replays logs and `{}` does not: their numbers must not be compared",
                replayed.name, real.name
            );
            problems.add(Problem::error(message).at(place.clone()).hint("split it into two campaigns"));
        }
        (None, Some((platform, place)), None) => {
            let message = format!("`{}` replays logs, but the campaign has no [replay]", platform.name);
            let hint = "add [replay] with `log = \"…\"` or `sample = \"…\"`";
            problems.add(Problem::error(message).at(place.clone()).hint(hint));
        }
        // A file for several platforms is replayed by `--on replay`.
        (Some(given), None, _) if !(has_workload && given.is_for_several) => {
            let message = "[replay] is never used: no platform of the campaign replays logs";
            let problem = if has_workload { Problem::warning(message) } else { Problem::error(message) };
            let hint = "set `platforms = [\"replay\"]` under [run]";
            problems.add(problem.at(given.key.clone()).hint(hint));
        }
        _ => {}
    }
    replayed.is_some()
}

fn read_speed(item: &Item<'_>) -> Option<Speed> {
    let wrong = |reason: &str| {
        item.problem(format!("`replay.speed` {reason}"));
        None
    };
    match item.value {
        DeValue::String(text) if text == "max" => Some(Speed::Max),
        DeValue::String(_) => wrong("must be a number, or \"max\""),
        _ => match item.number()? {
            times if times > 0.0 => Some(Speed::Times(times)),
            _ => wrong("must be above zero"),
        },
    }
}

fn read_sample(
    sample: &Item<'_>,
    options: Option<Item<'_>>,
    registry: &Registry,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Option<ReplaySource> {
    let kind = sample.text()?;
    let known = registry.samples.iter().find(|known| known.name == kind.value);
    if known.is_none() {
        let problem = Problem::error(format!("unknown sample `{}`", kind.value)).at(kind.span.clone());
        let kinds = registry.samples.iter().map(|sample| sample.name.as_str());
        problems.add(problem.label("not a kind of log").maybe_hint(suggest::hint(&kind.value, kinds)));
    }
    let mut filled = BTreeMap::new();
    let table = options.and_then(|item| item.table());
    for (name, item) in table.iter().flat_map(|table| table.entries()) {
        let option = |known: &&crate::registry::SampleKind| known.options.contains(&name.value);
        if let Some(sample) = known
            && !known.iter().any(option)
        {
            let message = format!("the sample `{}` has no option `{}`", sample.name, name.value);
            let near = suggest::hint(&name.value, sample.options.iter().map(String::as_str));
            problems.add(Problem::error(message).at(name.span.clone()).maybe_hint(near));
        }
        let value = match item.value {
            DeValue::String(_) => item.text().and_then(|text| names.template(&text)),
            // Numbers and switches are taken as written: `steps = 200` needs no quotes.
            _ => item.scalar().and_then(|value| Template::parse(&value.to_string()).ok()),
        };
        filled.extend(value.map(|value| (name.value, value)));
    }
    known.map(|known| ReplaySource::Sample { kind: known.name.clone(), options: filled })
}

/// Gives platforms that replay the limits, the dialect and the hints of the platform whose logs are played.
fn stand_for(
    text: &SpannedText,
    platforms: &mut [(Platform, Range<usize>)],
    registry: &Registry,
    problems: &Collector<'_>,
) {
    let Some(real) = registry.platforms.iter().find(|platform| platform.name == text.value) else {
        let known = registry.platforms.iter().map(|platform| platform.name.as_str());
        let problem = Problem::error(format!("unknown platform `{}`", text.value)).at(text.span.clone());
        problems.add(problem.label("not a platform").maybe_hint(suggest::hint(&text.value, known)));
        return;
    };
    for (platform, _) in platforms.iter_mut().filter(|(platform, _)| platform.launcher == REPLAY) {
        platform.limits = real.limits.clone();
        platform.dialect = real.dialect.clone();
        platform.hints.extend(real.hints.iter().cloned());
    }
}
