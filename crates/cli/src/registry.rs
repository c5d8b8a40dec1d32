//! What workloads, dialects, launchers and platforms there are. Rooms that offer such things are joined here, so that
//! the campaign room needs to know none of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use assay_campaign::catalog::Catalog;
use assay_campaign::catalog::CatalogError;
use assay_campaign::registry::SampleKind;
use assay_campaign::{Plan, Registry};
use assay_evidence::vocabulary::Vocabulary;
use assay_evidence::{DIALECTS, Pattern, Readers};
use assay_launch::worker::OutputReader;
use assay_model::{Metric, Platform, metric, names};

use crate::failure::Mistake;
use crate::records::directory_of;
use crate::{dialects, workloads};

/// What a campaign is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To look at it: any platform of the catalog will do.
    Look,
    /// To run it: its platforms must be ones that this version can start runs on.
    Run,
}

/// Everything a campaign in this directory may name.
pub fn registry(campaign_directory: &Path, purpose: Purpose) -> anyhow::Result<Registry> {
    let platforms = platforms(campaign_directory)?;
    let launchers = match purpose {
        Purpose::Run => assay_launch::LAUNCHERS.iter().map(|name| (*name).to_owned()).collect(),
        Purpose::Look => platforms.iter().map(|platform| platform.launcher.clone()).collect(),
    };
    let users = dialects::find(campaign_directory, &[])?;
    let built_in = DIALECTS.iter().map(|dialect| dialect.name);
    Ok(Registry {
        workloads: workloads::descriptions(),
        dialects: built_in.chain(users.iter().map(|user| user.name())).map(str::to_owned).collect(),
        launchers,
        on: None,
        platforms,
        samples: samples(),
        metrics: metrics(),
        found: Vocabulary::current().metrics(),
    })
}

/// Metrics that the launcher measures, a dialect can find or a workload reports.
fn metrics() -> Vec<Metric> {
    let canonical = names::METRICS.iter().map(|known| Metric {
        name: known.name.to_owned(),
        unit: names::unit(known.name),
        better: known.better,
    });
    metric::launcher_metrics().into_iter().chain(canonical).chain(workloads::metrics()).collect()
}

/// Logs that can be generated.
fn samples() -> Vec<SampleKind> {
    let sample = |kind: &assay_samples::SampleKind| SampleKind {
        name: kind.name.to_owned(),
        options: kind.options.iter().map(|option| option.name.to_owned()).collect(),
    };
    assay_samples::KINDS.iter().map(sample).collect()
}

/// The catalog: in the binary, then the user's directory, then the project's; later ones override.
pub fn platforms(campaign_directory: &Path) -> Result<Vec<Platform>, CatalogError> {
    let mut catalog = Catalog::embedded();
    for directory in platform_directories(campaign_directory) {
        if directory.is_dir() {
            catalog.add_directory(&directory)?;
        }
    }
    Ok(catalog.platforms().to_vec())
}

/// Refuses platforms of a record that name a host which the user's catalog does not have for them: a record may be a
/// stranger's. Where the record was named by its campaign file, the catalog is the one beside that file.
pub fn check_hosts(noted: &[Platform], named: Option<&Path>) -> anyhow::Result<()> {
    if noted.iter().all(|platform| platform.host.is_none()) {
        return Ok(());
    }
    let campaign = named.filter(|path| path.is_file()).map(directory_of);
    let known = platforms(campaign.as_deref().unwrap_or(Path::new(".")))?;
    let is_known = |noted: &Platform| {
        noted.host.is_none() || known.iter().any(|own| own.name == noted.name && own.host == noted.host)
    };
    match noted.iter().find(|noted| !is_known(noted)) {
        None => Ok(()),
        Some(noted) => Err(Mistake::new(
            format!(
                "the record has jobs on host {}, which platform `{}` of your catalog does not name",
                noted.host.as_deref().unwrap_or_default(),
                noted.name
            ),
            "give the campaign file instead of the record, or enter the host in platforms/*.toml",
        )
        .into()),
    }
}

/// Where platform files are looked for beside the binary, in the order in which they override.
pub fn platform_directories(campaign_directory: &Path) -> Vec<PathBuf> {
    configuration_directory()
        .map(|directory| directory.join("platforms"))
        .into_iter()
        .chain([campaign_directory.join("platforms")])
        .collect()
}

/// The user's own directory for platforms and dialects.
pub fn configuration_directory() -> Option<PathBuf> {
    user_directory("XDG_CONFIG_HOME", ".config")
}

/// Where what can be made again is kept.
pub fn cache_directory() -> Option<PathBuf> {
    user_directory("XDG_CACHE_HOME", ".cache")
}

/// This program's part of a directory of the user: where a variable says, else below the home directory.
fn user_directory(variable: &str, usual: &str) -> Option<PathBuf> {
    let chosen = std::env::var_os(variable).map(PathBuf::from);
    let chosen = chosen.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(usual)))?;
    Some(chosen.join("assay"))
}

/// Whether this version can start runs on a platform.
pub fn can_start(platform: &Platform) -> bool {
    assay_launch::LAUNCHERS.contains(&platform.launcher.as_str())
}

/// How the output of a plan's runs on a platform is read.
pub fn reader(plan: &Plan, platform: &Platform) -> anyhow::Result<Arc<OutputReader>> {
    let patterns: Result<Vec<Pattern>, Mistake> = plan
        .patterns
        .iter()
        .map(|pattern| {
            let (metric, unit) = (&pattern.metric, pattern.unit.clone());
            Pattern::new(metric, &pattern.regex, unit, pattern.factor, pattern.keep, pattern.stream).map_err(
                |error| Mistake::new(format!("the pattern for `{metric}`: {error}"), "use a smaller pattern"),
            )
        })
        .collect();
    let dialect = plan.dialect_on(platform);
    let users = dialects::find(plan.directory(), &[])?;
    let readers = Readers::new(dialect, &patterns?, &users).with_context(|| {
        format!("no dialect is called `{dialect}`, which platform `{}` names", platform.name)
    })?;
    Ok(Arc::new(OutputReader { readers, hints: platform.hints.clone() }))
}
