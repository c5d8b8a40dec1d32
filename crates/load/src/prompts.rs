//! What is asked: prompts from files or synthetic, in an order that a seed decides.
//!
//! | file | holds |
//! |---|---|
//! | `prompts/files.rs` | SQuAD, ShareGPT, JSON lines and plain text |
//! | `prompts/synthetic.rs` | synthetic prompts with exact numbers of tokens and shared prefixes |
//! | `prompts/traced.rs` | the prompts of a trace, with its lengths and what they share |
//! | `prompts/tokenizer.rs`, `prompts/ranks.rs` | counting tokens, with a `tokenizer.json` or tiktoken's ranks |
//! | `prompts/order.rs` | the order in which prompts are asked |

mod files;
mod order;
mod ranks;
mod synthetic;
mod tokenizer;
mod traced;

pub use files::{PromptFormat, read, read_as};
pub use synthetic::{Length, Synthetic};
pub use tokenizer::{Tokenizer, TokenizerError};

use std::path::PathBuf;
use std::sync::Arc;

use crate::arrivals::Trace;
use crate::request::{Content, Question};
use crate::run::Questions;
use crate::score::{self, Score};
use order::Order;
use traced::Traced;

/// One prompt, with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What is asked, or how a conversation begins.
    pub content: Content,
    /// What the user says in the later turns of a conversation.
    pub later: Vec<String>,
    /// Answers that are right.
    pub answers: Vec<String>,
    /// How many tokens the prompt has, where that was counted.
    pub prompt_tokens: Option<u32>,
    /// How many tokens the answer may have.
    pub output_tokens: Option<u32>,
}

impl Prompt {
    /// A prompt of one text.
    pub fn text(text: impl Into<String>) -> Self {
        let content = Content::Text(text.into());
        Self { content, later: Vec::new(), answers: Vec::new(), prompt_tokens: None, output_tokens: None }
    }
}

/// Why there are no prompts.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A file cannot be read.
    #[error("the prompts in {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file is not what it was taken for.
    #[error("the prompts are not {format}: {problem}")]
    PromptFormat {
        /// What it was taken for.
        format: PromptFormat,
        /// What is wrong.
        problem: String,
    },
    /// Nothing to ask.
    #[error("there are no prompts")]
    Empty,
    /// No synthetic prompt has this many tokens.
    #[error("no text with exactly {wanted} tokens was found with this tokenizer; the nearest has {found}")]
    Length {
        /// How many were wanted.
        wanted: u32,
        /// How many there are.
        found: u64,
    },
    /// A number that makes no sense.
    #[error("{0}")]
    Number(String),
}

/// Prompts in the order in which they are asked.
#[derive(Debug, Clone)]
pub struct Prompts {
    all: Vec<Prompt>,
    order: Order,
    output_tokens: Option<u32>,
    tokenizer: Option<Arc<Tokenizer>>,
    /// Prompts that only warm up, and are not among the others.
    warm_up: Vec<Prompt>,
    /// Makes prompts when they are asked for, as many as there are requests.
    endless: Option<Endless>,
    /// Makes the prompts of a trace.
    traced: Option<Traced>,
    seed: u64,
}

/// Synthetic prompts, generated on demand.
#[derive(Debug, Clone)]
struct Endless {
    synthetic: Synthetic,
    beginnings: Vec<String>,
}

/// Tokens of prompts that only warm up, where no prompt of a file can be spared.
const WARM_UP_TOKENS: u32 = 64;

impl Prompts {
    /// Made-up prompts, a new one for every request. Without a tokenizer a word is taken for a token.
    pub fn endless(synthetic: Synthetic, seed: u64) -> Result<Self, PromptError> {
        let first = Synthetic { count: 1, ..synthetic.clone() }.make(seed, None)?;
        let beginnings = synthetic.beginnings(seed)?;
        let endless = Some(Endless { synthetic, beginnings });
        Ok(Self { endless, ..Self::new(first, seed)? })
    }

    /// The prompts of a trace, with its lengths and what they share; `usual_tokens` where it gives no length. With a
    /// tokenizer, those of the first `requests` are made beforehand.
    pub fn of_trace(
        trace: &Trace,
        seed: u64,
        usual_tokens: u32,
        requests: Option<u64>,
        tokenizer: Option<&Tokenizer>,
    ) -> Result<Self, PromptError> {
        let traced = Some(Traced::new(trace, seed, usual_tokens, requests, tokenizer)?);
        let first = synthetic::plain(seed, "prompt", 0, 1)?;
        Ok(Self { traced, ..Self::new(vec![first], seed)? })
    }

    /// Reserves prompts for `count` requests that warm up: some of these, where there are more than that.
    pub fn with_warm_up(mut self, count: u64) -> Self {
        let places: std::collections::BTreeSet<u64> =
            (0..count).map(|index| self.order.place(index)).collect();
        if self.endless.is_none() && self.traced.is_none() && count < self.all.len() as u64 {
            let all = std::mem::take(&mut self.all);
            for (place, prompt) in all.into_iter().enumerate() {
                let is_reserved = places.contains(&(place as u64));
                if is_reserved { self.warm_up.push(prompt) } else { self.all.push(prompt) }
            }
            self.order = self.order.of(self.all.len() as u64);
        }
        self
    }

    /// Prompts in an order that belongs to a seed: each is asked once before any is asked again, and every round has an
    /// order of its own.
    pub fn new(all: Vec<Prompt>, seed: u64) -> Result<Self, PromptError> {
        if all.is_empty() {
            return Err(PromptError::Empty);
        }
        let order = Order::shuffled(all.len() as u64, seed);
        Ok(Self {
            all,
            order,
            output_tokens: None,
            tokenizer: None,
            warm_up: Vec::new(),
            endless: None,
            traced: None,
            seed,
        })
    }

