//! Records side by side: what differs in how they were made, and in what they say.

use std::collections::BTreeSet;

use assay_report::document::{body, write_up};
use assay_report::markup::Markup;
use assay_report::study::Study;

use super::{Query, ViewError, find, link, metric_choice, shell, table};
use crate::site::Site;
use crate::study::{StudyOptions, studies, study};

/// Records that are compared at once.
const MOST: usize = 12;

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let ids: Vec<&str> = query.all("id").take(MOST).collect();
    if ids.len() < 2 {
        return Err(ViewError::Wrong("Choose two records or more to compare.".to_owned()));
    }
    let metrics: Vec<String> = query.all("metric").map(str::to_owned).collect();
    let mut gathered = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for id in &ids {
        let (listed, record) = find(site, id)?;
        known.extend(record.index()?.metrics()?.into_iter().map(|metric| metric.name));
        let options = StudyOptions { metrics: &metrics, defaults: &site.defaults };
        gathered.push(study(&record, &listed.id, &options)?);
    }
    let all = studies(gathered);
    let title = format!("Compare {}", all.names().join(", "));
    Ok(shell(&title, &[], |page| {
        page.element("p", &[("class", "actions")], |page| {
            for study in &all.studies {
                link(page, &study.path, &super::address("/record", &[("id", &study.path)]));
            }
        });
        let chosen: Vec<(&str, &str)> = ids.iter().map(|id| ("id", *id)).collect();
        let names = known.iter().map(String::as_str);
        metric_choice(page, ("/compare", &chosen), names, metrics.first().map(String::as_str));
        differences(page, &all.studies);
        body(page, &write_up(&all));
    }))
}

/// Only what differs: settings that all cells of a record share, machine and program.
fn differences(page: &mut Markup, studies: &[Study]) {
    let facts: Vec<Vec<(String, String)>> = studies.iter().map(facts).collect();
    let mut names: Vec<&String> = facts.iter().flatten().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let value = |facts: &[(String, String)], name: &str| {
        facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let differing: Vec<(&String, Vec<Option<String>>)> = names
        .into_iter()
        .map(|name| (name, facts.iter().map(|facts| value(facts, name)).collect::<Vec<_>>()))
        .filter(|(_, values)| values.windows(2).any(|pair| pair.first() != pair.last()))
        .collect();
    page.leaf("h2", &[("id", "differs")], "What differs in how they were made");
    if differing.is_empty() {
        return page.leaf("p", &[], "Nothing that the records know of.");
    }
    let mut columns = vec![("", false)];
    columns.extend(studies.iter().map(|study| (study.path.as_str(), false)));
    table(page, &columns, |page| {
        for (name, values) in &differing {
            page.element("tr", &[], |page| {
                page.leaf("th", &[("scope", "row")], name);
                for value in values {
                    page.leaf("td", &[("class", "words")], value.as_deref().unwrap_or("–"));
                }
            });
        }
    });
}

fn facts(study: &Study) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    if let Some(judged) = study.answers.first() {
        let common = &judged.answer.common;
        facts.extend(common.iter().map(|(name, value)| (format!("setting {name}"), value.to_string())));
    }
    let mut fact =
        |name: &str, value: Option<String>| facts.extend(value.map(|value| (name.to_owned(), value)));
    fact("program", study.origin.program.clone());
    fact("seed", study.origin.seed.map(|seed| seed.to_string()));
    if let Some(machine) = &study.origin.machine {
        fact("host", Some(machine.host.clone()));
        fact("CPU", machine.cpu.clone());
        fact("CPUs usable", machine.cpus_usable.map(|cpus| cpus.to_string()));
        fact("kernel", machine.kernel.clone());
        fact("governor", machine.governor.clone());
    }
    facts
}
