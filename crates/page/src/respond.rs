//! A request to a reply, without a socket.

use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, Uri};

use crate::guard::{self, Admission};
use crate::site::Site;
use crate::views::{self, Query, ViewError};

/// What a request gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A page or a file.
    Page { status: StatusCode, kind: &'static str, text: String, policy: &'static str },
    /// Another address, with a cookie.
    Elsewhere { to: String, cookie: String },
    /// A record while it runs: its id, and how long its journal was when the reader's page was made.
    Live { id: String, seen: Option<u64> },
}

/// Pages of the site: styles, the one script and connections come from the site itself, and nothing else is allowed.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Reports of one file: a style sheet of their own, no script at all.
pub const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";

/// Answers a request.
pub fn respond(site: &Arc<Site>, method: &Method, uri: &Uri, headers: &HeaderMap) -> Reply {
    match guard::admit(method, uri, headers, site.token.as_ref()) {
        Admission::Granted => granted(site, uri),
        Admission::Keep(to) => {
            let cookie = site.token.as_ref().map(guard::cookie).unwrap_or_default();
            Reply::Elsewhere { to, cookie }
        }
        Admission::WrongMethod => refused(StatusCode::METHOD_NOT_ALLOWED, "This page is read-only."),
        Admission::WrongHost => refused(
            StatusCode::MISDIRECTED_REQUEST,
            "The host of the request is not this machine. Open http://127.0.0.1 or http://localhost with the port.",
        ),
        Admission::Forbidden => {
            refused(StatusCode::FORBIDDEN, "Open the address with the token that `assay page` printed.")
        }
    }
}

fn granted(site: &Arc<Site>, uri: &Uri) -> Reply {
    let query = Query::parse(uri.query().unwrap_or_default());
    let view = match uri.path() {
        "/" => views::records::view(site, &query),
        "/record" => views::record::view(site, &query),
        "/runs" => views::runs::view(site, &query),
        "/run" => views::run::view(site, &query),
        "/log" => views::log::view(site, &query),
        "/compare" => views::compare::view(site, &query),
        "/history" => views::history::view(site, &query),
        "/report" => return own_style(views::record::report(site, &query)),
        "/audit" => return own_style(views::audit::view(site, &query)),
        "/live" => return live(site, &query),
        "/style.css" => return file("text/css; charset=utf-8", views::style()),
        "/script.js" => return file("text/javascript; charset=utf-8", views::SCRIPT.to_owned()),
        "/icon.svg" => return file("image/svg+xml", views::ICON.to_owned()),
        _ => Err(ViewError::Missing("There is no such page.".to_owned())),
    };
    view.map_or_else(failed, |text| Reply::Page { status: StatusCode::OK, kind: HTML, text, policy: POLICY })
}

fn live(site: &Arc<Site>, query: &Query) -> Reply {
    match views::open(site, query) {
        Ok((listed, _)) => Reply::Live { id: listed.id.clone(), seen: query.number("seen") },
        Err(error) => failed(error),
    }
}

fn own_style(view: Result<String, ViewError>) -> Reply {
    view.map_or_else(failed, |text| Reply::Page {
        status: StatusCode::OK,
        kind: HTML,
        text,
        policy: REPORT_POLICY,
    })
}

fn file(kind: &'static str, text: String) -> Reply {
    Reply::Page { status: StatusCode::OK, kind, text, policy: POLICY }
}

fn failed(error: ViewError) -> Reply {
    match error {
        ViewError::Missing(text) => refused(StatusCode::NOT_FOUND, &text),
        ViewError::Wrong(text) => refused(StatusCode::BAD_REQUEST, &text),
        ViewError::Unreadable(text) => refused(StatusCode::INTERNAL_SERVER_ERROR, &text),
    }
}

fn refused(status: StatusCode, why: &str) -> Reply {
    let title = format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default());
    let text = views::shell(&title, &[], |page| {
        page.leaf("h2", &[], &title);
        page.leaf("p", &[], why);
    });
    Reply::Page { status, kind: HTML, text, policy: POLICY }
}

#[cfg(test)]
mod tests;