    /// Limits the tokens of every answer, whatever the prompts say.
    pub fn with_output_tokens(self, tokens: u32) -> Self {
        Self { output_tokens: Some(tokens), ..self }
    }

    /// Counts tokens of answers with this tokenizer.
    pub fn with_tokenizer(self, tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer: Some(tokenizer), ..self }
    }

    /// How many different prompts there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The prompt of a request.
    pub fn prompt(&self, index: u64) -> &Prompt {
        &self.all[self.order.place(index) as usize]
    }
}

impl Endless {
    fn prompt(&self, seed: u64, purpose: &str, index: u64, turn: u32) -> Result<Prompt, PromptError> {
        // Only the first turn of a conversation has the beginning that prompts share.
        let beginnings: &[String] = if turn == 0 { &self.beginnings } else { &[] };
        let purpose = if turn == 0 { purpose.to_owned() } else { format!("{purpose} {turn}") };
        self.synthetic.one(seed, &purpose, index, beginnings)
    }
}

impl Questions for Prompts {
    fn warm_up(&self, index: u64) -> Option<Question> {
        let prompt = match (&self.endless, self.warm_up.len() as u64) {
            (Some(endless), _) => endless.prompt(self.seed, "warm-up", index, 0).ok()?,
            (None, 0) => synthetic::plain(self.seed, "warm-up", index, WARM_UP_TOKENS).ok()?,
            (None, count) => self.warm_up.get((index % count) as usize)?.clone(),
        };
        Some(Question { content: prompt.content, output_tokens: self.output_tokens.or(prompt.output_tokens) })
    }

    fn session(&self, index: u64) -> Option<(u64, u32)> {
        self.traced.as_ref()?.session(index)
    }

    fn question(&self, index: u64, turn: u32) -> Option<Question> {
        if let Some(traced) = &self.traced {
            let prompt = traced.prompt(index)?;
            let output_tokens = self.output_tokens.or(prompt.output_tokens);
            return Some(Question { content: prompt.content, output_tokens });
        }
        if let Some(endless) = &self.endless {
            let prompt = endless.prompt(self.seed, "prompt", index, turn).ok()?;
            let output_tokens = self.output_tokens.or(prompt.output_tokens);
            return Some(Question { content: prompt.content, output_tokens });
        }
        let prompt = self.prompt(index);
        let content = match turn.checked_sub(1) {
            None => prompt.content.clone(),
            Some(later) => Content::Text(prompt.later.get(later as usize)?.clone()),
        };
        Some(Question { content, output_tokens: self.output_tokens.or(prompt.output_tokens) })
    }

    fn count(&self, text: &str) -> Option<u64> {
        self.tokenizer.as_ref()?.count(text)
    }

    fn can_count(&self) -> bool {
        self.tokenizer.is_some()
    }

    fn score(&self, index: u64, answer: &str) -> Option<Score> {
        score::score(answer, &self.prompt(index).answers)
    }

    fn can_score(&self) -> bool {
        self.all.iter().any(|prompt| !prompt.answers.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts() -> Prompts {
        let all = (0..5).map(|number| Prompt::text(format!("prompt {number}"))).collect();
        Prompts::new(all, 3).unwrap()
    }

    #[test]
    fn a_round_asks_everything_once() {
        let prompts = prompts();
        let asked =
            |round: u64| (0..5).map(|index| prompts.prompt(round * 5 + index).clone()).collect::<Vec<_>>();
        let rounds: Vec<_> = (0..20).map(asked).collect();
        for round in &rounds {
            let mut texts: Vec<_> = round.iter().map(|prompt| format!("{:?}", prompt.content)).collect();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), 5);
        }
        assert!(rounds.iter().any(|round| round != &rounds[0]));
    }

    #[test]
    fn later_turns_end_with_the_prompt() {
        let mut prompt = Prompt::text("first");
        prompt.later.push("second".into());
        let prompts = Prompts::new(vec![prompt], 1).unwrap().with_output_tokens(7);
        let said =
            |turn| prompts.question(0, turn).map(|question| (question.content, question.output_tokens));
        assert_eq!(said(0), Some((Content::Text("first".into()), Some(7))));
        assert_eq!(said(1), Some((Content::Text("second".into()), Some(7))));
        assert_eq!(said(2), None);
    }

    #[test]
    fn a_prompt_that_warmed_up_is_never_measured() {
        let text = |question: Question| format!("{:?}", question.content);
        let few = prompts().with_warm_up(9);
        let enough = prompts().with_warm_up(2);
        let synthetic = Synthetic {
            count: 1,
            prompt_tokens: Length::Exactly(12),
            output_tokens: Length::Exactly(3),
            shared_tokens: 4,
            beginnings: 1,
        };
        let endless = Prompts::endless(synthetic, 4).unwrap().with_warm_up(3);
        for (prompts, different) in [(few, 5), (enough, 3), (endless, 60)] {
            let warm: Vec<String> = (0..3).map(|index| text(prompts.warm_up(index).unwrap())).collect();
            let measured: Vec<String> =
                (0..60).map(|index| text(prompts.question(index, 0).unwrap())).collect();
            assert!(warm.iter().all(|prompt| !measured.contains(prompt)), "{warm:?}");
            let unique: std::collections::BTreeSet<_> = measured.iter().collect();
            assert_eq!(unique.len(), different);
        }
    }

    #[test]
    fn nothing_to_ask_is_an_error() {
        assert!(matches!(Prompts::new(Vec::new(), 1), Err(PromptError::Empty)));
    }
}
