//! Where the bearer token of an endpoint comes from. A token is read anew when it is old or when the server no longer takes
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
    #[error("the token has characters that cannot stand in a header")]
    Characters,
}

/// A token that is kept fresh. All threads of a load share it.
pub(crate) struct Token {
    source: TokenSource,
    /// How old a token may become.
    lifetime: Option<Duration>,
    header: RwLock<HeaderValue>,
    asked: Mutex<Instant>,
}

impl Token {
    /// Gets the token for the first time.
    pub(crate) fn new(source: TokenSource, lifetime: Option<Duration>) -> Result<Token, TokenError> {
        let header = RwLock::new(read(&source)?);
        Ok(Token { source, lifetime, header, asked: Mutex::new(Instant::now()) })
    }

    /// The header that carries it.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is time for a new one; `was_refused` says that the server does not take the present one. Only one
    /// caller is told so.
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
        *self.header.write().unwrap_or_else(PoisonError::into_inner) = header;
        Ok(())
    }
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
    let text = String::from_utf8(output.stdout)
        .map_err(|_| failed("it printed something that is no text".to_owned()))?;
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
