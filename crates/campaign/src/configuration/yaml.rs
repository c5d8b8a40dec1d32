//! YAML files as trees with places, from the markers of the parser's events.

use std::collections::BTreeSet;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::document::{Document, Node, ValueKind, ValueSpan};

/// Deeper files are refused, so that a hostile one cannot exhaust the stack when its tree is walked.
const DEEPEST: usize = 200;

pub(super) fn read(text: &str) -> Result<Document, String> {
    let mut builder = Builder::new(text);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let place = error.marker();
            format!("{} at line {} column {}", error.info(), place.line(), place.col() + 1)
        })?;
        builder.event(event, span)?;
    }
    match (builder.documents, builder.root) {
        (1, Some(root)) => Ok(Document { root, aliased: builder.aliased }),
        (0, _) | (_, None) => Err("the file is empty".to_owned()),
        (count, _) => Err(format!("the file holds {count} documents; split it into one file each")),
    }
}

struct Builder<'a> {
    text: &'a str,
    /// Byte positions by character, for files that are not plain ASCII: the parser counts characters.
    bytes: Option<Vec<usize>>,
    open: Vec<OpenNode>,
    root: Option<Node>,
    aliased: BTreeSet<usize>,
    documents: usize,
}

/// A list or map that is not finished.
struct OpenNode {
    kind: OpenKind,
    start: usize,
    anchor: usize,
    /// Where its last value ends.
    end: usize,
}

enum OpenKind {
    List(Vec<Node>),
    Map(Vec<(Option<String>, Node)>, Option<Key>),
}

/// A key that waits for its value.
struct Key {
    name: Option<String>,
    end: usize,
}

/// A value that an event finished.
struct Finished {
    kind: ValueKind,
    start: usize,
    end: usize,
    anchor: usize,
    /// Whether it is written over lines of its own: a block scalar, list or map.
    block: bool,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str) -> Builder<'a> {
        let bytes = (!text.is_ascii())
            .then(|| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect::<Vec<usize>>());
        Builder { text, bytes, open: Vec::new(), root: None, aliased: BTreeSet::new(), documents: 0 }
    }

    fn byte(&self, index: usize) -> usize {
        match &self.bytes {
            Some(bytes) => bytes.get(index).copied().unwrap_or(self.text.len()),
            None => index.min(self.text.len()),
        }
    }

    /// Where a span ends, white space after the value left out.
    fn end(&self, start: usize, end: usize) -> usize {
        start + self.text.get(start..end).unwrap_or_default().trim_end().len()
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        let (start, end) = (self.byte(span.start.index()), self.byte(span.end.index()));
        match event {
            Event::DocumentStart(_) => self.documents += 1,
            Event::Alias(anchor) => {
                self.aliased.insert(anchor);
                let end = self.end(start, end);
                self.finish(Finished { kind: ValueKind::Alias(anchor), start, end, anchor: 0, block: false });
            }
            Event::Scalar(value, style, anchor, _) => {
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let kind = match style {
                    ScalarStyle::Plain if !is_plain_text(&value) => ValueKind::Literal(value.into_owned()),
                    _ => ValueKind::Text(value.into_owned()),
                };
                self.finish(Finished { kind, start, end: self.end(start, end), anchor, block });
            }
            Event::SequenceStart(anchor, _) => {
                self.begin(OpenNode { kind: OpenKind::List(Vec::new()), start, anchor, end })?;
            }
            Event::MappingStart(anchor, _) => {
                self.begin(OpenNode { kind: OpenKind::Map(Vec::new(), None), start, anchor, end })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn begin(&mut self, open: OpenNode) -> Result<(), String> {
        self.open.push(open);
        if self.open.len() > DEEPEST {
            return Err(format!("the file is nested more than {DEEPEST} levels deep"));
        }
        Ok(())
    }

    fn close(&mut self, start: usize, end: usize) {
        let Some(open) = self.open.pop() else { return };
        // Only `]` and `}` take up room; a block ends where its last value ends.
        let block = start == end;
        let kind = match open.kind {
            OpenKind::List(items) => ValueKind::List(items),
            OpenKind::Map(entries, _) => ValueKind::Map(entries),
        };
        let end = if block { self.end(open.start, open.end) } else { end };
        self.finish(Finished { kind, start: open.start, end, anchor: open.anchor, block });
    }

    /// Hands a finished value to the list or map around it.
    fn finish(&mut self, value: Finished) {
        let key_end = match self.open.last() {
            Some(OpenNode { kind: OpenKind::Map(_, Some(key)), .. }) => Some(key.end),
            _ => None,
        };
        let place = self.place(&value, key_end);
        let node = Node { kind: value.kind, place, anchor: value.anchor };
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.end = open.end.max(value.end);
        match &mut open.kind {
            OpenKind::List(items) => items.push(node),
            OpenKind::Map(entries, key @ Some(_)) => {
                let name = key.take().and_then(|key| key.name);
                entries.push((name, node));
            }
            OpenKind::Map(_, key @ None) => {
                let name = match node.kind {
                    ValueKind::Literal(text) | ValueKind::Text(text) => Some(text),
                    _ => None,
                };
                *key = Some(Key { name, end: value.end });
            }
        }
    }

    /// What has to be replaced to set the value.
    fn place(&self, value: &Finished, key_end: Option<usize>) -> Result<ValueSpan, &'static str> {
        let empty = value.start >= value.end;
        if !value.block && !empty {
            return Ok(ValueSpan { range: value.start..value.end, before: "" });
        }
        // Blocks and absent values have no bounds of their own: they begin behind the colon of their key.
        if let Some(key_end) = key_end {
            let rest = self.text.get(key_end..).unwrap_or_default();
            let colon = key_end + (rest.len() - rest.trim_start().len());
            if self.text.get(colon..).is_some_and(|rest| rest.starts_with(':')) {
                let start = colon + 1;
                let end = if empty && !value.block { start } else { self.end(start, value.end.max(start)) };
                return Ok(ValueSpan { range: start..end, before: " " });
            }
        }
        match value.kind {
            ValueKind::Map(_) if key_end.is_none() && !empty => {
                Ok(ValueSpan { range: value.start..value.end, before: "" })
            }
            _ => Err(
                "is written in a way that cannot be replaced in place: write it on one line in the base file",
            ),
        }
    }
}

/// Whether a plain scalar is certainly text, for YAML 1.1 and 1.2 readers alike. Everything else is quoted when
/// written, so that `no`, `1e-5` or `2020-01-01` stay text.
pub(super) fn is_plain_text(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    const MEANT_OTHERWISE: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(word)
        && !MEANT_OTHERWISE.contains(&text.to_ascii_lowercase().as_str())
}

/// A number with a fraction so that every YAML reader takes it as a number: YAML 1.1 readers, PyYAML among them, need
/// a point and a signed exponent and read `1e-5` as text.
pub(super) fn float(number: f64) -> String {
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
        None => text,
    }
}
