//! Text with `{setting}` placeholders. `{{` and `}}` are literal braces; `${…}` belongs to the shell. In a shell command,
//! `{setting:q}` is inserted as one quoted word, and so are paths.

use std::fmt::Write;
use std::ops::Range;

use assay_model::Value;

use crate::plan::InvocationError;
use crate::problem::Problem;
use crate::shell::QuoteTracker;

/// Gives the value of a placeholder, where there is one.
pub type Lookup<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Placeholders that are not settings.
pub const RESERVED: [&str; 6] =
    ["run_directory", "campaign_directory", "repeat", "seed", "platform", "assay"];

/// Those that are paths, which may hold anything.
const PATHS: [&str; 3] = ["run_directory", "campaign_directory", "assay"];

/// A parsed text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    text: String,
    parts: Vec<TemplatePart>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// Text that stays as it is.
    Literal(String),
    /// A placeholder, with its place in the template's text.
    Placeholder(String, Range<usize>),
    /// A placeholder whose value is quoted in a shell command: `{name:q}`, and all placeholders that are paths.
    Quoted(String, Range<usize>),
}

impl TemplatePart {
    fn placeholder(name: &str, span: Range<usize>) -> TemplatePart {
        match name.strip_suffix(":q") {
            Some(name) => TemplatePart::Quoted(name.to_owned(), span),
            None if PATHS.contains(&name) => TemplatePart::Quoted(name.to_owned(), span),
            None => TemplatePart::Placeholder(name.to_owned(), span),
        }
    }
}

impl Template {
    /// Parses a template; every mistake in it is reported with its place in the text.
    pub fn parse(text: &str) -> Result<Template, Vec<Problem>> {
        let (template, problems) = Template::parse_recoverable(text);
        if problems.is_empty() { Ok(template) } else { Err(problems) }
    }

    /// Parses what can be parsed, so that the names in a template with mistakes can be checked too.
    pub(crate) fn parse_recoverable(text: &str) -> (Template, Vec<Problem>) {
        let mut builder = Builder::default();
        let mut problems = Vec::new();
        // Braces of the shell that are open: `${NAME:-{batch}}` holds a placeholder inside a shell expansion.
        let mut shell = 0_usize;
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with("${") {
                shell += 1;
                builder.literal("${");
                at += 2;
            } else if rest.starts_with("{{") {
                builder.literal("{");
                at += 2;
            } else if shell > 0 && rest.starts_with('}') {
                shell -= 1;
                builder.literal("}");
                at += 1;
            } else if rest.starts_with("}}") {
                builder.literal("}");
                at += 2;
            } else if rest.starts_with('{') {
                at += builder.placeholder(rest, at, &mut problems);
            } else if rest.starts_with('}') {
                let problem = Problem::error("`}` closes nothing").at(at..at + 1);
                problems.push(problem.hint("write `}}` for a literal brace"));
                at += 1;
            } else {
                let special = |(_, c): &(usize, char)| matches!(c, '{' | '}' | '$');
                let end = rest.char_indices().skip(1).find(special).map_or(rest.len(), |(end, _)| end);
                builder.literal(rest.get(..end).unwrap_or_default());
                at += end;
            }
        }
        (Template { text: text.to_owned(), parts: builder.parts }, problems)
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its pieces.
    pub fn parts(&self) -> &[TemplatePart] {
        &self.parts
    }

