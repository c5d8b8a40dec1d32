//! The command line, as clap reads it.

pub mod bench;
pub mod load;
pub mod retired;
pub mod train_head;

use std::path::PathBuf;

use assay_campaign::quantity::parse_duration;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Run AI benchmarks, read their logs, and judge what the numbers support.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 100)]
#[command(after_help = "\
First steps:
  assay tour              train, load, read and audit in two minutes; ends with a report
  assay init              write a commented campaign file
  assay run campaign.toml run or resume it
  assay bench lm          measure a language model on this machine
  assay bench mnist       train an MNIST classifier

Exit codes:
  0    success
  1    internal error
  2    usage or campaign error
  3    some runs failed
  4    a gate failed or a regression was found
  5    requested precision not reached, or a gate is undecided
  6    result invalid
  130  interrupted (the record is kept)")]
pub struct Arguments {
    /// When to use color: auto, always or never.
    #[arg(
        long,
        alias = "colour",
        global = true,
        default_value = "auto",
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: Color,
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a commented example campaign.
    Init(Init),
    /// Check a campaign and print its runs, their order and the expected time.
    Plan(Plan),
    /// Run or resume a campaign and print the results.
    Run(Run),
    /// Take a two-minute tour: train, load endpoints, read a log and audit a write-up; ends with an HTML report.
    Tour(Tour),
    /// Measure commands or a built-in workload without a campaign file.
    Bench(Box<bench::Bench>),
    /// Show the jobs of a campaign that runs through a scheduler.
    Status(Status),
    /// Stop a campaign and cancel its jobs; finished runs are kept.
    Cancel(Cancel),
    /// Print the results of a record, list its runs, or write a report (-o).
    Show(Show),
    /// Compare two records, cell by cell.
    Compare(Compare),
    /// Serve a read-only web page with live results, logs, comparisons, history and audits.
    Page(Page),
    /// Query a record with SQL, or export its tables (-o).
    Query(Query),
    /// List records, platforms, dialects or workloads.
    List(List),
    /// Remove records.
    Rm(Rm),
    /// Read logs and write-ups: runs, settings, phases and metrics, each with its line.
    Read(Read),
    /// Check the claims of write-ups, logs and records against their own evidence.
    Audit(Audit),
    /// Load-test LLM endpoints.
    Load(Box<load::Load>),
    /// Serve a mock LLM endpoint with an exact schedule.
    ServeMock(load::ServeMock),
    /// Remove secrets from a record and make it private.
    Scrub(Scrub),
    /// Check this machine: hardware, noise, installed tools, peak performance, data sets.
    Doctor(Doctor),
    /// Generate a sample log or write-up.
    Sample(Sample),
    /// Print shell completions.
    Completions(Completions),
    /// Print the manual page.
    Man(Man),
    /// Commands that runs and tests call.
    #[command(hide = true)]
    Internal(Internal),
}

/// Options of `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// File to write.
    #[arg(default_value = "campaign.toml")]
    pub file: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
}

/// Options of `plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// The campaign file.
    #[arg(default_value = "campaign.toml")]
    pub campaign: PathBuf,
    /// Record directory [default: `records/NAME` beside the campaign file].
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// Concurrent runs.
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = jobs)]
    pub jobs: usize,
    /// Plan for this platform instead of the campaign's.
    #[arg(long, value_name = "PLATFORM")]
    pub on: Option<String>,
    /// Print the job scripts that would be submitted, one per cell.
    #[arg(long, conflicts_with = "json")]
    pub scripts: bool,
    /// Print all cells and the full run order.
    #[arg(long)]
    pub all: bool,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The campaign file.
    #[arg(default_value = "campaign.toml")]
    pub campaign: PathBuf,
    /// Run on this platform instead of the campaign's; the record is `records/NAME-PLATFORM`.
    #[arg(long, value_name = "PLATFORM")]
    pub on: Option<String>,
    /// Run in the background; closing the terminal does not stop it.
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub how: RunFlags,
}

