//! What to start for one run. Everything was parsed when the plan was made: this only fills in values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_model::identity::hash_text;
use assay_model::{Settings, Value};

use super::Plan;
use crate::campaign::Shell;
use crate::problem::Problem;

/// Where a run finds things.
#[derive(Debug, Clone, Copy)]
pub struct RunPaths<'a> {
    /// This program.
    pub assay: &'a Path,
    /// The directory of the run.
    pub run_directory: &'a Path,
}

/// What to start for one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// The command as one text, for people and scripts.
    pub command: String,
    /// What interprets it.
    pub shell: Shell,
    /// The program and its arguments, the shell included.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Environment variables set in addition to those there are.
    pub environment: BTreeMap<String, String>,
    /// Files to write into the run directory first.
    pub files: Vec<RenderedFile>,
    /// A run that takes longer is stopped.
    pub timeout: Option<Duration>,
    /// The time between asking it to stop and making it.
    pub grace: Duration,
    /// CPUs to bind it to; empty for no binding.
    pub pin: Vec<usize>,
    /// Whether to measure the memory of all processes together.
    pub group_memory: bool,
}

/// A file made for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFile {
    /// Its name inside the run directory.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Why a run has no invocation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvocationError {
    /// The plan has fewer cells.
    #[error("the plan has no cell {0}")]
    Cell(usize),
    /// A placeholder has no value in this cell.
    #[error("nothing is known for the placeholder `{{{0}}}`")]
    Placeholder(String),
}

impl Plan {
    /// What to start for one repeat of a cell.
    pub fn invocation(
        &self,
        cell: usize,
        repeat: u32,
        paths: &RunPaths<'_>,
    ) -> Result<Invocation, InvocationError> {
        let planned = self.cells.get(cell).ok_or(InvocationError::Cell(cell))?;
        let run = Run { plan: self, settings: &planned.settings, cell, repeat, paths };
        let lookup = |name: &str| run.value(name);
        let missing = InvocationError::Placeholder;
        let workload = &self.workload;
        let command = workload.command.render(&lookup).map_err(missing)?;
        let arguments = match workload.shell {
            Shell::None => workload
                .words
                .iter()
                .map(|word| word.render(&lookup))
                .collect::<Result<_, _>>()
                .map_err(missing)?,
            shell => vec![shell.word().to_owned(), "-c".to_owned(), command.clone()],
        };
        let mut environment =
            self.platform(cell).map(|platform| platform.environment.clone()).unwrap_or_default();
        for (name, template) in &workload.environment {
            environment.insert(name.clone(), template.render(&lookup).map_err(missing)?);
        }
        let mut files = Vec::with_capacity(workload.files.len());
        for file in &workload.files {
            let bytes = file.skeleton.render(&lookup).map_err(missing)?.into_bytes();
            files.push(RenderedFile { name: file.name.clone(), bytes });
        }
        Ok(Invocation {
            command,
            shell: workload.shell,
            arguments,
            directory: workload.directory.clone(),
            environment,
            files,
            timeout: self.run.timeout_s.map(Duration::from_secs_f64),
            grace: Duration::from_secs_f64(self.run.grace_s),
            pin: self.run.pin.clone(),
            group_memory: self.run.group_memory,
        })
    }

    /// The seed of one run: it follows from the plan's seed, the point and the repeat. 31 bits, which every random
    /// generator that asks for a seed accepts.
    pub fn run_seed(&self, cell: usize, repeat: u32) -> u32 {
        let point = self.cells.get(cell).map(|cell| cell.cell.point.0.as_str()).unwrap_or_default();
        let hash = hash_text(&format!("{}/{point}/{repeat}", self.seed));
        hash.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0) >> 1
    }

    /// Renders each configuration file for the first cell and reads it again.
    pub(super) fn verify_files(&self) -> Vec<Problem> {
        let Some(first) = self.cells.first() else { return Vec::new() };
        let paths = RunPaths { assay: Path::new("assay"), run_directory: Path::new("run") };
        let run = Run { plan: self, settings: &first.settings, cell: 0, repeat: 1, paths: &paths };
        let verify = |file: &crate::campaign::ConfigurationFile| {
            let reason = file.skeleton.verify(&|name| run.value(name)).err()?;
            Some(
                Problem::error(format!("the configuration file `{}`: {reason}", file.name))
                    .at(file.place.clone()),
            )
        };
        self.workload.files.iter().filter_map(verify).collect()
    }
}

/// What placeholders mean in one run.
struct Run<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    cell: usize,
    repeat: u32,
    paths: &'a RunPaths<'a>,
}

impl Run<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let path = |path: &Path| Value::Text(path.to_string_lossy().into_owned());
        if let Some(value) = self.settings.get(name) {
            return Some(value.clone());
        }
        match name {
            "run_directory" => Some(path(self.paths.run_directory)),
            "campaign_directory" => Some(path(&self.plan.directory)),
            "assay" => Some(path(self.paths.assay)),
            "repeat" => Some(Value::Integer(i64::from(self.repeat))),
            "seed" => Some(Value::Integer(i64::from(self.plan.run_seed(self.cell, self.repeat)))),
            "platform" => self.plan.platform(self.cell).map(|platform| Value::Text(platform.name.clone())),
            _ => None,
        }
    }
}
