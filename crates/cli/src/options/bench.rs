//! The options of `bench`: commands, or a built-in workload, whose settings become flags made from its description, so
//! that a new workload or setting needs no change here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_campaign::quantity;
use assay_model::{SettingDescription, SettingKind, Value, WorkloadDescription, duration, names};
use assay_workloads::arguments;
use clap::builder::PossibleValuesParser;
use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, ValueEnum, value_parser,
};

use crate::workloads;

use super::train_head::TrainHead;

const TRAIN_HEAD: &str = "train-head";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(subcommand_value_name = "WORKLOAD", subcommand_help_heading = "Workloads")]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
The first argument decides what is measured: the name of a workload measures that workload, anything
else is a command. A command whose name is that of a workload goes after `--`: `assay bench -- lm`.

Examples:
  assay bench 'sort a' 'sort -u a'                      compare two commands
  assay bench --vary t=1,2,4 'prog --threads {t}'       one command with several values
  assay bench --prepare 'make clean' --repeats 5 make   prepare each run, untimed
  assay bench lm --batch-size 1,8                       a workload; commas separate values to sweep")]
pub struct Bench {
    #[command(flatten)]
    pub commands: CommandOptions,
    #[command(subcommand)]
    pub workload: Option<Target>,
}

/// Commands to measure.
#[derive(Debug, Args)]
pub struct CommandOptions {
    /// Commands to measure and compare, each in quotes. `{name}` stands for a value of `--vary`.
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// Name of a command in results. Repeatable, in the order of the commands.
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    pub names: Vec<String>,
    /// Measure with each of these values of `{NAME}` in the command, e.g. `threads=1,2,4`. Repeatable.
    #[arg(long, value_name = "NAME=VALUES", value_parser = vary)]
    pub vary: Vec<(String, Vec<Value>)>,
    /// Warm-up runs of each command, excluded from results.
    #[arg(long, short, value_name = "N", value_parser = value_parser!(u32).range(0..=10_000))]
    pub warmup: Option<u32>,
    /// Command to run before each run, untimed.
    #[arg(long, short, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// Command to run after each run, untimed.
    #[arg(long, short, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Shell that runs the commands; `none` starts programs directly.
    #[arg(long, short = 'S', value_name = "SHELL", default_value = "sh")]
    pub shell: ShellName,
    /// Start programs without a shell; the same as `--shell none`.
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,
    /// Metric to compare instead of wall time: any that the commands print, duration.cpu or memory.peak.
    #[arg(long, short, value_name = "NAME")]
    pub metric: Option<String>,
    /// Whether higher or lower values of --metric are better.
    #[arg(long, value_name = "DIRECTION", requires = "metric")]
    pub better: Option<Better>,
    /// Time limit per run, e.g. `90s`; a run that exceeds it fails.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_duration, help_heading = "Measuring")]
    pub timeout: Option<f64>,
    #[command(flatten)]
    pub measure: MeasureOptions,
}

/// Which values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Better {
    Higher,
    Lower,
}

/// Shells by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShellName {
    Sh,
    Bash,
    None,
}

/// A workload with its settings.
#[derive(Debug)]
pub struct Target {
    /// The workload's name.
    pub workload: String,
    /// The settings given; several values of one are swept.
    pub settings: BTreeMap<String, Vec<Value>>,
    pub compare: Option<String>,
    pub timeout: Option<f64>,
    pub measure: MeasureOptions,
    /// Train a head for the workload instead of measuring it.
    pub train_head: Option<TrainHead>,
}

