//! Made-up prompts with a given number of tokens, some of them shared.

use super::{Prompt, PromptError, Tokenizer};
use assay_random::Random;

/// Plain words, nearly all of them one token in every vocabulary.
const WORDS: [&str; 64] = [
    "the", "of", "and", "to", "in", "is", "that", "was", "for", "on", "with", "as", "it", "at", "by", "from",
    "this", "have", "not", "are", "but", "had", "his", "they", "she", "which", "one", "you", "were", "all",
    "her", "would", "there", "their", "will", "when", "who", "him", "been", "has", "more", "if", "no", "out",
    "so", "what", "up", "said", "about", "other", "into", "than", "its", "time", "only", "could", "new",
    "them", "man", "some", "these", "then", "two", "first",
];

/// How often a text is corrected until its number of tokens is right.
const MOST_CORRECTIONS: usize = 64;

/// A number of tokens, or how it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// Always this many.
    Exactly(u32),
    /// From the first to the second, all alike.
    Between(u32, u32),
    /// Normal, and never below 1.
    Normal {
        /// The middle.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
}

/// Made-up prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// How many different prompts.
    pub count: usize,
    /// Tokens of a prompt, what it shares included.
    pub prompt_tokens: Length,
    /// Tokens of an answer.
    pub output_tokens: Length,
    /// Tokens at the beginning of a prompt that it shares with others.
    pub shared_tokens: u32,
    /// How many different beginnings there are; prompts take turns.
    pub beginnings: u32,
}

impl Length {
    fn check(self) -> Result<(), PromptError> {
        let problem = match self {
            Self::Exactly(0) => Some("a prompt and an answer have at least one token".to_owned()),
            Self::Between(low, high) if low == 0 || low > high => {
                Some(format!("invalid range of tokens: {low} to {high} (expected at least 1)"))
            }
            Self::Normal { mean, deviation }
                if !(mean >= 1.0 && deviation >= 0.0 && (mean + deviation).is_finite()) =>
            {
                Some(format!("{mean} tokens with a deviation of {deviation} cannot be drawn"))
            }
            _ => None,
        };
        problem.map_or(Ok(()), |problem| Err(PromptError::Number(problem)))
    }

    fn draw(self, random: &mut Random) -> u32 {
        match self {
            Self::Exactly(tokens) => tokens,
            Self::Between(low, high) => low + random.below(u64::from(high - low) + 1) as u32,
            Self::Normal { mean, deviation } => (mean + deviation * random.normal()).round().max(1.0) as u32,
        }
    }
}

impl Synthetic {
    /// Makes the prompts of a seed. With a tokenizer their numbers of tokens are exact, as counted in the text alone: a
    /// server adds what its chat template adds. Without one a word is taken for a token, and no number is claimed.
    pub fn make(&self, seed: u64, tokenizer: Option<&Tokenizer>) -> Result<Vec<Prompt>, PromptError> {
        self.prompt_tokens.check()?;
        self.output_tokens.check()?;
        let maker = Maker::new(tokenizer);
        let beginnings = self.beginnings_by(&maker, seed)?;
        (0..self.count as u64).map(|index| self.made(&maker, seed, "prompt", index, &beginnings)).collect()
    }

    /// The texts that prompts of a seed begin with, without a tokenizer.
    pub(super) fn beginnings(&self, seed: u64) -> Result<Vec<String>, PromptError> {
        self.beginnings_by(&Maker::without_tokenizer(), seed)
    }

    fn beginnings_by(&self, maker: &Maker<'_>, seed: u64) -> Result<Vec<String>, PromptError> {
        let beginning =
            |one: u32| maker.extend("", self.shared_tokens, &mut Random::item(seed, "beginning", one.into()));
        (0..self.beginnings.max(1)).map(beginning).collect()
    }

    /// One prompt of a seed, without a tokenizer.
    pub(super) fn one(
        &self,
        seed: u64,
        purpose: &str,
        index: u64,
        beginnings: &[String],
    ) -> Result<Prompt, PromptError> {
        self.made(&Maker::without_tokenizer(), seed, purpose, index, beginnings)
    }

    fn made(
        &self,
        maker: &Maker<'_>,
        seed: u64,
        purpose: &str,
        index: u64,
        beginnings: &[String],
    ) -> Result<Prompt, PromptError> {
        let mut random = Random::item(seed, purpose, index);
        let wanted = self.prompt_tokens.draw(&mut random);
        let output = self.output_tokens.draw(&mut random);
        // A prompt that is shorter than what is shared has a beginning of its own.
        let shared = beginnings.get((index % beginnings.len().max(1) as u64) as usize);
        let beginning = shared.filter(|_| wanted > self.shared_tokens).map_or("", String::as_str);
        let mut prompt = Prompt::text(maker.extend(beginning, wanted, &mut random)?);
        prompt.prompt_tokens = maker.tokenizer.map(|_| wanted);
        prompt.output_tokens = Some(output);
        Ok(prompt)
    }
}

