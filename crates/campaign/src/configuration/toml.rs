//! TOML files as trees with places, from the `toml` parser's own spans.
//!
//! `toml_edit` is not used: it writes the whole document again for every run, while the places found here once are filled
//! in for each of perhaps a hundred thousand runs, by the code that does the same for YAML and JSON.

use toml::de::{DeTable, DeValue};

use super::document::{Document, Node, ValueKind, ValueSpan};

pub(super) fn read(text: &str) -> Result<Document, String> {
    let table = DeTable::parse(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        format!("{} at line {line}", error.message())
    })?;
    let root = Node { kind: map(table.get_ref(), text), place: Err(HEADER), anchor: 0 };
    Ok(Document { root, aliased: Default::default() })
}

const HEADER: &str = "is a table with a header: set the keys below it instead";

fn map(table: &DeTable<'_>, text: &str) -> ValueKind {
    ValueKind::Map(
        table.iter().map(|(key, value)| (Some(key.get_ref().to_string()), node(value, text))).collect(),
    )
}

fn node(value: &toml::Spanned<DeValue<'_>>, text: &str) -> Node {
    let range = value.span();
    let begins = |symbol: char| text.get(range.clone()).is_some_and(|raw| raw.starts_with(symbol));
    let (kind, replaceable) = match value.get_ref() {
        DeValue::String(text) => (ValueKind::Text(text.to_string()), true),
        DeValue::Integer(number) => (ValueKind::Literal(number.to_string()), true),
        DeValue::Float(number) => (ValueKind::Literal(number.to_string()), true),
        DeValue::Boolean(state) => (ValueKind::Literal(state.to_string()), true),
        DeValue::Datetime(date) => (ValueKind::Literal(date.to_string()), true),
        DeValue::Array(items) => {
            let nodes: Vec<Node> = items.iter().map(|item| node(item, text)).collect();
            // `[[name]]` headers make lists too; their tables stand on lines of their own.
            let inline = begins('[') && !nodes.iter().any(|node| node.place.is_err());
            (ValueKind::List(nodes), inline)
        }
        DeValue::Table(table) => (map(table, text), begins('{')),
    };
    let place = if replaceable { Ok(ValueSpan { range, before: "" }) } else { Err(HEADER) };
    Node { kind, place, anchor: 0 }
}