/// Options of `status`.
#[derive(Debug, Args)]
pub struct Status {
    /// Record name or directory, or campaign file [default: the newest record].
    pub record: Option<PathBuf>,
    /// Show all jobs.
    #[arg(long)]
    pub all: bool,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `cancel`.
#[derive(Debug, Args)]
pub struct Cancel {
    /// Record name or directory, or campaign file [default: the newest record].
    pub record: Option<PathBuf>,
}

/// Options of `tour`.
#[derive(Debug, Args)]
pub struct Tour {
    /// Prefix of the records and files that the tour writes [default: `records/tour`].
    #[arg(long, value_name = "PREFIX")]
    pub record: Option<PathBuf>,
    /// Start over; the old records are renamed.
    #[arg(long)]
    pub fresh: bool,
    /// Show a full-screen view of active runs, results so far and failures; q closes it.
    #[arg(long, conflicts_with = "quiet")]
    pub view: bool,
    /// Print only the results.
    #[arg(long, short)]
    pub quiet: bool,
}

/// How a campaign is run.
#[derive(Debug, Default, Args)]
pub struct RunFlags {
    /// Record directory [default: `records/NAME` beside the campaign file].
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// Concurrent runs. Runs on the same machine disturb each other.
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = jobs)]
    pub jobs: usize,
    /// Start a new record; the old one is renamed.
    #[arg(long)]
    pub fresh: bool,
    /// Continue a record whose journal is damaged: restore what can be restored, rerun what is lost.
    #[arg(long)]
    pub accept_damage: bool,
    /// Make a new record readable by the group [default: only by its owner].
    #[arg(long)]
    pub group_readable: bool,
    /// Also record this environment variable; secrets are masked. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub keep_env: Vec<String>,
    /// Run only some of the runs.
    #[arg(long, value_name = "WHICH", conflicts_with = "fresh")]
    pub only: Option<Only>,
    /// Show a full-screen view of active runs, results so far and failures; q closes it.
    #[arg(long, conflicts_with = "quiet")]
    pub view: bool,
    /// Print only the results.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which runs to make.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Only {
    /// Rerun runs that failed or timed out.
    Failed,
}

/// Options of `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Record names or directories, or campaign files [default: the newest record].
    #[arg(value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Metric to show. Repeatable [default: the campaign's headline].
    #[arg(long, short, value_name = "NAME")]
    pub metric: Vec<String>,
    /// List all runs with settings, status and directory; marks outliers.
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub runs: bool,
    /// Show all rows.
    #[arg(long)]
    pub all: bool,
    /// Plot every run as a dot, and ratios with intervals, even if the output is not a terminal.
    #[arg(long, conflicts_with_all = ["json", "output", "runs"])]
    pub plot: bool,
    /// Write a report; the format follows the extension: .html, .md (with SVG figures beside it), .tex, .csv or
    /// .json; `-` writes Markdown to standard output. Several records are compared with the first. Repeatable.
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub output: Vec<PathBuf>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `page`.
#[derive(Debug, Args)]
pub struct Page {
    /// Directory with records.
    #[arg(default_value = ".", value_name = "DIRECTORY")]
    pub root: PathBuf,
    /// Write-ups and logs to audit on the page.
    #[arg(value_name = "WRITE-UP")]
    pub write_ups: Vec<PathBuf>,
    /// Address and port to listen on; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:8123", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// Require the token in the printed URL; mandatory unless listening on loopback.
    #[arg(long)]
    pub token: bool,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Baseline record and the record to compare: names, directories or campaign files. With more than two, oldest
    /// first, the last is compared with the noise of all earlier ones.
    #[arg(required = true, num_args = 2.., value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Metric to compare [default: the headline of the baseline].
    #[arg(long, short, value_name = "NAME")]
    pub metric: Option<String>,
    /// Exit with code 4 if any cell is worse, or 5 if there are too few runs or records to tell.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// Ignore this setting when matching cells, e.g. the path of a binary. Repeatable.
    #[arg(long, value_name = "SETTING")]
    pub ignore: Vec<String>,
    /// Treat the records as versions, oldest first, and print which to measure next, or the first that is worse.
    /// Records that do not exist yet are unmeasured versions.
    #[arg(long, conflicts_with = "fail_on")]
    pub bisect: bool,
    /// Write the comparison to a file; the format follows the extension: .md, .csv or .json. Repeatable.
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A cell that is worse.
    Regression,
}

/// Options of `read`.
#[derive(Debug, Args)]
pub struct Read {
    /// Logs, write-ups (Markdown, HTML, text), CSV, JSON, directories, records, patterns in quotes, or - for standard
    /// input.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON, one run per line (see docs/json.md).
    #[arg(long, conflicts_with = "into")]
    pub json: bool,
    /// Save the runs as a record, for `show`, `compare` and `query`.
    #[arg(long, value_name = "RECORD")]
    pub into: Option<PathBuf>,
    /// Also write a report with the results and the audit of the files: .html, .md (with SVG figures beside it) or
    /// .tex; or the runs alone: .csv (one row per number) or .json. Repeatable.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "into"])]
    pub output: Vec<PathBuf>,
    /// Show everything.
    #[arg(long)]
    pub full: bool,
    /// Print a dialect file that matches the lines with results, to edit and keep in `dialects/`.
    #[arg(long, conflicts_with_all = ["json", "into", "full", "output"])]
    pub pattern: bool,
    /// Additional dialect, as a TOML file; those in `dialects/` are always used.
    #[arg(long, value_name = "FILE")]
    pub dialect: Vec<PathBuf>,
}

/// Options of `audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// Write-ups, logs, directories or records; each is evidence for the others.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Also write the audit to a file; the format follows the extension: .md or .html. Repeatable.
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// List every claim with its formula and lines, not only problems.
    #[arg(long)]
    pub claims: bool,
    /// Print JSON, one claim or finding per line (see docs/json.md).
    #[arg(long)]
    pub json: bool,
    /// Additional dialect, as a TOML file; those in `dialects/` are always used.
    #[arg(long, value_name = "FILE")]
    pub dialect: Vec<PathBuf>,
    #[command(flatten)]
    pub assist: Assist,
}

