//! `[platform.NAME]`: what a campaign changes for one of its platforms, so that one experiment is one file wherever it
//! runs: the account that is charged, the workload where the platform has its own program for it, and the settings,
//! resources and timeout of the size that the platform is made for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use assay_model::Platform;

use super::names::Names;
use super::replay::REPLAY;
use super::workload::{self, Workload};
use crate::platform_keys;
use crate::problem::Problem;
use crate::reader::{Collector, SpannedText, Table};
use crate::registry::Registry;
use crate::suggest;

/// The tables as the file gives them.
pub(super) fn find<'a>(top: &mut Table<'a>) -> Vec<(SpannedText, Table<'a>)> {
    let tables = top.get("platform").and_then(|item| item.table());
    let entries = tables.map(|tables| tables.entries()).unwrap_or_default();
    entries.into_iter().filter_map(|(name, item)| Some((name, item.table()?))).collect()
}

/// The table of the platform that the campaign is made for this time. Logs that are replayed stand for a platform, whose
/// table counts.
pub(super) fn chosen<'a>(top: &Table<'a>, registry: &Registry) -> Option<Table<'a>> {
    let on = registry.on.as_deref()?;
    let replays = |platform: &&Platform| platform.name == on && platform.launcher == REPLAY;
    let name = match registry.platforms.iter().find(replays) {
        Some(_) => top.peek("replay")?.table()?.peek("of")?.text()?.value,
        None => on.to_owned(),
    };
    top.peek("platform")?.table()?.peek(&name)?.table()
}

/// Where the tables set the time limit of jobs, by platform.
pub(super) fn job_time_places(tables: &[(SpannedText, Table<'_>)]) -> BTreeMap<String, Range<usize>> {
    let places =
        tables.iter().filter_map(|(name, table)| Some((name.value.clone(), table.peek("time")?.span)));
    places.collect()
}

/// Reads the tables: platforms of the campaign are changed, and workloads of their own are given back by platform.
pub(super) fn read(
    tables: Vec<(SpannedText, Table<'_>)>,
    platforms: &mut [(Platform, Range<usize>)],
    directory: &Path,
    registry: &Registry,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> BTreeMap<String, Arc<Workload>> {
    let mut workloads = BTreeMap::new();
    for (name, mut table) in tables {
        // A table for a platform that is not used this time is read all the same: it may be wrong.
        let catalogd = registry.platforms.iter().find(|platform| platform.name == name.value);
        let Some(catalogd) = catalogd else {
            let known = registry.platforms.iter().map(|platform| platform.name.as_str());
            let problem = Problem::error(format!("unknown platform `{}`", name.value)).at(name.span.clone());
            problems.add(problem.label("not a platform").maybe_hint(suggest::hint(&name.value, known)));
            continue;
        };
        let mut batch = catalogd.batch.clone();
        platform_keys::read(&mut table, &mut batch);
        let host = table.get("host").and_then(|item| item.text()).map(|text| text.value);
        let item = table.get("workload");
        if let Some(given) = item.as_ref().and_then(workload::given) {
            let built_in = given.built_in(registry, problems);
            if let Ok(described) = built_in
                && let Some(own) = workload::read(given, described, directory, names, problems)
            {
                workloads.insert(name.value.clone(), Arc::new(own));
            }
        }
        // Those of the platform that was chosen are read where all settings are.
        check_settings(&mut table, problems);
        table.finish();
        for (platform, _) in platforms.iter_mut().filter(|(platform, _)| platform.name == name.value) {
            platform.batch = batch.clone();
            platform.host = host.clone().or_else(|| platform.host.clone());
        }
    }
    workloads.retain(|name, _| platforms.iter().any(|(platform, _)| platform.name == *name));
    workloads
}

/// Checks settings and resources of a platform that may not be in use this time.
fn check_settings(table: &mut Table<'_>, problems: &Collector<'_>) {
    table.get("timeout");
    for key in ["fixed", "vary", "resources"] {
        let Some(item) = table.get(key) else { continue };
        if item.table().is_some_and(|table| table.entries().is_empty()) {
            problems.add(Problem::warning(format!("[{}] changes nothing", item.name)).at(item.key_span));
        }
    }
}
