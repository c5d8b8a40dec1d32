//! JSON files as trees with places. The text is checked by `serde_json` first; this scanner only finds the places,
//! so that everything that is not set keeps its spelling.

use super::document::{Document, Node, ValueKind, ValueSpan};

pub(super) fn read(text: &str) -> Result<Document, String> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| error.to_string())?;
    let mut scanner = Scanner { text, at: 0 };
    let root = scanner.value().ok_or("the file cannot be read as JSON")?;
    Ok(Document { root, aliased: Default::default() })
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips white space and takes one symbol if it comes next.
    fn take(&mut self, symbol: char) -> bool {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let found = self.rest().starts_with(symbol);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Option<Node> {
        let open = self.take('{');
        let start = self.at - usize::from(open);
        let kind = if open {
            self.map()?
        } else if self.take('[') {
            self.list()?
        } else if self.rest().starts_with('"') {
            ValueKind::Text(self.string()?)
        } else {
            let length =
                self.rest().find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(self.rest().len());
            let literal = self.rest().get(..length)?;
            self.at += length;
            ValueKind::Literal(literal.to_owned())
        };
        Some(Node { kind, place: Ok(ValueSpan { range: start..self.at, before: "" }), anchor: 0 })
    }

    fn map(&mut self) -> Option<ValueKind> {
        let mut entries = Vec::new();
        while !self.take('}') {
            self.take(',');
            self.take('"').then(|| self.at -= 1)?;
            let key = self.string()?;
            self.take(':').then_some(())?;
            entries.push((Some(key), self.value()?));
        }
        Some(ValueKind::Map(entries))
    }

    fn list(&mut self) -> Option<ValueKind> {
        let mut items = Vec::new();
        while !self.take(']') {
            self.take(',');
            items.push(self.value()?);
        }
        Some(ValueKind::List(items))
    }

    /// A string at the current place, escapes resolved.
    fn string(&mut self) -> Option<String> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.bytes().enumerate().skip(1).find_map(|(index, byte)| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes.then_some(index + 1)
        })?;
        self.at += end;
        serde_json::from_str(rest.get(..end)?).ok()
    }
}
