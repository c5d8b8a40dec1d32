//! Text inserted into shell commands so that it stays one piece of text, wherever in the command it is inserted.

use std::collections::VecDeque;

/// A text as one word of a shell command.
pub fn quoted(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn is_plain(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    !text.is_empty() && text.chars().all(plain)
}

/// What the shell makes of the next character.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Context {
    /// Outside quotes.
    Plain,
    /// Outside quotes, until a closing bracket: `$(…)`, `(…)`, and `((…))` where it is arithmetic.
    Brackets {
        arithmetic: bool,
    },
    /// Outside quotes, until a back-quote.
    BackQuotes {
        in_double: bool,
    },
    /// `${…}`, which keeps the quoting that it is in.
    Expansion {
        in_double: bool,
    },
    Single,
    Double,
    Comment,
    HereDocument(HereDocument),
}

/// Text until a line that is the delimiter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct HereDocument {
    delimiter: String,
    /// A delimiter with quotes: nothing in the text is special.
    literal: bool,
    /// `<<-`: tabs before the delimiter do not count.
    strips_tabs: bool,
    /// The line so far.
    line: String,
}

/// Follows a command from left to right and knows inside which quotes it is. It follows what people write in commands,
/// not the whole grammar of the shell; where it may have lost its way, it says so instead of guessing.
#[derive(Debug)]
pub(crate) struct QuoteTracker {
    open: Vec<Context>,
    escaped: bool,
    /// The character before, which decides whether `#` starts a comment and `(` a substitution.
    last: char,
    /// The word so far, outside quotes.
    word: String,
    /// A delimiter that is being read, and whether its first character was seen.
    delimiter: Option<(HereDocument, bool)>,
    /// Here-documents that begin with the next line.
    announced: VecDeque<HereDocument>,
    is_lost: bool,
}

impl QuoteTracker {
    pub(crate) fn new() -> QuoteTracker {
        QuoteTracker {
            open: vec![Context::Plain],
            escaped: false,
            last: ' ',
            word: String::new(),
            delimiter: None,
            announced: VecDeque::new(),
            is_lost: false,
        }
    }

    /// Goes over a part of the command.
    pub(crate) fn pass(&mut self, text: &str) {
        for letter in text.chars() {
            self.step(letter);
            self.last = letter;
        }
    }

    fn step(&mut self, letter: char) {
        if std::mem::take(&mut self.escaped) {
            // Inside back-quotes, such a backslash is taken away before the command is read: another level of quotes.
            self.is_lost |= "`\"$\\".contains(letter) && self.is_in_back_quotes();
            return;
        }
        if self.delimiter.is_some() && self.read_delimiter(letter) {
            return;
        }
        match self.open.last() {
            None | Some(Context::Plain | Context::Brackets { .. } | Context::BackQuotes { .. }) => {
                self.plain(letter);
            }
            Some(Context::Expansion { in_double: false }) if letter != '}' => self.plain(letter),
            Some(Context::Double | Context::Expansion { .. }) => self.double(letter),
            Some(Context::Single) if letter == '\'' => drop(self.open.pop()),
            Some(Context::Comment) if letter == '\n' => {
                self.open.pop();
                self.plain(letter);
            }
            Some(Context::Single | Context::Comment) => {}
            Some(Context::HereDocument(document)) if document.literal || letter == '\n' => {
                self.here_document(letter);
            }
            Some(Context::HereDocument(_)) => {
                self.here_document(letter);
                self.substitution(letter);
            }
        }
    }

    /// Outside quotes.
    fn plain(&mut self, letter: char) {
        let ends_word = letter.is_whitespace() || ";&|()<>`".contains(letter);
        if ends_word {
            // Its patterns end with brackets that close nothing.
            self.is_lost |= self.word == "case" && self.open.len() > 1;
            self.word.clear();
        } else {
            self.word.push(letter);
        }
        let starts_word = self.last.is_whitespace() || ";&|()<>`".contains(self.last);
        match letter {
            '\'' => {
                // In bash, but not in sh, backslashes mean something in `$'…'`.
                self.is_lost |= self.last == '$';
                self.open.push(Context::Single);
            }
            '"' => self.open.push(Context::Double),
            '#' if starts_word => self.open.push(Context::Comment),
            '(' if self.last != '$' => {
                self.open.push(Context::Brackets { arithmetic: self.last == '(' });
            }
            ')' => self.close(|context| matches!(context, Context::Brackets { .. })),
            '<' if self.last == '<' && !self.is_in_arithmetic() => {
                self.delimiter = Some((HereDocument::default(), false));
            }
            '\n' => {
                self.open.extend(self.announced.pop_front().map(Context::HereDocument));
            }
            _ => self.substitution(letter),
        }
    }

