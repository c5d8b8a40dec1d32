//! The options of `load` and `serve-mock`. Settings of the workload `chat` and of the calibration endpoint are flags
//! made from their descriptions; what is said here concerns only the command itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::{SettingDescription, Value, WorkloadDescription};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use super::bench::{flag, values};
use crate::failure::Mistake;
use crate::workloads::chat;
use crate::workloads::chat::report::ForeignFormat;

const EXAMPLES: &str = "\
Examples:
  assay load http://localhost:8000/v1 --model llama --streams 64 --requests 1000
  assay load https://a/v1 https://b/v1 --model x --model y --prompts squad.json --token-env TOKEN
  assay load http://localhost:8000/v1 --model llama --rate 20 --duration 60s --slo-ttft 500ms
  assay load http://localhost:8000/v1 --model llama --streams 1,2,4,8 -o curve.html
  assay load http://localhost:8000/v1 --model llama --find-capacity --slo-ttft 500ms

Comma-separated values make a sweep: every round measures each value once, in random order.
Each load is a run of a record; `assay show RECORD` prints it again.";

/// Settings that are not flags of their own: URLs and models are given per endpoint, headers and fields one by one.
const SPECIAL: [&str; 5] = ["endpoint", "url", "model", "headers", "fields"];

/// Flags of other clients, with ours; in the order of their names.
const FOREIGN: [(&str, &str); 77] = [
    ("api-key", "--token-env VARIABLE"),
    ("artifact-dir", "--record"),
    ("backend", "--api"),
    ("backend-type", "--api"),
    ("base-url", "the URL itself: assay load http://host:8000/v1"),
    ("benchmark-duration", "--duration"),
    ("burstiness", "--gaps gamma --shape"),
    ("concurrency", "--streams"),
    ("connections", "--streams"),
    ("conversation-num", "--turns N --requests"),
    ("conversation-turn-mean", "--turns"),
    ("data", "--prompts, or --prompt-tokens and --output-tokens"),
    ("dataset-name", "--prompts FILE: its format is recognized"),
    ("dataset-path", "--prompts"),
    ("endpoint", "part of the URL, or --api"),
    ("endpoint-type", "--api"),
    ("extra-body", "--field NAME=JSON, once for each field"),
    ("extra-inputs", "--field NAME=JSON, once for each field"),
    ("fixed-schedule", "--trace FILE"),
    ("goodput", "--slo-ttft, --slo-tpot and --slo-e2e"),
    ("host", "the URL itself: assay load http://host:8000/v1"),
    ("ignore-eos", "--field ignore_eos=true"),
    ("input-file", "--prompts, or --trace for recorded arrivals"),
    ("input-len", "--prompt-tokens"),
    ("isl", "--prompt-tokens"),
    ("max-concurrency", "--streams, or --in-flight with --rate"),
    ("max-error-rate", "--error-budget, a number of requests"),
    ("max-errors", "--error-budget"),
    ("max-num-completed-requests", "--requests"),
    ("max-requests", "--requests"),
    ("max-seconds", "--duration"),
    ("mean-input-tokens", "--prompt-tokens"),
    ("mean-output-tokens", "--output-tokens"),
    ("metric-percentiles", "not needed: p50, p90, p95 and p99 are always printed"),
    ("model-name", "--model"),
    ("num-concurrent-requests", "--streams"),
    ("num-prompts", "--requests"),
    ("num-requests", "--requests"),
    ("num-users", "--streams"),
    ("num-warmups", "--warm-up"),
    ("osl", "--output-tokens"),
    ("output-len", "--output-tokens"),
    ("output-path", "--output"),
    ("output-tokens-mean", "--output-tokens"),
    ("percentile-metrics", "not needed: p50, p90, p95 and p99 are always printed"),
    ("port", "part of the URL: assay load http://host:8000/v1"),
    ("prefix-prompt-length", "--shared-tokens"),
    ("processor", "--tokenizer"),
    ("profile", "--streams or --rate with several values for a sweep, or --find-capacity"),
    ("prompt-input-tokens-mean", "--prompt-tokens"),
    ("prompt-output-tokens-mean", "--output-tokens"),
    ("ramp-up-end-rps", "--rate"),
    ("ramp-up-start-rps", "--ramp-from"),
    ("ramp-up-strategy", "--ramp-from and --ramp-over"),
    ("random-input-len", "--prompt-tokens"),
    ("random-output-len", "--output-tokens"),
    ("random-prefix-len", "--shared-tokens"),
    ("random-range-ratio", "a file of prompts, or a trace with lengths"),
    ("random-seed", "--seed"),
    ("rate-type", "--streams, --rate with --gaps, or --find-capacity"),
    ("request-count", "--requests"),
    ("request-rate", "--rate"),
    ("request-timeout-seconds", "--timeout"),
    ("result-dir", "--record"),
    ("result-filename", "--output"),
    ("results-dir", "--record"),
    ("save-detailed", "not needed: every load is kept; --format vllm -o FILE writes a result file"),
    ("save-result", "not needed: every load is kept; --format vllm -o FILE writes a result file"),
    ("served-model-name", "--model"),
    ("streaming", "not needed: answers are streamed unless --no-stream"),
    ("synthetic-input-tokens-mean", "--prompt-tokens"),
    ("target", "the URL itself: assay load http://host:8000/v1"),
    ("temperature", "--field temperature=0"),
    ("url", "the URL itself: assay load http://host:8000/v1"),
    ("virtual-users", "--streams"),
    ("vus", "--streams"),
    ("warmup-request-count", "--warm-up"),
];

