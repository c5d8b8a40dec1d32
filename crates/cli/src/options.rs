//! The command line, as clap reads it.

pub mod bench;
pub mod load;
pub mod train;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Runs AI benchmarks, reads their logs, and tells the truth about the numbers.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 100)]
#[command(after_help = "\
First steps:
  assay tour              a campaign that needs nothing but this program
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
    /// When to use color.
    #[arg(long, alias = "colour", global = true, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a commented example campaign.
    Init(Init),
    /// Check a campaign and print what would be run, in which order, and how long it may take.
    Plan(Plan),
    /// Carry out what is missing of a campaign and print the answer.
    Run(Run),
    /// Run the built-in tour: a small real campaign that needs nothing but this program.
    Tour(Tour),
    /// Measure commands or a built-in workload without a campaign file.
    Bench(Box<bench::Bench>),
    /// Train a small model that a built-in workload uses.
    Train(train::Train),
    /// Measure what this machine can do at most: arithmetic, memory, matrix products.
    Peak(Peak),
    /// Look which data sets are there, whether they are complete, and how to get them.
    Data(Data),
    /// Print what a record says.
    Show(Show),
    /// Compare two records, cell by cell.
    Compare(Compare),
    /// Write what a record says to a file: Markdown, CSV or JSON.
    Report(Report),
    /// Read logs and write-ups, your own or a stranger's: runs, settings, phases, metrics, each with its line.
    Read(Read),
    /// Check the claims of write-ups, logs and records against their own evidence.
    Audit(Audit),
    /// Write a generated log or write-up to try things on.
    Sample(Sample),
    /// Put load on LLM endpoints and measure them.
    Load(Box<load::Load>),
    /// Serve a calibration endpoint with an exact schedule.
    ServeMock(load::ServeMock),
    /// List records, platforms, dialects or workloads.
    List(List),
    /// Ask a record's index with SQL.
    Query(Query),
    /// Write runs, observations or series to a file: CSV, JSON lines or Parquet.
    Export(Export),
    /// Look at this machine: what it is, what makes it noisy, what is installed.
    Doctor(Doctor),
    /// Print completions for a shell.
    Completions(Completions),
    /// Print the manual page.
    Man(Man),
    /// Run a built-in workload and print what it says as JSON lines; what runs of campaigns execute.
    #[command(hide = true)]
    Work(Work),
    /// Do a piece of real work and print how fast it went; the tour's workload.
    #[command(hide = true)]
    Exercise(Exercise),
}

/// Options of `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Where to write it.
    #[arg(default_value = "campaign.toml")]
    pub file: PathBuf,
    /// Overwrite a file that exists.
    #[arg(long)]
    pub force: bool,
}

/// Options of `plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// The campaign file.
    #[arg(default_value = "campaign.toml")]
    pub campaign: PathBuf,
    /// The record to continue; the default is `records/NAME` beside the campaign file.
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// How many runs may go on at once.
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = jobs)]
    pub jobs: usize,
    /// Print every cell and the order of every run.
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
    /// How to carry it out.
    #[command(flatten)]
    pub how: How,
}

/// Options of `tour`.
#[derive(Debug, Args)]
pub struct Tour {
    /// How to carry it out.
    #[command(flatten)]
    pub how: How,
}

/// How a campaign is carried out.
#[derive(Debug, Args)]
pub struct How {
    /// The record to make or continue; the default is `records/NAME` beside the campaign file.
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// How many runs may go on at once. Runs that share a machine disturb each other.
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = jobs)]
    pub jobs: usize,
    /// Start over: move the old record aside and begin a new one.
    #[arg(long)]
    pub fresh: bool,
    /// Make only these runs.
    #[arg(long, value_name = "WHICH", conflicts_with = "fresh")]
    pub only: Option<Only>,
    /// Print only the answer.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which runs to make.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Only {
    /// Those that failed or timed out, again.
    Failed,
}

