//! `workload`: what is run for each point.

use std::ops::Range;
use std::path::{Path, PathBuf};

use assay_model::{Settings, Value, WorkloadDescription};
use toml::de::DeValue;

use super::file::{self, ConfigurationFile};
use super::names::Names;
use super::replay::{REPLAY, Replay};
use crate::problem::Problem;
use crate::reader::{Collector, Item, SpannedText, Table};
use crate::registry::Registry;
use crate::suggest;
use crate::template::Template;

/// A command with its placeholders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommandTemplate {
    /// The value of the setting `command` that stands for it; none where it is the only one.
    pub name: Option<String>,
    pub template: Template,
    /// The command split into words, where no shell does that.
    pub words: Vec<Template>,
}

/// The setting that names one of several commands.
pub(crate) const COMMAND_SETTING: &str = "command";

/// The workload of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// `command`, or the name of a built-in workload.
    pub kind: String,
    /// The command, or several that are compared: the setting `command` then names one of them in every point.
    pub commands: Vec<CommandTemplate>,
    /// What is run before every run, untimed.
    pub prepare: Option<Template>,
    /// What is run after every run, untimed.
    pub cleanup: Option<Template>,
    /// What interprets the commands.
    pub shell: Shell,
    /// Where the command runs.
    pub directory: PathBuf,
    /// Environment variables of every run.
    pub environment: Vec<(String, Template)>,
    /// Configuration files made for every run.
    pub files: Vec<ConfigurationFile>,
    /// The log that is played instead; the command then only documents what was run elsewhere.
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
        let template = built_in_command(description, problems)?;
        // Started without a shell: no value of a setting can then be taken for shell syntax.
        self.shell = Shell::None;
        let words = template.words().map_err(|problem| problems.add(problem)).ok()?;
        self.commands = vec![CommandTemplate { name: None, template, words }];
        Some(())
    }

    /// Commands of the user, each with its name where there are several.
    pub(super) fn of_commands(
        commands: &[(Option<String>, SpannedText)],
        shell: Shell,
        directory: &Path,
        names: &Names<'_>,
        problems: &Collector<'_>,
    ) -> Option<Workload> {
        let mut workload = Workload { shell, ..Workload::empty(COMMAND, directory) };
        let mut sound = true;
        for (name, text) in commands {
            match command_template(name.clone(), text, shell, names, problems) {
                Some(command) => workload.commands.push(command),
                None => sound = false,
            }
        }
        sound.then_some(workload)
    }

    /// The command of a point.
    pub(crate) fn command_of(&self, settings: &Settings) -> Option<&CommandTemplate> {
        let chosen = settings.get(COMMAND_SETTING);
        let is_chosen = |command: &&CommandTemplate| match (&command.name, chosen) {
            (Some(name), Some(Value::Text(chosen))) => name == chosen,
            (name, _) => name.is_none(),
        };
        self.commands.iter().find(is_chosen)
    }

    fn empty(kind: &str, directory: &Path) -> Workload {
        Workload {
            kind: kind.to_owned(),
            commands: Vec::new(),
            prepare: None,
            cleanup: None,
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
    Name(SpannedText),
    Table(Table<'a>, Option<SpannedText>),
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
    given(&item)
}

/// The workload's table or, in the short form, its name.
pub(super) fn given<'a>(item: &Item<'a>) -> Option<Given<'a>> {
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
    name: &SpannedText,
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
                problems
                    .add(problem.at(file.place.clone()).hint("give one of them another name with `write`"));
            }
            workload.files.push(file);
        }
    }
    for (key, step) in [("prepare", &mut workload.prepare), ("cleanup", &mut workload.cleanup)] {
        *step = table.get(key).and_then(|item| item.text()).and_then(|text| names.template(&text));
    }
    let several = table.get("commands").and_then(|item| item.table());
    let commands: Vec<(Option<String>, SpannedText)> = match (table.get("command"), &several) {
        (Some(item), None) => item.text().map(|text| (None, text)).into_iter().collect(),
        (None, Some(several)) => {
            let texts = several.entries().into_iter().filter_map(|(name, item)| Some((name, item.text()?)));
            texts.map(|(name, text)| (Some(name.value), text)).collect()
        }
        (Some(item), Some(_)) => {
            let problem = Problem::error("[workload] has both `command` and `commands`").at(item.key_span);
            problems.add(problem.hint("put the command into [workload.commands] under a name of its own"));
            return false;
        }
        (None, None) => Vec::new(),
    };
    if commands.is_empty() {
        table.problem(
            Problem::error("[workload] has no command")
                .hint("add `command = \"…\"`, or `kind` with the name of a built-in workload"),
        );
        return false;
    }
    let made = Workload::of_commands(&commands, workload.shell, directory, names, problems);
    let sound = made.is_some();
    workload.commands = made.map(|made| made.commands).unwrap_or_default();
    sound
}

/// The names of the commands that a file compares; they become the values of the setting `command`.
pub(super) fn command_names(given: &Given<'_>) -> Option<(Vec<String>, Range<usize>)> {
    let Given::Table(table, _) = given else { return None };
    let item = table.peek("commands")?;
    let names = item.value.as_table()?;
    let mut names: Vec<(usize, String)> =
        names.keys().map(|key| (key.span().start, key.get_ref().clone().into_owned())).collect();
    names.sort_unstable();
    Some((names.into_iter().map(|(_, name)| name).collect(), item.key_span))
}

fn command_template(
    name: Option<String>,
    text: &SpannedText,
    shell: Shell,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Option<CommandTemplate> {
    if text.value.trim().is_empty() {
        problems.add(Problem::error("the command is empty").at(text.span.clone()));
        return None;
    }
    let template = names.template(text)?;
    let mut words = Vec::new();
    if shell == Shell::None {
        match template.words() {
            Ok(split) => words = split,
            Err(problem) => problems.add(problem.at(text.span.clone())),
        }
    }
    Some(CommandTemplate { name, template, words })
}

/// A built-in workload brings its own command: keys about commands would have no effect.
fn refuse_command(table: &mut Table<'_>, description: &WorkloadDescription, problems: &Collector<'_>) {
    for key in ["command", "commands", "shell", "config", "prepare", "cleanup"] {
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

fn is_variable_name(name: &str) -> bool {
    let starts_well = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    starts_well && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn read_environment(
    table: &Table<'_>,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> Vec<(String, Template)> {
    let mut environment = Vec::new();
    for (name, item) in table.entries() {
        // The names are written into scripts, where anything else would be taken for a command.
        if !is_variable_name(&name.value) {
            let problem = Problem::error(format!("`{}` cannot be the name of a variable", name.value));
            let hint = "a name has letters, digits and `_`, and does not start with a digit";
            problems.add(problem.at(name.span.clone()).hint(hint));
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
