//! All records, with a filter.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_report::markup::Markup;
use assay_store::utc;

use super::{Query, ViewError, address, link, shell, table};
use crate::catalog::ListedRecord;
use crate::site::Site;

/// Records on one page.
const PAGE: usize = 200;
/// For so long a filter reads records that nobody has read yet. Thousands of them are read in the background, too.
const PATIENCE: Duration = Duration::from_millis(50);

/// The page.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let all = site.catalog.list(&site.root)?;
    let words = query.get("q").unwrap_or_default().to_lowercase();
    let state = query.get("state").unwrap_or_default();
    let is_filtered = !words.trim().is_empty() || !state.is_empty();
    let deadline = Instant::now() + PATIENCE;
    let mut unread = 0;
    let mut is_found = |record: &&Arc<ListedRecord>| {
        if !is_filtered {
            return true;
        }
        if !record.is_read_until(deadline) {
            unread += 1;
            return state.is_empty() && has_words(&record.id.to_lowercase(), &words);
        }
        has_words(record.words(), &words) && has_state(record, state)
    };
    let found: Vec<&Arc<ListedRecord>> = all.iter().filter(|record| is_found(record)).collect();
    let start = usize::try_from(query.number("from").unwrap_or(0)).unwrap_or(0).min(found.len());
    let shown = found.get(start..(start + PAGE).min(found.len())).unwrap_or_default();
    Ok(shell("Records", &[], |page| {
        filter(page, &words, state);
        if !site.write_ups.is_empty() {
            write_ups(page, site);
        }
        page.leaf("p", &[("class", "note")], &counted(all.len(), found.len(), start, shown.len()));
        if unread > 0 {
            let records = assay_report::number::counted(unread, "record");
            let text =
                format!("{records} not read yet, and searched by directory alone. Reload to search all.");
            page.leaf("p", &[("class", "note")], &text);
        }
        if all.is_empty() {
            page.leaf("p", &[], "No records here yet. `assay tour` or `assay run campaign.toml` makes one.");
            return;
        }
        page.element("form", &[("action", "/compare"), ("method", "get")], |page| {
            let columns = [
                ("compare", false),
                ("record", false),
                ("question", false),
                ("runs", true),
                ("state", false),
                ("last written", false),
            ];
            table(page, &columns, |page| shown.iter().for_each(|record| row(page, record)));
            page.leaf("button", &[("class", "act"), ("type", "submit")], "Compare the chosen records");
        });
        pages(page, query, start, found.len());
    }))
}

fn has_words(text: &str, words: &str) -> bool {
    words.split_whitespace().all(|word| text.contains(word))
}

fn has_state(record: &ListedRecord, state: &str) -> bool {
    state.is_empty()
        || match (record.contents(), state) {
            (Ok(contents), "failed") => contents.runs.failed + contents.runs.timed_out > 0,
            (Ok(contents), "open") => contents.runs.open > 0,
            (Err(_), "unreadable") => true,
            _ => false,
        }
}

fn filter(page: &mut Markup, words: &str, state: &str) {
    page.element(
        "form",
        &[("class", "filter"), ("action", "/"), ("method", "get"), ("role", "search")],
        |page| {
            page.element("label", &[], |page| {
                page.text("Filter by name, directory or question");
                page.empty("input", &[("type", "search"), ("name", "q"), ("value", words), ("size", "40")]);
            });
            page.element("label", &[], |page| {
                page.text("State");
                page.element("select", &[("name", "state")], |page| {
                    for (value, name) in [
                        ("", "any"),
                        ("open", "running or interrupted"),
                        ("failed", "with failed runs"),
                        ("unreadable", "unreadable"),
                    ] {
                        let chosen = [("value", value), ("selected", "selected")];
                        let attributes = if value == state { &chosen[..] } else { &chosen[..1] };
                        page.leaf("option", attributes, name);
                    }
                });
            });
            page.leaf("button", &[("class", "act"), ("type", "submit")], "Filter");
        },
    );
    page.line();
}

fn write_ups(page: &mut Markup, site: &Site) {
    page.element("p", &[("class", "actions")], |page| {
        page.text("Audits: ");
        for (index, file) in site.write_ups.iter().enumerate() {
            link(page, &file.display().to_string(), &address("/audit", &[("file", &index.to_string())]));
            page.text(" ");
        }
    });
}

fn counted(all: usize, found: usize, start: usize, shown: usize) -> String {
    let records = assay_report::number::counted(all as u64, "record");
    match (found == all, shown < found) {
        (true, false) => records,
        (true, true) => format!("{records}; {} – {} shown, the latest first", start + 1, start + shown),
        (false, _) => format!("{found} of {records}; {shown} shown, the latest first"),
    }
}

fn row(page: &mut Markup, record: &ListedRecord) {
    page.element("tr", &[], |page| {
        page.element("td", &[], |page| {
            let name = format!("compare {}", record.id);
            page.empty(
                "input",
                &[("type", "checkbox"), ("name", "id"), ("value", &*record.id), ("aria-label", &*name)],
            );
        });
        page.element("td", &[("class", "words")], |page| {
            link(page, record.name(), &address("/record", &[("id", &record.id)]));
            if record.name() != record.id {
                page.leaf("span", &[("class", "note")], &format!(" {}", record.id));
            }
        });
        match record.contents() {
            Ok(contents) => {
                page.leaf("td", &[("class", "words")], contents.question.as_deref().unwrap_or_default());
                page.leaf("td", &[("class", "number")], &contents.runs.total().to_string());
                let (class, state) = state(contents);
                page.leaf("td", &[("class", class)], &state);
                page.leaf("td", &[("class", "words")], &utc(record.last_used()));
            }
            Err(error) => {
                page.leaf("td", &[("class", "words bad"), ("colspan", "4")], error);
            }
        }
    });
    page.line();
}

/// The state of a record in words.
fn state(contents: &assay_store::RecordContents) -> (&'static str, String) {
    let runs = &contents.runs;
    let bad = runs.failed + runs.timed_out;
    match (runs.open, bad) {
        (0, 0) => ("words good", "complete".to_owned()),
        (0, bad) => ("words bad", format!("{bad} failed")),
        (open, 0) => ("words doubt", format!("{open} open")),
        (open, bad) => ("words doubt", format!("{open} open, {bad} failed")),
    }
}

fn pages(page: &mut Markup, query: &Query, start: usize, found: usize) {
    let to = |from: usize| {
        let (q, state) = (query.get("q").unwrap_or_default(), query.get("state").unwrap_or_default());
        address("/", &[("q", q), ("state", state), ("from", &from.to_string())])
    };
    page.element("p", &[("class", "pages")], |page| {
        if start > 0 {
            link(page, "← newer", &to(start.saturating_sub(PAGE)));
        }
        if start + PAGE < found {
            link(page, "older →", &to(start + PAGE));
        }
    });
}