/// Options of `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// A record's name or directory, or a campaign file; the default is the newest record here.
    pub record: Option<PathBuf>,
    /// The metric to show; the default is the campaign's headline.
    #[arg(long, short, value_name = "NAME")]
    pub metric: Option<String>,
    /// List the runs, with their directories.
    #[arg(long)]
    pub runs: bool,
    /// Show every row.
    #[arg(long)]
    pub all: bool,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// The base: a record's name or directory, or a campaign file.
    pub base: PathBuf,
    /// What to compare with it.
    pub other: PathBuf,
    /// The metric to compare by; the default is the base's headline.
    #[arg(long, short, value_name = "NAME")]
    pub metric: Option<String>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A record's name or directory, or a campaign file; the default is the newest record here.
    pub record: Option<PathBuf>,
    /// The file to write; its ending chooses the format: .md, .csv or .json. Without it, Markdown goes to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The metrics to report; the default is the campaign's headline.
    #[arg(long, short, value_name = "NAME")]
    pub metric: Vec<String>,
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
    /// Store the runs in a record, so that `show`, `compare` and `report` work on them.
    #[arg(long, value_name = "RECORD")]
    pub into: Option<PathBuf>,
    /// Show everything that was read.
    #[arg(long)]
    pub full: bool,
    /// A dialect of your own, as a TOML file; those in `dialects/` are used anyway.
    #[arg(long, value_name = "FILE")]
    pub dialect: Vec<PathBuf>,
}

/// Options of `audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// Write-ups, logs, directories or records; repeats are looked for across all of them.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Write the audit to a file, .md or .html; may be given twice.
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Print JSON: one finding a line (see docs/json.md).
    #[arg(long)]
    pub json: bool,
    /// A dialect of your own, as a TOML file; those in `dialects/` are used anyway.
    #[arg(long, value_name = "FILE")]
    pub dialect: Vec<PathBuf>,
}

/// Options of `sample`.
#[derive(Debug, Args)]
pub struct Sample {
    /// The kind; without one, all kinds and their options are listed.
    pub kind: Option<String>,
    /// An option of the kind: name=value.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// The seed; the same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// About how many bytes to write; the default is the natural length of the kind.
    #[arg(long, value_name = "BYTES")]
    pub size: Option<u64>,
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list.
    #[arg(default_value = "records")]
    pub what: Listed,
    /// Where to look for records.
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
    /// Platforms of the catalogue.
    Platforms,
    /// Log dialects.
    Dialects,
    /// Workloads.
    Workloads,
}

/// Options of `query`.
#[derive(Debug, Args)]
pub struct Query {
    /// The question, in SQL. Tables: run, cell, setting, observation, series, meta.
    pub sql: String,
    /// A record's name or directory, or a campaign file; the default is the newest record here.
    pub record: Option<PathBuf>,
    /// Print JSON lines.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV.
    #[arg(long)]
    pub csv: bool,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// What to write.
    pub table: Exported,
    /// A record's name or directory, or a campaign file; the default is the newest record here.
    pub record: Option<PathBuf>,
    /// The file to write; its ending chooses the format: .csv, .jsonl or .parquet.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// What can be exported.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Exported {
    /// One row a run.
    Runs,
    /// One row an observation.
    Observations,
    /// One row a value of a series.
    Series,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
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
    /// The verb whose page to print; the default is the page of `assay` itself.
    pub verb: Option<String>,
}

/// Options of `peak`.
#[derive(Debug, Args)]
pub struct Peak {
    /// Threads; 0 for as many as there are cores.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print what was measured before, if it was.
    #[arg(long)]
    pub cached: bool,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// Options of `data`.
#[derive(Debug, Args)]
pub struct Data {
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
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
    /// Bytes that are checksummed at a time.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    pub block: u32,
    /// Megabytes that are checksummed in all.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub megabytes: u32,
}

/// `name=value`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write name=value")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A number of jobs.
fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one run must be allowed to go on".to_owned()),
        Ok(jobs) if jobs <= 4096 => Ok(jobs),
        Ok(_) => Err("more than 4096 runs at once are not supported".to_owned()),
        Err(_) => Err("not a whole number".to_owned()),
    }
}
