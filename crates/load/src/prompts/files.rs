//! Prompts in files.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use super::{Prompt, PromptError};
use crate::request::Content;

/// How prompts are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptFormat {
    /// SQuAD v1.1: passages, questions and answers. Asked as `Context: … Question: … Answer:`.
    Squad,
    /// ShareGPT: conversations of a human and a model.
    ShareGpt,
    /// One JSON object a line: `prompt` or `messages`, and where known `turns`, `answer` or `answers`, `max_tokens`.
    JsonLines,
    /// One prompt a line.
    Text,
}

impl fmt::Display for PromptFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Squad => "SQuAD v1.1",
            Self::ShareGpt => "ShareGPT",
            Self::JsonLines => "JSON lines",
            Self::Text => "plain text",
        })
    }
}

#[derive(Deserialize)]
struct Squad<'a> {
    #[serde(borrow)]
    data: Vec<Article<'a>>,
}

#[derive(Deserialize)]
struct Article<'a> {
    #[serde(borrow)]
    paragraphs: Vec<Paragraph<'a>>,
}

#[derive(Deserialize)]
struct Paragraph<'a> {
    #[serde(borrow)]
    context: Cow<'a, str>,
    qas: Vec<Asked<'a>>,
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    question: Cow<'a, str>,
    #[serde(default)]
    answers: Vec<ReferenceAnswer>,
}

#[derive(Deserialize)]
struct ReferenceAnswer {
    text: String,
}

#[derive(Deserialize)]
struct Conversation {
    #[serde(default, alias = "conversation")]
    conversations: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(alias = "role")]
    from: String,
    #[serde(alias = "content")]
    value: String,
}

#[derive(Deserialize)]
struct PromptLine {
    prompt: Option<String>,
    messages: Option<Vec<Message>>,
    #[serde(default)]
    turns: Vec<String>,
    answer: Option<String>,
    #[serde(default)]
    answers: Vec<String>,
    #[serde(alias = "output_tokens")]
    max_tokens: Option<u32>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// Reads the prompts of a file, whose format is recognized by its content.
pub fn read(path: &Path) -> Result<Vec<Prompt>, PromptError> {
    let text = load(path)?;
    parse(format_of(&text), &text)
}

/// Reads the prompts of a file of this format.
pub fn read_as(format: PromptFormat, path: &Path) -> Result<Vec<Prompt>, PromptError> {
    parse(format, &load(path)?)
}

fn load(path: &Path) -> Result<String, PromptError> {
    std::fs::read_to_string(path).map_err(|source| PromptError::Read { path: path.to_owned(), source })
}

/// The format of a text: an array is ShareGPT, an object on its first line JSON lines, any other object SQuAD.
/// SQuAD is often written on one line, and then it has `data`.
fn format_of(text: &str) -> PromptFormat {
    #[derive(Deserialize)]
    struct Probe {
        data: Option<serde::de::IgnoredAny>,
    }
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    match text.bytes().next() {
        Some(b'[') => PromptFormat::ShareGpt,
        Some(b'{') => match serde_json::from_str::<Probe>(line) {
            Ok(Probe { data: None }) => PromptFormat::JsonLines,
            _ => PromptFormat::Squad,
        },
        _ => PromptFormat::Text,
    }
}

fn parse(format: PromptFormat, text: &str) -> Result<Vec<Prompt>, PromptError> {
    let broken = |problem: String| PromptError::PromptFormat { format, problem };
    let prompts = match format {
        PromptFormat::Squad => squad(&serde_json::from_str(text).map_err(|error| broken(error.to_string()))?),
        PromptFormat::ShareGpt => {
            let all: Vec<Conversation> =
                serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
            all.into_iter().filter_map(conversation).collect()
        }
        PromptFormat::JsonLines => lines(text).map_err(broken)?,
        PromptFormat::Text => {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Prompt::text).collect()
        }
    };
    if prompts.is_empty() { Err(PromptError::Empty) } else { Ok(prompts) }
}

fn squad(squad: &Squad<'_>) -> Vec<Prompt> {
    let paragraphs = squad.data.iter().flat_map(|article| &article.paragraphs);
    let asked =
        paragraphs.flat_map(|paragraph| paragraph.qas.iter().map(move |asked| (&paragraph.context, asked)));
    asked
        .map(|(context, asked)| {
            let question = asked.question.trim();
            let mut prompt = Prompt::text(format!("Context: {context} Question: {question} Answer:"));
            for answer in &asked.answers {
                if !prompt.answers.contains(&answer.text) {
                    prompt.answers.push(answer.text.clone());
                }
            }
            prompt
        })
        .collect()
}

