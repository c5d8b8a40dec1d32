//! Cuts an expression's text into tokens with their places.

use std::ops::Range;

use assay_model::Value;

use super::ExpressionError;

/// One token and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Constant(Value),
    Name(String),
    /// An operator, a bracket or a comma.
    Symbol(&'static str),
}

/// Longer symbols first, so that `<=` is not read as `<` and `=`.
const SYMBOLS: [&str; 16] =
    ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ","];

/// What people type out of habit from other languages, and what it is here.
const HABITS: [(&str, &str); 7] =
    [("&&", "and"), ("||", "or"), ("!", "not"), ("=", "=="), ("<>", "!="), ("&", "and"), ("|", "or")];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(first) = rest.chars().next() else { break };
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = token(rest, first, at)?;
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

fn token(rest: &str, first: char, at: usize) -> Result<(TokenKind, usize), ExpressionError> {
    if first.is_ascii_digit() {
        return number(rest, at);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let kind = match word {
            "true" => TokenKind::Constant(Value::Switch(true)),
            "false" => TokenKind::Constant(Value::Switch(false)),
            _ => TokenKind::Name(word.to_owned()),
        };
        return Ok((kind, length));
    }
    if first == '\'' || first == '"' {
        let inner = rest.get(1..).unwrap_or_default();
        return match inner.find(first) {
            Some(end) => {
                let text = inner.get(..end).unwrap_or_default();
                Ok((TokenKind::Constant(Value::from(text)), end + 2))
            }
            None => Err(ExpressionError::new("this text is never closed", at..at + rest.len())),
        };
    }
    let habit = HABITS
        .iter()
        .find(|(typed, _)| rest.starts_with(typed) && !SYMBOLS.iter().any(|s| rest.starts_with(s)));
    if rest.starts_with("<>") || habit.is_some() {
        let (typed, meant) = habit.copied().unwrap_or(("<>", "!="));
        let error = ExpressionError::new(format!("`{typed}` is not an operator"), at..at + typed.len());
        return Err(error.hint(format!("write `{meant}`")));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => Ok((TokenKind::Symbol(symbol), symbol.len())),
        None => {
            let shown =
                if first.is_control() { "a control character".to_owned() } else { format!("`{first}`") };
            let span = at..at + first.len_utf8();
            Err(ExpressionError::new(format!("{shown} has no meaning in an expression"), span))
        }
    }
}

fn number(rest: &str, at: usize) -> Result<(TokenKind, usize), ExpressionError> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let tail = |from: usize| rest.get(from..).unwrap_or_default();
    let mut length = digits(rest);
    let mut whole = true;
    if tail(length).starts_with('.') {
        whole = false;
        length += 1;
        length += digits(tail(length));
    }
    if tail(length).starts_with(['e', 'E']) {
        let sign = usize::from(tail(length + 1).starts_with(['+', '-']));
        let exponent = digits(tail(length + 1 + sign));
        if exponent > 0 {
            whole = false;
            length += 1 + sign + exponent;
        }
    }
    // `4GiB` and `2x` are mistakes, not a number followed by a name.
    let glued = tail(length).find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail(length).len());
    let text: String = rest.get(..length).unwrap_or_default().chars().filter(|c| *c != '_').collect();
    let value = match whole {
        true => text.parse().ok().map(Value::Integer),
        false => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Float),
    };
    match value {
        Some(value) if glued == 0 => Ok((TokenKind::Constant(value), length)),
        Some(_) => Err(ExpressionError::new("a number cannot end in letters", at..at + length + glued)),
        None => Err(ExpressionError::new("the number is out of range", at..at + length)),
    }
}