/// A language model that proposes claims; the arithmetic decides about them. Sends the text to the endpoint.
#[derive(Debug, Args)]
pub struct Assist {
    /// Let a model behind this OpenAI-compatible endpoint propose claims to check; sends it the text (see
    /// docs/audit.md).
    #[arg(long, value_name = "URL", requires = "model")]
    pub assist: Option<String>,
    /// Model of --assist.
    #[arg(long, value_name = "NAME", requires = "assist")]
    pub model: Option<String>,
    /// Environment variable with the bearer token of --assist.
    #[arg(long, value_name = "NAME", requires = "assist")]
    pub token_env: Option<String>,
    /// Time limit of --assist.
    #[arg(long, value_name = "TIME", requires = "assist", default_value = "120s", value_parser = assay_model::duration::parse_duration)]
    pub assist_timeout: f64,
}

/// Options of `sample`.
#[derive(Debug, Args)]
pub struct Sample {
    /// Kind of sample [default: list all kinds and their options].
    pub kind: Option<String>,
    /// Set an option of the kind. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Random seed; the same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Approximate size in bytes [default: depends on the kind].
    #[arg(long, value_name = "BYTES")]
    pub size: Option<u64>,
    /// File to write [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list.
    #[arg(default_value = "records")]
    pub what: Listed,
    /// Directory to search for records.
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    pub root: PathBuf,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Records below a directory.
    Records,
    /// Platforms of the catalog.
    Platforms,
    /// Log dialects.
    Dialects,
    /// Workloads.
    Workloads,
}

/// Options of `scrub`.
#[derive(Debug, Args)]
pub struct Scrub {
    /// A record's name or directory, or a campaign file.
    pub record: PathBuf,
}

/// Options of `query`.
#[derive(Debug, Args)]
pub struct Query {
    /// SQL, or a table to print: runs, observations or series. Tables: runs (one row per run, with all settings and
    /// metrics), run, cell, setting, observation, series, phase, output, meta.
    #[arg(value_name = "SQL|TABLE")]
    pub sql: String,
    /// Record name or directory, or campaign file [default: the newest record].
    pub record: Option<PathBuf>,
    /// Time limit, e.g. `90s`.
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub timeout: String,
    /// Write the rows to a file; the format follows the extension: .csv, .jsonl or .parquet. Repeatable.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "csv"])]
    pub output: Vec<PathBuf>,
    /// Print JSON lines.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV.
    #[arg(long)]
    pub csv: bool,
}

/// Options of `rm`.
#[derive(Debug, Args)]
pub struct Rm {
    /// Record names or directories, or campaign files.
    #[arg(value_name = "RECORD", required_unless_present = "older_than")]
    pub records: Vec<PathBuf>,
    /// Remove all records under the current directory not used for this long, e.g. `30d`.
    #[arg(long, value_name = "DURATION", conflicts_with = "records", value_parser = parse_duration)]
    pub older_than: Option<f64>,
    /// Remove without asking.
    #[arg(long, short)]
    pub yes: bool,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Doctor {
    #[command(subcommand)]
    pub part: Option<DoctorPart>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum DoctorPart {
    /// Measure peak performance: arithmetic, memory bandwidth, matrix multiplication.
    Peak(DoctorPeak),
    /// List data sets and their download status.
    Data(DoctorData),
}

#[derive(Debug, Args)]
pub struct DoctorPeak {
    /// Number of threads [default: all cores].
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub threads: Option<usize>,
    /// Print the cached result if there is one.
    #[arg(long)]
    pub cached: bool,
    /// Also write the result with a roofline plot: .html, .md (with an SVG figure beside it) or .tex.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DoctorData {
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Subcommand [default: `assay` itself].
    pub verb: Option<String>,
}

#[derive(Debug, Args)]
pub struct Internal {
    #[command(subcommand)]
    pub verb: InternalVerb,
}

#[derive(Debug, Subcommand)]
pub enum InternalVerb {
    /// Run a built-in workload and print its events as JSON lines; runs of campaigns execute this.
    Work(Work),
    /// Checksum data and print the throughput; the workload of the tour.
    Exercise(Exercise),
}

/// Options of `work`.
#[derive(Debug, Args)]
pub struct Work {
    /// The workload.
    pub workload: String,
    /// Its settings.
    #[arg(value_name = "NAME=VALUE", value_parser = assignment)]
    pub settings: Vec<(String, String)>,
}

/// Options of `exercise`.
#[derive(Debug, Args)]
pub struct Exercise {
    /// Bytes per checksum.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    pub block: u32,
    /// Megabytes in total.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub megabytes: u32,
}

/// `name=value`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write name=value")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A number of jobs or threads.
fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(jobs) if jobs <= 4096 => Ok(jobs),
        Ok(_) => Err("must be at most 4096".to_owned()),
        Err(_) => Err("not an integer".to_owned()),
    }
}
