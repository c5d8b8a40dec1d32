//! A record while it runs, as server-sent events. The journal is what the terminal's progress is made from too: when it
//! grows, the readers get the record's answer again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_store::Record;
use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use crate::site::Site;
use crate::views;

/// How often the journal is looked at.
const LOOK: Duration = Duration::from_millis(300);
/// Silence after which a comment keeps the connection open, and shows whether anybody still listens.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Sends an event whenever the record changes, until the reader leaves.
pub fn follow(site: &Arc<Site>, id: &str, seen: Option<u64>, to: &Sender<Bytes>) {
    let Ok(Some(listed)) = site.catalog.find(&site.root, id) else { return };
    let mut seen = seen;
    let mut last = Instant::now();
    let mut sent_body = String::new();
    loop {
        let length = Record::stamp(&listed.path).map(|(length, _)| length);
        if length != seen {
            seen = length;
            let Ok(body) = views::record::live(site, &listed) else { return };
            if body != sent_body {
                if to.blocking_send(event(&body)).is_err() {
                    return;
                }
                sent_body = body;
                last = Instant::now();
            }
        } else if last.elapsed() >= KEEP_ALIVE {
            if to.blocking_send(Bytes::from_static(b": still here\n\n")).is_err() {
                return;
            }
            last = Instant::now();
        }
        if to.is_closed() {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// One event; every line of its text has to be marked as such.
fn event(text: &str) -> Bytes {
    let mut out = String::with_capacity(text.len() + 64);
    out.push_str("event: record\n");
    for line in text.split('\n') {
        out.push_str("data: ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_text_becomes_a_field_of_its_own() {
        assert_eq!(&event("a\nevent: b")[..], b"event: record\ndata: a\ndata: event: b\n\n");
    }
}
