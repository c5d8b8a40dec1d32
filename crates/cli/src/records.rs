//! Finding the record that the user names.

use std::path::{Path, PathBuf};

use assay_campaign::{Campaign, CampaignError};
use assay_report::number::duration;
use assay_store::{DamageReport, Identity, Record, RecordSummary, list_records};

use crate::failure::Mistake;
use crate::registry::{self, Purpose};
use crate::screen::Screen;

/// The directory of records, beside the campaign file.
pub const RECORDS: &str = "records";

/// The directory of a campaign file.
pub fn directory_of(campaign: &Path) -> PathBuf {
    match campaign.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A path as people write it, without a leading `./`.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// Who this process is when it opens a record for writing. The name is that of a new record.
pub fn writer(name: String, host: String) -> Identity {
    Identity {
        name,
        now: assay_launch::worker::now(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        host,
        pid: std::process::id(),
    }
}

/// The record of a campaign, unless the user names another.
pub fn of_campaign(campaign: &Path, name: &str, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| directory_of(campaign).join(RECORDS).join(name), Path::to_owned)
}

/// Opens the record of a name, a directory or a campaign file; without one, the newest below the current directory.
pub fn open(named: Option<&Path>) -> anyhow::Result<Record> {
    let path = match named {
        None => newest()?,
        Some(path) if path.extension().is_some_and(|ending| ending == "toml") && path.is_file() => {
            let campaign = load(path, Purpose::Look)?;
            of_campaign(path, &campaign.name, None)
        }
        Some(path) if path.is_dir() => path.to_owned(),
        Some(path) => by_name(path)?,
    };
    Ok(Record::open(&path)?)
}

/// Warns if the journal of a record is damaged.
pub fn warn_of_damage(record: &Record, damage: &DamageReport, screen: &mut Screen) {
    if damage.is_worth_reporting() {
        screen.warn(&format!("the journal of {} is damaged: {damage}", shown(record.directory())));
        if !damage.is_harmless() {
            screen.hint(
                "restore it from a backup, or continue with `assay run --accept-damage`, which runs lost runs again",
            );
        }
    }
}

/// Reads and checks a campaign file.
pub fn load(path: &Path, purpose: Purpose) -> anyhow::Result<Campaign> {
    load_on(path, purpose, None)
}

/// Reads and checks a campaign file for another platform than it names.
pub fn load_on(path: &Path, purpose: Purpose, on: Option<&str>) -> anyhow::Result<Campaign> {
    if !path.is_file() {
        let text = format!("no campaign file {}", path.display());
        return Err(Mistake::new(text, "`assay init` writes a commented example").into());
    }
    let mut registry = registry::registry(&directory_of(path), purpose)?;
    registry.on = on.map(str::to_owned);
    if let Some(on) = on.filter(|on| !registry.platforms.iter().any(|platform| platform.name == *on)) {
        let text = format!("unknown platform `{on}`");
        return Err(Mistake::new(text, "`assay list platforms` shows all").into());
    }
    Ok(Campaign::load(path, &registry)?)
}

/// Checks the text of a campaign file.
pub fn parse(file: &Path, text: &str) -> anyhow::Result<Campaign> {
    let directory = std::path::absolute(directory_of(file))?;
    let registry = registry::registry(&directory, Purpose::Run)?;
    let name = file.display().to_string();
    Ok(Campaign::parse(&name, text, &directory, &registry).map_err(CampaignError::Problems)?)
}

/// When a record was last written to, in seconds since 1970 UTC.
pub fn last_used(record: &RecordSummary) -> f64 {
    record.contents.as_ref().map_or(0.0, |contents| contents.last_session.unwrap_or(contents.created))
}

/// How long ago that was, for people; nobody compares records by seconds.
pub fn last_used_ago(record: &RecordSummary, now: f64) -> String {
    match (now - last_used(record)).max(0.0) {
        seconds if seconds < 60.0 => "just now".to_owned(),
        seconds => format!("{} ago", duration(seconds)),
    }
}

fn newest() -> anyhow::Result<PathBuf> {
    let records = list_records(Path::new("."))?;
    let newest = records.into_iter().max_by(|a, b| last_used(a).total_cmp(&last_used(b)));
    let newest = newest.ok_or_else(|| {
        Mistake::new("no records found here", "`assay run campaign.toml` or `assay tour` creates one")
    })?;
    Ok(newest.path)
}

fn by_name(name: &Path) -> anyhow::Result<PathBuf> {
    let wanted = name.display().to_string();
    let records = list_records(Path::new("."))?;
    let in_folder = |record: &&RecordSummary| record.path.file_name().is_some_and(|folder| folder == name);
    let with_name =
        |record: &&RecordSummary| record.contents.as_ref().is_ok_and(|contents| contents.name == wanted);
    let paths = |records: Vec<&RecordSummary>| -> Vec<PathBuf> {
        records.into_iter().map(|record| record.path.clone()).collect()
    };
    // A folder of that name is what is meant, even if an older record of the campaign was moved aside.
    let mut matching = paths(records.iter().filter(in_folder).collect());
    if matching.is_empty() {
        matching = paths(records.iter().filter(with_name).collect());
    }
    let mut known: Vec<String> = records.iter().map(|record| shown(&record.path)).collect();
    match matching.as_slice() {
        [one] => Ok(one.clone()),
        [] if known.is_empty() => Err(Mistake::new(
            format!("no record `{wanted}`, and no other records here"),
            "`assay run` creates records",
        )
        .into()),
        [] => {
            known.truncate(8);
            Err(Mistake::new(
                format!("no record `{wanted}`"),
                format!("available records: {}", known.join(", ")),
            )
            .into())
        }
        many => {
            let paths: Vec<String> = many.iter().map(|path| shown(path)).collect();
            Err(Mistake::new(
                format!("`{wanted}` is ambiguous: several records have this name"),
                format!("use one of {}", paths.join(", ")),
            )
            .into())
        }
    }
}
