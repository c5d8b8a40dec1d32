//! The options of `train`.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

/// Options of `train`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Train {
    /// What is trained.
    #[command(subcommand)]
    pub what: What,
}

/// What is trained.
#[derive(Debug, Subcommand)]
pub enum What {
    /// A head that classifies sentences by the mean of a BERT model's tokens, checked by cross-validation.
    BertHead(BertHead),
}

/// Options of `train bert-head`.
#[derive(Debug, Args)]
pub struct BertHead {
    /// Folder of the model: config.json, model.safetensors, and vocab.txt or tokenizer.json.
    #[arg(long, value_name = "DIRECTORY")]
    pub model: PathBuf,
    /// Sentences with labels: a CSV file with the columns `text` and `label`.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Where to write the head (safetensors), for `assay bench bert --head`.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Names for the labels, in their order.
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Parts of the cross-validation: each is answered by a head that was trained on the others.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(2..=1000))]
    pub folds: u32,
    /// Steps of the optimizer.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub steps: u32,
    /// How strongly weights are pulled to zero.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub weight_decay: f64,
    /// Seed of the folds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads; 0 = as many as there are cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u32).range(0..=4096))]
    pub threads: u32,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
}
