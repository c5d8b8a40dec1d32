//! Where a URL leads: host, port and path.

use std::net::{SocketAddr, ToSocketAddrs};

use assay_model::is_secret_name;
use http::header::HeaderValue;

use super::{Api, Endpoint, EndpointError};
use crate::token::Token;

/// Where an endpoint is.
#[derive(Debug, PartialEq)]
pub(super) struct EndpointAddress {
    pub(super) is_secure: bool,
    pub(super) host: String,
    port: u16,
    pub(super) authority: String,
    pub(super) path: http::Uri,
}

impl EndpointAddress {
    /// The address of the host, or why there is none.
    pub(super) fn address(&self) -> Result<SocketAddr, String> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut addresses = (bare, self.port).to_socket_addrs().map_err(|error| error.to_string())?;
        addresses.next().ok_or_else(|| "it has no address".to_owned())
    }

    /// Where requests of an interface go.
    pub(super) fn of(endpoint: &Endpoint) -> Result<EndpointAddress, EndpointError> {
        EndpointAddress::at(&endpoint.url, |base| full_path(base, endpoint.api))
    }

    /// The place of a URL, with another path than its own.
    fn at(url: &str, path: impl FnOnce(&str) -> String) -> Result<EndpointAddress, EndpointError> {
        let wrong =
            |reason: &str| EndpointError::Url { url: without_credentials(url), reason: reason.to_owned() };
        if url.contains('#') {
            return Err(wrong("what follows a # is never sent; leave it out"));
        }
        let url: http::Uri = url.trim().parse().map_err(|_| wrong("it cannot be read"))?;
        let is_secure = match url.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) => return Err(wrong("only http and https are possible")),
            None => return Err(wrong("it does not begin with http:// or https://")),
        };
        let authority = url.authority().ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong(
                "a user name or password in it would be seen by others; use a token or a header",
            ));
        }
        let port = authority.port_u16().filter(|port| *port > 0);
        let has_port = authority.as_str().len() > authority.host().len();
        if has_port && port.is_none() {
            return Err(wrong("its port is not a number from 1 to 65535"));
        }
        let query = url.query().unwrap_or_default();
        if query.split(['&', ';']).any(|pair| is_secret_name(pair.split('=').next().unwrap_or_default())) {
            return Err(wrong("a key or token in it would be stored; use a token or a header"));
        }
        let path = path(url.path());
        let path = match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path,
        };
        Ok(EndpointAddress {
            is_secure,
            host: authority.host().to_owned(),
            port: port.unwrap_or(if is_secure { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: path.parse().map_err(|_| wrong("its path cannot be read"))?,
        })
    }
}

/// A URL without user name and password, and without its parameters, which may hold keys.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // Something that is not a URL may still have a password before an `@`.
        return url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// A page of a server, to be asked for once.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) url: String,
    pub(crate) is_secure: bool,
    pub(crate) host: String,
    pub(crate) address: SocketAddr,
    pub(crate) authority: String,
    pub(crate) path: http::Uri,
    /// The bearer token's header, if the page is of the endpoint that the token is for.
    token: Option<HeaderValue>,
}

impl Page {
    /// The page at `url`, or `/metrics` of the endpoint's host.
    pub(crate) fn metrics(endpoint: &Endpoint, url: Option<&str>) -> Result<Page, EndpointError> {
        match url {
            Some(url) => Page::new(endpoint, EndpointAddress::at(url, str::to_owned)?),
            None => Page::new(endpoint, EndpointAddress::at(&endpoint.url, |_| "/metrics".to_owned())?),
        }
    }

    /// The endpoint's list of models.
    pub(crate) fn models(endpoint: &Endpoint) -> Result<Page, EndpointError> {
        let path = |base: &str| {
            let full = full_path(base, endpoint.api);
            format!("{}/models", full.strip_suffix(endpoint.api.path()).unwrap_or(base))
        };
        Page::new(endpoint, EndpointAddress::at(&endpoint.url, path)?)
    }

    fn new(endpoint: &Endpoint, place: EndpointAddress) -> Result<Page, EndpointError> {
        let own = EndpointAddress::of(endpoint)?;
        let address = place.address();
        let address = address.map_err(|reason| EndpointError::Dns { host: place.host.clone(), reason })?;
        let is_own = (&own.authority, own.is_secure) == (&place.authority, place.is_secure);
        let source = endpoint.token.clone().filter(|_| is_own);
        let token = source.map(|source| Token::new(source, None)).transpose()?;
        let scheme = if place.is_secure { "https" } else { "http" };
        Ok(Page {
            url: format!("{scheme}://{}{}", place.authority, place.path),
            is_secure: place.is_secure,
            host: place.host,
            address,
            authority: place.authority,
            path: place.path,
            token: token.map(|token| token.header()),
        })
    }

    /// The line of the head that carries the token; empty without one.
    pub(crate) fn authorization(&self) -> String {
        let value = self.token.as_ref().and_then(|token| token.to_str().ok());
        value.map(|value| format!("Authorization: {value}\r\n")).unwrap_or_default()
    }
}

/// The path of an interface under a base path.
fn full_path(base: &str, api: Api) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with(api.path()) && (api != Api::Completions || !base.ends_with(Api::Chat.path())) {
        base.to_owned()
    } else if base.is_empty() {
        format!("/v1{}", api.path())
    } else {
        format!("{base}{}", api.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str, api: Api) -> Result<String, String> {
        let endpoint = Endpoint { api, ..Endpoint::new(url, "m") };
        EndpointAddress::of(&endpoint)
            .map(|place| format!("{}:{} {}", place.host, place.port, place.path))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn models_are_listed_beside_the_interface() {
        let models = |url: &str| Page::models(&Endpoint::new(url, "")).unwrap().path.to_string();
        assert_eq!(models("http://127.0.0.1:1"), "/v1/models");
        assert_eq!(models("http://127.0.0.1:1/api/v1/"), "/api/v1/models");
        assert_eq!(models("http://127.0.0.1:1/v1/chat/completions"), "/v1/models");
    }

    #[test]
    fn base_urls_have_any_path() {
        let chat = |url| place(url, Api::Chat).unwrap();
        assert_eq!(chat("http://a:8000"), "a:8000 /v1/chat/completions");
        assert_eq!(chat("https://a/resource/vllm/v1/"), "a:443 /resource/vllm/v1/chat/completions");
        assert_eq!(chat("http://[::1]:80/v1/chat/completions"), "[::1]:80 /v1/chat/completions");
        assert_eq!(
            chat("https://a/deployments/x?api-version=2"),
            "a:443 /deployments/x/chat/completions?api-version=2"
        );
        assert_eq!(place("http://a/v1/completions", Api::Completions).unwrap(), "a:80 /v1/completions");
        assert_eq!(place("http://a/v1", Api::Embeddings).unwrap(), "a:80 /v1/embeddings");
        assert!(place("localhost:8000", Api::Chat).unwrap_err().contains("http://"));
        for port in ["http://a:99999/v1", "http://a:0/v1", "http://[::1]:x/v1", "http://a:/v1"] {
            assert!(place(port, Api::Chat).is_err(), "{port}");
        }
        assert!(place("ftp://a", Api::Chat).unwrap_err().contains("http and https"));
        assert!(place("http://me:secret@a/v1", Api::Chat).unwrap_err().contains("token"));
    }
}