    /// Inside double quotes.
    fn double(&mut self, letter: char) {
        match (self.open.last(), letter) {
            (Some(Context::Double), '"') | (Some(Context::Expansion { .. }), '}') => drop(self.open.pop()),
            (Some(Context::Expansion { .. }), '"') => self.open.push(Context::Double),
            _ => self.substitution(letter),
        }
    }

    /// What is special both outside quotes and inside double ones.
    fn substitution(&mut self, letter: char) {
        let in_double = matches!(
            self.open.last(),
            Some(Context::Double | Context::Expansion { in_double: true } | Context::HereDocument(_))
        );
        match letter {
            '\\' => self.escaped = true,
            '(' if self.last == '$' => {
                self.word.clear();
                self.open.push(Context::Brackets { arithmetic: false });
            }
            '{' if self.last == '$' => self.open.push(Context::Expansion { in_double }),
            '`' if self.is_in_back_quotes() => {
                self.close(|context| matches!(context, Context::BackQuotes { .. }));
            }
            '`' => self.open.push(Context::BackQuotes { in_double }),
            _ => {}
        }
    }

    /// Ends the innermost context if it is of this kind.
    fn close(&mut self, is_kind: impl Fn(&Context) -> bool) {
        match self.open.last() {
            Some(context) if is_kind(context) => drop(self.open.pop()),
            // `)` may stand alone, as in a `case` that is outside of everything; anything else is unforeseen.
            _ => self.is_lost |= self.open.len() > 1,
        }
    }

    /// A character of a here-document's text.
    fn here_document(&mut self, letter: char) {
        let Some(Context::HereDocument(document)) = self.open.last_mut() else { return };
        if letter != '\n' {
            document.line.push(letter);
            return;
        }
        let line = std::mem::take(&mut document.line);
        let line = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
        if line == document.delimiter {
            self.open.pop();
            self.open.extend(self.announced.pop_front().map(Context::HereDocument));
        }
    }

    /// A character of a delimiter after `<<`. Gives whether it belonged there.
    fn read_delimiter(&mut self, letter: char) -> bool {
        let Some((mut document, begun)) = self.delimiter.take() else { return false };
        match letter {
            // `<<<` is a word, not a document.
            '<' if !begun => return true,
            '-' if !begun && self.last == '<' => document.strips_tabs = true,
            ' ' | '\t' if !begun => {}
            '\'' | '"' | '\\' => document.literal = true,
            letter if letter.is_whitespace() || ";&|()<>`".contains(letter) => {
                self.announced.push_back(document);
                return false;
            }
            letter => document.delimiter.push(letter),
        }
        let begun = begun || !matches!(letter, '-' | ' ' | '\t') || !document.delimiter.is_empty();
        self.delimiter = Some((document, begun));
        true
    }

    fn is_in_back_quotes(&self) -> bool {
        self.open.iter().any(|context| matches!(context, Context::BackQuotes { .. }))
    }

    fn is_in_arithmetic(&self) -> bool {
        self.open.iter().any(|context| matches!(context, Context::Brackets { arithmetic: true }))
    }

