//! The platform catalog: one file each, some of them built in, others added or overridden by the user.

use std::path::{Path, PathBuf};

use assay_model::Platform;
use assay_model::platform::{BatchSettings, ErrorHint, Limits};

use crate::platform_keys;
use crate::problem::{Problem, Problems};
use crate::quantity;
use crate::reader::{self, Collector, Item, Table};

/// All platforms that are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    platforms: Vec<Platform>,
}

/// Why platform files could not be added.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A file or directory could not be read.
    #[error("the platform catalog `{path}` cannot be read: {source}")]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Files were read, and are wrong: one set of problems a file.
    #[error("{}", .0.iter().map(|problems| problems.to_string()).collect::<Vec<_>>().join("\n\n"))]
    Problems(Vec<Problems>),
}

/// The files that are part of the program.
const EMBEDDED: [(&str, &str); 11] = [
    ("local.toml", include_str!("../catalog/local.toml")),
    ("cerebras-cs3.toml", include_str!("../catalog/cerebras-cs3.toml")),
    ("graphcore-pod64.toml", include_str!("../catalog/graphcore-pod64.toml")),
    ("groqrack.toml", include_str!("../catalog/groqrack.toml")),
    ("sambanova-sn30.toml", include_str!("../catalog/sambanova-sn30.toml")),
    ("polaris.toml", include_str!("../catalog/polaris.toml")),
    ("aurora.toml", include_str!("../catalog/aurora.toml")),
    ("slurm-gpu.toml", include_str!("../catalog/slurm-gpu.toml")),
    ("sophia-endpoint.toml", include_str!("../catalog/sophia-endpoint.toml")),
    ("metis-endpoint.toml", include_str!("../catalog/metis-endpoint.toml")),
    ("replay.toml", include_str!("../catalog/replay.toml")),
];

impl Catalog {
    /// The platforms that are part of the program. A test makes sure that all of them can be read.
    pub fn embedded() -> Catalog {
        let mut catalog = Catalog::default();
        for (file, text) in EMBEDDED {
            if let Ok(platform) = Catalog::parse(file, text) {
                catalog.add(platform);
            }
        }
        catalog
    }

    /// Adds every `<name>.toml` of a directory; a platform that is known by name is replaced.
    pub fn add_directory(&mut self, path: &Path) -> Result<(), CatalogError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| CatalogError::Read { path, source }
        };
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed(path))? {
            let file = entry.map_err(failed(path))?.path();
            // A pipe would be waited for.
            let is_other = std::fs::metadata(&file).is_ok_and(|found| !found.is_file());
            if !is_other && file.extension().is_some_and(|extension| extension == "toml") {
                files.push(file);
            }
        }
        // Directories list their files in any order; the catalog must not depend on it.
        files.sort();
        let mut wrong = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).map_err(failed(&file))?;
            match Catalog::parse(&file.to_string_lossy(), &text) {
                Ok(platform) => self.add(platform),
                Err(problems) => wrong.push(problems),
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(CatalogError::Problems(wrong)) }
    }

    /// Adds a platform, or replaces the one of that name.
    pub fn add(&mut self, platform: Platform) {
        match self.platforms.iter_mut().find(|known| known.name == platform.name) {
            Some(known) => *known = platform,
            None => self.platforms.push(platform),
        }
    }

    /// All platforms, in the order they were added.
    pub fn platforms(&self) -> &[Platform] {
        &self.platforms
    }

    pub fn get(&self, name: &str) -> Option<&Platform> {
        self.platforms.iter().find(|platform| platform.name == name)
    }

    /// Reads the text of a platform file. The file's name must be that of the platform.
    pub fn parse(file: &str, text: &str) -> Result<Platform, Problems> {
        let problems = Collector::new(text);
        let parsed = reader::parse(text, &problems);
        let platform = {
            let mut top = Table::new(parsed.get_ref(), 0..0, "", &problems);
            let platform = read(&mut top, file, &problems);
            top.finish();
            platform
        };
        let found = Problems::new(file, text, problems.into_list());
        match platform {
            Some(platform) if !found.has_errors() => Ok(platform),
            _ => Err(found),
        }
    }
}

