//! Which runs did the same thing: same platform, same settings in effect, same amount of work. Names, dates and seeds
//! do not count, and what is not known of a run contradicts nothing.

use std::collections::BTreeMap;

use assay_model::{Document, Role, Source, Table, Unit, Value, names};

use super::RepeatGroup;
use super::facts::{Run, close, equal};
use super::wording::plain;
use super::written::resolution;

mod candidates;
mod group;
mod metrics;

use candidates::Candidates;
use group::Group;
pub(super) use metrics::{compile_inside, compile_within, is_about_time};

/// Runs that did the same thing.
pub(super) struct Same {
    /// Their places among all runs: two at least, or one row of a table that states several repeats.
    pub(super) members: Vec<usize>,
    /// The make of machine.
    pub(super) platform: Option<String>,
    /// What they have in common, for people.
    pub(super) label: String,
    /// Their values, by metric; two at least each.
    pub(super) metrics: Vec<Repeated>,
}

/// The values of one metric over runs that did the same thing.
pub(super) struct Repeated {
    /// The metric.
    pub(super) metric: &'static str,
    /// Its unit.
    pub(super) unit: Unit,
    /// What sets these runs apart from others of the group that ran under a condition which changes times.
    pub(super) condition: Option<&'static str>,
    /// The values: the place of the run among all runs, the number, where it stands.
    pub(super) values: Vec<(usize, f64, Source)>,
}

impl Repeated {
    /// The numbers alone.
    pub(super) fn numbers(&self) -> Vec<f64> {
        self.values.iter().map(|(_, value, _)| *value).collect()
    }
}

impl Same {
    /// The groups as they are shown.
    pub(super) fn groups(&self) -> impl Iterator<Item = RepeatGroup> {
        self.metrics.iter().map(|repeated| RepeatGroup {
            label: match repeated.condition {
                Some(condition) => format!("{}, {condition}", self.label),
                None => self.label.clone(),
            },
            metric: repeated.metric.to_owned(),
            unit: repeated.unit.clone(),
            values: repeated.values.iter().map(|(_, value, source)| (*value, source.clone())).collect(),
        })
    }
}

/// Settings that say what is run.
const IDENTIFYING: [&str; 21] = [
    names::setting::BATCH_SIZE,
    names::setting::MICRO_BATCH_SIZE,
    names::setting::EPOCHS,
    names::setting::STEPS,
    names::setting::LEARNING_RATE,
    names::setting::TASKS,
    names::setting::NODES,
    names::setting::DEVICES,
    names::setting::DEVICE,
    names::setting::SEQUENCE_LENGTH,
    names::setting::MODEL,
    names::setting::CONCURRENCY,
    names::setting::THREADS,
    names::setting::PRECISION,
    names::setting::WARMUP,
    names::setting::D_MODEL,
    names::setting::D_FF,
    names::setting::LAYERS,
    names::setting::HEADS,
    names::setting::VOCABULARY,
    names::setting::REQUESTS,
];

/// Whether a setting says what is run, rather than how it is called or watched.
pub(super) fn identifies(name: &str) -> bool {
    IDENTIFYING.contains(&name)
}

/// Headers of columns that count repeats.
const REPEAT_WORDS: [&str; 12] = [
    "run",
    "repeat",
    "rep",
    "repetition",
    "trial",
    "attempt",
    "try",
    "seed",
    "#",
    "no",
    "date",
    "time stamp",
];

/// Whether a header numbers repeats: of a column that numbers the rows (`Run`), so that rows that differ in it alone
/// are repeats, or of one of several columns (`Run 2 (s)`).
pub(super) fn numbers_repeats(header: &str) -> bool {
    let header = header.to_lowercase();
    let bare = header.split(['(', '[', ',']).next().unwrap_or("");
    let bare = bare.trim_matches(|c: char| !c.is_alphabetic() && c != '#');
    let stem = bare.strip_suffix(" number").unwrap_or(bare);
    REPEAT_WORDS.iter().any(|word| stem == *word || stem.strip_suffix('s') == Some(word))
}

/// What two runs are compared by.
struct Identity<'a> {
    place: usize,
    document: &'a Document,
    platform: Option<&'a str>,
    /// Empty for a row of a table.
    dialects: &'a [String],
    settings: BTreeMap<&'a str, &'a Value>,
    work: Option<f64>,
    /// Tokens in the prompt and in the answer, where they are stated.
    lengths: [Option<f64>; 2],
    row: Option<(&'a Table, String)>,
}

