//! From flags to a campaign.

use std::path::{Path, PathBuf};

use assay_campaign::{Campaign, CampaignBuilder};
use assay_load::metrics::Counters;
use assay_model::{Settings, Value};
use serde_json::Map;

use crate::failure::Mistake;
use crate::options::load::{Load, LoadFlags};
use crate::workloads::chat;
use crate::workloads::chat::settings::{ChatSettings, endpoint_mistake};

/// Rounds of a sweep: the fewest that give the median an interval of 95 %.
const ROUNDS: u32 = 6;
/// How long each load of a sweep over rates sends, unless something else is asked for.
const SWEEP_SECONDS: &str = "10s";

/// The record of a load: the one that is named, or a new one.
pub(super) fn record(options: &LoadFlags) -> anyhow::Result<PathBuf> {
    if let Some(record) = &options.record {
        return Ok(record.clone());
    }
    let mut names = (1..).map(|number| Path::new("records").join(format!("load-{number}")));
    names.find(|path| !path.exists()).ok_or_else(|| anyhow::anyhow!("no free name for a record"))
}

/// The campaign that the flags describe.
pub(super) fn campaign(options: &Load) -> Result<CampaignBuilder, Mistake> {
    let mut campaign = common(options)?;
    let is_sweep = options.urls.len() > 1 || options.settings.values().any(|values| values.len() > 1);
    campaign = campaign.repeats(options.how.rounds.unwrap_or(if is_sweep { ROUNDS } else { 1 }));
    let is_given = |name: &str| options.settings.contains_key(name);
    if is_sweep && is_given("rate") && !is_given("requests") && !is_given("duration") {
        campaign = campaign.fixed("duration", SWEEP_SECONDS);
    }
    for (name, values) in &options.settings {
        campaign = campaign.setting(name, values.clone());
    }
    Ok(campaign)
}

/// Endpoints, headers and fields: what is not a plain setting.
pub(super) fn common(options: &Load) -> Result<CampaignBuilder, Mistake> {
    let mut campaign = Campaign::for_workload("load", chat::NAME);
    let urls: Vec<Value> = options.urls.iter().map(|url| Value::from(url.as_str())).collect();
    campaign = campaign.setting("url", urls);
    let models: Vec<Value> = options.models.iter().map(|model| Value::from(model.as_str())).collect();
    if models.len() > 1 && models.len() != options.urls.len() {
        let text = format!("{} endpoints and {} models", options.urls.len(), options.models.len());
        return Err(Mistake::new(text, "give --model once for all endpoints, or once for each"));
    }
    let mut different = models.clone();
    different.dedup();
    if different.len() > 1 {
        // Each endpoint has its own model: the other combinations are left out.
        for (url, own) in options.urls.iter().zip(&options.models) {
            for other in options.models.iter().filter(|other| *other != own) {
                campaign = campaign.exclude(format!("url == '{url}' and model == '{other}'"));
            }
        }
        let mut names: Vec<Value> = Vec::new();
        models.into_iter().for_each(|model| {
            if !names.contains(&model) {
                names.push(model)
            }
        });
        campaign = campaign.setting("model", names);
    } else {
        campaign = campaign.setting("model", different);
    }
    for (name, value) in objects(options) {
        campaign = campaign.fixed(name, value.as_str());
    }
    Ok(campaign)
}

/// Headers and fields as the settings of `chat` have them: JSON objects.
fn objects(options: &Load) -> Vec<(&'static str, String)> {
    let headers: Map<String, serde_json::Value> =
        options.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let fields: Map<String, serde_json::Value> = options
        .fields
        .iter()
        .map(|(name, text)| {
            // A word without quotes is meant as a text.
            let value =
                serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::String(text.clone()));
            (name.clone(), value)
        })
        .collect();
    let given = [("headers", headers), ("fields", fields)].into_iter().filter(|(_, all)| !all.is_empty());
    given.map(|(name, all)| (name, serde_json::Value::Object(all).to_string())).collect()
}

/// Finds mistakes before a record is made: a host or a token that is not there, a metrics page that is none, files that
/// cannot be read.
pub(super) fn check_before(options: &Load) -> anyhow::Result<()> {
    for url in &options.urls {
        let mut settings = settings(options, 0);
        settings.insert("url".to_owned(), url.as_str().into());
        let chat = ChatSettings::new(&settings)?;
        let endpoint = chat.endpoint(&chat.url()?)?;
        endpoint.find().map_err(endpoint_mistake)?;
        endpoint.prepare().map_err(endpoint_mistake)?;
        if options.models.is_empty() {
            chat.with_model(endpoint.clone())?;
        }
        if let Some(Value::Text(page)) = settings.get("metrics_url") {
            Counters::fetch(&endpoint, Some(page)).map_err(|error| {
                Mistake::new(error.to_string(), "give the URL of a Prometheus metrics page")
            })?;
        }
    }
    let files = ChatSettings::FILES.iter().filter_map(|name| options.settings.get(*name).map(Vec::len));
    for position in 0..files.max().unwrap_or(0) {
        let mut settings = settings(options, position);
        if let Some(url) = options.urls.first() {
            settings.insert("url".to_owned(), url.as_str().into());
        }
        ChatSettings::new(&settings)?.check_files()?;
    }
    Ok(())
}

/// The settings of one load: the values at a position, or the last ones.
fn settings(options: &Load, position: usize) -> Settings {
    let given = options.settings.iter();
    let value = |values: &Vec<Value>| values.get(position).or(values.last()).cloned();
    let mut settings: Settings =
        given.filter_map(|(name, values)| Some((name.clone(), value(values)?))).collect();
    settings
        .extend(objects(options).into_iter().map(|(name, value)| (name.to_owned(), value.as_str().into())));
    if options.how.find_capacity && !settings.contains_key("streams") && !settings.contains_key("trace") {
        settings.entry("rate".to_owned()).or_insert(Value::Float(1.0));
    }
    settings
}
