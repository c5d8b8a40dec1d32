//! `workload`: what is run for each point.

use std::path::{Path, PathBuf};

use assay_model::WorkloadDescription;
use toml::de::DeValue;

use super::file::{self, ConfigurationFile};
use super::names::Names;
use super::replay::{REPLAY, Replay};
use crate::problem::Problem;
use crate::reader::{Collector, Table, Text};
use crate::registry::Registry;
use crate::suggest;
use crate::template::Template;

/// The workload of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// `command`, or the name of a built-in workload.
    pub kind: String,
    /// The command with its placeholders.
    pub command: Template,
    /// The command cut into words, where no shell does that.
    pub words: Vec<Template>,
    /// What interprets the command.
    pub shell: Shell,
    /// Where the command runs.
    pub directory: PathBuf,
    /// Environment variables of every run.
    pub environment: Vec<(String, Template)>,
    /// Configuration files made for every run.
    pub files: Vec<ConfigurationFile>,
    /// The log that is played instead; the command then only tells what was run elsewhere.
    pub replay: Option<Replay>,
}

impl Workload {
    /// Whether this program itself is what runs.
    pub fn is_built_in(&self) -> bool {
        ![COMMAND, REPLAY].contains(&self.kind.as_str())
    }

    /// A workload of which nothing is known but that its log is played.
    pub(super) fn replayed(directory: &Path) -> Workload {
        Workload::empty(REPLAY, directory)
    }

    /// A built-in workload with its own command.
    pub(super) fn built_in(
        description: &WorkloadDescription,
        directory: &Path,
        names: &Names<'_>,
        problems: &Collector<'_>,
    ) -> Option<Workload> {
        let mut workload = Workload::empty(&description.name, directory);
        workload.use_command_of(description, names, problems)?;
        Some(workload)
    }

    fn use_command_of(
        &mut self,
        description: &WorkloadDescription,
        names: &Names<'_>,
        problems: &Collector<'_>,
    ) -> Option<()> {
        names.use_all();
        self.command = built_in_command(description, problems)?;
        // Started without a shell: no value of a setting can then be taken for shell syntax.
        self.shell = Shell::None;
        self.words = self.command.words().map_err(|problem| problems.add(problem)).ok()?;
        Some(())
    }

    fn empty(kind: &str, directory: &Path) -> Workload {
        Workload {
            kind: kind.to_owned(),
            command: Template::default(),
            words: Vec::new(),
            shell: Shell::None,
            directory: directory.to_owned(),
            environment: Vec::new(),
            files: Vec::new(),
            replay: None,
        }
    }
}

/// What interprets a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// `sh -c`.
    Sh,
    /// `bash -c`.
    Bash,
    /// No shell: the command is split into words and started directly.
    None,
}

impl Shell {
    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Shell::Sh => "sh",
            Shell::Bash => "bash",
            Shell::None => "none",
        }
    }
}

/// The workload's table or, in the short form, its name.
pub(super) enum Given<'a> {
    Name(Text),
    Table(Table<'a>, Option<Text>),
}

/// Reads which workload is meant, before settings are known. Where a log is played, none is needed.
pub(super) fn kind<'a>(top: &mut Table<'a>, optional: bool, problems: &Collector<'_>) -> Option<Given<'a>> {
    let Some(item) = top.get("workload") else {
        if optional {
            return None;
        }
        let problem = Problem::error("the campaign has no [workload]");
        problems
            .add(problem.hint("add [workload] with `command = \"…\"`; `assay init` writes a full example"));
        return None;
    };
    if item.value.is_str() {
        return item.text().map(Given::Name);
    }
    let mut table = item.table()?;
    let kind = table.get("kind").and_then(|item| item.text());
    Some(Given::Table(table, kind))
}

impl Given<'_> {
    /// The built-in workload that is meant, if one is. An unknown name is reported.
    pub(super) fn built_in<'r>(
        &self,
        registry: &'r Registry,
        problems: &Collector<'_>,
    ) -> Result<Option<&'r WorkloadDescription>, ()> {
        let name = match self {
            Given::Name(name) | Given::Table(_, Some(name)) => name,
            Given::Table(_, None) => return Ok(None),
        };
        if name.value == COMMAND && matches!(self, Given::Table(..)) {
            return Ok(None);
        }
        find_built_in(name, registry, problems).map(Some).ok_or(())
    }
}

/// The built-in workload of a name. An unknown name is reported.
pub(super) fn find_built_in<'r>(
    name: &Text,
    registry: &'r Registry,
    problems: &Collector<'_>,
) -> Option<&'r WorkloadDescription> {
    let found = registry.workloads.iter().find(|workload| workload.name == name.value);
    if found.is_none() {
        let problem = Problem::error(format!("unknown workload `{}`", name.value)).at(name.span.clone());
        let known = registry.workloads.iter().map(|workload| workload.name.as_str()).chain([COMMAND]);
        problems.add(problem.label("not a workload").maybe_hint(suggest::hint(&name.value, known)));
    }
    found
}

