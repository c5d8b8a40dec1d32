//! Groups that a run may belong to at all, found without comparing it with every group: documents have any number of
//! rows and runs.

use std::collections::{BTreeMap, HashMap};

use assay_model::{Document, Table, Value, names};

use super::Identity;

/// Groups by where their first run comes from.
#[derive(Default)]
pub(super) struct Candidates<'a> {
    /// Groups that begin with a row, by table and name: rows of one table do the same only if they have the same name.
    rows: HashMap<(*const Table, &'a str), Shelf<'a>>,
    /// Groups of runs of which something is known that runs elsewhere may agree with, by the table they begin in.
    known: BTreeMap<Option<*const Table>, Shelf<'a>>,
}

impl<'a> Candidates<'a> {
    pub(super) fn of(&mut self, identity: &'a Identity<'a>) -> Vec<usize> {
        let table = identity.table();
        let mut found = Vec::new();
        if let Some(shelf) = identity.named_row().and_then(|row| self.rows.get_mut(&row)) {
            shelf.find(identity, false, &mut found);
        }
        if identity.is_known() {
            let elsewhere = self.known.iter_mut().filter(|(home, _)| home.is_none() || **home != table);
            elsewhere.for_each(|(_, shelf)| shelf.find(identity, true, &mut found));
        }
        found
    }

    pub(super) fn add(&mut self, identity: &'a Identity<'a>, group: usize) {
        if let Some(row) = identity.named_row() {
            self.rows.entry(row).or_default().add(identity, group);
        }
        if identity.is_known() {
            self.known.entry(identity.table()).or_default().add(identity, group);
        }
    }
}

/// A platform, or a document where none is known: runs do the same only on one platform, and runs without one only in
/// one document.
type Origin<'a> = (Option<&'a str>, Option<*const Document>);

/// Groups by what is known of their first run.
#[derive(Default)]
struct Shelf<'a> {
    groups: HashMap<Origin<'a>, HashMap<Shape<'a>, Alike<'a>>>,
}

/// The names of the settings that are known of a run, and whether its work and its lengths are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Shape<'a> {
    settings: Vec<&'a str>,
    work: bool,
    lengths: [bool; 2],
}

/// Groups whose first runs have one shape. They are looked up by what the shape has in common with that of another run;
/// tables have few shapes.
#[derive(Default)]
struct Alike<'a> {
    all: Vec<(&'a Identity<'a>, usize)>,
    by_common: HashMap<Shape<'a>, HashMap<Vec<Key>, Vec<usize>>>,
}

impl<'a> Shelf<'a> {
    fn find(&mut self, identity: &'a Identity<'a>, elsewhere: bool, found: &mut Vec<usize>) {
        let Some(shapes) = self.groups.get_mut(&origin(identity)) else { return };
        let own = Shape::of(identity);
        for (shape, alike) in shapes {
            let common = Shape {
                settings: shape.settings.iter().copied().filter(|name| knows(identity, name)).collect(),
                work: shape.work && own.work,
                lengths: [0, 1].map(|which| shape.lengths[which] && own.lengths[which]),
            };
            // Runs of different tables that have nothing in common do not agree in anything.
            if !elsewhere || common.work || !common.settings.is_empty() {
                alike.find(identity, common, found);
            }
        }
    }

    fn add(&mut self, identity: &'a Identity<'a>, group: usize) {
        let alike = self.groups.entry(origin(identity)).or_default().entry(Shape::of(identity)).or_default();
        for (common, groups) in &mut alike.by_common {
            groups.entry(key(identity, common)).or_default().push(group);
        }
        alike.all.push((identity, group));
    }
}

impl<'a> Alike<'a> {
    fn find(&mut self, identity: &Identity<'a>, common: Shape<'a>, found: &mut Vec<usize>) {
        let keys = near_keys(identity, &common);
        let all = &self.all;
        let groups = self.by_common.entry(common).or_insert_with_key(|common| {
            let mut groups: HashMap<Vec<Key>, Vec<usize>> = HashMap::new();
            for (first, group) in all {
                groups.entry(key(first, common)).or_default().push(*group);
            }
            groups
        });
        found.extend(keys.iter().filter_map(|key| groups.get(key)).flatten());
    }
}

impl<'a> Shape<'a> {
    fn of(identity: &Identity<'a>) -> Shape<'a> {
        Shape {
            settings: identity.settings.keys().copied().collect(),
            work: identity.work.is_some(),
            lengths: identity.whole_lengths().map(|length| length.is_some()),
        }
    }
}

fn origin<'a>(identity: &Identity<'a>) -> Origin<'a> {
    let document = identity.platform.is_none().then_some(std::ptr::from_ref(identity.document));
    (identity.platform, document)
}

fn knows(identity: &Identity<'_>, name: &str) -> bool {
    identity.settings.contains_key(name)
}

/// A number or a text as coarse as things that do the same may differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(bool, i64),
    Exact(u64),
    Text(String),
}

/// Widths of the steps on a logarithmic scale into which numbers are sorted, far above the differences at which they are
/// taken for equal.
const SETTING_STEP: f64 = 1e-4;
const WORK_STEP: f64 = 1e-2;
/// Numbers this close to the end of a step, as a share of it, may be equal to some of the next one.
const EDGE: f64 = 0.11;

/// What groups with something in common are looked up by.
fn key(identity: &Identity<'_>, common: &Shape<'_>) -> Vec<Key> {
    choices(identity, common).into_iter().filter_map(|choices| choices.into_iter().next()).collect()
}

/// The keys of all groups whose numbers may be equal.
fn near_keys(identity: &Identity<'_>, common: &Shape<'_>) -> Vec<Vec<Key>> {
    choices(identity, common).into_iter().fold(vec![Vec::new()], |keys, choices| {
        let longer = |key: &Vec<Key>| {
            let key = key.clone();
            choices.iter().map(move |choice| key.iter().chain([choice]).cloned().collect::<Vec<Key>>())
        };
        keys.iter().flat_map(longer).collect()
    })
}

/// The steps that each number may be equal to numbers of, its own first. Models go by several names, so they say nothing.
fn choices(identity: &Identity<'_>, common: &Shape<'_>) -> Vec<Vec<Key>> {
    let named = common.settings.iter().filter(|name| **name != names::setting::MODEL);
    let mut found: Vec<Vec<Key>> =
        named.filter_map(|name| identity.settings.get(name)).map(|value| of_setting(value)).collect();
    if let Some(work) = identity.work.filter(|_| common.work) {
        found.push(steps(work, WORK_STEP));
    }
    let lengths = identity.whole_lengths().into_iter().zip(common.lengths);
    let lengths = lengths.filter_map(|(length, common)| length.filter(|_| common));
    found.extend(lengths.map(|length| vec![Key::Exact(length)]));
    found
}

fn of_setting(value: &Value) -> Vec<Key> {
    let text = value.to_string();
    match value.number().or_else(|| text.parse().ok()) {
        Some(number) => steps(number, SETTING_STEP),
        None => vec![Key::Text(text.to_ascii_lowercase())],
    }
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms of numbers are small")]
fn steps(number: f64, step: f64) -> Vec<Key> {
    let place = number.abs().ln() / step;
    let own = place.floor();
    let beside = match place - own {
        share if share < EDGE => Some(own - 1.0),
        share if share > 1.0 - EDGE => Some(own + 1.0),
        _ => None,
    };
    let places = std::iter::once(own).chain(beside);
    places.map(|place| Key::Number(number < 0.0, place as i64)).collect()
}
