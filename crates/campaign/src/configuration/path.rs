//! Key paths: `trainer.fit.batch_size`, `callbacks[0].name`, `a."b.c"`.

use std::fmt;

/// The way from the top of a file to one of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath(pub(super) Vec<PathStep>);

/// One step of a key path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

impl KeyPath {
    pub fn parse(text: &str) -> Result<KeyPath, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(tail) = rest.strip_prefix('[') {
                let (digits, tail) = tail.split_once(']').ok_or("`[` is never closed")?;
                let index =
                    digits.trim().parse().map_err(|_| format!("`[{digits}]` is not a place in a list"))?;
                steps.push(PathStep::Index(index));
                rest = tail;
            } else {
                let tail = match (steps.is_empty(), rest.strip_prefix('.')) {
                    (true, _) => rest,
                    (false, Some(tail)) => tail,
                    (false, None) => return Err(format!("a `.` is missing before `{rest}`")),
                };
                let (key, tail) = key(tail)?;
                steps.push(PathStep::Key(key));
                rest = tail;
            }
        }
        if steps.is_empty() { Err("the key path is empty".to_owned()) } else { Ok(KeyPath(steps)) }
    }

    /// Whether one of the two paths leads through the value of the other.
    pub(super) fn overlaps(&self, other: &KeyPath) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }

    pub(super) fn child(&self, step: PathStep) -> KeyPath {
        KeyPath(self.0.iter().cloned().chain([step]).collect())
    }
}

/// Takes one key, quoted or plain, off the front of a path.
fn key(text: &str) -> Result<(String, &str), String> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = text.get(1..).unwrap_or_default();
        let (key, rest) = inner.split_once(quote).ok_or_else(|| format!("{quote} is never closed"))?;
        return Ok((key.to_owned(), rest));
    }
    let end = text.find(['.', '[']).unwrap_or(text.len());
    match text.split_at(end) {
        ("", _) => Err("a key is missing".to_owned()),
        (key, rest) => Ok((key.to_owned(), rest)),
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match step {
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Key(key) if key.is_empty() || key.contains(['.', '[', '"', '\'']) => {
                    let quote = if key.contains('"') { '\'' } else { '"' };
                    write!(f, "{dot}{quote}{key}{quote}")?;
                }
                PathStep::Key(key) => write!(f, "{dot}{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_read_back_and_mistakes_are_named() {
        for text in ["a", "a.b.c", "a[0].b", "[1][2]", "a.\"b.c\".d", "callbacks[0].x-y"] {
            assert_eq!(KeyPath::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "a..b", "a.", ".a", "a[", "a[x]", "a[0]b", "a.\"b"] {
            assert!(KeyPath::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_parses_reads_back(text in ".*") {
            if let Ok(path) = KeyPath::parse(&text) {
                let shown = path.to_string();
                // A key with both kinds of quotes has no spelling; every other reads back as itself.
                if !(text.contains('"') && text.contains('\'')) {
                    prop_assert_eq!(KeyPath::parse(&shown).unwrap(), path);
                }
            }
        }
    }
}
