//! Lengths of time as people write them: `90s`, `5 min`, `1 h 30 min`.

use crate::Value;

/// Reads a duration such as `90 s`, `5 min` or `1 h 30 min`; the result is in seconds, finite and above zero.
pub fn parse_duration(text: &str) -> Result<f64, String> {
    const EXAMPLES: &str = "expected e.g. `90s`, `5min` or `1h 30min`";
    let mut seconds = 0.0;
    let mut last = f64::INFINITY;
    for (number, unit) in parts(text).ok_or_else(|| format!("`{text}` is not a duration ({EXAMPLES})"))? {
        let factor = match unit {
            "ms" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            "" => return Err(format!("`{text}` has no unit ({EXAMPLES})")),
            _ => return Err(format!("`{unit}` is not a unit of time; use ms, s, min, h or d")),
        };
        if factor >= last {
            return Err(format!("`{text}` is not a duration: larger units come first, each once"));
        }
        last = factor;
        seconds += number * factor;
    }
    // The bound keeps every later conversion to a system duration valid: three hundred years are enough for a run.
    match seconds > 0.0 && seconds < 1e10 {
        true => Ok(seconds),
        false if seconds == 0.0 => Err(format!("`{text}` is not a valid duration: it must be above zero")),
        false => Err(format!("`{text}` is too long for a duration")),
    }
}

/// The seconds of a setting: a text with units, or a number that is already in seconds.
pub fn seconds(value: &Value) -> Result<f64, String> {
    match value {
        Value::Text(text) => parse_duration(text),
        Value::Switch(_) => Err(format!("`{value}` is not a duration (expected e.g. `90s`)")),
        Value::Integer(_) | Value::Float(_) => match value.number() {
            Some(seconds) if (0.0..1e10).contains(&seconds) => Ok(seconds),
            _ => Err(format!("`{value}` is not a duration (expected e.g. `90s`)")),
        },
    }
}

/// Splits `1 h 30 min` into numbers and unit words. None where there is anything else.
pub fn parts(text: &str) -> Option<Vec<(f64, &str)>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest.get(..digits)?.parse::<f64>().ok()?;
        rest = rest.get(digits..)?.trim_start();
        let word = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        parts.push((number, rest.get(..word)?));
        rest = rest.get(word..)?.trim_start();
    }
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seconds_and_texts_have_units() {
        assert_eq!(seconds(&Value::Integer(2)), Ok(2.0));
        assert_eq!(seconds(&Value::from("200ms")), Ok(0.2));
        for wrong in [Value::from("90"), Value::Float(-1.0), Value::Float(1e11), Value::Switch(true)] {
            assert!(seconds(&wrong).is_err(), "{wrong}");
        }
    }
}
