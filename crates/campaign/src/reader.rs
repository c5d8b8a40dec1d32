//! Walks TOML tables. A table remembers which keys were asked for, so that whatever is left over is unknown and can
//! be reported with the nearest known key; problems are collected, never returned, so that one pass finds them all.

use std::cell::RefCell;
use std::ops::Range;

use assay_model::Value;
use toml::de::{DeTable, DeValue};

use crate::problem::Problem;
use crate::suggest;

/// Collects problems while a file is read.
pub(crate) struct Collector<'a> {
    /// The file's text; none for a campaign built in code.
    text: Option<&'a str>,
    list: RefCell<Vec<Problem>>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(text: &'a str) -> Collector<'a> {
        Collector { text: Some(text), list: RefCell::new(Vec::new()) }
    }

    /// For a campaign that comes from flags: there is no file whose lines could be shown.
    pub(crate) fn for_flags() -> Collector<'a> {
        Collector { text: None, list: RefCell::new(Vec::new()) }
    }

    pub(crate) fn is_file(&self) -> bool {
        self.text.is_some()
    }

    pub(crate) fn add(&self, problem: Problem) {
        self.list.borrow_mut().push(problem);
    }

    pub(crate) fn into_list(self) -> Vec<Problem> {
        self.list.into_inner()
    }
}

/// Reads a file as one table. What cannot be read is reported and left out; the rest is still walked.
pub(crate) fn parse<'a>(text: &'a str, problems: &Collector<'_>) -> toml::Spanned<DeTable<'a>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        let span = error.span().unwrap_or(0..0);
        problems.add(Problem::error(message).at(span).label("not valid TOML"));
    }
    table
}

/// Text from the file, with the place it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpannedText {
    /// The text, escapes resolved.
    pub(crate) value: String,
    /// The whole place, quotes included.
    pub(crate) span: Range<usize>,
    /// Where the text itself starts; none where escapes make positions differ.
    pub(crate) inner: Option<usize>,
}

impl SpannedText {
    fn new(value: &str, span: Range<usize>, source: &str) -> SpannedText {
        let raw = source.get(span.clone()).unwrap_or_default();
        // The text begins one or three quotes into the place (and after a line break in the longer form).
        let inner = [1, 3, 4, 5].into_iter().find(|skip| {
            raw.get(*skip..).is_some_and(|rest| {
                rest.starts_with(value) && rest.len() - value.len() == if *skip == 1 { 1 } else { 3 }
            })
        });
        SpannedText { value: value.to_owned(), inner: inner.map(|skip| span.start + skip), span }
    }

    /// Text that does not come from a file.
    pub(crate) fn given(value: &str) -> SpannedText {
        SpannedText { value: value.to_owned(), span: 0..0, inner: None }
    }

    /// The place in the file of a part of the text.
    pub(crate) fn part(&self, part: Range<usize>) -> Range<usize> {
        match self.inner {
            Some(start) => start + part.start..start + part.end,
            None => self.span.clone(),
        }
    }
}

/// One value of the file: what it is, where it is, and what it is called in messages.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) value: &'a DeValue<'a>,
    pub(crate) span: Range<usize>,
    pub(crate) key_span: Range<usize>,
    /// The dotted name of the key, for messages.
    pub(crate) name: String,
    problems: &'a Collector<'a>,
}

impl<'a> Item<'a> {
    /// Reports that the value has the wrong type.
    pub(crate) fn wrong(&self, wanted: &str) {
        let found = kind(self.value);
        let problem =
            Problem::error(format!("`{}` must be {wanted}, not {found}", self.name)).at(self.span.clone());
        self.problems.add(problem.label(format!("{found} here")));
    }

    /// Reports a problem about the value.
    pub(crate) fn problem(&self, message: impl Into<String>) {
        self.problems.add(Problem::error(message).at(self.span.clone()));
    }

    pub(crate) fn text(&self) -> Option<SpannedText> {
        match self.value.as_str() {
            Some(text) => {
                Some(SpannedText::new(text, self.span.clone(), self.problems.text.unwrap_or_default()))
            }
            None => {
                self.wrong("text");
                None
            }
        }
    }

    pub(crate) fn switch(&self) -> Option<bool> {
        let found = self.value.as_bool();
        if found.is_none() {
            self.wrong("true or false");
        }
        found
    }

