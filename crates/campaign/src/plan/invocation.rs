//! What to start for one run. Everything was parsed when the plan was made: this only fills in values.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use assay_model::identity::hash_text;
use assay_model::{Settings, Speed, Value};

use super::Plan;
use crate::campaign::{CommandTemplate, Replay, ReplaySource, Shell, Workload};
use crate::problem::Problem;
use crate::template::Template;

/// Where a run finds things.
#[derive(Debug, Clone, Copy)]
pub struct RunPaths<'a> {
    /// This program.
    pub assay: &'a Path,
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
    /// Whether a short run goes without a directory of its own: nothing is put there, and all repeats of its cell start
    /// the same script.
    pub compact: bool,
    /// Files that the run writes its log to, which are read like its output.
    pub follow: Vec<PathBuf>,
    /// The log to play instead of starting anything.
    pub recording: Option<Recording>,
    /// A shell command to run before, untimed.
    pub prepare: Option<String>,
    /// A shell command to run after, untimed.
    pub cleanup: Option<String>,
}

/// A log that is played instead of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Where it comes from.
    pub source: RecordingSource,
    /// How fast it is played.
    pub speed: Speed,
}

/// Where a log comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingSource {
    /// A recorded file.
    Log {
        /// The file.
        path: PathBuf,
        /// Its name, as the campaign has it.
        name: String,
    },
    /// A log that is generated.
    Sample {
        /// The kind of log.
        kind: String,
        options: BTreeMap<String, String>,
        /// The seed, which is another one for every run.
        seed: u64,
    },
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
    #[error("unknown placeholder `{{{0}}}`")]
    Placeholder(String),
    /// A text would have to be quoted where quotes cannot be followed.
    #[error(
        "cannot quote `{{{name}}}` ({value:?}) where the command has it; assign it to a variable first: x={{{name}}}"
    )]
    Unquotable {
        /// The placeholder.
        name: String,
        /// Its value.
        value: String,
    },
}

/// What a replayed workload without a command has.
static NO_COMMAND: LazyLock<CommandTemplate> = LazyLock::new(CommandTemplate::default);