    /// A text as it must be written here to stay what it is; none where that is not known.
    pub(crate) fn quote(&mut self, text: &str) -> Option<String> {
        // What follows directly is in the middle of a word.
        self.last = 'x';
        if is_plain(text) {
            return Some(text.to_owned());
        }
        if self.is_lost || self.delimiter.is_some() {
            return None;
        }
        let quoted = match self.open.last().unwrap_or(&Context::Plain) {
            Context::Plain | Context::Brackets { arithmetic: false } | Context::BackQuotes { .. } => {
                quoted(text)
            }
            Context::Expansion { in_double: false } => quoted(text),
            // A text that is not a number has no place there.
            Context::Brackets { arithmetic: true } => return None,
            Context::Single => text.replace('\'', r"'\''"),
            Context::Double => escaped(text, r#"\"$`"#),
            // Only a line break could end these.
            Context::Comment => text.replace('\n', " "),
            Context::HereDocument(document) if document.literal => {
                return (!text.contains('\n')).then(|| text.to_owned());
            }
            // Shells differ in what a quote means here; inside a substitution they agree.
            Context::Expansion { in_double: true } | Context::HereDocument(_) => {
                format!("$(printf %s {})", quoted(text))
            }
        };
        Some(self.escape_for_back_quotes(quoted))
    }

    /// Back-quotes take one level of backslashes away before the command in them is read.
    fn escape_for_back_quotes(&self, text: String) -> String {
        self.open.iter().rev().fold(text, |text, context| match context {
            Context::BackQuotes { in_double: true } => escaped(&text, r#"\"$`"#),
            Context::BackQuotes { in_double: false } => escaped(&text, r"\$`"),
            _ => text,
        })
    }
}

fn escaped(text: &str, special: &str) -> String {
    text.chars().flat_map(|c| special.contains(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(command: &str) -> String {
        output_of("sh", command)
    }

    fn output_of(shell: &str, command: &str) -> String {
        let output = std::process::Command::new(shell).args(["-c", command]).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    #[test]
    fn quoted_text_comes_out_of_the_shell_unchanged() {
        for text in ["plain", "two words", "it's", "$HOME `x` \"y\"", "", "a\nb", "*", "$(echo no)"] {
            assert_eq!(output(&format!("printf %s {}", quoted(text))), text);
        }
    }

    /// Commands that print the inserted text, whichever kind of quotes it is between.
    const PLACES: &[(&str, &str)] = &[
        ("printf %s ", ""),
        ("printf %s '", "'"),
        ("printf %s \"", "\""),
        ("printf %s \"$(printf %s ", ")\""),
        ("printf %s \"$(printf %s '", "')\""),
        ("# it's a comment\nprintf %s ", ""),
        ("true;# it's a comment\nprintf %s ", ""),
        ("true \\' \"\\\"\" && printf %s ", ""),
        // Brackets outside a substitution end none.
        ("printf %s \"$(true $((1+1)) && printf %s ", ")\""),
        ("printf %s \"$( (true) && printf %s ", ")\""),
        ("printf %s \"$(true $((1<<2))\nprintf %s ", ")\""),
        ("f() { true; }; (printf %s ", ")"),
        ("case a in a) printf %s ", ";; esac"),
        ("printf %s \"`printf %s ", "`\""),
        ("x=`printf %s ", "`; printf %s \"$x\""),
        ("x=`printf %s '", "'`; printf %s \"$x\""),
        ("x=`printf %s \"", "\"`; printf %s \"$x\""),
        ("printf %s \"${unset_variable:-", "}\""),
        ("printf %s ${unset_variable:-", "}"),
        ("cat <<EOF | tr -d '\\n'\n", "\nEOF\n"),
        ("cat <<-'EOF' | tr -d '\\n'\n", "\n\tEOF\n"),
        ("cat <<EOF >/dev/null\nit's \"\nEOF\nprintf %s ", ""),
        ("cat <<A <<B >/dev/null\n'\nA\n\"\nB\nprintf %s '", "'"),
    ];

    #[test]
    fn inserted_text_stays_text_in_every_kind_of_quotes() {
        let hostile = "a b'\"$(echo pwned)`echo pwned`;echo pwned} ) #\\ \\\\ \\$x *";
        for (before, after) in PLACES {
            for text in [hostile, "/tmp/sp ace/it's", "plain"] {
                let mut tracker = QuoteTracker::new();
                tracker.pass(before);
                let command = format!("{before}{}{after}", tracker.quote(text).unwrap());
                for shell in ["sh", "bash"] {
                    assert_eq!(output_of(shell, &command), text, "{shell}: {command}");
                }
            }
        }
    }

    #[test]
    fn a_comment_that_follows_an_inserted_text_is_none() {
        let mut tracker = QuoteTracker::new();
        tracker.pass("printf %s ");
        let first = tracker.quote("a b").unwrap();
        tracker.pass("#c' d'");
        assert_eq!(
            output(&format!("printf %s {first}#c' d'{}", tracker.quote("; e").unwrap())),
            "a b#c d; e"
        );
    }

    #[test]
    fn where_quotes_cannot_be_followed_only_plain_text_is_inserted() {
        for before in [
            "printf %s \"$(case a in a) printf %s ",
            "printf %s $'a\\' ",
            "printf %s `echo \\`echo ",
            "printf %s \"`echo \\\"",
            "echo $(( 1 + ",
            "cat <<",
            "cat <<'EOF'\n",
        ] {
            let mut tracker = QuoteTracker::new();
            tracker.pass(before);
            assert_eq!(tracker.quote("a\n;b"), None, "{before}");
            assert_eq!(tracker.quote("12").as_deref(), Some("12"));
        }
    }
}
