//! What a load sends: prompts of a file, one prompt, those of a trace, or synthetic ones.

use std::path::Path;
use std::sync::Arc;

use assay_load::arrivals::{Arrivals, Trace};
use assay_load::prompts::{self, Length, Prompt, PromptError, Prompts, Synthetic, Tokenizer};
use assay_load::run::Load;

use super::ChatSettings;
use crate::failure::Mistake;

/// Tokens of synthetic prompts and of their answers, unless something else is asked for.
const USUAL_TOKENS: u32 = 128;
/// Made-up prompts that are prepared where a tokenizer makes them exact and their number is not known.
const PREPARED: u64 = 1000;
/// The most synthetic prompts that are prepared: counting tokens takes time and memory.
const MOST_PREPARED: u64 = 20_000;

impl ChatSettings {
    /// Reads the files with prompts and tokens, if there are any.
    pub(super) fn check_prompts(&self) -> anyhow::Result<()> {
        if let Some(path) = self.checked.optional_text("tokenizer") {
            open_tokenizer(path)?;
        }
        if let Some(path) = self.checked.optional_text("prompts") {
            prompts::read(Path::new(path)).map_err(no_prompts)?;
        }
        Ok(())
    }

    /// The prompts, and what they are.
    pub(super) fn prompts(&self, seed: u64, load: &Load) -> anyhow::Result<(Prompts, String)> {
        let checked = &self.checked;
        let tokenizer = checked.optional_text("tokenizer").map(open_tokenizer).transpose()?;
        let small = |name: &str| {
            checked.optional_integer(name).map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
        };
        let output_tokens = small("output_tokens");
        let trace = match &load.arrivals {
            Arrivals::Trace(trace) => Some(trace),
            _ => None,
        };
        let (prompts, source) = match (checked.optional_text("prompts"), checked.optional_text("prompt")) {
            (Some(path), _) => {
                let all = prompts::read(Path::new(path)).map_err(no_prompts)?;
                let source = format!("{} prompts of {path}", all.len());
                (Prompts::new(all, seed), source)
            }
            (None, Some(text)) => (Prompts::new(vec![Prompt::text(text)], seed), "one prompt".to_owned()),
            (None, None) => {
                let tokens = small("prompt_tokens").unwrap_or(USUAL_TOKENS);
                match trace.filter(|trace| trace.has_prompt_lengths() || trace.has_output_lengths()) {
                    Some(trace) => {
                        let made =
                            Prompts::of_trace(trace, seed, tokens, load.requests, tokenizer.as_deref());
                        (made, traced(trace))
                    }
                    None => {
                        let synthetic = self.synthetic(tokens, load);
                        let made = match &tokenizer {
                            Some(tokenizer) => {
                                synthetic.make(seed, Some(tokenizer)).and_then(|all| Prompts::new(all, seed))
                            }
                            None => Prompts::endless(synthetic, seed),
                        };
                        (made, format!("synthetic prompts of {tokens} tokens"))
                    }
                }
            }
        };
        let mut prompts = prompts.map_err(no_prompts)?.with_warm_up(load.warm_up);
        if let Some(tokens) = output_tokens {
            prompts = prompts.with_output_tokens(tokens);
        }
        if let Some(tokenizer) = tokenizer {
            prompts = prompts.with_tokenizer(tokenizer);
        }
        let limit = self.most_output_tokens(load);
        let limit = limit.map_or_else(String::new, |tokens| format!(", at most {tokens} output tokens"));
        Ok((prompts, format!("{source}{limit}")))
    }

    /// How many tokens every answer may have at most; none where prompts or a trace say it for each.
    pub(super) fn most_output_tokens(&self, load: &Load) -> Option<u64> {
        let checked = &self.checked;
        let is_given = checked.get("prompts").or(checked.get("prompt")).is_some();
        let is_traced = matches!(&load.arrivals, Arrivals::Trace(trace) if trace.has_output_lengths());
        let usual = (!is_given && !is_traced).then_some(u64::from(USUAL_TOKENS));
        checked.optional_integer("output_tokens").or(usual)
    }

    /// Made-up prompts that no trace describes.
    fn synthetic(&self, tokens: u32, load: &Load) -> Synthetic {
        let checked = &self.checked;
        let small = |name: &str| {
            checked.optional_integer(name).map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
        };
        let prepared = load.requests.unwrap_or(PREPARED).saturating_add(load.warm_up).min(MOST_PREPARED);
        Synthetic {
            count: usize::try_from(prepared).unwrap_or(usize::MAX),
            prompt_tokens: Length::Exactly(tokens),
            output_tokens: Length::Exactly(small("output_tokens").unwrap_or(USUAL_TOKENS)),
            shared_tokens: small("shared_tokens").unwrap_or(0),
            beginnings: 1,
        }
    }
}

/// What a trace says about its prompts.
fn traced(trace: &Trace) -> String {
    let entries = trace.entries();
    let sessions = entries.iter().filter_map(|entry| entry.session).map(|(session, _)| session).max();
    let parts = [
        trace.has_prompt_lengths().then(|| "prompt lengths".to_owned()),
        trace.has_output_lengths().then(|| "output limits".to_owned()),
        trace.block_tokens().map(|tokens| format!("shared blocks of {tokens} tokens")),
        sessions.map(|last| format!("{} sessions", last + 1)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let unused = match trace.unused() {
        [] => String::new(),
        columns => format!("; not used: {}", columns.join(", ")),
    };
    format!("synthetic prompts with the trace's {}{unused}", parts.join(", "))
}

fn open_tokenizer(path: &str) -> Result<Arc<Tokenizer>, Mistake> {
    Tokenizer::open(Path::new(path)).map(Arc::new).map_err(|error| {
        use std::error::Error;
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        Mistake::new(format!("{error}{cause}"), "give a tokenizer.json or a file of tiktoken ranks")
    })
}

fn no_prompts(error: PromptError) -> anyhow::Error {
    use std::error::Error;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Mistake::new(format!("{error}{cause}"), "prompts are SQuAD, ShareGPT, JSON lines or plain text").into()
}
