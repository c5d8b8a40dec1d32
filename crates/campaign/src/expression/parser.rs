//! A Pratt parser: each operator has a strength, and a loop takes operators while they bind strongly enough.

use super::lexer::{self, Token, TokenKind};
use super::{ExpressionError, Function, Node, NodeKind, Operator};
use crate::suggest;

/// Nesting that no person writes. The bound keeps both parsing and evaluation off the end of the stack.
const DEEPEST: usize = 100;

/// How strongly `not` and the sign bind.
const NOT: u8 = 5;
const COMPARE: u8 = 6;
const NEGATE: u8 = 14;

pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    let tokens = lexer::tokens(text)?;
    if tokens.is_empty() {
        return Err(ExpressionError::new("the expression is empty", 0..text.len()));
    }
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len() };
    let (node, _) = parser.expression(0, 0)?;
    match parser.peek() {
        None => Ok(node),
        Some(Token { kind: TokenKind::Symbol(symbol @ (")" | "]")), span }) => {
            Err(ExpressionError::new(format!("`{symbol}` closes nothing"), span.clone()))
        }
        Some(token) => Err(ExpressionError::new("an operator is missing here", token.span.clone())),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    end: usize,
}

/// A node with its height, so that long chains of operators count as deep too.
type Tall = (Node, usize);

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    fn take_symbol(&mut self, wanted: &str) -> bool {
        let found =
            matches!(self.peek(), Some(Token { kind: TokenKind::Symbol(symbol), .. }) if *symbol == wanted);
        self.next += usize::from(found);
        found
    }

    fn too_deep(&self, span: std::ops::Range<usize>) -> ExpressionError {
        ExpressionError::new("the expression is nested too deeply", span)
    }

    fn expression(&mut self, strength: u8, depth: usize) -> Result<Tall, ExpressionError> {
        if depth > DEEPEST {
            let span = self.peek().map_or(self.end..self.end, |token| token.span.clone());
            return Err(self.too_deep(span));
        }
        let (mut left, mut height) = self.operand(depth)?;
        while let Some((infix, bind)) = self.infix() {
            if bind < strength {
                break;
            }
            let token = self.peek().map(|token| token.span.clone()).unwrap_or_default();
            if bind == COMPARE && is_comparison(&left) {
                let error = ExpressionError::new("comparisons cannot be chained", token);
                return Err(error.hint("join two comparisons with `and`"));
            }
            let start = left.span.start;
            let (kind, tallest) = match infix {
                Infix::Operator(operator) => {
                    self.next += 1;
                    let (right, other) = self.expression(bind + 1, depth + 1)?;
                    (NodeKind::Binary(operator, Box::new(left), Box::new(right)), height.max(other))
                }
                Infix::In { negated } => {
                    self.next += 1 + usize::from(negated);
                    let (list, other) = self.list(depth)?;
                    let node = NodeKind::In(Box::new(left), list);
                    let span = start..self.last_end();
                    let kind =
                        if negated { NodeKind::Not(Box::new(Node { kind: node, span })) } else { node };
                    (kind, height.max(other) + 1)
                }
            };
            left = Node { span: start..self.last_end(), kind };
            height = tallest + 1;
            if height > DEEPEST {
                return Err(self.too_deep(left.span));
            }
        }
        Ok((left, height))
    }

    /// The operator that comes next, with its strength.
    fn infix(&self) -> Option<(Infix, u8)> {
        let operator = |operator, strength| Some((Infix::Operator(operator), strength));
        match &self.peek()?.kind {
            TokenKind::Name(word) => match word.as_str() {
                "or" => operator(Operator::Or, 1),
                "and" => operator(Operator::And, 3),
                "in" => Some((Infix::In { negated: false }, COMPARE)),
                "not" => match self.tokens.get(self.next + 1).map(|token| &token.kind) {
                    Some(TokenKind::Name(word)) if word == "in" => {
                        Some((Infix::In { negated: true }, COMPARE))
                    }
                    _ => None,
                },
                _ => None,
            },
            TokenKind::Symbol(symbol) => match *symbol {
                "==" => operator(Operator::Equal, COMPARE),
                "!=" => operator(Operator::NotEqual, COMPARE),
                "<" => operator(Operator::Less, COMPARE),
                "<=" => operator(Operator::LessOrEqual, COMPARE),
                ">" => operator(Operator::Greater, COMPARE),
                ">=" => operator(Operator::GreaterOrEqual, COMPARE),
                "+" => operator(Operator::Add, 8),
                "-" => operator(Operator::Subtract, 8),
                "*" => operator(Operator::Multiply, 10),
                "/" => operator(Operator::Divide, 10),
                "%" => operator(Operator::Remainder, 10),
                _ => None,
            },
            TokenKind::Constant(_) => None,
        }
    }

    /// A value, a bracketed expression, or a sign or `not` before one.
    fn operand(&mut self, depth: usize) -> Result<Tall, ExpressionError> {
        let Some(token) = self.peek() else {
            let message = "the expression ends where a value is needed";
            return Err(ExpressionError::new(message, self.end..self.end));
        };
        let start = token.span.start;
        self.next += 1;
        match &token.kind {
            TokenKind::Constant(value) => {
                Ok((Node { kind: NodeKind::Constant(value.clone()), span: token.span.clone() }, 0))
            }
            TokenKind::Name(word) if word == "not" => {
                let (inner, height) = self.expression(NOT, depth + 1)?;
                Ok((Node { span: start..inner.span.end, kind: NodeKind::Not(Box::new(inner)) }, height + 1))
            }
            TokenKind::Name(word) if matches!(word.as_str(), "and" | "or" | "in") => {
                Err(ExpressionError::new(format!("a value is missing before `{word}`"), token.span.clone()))
            }
            TokenKind::Name(word) => self.name_or_call(word, token, depth),
            TokenKind::Symbol("-") => {
                let (inner, height) = self.expression(NEGATE, depth + 1)?;
                Ok((
                    Node { span: start..inner.span.end, kind: NodeKind::Negate(Box::new(inner)) },
                    height + 1,
                ))
            }
            TokenKind::Symbol("(") => {
                let (inner, height) = self.expression(0, depth + 1)?;
                if !self.take_symbol(")") {
                    return Err(self.unclosed(token));
                }
                Ok((Node { kind: inner.kind, span: start..self.last_end() }, height))
            }
            TokenKind::Symbol(symbol) => {
                let message = format!("a value is needed here, not `{symbol}`");
                Err(ExpressionError::new(message, token.span.clone()))
            }
        }
    }

    fn name_or_call(&mut self, word: &str, token: &'a Token, depth: usize) -> Result<Tall, ExpressionError> {
        let Some(bracket) = self.peek().filter(|next| next.kind == TokenKind::Symbol("(")) else {
            return Ok((Node { kind: NodeKind::Name(word.to_owned()), span: token.span.clone() }, 0));
        };
        let function = match word {
            "min" => Function::Min,
            "max" => Function::Max,
            "abs" => Function::Abs,
            _ => {
                let error = ExpressionError::new(format!("`{word}` is not a function"), token.span.clone());
                let near = suggest::hint(word, ["min", "max", "abs"]);
                return Err(error.hint(near.unwrap_or_default()));
            }
        };
        self.next += 1;
        let (values, height) = self.values(bracket, ")", depth)?;
        let span = token.span.start..self.last_end();
        match (function, values.len()) {
            (Function::Abs, 1) | (Function::Min | Function::Max, 1..) => {
                Ok((Node { kind: NodeKind::Call(function, values), span }, height + 1))
            }
            (Function::Abs, _) => Err(ExpressionError::new("`abs` takes one value", span)),
            _ => Err(ExpressionError::new(format!("`{word}` takes at least one value"), span)),
        }
    }

    fn list(&mut self, depth: usize) -> Result<(Vec<Node>, usize), ExpressionError> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Symbol("[") => {
                self.next += 1;
                self.values(token, "]", depth)
            }
            other => {
                let span = other.map_or(self.end..self.end, |token| token.span.clone());
                let error = ExpressionError::new("`in` needs a list", span);
                Err(error.hint("write for example `batch in [8, 16]`"))
            }
        }
    }

    /// Values between commas, up to the closing bracket. A comma may follow the last one.
    fn values(
        &mut self,
        open: &Token,
        close: &str,
        depth: usize,
    ) -> Result<(Vec<Node>, usize), ExpressionError> {
        let (mut values, mut tallest) = (Vec::new(), 0);
        loop {
            if self.take_symbol(close) {
                return Ok((values, tallest));
            }
            if self.peek().is_none() {
                return Err(self.unclosed(open));
            }
            let (value, height) = self.expression(0, depth + 1)?;
            tallest = tallest.max(height);
            values.push(value);
            if !self.take_symbol(",") && !self.take_symbol(close) {
                return Err(self.unclosed(open));
            } else if self.tokens.get(self.next - 1).is_some_and(|last| last.kind != TokenKind::Symbol(",")) {
                return Ok((values, tallest));
            }
        }
    }

    fn unclosed(&self, open: &Token) -> ExpressionError {
        match self.peek() {
            Some(token) => ExpressionError::new("an operator is missing here", token.span.clone()),
            None => ExpressionError::new("this bracket is never closed", open.span.clone()),
        }
    }

    /// Where the token taken last ends.
    fn last_end(&self) -> usize {
        self.next
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(self.end, |token| token.span.end)
    }
}

enum Infix {
    Operator(Operator),
    In { negated: bool },
}

fn is_comparison(node: &Node) -> bool {
    use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    matches!(
        node.kind,
        NodeKind::Binary(Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual, ..)
            | NodeKind::In(..)
    )
}