/// A synthetic prompt of some words.
pub(super) fn plain(seed: u64, purpose: &str, index: u64, words: u32) -> Result<Prompt, PromptError> {
    let mut random = Random::item(seed, purpose, index);
    Ok(Prompt::text(Maker::without_tokenizer().extend("", words, &mut random)?))
}

/// Makes texts of a given number of tokens.
pub(super) struct Maker<'a> {
    tokenizer: Option<&'a Tokenizer>,
    /// Words that are one token each, after another word.
    singles: Vec<&'static str>,
}

impl<'a> Maker<'a> {
    /// Takes a word for a token.
    pub(super) fn without_tokenizer() -> Self {
        Self { tokenizer: None, singles: Vec::new() }
    }

    pub(super) fn new(tokenizer: Option<&'a Tokenizer>) -> Self {
        let mut maker = Self { tokenizer, singles: WORDS.to_vec() };
        let singles: Vec<&str> = WORDS
            .into_iter()
            .filter(|word| maker.count(&format!("{word} {word}")) == 2 * maker.count(word))
            .collect();
        let single = |word: &&&str| maker.count(&format!("the {word}")) == maker.count("the") + 1;
        maker.singles = singles.iter().filter(single).copied().collect();
        maker
    }

    pub(super) fn has_tokenizer(&self) -> bool {
        self.tokenizer.is_some()
    }

    fn count(&self, text: &str) -> u64 {
        match self.tokenizer {
            Some(tokenizer) => tokenizer.count(text).unwrap_or(0),
            None => text.split_whitespace().count() as u64,
        }
    }

    /// A text that begins with `beginning` and has `wanted` tokens.
    pub(super) fn extend(
        &self,
        beginning: &str,
        wanted: u32,
        random: &mut Random,
    ) -> Result<String, PromptError> {
        let goal = u64::from(wanted);
        let mut text = beginning.to_owned();
        let words = if self.singles.is_empty() { &WORDS[..] } else { &self.singles };
        for _ in 0..MOST_CORRECTIONS {
            let count = self.count(&text);
            if count == goal {
                return Ok(text);
            }
            if count > goal && text.len() > beginning.len() {
                // One word too many for every token too many, at least: the rest is added again.
                for _ in 0..count - goal {
                    let end = text.rfind(' ').unwrap_or(0);
                    text.truncate(end.max(beginning.len()));
                }
                continue;
            }
            for _ in 0..goal.saturating_sub(count) {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(words[random.below(words.len() as u64) as usize]);
            }
        }
        Err(PromptError::Length { wanted, found: self.count(&text) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokenizer::tests::small;
    use super::*;
    use crate::request::Content;

    fn text(prompt: &Prompt) -> &str {
        match &prompt.content {
            Content::Text(text) => text,
            Content::Messages(_) => panic!("messages"),
        }
    }

    fn synthetic() -> Synthetic {
        Synthetic {
            count: 40,
            prompt_tokens: Length::Between(20, 90),
            output_tokens: Length::Normal { mean: 30.0, deviation: 10.0 },
            shared_tokens: 16,
            beginnings: 2,
        }
    }

    #[test]
    fn numbers_of_tokens_are_exact() {
        let tokenizer = small();
        for prompt in synthetic().make(5, Some(&tokenizer)).unwrap() {
            assert_eq!(tokenizer.count(text(&prompt)), prompt.prompt_tokens.map(u64::from));
            assert!((20..=90).contains(&prompt.prompt_tokens.unwrap()));
        }
    }

    #[test]
    fn beginnings_are_shared_and_the_rest_is_not() {
        let tokenizer = small();
        let prompts = synthetic().make(5, Some(&tokenizer)).unwrap();
        let begin = |index: usize| text(&prompts[index]).split(' ').take(16).collect::<Vec<_>>();
        assert_eq!(begin(0), begin(2));
        assert_eq!(begin(1), begin(39));
        assert_ne!(begin(0), begin(1));
        assert_ne!(text(&prompts[0]), text(&prompts[2]));
        assert_eq!(prompts, synthetic().make(5, Some(&tokenizer)).unwrap());
        assert_ne!(prompts, synthetic().make(6, Some(&tokenizer)).unwrap());
    }

    #[test]
    fn without_a_tokenizer_no_number_is_claimed() {
        let prompts = synthetic().make(5, None).unwrap();
        assert!(
            prompts.iter().all(|prompt| prompt.prompt_tokens.is_none() && prompt.output_tokens.is_some())
        );
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        for length in
            [Length::Exactly(0), Length::Between(5, 4), Length::Normal { mean: f64::NAN, deviation: 1.0 }]
        {
            let made = Synthetic { prompt_tokens: length, ..synthetic() }.make(1, None);
            assert!(matches!(made, Err(PromptError::Number(_))), "{length:?}");
        }
    }
}
