//! `report`: what tables show beside the headline.

use assay_model::{Against, Layout, Published, ScalingStudy, Settings, Unit};

use super::names::Names;
use super::reading::ReadPolicy;
use crate::problem::Problem;
use crate::reader::{Collector, Item, SpannedText, Table};

/// Reads the layout that a campaign asks for.
pub(super) fn read(
    top: &mut Table<'_>,
    policy: &ReadPolicy,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Layout {
    let Some(mut table) = top.get("report").and_then(|item| item.table()) else { return Layout::default() };
    let metric = |text: &SpannedText| {
        let known = policy.metric(&text.value).is_some();
        if !known {
            problems.add(policy.unknown(text));
        }
        known
    };
    let setting = |text: &SpannedText| names.is_setting(text, "report");
    let mut layout = Layout::default();
    if let Some(item) = table.get("columns") {
        layout.columns = distinct(item.texts().unwrap_or_default(), metric, problems);
    }
    if let Some(item) = table.get("across") {
        layout.across = distinct(item.texts().unwrap_or_default(), setting, problems);
    }
    if let Some(text) = table.get("series").and_then(|item| item.text()).filter(metric) {
        layout.series = Some(text.value);
    }
    layout.scaling = table.get("scaling").and_then(|item| scaling(&item, metric, setting, policy));
    layout.against = table.get("against").and_then(|item| against(&item, &layout.across, problems));
    for published in table.get("published").map(|item| item.tables()).unwrap_or_default() {
        layout.published.extend(read_published(published, policy, names, problems));
    }
    table.finish();
    layout
}

/// The texts that pass the check, each once.
fn distinct(
    texts: Vec<SpannedText>,
    check: impl Fn(&SpannedText) -> bool,
    problems: &Collector<'_>,
) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        if kept.contains(&text.value) {
            let problem = Problem::error(format!("`{}` is in this list already", text.value));
            problems.add(problem.at(text.span.clone()).label("given twice"));
        } else if check(&text) {
            kept.push(text.value);
        }
    }
    kept
}

/// `against = { engine = "torch" }`: the setting must be one of those that become columns.
fn against(item: &Item<'_>, across: &[String], problems: &Collector<'_>) -> Option<Against> {
    let table = item.table()?;
    let entries = table.entries();
    let [(name, value)] = entries.as_slice() else {
        item.problem("`report.against` names one setting and one value of it");
        return None;
    };
    if !across.contains(&name.value) {
        let problem = Problem::error(format!("`{}` is not in `across`", name.value)).at(name.span.clone());
        problems.add(problem.hint("settings in `against` must also be listed in `across`"));
        return None;
    }
    Some(Against { setting: name.value.clone(), value: value.scalar()? })
}

/// `scaling = { over = "tasks", metric = "samples_per_s.loop" }`: the metric is the headline where it is left out.
fn scaling(
    item: &Item<'_>,
    metric: impl Fn(&SpannedText) -> bool,
    setting: impl Fn(&SpannedText) -> bool,
    policy: &ReadPolicy,
) -> Option<ScalingStudy> {
    let mut table = item.table()?;
    let over = table.get("over").and_then(|item| item.text());
    let rate = table.get("metric").and_then(|item| item.text());
    if over.is_none() {
        table.problem(Problem::error("`over` is missing").hint("name the setting that counts workers"));
    }
    table.finish();
    let rate = match rate {
        Some(text) => Some(text).filter(&metric)?.value,
        None => policy.headline.clone(),
    };
    Some(ScalingStudy { over: over.filter(setting)?.value, metric: rate })
}

/// One list of published numbers: rows of the values of the settings in `by`, and the number last.
fn read_published(
    mut table: Table<'_>,
    policy: &ReadPolicy,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Vec<Published> {
    let label = table.get("label").and_then(|item| item.text());
    let metric = table.get("metric").and_then(|item| item.text());
    let unit = table.get("unit").and_then(|item| item.text());
    let by = table.get("by").and_then(|item| item.texts()).unwrap_or_default();
    let rows = table.get("values").and_then(|item| item.list("a list of lists")).unwrap_or_default();
    if label.is_none() {
        table.problem(Problem::error("`label` is missing").hint("name the source of the numbers"));
    }
    table.finish();
    if let Some(text) = metric.as_ref().filter(|text| policy.metric(&text.value).is_none()) {
        problems.add(policy.unknown(text));
    }
    let known = by.iter().filter(|text| names.is_setting(text, "report")).count() == by.len();
    let Some(label) = label.filter(|_| known) else { return Vec::new() };
    let metric = metric.map_or_else(|| policy.headline.clone(), |text| text.value);
    let factor = unit.map_or(1.0, |unit| Unit::parse(&unit.value).1);
    let row = |item: &Item<'_>| {
        let values = item.list("a list")?;
        let Some((last, keys)) = values.split_last().filter(|(_, keys)| keys.len() == by.len()) else {
            item.problem(format!("this row must hold {} values and the number", by.len()));
            return None;
        };
        let settings: Option<Settings> =
            by.iter().zip(keys).map(|(name, key)| Some((name.value.clone(), key.scalar()?))).collect();
        let value = last.number()? * factor;
        Some(Published { label: label.value.clone(), metric: metric.clone(), settings: settings?, value })
    };
    rows.iter().filter_map(row).collect()
}
