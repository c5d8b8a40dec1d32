//! Lines that hold numbers and no measurements: prose and listings of settings.

use super::{LineContext, NumberedLine};
use crate::generic::tokens::{Token, TokenKind};

/// Words of prose: a line with several of them and few numbers is a sentence.
const PROSE_WORDS: [&str; 29] = [
    "the", "we", "our", "this", "that", "these", "are", "were", "has", "have", "which", "they", "you", "can",
    "will", "a", "an", "be", "it", "when", "if", "than", "not", "there", "because", "but", "i", "how",
    "would",
];

/// Whether a line is prose rather than output.
pub(super) fn is_sentence(line: &NumberedLine<'_>) -> bool {
    // `Warning: unable to complete 100 samples in 5.0s` measures nothing.
    if line.tokens.first().is_some_and(|token| line.slice(token) == "Warning") {
        return true;
    }
    let mut found = (0, 0, 0);
    for token in line.tokens {
        match token.kind {
            TokenKind::Word => {
                found.0 += 1;
                found.1 +=
                    usize::from(PROSE_WORDS.contains(&line.slice(token).to_ascii_lowercase().as_str()));
            }
            TokenKind::Number(_) | TokenKind::Counter { .. } => found.2 += 1,
            _ => {}
        }
    }
    // `Accuracy of the network on the 10000 test images: 53 %` ends like output.
    if let [.., joint, last] = line.tokens
        && joint.kind == TokenKind::Sign(b':')
        && matches!(last.kind, TokenKind::Number(_))
    {
        return false;
    }
    found.0 >= 8 && found.1 >= 2 && found.1 + 1 >= found.2
}

/// Whether a line lists settings: names with numbers among names with words, switches and paths.
pub(super) fn is_configuration(line: &NumberedLine<'_>) -> bool {
    let is_joint = |token: &Token| matches!(token.kind, TokenKind::Sign(b'=' | b':'));
    let worded = line.tokens.windows(2).filter(|pair| match pair {
        [joint, value] => {
            let switch = ["True", "False", "None", "true", "false", "null"].contains(&line.slice(value));
            is_joint(joint) && value.gap <= 1 && switch
        }
        _ => false,
    });
    worded.count() >= 2 || line.text.contains("Namespace(") || is_event_of_settings(line.text)
}

/// Whether a line is an object in JSON that calls itself settings: `{"event": "config", "lr": 0.001}`.
fn is_event_of_settings(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('{') else { return false };
    rest.split(',').filter_map(|pair| pair.split_once(':')).any(|(key, value)| {
        let plain = |text: &str| text.trim().trim_matches(['"', '\'', '}', '{']).to_ascii_lowercase();
        ["event", "type", "kind", "name", "msg", "message", "phase", "stage"].contains(&plain(key).as_str())
            && [
                "config",
                "configuration",
                "settings",
                "hparams",
                "hyperparameters",
                "hyperparams",
                "args",
                "arguments",
                "params",
                "parameters",
                "options",
                "setup",
            ]
            .contains(&plain(value).as_str())
    })
}

/// Whether a line states one of the parameters that a heading announces: `Test Parameters Used` above
/// `min_duration (ms): 1000`.
pub(super) fn is_parameter(line: &NumberedLine<'_>, context: &LineContext) -> bool {
    let announced = context.titled
        && context.section.iter().any(|word| {
            ["parameter", "hyperparameter", "setting", "configuration", "config", "argument", "option"]
                .contains(&word.as_str())
        });
    let joints = line.tokens.iter().filter(|token| matches!(token.kind, TokenKind::Sign(b'=' | b':')));
    announced && joints.count() == 1
}