/// The kind of a workload that runs a command of the user.
pub(crate) const COMMAND: &str = "command";

/// Reads the rest of the workload.
pub(super) fn read(
    given: Given<'_>,
    built_in: Option<&WorkloadDescription>,
    directory: &Path,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Option<Workload> {
    let kind = built_in.map_or(COMMAND, |description| description.name.as_str());
    let mut workload = Workload { shell: Shell::Sh, ..Workload::empty(kind, directory) };
    let mut sound = true;
    if let Given::Table(mut table, _) = given {
        if let Some(item) = table.get("directory") {
            match item.text().map(|text| directory.join(&text.value)) {
                Some(path) if path.is_dir() => workload.directory = path,
                Some(_) => item.problem("the directory of the workload does not exist"),
                None => {}
            }
        }
        if let Some(environment) = table.get("environment").and_then(|item| item.table()) {
            workload.environment = read_environment(&environment, names, problems);
        }
        // `uses` is what files of earlier versions call them.
        for key in ["labels", "uses"] {
            for text in table.get(key).and_then(|item| item.texts()).unwrap_or_default() {
                names.label(&text);
            }
        }
        match built_in {
            None => sound = read_command(&mut table, &mut workload, directory, names, problems),
            Some(description) => refuse_command(&mut table, description, problems),
        }
        table.finish();
    }
    if let Some(description) = built_in {
        workload.use_command_of(description, names, problems)?;
    }
    sound.then_some(workload)
}

fn read_command(
    table: &mut Table<'_>,
    workload: &mut Workload,
    directory: &Path,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> bool {
    if let Some(text) = table.get("shell").and_then(|item| item.text()) {
        match text.value.as_str() {
            "sh" => workload.shell = Shell::Sh,
            "bash" => workload.shell = Shell::Bash,
            "none" => workload.shell = Shell::None,
            other => {
                let problem = Problem::error(format!("unknown shell `{other}`")).at(text.span.clone());
                problems.add(problem.hint("use `sh`, `bash` or `none`"));
            }
        }
    }
    let files = table.get("config").map(|item| item.tables()).unwrap_or_default();
    for file in files {
        if let Some(file) = file::read(file, directory, names, problems) {
            if workload.files.iter().any(|other| other.name == file.name) {
                let problem =
                    Problem::error(format!("two configuration files are written to `{}`", file.name));
                problems.add(problem.at(file.place.clone()).hint("give one of them another name by `write`"));
            }
            workload.files.push(file);
        }
    }
    let Some(item) = table.get("command") else {
        table.problem(
            Problem::error("[workload] has no command")
                .hint("add `command = \"…\"`, or `kind` with the name of a built-in workload"),
        );
        return false;
    };
    let Some(text) = item.text() else { return false };
    if text.value.trim().is_empty() {
        item.problem("the command is empty");
        return false;
    }
    let Some(template) = names.template(&text) else { return false };
    if workload.shell == Shell::None {
        match template.words() {
            Ok(words) => workload.words = words,
            Err(problem) => problems.add(problem.at(text.span.clone())),
        }
    }
    workload.command = template;
    true
}

/// A built-in workload brings its own command: keys about commands would have no effect.
fn refuse_command(table: &mut Table<'_>, description: &WorkloadDescription, problems: &Collector<'_>) {
    for key in ["command", "shell", "config"] {
        if let Some(item) = table.get(key) {
            let message = format!("`{key}` has no meaning for the built-in workload `{}`", description.name);
            let problem = Problem::error(message).at(item.key_span);
            problems.add(problem.hint("remove it, or write `kind = \"command\"`"));
        }
    }
}

fn built_in_command(description: &WorkloadDescription, problems: &Collector<'_>) -> Option<Template> {
    match Template::parse(&description.command) {
        Ok(template) => Some(template),
        Err(_) => {
            let message =
                format!("the built-in workload `{}` has a command that cannot be read", description.name);
            problems.add(Problem::error(message));
            None
        }
    }
}

fn read_environment(
    table: &Table<'_>,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Vec<(String, Template)> {
    let mut environment = Vec::new();
    for (name, item) in table.entries() {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            let problem = Problem::error(format!("`{}` cannot be the name of a variable", name.value));
            problems.add(problem.at(name.span.clone()));
        }
        let template = match item.value {
            DeValue::String(_) => item.text().and_then(|text| names.template(&text)),
            // Numbers and switches are taken as written: `THREADS = 2` needs no quotes.
            _ => item.scalar().and_then(|value| Template::parse(&value.to_string()).ok()),
        };
        environment.extend(template.map(|template| (name.value, template)));
    }
    environment.sort_by(|a, b| a.0.cmp(&b.0));
    environment
}
