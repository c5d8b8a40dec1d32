//! Equations written out in the text: `3860 blocks x 16 = 61,760 tokens`, `7/39 = 18 %`, `80 GB = 74.5 GiB`.

use assay_model::Source;

use crate::finding::{Level, Operand};
use crate::interval::Interval;
use crate::number::shown;
use crate::quantity::{beginning, ending, leading_number};
use crate::unit::{Unit, leading_unit};
use crate::{Class, Finding};

/// The value of an expression: as written, and in base units.
#[derive(Debug, Clone)]
struct Value {
    written: Interval,
    scaled: Interval,
    unit: Unit,
    operators: usize,
}

/// Checks the equations of a text. `line` gives the source line of a position.
pub fn check(text: &str, file: &str, line: impl Fn(usize) -> u64) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, length) in equals(text) {
        let head = text.get(..at).unwrap_or_default();
        let tail = text.get(at + length..).unwrap_or_default();
        let Some((right, stated)) = right_side(tail) else { continue };
        let Some((left, start)) = left_side(head) else { continue };
        let spelled = length > 1;
        // Without an operator only a conversion is an equation; a price is not one.
        // In `min = 14.6 s max = 17.5 s` a name stands before the sign, in `80 GB = 74.5 GiB` a unit.
        let side = head.get(start..).unwrap_or_default().trim();
        let number = leading_number(side).map_or(0, |number| number.length);
        let bare = side
            .get(number..)
            .and_then(leading_unit)
            .is_some_and(|(_, length)| number + length == side.len());
        let converts = bare
            && left.unit.scale != right.unit.scale
            && left.unit.same_measure(&right.unit)
            && left.unit.same_things(&right.unit)
            && left.unit.counts_nothing()
            && !left.unit.has("money");
        if left.operators == 0 && (spelled || left.unit.is_count() || !converts) {
            continue;
        }
        let formula = format!("{} = {stated}", head.get(start..).unwrap_or_default().trim());
        let source = Source::new(file, line(at));
        let operands = vec![Operand { text: stated.clone(), value: right.scaled.middle(), line: line(at) }];
        let agrees = agree(&left, &right);
        let value = left.written.middle();
        found.push(Finding {
            class: Class::Equation,
            level: if agrees { Level::Supported } else { Level::Contradicted },
            summary: if agrees {
                format!("`{formula}` is right")
            } else {
                format!("`{formula}` is wrong: the left side is {}", shown(value))
            },
            arithmetic: vec![format!("{} = {}", head.get(start..).unwrap_or_default().trim(), shown(value))],
            sources: vec![source],
            operands,
            advice: String::new(),
        });
    }
    found
}

/// Factors by which the two sides may differ because a unit is left out on one of them.
fn factors(left: &Value, right: &Value) -> Vec<f64> {
    let mut factors = vec![1.0];
    let of = |unit: &Unit, index: usize| unit.measure_exponents().get(index).copied().unwrap_or(0) != 0;
    let either = |index: usize| of(&left.unit, index) || of(&right.unit, index);
    if right.unit.percent {
        factors.push(100.0);
    }
    if either(0) {
        factors.extend([60.0, 3600.0, 86_400.0]);
    }
    if either(1) {
        factors.extend([1024.0, 1_048_576.0, 1_073_741_824.0, 8.0]);
    }
    let measured = !left.unit.is_count() || !right.unit.is_count();
    if measured || left.unit.scale != 1.0 || right.unit.scale != 1.0 {
        factors.extend([1e3, 1e6, 1e9, 1e12]);
    }
    factors
}

/// Whether both sides may be one number, as written or in base units, or up to a factor that a unit explains.
fn agree(left: &Value, right: &Value) -> bool {
    let stated = [right.written.widened(0.006), right.scaled.widened(0.006)];
    let computed = [left.written, left.scaled];
    // Whole things that fit: 35.6 GiB / 2.5 GiB = 14.
    let whole = right.written.middle();
    let fitting = left.written.middle();
    if whole.fract() == 0.0 && right.unit.is_count() && (fitting.floor() == whole || fitting.ceil() == whole)
    {
        return true;
    }
    let factors = factors(left, right);
    computed.iter().any(|computed| {
        factors.iter().any(|factor| {
            let up = computed.times(Interval::exact(*factor));
            let down = computed.times(Interval::exact(1.0 / factor));
            stated.iter().any(|stated| stated.meets(up) || stated.meets(down))
        })
    })
}

