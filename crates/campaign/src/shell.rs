//! Text inserted into shell commands so that it stays one piece of text, wherever in the command it is inserted.

/// A text as one word of a shell command.
pub fn quoted(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn is_plain(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    !text.is_empty() && text.chars().all(plain)
}

/// What the shell makes of the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    /// Outside quotes; true inside `$(…)`, which a bracket ends.
    Plain {
        substitution: bool,
    },
    Single,
    Double,
    Comment,
}

/// Follows a command from left to right and knows inside which quotes it is.
#[derive(Debug)]
pub(crate) struct QuoteTracker {
    open: Vec<Context>,
    escaped: bool,
    /// The character before, which decides whether `#` starts a comment and `(` a substitution.
    last: char,
}

impl QuoteTracker {
    pub(crate) fn new() -> QuoteTracker {
        QuoteTracker { open: vec![Context::Plain { substitution: false }], escaped: false, last: ' ' }
    }

    fn context(&self) -> Context {
        self.open.last().copied().unwrap_or(Context::Plain { substitution: false })
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
            return;
        }
        match (self.context(), letter) {
            (Context::Plain { .. } | Context::Double, '\\') => self.escaped = true,
            (Context::Plain { .. }, '\'') => self.open.push(Context::Single),
            (Context::Plain { .. }, '"') => self.open.push(Context::Double),
            (Context::Plain { .. }, '#') if self.last.is_whitespace() => self.open.push(Context::Comment),
            (Context::Plain { .. } | Context::Double, '(') if self.last == '$' => {
                self.open.push(Context::Plain { substitution: true });
            }
            (Context::Plain { substitution: true }, ')')
            | (Context::Single, '\'')
            | (Context::Double, '"')
            | (Context::Comment, '\n') => drop(self.open.pop()),
            _ => {}
        }
    }

    /// A text as it must be written here to stay what it is.
    pub(crate) fn quote(&self, text: &str) -> String {
        match self.context() {
            Context::Plain { .. } => quoted(text),
            Context::Single => text.replace('\'', r"'\''"),
            Context::Double => {
                let special = |letter| matches!(letter, '\\' | '"' | '$' | '`');
                text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
            }
            Context::Comment => text.replace('\n', " "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(command: &str) -> String {
        let output = std::process::Command::new("sh").args(["-c", command]).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    #[test]
    fn quoted_text_comes_out_of_the_shell_unchanged() {
        for text in ["plain", "two words", "it's", "$HOME `x` \"y\"", "", "a\nb", "*", "$(echo no)"] {
            assert_eq!(output(&format!("printf %s {}", quoted(text))), text);
        }
    }

    #[test]
    fn inserted_text_stays_text_in_every_kind_of_quotes() {
        let hostile = "a b'\"$(echo pwned)`echo pwned`;echo pwned #\\";
        for (before, after) in [
            ("printf %s ", ""),
            ("printf %s '", "'"),
            ("printf %s \"", "\""),
            ("printf %s \"$(printf %s ", ")\""),
            ("printf %s \"$(printf %s '", "')\""),
            ("# it's a comment\nprintf %s ", ""),
            ("true \\' \"\\\"\" && printf %s ", ""),
        ] {
            let mut tracker = QuoteTracker::new();
            tracker.pass(before);
            let command = format!("{before}{}{after}", tracker.quote(hostile));
            assert_eq!(output(&command), hostile, "{command}");
        }
    }
}
