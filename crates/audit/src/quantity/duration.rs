//! Durations of several parts: `1 h 05 min`, `3 m 05 s`, `2 hours and 5 minutes`.

use super::leading_number;
use crate::unit::{Unit, leading_unit};

/// A duration of several parts at the beginning of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Duration {
    pub seconds: f64,
    /// Half of what its last part resolves, in seconds.
    pub half_step: f64,
    /// The unit of its first part.
    pub unit: Unit,
    /// How many bytes it takes.
    pub length: usize,
}

/// One number with its unit of time.
struct Part {
    value: f64,
    step: f64,
    unit: Unit,
    /// The letter `m`, which is a minute only between others.
    is_letter: bool,
    length: usize,
}

/// Reads the duration of several parts at the beginning of a text, each smaller than the one before.
pub fn leading_duration(text: &str) -> Option<Duration> {
    let first = part(text)?;
    let mut found = Duration {
        seconds: first.value * first.unit.scale,
        half_step: 0.0,
        unit: first.unit.clone(),
        length: first.length,
    };
    let mut last = first;
    let mut parts = 1;
    // What has decimals is not divided further.
    while last.step >= 1.0 {
        let rest = text.get(found.length..)?;
        let (joint, next) = behind_joint(rest);
        let Some(next) =
            part(next).map(|part| Part { length: part.length + rest.len() - next.len(), ..part })
        else {
            break;
        };
        let joined = !joint || !last.is_letter && !next.is_letter;
        let seconds = next.value * next.unit.scale;
        if !joined || next.unit.scale >= last.unit.scale || seconds >= last.unit.scale {
            break;
        }
        found.seconds += seconds;
        found.half_step = 0.5 * next.step * next.unit.scale;
        found.length += next.length;
        parts += 1;
        last = next;
    }
    let ends = !text.get(found.length..)?.starts_with(|one: char| one.is_alphanumeric() || one == '/');
    (parts >= 2 && ends).then_some(found)
}

/// What follows the space, the comma or the `and` between two parts, and whether there is more than a space.
fn behind_joint(text: &str) -> (bool, &str) {
    let text = text.trim_start();
    let behind = text.strip_prefix(',').unwrap_or(text).trim_start();
    let behind = behind.strip_prefix("and ").unwrap_or(behind).trim_start();
    (behind.len() < text.len(), behind)
}

fn part(text: &str) -> Option<Part> {
    let number = leading_number(text)?;
    let tail = text.get(number.length..)?;
    let name = tail.trim_start();
    let end = name.find(|one: char| !one.is_alphabetic()).unwrap_or(name.len());
    let spelled = match &name[..end] {
        "m" => "min",
        "d" => "days",
        spelled => spelled,
    };
    let (unit, length) = leading_unit(spelled)?;
    let length = (unit.is_time() && length == spelled.len()).then_some(end)?;
    Some(Part {
        value: number.value,
        step: number.step,
        unit,
        is_letter: &name[..end] == "m",
        length: number.length + (tail.len() - name.len()) + length,
    })
}