    /// Any finite number.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.value {
            DeValue::Integer(_) | DeValue::Float(_) => self.scalar().and_then(|value| value.number()),
            _ => {
                self.wrong("a number");
                None
            }
        }
    }

    /// An integer in a range.
    pub(crate) fn whole(&self, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let DeValue::Integer(_) = self.value else {
            self.wrong("an integer");
            return None;
        };
        let Value::Integer(number) = self.scalar()? else { return None };
        if range.contains(&number) {
            return Some(number);
        }
        let (low, high) = (range.start(), range.end());
        let bounds = if *high == i64::MAX { format!("{low} or more") } else { format!("{low} to {high}") };
        self.problem(format!("`{}` must be {bounds}, not {number}", self.name));
        None
    }

    /// A value that a setting can have.
    pub(crate) fn scalar(&self) -> Option<Value> {
        match self.value {
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(number) => Some(Value::Integer(number)),
                Err(_) => {
                    self.problem(format!("`{}`: the integer does not fit in 64 bits", self.name));
                    None
                }
            },
            DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Some(Value::Float(number)),
                _ => {
                    self.problem(format!("`{}` must be a finite number", self.name));
                    None
                }
            },
            DeValue::String(text) if text.contains('\0') => {
                self.problem(format!("`{}` holds a NUL character, which no command can take", self.name));
                None
            }
            DeValue::String(text) => Some(Value::Text(text.clone().into_owned())),
            DeValue::Boolean(state) => Some(Value::Switch(*state)),
            _ => {
                self.wrong("a number, text, true or false");
                None
            }
        }
    }

    /// The elements of a list.
    pub(crate) fn list(&self, wanted: &str) -> Option<Vec<Item<'a>>> {
        let Some(elements) = self.value.as_array() else {
            self.wrong(wanted);
            return None;
        };
        let item = |element: &'a toml::Spanned<DeValue<'a>>| Item {
            value: element.get_ref(),
            span: element.span(),
            key_span: self.key_span.clone(),
            name: self.name.clone(),
            problems: self.problems,
        };
        Some(elements.iter().map(item).collect())
    }

    /// The texts of a list of texts.
    pub(crate) fn texts(&self) -> Option<Vec<SpannedText>> {
        Some(self.list("a list of texts")?.iter().filter_map(Item::text).collect())
    }

    pub(crate) fn table(&self) -> Option<Table<'a>> {
        match self.value.as_table() {
            Some(entries) => Some(Table::new(entries, self.span.clone(), &self.name, self.problems)),
            None => {
                self.wrong("a table");
                None
            }
        }
    }

    /// The tables of a list of tables.
    pub(crate) fn tables(&self) -> Vec<Table<'a>> {
        let wanted = format!("a list of tables, written [[{}]]", self.name);
        self.list(&wanted).unwrap_or_default().iter().filter_map(Item::table).collect()
    }
}

