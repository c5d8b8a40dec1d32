//! The workload `bert` of the native engine beside that of PyTorch: peers that are separate processes, driven one pass
//! over some sentences each in turn.
//!
//! | file | holds |
//! |---|---|
//! | `contest.rs` | the rounds of one case |
//! | `result.rs` | its table and goals |

pub mod contest;
pub mod result;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engines::Contender;
use crate::place::Place;

/// Threads of every peer.
pub const THREADS: usize = 2;
/// Sentences of a pass.
pub const SENTENCES: usize = 200;
/// The tokens that PyTorch pads sentences to.
pub const PADDED: usize = 128;

/// What is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Real sentences and their vocabulary; without them, made-up sentences of [`PADDED`] tokens.
    pub sentences: Option<Sentences>,
    /// The largest ratio to the fastest PyTorch.
    pub most: f64,
    /// The largest median latency in milliseconds.
    pub most_median_ms: Option<f64>,
}

/// Real sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentences {
    /// CSV with a column `text`, or lines.
    pub data: PathBuf,
    /// vocab.txt or tokenizer.json.
    pub tokenizer: PathBuf,
}

impl Sentences {
    /// Those that the environment names; an error says what is missing.
    pub fn find() -> Result<Sentences, String> {
        let named = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from).filter(|path| path.exists());
            path.ok_or_else(|| format!("missing: {name}, set by `scripts/train-sentiment --fetch`"))
        };
        Ok(Sentences { data: named("ASSAY_BENCH_SENTENCES")?, tokenizer: named("ASSAY_BENCH_VOCABULARY")? })
    }
}

impl Case {
    /// Made-up sentences that fill the padded length.
    pub fn padded() -> Case {
        Case { name: "tiny, 128 tokens each", sentences: None, most: 0.70, most_median_ms: None }
    }

    /// Real sentences: ours at their own length, PyTorch's padded.
    pub fn ragged(sentences: Sentences) -> Case {
        Case {
            name: "tiny, real sentences",
            sentences: Some(sentences),
            most: 0.18,
            most_median_ms: Some(0.25),
        }
    }

    /// The command of a contender, with further settings.
    fn command(&self, place: &Place, python: Option<&Path>, who: Contender, more: &[String]) -> Command {
        let mut command = Command::new(&place.assay);
        command.args(["work", "bert", "size=tiny", "task=classify", "batch_size=1"]);
        command.arg(format!("threads={THREADS}")).arg(format!("sentences={SENTENCES}"));
        match &self.sentences {
            None => {
                command.arg(format!("context={PADDED}"));
            }
            Some(Sentences { data, tokenizer }) => {
                command.arg(format!("data={}", data.display()));
                command.arg(format!("tokenizer={}", tokenizer.display()));
                if who != Contender::NATIVE {
                    command.arg(format!("length={PADDED}"));
                }
            }
        }
        if let (Some(mode), Some(python)) = (who.mode(), python) {
            command.arg("engine=torch").arg(format!("mode={mode}"));
            command.arg(format!("python={}", python.display()));
        }
        command.args(more);
        command
    }
}
