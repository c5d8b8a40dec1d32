//! A group of runs that did the same thing, while it grows.

use std::collections::{BTreeMap, HashSet};

use assay_model::{Document, Table};

use super::super::facts::{Run, close};
use super::{Identity, do_the_same, is_the_same_run};

pub(super) struct Group<'a> {
    pub(super) members: Vec<&'a Identity<'a>>,
    /// The members without those that are compared just like an earlier one, of which there may be any number.
    distinct: Vec<&'a Identity<'a>>,
    seen: HashSet<Signature<'a>>,
    /// The least and the most work of a member.
    work: Option<(f64, f64)>,
    by_table: BTreeMap<Option<*const Table>, Vec<&'a Identity<'a>>>,
}

/// All that a run is compared by, but for the amount of its work.
#[derive(PartialEq, Eq, Hash)]
struct Signature<'a> {
    document: *const Document,
    platform: Option<&'a str>,
    dialects: &'a [String],
    settings: Vec<(&'a str, String)>,
    has_work: bool,
    lengths: [Option<u64>; 2],
    row: Option<(*const Table, &'a str)>,
}

impl<'a> Group<'a> {
    pub(super) fn of(identity: &'a Identity<'a>) -> Group<'a> {
        let mut group = Group {
            members: Vec::new(),
            distinct: Vec::new(),
            seen: HashSet::new(),
            work: None,
            by_table: BTreeMap::new(),
        };
        group.add(identity);
        group
    }

    /// Whether a run does the same as every member.
    pub(super) fn fits(&self, identity: &Identity<'_>) -> bool {
        let work = match (self.work, identity.work) {
            (Some((least, most)), Some(work)) => close(work, least, 1e-3) && close(work, most, 1e-3),
            _ => true,
        };
        work && self.distinct.iter().all(|other| do_the_same(identity, other))
    }

    /// Whether a member is the same run, reported elsewhere. Rows of one table are different runs, and so are logs.
    pub(super) fn has(&self, runs: &[Run<'_>], identity: &Identity<'_>) -> bool {
        let elsewhere = self.by_table.iter().filter(|(table, _)| **table != identity.table());
        elsewhere.flat_map(|(_, members)| members).any(|other| is_the_same_run(runs, identity, other))
    }

    pub(super) fn add(&mut self, identity: &'a Identity<'a>) {
        self.members.push(identity);
        if self.seen.insert(signature(identity)) {
            self.distinct.push(identity);
        }
        if let Some(work) = identity.work {
            let (least, most) = self.work.unwrap_or((work, work));
            self.work = Some((least.min(work), most.max(work)));
        }
        self.by_table.entry(identity.table()).or_default().push(identity);
    }
}

fn signature<'a>(identity: &'a Identity<'a>) -> Signature<'a> {
    Signature {
        document: identity.document,
        platform: identity.platform,
        dialects: identity.dialects,
        settings: identity.settings.iter().map(|(name, value)| (*name, value.to_string())).collect(),
        has_work: identity.work.is_some(),
        lengths: identity.whole_lengths(),
        row: identity.named_row(),
    }
}