/// The word for a TOML value in messages.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// One table of the file.
pub(crate) struct Table<'a> {
    entries: &'a DeTable<'a>,
    pub(crate) span: Range<usize>,
    path: String,
    known: Vec<&'static str>,
    problems: &'a Collector<'a>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(
        entries: &'a DeTable<'a>,
        span: Range<usize>,
        path: &str,
        problems: &'a Collector<'a>,
    ) -> Table<'a> {
        Table { entries, span, path: path.to_owned(), known: Vec::new(), problems }
    }

    fn item(
        &self,
        key: &'a toml::Spanned<toml::de::DeString<'a>>,
        value: &'a toml::Spanned<DeValue<'a>>,
    ) -> Item<'a> {
        let dot = if self.path.is_empty() { "" } else { "." };
        Item {
            value: value.get_ref(),
            span: value.span(),
            key_span: key.span(),
            name: format!("{}{dot}{}", self.path, key.get_ref()),
            problems: self.problems,
        }
    }

    /// The value of a key, if the file gives it. The key counts as known from here on.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.known.push(key);
        let (key, value) = self.entries.get_key_value(key)?;
        Some(self.item(key, value))
    }

    /// The value of a key, which stays unknown until it is asked for by `get`.
    pub(crate) fn peek(&self, key: &str) -> Option<Item<'a>> {
        let (key, value) = self.entries.get_key_value(key)?;
        Some(self.item(key, value))
    }

    /// All entries in the order of the file: for tables whose keys the user chooses.
    pub(crate) fn entries(&self) -> Vec<(SpannedText, Item<'a>)> {
        let mut entries: Vec<(SpannedText, Item<'a>)> = self
            .entries
            .iter()
            .map(|(key, value)| {
                let name =
                    SpannedText { value: key.get_ref().clone().into_owned(), span: key.span(), inner: None };
                (name, self.item(key, value))
            })
            .collect();
        entries.sort_by_key(|(name, _)| name.span.start);
        entries
    }

    /// Reports a problem about the whole table.
    pub(crate) fn problem(&self, problem: Problem) {
        self.problems.add(problem.at(self.span.clone()));
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(self) {
        for (key, _) in self.entries() {
            if self.known.contains(&key.value.as_str()) {
                continue;
            }
            let place = if self.path.is_empty() { "the file".to_owned() } else { format!("[{}]", self.path) };
            let near = suggest::nearest(&key.value, self.known.iter().copied());
            let hint = match (near, home(&key.value, &self.path)) {
                (Some(name), _) => format!("did you mean `{name}`?"),
                (None, Some("")) => {
                    format!("`{}` goes at the top of the file, before the first [table]", key.value)
                }
                (None, Some(table)) => format!("`{}` goes under [{table}]", key.value),
                (None, None) => match suggest::list(&self.known) {
                    Some(names) => format!("{place} takes {names}"),
                    None => format!("{place} takes no keys"),
                },
            };
            let problem = Problem::error(format!("unknown key `{}` in {place}", key.value)).at(key.span);
            self.problems.add(problem.label("not a key here").hint(hint));
        }
    }
}

/// Where a key belongs that stands in the wrong table. TOML puts every key under the last header above it, so a key
/// in the wrong place is the commonest mistake after a mistyped one.
fn home(key: &str, here: &str) -> Option<&'static str> {
    const HOMES: [(&str, &str); 51] = [
        ("name", ""),
        ("question", ""),
        ("command", "workload"),
        ("commands", "workload"),
        ("prepare", "workload"),
        ("cleanup", "workload"),
        ("directory", "workload"),
        ("shell", "workload"),
        ("environment", "workload"),
        ("labels", "workload"),
        ("exclude", "where"),
        ("require", "where"),
        ("at_least", "repeats"),
        ("at_most", "repeats"),
        ("precision", "repeats"),
        ("budget", "repeats"),
        ("fewer", "repeats"),
        ("by", "order"),
        ("shuffle", "order"),
        ("seed", "order"),
        ("platforms", "run"),
        ("timeout", "run"),
        ("warmup", "run"),
        ("grace", "run"),
        ("expected", "run"),
        ("pin", "run"),
        ("group_memory", "run"),
        ("compact", "run"),
        ("nodes", "resources"),
        ("tasks", "resources"),
        ("tasks_per_node", "resources"),
        ("cpus_per_task", "resources"),
        ("memory", "resources"),
        ("devices", "resources"),
        ("dialect", "read"),
        ("headline", "read"),
        ("follow", "read"),
        ("columns", "report"),
        ("across", "report"),
        ("against", "report"),
        ("published", "report"),
        ("series", "report"),
        ("scaling", "report"),
        ("log", "replay"),
        ("sample", "replay"),
        ("speed", "replay"),
        ("options", "replay"),
        ("unfit", "resources"),
        ("min", "gate"),
        ("max", "gate"),
        ("within", "gate"),
    ];
    HOMES.iter().find(|(name, table)| *name == key && *table != here).map(|(_, table)| *table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, walk: impl FnOnce(&mut Table<'_>)) -> Vec<Problem> {
        let problems = Collector::new(text);
        {
            let parsed = parse(text, &problems);
            let mut table = Table::new(parsed.get_ref(), 0..0, "", &problems);
            walk(&mut table);
            table.finish();
        }
        problems.into_list()
    }

    #[test]
    fn unknown_keys_name_the_nearest_known_one_or_their_home() {
        let problems = read("nmae = 1\ntimeout = 2\n", |table| {
            table.get("name");
        });
        assert_eq!(problems[0].hint.as_deref(), Some("did you mean `name`?"));
        assert_eq!(problems[1].hint.as_deref(), Some("`timeout` goes under [run]"));
    }

    #[test]
    fn parts_of_texts_keep_their_place() {
        for text in ["a = 'x + yy'", "a = \"x + yy\"", "a = '''x + yy'''", "a = \"\"\"\nx + yy\"\"\""] {
            read(text, |table| {
                let found = table.get("a").unwrap().text().unwrap();
                assert_eq!(&text[found.part(4..6)], "yy", "{text}");
            });
        }
        read("a = \"x \\u002b y\"", |table| {
            let found = table.get("a").unwrap().text().unwrap();
            assert_eq!(found.value, "x + y");
            assert_eq!(found.part(4..5), found.span);
        });
    }

    #[test]
    fn numbers_of_every_spelling_are_read() {
        read("a = 0x1F\nb = 1_000\nc = 1e-3\nd = -5", |table| {
            assert_eq!(table.get("a").unwrap().scalar(), Some(Value::Integer(31)));
            assert_eq!(table.get("b").unwrap().scalar(), Some(Value::Integer(1000)));
            assert_eq!(table.get("c").unwrap().scalar(), Some(Value::Float(1e-3)));
            assert_eq!(table.get("d").unwrap().scalar(), Some(Value::Integer(-5)));
        });
        let problems = read("a = 99999999999999999999\nb = inf\nc = 2020-01-01", |table| {
            for key in ["a", "b", "c"] {
                assert_eq!(table.get(key).unwrap().scalar(), None);
            }
        });
        assert_eq!(problems.len(), 3);
    }
}
