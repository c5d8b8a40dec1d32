//! The pages. Each is made on the server and readable without script; every view is an address.
//!
//! | file | shows |
//! |---|---|
//! | `views/records.rs` | all records, with a filter |
//! | `views/record.rs` | one record, live |
//! | `views/runs.rs` | the runs of a record |
//! | `views/run.rs` | one run: numbers with their lines, phases, series, files |
//! | `views/log.rs` | a file of a run, at a line |
//! | `views/compare.rs` | records side by side |
//! | `views/history.rs` | a metric over the records of a campaign |
//! | `views/audit.rs` | the audit of a write-up or a record |

pub mod audit;
pub mod compare;
pub mod history;
pub mod log;
pub mod record;
pub mod records;
pub mod run;
pub mod running;
pub mod runs;

use std::sync::Arc;

use assay_judge::JudgeError;
use assay_report::markup::Markup;
use assay_store::{Record, StoreError};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::catalog::ListedRecord;
use crate::site::Site;

/// The one script: live updates and the keys of the list. Everything can be read without it.
pub const SCRIPT: &str = include_str!("views/script.js");

/// The mark in the browser's tab.
pub const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" height=\"16\" rx=\"3\" fill=\"#0b5fa5\"/><path d=\"M3 12h10M5 12V7m3 5V4m3 8V9\" stroke=\"#fff\" stroke-width=\"1.6\"/></svg>";

/// The style sheet: that of reports, and what the page adds.
pub fn style() -> String {
    format!("{}{}{}", assay_report::figure::STYLE, assay_report::page::STYLE, include_str!("views/style.css"))
}

/// Why a view cannot be shown.
#[derive(Debug)]
pub enum ViewError {
    Missing(String),
    Wrong(String),
    Unreadable(String),
}

impl From<StoreError> for ViewError {
    fn from(error: StoreError) -> ViewError {
        ViewError::Unreadable(error.to_string())
    }
}

impl From<JudgeError> for ViewError {
    fn from(error: JudgeError) -> ViewError {
        match error {
            JudgeError::Store(error) => error.into(),
            other => ViewError::Wrong(other.to_string()),
        }
    }
}

/// The part of an address behind the question mark.
#[derive(Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    pub fn parse(text: &str) -> Query {
        let decode =
            |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        Query { pairs: pairs.collect() }
    }

    /// The value of a name; none where it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs
            .iter()
            .filter(move |(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

/// The address of a view.
pub fn address(path: &str, query: &[(&str, &str)]) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// The record that a query names.
pub fn open(site: &Site, query: &Query) -> Result<(Arc<ListedRecord>, Record), ViewError> {
    let id = query.get("id").ok_or_else(|| ViewError::Wrong("The address names no record.".to_owned()))?;
    find(site, id)
}

/// The record of an id.
pub fn find(site: &Site, id: &str) -> Result<(Arc<ListedRecord>, Record), ViewError> {
    let listed = site.catalog.find(&site.root, id)?;
    let listed = listed.ok_or_else(|| ViewError::Missing(format!("There is no record {id}.")))?;
    let record = Record::open(&listed.path)?;
    Ok((listed, record))
}

/// A step on the way to a view: its name and its address.
pub type Step = (String, String);

/// A whole page: the way to it, and what it shows.
pub fn shell(title: &str, way: &[Step], body: impl FnOnce(&mut Markup)) -> String {
    let mut page = Markup::default();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        page.element("head", &[], |page| {
            page.empty("meta", &[("charset", "utf-8")]);
            page.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            page.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            page.leaf("title", &[], &format!("{title} · assay"));
            page.empty("link", &[("rel", "stylesheet"), ("href", "/style.css")]);
            page.empty("link", &[("rel", "icon"), ("href", "/icon.svg")]);
            page.leaf("script", &[("src", "/script.js"), ("defer", "defer")], "");
        });
        page.line();
        page.element("body", &[], |page| {
            page.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to content");
            page.element("header", &[], |page| header(page, title, way));
            page.line();
            page.element("main", &[("id", "main")], body);
        });
    });
    page.line();
    page.finish()
}

fn header(page: &mut Markup, title: &str, way: &[Step]) {
    page.element("div", &[("class", "bar")], |page| {
        page.element("nav", &[("class", "way"), ("aria-label", "way")], |page| {
            link(page, "Records", "/");
            for (name, address) in way {
                page.leaf("span", &[("aria-hidden", "true")], "›");
                link(page, name, address);
            }
        });
        page.element("div", &[("class", "what")], |page| page.leaf("h1", &[], title));
    });
}

pub fn link(page: &mut Markup, text: &str, to: &str) {
    page.leaf("a", &[("href", to)], text);
}

/// The step to a record.
pub fn record_step(listed: &ListedRecord) -> Step {
    (listed.name().to_owned(), address("/record", &[("id", &listed.id)]))
}

/// The step to the runs of a record.
pub fn runs_step(listed: &ListedRecord) -> Step {
    ("runs".to_owned(), address("/runs", &[("id", &listed.id)]))
}

/// A form that chooses the metric to judge by, for the view of an address with these values.
pub fn metric_choice<'a>(
    page: &mut Markup,
    (path, values): (&str, &[(&str, &str)]),
    known: impl Iterator<Item = &'a str>,
    chosen: Option<&str>,
) {
    page.element("form", &[("class", "filter"), ("action", path), ("method", "get")], |page| {
        for (name, value) in values {
            page.empty("input", &[("type", "hidden"), ("name", name), ("value", value)]);
        }
        page.element("label", &[], |page| {
            page.text("Judge by");
            page.element("select", &[("name", "metric")], |page| {
                page.leaf("option", &[("value", "")], "the campaign's metrics");
                for name in known {
                    let both = [("value", name), ("selected", "selected")];
                    let attributes = if chosen == Some(name) { &both[..] } else { &both[..1] };
                    page.leaf("option", attributes, name);
                }
            });
        });
        page.leaf("button", &[("class", "act"), ("type", "submit")], "Show");
    });
    page.line();
}

/// A table that is written row by row.
pub fn table(page: &mut Markup, columns: &[(&str, bool)], rows: impl FnOnce(&mut Markup)) {
    page.element(
        "div",
        &[("class", "block scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", "table")],
        |page| {
            page.element("table", &[], |page| {
                page.element("thead", &[], |page| {
                    page.element("tr", &[], |page| {
                        for (name, is_number) in columns {
                            let class = if *is_number { "number" } else { "words" };
                            page.leaf("th", &[("scope", "col"), ("class", class)], name);
                        }
                    });
                });
                page.element("tbody", &[], rows);
            });
        },
    );
    page.line();
}
