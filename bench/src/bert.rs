//! The workload `bert`: the cases in which goals are set, sentence by sentence, and what is said of single sentences.

use std::path::PathBuf;

use crate::engines::contest::{ContenderRecord, ContestOutcome};
use crate::engines::{CaseGoals, Contender, EngineCase, iterations};
use crate::figures::{number, table};
use crate::goal::{GoalBound, Goals};

/// Sentences of a pass, which is an iteration.
pub const SENTENCES: usize = 200;
/// The tokens that PyTorch pads sentences to.
const PADDED: usize = 128;
/// The largest share of PyTorch's time for synthetic sentences that fill the padded length.
const MOST_TIME_PADDED: f64 = 0.70;
/// The same for real sentences, ours at their own length.
pub const MOST_TIME_REAL: f64 = 0.18;
/// The largest median latency of a real sentence in milliseconds.
const MOST_MEDIAN_MS: f64 = 0.25;

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

/// Made-up sentences that fill the padded length.
pub fn padded() -> EngineCase {
    case("tiny, 128 tokens each", vec![format!("context={PADDED}")], MOST_TIME_PADDED)
}

/// Real sentences: ours at their own length, PyTorch's padded.
pub fn real(sentences: &Sentences) -> EngineCase {
    let Sentences { data, tokenizer } = sentences;
    let files = vec![format!("data={}", data.display()), format!("tokenizer={}", tokenizer.display())];
    let case = case("tiny, real sentences", files, MOST_TIME_REAL);
    EngineCase { torch_settings: vec![format!("length={PADDED}")], ..case }
}

fn case(title: &str, mut settings: Vec<String>, most_time: f64) -> EngineCase {
    settings.extend(["size=tiny", "task=classify", "batch_size=1"].map(str::to_owned));
    settings.push(format!("sentences={SENTENCES}"));
    EngineCase {
        title: title.to_owned(),
        workload: "bert",
        settings,
        torch_settings: Vec::new(),
        length: iterations,
        modes: &[Contender::SDPA, Contender::EAGER, Contender::COMPILE],
        drops_slower: false,
        copies: 1.0,
        goals: CaseGoals { most_time, least_of_peak: None, most_memory: None },
    }
}

/// A rank of the latencies of single sentences, in milliseconds.
fn latency_ms(record: &ContenderRecord, rank: &str) -> Option<f64> {
    Some(1e3 * record.said.value(&format!("latency.{rank}"))?)
}

/// How long sentences are, and how long single ones take.
pub fn latencies(outcome: &ContestOutcome) -> String {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let row = |record: &ContenderRecord| {
        let ranks = ["p50", "p90", "p99"].map(|rank| shown(latency_ms(record, rank)));
        [vec![record.who.name.to_owned()], ranks.to_vec()].concat()
    };
    let rows: Vec<Vec<String>> = outcome.records.iter().map(row).collect();
    let length = |name: &str| outcome.records.first()?.said.value(&format!("length.{name}"));
    let [median, p90, most] =
        ["median", "p90", "most"].map(|name| length(name).map_or_else(|| "-".to_owned(), number));
    format!(
        "tokens of a sentence: median {median}, 90 % at most {p90}, longest {most}; ms for one:\n{}",
        table(&["engine", "p50", "p90", "p99"], &rows)
    )
}

/// Adds the goal about the latency of single real sentences.
pub fn add_latency_goal(outcome: Option<&ContestOutcome>, goals: &mut Goals) {
    let median = outcome.and_then(|outcome| latency_ms(outcome.records.first()?, "p50"));
    goals.add("tiny, real sentences: median latency", median, "ms", GoalBound::AtMost(MOST_MEDIAN_MS));
}
