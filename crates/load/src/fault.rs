//! Everything that can go wrong with a request, by kind. A fault belongs to one request: it is counted, recorded and
//! reported with a hint; it does not stop other requests.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a request did not end as it should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of fault.
    pub kind: FaultKind,
    /// What was seen, in words; never a token or a request's body.
    pub message: String,
    /// How long the server asked to wait, in seconds (`Retry-After`).
    pub retry_after_s: Option<f64>,
}

/// The kinds of faults. Their order is that of the spool: new kinds go to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The host name has no address.
    Dns,
    /// Nobody listens at the port.
    Refused,
    /// No connection for another reason.
    Connect,
    /// No secure channel: certificate, name or protocol.
    Tls,
    /// The bearer token could not be had.
    Token,
    /// Status 401.
    Unauthorized,
    /// Status 403.
    Forbidden,
    /// Status 404.
    NotFound,
    /// Status 429.
    TooMany,
    /// Another status below 500 that is not success.
    Rejected,
    /// Status 500 or above.
    Server,
    /// No connection in time.
    ConnectTimeout,
    /// Not a byte of an answer in time.
    NoAnswer,
    /// An answer that began and was not complete in time.
    Timeout,
    /// The connection ended before the answer began.
    Closed,
    /// A stream without its end: no finish reason and no `[DONE]`, or cut in the middle of the transfer.
    Cut,
    /// An error event inside a stream, or an error object in place of an answer.
    ErrorEvent,
    /// Something that is not JSON, or not HTTP.
    Malformed,
    /// The load was stopped before the answer was complete.
    Interrupted,
    /// This machine has no more descriptors, ports or memory.
    Client,
    /// A head, line, body or answer beyond its size limit.
    TooLarge,
    /// An answer that ended as it should and has no text.
    Empty,
    /// A redirect, which is not followed.
    Redirect,
    /// The server's certificate is not trusted.
    Certificate,
    /// https to a port that does not speak TLS.
    NotTls,
    /// http to a port that speaks TLS.
    NotHttp,
}

impl FaultKind {
    /// All kinds, in the order of the spool.
    pub const ALL: [FaultKind; 26] = [
        FaultKind::Dns,
        FaultKind::Refused,
        FaultKind::Connect,
        FaultKind::Tls,
        FaultKind::Token,
        FaultKind::Unauthorized,
        FaultKind::Forbidden,
        FaultKind::NotFound,
        FaultKind::TooMany,
        FaultKind::Rejected,
        FaultKind::Server,
        FaultKind::ConnectTimeout,
        FaultKind::NoAnswer,
        FaultKind::Timeout,
        FaultKind::Closed,
        FaultKind::Cut,
        FaultKind::ErrorEvent,
        FaultKind::Malformed,
        FaultKind::Interrupted,
        FaultKind::Client,
        FaultKind::TooLarge,
        FaultKind::Empty,
        FaultKind::Redirect,
        FaultKind::Certificate,
        FaultKind::NotTls,
        FaultKind::NotHttp,
    ];

