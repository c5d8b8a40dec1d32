//! The options of `bench bert train-head`.

use std::path::PathBuf;

use clap::{Args, value_parser};

#[derive(Debug, Args)]
pub struct TrainHead {
    /// Model directory: config.json, model.safetensors, and vocab.txt or tokenizer.json.
    #[arg(long, value_name = "DIRECTORY")]
    pub model: PathBuf,
    /// Labeled sentences: a CSV file with the columns `text` and `label`.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Write the head here (safetensors), for `assay bench bert --head`.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Label names, in order.
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Number of cross-validation folds.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(2..=1000))]
    pub folds: u32,
    /// Optimizer steps.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub steps: u32,
    /// Weight decay.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub weight_decay: f64,
    /// Seed of the split into folds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of threads [default: all cores].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}
