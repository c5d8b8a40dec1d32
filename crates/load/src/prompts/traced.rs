//! Prompts of a trace: as long as it says, and the same where it says that they are the same.
//!
//! A block of a prompt is made from its hash, so that prompts with the same hashes begin with the same text. Without
//! hashes, the prompts of a session are beginnings of one long text: a later, longer prompt repeats the earlier one,
//! as a conversation does. Each seed has its own texts, so that a repeat does not find those of the last one in a cache.

use std::sync::Arc;

use assay_random::Random;

use super::synthetic::Maker;
use super::{Prompt, PromptError, Tokenizer};
use crate::arrivals::{Trace, TraceEntry};

/// The most tokens of prompts that are prepared, where a tokenizer makes them exact: about 100 MB.
const MOST_PREPARED: u64 = 20_000_000;

/// Makes the prompts of a trace.
#[derive(Debug, Clone)]
pub(super) struct Traced {
    entries: Arc<[TraceEntry]>,
    block_tokens: u32,
    seed: u64,
    /// Tokens of prompts that the trace does not give.
    usual_tokens: u32,
    /// Prompts that a tokenizer made exact.
    prepared: Option<Arc<[Prompt]>>,
}

impl Traced {
    pub(super) fn new(
        trace: &Trace,
        seed: u64,
        usual_tokens: u32,
        requests: Option<u64>,
        tokenizer: Option<&Tokenizer>,
    ) -> Result<Traced, PromptError> {
        let entries = trace.entries_shared();
        let block_tokens = trace.block_tokens().unwrap_or(0);
        let mut traced = Traced { entries, block_tokens, seed, usual_tokens, prepared: None };
        if tokenizer.is_some() {
            let count =
                requests.map_or(usize::MAX, |requests| usize::try_from(requests).unwrap_or(usize::MAX));
            let wanted = &traced.entries[..traced.entries.len().min(count)];
            let tokens: u64 = wanted.iter().map(|entry| u64::from(traced.tokens(entry))).sum();
            if tokens > MOST_PREPARED {
                let text = format!("{tokens} tokens of prompts are too many to count beforehand");
                return Err(PromptError::Number(format!(
                    "{text}: leave out the tokenizer, or ask for fewer requests"
                )));
            }
            let maker = Maker::new(tokenizer);
            let prepared: Result<Vec<Prompt>, PromptError> =
                (0..wanted.len()).map(|index| traced.made(&maker, index as u64)).collect();
            traced.prepared = Some(prepared?.into());
        }
        Ok(traced)
    }

    /// The prompt of a request.
    pub(super) fn prompt(&self, index: u64) -> Option<Prompt> {
        match &self.prepared {
            Some(prepared) => prepared.get(usize::try_from(index).ok()?).cloned(),
            None => self.made(&Maker::without_tokenizer(), index).ok(),
        }
    }

    /// The session of a request and its place in it.
    pub(super) fn session(&self, index: u64) -> Option<(u64, u32)> {
        self.entries.get(usize::try_from(index).ok()?)?.session
    }

    fn tokens(&self, entry: &TraceEntry) -> u32 {
        entry.prompt_tokens.unwrap_or(self.usual_tokens).max(1)
    }

    fn made(&self, maker: &Maker<'_>, index: u64) -> Result<Prompt, PromptError> {
        let entry = usize::try_from(index).ok().and_then(|index| self.entries.get(index));
        let entry = entry.ok_or(PromptError::Empty)?;
        let wanted = self.tokens(entry);
        let text = match (entry.blocks.is_empty(), entry.session) {
            (false, _) => self.blocks(maker, entry, wanted)?,
            (true, Some((session, _))) => {
                maker.extend("", wanted, &mut Random::item(self.seed, "session", session))?
            }
            (true, None) => maker.extend("", wanted, &mut Random::item(self.seed, "prompt", index))?,
        };
        let mut prompt = Prompt::text(text);
        prompt.prompt_tokens = maker.has_tokenizer().then_some(wanted);
        // Failed requests of a trace have no output tokens; a request for none would be refused.
        prompt.output_tokens = entry.output_tokens.map(|tokens| tokens.max(1));
        Ok(prompt)
    }

    fn blocks(&self, maker: &Maker<'_>, entry: &TraceEntry, wanted: u32) -> Result<String, PromptError> {
        let mut text = String::new();
        for (block, number) in entry.blocks.iter().zip(1_u32..) {
            let end = wanted.min(number.saturating_mul(self.block_tokens));
            text = maker.extend(&text, end, &mut Random::item(self.seed, "block", *block))?;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Content;

    fn words(traced: &Traced, index: u64) -> Vec<String> {
        let Content::Text(text) = traced.prompt(index).unwrap().content else { panic!() };
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn prompts_have_their_lengths_and_share_their_blocks() {
        let lines = "{\"timestamp\": 0, \"input_length\": 40, \"output_length\": 7, \"hash_ids\": [1, 2, 3]}\n\
                     {\"timestamp\": 1, \"input_length\": 45, \"output_length\": 0, \"hash_ids\": [1, 2, 9]}\n";
        let trace = Trace::read(lines.as_bytes()).unwrap();
        assert_eq!(trace.block_tokens(), Some(16));
        let traced = Traced::new(&trace, 5, 128, None, None).unwrap();
        let (one, other) = (words(&traced, 0), words(&traced, 1));
        assert_eq!((one.len(), other.len()), (40, 45));
        assert_eq!(one[..32], other[..32]);
        assert_ne!(one[32..40], other[32..40]);
        let limits = [0, 1].map(|index| traced.prompt(index).unwrap().output_tokens);
        assert_eq!(limits, [Some(7), Some(1)]);
        let again = Traced::new(&trace, 6, 128, None, None).unwrap();
        assert_ne!(words(&again, 0)[..32], one[..32], "another round has other texts");
        assert_eq!(traced.prompt(2), None);
    }

    #[test]
    fn a_session_goes_on_where_it_was() {
        let lines = "{\"at_s\": 0, \"input_length\": 10, \"session_id\": 1}\n{\"at_s\": 1, \"input_length\": 20}\n\
                     {\"at_s\": 2, \"input_length\": 30, \"session_id\": 1}\n{\"at_s\": 3}\n";
        let trace = Trace::read(lines.as_bytes()).unwrap();
        let traced = Traced::new(&trace, 5, 128, None, None).unwrap();
        let all: Vec<_> = (0..4).map(|index| words(&traced, index)).collect();
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [10, 20, 30, 128]);
        assert_eq!(all[0][..], all[2][..10]);
        assert_ne!(all[0][..], all[1][..10]);
        assert_eq!((traced.session(2), traced.session(1)), (Some((0, 1)), None));
    }
}
