//! Where the bearer token of an endpoint comes from. A token is read again when it is old or when the server no longer takes
//! it. It is never logged and never stored: the types that hold one do not show it.

use std::fmt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use http::HeaderValue;

/// A token that was refused is not asked for again sooner than this, however many requests are refused at once.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Where a token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// The environment variable of this name.
    Environment(String),
    /// What this shell command prints.
    Command(String),
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The variable is not set.
    #[error("the environment variable {0} of the token is not set or is empty")]
    NotSet(String),
    /// The command cannot be run.
    #[error("the token command `{command}` cannot be run: {reason}")]
    Command {
        /// The command.
        command: String,
        /// Why not. What the command printed is not quoted, for it may be a token.
        reason: String,
    },
    /// The token has characters that no header can have.
    #[error("the token contains characters that a header must not contain")]
    Characters,
}

/// A token that is kept fresh. All threads of a load share it.
pub(crate) struct Token {
    source: TokenSource,
    /// How old a token may become.
    lifetime: Option<Duration>,
    header: RwLock<HeaderValue>,
    asked: Mutex<Instant>,
    /// Every token so far: a server may quote one that was replaced meanwhile.
    seen: RwLock<Vec<String>>,
}

/// Replaces a token.
const REDACTED: &str = "[redacted]";
/// The shortest beginning of a token that is recognized at the end of a shortened text.
const SHORTEST_PART: usize = 4;
/// The shortest beginning of a token that is recognized anywhere.
const SHORTEST_BEGINNING: usize = 8;

impl Token {
    /// Gets the token for the first time.
    pub(crate) fn new(source: TokenSource, lifetime: Option<Duration>) -> Result<Token, TokenError> {
        let header = read(&source)?;
        let seen = RwLock::new(bare(&header).into_iter().collect());
        let (header, asked) = (RwLock::new(header), Mutex::new(Instant::now()));
        Ok(Token { source, lifetime, header, asked, seen })
    }

    /// The header that carries it.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is time for a new one; `was_refused` says that the server does not take the present one. Only one
    /// caller gets true.
    pub(crate) fn is_due(&self, was_refused: bool) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let age = asked.elapsed();
        let is_due = self.lifetime.is_some_and(|lifetime| age > lifetime) || (was_refused && age > ASK_AGAIN);
        if is_due {
            *asked = Instant::now();
        }
        is_due
    }

    /// Gets a new one. Takes as long as the command does.
    pub(crate) fn renew(&self) -> Result<(), TokenError> {
        let header = read(&self.source)?;
        self.seen.write().unwrap_or_else(PoisonError::into_inner).extend(bare(&header));
        *self.header.write().unwrap_or_else(PoisonError::into_inner) = header;
        Ok(())
    }

    /// Removes every token of this source from a text, also where the text was cut in the middle of one.
    pub(crate) fn redact(&self, text: &mut String) {
        for secret in self.seen.read().unwrap_or_else(PoisonError::into_inner).iter() {
            redact(text, secret);
        }
    }
}

/// Removes a secret from a text: whole, in other letter case, percent-encoded, shortened to its beginning, or where the
/// text was cut in the middle of it.
pub(crate) fn redact(text: &mut String, secret: &str) {
    if secret.is_empty() {
        return;
    }
    let encoded = percent_encoded(secret);
    for form in [secret, &encoded] {
        if let Some(without) = without_beginnings(text, form) {
            *text = without;
        }
    }
    let end = text.strip_suffix('…').unwrap_or(text).len();
    let longest = secret.len().min(end);
    let is_part = |length: &usize| {
        let part = secret.get(..*length);
        part.is_some_and(|part| text[..end].ends_with(part))
    };
    if let Some(length) = (SHORTEST_PART..=longest).rev().find(is_part) {
        text.replace_range(end - length..end, REDACTED);
    }
}

/// The text without the secret and without its beginnings, which some servers quote before an ellipsis; none if it has
/// neither.
fn without_beginnings(text: &str, secret: &str) -> Option<String> {
    let shortest = secret.len().min(SHORTEST_BEGINNING);
    let common = |rest: &str| {
        let pairs = rest.bytes().zip(secret.bytes());
        pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
    };
    let mut kept = String::with_capacity(text.len());
    let (mut rest, mut is_found) = (text, false);
    while let Some(letter) = rest.chars().next() {
        // Half a letter of several bytes is no match.
        let length = (0..=common(rest)).rev().find(|length| rest.is_char_boundary(*length)).unwrap_or(0);
        let is_secret = length >= shortest;
        if is_secret {
            kept.push_str(REDACTED)
        } else {
            kept.push(letter)
        }
        is_found |= is_secret;
        rest = rest.get(if is_secret { length } else { letter.len_utf8() }..).unwrap_or_default();
    }
    is_found.then_some(kept)
}

