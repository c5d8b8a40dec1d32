//! The line that each key of a JSON text stands on.

use std::collections::HashMap;

/// More keys than this are not remembered; what lies beyond is cited by the object around it.
const MOST: usize = 100_000;

/// Lines by path: `/benchmarks/0/metrics`.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: HashMap<String, u64>,
}

/// An object or a list that is open, and the length of its path.
enum Open {
    Object { base: usize, key_is_due: bool },
    List { base: usize, index: usize },
}

impl Lines {
    /// Finds all keys of a text that is known to be valid JSON.
    pub(super) fn of(bytes: &[u8]) -> Lines {
        let mut found = Lines::default();
        let mut path = String::new();
        let mut open: Vec<Open> = Vec::new();
        let (mut place, mut line) = (0, 1);
        while let Some(byte) = bytes.get(place) {
            match byte {
                b'\n' => line += 1,
                b'"' => {
                    let end = end_of_string(bytes, place);
                    if let Some(Open::Object { base, key_is_due }) = open.last_mut()
                        && std::mem::take(key_is_due)
                    {
                        path.truncate(*base);
                        path.push('/');
                        path.push_str(&String::from_utf8_lossy(
                            bytes.get(place + 1..end).unwrap_or_default(),
                        ));
                        found.note(&path, line);
                    }
                    place = end;
                }
                b'{' | b'[' => {
                    if let Some(Open::List { base, index }) = open.last() {
                        path.truncate(*base);
                        path.push('/');
                        path.push_str(&index.to_string());
                        found.note(&path, line);
                    }
                    let base = path.len();
                    open.push(match byte {
                        b'{' => Open::Object { base, key_is_due: true },
                        _ => Open::List { base, index: 0 },
                    });
                }
                b'}' | b']' => {
                    if let Some(Open::Object { base, .. } | Open::List { base, .. }) = open.pop() {
                        path.truncate(base);
                    }
                }
                b',' => match open.last_mut() {
                    Some(Open::Object { key_is_due, .. }) => *key_is_due = true,
                    Some(Open::List { index, .. }) => *index += 1,
                    None => {}
                },
                _ => {}
            }
            place += 1;
        }
        found
    }

    /// Entries that stand on lines of their own.
    pub(super) fn of_entries(numbers: &[u64]) -> Lines {
        let lines = numbers.iter().take(MOST).enumerate().map(|(index, line)| (format!("/{index}"), *line));
        Lines { lines: lines.collect() }
    }

    fn note(&mut self, path: &str, line: u64) {
        if self.lines.len() < MOST {
            self.lines.entry(path.to_owned()).or_insert(line);
        }
    }

    /// The line of a path, or else of what is around it.
    pub(super) fn at(&self, path: &str) -> u64 {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return *line;
            }
            match path.rsplit_once('/') {
                Some((around, _)) => path = around,
                None => return 1,
            }
        }
    }
}

/// The place of the quote that ends a string.
pub(super) fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut place = start + 1;
    while let Some(byte) = bytes.get(place) {
        match byte {
            b'"' => return place,
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_have_lines() {
        let lines = Lines::of(b"{\n \"a\": [\n  {\"b\": \"x, \\\"y\\\": {\"},\n  {\"b\": [1, 2],\n   \"c\": {}}\n ],\n \"d\": 1\n}");
        for (path, line) in
            [("/a", 2), ("/a/0/b", 3), ("/a/1/b", 4), ("/a/1/c", 5), ("/d", 7), ("/a/1/none", 4), ("", 1)]
        {
            assert_eq!(lines.at(path), line, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(prop::sample::select(b"{}[]\",:\\a1\n ".to_vec()), 0..80)) {
            let _ = Lines::of(&bytes);
        }
    }
}