/// How often and how long runs are made, and where results go.
#[derive(Debug, Args)]
pub struct MeasureOptions {
    /// Runs of each command or cell; the minimum with --precision.
    #[arg(long, short, alias = "runs", value_name = "N", value_parser = value_parser!(u32).range(1..=1_000_000), help_heading = "Measuring")]
    pub repeats: Option<u32>,
    /// Repeat until the confidence interval is within this share of the median on each side, e.g. `2%`.
    #[arg(long, value_name = "SHARE", value_parser = quantity::parse_share, help_heading = "Measuring")]
    pub precision: Option<f64>,
    /// Record to create or continue [default: a new one under records/].
    #[arg(long, value_name = "DIRECTORY", help_heading = "Results")]
    pub record: Option<PathBuf>,
    /// Write the result to a file: .html, .md, .tex, .csv or .json. Repeatable.
    #[arg(long, short, value_name = "FILE", help_heading = "Results")]
    pub output: Vec<PathBuf>,
    /// Print JSON (see docs/json.md).
    #[arg(long, help_heading = "Results")]
    pub json: bool,
    /// Print only the result.
    #[arg(long, short, help_heading = "Results")]
    pub quiet: bool,
}

/// Reads `threads=1,2,4`. Numbers become numbers, everything else is text.
fn vary(text: &str) -> Result<(String, Vec<Value>), String> {
    let (name, values) =
        text.split_once('=').ok_or_else(|| "expected NAME=VALUE,VALUE,…, e.g. `threads=1,2,4`".to_owned())?;
    if values.split(',').any(|value| value.trim().is_empty()) {
        return Err("a value is empty; expected NAME=VALUE,VALUE,…, e.g. `threads=1,2,4`".to_owned());
    }
    let value = |text: &str| {
        let whole = text.parse().ok().map(Value::Integer);
        let number = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float);
        whole.or_else(number).unwrap_or_else(|| Value::from(text))
    };
    let values: Vec<Value> = values.split(',').map(|text| value(text.trim())).collect();
    Ok((name.trim().to_owned(), values))
}