    /// The placeholders with their places, in order.
    pub fn placeholders(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Placeholder(name, span) | TemplatePart::Quoted(name, span) => {
                Some((name.as_str(), span.clone()))
            }
            TemplatePart::Literal(_) => None,
        })
    }

    /// The name, if the whole template is one placeholder: then the value keeps its type.
    pub fn single(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [TemplatePart::Placeholder(name, _) | TemplatePart::Quoted(name, _)] => Some(name),
            _ => None,
        }
    }

    /// Fills in the placeholders; a name that nothing is known for is the error.
    pub fn render(&self, lookup: &Lookup<'_>) -> Result<String, String> {
        let mut text = String::with_capacity(self.text.len() + 32);
        for part in &self.parts {
            match part {
                TemplatePart::Literal(literal) => text.push_str(literal),
                TemplatePart::Placeholder(name, _) | TemplatePart::Quoted(name, _) => {
                    let value = lookup(name).ok_or_else(|| name.clone())?;
                    // Writing to a String cannot fail.
                    let _ = write!(text, "{value}");
                }
            }
        }
        Ok(text)
    }

    /// Fills in the placeholders of a shell command. What is quoted fits the quotes that it is inserted between.
    pub fn render_shell(&self, lookup: &Lookup<'_>) -> Result<String, InvocationError> {
        let missing = |name: &String| InvocationError::Placeholder(name.clone());
        let mut text = String::with_capacity(self.text.len() + 32);
        let mut quotes = QuoteTracker::new();
        for part in &self.parts {
            let piece = match part {
                TemplatePart::Literal(literal) => literal.clone(),
                TemplatePart::Placeholder(name, _) => lookup(name).ok_or_else(|| missing(name))?.to_string(),
                TemplatePart::Quoted(name, _) => {
                    let value = lookup(name).ok_or_else(|| missing(name))?.to_string();
                    let unquotable =
                        || InvocationError::Unquotable { name: name.clone(), value: value.clone() };
                    text.push_str(&quotes.quote(&value).ok_or_else(unquotable)?);
                    continue;
                }
            };
            quotes.pass(&piece);
            text.push_str(&piece);
        }
        Ok(text)
    }

    /// Splits into words as a shell would, before anything is filled in: a value with a space in it stays one word.
    pub fn words(&self) -> Result<Vec<Template>, Problem> {
        let mut words = Words::default();
        for part in &self.parts {
            match part {
                TemplatePart::Placeholder(name, span) | TemplatePart::Quoted(name, span) => {
                    words.placeholder(name, span)
                }
                TemplatePart::Literal(literal) => literal.chars().for_each(|c| words.character(c)),
            }
        }
        words.finish()
    }
}

#[derive(Default)]
struct Builder {
    parts: Vec<TemplatePart>,
}

impl Builder {
    fn literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(TemplatePart::Literal(last)) => last.push_str(text),
            _ => self.parts.push(TemplatePart::Literal(text.to_owned())),
        }
    }

    /// Reads a placeholder at the start of `rest` and returns its length.
    fn placeholder(&mut self, rest: &str, at: usize, problems: &mut Vec<Problem>) -> usize {
        let Some(length) = rest.find('}').map(|end| end + 1) else {
            let problem = Problem::error("`{` is never closed").at(at..at + 1);
            problems.push(problem.hint("write `{{` for a literal brace"));
            return 1;
        };
        let name = rest.get(1..length - 1).unwrap_or_default();
        if is_name(name.strip_suffix(":q").unwrap_or(name)) {
            self.parts.push(TemplatePart::placeholder(name, at..at + length));
            return length;
        }
        // Only the opening is marked: what is between the braces may be anything, for example a whole awk program.
        let message = match name {
            "" => "`{}` names no setting".to_owned(),
            _ => format!("`{{{name}}}` is not a placeholder: names are letters, digits and `_`"),
        };
        let problem = Problem::error(message).at(at..at + length);
        problems.push(problem.hint("write `{{` and `}}` for literal braces"));
        length
    }
}

/// Whether a text can be the name of a setting.
pub fn is_name(text: &str) -> bool {
    text.chars()
        .enumerate()
        .all(|(index, c)| c == '_' || c.is_ascii_alphabetic() || (index > 0 && c.is_ascii_digit()))
        && !text.is_empty()
}

/// Collects words while the pieces of a template go by.
#[derive(Default)]
struct Words {
    done: Vec<Template>,
    word: Builder,
    /// Whether a word has begun: `''` is an empty word, white space is none.
    begun: bool,
    quote: Option<char>,
    escaped: bool,
}

