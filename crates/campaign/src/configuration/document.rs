//! A file as a tree of values with their places: the same for YAML, JSON and TOML.

use std::collections::BTreeSet;
use std::ops::Range;

use super::path::{KeyPath, PathStep};
use crate::suggest;

/// A whole file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Node,
    /// The anchors that aliases refer to.
    pub(super) aliased: BTreeSet<usize>,
}

/// One value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: ValueKind,
    /// What to replace to set the value; or why it cannot be replaced.
    pub(super) place: Result<ValueSpan, &'static str>,
    /// The anchor it has; 0 for none.
    pub(super) anchor: usize,
}

/// The bytes that make up a value.
#[derive(Debug, Clone)]
pub(super) struct ValueSpan {
    pub(super) range: Range<usize>,
    /// What must stand before a new value, where the old place has no room for one.
    pub(super) before: &'static str,
}

#[derive(Debug, Clone)]
pub(super) enum ValueKind {
    /// A number, a switch or nothing, as written.
    Literal(String),
    Text(String),
    List(Vec<Node>),
    /// Keys that are not plain text have no name and cannot be reached.
    Map(Vec<(Option<String>, Node)>),
    /// A reference to an anchor.
    Alias(usize),
}

impl ValueKind {
    /// Whether two values are the same, wherever they stand.
    pub(super) fn same(&self, other: &ValueKind) -> bool {
        match (self, other) {
            (ValueKind::Literal(a), ValueKind::Literal(b)) | (ValueKind::Text(a), ValueKind::Text(b)) => {
                a == b
            }
            (ValueKind::Alias(a), ValueKind::Alias(b)) => a == b,
            (ValueKind::List(a), ValueKind::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.kind.same(&b.kind))
            }
            (ValueKind::Map(a), ValueKind::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.kind.same(&b.1.kind))
            }
            _ => false,
        }
    }
}

/// Why a key path leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Document {
    /// The value at the end of a path, if it may be replaced.
    pub(super) fn find(&self, path: &KeyPath) -> Result<&Node, Lost> {
        let mut node = &self.root;
        let mut walked = KeyPath(Vec::new());
        for step in &path.0 {
            self.refuse_shared(node, &walked)?;
            node = self.step(node, step, &walked, path)?;
            walked = walked.child(step.clone());
        }
        self.refuse_shared(node, &walked)?;
        Ok(node)
    }

    fn refuse_shared(&self, node: &Node, walked: &KeyPath) -> Result<(), Lost> {
        match node.anchor != 0 && self.aliased.contains(&node.anchor) {
            false => Ok(()),
            true => Err(Lost {
                message: format!(
                    "`{walked}` has an anchor that is used elsewhere: setting it would change those places too"
                ),
                hint: Some("write the value out where it is used instead of the alias".to_owned()),
            }),
        }
    }

    fn step<'a>(
        &self,
        node: &'a Node,
        step: &PathStep,
        walked: &KeyPath,
        path: &KeyPath,
    ) -> Result<&'a Node, Lost> {
        let lost = |message: String, hint| Err(Lost { message, hint });
        let shown = if walked.0.is_empty() { "the file".to_owned() } else { format!("`{walked}`") };
        match (&node.kind, step) {
            (ValueKind::Map(entries), PathStep::Key(key)) => {
                let mut found = entries.iter().filter(|(name, _)| name.as_ref() == Some(key));
                match (found.next(), found.next()) {
                    (Some((_, value)), None) => Ok(value),
                    (Some(_), Some(_)) => lost(
                        format!("`{key}` appears twice in {shown}: it is not clear which one to set"),
                        Some("remove one of the two from the base file".to_owned()),
                    ),
                    (None, _) => {
                        let merged = entries.iter().any(|(name, _)| name.as_deref() == Some("<<"));
                        let hint = match merged {
                            true => Some(format!(
                                "{shown} takes keys over by `<<`; write `{key}` there itself to have it set"
                            )),
                            false => self.nearest_path(path),
                        };
                        lost(format!("{shown} has no key `{key}`"), hint)
                    }
                }
            }
            (ValueKind::List(items), PathStep::Index(index)) => match items.get(*index) {
                Some(item) => Ok(item),
                None => lost(
                    format!("{shown} has no element [{index}]"),
                    Some(format!("it has {} elements, counted from 0", items.len())),
                ),
            },
            (ValueKind::Alias(_), _) => lost(
                format!("{shown} is an alias of a value that is defined elsewhere"),
                Some("write the value out in place of the alias, or set it at the anchor".to_owned()),
            ),
            (ValueKind::List(_), PathStep::Key(_)) => {
                lost(format!("{shown} is a list"), Some("write the place as [0], [1], …".to_owned()))
            }
            (ValueKind::Map(_), PathStep::Index(_)) => lost(format!("{shown} is a table, not a list"), None),
            _ => lost(format!("{shown} is a single value and has nothing below it"), self.nearest_path(path)),
        }
    }

    /// The existing paths nearest to a wrong one: those with the same last key, else the one with the nearest text.
    fn nearest_path(&self, wanted: &KeyPath) -> Option<String> {
        const LOOKED_AT: usize = 5_000;
        let mut paths = Vec::new();
        self.root.paths(&KeyPath(Vec::new()), LOOKED_AT, &mut paths);
        let shown: Vec<String> = paths.iter().map(KeyPath::to_string).collect();
        let near = suggest::nearest(&wanted.to_string(), shown.iter().map(String::as_str))
            .map(|name| format!("did you mean `{name}`?"));
        let same: Vec<&str> = paths
            .iter()
            .zip(&shown)
            .filter(|(path, _)| path.0.last() == wanted.0.last())
            .map(|(_, text)| text.as_str())
            .collect();
        match suggest::list(&same) {
            Some(names) => Some(format!("the file has {names}")),
            None if near.is_some() => near,
            None => {
                let top: Vec<&str> = paths
                    .iter()
                    .zip(&shown)
                    .filter(|(path, _)| path.0.len() == 1)
                    .map(|(_, text)| text.as_str())
                    .collect();
                suggest::list(&top).map(|names| format!("the file has {names}"))
            }
        }
    }
}

impl Node {
    fn paths(&self, here: &KeyPath, limit: usize, into: &mut Vec<KeyPath>) {
        let mut visit = |step: PathStep, node: &Node| {
            if into.len() < limit {
                let path = here.child(step);
                into.push(path.clone());
                node.paths(&path, limit, into);
            }
        };
        match &self.kind {
            ValueKind::Map(entries) => {
                for (key, value) in entries {
                    if let Some(key) = key {
                        visit(PathStep::Key(key.clone()), value);
                    }
                }
            }
            ValueKind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    visit(PathStep::Index(index), item);
                }
            }
            ValueKind::Literal(_) | ValueKind::Text(_) | ValueKind::Alias(_) => {}
        }
    }
}