impl Subcommand for Target {
    fn augment_subcommands(command: Command) -> Command {
        workloads::descriptions()
            .iter()
            .fold(command, |command, description| command.subcommand(workload(description)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        workloads::descriptions().iter().any(|description| description.name == name)
    }
}

impl FromArgMatches for Target {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let missing = || Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let descriptions = workloads::descriptions();
        let description =
            descriptions.iter().find(|description| description.name == name).ok_or_else(missing)?;
        let given = description.settings.iter().filter_map(|setting| {
            let values = values(setting, matches);
            (!values.is_empty()).then(|| (setting.name.clone(), values))
        });
        Ok(Target {
            workload: name.to_owned(),
            settings: given.collect(),
            compare: matches.try_get_one::<String>(COMPARE).ok().flatten().cloned(),
            timeout: matches.get_one::<f64>(RUN_TIMEOUT).copied(),
            measure: MeasureOptions::from_arg_matches(matches)?,
            train_head: match matches.subcommand() {
                Some((TRAIN_HEAD, matches)) => Some(TrainHead::from_arg_matches(matches)?),
                _ => None,
            },
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

const COMPARE: &str = "compare";
/// Not `timeout`, which is a setting of some workloads.
const RUN_TIMEOUT: &str = "run-timeout";

fn workload(description: &WorkloadDescription) -> Command {
    let settings = description.settings.iter().map(flag);
    let timeout = Arg::new(RUN_TIMEOUT)
        .long(RUN_TIMEOUT)
        .value_name("DURATION")
        .value_parser(duration::parse_duration)
        .help("Time limit per run, e.g. `90s`; a run that exceeds it fails")
        .help_heading("Measuring");
    let command = Command::new(&description.name).args(settings).arg(timeout);
    let mut command = MeasureOptions::augment_args(command);
    if description.settings.iter().any(|setting| setting.name == names::setting::ENGINE) {
        let compare = Arg::new(COMPARE).long(COMPARE).value_name("ENGINE").value_parser(["torch"]);
        command = command.arg(
            compare
                .help("Compare with another engine on the same work, interleaved")
                .help_heading("Measuring"),
        );
    }
    // The one workload whose model has a part that is trained first.
    if description.name == "bert" {
        let about = "Train a sentence classification head, checked by cross-validation";
        let train_head = TrainHead::augment_args(Command::new(TRAIN_HEAD).about(about));
        command = command.subcommand(train_head).args_conflicts_with_subcommands(true);
    }
    // Set last: the options that were added bring a description of their own.
    command
        .about(&description.summary)
        .long_about(None)
        .after_help("Comma-separated values make a sweep over all combinations:\n  --batch-size 1,8,32")
}

/// The flag of a setting: `batch_size` is `--batch-size`. Values separated by commas are swept.
pub(super) fn flag(setting: &SettingDescription) -> Arg {
    let default = setting.default.as_ref().map(Value::to_string).filter(|default| !default.is_empty());
    let shown = match (&setting.kind, default) {
        (SettingKind::Switch, _) | (_, None) => String::new(),
        (_, Some(default)) => format!(" [default: {default}]"),
    };
    let flag = Arg::new(&setting.name)
        .long(setting.name.replace('_', "-"))
        .help(format!("{}{shown}", setting.summary))
        .help_heading("Settings");
    match &setting.kind {
        SettingKind::Switch => flag.action(ArgAction::SetTrue),
        SettingKind::Choice(words) => flag
            .value_parser(PossibleValuesParser::new(words))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_name(setting.name.to_uppercase())
            .hide_possible_values(false),
        SettingKind::Integer { min, max } => flag
            .value_parser(value_parser!(i64).range(*min..=*max))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_name("N"),
        SettingKind::Number => flag
            .value_parser(value_parser!(f64))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_name("NUMBER"),
        SettingKind::Duration => flag
            .value_parser(|text: &str| match text {
                "0" => Ok(text.to_owned()),
                text => duration::parse_duration(text).map(|_| text.to_owned()),
            })
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_name("DURATION"),
        SettingKind::Text => flag.value_name(text_name(&setting.name)),
    }
}

/// What the text of a setting is, for its flag.
fn text_name(setting: &str) -> &'static str {
    match setting {
        "ca" | "head" | "profile" | "prompts" | "resume" | "save" | "tokenizer" | "trace" => "FILE",
        "data" => "PATH",
        "endpoint" | "token_env" => "NAME",
        "metrics_url" | "url" => "URL",
        "python" => "PROGRAM",
        "token_command" => "COMMAND",
        _ => "TEXT",
    }
}

/// The values given for a setting.
pub(super) fn values(setting: &SettingDescription, matches: &ArgMatches) -> Vec<Value> {
    let name = setting.name.as_str();
    match &setting.kind {
        SettingKind::Switch => matches.get_flag(name).then_some(Value::Switch(true)).into_iter().collect(),
        SettingKind::Integer { .. } => matches
            .get_many::<i64>(name)
            .into_iter()
            .flatten()
            .map(|number| Value::Integer(*number))
            .collect(),
        SettingKind::Number => {
            matches.get_many::<f64>(name).into_iter().flatten().map(|number| Value::Float(*number)).collect()
        }
        kind @ (SettingKind::Choice(_) | SettingKind::Text | SettingKind::Duration) => {
            let texts = matches.get_many::<String>(name).into_iter().flatten();
            texts.map(|text| arguments::value(kind, text)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_every_workload_are_flags_without_a_clash() {
        let command = Bench::augment_args(Command::new("bench"));
        command.clone().debug_assert();
        for description in workloads::descriptions() {
            let found = command.find_subcommand(&description.name).unwrap();
            assert_eq!(found.get_about().unwrap().to_string(), description.summary);
        }
    }

    #[test]
    fn values_to_vary_are_numbers_where_they_can_be() {
        let values = vec![Value::Integer(1), Value::Float(2.5), Value::from("x")];
        assert_eq!(vary("n=1, 2.5,x"), Ok(("n".to_owned(), values)));
        assert!(vary("n").is_err());
        assert!(vary("n=").is_err());
        assert!(vary("n=1,,2").is_err());
    }
}
