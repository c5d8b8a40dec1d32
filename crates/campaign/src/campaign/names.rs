//! Checks names in templates and expressions against the settings of the campaign, and remembers which were used.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::expression::{Expression, ExpressionError};
use crate::problem::Problem;
use crate::reader::{Collector, SpannedText};
use crate::suggest;
use crate::template::{RESERVED, Template};

/// An expression of the file, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub expression: Expression,
    place: SpannedText,
}

impl Condition {
    /// A problem about the expression, at its place in the file.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::error(message).at(self.place.span.clone())
    }

    /// An error of evaluation as a problem of the file.
    pub(crate) fn failure(&self, error: ExpressionError) -> Problem {
        located(error, &self.place)
    }
}

fn located(error: ExpressionError, place: &SpannedText) -> Problem {
    let span = place.part(error.span);
    // A place at the very end of a text still needs something to point at.
    let span = if span.is_empty() { place.span.clone() } else { span };
    Problem::error(error.message).at(span).maybe_hint(error.hint)
}

/// The names that templates and expressions may use.
pub(super) struct Names<'a> {
    settings: BTreeSet<String>,
    used: RefCell<BTreeSet<String>>,
    labels: RefCell<BTreeSet<String>>,
    problems: &'a Collector<'a>,
}

impl<'a> Names<'a> {
    pub(super) fn new(settings: BTreeSet<String>, problems: &'a Collector<'a>) -> Names<'a> {
        Names { settings, used: RefCell::default(), labels: RefCell::default(), problems }
    }

    pub(super) fn is_used(&self, name: &str) -> bool {
        self.used.borrow().contains(name)
    }

    pub(super) fn into_labels(self) -> BTreeSet<String> {
        self.labels.into_inner()
    }

    fn known(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().map(String::as_str)
    }

    /// Whether a text names a setting; a problem if it does not.
    pub(super) fn is_setting(&self, text: &SpannedText, place: &str) -> bool {
        let known = self.settings.contains(&text.value);
        if !known {
            let problem = Problem::error(format!("[{place}] names `{}`, which is not a setting", text.value));
            self.problems
                .add(problem.at(text.span.clone()).maybe_hint(suggest::hint(&text.value, self.known())));
        }
        known
    }

    /// Marks a setting as a label that nothing needs to use.
    pub(super) fn label(&self, text: &SpannedText) {
        if self.settings.contains(&text.value) {
            self.used.borrow_mut().insert(text.value.clone());
            self.labels.borrow_mut().insert(text.value.clone());
        } else {
            let problem = Problem::error(format!("`labels` names `{}`, which is not a setting", text.value));
            self.problems
                .add(problem.at(text.span.clone()).maybe_hint(suggest::hint(&text.value, self.known())));
        }
    }

    /// Reads a template and checks its placeholders.
    pub(super) fn template(&self, text: &SpannedText) -> Option<Template> {
        let (template, problems) = Template::parse_recoverable(&text.value);
        self.check_template(&template, text);
        let mut sound = problems.is_empty();
        if text.value.contains('\0') {
            let problem = Problem::error("a NUL character cannot be part of a command or file name");
            self.problems.add(problem.at(text.span.clone()));
            sound = false;
        }
        for mut problem in problems {
            problem.span = problem.span.map(|span| text.part(span));
            self.problems.add(problem);
        }
        sound.then_some(template)
    }

    fn check_template(&self, template: &Template, text: &SpannedText) {
        for (name, span) in template.placeholders() {
            if RESERVED.contains(&name) {
                continue;
            }
            if self.settings.contains(name) {
                self.used.borrow_mut().insert(name.to_owned());
                continue;
            }
            let near = suggest::nearest(name, self.known().chain(RESERVED));
            let hint = match near {
                Some(near) => {
                    // The setting that was meant is in use: saying otherwise would be a second complaint about one typo.
                    self.used.borrow_mut().insert(near.to_owned());
                    format!("did you mean `{{{near}}}`?")
                }
                None => {
                    let give = match self.problems.is_file() {
                        true => "a value under [fixed] or [vary]".to_owned(),
                        false => format!("values with `--vary {name}=…`"),
                    };
                    format!("give `{name}` {give}; for literal braces write `{{{{{name}}}}}`")
                }
            };
            let problem = Problem::error(format!("no setting is called `{name}`")).at(text.part(span));
            self.problems.add(problem.label("placeholder without a setting").hint(hint));
        }
    }

    /// Marks the placeholders of a built-in workload's command as used.
    pub(super) fn use_all(&self) {
        self.used.borrow_mut().extend(self.settings.iter().cloned());
    }

    /// Reads an expression and checks its names. `platform` is a name only where cells, not points, are looked at.
    pub(super) fn condition(&self, text: &SpannedText, platform: bool) -> Option<Condition> {
        let expression = match Expression::parse(&text.value) {
            Ok(expression) => expression,
            Err(error) => {
                self.problems.add(located(error, text));
                return None;
            }
        };
        let mut sound = true;
        for (name, span) in expression.names() {
            if self.settings.contains(name) {
                self.used.borrow_mut().insert(name.to_owned());
            } else if !(platform && name == "platform") {
                let hint = match name {
                    "platform" => Some(
                        "`platform` can be used in [resources], `expected` and [[repeats.fewer]]".to_owned(),
                    ),
                    _ => suggest::hint(name, self.known()),
                };
                let problem = Problem::error(format!("`{name}` is not a setting")).at(text.part(span));
                self.problems.add(problem.maybe_hint(hint));
                sound = false;
            }
        }
        sound.then(|| Condition { expression, place: text.clone() })
    }
}
