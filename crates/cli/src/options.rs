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
    /// Run or resume a campaign and print the answer.
    Run(Run),
    /// Take the built-in tour: train, load endpoints, read a log, audit a write-up; ends with one HTML report.
    Tour(Tour),
    /// Measure commands or a built-in workload without a campaign file.
    Bench(Box<bench::Bench>),
    /// Show the jobs of a campaign that runs through a scheduler.
    Status(Status),
    /// Stop a campaign and cancel its jobs; finished runs are kept.
    Cancel(Cancel),
    /// Print the answer of a record, list its runs, or write a report (-o).
    Show(Show),
    /// Compare two records, cell by cell.
    Compare(Compare),
    /// Serve a read-only web page over records: live, with logs, comparisons, history and audits.
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
    /// Inspect this machine: hardware, noise, installed tools; measure its peak; check data sets.
    Doctor(Doctor),
    /// Generate a sample log or write-up.
    Sample(Sample),
    /// Print shell completions.
    Completions(Completions),
    /// Print the manual page.
    Man(Man),
    /// What runs and tests call.
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
    /// Number of runs at once.
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = jobs)]
    pub jobs: usize,
    /// Plan for this platform instead of those that the campaign names.
    #[arg(long, value_name = "PLATFORM")]
    pub on: Option<String>,
    /// Print the job scripts that would be submitted, one for each cell.
    #[arg(long, conflicts_with = "json")]
    pub scripts: bool,
    /// Print all cells and the order of all runs.
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
    /// Run on this platform instead of those that the campaign names; its record is `records/NAME-PLATFORM`.
    #[arg(long, value_name = "PLATFORM")]
    pub on: Option<String>,
    /// Go on in the background, also when the terminal is closed.
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
    #[command(flatten)]
    pub how: RunFlags,
}

/// How a campaign is run.
#[derive(Debug, Default, Args)]
pub struct RunFlags {
    /// Record directory [default: `records/NAME` beside the campaign file].
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// Number of runs at once. Runs that share a machine disturb each other.
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = jobs)]
    pub jobs: usize,
    /// Start a new record; the old one is renamed.
    #[arg(long)]
    pub fresh: bool,
    /// Continue a record whose journal is damaged: keep what can be restored, run again what is lost.
    #[arg(long)]
    pub accept_damage: bool,
    /// Let the group read a new record; by default only its owner may.
    #[arg(long)]
    pub group_readable: bool,
    /// Record this environment variable too; values of secrets are masked. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub keep_env: Vec<String>,
    /// Run only these.
    #[arg(long, value_name = "WHICH", conflicts_with = "fresh")]
    pub only: Option<Only>,
    /// Fill the terminal with progress: running runs, every result so far, failures. q closes the view.
    #[arg(long, conflicts_with = "quiet")]
    pub view: bool,
    /// Print nothing but the answer.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which runs to make.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Only {
    /// Repeat runs that failed or timed out.
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
    /// List the runs with their settings, status and directory; outliers are marked.
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub runs: bool,
    /// Show all rows.
    #[arg(long)]
    pub all: bool,
    /// Draw every run as a dot, and ratios with their intervals, also where the output is no terminal.
    #[arg(long, conflicts_with_all = ["json", "output", "runs"])]
    pub plot: bool,
    /// Write a report instead; the ending chooses the format: .html, .md (figures beside it as SVG), .tex, .csv or .json,
    /// `-` is Markdown on standard output. Several records are compared with the first. Repeatable.
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub output: Vec<PathBuf>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `page`.
#[derive(Debug, Args)]
pub struct Page {
    /// Directory whose records are shown.
    #[arg(default_value = ".", value_name = "DIRECTORY")]
    pub root: PathBuf,
    /// Write-ups and logs to audit on the page.
    #[arg(value_name = "WRITE-UP")]
    pub write_ups: Vec<PathBuf>,
    /// Address and port; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8123", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// Only who has the printed address, with its token, can read; required for addresses of other machines.
    #[arg(long)]
    pub token: bool,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Baseline and the record to compare with it: names, directories or campaign files. With more than two, oldest
    /// first, the last one is held against the noise that those before it show.
    #[arg(required = true, num_args = 2.., value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Metric to compare [default: the headline of the baseline].
    #[arg(long, short, value_name = "NAME")]
    pub metric: Option<String>,
    /// Exit with code 4 if a cell is worse, and with 5 if there are too few runs or records to judge one.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// Setting that does not distinguish cells, such as a binary's path. Repeatable.
    #[arg(long, value_name = "SETTING")]
    pub ignore: Vec<String>,
    /// Take the records as versions in their order and name the one to measure next, or the first that is worse. Records
    /// that do not exist are versions without a measurement.
    #[arg(long, conflicts_with = "fail_on")]
    pub bisect: bool,
    /// Write the comparison to a file; the ending chooses the format: .md, .csv or .json. Repeatable.
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
    /// Logs, write-ups (Markdown, HTML, text), CSV, JSON, directories, records, patterns in quotes, or - for standard input.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON: one run a line (see docs/json.md).
    #[arg(long, conflicts_with = "into")]
    pub json: bool,
    /// Store the runs in a record, for `show`, `compare` and `query`.
    #[arg(long, value_name = "RECORD")]
    pub into: Option<PathBuf>,
    /// Also write a report of the files, their experiments and the audit of what they say: .html, .md with figures beside it, or
    /// .tex. Repeatable.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "into"])]
    pub output: Vec<PathBuf>,
    /// Show everything.
    #[arg(long)]
    pub full: bool,
    /// Print a dialect file for the lines whose numbers were found, to edit and keep in `dialects/`.
    #[arg(long, conflicts_with_all = ["json", "into", "full", "output"])]
    pub pattern: bool,
    /// Additional dialect, as a TOML file; those in `dialects/` are always used.
    #[arg(long, value_name = "FILE")]
    pub dialect: Vec<PathBuf>,
}

/// Options of `audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// Write-ups, logs, directories or records; tables of one are evidence for the others.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Also write the audit to a file; the ending chooses the format: .md or .html. Repeatable.
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// List every claim with its formula and lines, not only what is wrong.
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
    /// OpenAI-compatible endpoint whose model proposes claims to check; the text is sent there (see docs/audit.md).
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
    /// Kind of sample; without one, lists all kinds and their options.
    pub kind: Option<String>,
    /// Option of the kind: name=value. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Seed; the same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Approximate size in bytes [default: the natural length of the kind].
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
    /// SQL, or the name of a table: runs, observations or series. Views: runs (one row per run, with all settings and
    /// metrics), run, cell, setting, observation, series, phase, output, meta.
    #[arg(value_name = "SQL|TABLE")]
    pub sql: String,
    /// Record name or directory, or campaign file [default: the newest record].
    pub record: Option<PathBuf>,
    /// Stop a query that takes longer, e.g. `90s`.
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub timeout: String,
    /// Write the rows to a file; the ending chooses the format: .csv, .jsonl or .parquet. Repeatable.
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
    /// Remove all records below the current directory that were last used longer ago than this, e.g. `30d`.
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
    /// Measure the peak of this machine: arithmetic, memory bandwidth, matrix products.
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
    /// Also write the result with a roofline of the matrix products: .html, .md with the figure beside it, or .tex.
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
    /// The verb [default: the page of `assay` itself].
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
        Err(_) => Err("not a whole number".to_owned()),
    }
}
