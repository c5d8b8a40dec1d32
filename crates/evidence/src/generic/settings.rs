//! Settings in dumps of arguments: `Namespace(lr=0.1, epochs=5)`, `{'lr': 0.1, 'amp': True}`, `lr=0.1, amp=True`.

use assay_model::Value;

use crate::facts::setting_number;
use crate::text::number;
use crate::writeup::vocabulary::setting_name;

/// More settings of a line than this are not kept.
const MOST_SETTINGS: usize = 200;
/// A longer value is a text that nobody varies.
const LONGEST_VALUE: usize = 120;

/// The settings that a line lists, under their canonical names where they have one, and the values as written.
pub(super) fn listed(text: &str) -> Vec<(String, Value)> {
    let inside = match text.split_once("Namespace(") {
        Some((_, rest)) => rest.trim_end().trim_end_matches(')'),
        None => text.split_once('{').map_or(text, |(_, rest)| rest),
    };
    parts(inside).into_iter().filter_map(setting).take(MOST_SETTINGS).collect()
}

/// A line cut at the commas that stand outside of quotes and brackets.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                found.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    found.extend(text.get(start..));
    found
}

fn setting(part: &str) -> Option<(String, Value)> {
    let place = part.find([':', '='])?;
    let quotes = |letter: char| matches!(letter, '\'' | '"' | '{' | '}' | ' ' | '\t');
    let before = part.get(..place)?.trim_matches(quotes);
    // A timestamp and a level may stand before the first key.
    let key = before.rsplit([' ', '{', '(']).next()?.trim_matches(quotes);
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let named = key.starts_with(char::is_alphabetic) && key.chars().all(plain) && key.len() <= 60;
    let value = part.get(place + 1..)?.trim_matches(quotes);
    if !named || value.is_empty() || value.len() > LONGEST_VALUE {
        return None;
    }
    let spoken = key.replace(['_', '-', '.'], " ");
    let name = setting_name(&spoken).map_or_else(|| key.to_owned(), str::to_owned);
    let value = match value {
        "True" | "true" => Value::Switch(true),
        "False" | "false" => Value::Switch(false),
        "None" | "null" => return None,
        _ => match number(value) {
            Some((value, "")) => setting_number(value),
            _ => Value::from(value),
        },
    };
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        listed(text).into_iter().map(|(name, value)| (name, value.to_string())).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn dumps_of_arguments() {
        assert_eq!(
            read(
                "args: Namespace(lr=0.1, batch_size=32, amp=True, tags=['a', 'b'], resume=None, name='a,b')"
            ),
            pairs(&[
                ("learning_rate", "0.1"),
                ("batch_size", "32"),
                ("amp", "true"),
                ("tags", "['a', 'b']"),
                ("name", "a,b"),
            ])
        );
        assert_eq!(
            read("2024-01-02 10:00:00 INFO {'optimizer': 'adam', 'warmup': 0.05, 'fp16': False}").get(1..),
            Some(pairs(&[("warmup", "0.05"), ("fp16", "false")]).as_slice())
        );
        assert_eq!(read("Namespace("), pairs(&[]));
    }
}
