//! Claims for an audit that a language model proposes: joins the room that asks endpoints and the one that checks.

use std::time::Duration;

use assay_audit::Audit;
use assay_audit::assist::{Assisted, dispose, proposals, quantities, question};
use assay_load::ask::{AnswerLimits, AskError, ask};
use assay_load::request::{Content, Endpoint, Question, without_credentials};
use assay_load::token::TokenSource;
use assay_model::{Document, untrusted};
use serde_json::json;

use crate::failure::Mistake;
use crate::options::Assist;
use crate::screen::Screen;

/// The longest answer that is taken, and the most tokens that are asked for.
const MOST_BYTES: usize = 2 << 20;
const MOST_TOKENS: u32 = 8192;
/// Reasons of rejections that are shown.
const SHOWN_REASONS: usize = 5;

/// What a model contributed.
pub struct Contribution {
    model: String,
    assisted: Assisted,
}

/// Asks the model for claims, if the user named one, and adds what the arithmetic makes of them. An endpoint that
/// fails costs its proposals and nothing else; one that cannot be asked at all is the user's mistake.
pub fn assist(
    options: &Assist,
    audit: &mut Audit,
    documents: &[Document],
    screen: &mut Screen,
) -> anyhow::Result<Option<Contribution>> {
    let (Some(url), Some(model)) = (&options.assist, &options.model) else { return Ok(None) };
    let listed = quantities(documents);
    if listed.is_empty() {
        screen.warn("no text with numbers to ask the model about");
        return Ok(None);
    }
    let asked = question(documents, &listed);
    if !asked.is_whole {
        screen.warn("the text is too long for the model: only its beginning is sent");
    }
    let messages = vec![("system".to_owned(), asked.task.to_owned()), ("user".to_owned(), asked.material)];
    let asked = Question { content: Content::Messages(messages), output_tokens: Some(MOST_TOKENS) };
    let answer = match ask(&endpoint(url, model, options), &asked, &bounds(options)?) {
        Ok(answer) => answer,
        Err(error @ AskError::Endpoint(_)) => {
            return Err(Mistake { text: error.to_string(), hint: endpoint_hint(options) }.into());
        }
        Err(error) => {
            screen.warn(&format!("no claims from {}: {error}", without_credentials(url)));
            error.hint().into_iter().for_each(|hint| screen.hint(hint));
            return Ok(None);
        }
    };
    if answer.is_cut {
        screen.warn("the model's answer was cut at its limit of tokens");
    }
    match proposals(&answer.text) {
        Ok(answer) => {
            let assisted = dispose(audit, documents, &listed, &answer);
            Ok(Some(Contribution { model: model.clone(), assisted }))
        }
        Err(error) => {
            screen.warn(&format!("no claims from {model}: {error}"));
            screen.hint(
                "models that follow instructions poorly cannot help here; the audit continues without it",
            );
            Ok(None)
        }
    }
}

fn endpoint(url: &str, model: &str, options: &Assist) -> Endpoint {
    let mut endpoint = Endpoint::new(url, model);
    endpoint.token = options.token_env.clone().map(TokenSource::Environment);
    endpoint.fields.insert("temperature".to_owned(), json!(0));
    endpoint
}

fn bounds(options: &Assist) -> Result<AnswerLimits, Mistake> {
    let deadline = Duration::try_from_secs_f64(options.assist_timeout).ok().filter(|time| !time.is_zero());
    let deadline =
        deadline.ok_or_else(|| Mistake::new("--assist-timeout must be above 0", "for example 120s"))?;
    Ok(AnswerLimits { deadline, most_bytes: MOST_BYTES })
}

fn endpoint_hint(options: &Assist) -> Option<String> {
    Some(match &options.token_env {
        Some(name) => format!("set {name}, or check the URL: http://127.0.0.1:8000/v1"),
        None => "for example --assist http://127.0.0.1:8000/v1 --model NAME".to_owned(),
    })
}

impl Contribution {
    /// What became of the proposals, for people.
    pub fn text(&self) -> String {
        let Assisted { checked, known, rejected } = &self.assisted;
        let mut text = format!(
            "\nassisted by {}: {checked} proposed claims checked, {known} already checked, {} rejected\n",
            self.model,
            rejected.len()
        );
        for reason in rejected.iter().take(SHOWN_REASONS) {
            text.push_str(&format!("  rejected: {}\n", untrusted::one_line(reason)));
        }
        if rejected.len() > SHOWN_REASONS {
            text.push_str(&format!("  and {} more\n", rejected.len() - SHOWN_REASONS));
        }
        text
    }

    /// The same as a line of JSON.
    pub fn json_line(&self) -> String {
        let Assisted { checked, known, rejected } = &self.assisted;
        let value = json!({"assisted": {
            "model": self.model, "checked": checked, "known": known, "rejected": rejected,
        }});
        format!("{value}\n")
    }
}