/// The longest side of an equation that is read, in bytes.
const LONGEST_SIDE: usize = 160;

/// Where a text has an equals sign between two sides, and its length. `is` counts behind an expression.
fn equals(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.match_indices('=') {
        let before = text[..at].chars().next_back();
        let after = text[at + 1..].chars().next();
        let part = |one: Option<char>| one.is_some_and(|one| "=<>!+-*/:≤≥".contains(one));
        if !part(before) && !part(after) {
            found.push((at, 1));
        }
    }
    found.extend(text.match_indices(" is ").map(|(at, is)| (at, is.len())));
    found.sort_unstable();
    found
}

/// The number that a text begins with, and its text.
fn right_side(tail: &str) -> Option<(Value, String)> {
    let body = tail.trim_start();
    let skipped = tail.len() - body.len();
    let bare = body.trim_start_matches(['≈', '~', '$', '€']).trim_start();
    let lead = skipped + body.len() - bare.len();
    // As short as left sides: brackets in brackets are read by recursion.
    let mut parser = Parser { text: beginning(bare, LONGEST_SIDE), at: 0 };
    let value = parser.operand()?;
    // An expression on the right is the left side of the next equation, or no statement of a number.
    let rest = parser.rest().trim_start();
    let goes_on = rest.starts_with(['*', '/', '×', '·', '+', '^', '('])
        || rest.starts_with("x ")
        || rest.starts_with("- ");
    (!goes_on).then(|| (value, tail.get(lead..lead + parser.at).unwrap_or_default().trim().to_owned()))
}

/// The longest expression that a text ends with, and where it begins.
fn left_side(head: &str) -> Option<(Value, usize)> {
    // A line may be as long as a file, and has such a head for each of its equations.
    let near = head.len() - ending(head, LONGEST_SIDE).len();
    let from = head[near..].rfind(['=', ';', ':']).map_or(near, |at| near + at + 1);
    let starts = head[from..].char_indices().map(|(at, one)| (from + at, one)).filter(|(at, one)| {
        let before = head[..*at].chars().next_back();
        let glued = before.is_some_and(|before| before.is_alphanumeric() || ".,_^-/".contains(before));
        (one.is_ascii_digit() || *one == '(') && !glued
    });
    for (start, _) in starts {
        let mut parser = Parser { text: head.get(start..)?, at: 0 };
        if let Some(value) = parser.sum()
            && parser.rest().trim().is_empty()
        {
            // `t_load + 3 x 5 = 20`: what stands before the operator is no number, so the side is not known.
            if continues(head.get(..start)?) {
                return None;
            }
            return Some((value, start));
        }
    }
    None
}

/// Whether a text ends with an operator, so that what follows is only a part of an expression.
fn continues(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.split_whitespace().next_back().unwrap_or_default();
    before.ends_with(['+', '-', '−', '–', '*', '/', '×', '·', '^'])
        || ["x", "plus", "minus", "times", "of", "less"].contains(&word)
}

