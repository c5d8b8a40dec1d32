//! The small expression language of `where`, `resources`, `expected` and `gate.where`.
//!
//! It is our own because the crates on offer are heavy or under licenses that do not fit, and because an error must
//! point into the user's line. `or and not`, comparisons, `in [..]`, `+ - * / %`, `min max abs`, numbers, texts,
//! switches and setting names; nothing else, no loops and no side effects.

mod evaluate;
mod lexer;
mod parser;

use std::ops::Range;

use assay_model::{Settings, Value};

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

/// What is wrong with an expression, with the place inside its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the expression's text.
    pub span: Range<usize>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ExpressionError {
    fn new(message: impl Into<String>, span: Range<usize>) -> ExpressionError {
        ExpressionError { message: message.into(), span, hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> ExpressionError {
        self.hint = Some(hint.into());
        self
    }
}

/// What names mean while an expression is evaluated.
#[derive(Debug, Clone, Copy)]
pub struct NameScope<'a> {
    /// The settings of the point.
    pub settings: &'a Settings,
    /// The platform of the cell, where one is known; its name is `platform`.
    pub platform: Option<&'a str>,
}

impl<'a> NameScope<'a> {
    /// A scope that knows only settings.
    pub fn of(settings: &'a Settings) -> NameScope<'a> {
        NameScope { settings, platform: None }
    }
}

/// A part of an expression with its place.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    kind: NodeKind,
    span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum NodeKind {
    Constant(Value),
    Name(String),
    Not(Box<Node>),
    Negate(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    In(Box<Node>, Vec<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Abs,
}

/// Words that cannot be names of settings, because expressions give them a meaning.
pub const WORDS: [&str; 6] = ["and", "or", "not", "in", "true", "false"];

impl Expression {
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        Ok(Expression { text: text.to_owned(), root: parser::parse(text)? })
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names it uses, with their places, in order of appearance.
    pub fn names(&self) -> Vec<(&str, Range<usize>)> {
        let mut names = Vec::new();
        self.root.visit(&mut |node| {
            if let NodeKind::Name(name) = &node.kind {
                names.push((name.as_str(), node.span.clone()));
            }
        });
        names
    }

    pub fn evaluate(&self, scope: NameScope<'_>) -> Result<Value, ExpressionError> {
        evaluate::value(&self.root, scope).map(evaluate::Operand::to_value)
    }

    /// Its value, which must be true or false.
    pub fn holds(&self, scope: NameScope<'_>) -> Result<bool, ExpressionError> {
        evaluate::switch(&self.root, scope)
    }

    /// Its value, which must be a number.
    pub fn number(&self, scope: NameScope<'_>) -> Result<f64, ExpressionError> {
        evaluate::number(&self.root, scope)
    }

    /// The two sides of `a % b == 0` where both are plain names: the check people write for divisibility.
    pub(crate) fn as_divisibility(&self) -> Option<(&str, &str)> {
        let NodeKind::Binary(Operator::Equal, left, right) = &self.root.kind else { return None };
        let NodeKind::Binary(Operator::Remainder, number, divisor) = &left.kind else { return None };
        match (&number.kind, &divisor.kind, &right.kind) {
            (NodeKind::Name(number), NodeKind::Name(divisor), NodeKind::Constant(Value::Integer(0))) => {
                Some((number, divisor))
            }
            _ => None,
        }
    }
}

impl Node {
    fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Node)) {
        see(self);
        match &self.kind {
            NodeKind::Constant(_) | NodeKind::Name(_) => {}
            NodeKind::Not(inner) | NodeKind::Negate(inner) => inner.visit(see),
            NodeKind::Binary(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
            NodeKind::In(item, list) => {
                item.visit(see);
                list.iter().for_each(|node| node.visit(see));
            }
            NodeKind::Call(_, list) => list.iter().for_each(|node| node.visit(see)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settings() -> Settings {
        [
            ("batch", Value::Integer(32)),
            ("tasks", Value::Integer(16)),
            ("rate", Value::Float(0.5)),
            ("mode", Value::from("fast")),
            ("cache", Value::Switch(true)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn value(text: &str) -> Result<Value, ExpressionError> {
        Expression::parse(text)?.evaluate(NameScope { settings: &settings(), platform: Some("local") })
    }

    #[test]
    fn operators_bind_as_expected() {
        for (text, expected) in [
            ("1 + 2 * 3", Value::Integer(7)),
            ("(1 + 2) * 3", Value::Integer(9)),
            ("10 - 2 - 3", Value::Integer(5)),
            ("-2 * -3", Value::Integer(6)),
            ("7 / 2", Value::Float(3.5)),
            ("8 / 2", Value::Integer(4)),
            ("-7 % 4", Value::Integer(1)),
            ("batch % tasks == 0", Value::Switch(true)),
            ("batch == 32 and tasks == 16", Value::Switch(true)),
            ("not cache or mode == 'fast'", Value::Switch(true)),
            ("not (cache and batch > 8)", Value::Switch(false)),
            ("batch in [8, 16, tasks * 2]", Value::Switch(true)),
            ("mode not in ['slow', \"fast\"]", Value::Switch(false)),
            ("max(batch, 40) - min(1, rate)", Value::Float(39.5)),
            ("abs(-3) + abs(2.5)", Value::Float(5.5)),
            ("rate * 1e3 >= 500", Value::Switch(true)),
            ("platform == 'local'", Value::Switch(true)),
            ("false and batch / 0 == 1", Value::Switch(false)),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        for (text, message, place) in [
            ("batch ==", "the expression ends where a value is needed", ""),
            ("batch = 3", "`=` is not an operator", "="),
            ("1 < batch < 3", "comparisons cannot be chained", "<"),
            ("(1 + 2", "this bracket is never closed", "("),
            ("bacth > 1", "`bacth` is not a setting", "bacth"),
            ("mode > 3", "text and integer cannot be compared", "mode > 3"),
            ("batch and true", "`and` needs true or false, not an integer", "batch"),
            ("mode + 1", "`+` needs numbers, not text", "mode"),
            ("batch / (tasks - 16)", "division by zero", "(tasks - 16)"),
            ("batch % 0", "division by zero", "0"),
            ("sqrt(4)", "`sqrt` is not a function", "sqrt"),
            ("abs(1, 2)", "`abs` takes one value", "abs(1, 2)"),
            ("'open", "this text is never closed", "'open"),
            ("batch in 3", "`in` needs a list", "3"),
            ("1 2", "an operator is missing here", "2"),
            ("9223372036854775807 + 1", "the result is too large", "9223372036854775807 + 1"),
            ("batch && cache", "`&&` is not an operator", "&&"),
            ("", "the expression is empty", ""),
        ] {
            let error = value(text).expect_err(text);
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!(&text[error.span.clone()], place, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
        assert!(value(&text).unwrap_err().message.contains("nested too deeply"));
        assert!(value(&"not ".repeat(10_000)).is_err());
        assert!(value(&"-".repeat(10_000)).is_err());
        let sum = vec!["1"; 5_000].join(" + ");
        assert!(value(&sum).unwrap_err().message.contains("nested too deeply"));
    }

    #[test]
    fn divisibility_is_recognised() {
        let expression = Expression::parse("batch % tasks == 0").unwrap();
        assert_eq!(expression.as_divisibility(), Some(("batch", "tasks")));
        assert_eq!(Expression::parse("batch % 4 == 0").unwrap().as_divisibility(), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = value(&text);
        }

        #[test]
        fn nothing_made_of_our_own_words_panics(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "batch", "mode", "cache", "rate", "nobody", "1", "0", "2.5", "'x'", "+", "-", "*", "/", "%", "==",
                    "<", "and", "or", "not", "in", "[", "]", "(", ")", ",", "min", "max", "abs", "true",
                    "9223372036854775807",
                ]),
                0..24,
            )
        ) {
            let text = words.join(" ");
            if let Err(error) = value(&text) {
                prop_assert!(text.get(error.span).is_some());
            }
        }
    }
}