fn read(top: &mut Table<'_>, file: &str, problems: &Collector<'_>) -> Option<Platform> {
    let name_item = top.get("name");
    let name = name_item.as_ref().and_then(|item| item.text());
    let summary = top.get("summary").and_then(|item| item.text()).map(|text| text.value);
    let launcher_item = top.get("launcher");
    let launcher = launcher_item.as_ref().and_then(|item| item.text());
    for (key, given) in [("name", name_item.is_some()), ("launcher", launcher_item.is_some())] {
        if !given {
            problems.add(Problem::error(format!("the platform has no `{key}`")));
        }
    }
    let limits = top.get("limits").and_then(|item| item.table()).map(read_limits).unwrap_or_default();
    let environment = top.get("environment").and_then(|item| item.table());
    let environment = environment.iter().flat_map(|table| table.entries()).filter_map(|(name, item)| {
        let value = item.scalar()?;
        Some((name.value, value.to_string()))
    });
    let environment = environment.collect();
    let mut log = top.get("log").and_then(|item| item.table());
    let dialect = log.as_mut().and_then(|table| table.get("dialect")).and_then(|item| item.text());
    if let Some(table) = log {
        table.finish();
    }
    let hints = top.get("hint").map(|item| item.tables()).unwrap_or_default();
    let hints = hints.into_iter().filter_map(read_hint).collect();
    let host = top.get("host").and_then(|item| item.text()).map(|text| text.value);
    let mut batch = BatchSettings::default();
    if let Some(mut table) = top.get("batch").and_then(|item| item.table()) {
        platform_keys::read(&mut table, &mut batch);
        table.finish();
    }
    let name = name?;
    check_name(&name, file, problems);
    Some(Platform {
        name: name.value,
        summary: summary.unwrap_or_default(),
        launcher: launcher?.value,
        host,
        batch,
        limits,
        environment,
        // `auto` is what happens without a dialect.
        dialect: dialect.map(|text| text.value).filter(|name| name != "auto"),
        hints,
    })
}

fn check_name(name: &reader::SpannedText, file: &str, problems: &Collector<'_>) {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.value.is_empty() || !name.value.chars().all(fits) {
        let problem = Problem::error(format!("`{}` cannot be the name of a platform", name.value));
        problems.add(problem.at(name.span.clone()).hint("names are letters, digits, `.`, `_` and `-`"));
        return;
    }
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    if stem.as_deref() != Some(name.value.as_str()) {
        let problem =
            Problem::error(format!("the platform `{}` is defined in a file with another name", name.value));
        problems.add(problem.at(name.span.clone()).hint(format!("rename the file to `{}.toml`", name.value)));
    }
}

fn read_limits(mut table: Table<'_>) -> Limits {
    let mut count = |key, least| {
        let number = table.get(key)?.whole(least..=i64::MAX)?;
        u64::try_from(number).ok()
    };
    let (nodes, cpus_per_node) = (count("nodes", 1), count("cpus_per_node", 1));
    let devices_per_node = count("devices_per_node", 0);
    let memory = table.get("memory_per_node").and_then(|item| parsed(&item, quantity::parse_size));
    let device = table.get("device").and_then(|item| item.text()).map(|text| text.value);
    let time_s = table.get("time").and_then(|item| parsed(&item, quantity::parse_duration));
    table.finish();
    Limits { nodes, cpus_per_node, memory_per_node_bytes: memory, devices_per_node, device, time_s }
}

fn parsed<T>(item: &Item<'_>, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
    let text = item.text()?;
    parse(&text.value).map_err(|reason| item.problem(reason)).ok()
}

fn read_hint(mut table: Table<'_>) -> Option<ErrorHint> {
    let text = table.get("text").and_then(|item| item.text());
    let hint = table.get("hint").and_then(|item| item.text());
    if text.as_ref().is_none_or(|text| text.value.is_empty()) || hint.is_none() {
        table.problem(Problem::error("[[hint]] needs `text` and `hint`"));
    }
    table.finish();
    Some(ErrorHint { text: text?.value, hint: hint?.value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_platform_can_be_read() {
        for (file, text) in EMBEDDED {
            if let Err(problems) = Catalog::parse(file, text) {
                panic!("{problems}");
            }
        }
        let catalog = Catalog::embedded();
        assert_eq!(catalog.platforms().len(), EMBEDDED.len());
        assert_eq!(catalog.get("local").unwrap().launcher, "local");
        assert_eq!(catalog.get("local").unwrap().limits, Limits::default());
        assert_eq!(catalog.get("sambanova-sn30").unwrap().limits.cpus_per_node, Some(128));
    }

    #[test]
    fn directories_override_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write(
            "local.toml",
            "name = 'local'\nlauncher = 'local'\n[limits]\ncpus_per_node = 3\ntime = '1 h'\n",
        );
        write("mine.toml", "name = 'mine'\nsummary = 'x'\nlauncher = 'slurm'\n[environment]\nA = 1\n");
        write("notes.txt", "not a platform");
        let mut catalog = Catalog::embedded();
        catalog.add_directory(directory.path()).unwrap();
        assert_eq!(catalog.get("local").unwrap().limits.cpus_per_node, Some(3));
        assert_eq!(catalog.get("mine").unwrap().environment["A"], "1");
        write("bad.toml", "name = 'other'\nlaucher = 'slurm'\n");
        let error = catalog.add_directory(directory.path()).unwrap_err().to_string();
        assert!(error.contains("did you mean `launcher`?") && error.contains("another name"), "{error}");
        assert!(catalog.add_directory(Path::new("/no/such/directory")).is_err());
    }
}