/// Finds runs that did the same thing. The result does not depend on the order of the documents.
pub(super) fn find(runs: &[Run<'_>]) -> Vec<Same> {
    let mut identities: Vec<Identity<'_>> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.read.status.is_usable() && !run.read.observations.is_empty())
        .map(|(place, run)| identity(place, run))
        .collect();
    // Those of which most is known come first, so that vaguer ones find their group; logs before rows.
    identities.sort_by_key(|identity| {
        let known = identity.settings.len() + usize::from(identity.work.is_some());
        (identity.row.is_some(), usize::MAX - known, identity.document.file.as_str(), identity.place)
    });
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut candidates = Candidates::default();
    for identity in &identities {
        let fits = |place: &usize| groups.get(*place).is_some_and(|group| group.fits(identity));
        let fitting: Vec<usize> = candidates.of(identity).into_iter().filter(fits).collect();
        match fitting.as_slice() {
            [] => {
                candidates.add(identity, groups.len());
                groups.push(Group::of(identity));
            }
            [only] => {
                let Some(group) = groups.get_mut(*only) else { continue };
                if !group.has(runs, identity) {
                    group.add(identity);
                }
            }
            // What is known fits several groups, so that it is unknown which one it belongs to.
            _ => {}
        }
    }
    let all = groups.iter().map(|group| same(runs, &group.members));
    all.filter(|same| same.members.len() > 1 || !same.metrics.is_empty()).collect()
}

impl Identity<'_> {
    fn table(&self) -> Option<*const Table> {
        self.row.as_ref().map(|(table, _)| std::ptr::from_ref::<Table>(table))
    }

    /// The bits of the lengths that are whole numbers: those were requested, means come out of a run.
    fn whole_lengths(&self) -> [Option<u64>; 2] {
        self.lengths.map(|length| length.filter(|length| length.fract() == 0.0).map(f64::to_bits))
    }

    /// Its table and its name, for a row.
    fn named_row(&self) -> Option<(*const Table, &str)> {
        self.row.as_ref().map(|(table, name)| (std::ptr::from_ref::<Table>(table), name.as_str()))
    }

    /// Whether anything is known that a run elsewhere could agree with.
    fn is_known(&self) -> bool {
        !self.settings.is_empty() || self.work.is_some()
    }
}

fn identity<'a>(place: usize, run: &Run<'a>) -> Identity<'a> {
    let row = run.table().map(|table| (table, row_name(run, table)));
    let is_row = run.is_row();
    let settings = run
        .effective
        .iter()
        .filter(|(name, _)| identifies(name) || (is_row && is_own(name)))
        .map(|(name, value)| (*name, *value))
        .collect();
    Identity {
        place,
        document: run.document,
        platform: run.platform(),
        dialects: if is_row { &[] } else { &run.read.dialects },
        settings,
        work: run.work(),
        lengths: [names::TOKENS_PROMPT, names::TOKENS_OUTPUT].map(|name| run.value(name)),
        row,
    }
}

/// What a row is called: the text of its labels, or the header of a column that is a system.
fn row_name(run: &Run<'_>, table: &Table) -> String {
    if table.transposed {
        return run.read.title.clone().unwrap_or_default();
    }
    let Some((_, row)) = run.row() else { return String::new() };
    let names: Vec<&str> = table
        .columns
        .iter()
        .zip(&row.cells)
        .filter(|(column, _)| matches!(column.role, Role::Label | Role::Unknown))
        .filter(|(column, _)| !numbers_repeats(&column.header))
        .map(|(_, cell)| cell.text.as_str())
        .collect();
    names.join(" ")
}

/// Whether a setting is one that only its table knows, and that says what is run.
pub(super) fn is_own(name: &str) -> bool {
    let watching = [
        names::setting::SEED,
        names::setting::TEST_BATCH_SIZE,
        names::setting::STEPS_PER_EPOCH,
        names::setting::PROFILER,
        names::setting::COMPILE_CACHE,
        names::setting::CLASSES,
        names::setting::INPUT,
    ];
    !watching.contains(&name) && !numbers_repeats(name)
}