/// A conversation, if a human says anything in it. What comes before the human's first words is not a prompt.
fn conversation(conversation: Conversation) -> Option<Prompt> {
    let is_human = |said: &Said| matches!(said.from.as_str(), "human" | "user");
    let mut said = conversation.conversations.into_iter().skip_while(|said| !is_human(said));
    let mut prompt = Prompt::text(said.next()?.value);
    prompt.later = said.filter(is_human).map(|said| said.value).collect();
    Some(prompt)
}

fn lines(text: &str) -> Result<Vec<Prompt>, String> {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled
        .map(|(index, line)| {
            let located = |problem: String| format!("line {}: {problem}", index + 1);
            let line: PromptLine = serde_json::from_str(line).map_err(|error| located(error.to_string()))?;
            line.prompt().ok_or_else(|| located("neither `prompt` nor `messages`".to_owned()))
        })
        .collect()
}

impl PromptLine {
    fn prompt(self) -> Option<Prompt> {
        let mut later = self.turns.into_iter();
        let content = match (self.messages, self.prompt) {
            (Some(messages), _) => Content::Messages(
                messages.into_iter().map(|message| (message.role, message.content)).collect(),
            ),
            (None, Some(text)) => Content::Text(text),
            (None, None) => Content::Text(later.next()?),
        };
        let answers = self.answer.into_iter().chain(self.answers).collect();
        let (later, output_tokens) = (later.collect(), self.max_tokens);
        Some(Prompt { content, later, answers, prompt_tokens: None, output_tokens })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Prompt>, PromptError> {
        parse(format_of(text), text)
    }

    #[test]
    fn squad_on_one_line_or_many() {
        let text = r#"{"version": "1.1", "data": [{"title": "Games", "paragraphs": [{"context": "Gold is \"heavy\".",
            "qas": [{"id": "1", "question": " What is heavy?", "answers": [{"text": "Gold", "answer_start": 0},
            {"text": "Gold", "answer_start": 0}, {"text": "the gold", "answer_start": 1}]}]}]}]}"#;
        for text in [text.to_owned(), text.replace('\n', " ")] {
            assert_eq!(format_of(&text), PromptFormat::Squad);
            let prompts = read_text(&text).unwrap();
            let asked = "Context: Gold is \"heavy\". Question: What is heavy? Answer:";
            assert_eq!(prompts[0].content, Content::Text(asked.into()));
            assert_eq!(prompts[0].answers, ["Gold", "the gold"]);
        }
    }

    #[test]
    fn sharegpt_begins_with_the_human() {
        let text = r#"[{"id": "a", "conversations": [{"from": "gpt", "value": "Hi"}, {"from": "human", "value": "One"},
            {"from": "gpt", "value": "1"}, {"from": "human", "value": "Two"}]},
            {"id": "b", "conversations": []}]"#;
        let prompts = read_text(text).unwrap();
        assert_eq!(prompts.len(), 1);
        assert_eq!(
            (&prompts[0].content, &prompts[0].later[..]),
            (&Content::Text("One".into()), &["Two".to_owned()][..])
        );
    }

    #[test]
    fn json_lines_of_both_kinds() {
        let text = "{\"prompt\": \"a\", \"answer\": \"b\", \"max_tokens\": 4}\n\n\
            {\"messages\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"u\"}]}\n";
        let prompts = read_text(text).unwrap();
        assert_eq!((prompts[0].answers[0].as_str(), prompts[0].output_tokens), ("b", Some(4)));
        assert!(matches!(&prompts[1].content, Content::Messages(messages) if messages.len() == 2));
        let error = read_text("{\"prompt\": \"a\"}\n{\"text\": \"b\"}").unwrap_err().to_string();
        assert!(error.contains("line 2: neither"), "{error}");
    }

    #[test]
    fn plain_text_is_a_prompt_a_line() {
        assert_eq!(read_text("one\n\n two \n").unwrap(), [Prompt::text("one"), Prompt::text("two")]);
        assert!(matches!(read_text("\n"), Err(PromptError::Empty)));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("/nowhere/prompts.json")).unwrap_err();
        assert_eq!(error.to_string(), "the prompts in /nowhere/prompts.json cannot be read");
    }
}