/// Reads sums of products of numbers with units.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes one of some signs.
    fn sign(&mut self, signs: &[(&str, char)]) -> Option<char> {
        self.skip_spaces();
        let (text, sign) = signs.iter().find(|(text, _)| self.rest().starts_with(text))?;
        self.at += text.len();
        Some(*sign)
    }

    fn sum(&mut self) -> Option<Value> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign(&[("+", '+'), ("- ", '-'), ("− ", '-'), ("– ", '-'), ("−", '-')])
        {
            let other = self.product()?;
            let join =
                |one: Interval, other: Interval| if sign == '+' { one.plus(other) } else { one.minus(other) };
            value = Value {
                written: join(value.written, other.written),
                scaled: join(value.scaled, other.scaled),
                operators: value.operators + other.operators + 1,
                unit: value.unit,
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<Value> {
        let mut value = self.operand()?;
        let signs = [
            ("×", '*'),
            ("*", '*'),
            ("·", '*'),
            ("x ", '*'),
            ("x", '*'),
            ("times ", '*'),
            ("//", '/'),
            ("/", '/'),
        ];
        while let Some(sign) = self.sign(&signs) {
            let other = self.operand()?;
            let join = |one: Interval, other: Interval| {
                if sign == '*' { Some(one.times(other)) } else { one.over(other) }
            };
            value = Value {
                written: join(value.written, other.written)?,
                scaled: join(value.scaled, other.scaled)?,
                operators: value.operators + other.operators + 1,
                unit: value.unit,
            };
        }
        Some(value)
    }

    fn operand(&mut self) -> Option<Value> {
        self.skip_spaces();
        if self.rest().starts_with('(') {
            self.at += 1;
            let value = self.sum()?;
            self.skip_spaces();
            if !self.rest().starts_with(')') {
                return None;
            }
            self.at += 1;
            return Some(value);
        }
        let number = leading_number(self.rest())?;
        self.at += number.length;
        let unit = self.unit();
        // What is counted is exact; what is measured has its digits.
        let half = if number.value.fract() == 0.0 && unit.is_count() { 0.0 } else { number.half_step() };
        let written = Interval::new(number.value - half, number.value + half);
        let scale = if unit.scale == 0.0 { 1.0 } else { unit.scale };
        // A note in brackets behind a number explains it: `2 (K and V)`.
        self.note();
        Some(Value { written, scaled: written.times(Interval::exact(scale)), unit, operators: 0 })
    }

    /// The unit behind a number, with up to two more words.
    fn unit(&mut self) -> Unit {
        let rest = self.rest();
        let body = rest.strip_prefix(' ').unwrap_or(rest);
        if body.starts_with("x ")
            || body.starts_with('×')
            || body.starts_with("times ")
            || body.starts_with("x(")
        {
            return Unit::none();
        }
        if body.starts_with('x') && body[1..].starts_with(|next: char| next.is_ascii_digit()) {
            return Unit::none();
        }
        let Some((unit, length)) = leading_unit(body).filter(|(unit, _)| !unit.times) else {
            return Unit::none();
        };
        self.at += rest.len() - body.len() + length;
        for _ in 0..2 {
            let after = self.rest();
            let word: usize = after.strip_prefix(' ').map_or(0, |word| {
                word.chars().take_while(|one| one.is_alphabetic()).map(char::len_utf8).sum()
            });
            let spelled = after.get(1..1 + word).unwrap_or_default();
            if word < 2 || ["is", "and", "or", "so", "the", "that", "times"].contains(&spelled) {
                break;
            }
            self.at += 1 + word;
        }
        unit
    }

    fn note(&mut self) {
        let rest = self.rest().trim_start();
        if let Some(inner) = rest.strip_prefix('(')
            && let Some(end) = inner.find(')')
            && inner.starts_with(char::is_alphabetic)
            && !inner[..end].contains('(')
        {
            self.at += self.rest().len() - rest.len() + end + 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> Vec<Level> {
        check(text, "a.md", |_| 1).into_iter().map(|finding| finding.level).collect()
    }

    #[test]
    fn right_equations() {
        for text in [
            "3860 blocks x 16 = 61,760 tokens.",
            "2 * 80 * 8 * 128 * 2 B = 327680 B = 320 KiB",
            "bytes/token = 2 (K and V) * 32 * 8 * 128 * 2 = 131072 bytes = 128 KiB",
            "the ideal share is (p-1)/(m+p-1) = 7/39 = 18 %",
            "80 GB = 74.5 GiB",
            "2.4 GHz x 2 FMA units x 16 lanes x 2 flop = 153.6 GFLOP/s",
        ] {
            let found = levels(text);
            assert!(
                !found.is_empty() && found.iter().all(|level| *level == Level::Supported),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn wrong_equations() {
        for text in [
            "3860 blocks x 16 = 86,760 tokens.",
            "7/39 = 11 %",
            "80 GB = 104.3 GiB",
            "19,112 + 6,637 is 35,749",
        ] {
            assert_eq!(levels(text), [Level::Contradicted], "{text}");
        }
    }

    #[test]
    fn what_is_no_equation() {
        for text in [
            "nodes=1   943.2 947.4",
            "lr = 0.1",
            "avg = 15.2s min = 14.6451s max = 17.536s Errors = 0",
            "if epoch % 10 == 9",
            "n = 2048 and m = 3",
            "The year 2024 is 3 years ago",
        ] {
            assert_eq!(levels(text), [], "{text}");
        }
    }
}
