//! Which requests are answered at all. The page is read-only and meant for one machine: a request must name this machine
//! as its host, so that no web site can reach it through a name of its own (DNS rebinding), or have the token.

use http::{HeaderMap, Method, Uri, header};

/// A secret that lets readers on other machines in.
#[derive(Clone)]
pub struct AccessToken(String);

/// The cookie that keeps the token.
const COOKIE: &str = "assay_token";

impl AccessToken {
    /// A new random token.
    pub fn random() -> std::io::Result<AccessToken> {
        use std::io::Read;
        let mut bytes = [0u8; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(AccessToken(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token as text, for the address that is printed once.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares without saying by its time how much of a guess was right.
    fn matches(&self, guess: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), guess.as_bytes());
        let difference = ours.iter().zip(theirs).fold(0u8, |sum, (a, b)| sum | (a ^ b));
        ours.len() == theirs.len() && difference == 0
    }
}

/// What is done with a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Admission {
    Granted,
    /// It brought the token in its address: keep it in a cookie and go on without it.
    Keep(String),
    /// Only reading is possible.
    WrongMethod,
    /// The host is not this machine.
    WrongHost,
    /// The token is missing or wrong.
    Forbidden,
}

/// Decides about a request.
pub fn admit(method: &Method, uri: &Uri, headers: &HeaderMap, token: Option<&AccessToken>) -> Admission {
    if method != Method::GET && method != Method::HEAD {
        return Admission::WrongMethod;
    }
    let Some(token) = token else {
        return if is_loopback(headers) { Admission::Granted } else { Admission::WrongHost };
    };
    let query = uri.query().unwrap_or_default();
    let brought = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    if let Some(guess) = brought {
        return if token.matches(guess) { Admission::Keep(without_token(uri)) } else { Admission::Forbidden };
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let kept = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut ours = kept.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value);
    if ours.any(|value| token.matches(value)) { Admission::Granted } else { Admission::Forbidden }
}

/// The cookie that is set for a reader who brought the token.
pub fn cookie(token: &AccessToken) -> String {
    format!("{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/", token.text())
}

fn without_token(uri: &Uri) -> String {
    let rest: Vec<&str> =
        uri.query().unwrap_or_default().split('&').filter(|pair| !pair.starts_with("token=")).collect();
    match rest.join("&") {
        rest if rest.is_empty() => uri.path().to_owned(),
        rest => format!("{}?{rest}", uri.path()),
    }
}

fn is_loopback(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let host = host.to_str().unwrap_or_default();
    // A port behind the name is not looked at; an IPv6 address stands in brackets.
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, uri: &str, cookie: Option<&str>, token: Option<&AccessToken>) -> Admission {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(cookie) = cookie {
            headers.insert(header::COOKIE, cookie.parse().unwrap());
        }
        admit(&Method::GET, &uri.parse().unwrap(), &headers, token)
    }

    #[test]
    fn only_this_machine_is_served_without_a_token() {
        for host in ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"] {
            assert_eq!(asked(host, "/", None, None), Admission::Granted, "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "[::2]", "["]
        {
            assert_eq!(asked(host, "/", None, None), Admission::WrongHost, "{host}");
        }
        let none = admit(&Method::GET, &"/".parse().unwrap(), &HeaderMap::new(), None);
        assert_eq!(none, Admission::WrongHost);
    }

    #[test]
    fn a_token_is_kept_in_a_cookie_and_leaves_the_address() {
        let token = AccessToken("secret".to_owned());
        let asked = |uri: &str, cookie: Option<&str>| asked("host", uri, cookie, Some(&token));
        assert_eq!(asked("/record?id=a&token=secret", None), Admission::Keep("/record?id=a".to_owned()));
        assert_eq!(asked("/?token=secre", None), Admission::Forbidden);
        assert_eq!(asked("/", None), Admission::Forbidden);
        assert_eq!(asked("/", Some("a=b; assay_token=secret")), Admission::Granted);
        assert_eq!(asked("/", Some("assay_token=wrong!")), Admission::Forbidden);
    }

    #[test]
    fn nothing_can_be_written() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "localhost".parse().unwrap());
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            assert_eq!(admit(&method, &"/".parse().unwrap(), &headers, None), Admission::WrongMethod);
        }
    }
}