    /// The kind in words, as tables show it.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Dns => "host name not found",
            FaultKind::Refused => "connection refused",
            FaultKind::Connect => "no connection",
            FaultKind::Tls => "TLS failure",
            FaultKind::Token => "no token",
            FaultKind::Unauthorized => "401 unauthorized",
            FaultKind::Forbidden => "403 forbidden",
            FaultKind::NotFound => "404 not found",
            FaultKind::TooMany => "429 too many requests",
            FaultKind::Rejected => "request rejected",
            FaultKind::Server => "server error",
            FaultKind::ConnectTimeout => "connection timed out",
            FaultKind::NoAnswer => "no answer in time",
            FaultKind::Timeout => "answer not complete in time",
            FaultKind::Closed => "closed before the answer",
            FaultKind::Cut => "stream cut",
            FaultKind::ErrorEvent => "error in the stream",
            FaultKind::Malformed => "malformed answer",
            FaultKind::Interrupted => "interrupted",
            FaultKind::Client => "client out of resources",
            FaultKind::TooLarge => "answer beyond its size limit",
            FaultKind::Empty => "empty answer",
            FaultKind::Redirect => "redirected",
            FaultKind::Certificate => "certificate not trusted",
            FaultKind::NotTls => "https to a port without TLS",
            FaultKind::NotHttp => "http to a TLS port",
        }
    }

    /// Its stable name in tables and JSON.
    pub fn code(self) -> &'static str {
        match self {
            FaultKind::Dns => "dns",
            FaultKind::Refused => "refused",
            FaultKind::Connect => "connect",
            FaultKind::Tls => "tls",
            FaultKind::Token => "token",
            FaultKind::Unauthorized => "unauthorized",
            FaultKind::Forbidden => "forbidden",
            FaultKind::NotFound => "not_found",
            FaultKind::TooMany => "too_many",
            FaultKind::Rejected => "rejected",
            FaultKind::Server => "server",
            FaultKind::ConnectTimeout => "connect_timeout",
            FaultKind::NoAnswer => "no_answer",
            FaultKind::Timeout => "timeout",
            FaultKind::Closed => "closed",
            FaultKind::Cut => "cut",
            FaultKind::ErrorEvent => "error_event",
            FaultKind::Malformed => "malformed",
            FaultKind::Interrupted => "interrupted",
            FaultKind::Client => "client",
            FaultKind::TooLarge => "too_large",
            FaultKind::Empty => "empty",
            FaultKind::Redirect => "redirect",
            FaultKind::Certificate => "certificate",
            FaultKind::NotTls => "not_tls",
            FaultKind::NotHttp => "not_http",
        }
    }

    /// The kind with this code.
    pub fn of_code(code: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Whether the server cannot have seen the request.
    pub fn is_unsent(self) -> bool {
        matches!(
            self,
            FaultKind::Dns
                | FaultKind::Refused
                | FaultKind::Connect
                | FaultKind::Tls
                | FaultKind::Token
                | FaultKind::ConnectTimeout
                | FaultKind::Client
                | FaultKind::Certificate
                | FaultKind::NotTls
                | FaultKind::NotHttp
        )
    }

    /// Whether it means that nobody listens any more. A stream that was cut may be the first sign of it, and may be many
    /// other things.
    pub fn is_absence(self) -> bool {
        matches!(self, FaultKind::Refused | FaultKind::Connect | FaultKind::ConnectTimeout)
    }

    /// Whether a warm-up that fails in this way says that the measured requests would fail too. Load, a restart or an
    /// unlucky prompt may pass.
    pub fn is_lasting(self) -> bool {
        let may_pass = matches!(
            self,
            FaultKind::TooMany
                | FaultKind::Server
                | FaultKind::Closed
                | FaultKind::Cut
                | FaultKind::Empty
                | FaultKind::Interrupted
        );
        !may_pass
    }

    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            FaultKind::Dns => "check the host name in the URL, and that this machine can resolve it",
            FaultKind::Refused => "is the server running, and is the port of the URL right?",
            FaultKind::Connect => "check the route and the firewall between this machine and the server",
            FaultKind::Tls => {
                "check that the server speaks TLS 1.2 or 1.3 on this port, and that there is no proxy in between"
            }
            FaultKind::Token => {
                "run the token command by hand, or check that the environment variable of the token is set"
            }
            FaultKind::Unauthorized => {
                "the token is missing, wrong or expired: set --token-env or --token-command (a command is asked again \
                 when a token expires)"
            }
            FaultKind::Forbidden => {
                "the token is known but may not use this endpoint or model: ask for access, or check the model name"
            }
            FaultKind::NotFound => {
                "either the base URL (does it end in /v1?) or the model name is wrong: the server's /models page \
                 lists what it has"
            }
            FaultKind::TooMany => {
                "the server limits the rate: ask for fewer streams or a lower rate; retries happen only with --retries"
            }
            FaultKind::Rejected => "the message says what the server did not like about the request",
            FaultKind::Server => "look into the server's log at that time",
            FaultKind::ConnectTimeout => {
                "is the address reachable from here? --connect-timeout sets how long to wait"
            }
            FaultKind::NoAnswer => {
                "the server accepted the request and said nothing: --timeout sets how long to wait"
            }
            FaultKind::Timeout => "ask for fewer output tokens, or wait longer with --timeout",
            FaultKind::Closed => {
                "the server ended the connection instead of answering: did it crash or restart? its log may say more; \
                 where only reused connections fail, try --new-connections"
            }
            FaultKind::Cut => {
                "the server or a proxy ended the stream early: look for its time-out and its log"
            }
            FaultKind::ErrorEvent => "the message is the server's own; its log may say more",
            FaultKind::Malformed => {
                "is this an OpenAI-compatible endpoint? the message shows how the answer began"
            }
            FaultKind::Interrupted => "the load was stopped; what had finished is kept",
            FaultKind::Client => "raise the limit of open files (ulimit -n), or use fewer streams",
            FaultKind::TooLarge => {
                "is this an inference endpoint? --max-header-bytes, --max-event-bytes, --max-body-bytes and \
                 --max-answer-bytes set the limits"
            }
            FaultKind::Empty => {
                "the server finished without a token: check the prompt template, the stop words and the output limit"
            }
            FaultKind::Redirect => "redirects are not followed: use the URL that the message names",
            FaultKind::Certificate => {
                "give the certificate, or that of the authority that signed it, with --ca FILE; --insecure skips the \
                 check"
            }
            FaultKind::NotTls => "use http:// in the URL, or the port on which the server speaks TLS",
            FaultKind::NotHttp => "use https:// in the URL",
        }
    }

    /// Whether asking again later can help, so that a retry makes sense.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            FaultKind::Refused
                | FaultKind::Connect
                | FaultKind::TooMany
                | FaultKind::Server
                | FaultKind::ConnectTimeout
                | FaultKind::Closed
                | FaultKind::Cut
        )
    }

    /// The fault of a status, if it is not a success.
    pub fn of_status(status: u16) -> Option<FaultKind> {
        match status {
            200..=299 => None,
            300..=399 => Some(FaultKind::Redirect),
            401 => Some(FaultKind::Unauthorized),
            403 => Some(FaultKind::Forbidden),
            404 => Some(FaultKind::NotFound),
            429 => Some(FaultKind::TooMany),
            500.. => Some(FaultKind::Server),
            _ => Some(FaultKind::Rejected),
        }
    }
}

