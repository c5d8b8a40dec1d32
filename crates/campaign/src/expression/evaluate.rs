//! Evaluates expressions. Values are borrowed, so that a hundred thousand points cost no allocation.

use std::cmp::Ordering;

use assay_model::Value;

use super::{ExpressionError, Function, NameScope, Node, NodeKind, Operator};
use crate::suggest;

/// A value while it is computed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operand<'a> {
    Integer(i64),
    Float(f64),
    Text(&'a str),
    Switch(bool),
}

impl<'a> Operand<'a> {
    fn of(value: &'a Value) -> Operand<'a> {
        match value {
            Value::Integer(number) => Operand::Integer(*number),
            Value::Float(number) => Operand::Float(*number),
            Value::Text(text) => Operand::Text(text),
            Value::Switch(state) => Operand::Switch(*state),
        }
    }

    pub(super) fn to_value(self) -> Value {
        match self {
            Operand::Integer(number) => Value::Integer(number),
            Operand::Float(number) => Value::Float(number),
            Operand::Text(text) => Value::from(text),
            Operand::Switch(state) => Value::Switch(state),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Operand::Integer(_) => "integer",
            Operand::Float(_) => "number",
            Operand::Text(_) => "text",
            Operand::Switch(_) => "switch",
        }
    }

    /// The kind with its article.
    fn a_kind(self) -> &'static str {
        match self {
            Operand::Integer(_) => "an integer",
            Operand::Float(_) => "a number",
            Operand::Text(_) => "text",
            Operand::Switch(_) => "a boolean",
        }
    }

    fn number(self) -> Option<f64> {
        match self {
            Operand::Integer(number) => Some(number as f64),
            Operand::Float(number) => Some(number),
            Operand::Text(_) | Operand::Switch(_) => None,
        }
    }
}

pub(super) fn value<'a>(node: &'a Node, scope: NameScope<'a>) -> Result<Operand<'a>, ExpressionError> {
    match &node.kind {
        NodeKind::Constant(value) => Ok(Operand::of(value)),
        NodeKind::Name(name) => lookup(name, node, scope),
        NodeKind::Not(inner) => match value(inner, scope)? {
            Operand::Switch(state) => Ok(Operand::Switch(!state)),
            other => Err(needs("`not` needs true or false", other, inner)),
        },
        NodeKind::Negate(inner) => match value(inner, scope)? {
            Operand::Integer(number) => {
                number.checked_neg().map(Operand::Integer).ok_or_else(|| too_large(node))
            }
            Operand::Float(number) => Ok(Operand::Float(-number)),
            other => Err(needs("`-` needs a number", other, inner)),
        },
        NodeKind::Binary(operator @ (Operator::And | Operator::Or), left, right) => {
            let stop = *operator == Operator::Or;
            if logical(left, *operator, scope)? == stop {
                return Ok(Operand::Switch(stop));
            }
            logical(right, *operator, scope).map(Operand::Switch)
        }
        NodeKind::Binary(operator, left, right) => {
            let (a, b) = (value(left, scope)?, value(right, scope)?);
            match operator {
                Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::Remainder => arithmetic(*operator, (a, left), (b, right), node),
                _ => compare(*operator, a, b, node).map(Operand::Switch),
            }
        }
        NodeKind::In(item, list) => {
            let wanted = value(item, scope)?;
            for candidate in list {
                let found = value(candidate, scope)?;
                if compare(Operator::Equal, wanted, found, candidate)? {
                    return Ok(Operand::Switch(true));
                }
            }
            Ok(Operand::Switch(false))
        }
        NodeKind::Call(function, list) => call(*function, list, node, scope),
    }
}

pub(super) fn switch(node: &Node, scope: NameScope<'_>) -> Result<bool, ExpressionError> {
    match value(node, scope)? {
        Operand::Switch(state) => Ok(state),
        other => Err(needs("the expression must be true or false", other, node)),
    }
}

pub(super) fn number(node: &Node, scope: NameScope<'_>) -> Result<f64, ExpressionError> {
    let found = value(node, scope)?;
    found.number().ok_or_else(|| needs("the expression must give a number", found, node))
}

fn lookup<'a>(name: &str, node: &Node, scope: NameScope<'a>) -> Result<Operand<'a>, ExpressionError> {
    if let Some(value) = scope.settings.get(name) {
        return Ok(Operand::of(value));
    }
    if let (Some(platform), "platform") = (scope.platform, name) {
        return Ok(Operand::Text(platform));
    }
    let error = ExpressionError::new(format!("`{name}` is not a setting"), node.span.clone());
    match suggest::hint(name, scope.settings.keys().map(String::as_str)) {
        Some(hint) => Err(error.hint(hint)),
        None => Err(error),
    }
}