impl Plan {
    /// What to start for one repeat of a cell.
    pub fn invocation(
        &self,
        cell: usize,
        repeat: u32,
        paths: &RunPaths<'_>,
    ) -> Result<Invocation, InvocationError> {
        let planned = self.cells.get(cell).ok_or(InvocationError::Cell(cell))?;
        let run = RunPlaceholders { plan: self, settings: &planned.settings, cell, repeat, paths };
        let lookup = |name: &str| run.value(name);
        let missing = InvocationError::Placeholder;
        let workload = self.workload_of(cell);
        let template = workload.command_of(&planned.settings).unwrap_or(&NO_COMMAND);
        let step = |step: &Option<Template>| step.as_ref().map(|step| step.render_shell(&lookup)).transpose();
        let words = template.words.iter().map(|word| word.render(&lookup));
        let (command, arguments) = match workload.shell {
            // A setting that may be left out has no word where it is.
            Shell::None if workload.is_built_in() => {
                let words: Vec<String> = words.filter_map(Result::ok).collect();
                (words.join(" "), words)
            }
            Shell::None => {
                let words = words.collect::<Result<_, _>>().map_err(missing)?;
                (template.template.render(&lookup).map_err(missing)?, words)
            }
            shell @ (Shell::Sh | Shell::Bash) => {
                let command = template.template.render_shell(&lookup)?;
                let words = vec![shell.word().to_owned(), "-c".to_owned(), command.clone()];
                (command, words)
            }
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
        let follow = self.follow.iter().map(|file| Ok(workload.directory.join(file.render(&lookup)?)));
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
            compact: self.run.compact && self.is_same_for_repeats(workload, template),
            follow: follow.collect::<Result<_, _>>().map_err(missing)?,
            recording: self.recording(&run).map_err(missing)?,
            prepare: step(&workload.prepare)?,
            cleanup: step(&workload.cleanup)?,
        })
    }

    /// Whether every repeat of a cell starts the same command, with no files of its own around it.
    fn is_same_for_repeats(&self, workload: &Workload, command: &CommandTemplate) -> bool {
        let texts = workload
            .environment
            .iter()
            .map(|(_, text)| text)
            .chain([&command.template])
            .chain(&command.words);
        let mut placeholders = texts.flat_map(Template::placeholders);
        workload.files.is_empty()
            && workload.replay.is_none()
            && workload.prepare.is_none()
            && workload.cleanup.is_none()
            && self.follow.is_empty()
            && !placeholders.any(|(name, _)| ["run_directory", "repeat", "seed"].contains(&name))
    }

    /// The log that is played for a run, where one is.
    fn recording(&self, run: &RunPlaceholders<'_>) -> Result<Option<Recording>, String> {
        let Some(replay) = &self.workload.replay else { return Ok(None) };
        let lookup = |name: &str| run.value(name);
        let source = match &replay.source {
            ReplaySource::Log(log) => {
                let name = log.render(&lookup)?;
                RecordingSource::Log { path: self.directory.join(&name), name }
            }
            ReplaySource::Sample { kind, options } => {
                let filled = options.iter().map(|(name, value)| Ok((name.clone(), value.render(&lookup)?)));
                RecordingSource::Sample {
                    kind: kind.clone(),
                    options: filled.collect::<Result<_, String>>()?,
                    seed: u64::from(self.run_seed(run.cell, run.repeat)),
                }
            }
        };
        Ok(Some(Recording { source, speed: replay.speed }))
    }

    /// Looks for the logs of every run. A log that is played twice would count one measurement as two.
    pub(super) fn verify_logs(&self) -> Vec<Problem> {
        let Some(Replay { source: ReplaySource::Log(_), place, .. }) = &self.workload.replay else {
            return Vec::new();
        };
        let paths = RunPaths { assay: Path::new("assay"), run_directory: Path::new("run") };
        let mut missing: Vec<String> = Vec::new();
        let mut fewest: Option<(usize, usize, String)> = None;
        for (cell, planned) in self.cells.iter().enumerate() {
            let mut different = BTreeSet::new();
            for repeat in 1..=self.most_of(cell) {
                let run =
                    RunPlaceholders { plan: self, settings: &planned.settings, cell, repeat, paths: &paths };
                let Ok(Some(Recording { source: RecordingSource::Log { path, name }, .. })) =
                    self.recording(&run)
                else {
                    continue;
                };
                let is_new = different.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
                if is_new && !path.is_file() && !missing.contains(&name) {
                    missing.push(name.clone());
                }
                if !is_new && fewest.as_ref().is_none_or(|(count, ..)| different.len() < *count) {
                    fewest = Some((different.len(), cell, name));
                }
            }
        }
        logs_missing(&missing, place).into_iter().chain(self.logs_repeated(fewest, place)).collect()
    }

    /// `fewest`: the number of different logs, the cell that has no more, and the log that repeats.
    fn logs_repeated(&self, fewest: Option<(usize, usize, String)>, place: &Range<usize>) -> Option<Problem> {
        let (count, cell, name) = fewest?;
        let logs = if count == 1 { "1 log".to_owned() } else { format!("{count} logs") };
        let message = format!(
            "{} repeats are asked for, but there is only {logs} for a cell: `{name}` would be played again",
            self.most_of(cell)
        );
        let table = if self.fewer_of(cell).is_some() { "[[repeats.fewer]]" } else { "[repeats]" };
        let hint = format!(
            "name one log for each repeat by `{{repeat}}`, or set `at_least = {count}` under {table}"
        );
        Some(Problem::error(message).at(place.clone()).hint(hint))
    }

    /// The seed of one run: it follows from the plan's seed, the point and the repeat. 31 bits, which every random
    /// generator that asks for a seed accepts.
    pub fn run_seed(&self, cell: usize, repeat: u32) -> u32 {
        let point = self.cells.get(cell).map(|cell| cell.cell.point.0.as_str()).unwrap_or_default();
        let hash = hash_text(&format!("{}/{point}/{repeat}", self.seed));
        hash.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0) >> 1
    }

    /// Renders each configuration file for the first cell of each platform and reads it again.
    pub(super) fn verify_files(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        for (cell, planned) in self.cells.iter().enumerate() {
            if seen.insert(&planned.cell.platform) {
                problems.extend(self.verify_files_of(cell, &planned.settings));
            }
        }
        problems
    }

    fn verify_files_of(&self, cell: usize, settings: &Settings) -> Vec<Problem> {
        let paths = RunPaths { assay: Path::new("assay"), run_directory: Path::new("run") };
        let run = RunPlaceholders { plan: self, settings, cell, repeat: 1, paths: &paths };
        let verify = |file: &crate::campaign::ConfigurationFile| {
            let reason = file.skeleton.verify(&|name| run.value(name)).err()?;
            Some(
                Problem::error(format!("the configuration file `{}`: {reason}", file.name))
                    .at(file.place.clone()),
            )
        };
        self.workload_of(cell).files.iter().filter_map(verify).collect()
    }
}

fn logs_missing(missing: &[String], place: &Range<usize>) -> Option<Problem> {
    let message = match missing {
        [] => return None,
        [one] => format!("the log `{one}` does not exist"),
        [first, others @ ..] => {
            format!("the log `{first}` does not exist, and {} more do not", others.len())
        }
    };
    let hint = "logs are looked for relative to the campaign file";
    Some(Problem::error(message).at(place.clone()).hint(hint))
}

/// What placeholders mean in one run.
struct RunPlaceholders<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    cell: usize,
    repeat: u32,
    paths: &'a RunPaths<'a>,
}

impl RunPlaceholders<'_> {
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