/// Options of `load`.
#[derive(Debug)]
pub struct Load {
    pub urls: Vec<String>,
    /// One for all endpoints, or one for each.
    pub models: Vec<String>,
    /// Headers and fields of every request: name and value.
    pub headers: Vec<(String, String)>,
    pub fields: Vec<(String, String)>,
    /// The settings given; several values of one are swept.
    pub settings: BTreeMap<String, Vec<Value>>,
    pub how: LoadFlags,
}

/// How a load is measured, and what is done with its results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct LoadFlags {
    /// Rounds of a sweep or comparison [default: 6; 1 for a single load].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: Option<u32>,
    /// Record to create or continue [default: a new `records/load-N`].
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// Find the highest request rate that meets the SLOs, starting at --rate or 4.
    #[arg(long, conflicts_with = "self_check")]
    pub find_capacity: bool,
    /// Fraction of requests that must meet every SLO.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub slo_share: f64,
    /// Highest rate to try.
    #[arg(long, value_name = "PER_SECOND", default_value_t = 10_000.0)]
    pub max_rate: f64,
    /// Stop the search when the capacity's interval is this narrow, relative to the capacity.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub precision: f64,
    /// Measure the client's own error against a mock endpoint with known timings.
    #[arg(long, conflicts_with = "urls")]
    pub self_check: bool,
    /// Write every request with its chunks to this file, as JSON lines.
    #[arg(long, value_name = "FILE")]
    pub lines: Option<PathBuf>,
    /// Write requests (.csv, .jsonl or .parquet, with chunks in a second file), or a page with the latency-throughput
    /// curve (.html). Repeatable.
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Write the -o file in the result format of another client.
    #[arg(long, value_name = "CLIENT", value_enum, requires = "output")]
    pub format: Option<ForeignFormat>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
    /// Show a full-screen view of running loads, results so far and failures; q closes it.
    #[arg(long, conflicts_with_all = ["quiet", "json", "find_capacity", "self_check"])]
    pub view: bool,
    /// Print only the results.
    #[arg(long, short)]
    pub quiet: bool,
}

impl LoadFlags {
    /// The page to write, if one is named.
    pub fn html(&self) -> Option<PathBuf> {
        self.output.iter().find(|path| is_page(path)).cloned()
    }

    /// The table, or the result file of another client, to write.
    pub fn export(&self) -> Option<PathBuf> {
        self.output.iter().find(|path| !is_page(path)).cloned()
    }

    /// Refuses a second file of the same kind, which would be left out.
    pub fn check_output(&self) -> Result<(), Mistake> {
        let pages = self.output.iter().filter(|path| is_page(path)).count();
        if pages > 1 || self.output.len() - pages > 1 {
            let hint = "`assay query` and `assay show` write further files from the record";
            return Err(Mistake::new("-o takes one table and one page".to_owned(), hint));
        }
        Ok(())
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "html")
}

