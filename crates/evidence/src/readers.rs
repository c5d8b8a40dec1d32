//! A set of readers, prepared once and used for any number of files.

use std::sync::Arc;

use crate::dialects::{DIALECTS, Dialect, DialectReader, dialect};
use crate::generic;
use crate::needles::Needles;
use crate::pattern::Pattern;
use crate::user::UserDialect;

/// Readers in the order in which they are believed: the user's patterns, the user's dialects, built-in dialects.
#[derive(Clone)]
pub struct Readers {
    inner: Arc<Inner>,
    /// Whether documents keep the text of their file.
    keeps_source: bool,
}

struct Inner {
    kinds: Vec<Kind>,
    names: Vec<String>,
    needles: Needles,
}

#[derive(Clone)]
enum Kind {
    Pattern(Pattern),
    User(Arc<UserDialect>),
    BuiltIn(&'static Dialect),
}

impl Readers {
    /// Prepares readers. The dialect `auto` stands for all built-in ones; a name that does not exist gives none.
    pub fn new(dialect_name: &str, patterns: &[Pattern], users: &[Arc<UserDialect>]) -> Option<Readers> {
        let built_in = match dialect_name {
            "auto" => DIALECTS.iter().copied().chain([&generic::DIALECT]).collect(),
            name => match dialect(name) {
                Some(dialect) => vec![dialect],
                None if users.iter().any(|user| user.name() == name) => Vec::new(),
                None => return None,
            },
        };
        let kinds: Vec<Kind> = patterns
            .iter()
            .cloned()
            .map(Kind::Pattern)
            .chain(users.iter().cloned().map(Kind::User))
            .chain(built_in.into_iter().map(Kind::BuiltIn))
            .collect();
        let needles = Needles::new(kinds.iter().map(Kind::needles));
        let names = kinds.iter().map(|kind| kind.name().to_owned()).collect();
        Some(Readers { inner: Arc::new(Inner { kinds, names, needles }), keeps_source: false })
    }

    /// All built-in dialects and the user's.
    pub fn all(users: &[Arc<UserDialect>]) -> Readers {
        Readers::new("auto", &[], users).unwrap_or_else(|| Readers {
            inner: Arc::new(Inner {
                kinds: Vec::new(),
                names: Vec::new(),
                needles: Needles::new(std::iter::empty()),
            }),
            keeps_source: false,
        })
    }

    /// The same readers for documents that keep the text of their file.
    pub fn keeping_source(self) -> Readers {
        Readers { keeps_source: true, ..self }
    }

    pub(crate) fn keeps_source(&self) -> bool {
        self.keeps_source
    }

    pub(crate) fn start(&self) -> Vec<Box<dyn DialectReader>> {
        self.inner.kinds.iter().map(Kind::start).collect()
    }

    /// The reader of lines that no other one took.
    pub(crate) fn generic(&self) -> Option<usize> {
        self.inner.names.iter().position(|name| name == generic::DIALECT.name)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.inner.names
    }

    pub(crate) fn needles(&self) -> &Needles {
        &self.inner.needles
    }
}

impl Kind {
    fn name(&self) -> &str {
        match self {
            Kind::Pattern(_) => "pattern",
            Kind::User(user) => user.name(),
            Kind::BuiltIn(dialect) => dialect.name,
        }
    }

    /// What a line must hold; none for every line.
    fn needles(&self) -> Option<Vec<String>> {
        match self {
            Kind::Pattern(_) => None,
            Kind::User(user) => Some(user.needles().to_vec()),
            Kind::BuiltIn(dialect) => {
                Some(dialect.needles.iter().map(|needle| (*needle).to_owned()).collect())
            }
        }
    }

    fn start(&self) -> Box<dyn DialectReader> {
        match self {
            Kind::Pattern(pattern) => pattern.reader(),
            Kind::User(user) => UserDialect::reader(user),
            Kind::BuiltIn(dialect) => (dialect.reader)(),
        }
    }
}
