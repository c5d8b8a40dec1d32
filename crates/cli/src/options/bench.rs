//! The options of `bench`: every setting of every built-in workload is a flag, made from the workload's description, so
//! that a new workload or setting needs no change here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{SettingDescription, SettingKind, Value, WorkloadDescription, duration};
use assay_workloads::arguments;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, value_parser};

/// Options of `bench`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Bench {
    /// What is measured.
    #[command(subcommand)]
    pub target: Target,
}

/// A workload with its settings.
#[derive(Debug)]
pub struct Target {
    /// The workload's name.
    pub workload: String,
    /// The settings given; several values of one are swept.
    pub settings: BTreeMap<String, Vec<Value>>,
    /// How it is measured.
    pub how: BenchHow,
}

/// How a workload is measured, whichever it is.
#[derive(Debug, Args)]
pub struct BenchHow {
    /// Compare with another engine: the same work, in turns.
    #[arg(long, value_name = "ENGINE", value_parser = ["torch"], help_heading = "Measuring")]
    pub compare: Option<String>,
    /// Runs of each cell, each a process of its own; iterations inside one process are not independent.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000), help_heading = "Measuring")]
    pub repeats: Option<u32>,
    /// The record to keep everything in; the default is a new one under `records/`.
    #[arg(long, value_name = "DIRECTORY", help_heading = "Measuring")]
    pub record: Option<PathBuf>,
    /// Print JSON (see docs/json.md).
    #[arg(long, help_heading = "Measuring")]
    pub json: bool,
    /// Print only the answer.
    #[arg(long, short, help_heading = "Measuring")]
    pub quiet: bool,
}

impl Subcommand for Target {
    fn augment_subcommands(command: Command) -> Command {
        let workloads = assay_workloads::descriptions();
        workloads.iter().fold(command, |command, description| command.subcommand(workload(description)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        assay_workloads::descriptions().iter().any(|description| description.name == name)
    }
}

impl FromArgMatches for Target {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let missing = || Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let descriptions = assay_workloads::descriptions();
        let description =
            descriptions.iter().find(|description| description.name == name).ok_or_else(missing)?;
        let given = description.settings.iter().filter_map(|setting| {
            let values = values(setting, matches);
            (!values.is_empty()).then(|| (setting.name.clone(), values))
        });
        Ok(Target {
            workload: name.to_owned(),
            settings: given.collect(),
            how: BenchHow::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn workload(description: &WorkloadDescription) -> Command {
    let settings = description.settings.iter().map(flag);
    BenchHow::augment_args(Command::new(&description.name).about(&description.summary).args(settings))
}

/// The flag of a setting: `batch_size` is `--batch-size`. Values divided by commas are swept.
pub(super) fn flag(setting: &SettingDescription) -> Arg {
    let default = setting.default.as_ref().map(Value::to_string).filter(|default| !default.is_empty());
    let told = match (&setting.kind, default) {
        (SettingKind::Switch, _) | (_, None) => String::new(),
        (_, Some(default)) => format!(" [default: {default}]"),
    };
    let flag = Arg::new(&setting.name)
        .long(setting.name.replace('_', "-"))
        .help(format!("{}{told}", setting.summary))
        .help_heading("Settings");
    match &setting.kind {
        SettingKind::Switch => flag.action(ArgAction::SetTrue),
        SettingKind::Choice(words) => flag
            .value_parser(PossibleValuesParser::new(words))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_name("WORD")
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
            .value_name("X"),
        SettingKind::Duration => flag
            .value_parser(|text: &str| duration::parse_duration(text).map(|_| text.to_owned()))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_name("DURATION"),
        SettingKind::Text => flag.value_name("TEXT"),
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