impl Args for Load {
    fn augment_args(command: Command) -> Command {
        let pair = |name: &'static str, value: &'static str, help: &'static str| {
            let arg = Arg::new(name).long(name).value_name(value).action(ArgAction::Append);
            arg.value_parser(super::assignment).help(help).help_heading("Connections")
        };
        let mut command = command
            .after_help(EXAMPLES)
            .arg(
                Arg::new("urls")
                    .value_name("URL")
                    .action(ArgAction::Append)
                    .required_unless_present_any(["self_check", "mock"])
                    .help("Base URL of an endpoint, e.g. https://host/v1; several are compared, interleaved"),
            )
            .arg(
                Arg::new("model")
                    .long("model")
                    .short('m')
                    .value_name("NAME")
                    .action(ArgAction::Append)
                    .help("Model name; one for all endpoints, or one per endpoint in order")
                    .help_heading("Endpoint"),
            );
        for (heading, settings) in chat::groups() {
            for setting in settings.iter().filter(|setting| !SPECIAL.contains(&setting.name.as_str())) {
                command = command.arg(settings_flag(setting).help_heading(heading));
            }
        }
        command = command
            .arg(pair(
                "header",
                "NAME=VALUE",
                "Add a header to every request; `$VARIABLE` as its value keeps a secret out of the record. Repeatable",
            ))
            .arg(pair(
                "field",
                "NAME=JSON",
                "Set a field of every request body; `null` removes a field. Repeatable",
            ));
        for (name, _) in FOREIGN {
            command =
                command.arg(Arg::new(name).long(name).hide(true).num_args(0..=1).action(ArgAction::Append));
        }
        LoadFlags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The flag of a setting; the most used ones have a letter too.
fn settings_flag(setting: &SettingDescription) -> Arg {
    let letter = match setting.name.as_str() {
        "streams" => Some('s'),
        "requests" => Some('n'),
        "duration" => Some('d'),
        _ => None,
    };
    let flag = flag(setting);
    match letter {
        Some(letter) => flag.short(letter),
        None => flag,
    }
}

impl FromArgMatches for Load {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given =
            |name: &str| matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
        if let Some((name, ours)) = FOREIGN.iter().find(|(name, _)| is_given(name)) {
            let hint = match ours.strip_prefix("not needed") {
                Some(_) => format!("this is {ours}"),
                None => format!("here this is {ours}"),
            };
            let text = format!("unexpected argument '--{name}'\n\nhint: {hint}\n");
            return Err(Error::raw(ErrorKind::UnknownArgument, text));
        }
        let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
        let pairs =
            |name: &str| matches.get_many::<(String, String)>(name).into_iter().flatten().cloned().collect();
        Ok(Load {
            urls: texts("urls"),
            models: texts("model"),
            headers: pairs("header"),
            fields: pairs("field"),
            settings: given(&chat::description(), &SPECIAL, matches),
            how: LoadFlags::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The settings that were given on the command line.
fn given(
    description: &WorkloadDescription,
    special: &[&str],
    matches: &ArgMatches,
) -> BTreeMap<String, Vec<Value>> {
    let settings = description.settings.iter().filter(|setting| !special.contains(&setting.name.as_str()));
    let given = settings.filter_map(|setting| {
        let values = values(setting, matches);
        (!values.is_empty()).then(|| (setting.name.clone(), values))
    });
    given.collect()
}

/// Options of `serve-mock`.
#[derive(Debug)]
pub struct ServeMock {
    pub listen: String,
    /// Where to write the true send times.
    pub sends: Option<PathBuf>,
    pub settings: BTreeMap<String, Value>,
}

impl Args for ServeMock {
    fn augment_args(command: Command) -> Command {
        let command = command
            .arg(
                Arg::new("listen")
                    .long("listen")
                    .value_name("ADDRESS")
                    .default_value("127.0.0.1:8090")
                    .help("Address to listen on"),
            )
            .arg(
                Arg::new("sends")
                    .long("sends")
                    .value_name("FILE")
                    .value_parser(clap::value_parser!(PathBuf))
                    .help("Write the true send times to this file"),
            );
        chat::mock_description().settings.iter().fold(command, |command, setting| command.arg(flag(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServeMock {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut settings = BTreeMap::new();
        for (name, mut values) in given(&chat::mock_description(), &[], matches) {
            if values.len() > 1 {
                let text = format!("--{} takes one value\n", name.replace('_', "-"));
                return Err(Error::raw(ErrorKind::TooManyValues, text));
            }
            settings.extend(values.pop().map(|value| (name, value)));
        }
        Ok(ServeMock {
            listen: matches.get_one::<String>("listen").cloned().unwrap_or_default(),
            sends: matches.get_one::<PathBuf>("sends").cloned(),
            settings,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