fn logical(node: &Node, operator: Operator, scope: NameScope<'_>) -> Result<bool, ExpressionError> {
    match value(node, scope)? {
        Operand::Switch(state) => Ok(state),
        other => Err(needs(&format!("`{}` needs true or false", operator.symbol()), other, node)),
    }
}

fn arithmetic<'a>(
    operator: Operator,
    (a, left): (Operand<'a>, &Node),
    (b, right): (Operand<'a>, &Node),
    node: &Node,
) -> Result<Operand<'a>, ExpressionError> {
    let numbers = |found, place| needs(&format!("`{}` needs numbers", operator.symbol()), found, place);
    let x = a.number().ok_or_else(|| numbers(a, left))?;
    let y = b.number().ok_or_else(|| numbers(b, right))?;
    if matches!(operator, Operator::Divide | Operator::Remainder) && y == 0.0 {
        return Err(ExpressionError::new("division by zero", right.span.clone()));
    }
    if let (Operand::Integer(a), Operand::Integer(b)) = (a, b) {
        let whole = match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            // The remainder has the sign of the divisor's size: never negative, so `% n == k` does what it says.
            Operator::Remainder => a.checked_rem_euclid(b),
            // A division that comes out even stays whole; any other gives a fraction, never a silent round-off.
            _ => match a.checked_rem(b) {
                Some(0) => a.checked_div(b),
                _ => return Ok(Operand::Float(x / y)),
            },
        };
        return whole.map(Operand::Integer).ok_or_else(|| too_large(node));
    }
    let result = match operator {
        Operator::Add => x + y,
        Operator::Subtract => x - y,
        Operator::Multiply => x * y,
        Operator::Remainder => x.rem_euclid(y),
        _ => x / y,
    };
    if result.is_finite() { Ok(Operand::Float(result)) } else { Err(too_large(node)) }
}

fn compare(operator: Operator, a: Operand<'_>, b: Operand<'_>, node: &Node) -> Result<bool, ExpressionError> {
    let order = match (a, b) {
        (Operand::Integer(a), Operand::Integer(b)) => Some(a.cmp(&b)),
        (Operand::Text(a), Operand::Text(b)) => match operator {
            Operator::Equal | Operator::NotEqual => Some(a.cmp(b)),
            _ => {
                return Err(ExpressionError::new("texts have no order: use `==` or `!=`", node.span.clone()));
            }
        },
        (Operand::Switch(a), Operand::Switch(b)) => match operator {
            Operator::Equal | Operator::NotEqual => Some(a.cmp(&b)),
            _ => {
                return Err(ExpressionError::new(
                    "switches have no order: use `==` or `!=`",
                    node.span.clone(),
                ));
            }
        },
        _ => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => {
                let message = format!("{} and {} cannot be compared", a.kind(), b.kind());
                return Err(ExpressionError::new(message, node.span.clone()));
            }
        },
    };
    Ok(match operator {
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::NotEqual => order != Some(Ordering::Equal),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

fn call<'a>(
    function: Function,
    list: &'a [Node],
    node: &Node,
    scope: NameScope<'a>,
) -> Result<Operand<'a>, ExpressionError> {
    let mut best: Option<Operand<'a>> = None;
    for argument in list {
        let found = value(argument, scope)?;
        let Some(number) = found.number() else {
            return Err(needs("the function needs numbers", found, argument));
        };
        let better = match (function, best.and_then(Operand::number)) {
            (_, None) => true,
            (Function::Min, Some(sofar)) => number < sofar,
            (_, Some(sofar)) => number > sofar,
        };
        if better {
            best = Some(found);
        }
    }
    match (function, best) {
        (Function::Abs, Some(Operand::Integer(number))) => {
            number.checked_abs().map(Operand::Integer).ok_or_else(|| too_large(node))
        }
        (Function::Abs, Some(Operand::Float(number))) => Ok(Operand::Float(number.abs())),
        (_, Some(found)) => Ok(found),
        (_, None) => Err(ExpressionError::new("the function needs at least one value", node.span.clone())),
    }
}

fn needs(wanted: &str, found: Operand<'_>, node: &Node) -> ExpressionError {
    ExpressionError::new(format!("{wanted}, not {}", found.a_kind()), node.span.clone())
}

fn too_large(node: &Node) -> ExpressionError {
    ExpressionError::new("the result is too large", node.span.clone())
}