impl Fault {
    /// A fault of a kind.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), retry_after_s: None }
    }

    /// The fault of an I/O error before a connection exists.
    pub fn of_connecting(error: &std::io::Error) -> Fault {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::ConnectionRefused => FaultKind::Refused,
            ErrorKind::TimedOut => FaultKind::ConnectTimeout,
            ErrorKind::OutOfMemory | ErrorKind::AddrNotAvailable => FaultKind::Client,
            _ if is_out_of_descriptors(error) => FaultKind::Client,
            _ => FaultKind::Connect,
        };
        Fault::new(kind, error.to_string())
    }
}

fn is_out_of_descriptors(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kind.name())?;
        if !self.message.is_empty() {
            write!(formatter, ": {}", self.message)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_the_file() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert!(!kind.name().is_empty() && !kind.hint().is_empty());
            assert_eq!(FaultKind::of_code(kind.code()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.code());
        }
    }

    #[test]
    fn statuses_have_their_kind() {
        let kinds = [200, 401, 403, 404, 418, 429, 503].map(FaultKind::of_status);
        let expected = [
            None,
            Some(FaultKind::Unauthorized),
            Some(FaultKind::Forbidden),
            Some(FaultKind::NotFound),
            Some(FaultKind::Rejected),
            Some(FaultKind::TooMany),
            Some(FaultKind::Server),
        ];
        assert_eq!(kinds, expected);
    }
}