/// Whether nothing distinguishes two runs and enough says that they are the same.
fn do_the_same(one: &Identity<'_>, other: &Identity<'_>) -> bool {
    let near = std::ptr::eq(one.document, other.document);
    if one.platform != other.platform || (one.platform.is_none() && !near) {
        return false;
    }
    let rows = one.dialects.is_empty() || other.dialects.is_empty();
    if !rows && !one.dialects.iter().any(|dialect| other.dialects.contains(dialect)) {
        return false;
    }
    let work = match (one.work, other.work) {
        (Some(a), Some(b)) if !close(a, b, 1e-3) => return false,
        (Some(_), Some(_)) => true,
        _ => false,
    };
    for (a, b) in one.whole_lengths().into_iter().zip(other.whole_lengths()) {
        if a.zip(b).is_some_and(|(a, b)| a != b) {
            return false;
        }
    }
    let common =
        one.settings.iter().filter_map(|(name, value)| Some((*name, *value, *other.settings.get(name)?)));
    let mut agreeing = 0;
    for (name, a, b) in common {
        if !setting_agrees(name, a, b) {
            return false;
        }
        agreeing += 1;
    }
    match (&one.row, &other.row) {
        (Some((table, name)), Some((other_table, other_name))) if std::ptr::eq(*table, *other_table) => {
            let numbered = table.columns.iter().any(|column| numbers_repeats(&column.header));
            name == other_name && (agreeing > 0 || !name.is_empty() || numbered)
        }
        // A row says little about what was run, so that it must agree in all that it says, or in the work.
        (Some(_), Some(_)) => agreeing > 0 && (work || agrees_in_all(one, other, agreeing)),
        (Some(_), None) | (None, Some(_)) => work || (agreeing > 0 && agrees_in_all(one, other, agreeing)),
        (None, None) => agreeing > 0 || work,
    }
}

fn agrees_in_all(one: &Identity<'_>, other: &Identity<'_>, agreeing: usize) -> bool {
    agreeing == one.settings.len() && agreeing == other.settings.len()
}

/// Whether two values of one setting can be the same. Models go by several names that contain one another.
fn setting_agrees(name: &str, one: &Value, other: &Value) -> bool {
    if name != names::setting::MODEL {
        return equal(one, other);
    }
    let letters = |value: &Value| -> String {
        value.to_string().chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (one, other) = (letters(one), letters(other));
    one.contains(&other) || other.contains(&one)
}

/// Whether a row of a table reports a run that is already known from a log or from another table: all numbers that
/// both state agree as far as they are written.
fn is_the_same_run(runs: &[Run<'_>], one: &Identity<'_>, other: &Identity<'_>) -> bool {
    let tables = match (&one.row, &other.row) {
        (None, None) => return false,
        (Some((a, _)), Some((b, _))) => std::ptr::eq(*a, *b),
        _ => false,
    };
    let (Some(first), Some(second)) = (runs.get(one.place), runs.get(other.place)) else { return false };
    if tables {
        return false;
    }
    let near = std::ptr::eq(one.document, other.document);
    let mut shared = 0;
    for metric in metrics::REPEATED {
        let (Some(a), Some(b)) = (metrics::value(first, metric), metrics::value(second, metric)) else {
            continue;
        };
        let step = |observation: &assay_model::Observation| {
            observation
                .written
                .as_deref()
                .and_then(|written| resolution(written, observation.value))
                .map(|(digit, _)| digit)
        };
        let coarse = step(a).unwrap_or(0.0).max(step(b).unwrap_or(0.0));
        // In another document only many equal digits make it the same run rather than a coincidence.
        let telling = near || coarse <= 1e-6 * a.value.abs();
        if !telling || (a.value - b.value).abs() > 0.51 * coarse + 1e-9 * a.value.abs() {
            return false;
        }
        shared += 1;
    }
    shared > 0
}

fn same(runs: &[Run<'_>], group: &[&Identity<'_>]) -> Same {
    let mut members: Vec<usize> = group.iter().map(|identity| identity.place).collect();
    members.sort_unstable();
    let mut known: BTreeMap<&str, &Value> = BTreeMap::new();
    for identity in group {
        for (name, value) in &identity.settings {
            known.entry(name).or_insert(value);
        }
    }
    let platform = group.iter().find_map(|identity| identity.platform);
    let mut parts: Vec<String> = platform.map(str::to_owned).into_iter().collect();
    parts.extend(known.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " "))));
    parts.extend(
        group
            .iter()
            .find_map(|identity| identity.row.as_ref())
            .map(|(_, name)| name.clone())
            .filter(|name| !name.is_empty()),
    );
    parts.extend(group.iter().find_map(|identity| identity.work).map(|work| format!("work {}", plain(work))));
    Same {
        metrics: metrics::repeated(runs, &members),
        members,
        platform: platform.map(str::to_owned),
        label: parts.join(", "),
    }
}

#[cfg(test)]
mod tests;