/// A secret as it stands in a URL.
fn percent_encoded(secret: &str) -> String {
    let mut encoded = String::new();
    for byte in secret.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The token of a header.
fn bare(header: &HeaderValue) -> Option<String> {
    header.to_str().ok()?.strip_prefix("Bearer ").map(str::to_owned)
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Token").field("source", &self.source).finish_non_exhaustive()
    }
}

fn read(source: &TokenSource) -> Result<HeaderValue, TokenError> {
    let text = match source {
        TokenSource::Environment(name) => std::env::var(name)
            .ok()
            .filter(|text| !text.trim().is_empty())
            .ok_or(TokenError::NotSet(name.clone()))?,
        TokenSource::Command(command) => printed(command)?,
    };
    let mut header =
        HeaderValue::from_str(&format!("Bearer {}", text.trim())).map_err(|_| TokenError::Characters)?;
    header.set_sensitive(true);
    Ok(header)
}

fn printed(command: &str) -> Result<String, TokenError> {
    let failed = |reason: String| TokenError::Command { command: command.to_owned(), reason };
    let output =
        Command::new("sh").args(["-c", command]).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(format!("it failed with {}", output.status)));
    }
    let text =
        String::from_utf8(output.stdout).map_err(|_| failed("its output is not UTF-8 text".to_owned()))?;
    match text.trim() {
        "" => Err(failed("it printed nothing".to_owned())),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_prints_the_token_and_is_asked_again() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        std::fs::write(&file, "first\n").unwrap();
        let command = format!("cat '{}'", file.display());
        let token = Token::new(TokenSource::Command(command), Some(Duration::ZERO)).unwrap();
        assert_eq!(token.header().to_str().unwrap(), "Bearer first");
        std::fs::write(&file, "second\n").unwrap();
        assert!(token.is_due(false));
        token.renew().unwrap();
        assert_eq!(token.header().to_str().unwrap(), "Bearer second");
        assert!(!format!("{token:?} {:?}", token.header()).contains("second"));
    }

    #[test]
    fn tokens_are_removed_from_texts_whole_and_cut() {
        let token = Token::new(TokenSource::Command("echo sk-canary-1234".to_owned()), None).unwrap();
        for (text, expected) in [
            ("key sk-canary-1234 is wrong, sk-canary-1234!", "key [redacted] is wrong, [redacted]!"),
            ("key sk-can…", "key [redacted]…"),
            ("key sk-can", "key [redacted]"),
            ("é nothing", "é nothing"),
            ("key SK-CANARY-1234 is wrong", "key [redacted] is wrong"),
            ("key sk-canary... is wrong", "key [redacted]... is wrong"),
            ("key sk-canary-12é4", "key [redacted]é4"),
            ("a sk-can of", "a sk-can of"),
        ] {
            let mut text = text.to_owned();
            token.redact(&mut text);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_token_in_a_url_is_removed() {
        let mut text = "GET /v1?key=s%2fe%2Bcret%3D%3Dxyz failed".to_owned();
        redact(&mut text, "s/e+cret==xyz");
        assert_eq!(text, "GET /v1?key=[redacted] failed");
        let mut short = "pin 12 or 1".to_owned();
        redact(&mut short, "12");
        assert_eq!(short, "pin [redacted] or 1");
    }

    #[test]
    fn a_refused_token_is_not_asked_for_again_at_once() {
        let token = Token::new(TokenSource::Command("echo x".to_owned()), None).unwrap();
        assert!(!token.is_due(true) && !token.is_due(false));
    }

    #[test]
    fn what_goes_wrong_is_told_without_the_token() {
        let error = |command: &str| {
            Token::new(TokenSource::Command(command.to_owned()), None).unwrap_err().to_string()
        };
        assert!(error("echo secret; exit 3").contains("exit status: 3"));
        assert!(error("true").contains("printed nothing"));
        assert!(!error("printf 'secret\\001'").contains("secret "));
        let unset =
            Token::new(TokenSource::Environment("ASSAY_NO_SUCH_VARIABLE".to_owned()), None).unwrap_err();
        assert!(unset.to_string().contains("ASSAY_NO_SUCH_VARIABLE"));
    }
}