impl Words {
    fn placeholder(&mut self, name: &str, span: &Range<usize>) {
        self.begun = true;
        self.escaped = false;
        self.word.parts.push(TemplatePart::Placeholder(name.to_owned(), span.clone()));
    }

    fn character(&mut self, c: char) {
        match (self.quote, c) {
            _ if self.escaped => {
                self.escaped = false;
                self.keep(c);
            }
            (None | Some('"'), '\\') => {
                self.begun = true;
                self.escaped = true;
            }
            (None, '\'' | '"') => {
                self.begun = true;
                self.quote = Some(c);
            }
            (Some(open), _) if open == c => self.quote = None,
            (None, _) if c.is_whitespace() => self.end(),
            _ => self.keep(c),
        }
    }

    fn keep(&mut self, c: char) {
        self.begun = true;
        self.word.literal(c.encode_utf8(&mut [0; 4]));
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.begun) {
            let parts = std::mem::take(&mut self.word.parts);
            self.done.push(Template { text: String::new(), parts });
        }
    }

    fn finish(mut self) -> Result<Vec<Template>, Problem> {
        if let Some(quote) = self.quote {
            return Err(Problem::error(format!("the command has an opening {quote} without a closing one")));
        }
        self.end();
        Ok(self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fill(text: &str) -> String {
        Template::parse(text).unwrap().render(&|name| Some(Value::Text(name.to_uppercase()))).unwrap()
    }

    #[test]
    fn placeholders_are_filled_and_braces_of_others_are_kept() {
        assert_eq!(fill("run --lr {rate} {batch}"), "run --lr RATE BATCH");
        assert_eq!(fill("awk '{{print $1}}'"), "awk '{print $1}'");
        assert_eq!(fill("echo ${HOME} ${A:-{batch}} {batch}"), "echo ${HOME} ${A:-BATCH} BATCH");
        assert_eq!(fill("größe={größe_ä}".replace("größe_ä", "x").as_str()), "größe=X");
        assert_eq!(fill(""), "");
    }

    #[test]
    fn paths_and_marked_settings_are_quoted_in_shell_commands() {
        let lookup = |_: &str| Some(Value::from("a b;'"));
        let shell = |text: &str| Template::parse(text).unwrap().render_shell(&lookup).unwrap();
        assert_eq!(shell("x {run_directory}/p {mode}"), r"x 'a b;'\'''/p a b;'");
        assert_eq!(shell("x {mode:q}"), r"x 'a b;'\'''");
        assert_eq!(shell("x \"{assay}\""), "x \"a b;'\"");
        let plain = Template::parse("{run_directory}/p {mode:q}").unwrap();
        assert_eq!(plain.render(&lookup).unwrap(), "a b;'/p a b;'");
        assert_eq!(plain.placeholders().map(|(name, _)| name).collect::<Vec<_>>(), ["run_directory", "mode"]);
        assert!(Template::parse("{mode:x}").is_err() && Template::parse("{:q}").is_err());
    }

    #[test]
    fn mistakes_have_places_and_all_are_found() {
        let problems = Template::parse("a { b} {x-y} c } {").unwrap_err();
        let places: Vec<_> = problems.iter().map(|problem| problem.span.clone().unwrap()).collect();
        assert_eq!(places, vec![2..6, 7..12, 15..16, 17..18]);
    }

    #[test]
    fn words_split_before_filling() {
        let template = Template::parse("prog 'a b' --x={mode} \"{batch} c\" '' d\\ e").unwrap();
        let lookup = |_: &str| Some(Value::from("v w"));
        let words: Vec<String> =
            template.words().unwrap().iter().map(|word| word.render(&lookup).unwrap()).collect();
        assert_eq!(words, ["prog", "a b", "--x=v w", "v w c", "", "d e"]);
        assert!(Template::parse("echo 'open").unwrap().words().is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            if let Ok(template) = Template::parse(&text) {
                let _ = template.words();
            }
        }

        #[test]
        fn doubled_braces_come_out_single(text in "[a-z{} ]*") {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(Template::parse(&doubled).unwrap().render(&|_| None).unwrap(), text);
        }
    }
}
