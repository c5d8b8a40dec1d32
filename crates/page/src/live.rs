//! A record while it runs, as server-sent events. The journal is what the terminal's progress is made from too: when it
//! grows, the readers get the record's answer again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_store::Record;
use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use crate::catalog::ListedRecord;
use crate::site::Site;
use crate::views;

/// How often the journal is looked at.
const LOOK: Duration = Duration::from_millis(300);
/// How often runs that have not ended are looked at.
const LOOK_AT_RUNS: Duration = Duration::from_millis(900);
/// Silence after which a comment keeps the connection open, and shows whether anybody still listens.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Sends an event whenever the record changes, until the reader leaves.
pub fn follow(site: &Arc<Site>, id: &str, seen: Option<u64>, to: &Sender<Bytes>) {
    let Ok(Some(listed)) = site.catalog.find(&site.root, id) else { return };
    let mut seen = seen;
    let mut last = Instant::now();
    let mut sent_body = String::new();
    let mut running = Running::default();
    loop {
        if let Some(body) = running.changed(site, &listed) {
            if to.blocking_send(event("running", &body)).is_err() {
                return;
            }
            last = Instant::now();
        }
        let length = Record::stamp(&listed.path).map(|(length, _)| length);
        if length != seen {
            seen = length;
            let Ok(body) = views::record::live(site, &listed) else { return };
            if body != sent_body {
                if to.blocking_send(event("record", &body)).is_err() {
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

/// What is sent of the runs that have not ended.
#[derive(Default)]
struct Running {
    sent: Option<String>,
    /// When to look again: a long load takes longer to read, and no reader may keep a processor busy.
    next: Option<Instant>,
}

impl Running {
    /// The open runs where they differ from what was sent last.
    fn changed(&mut self, site: &Site, listed: &ListedRecord) -> Option<String> {
        let began = Instant::now();
        if self.next.is_some_and(|next| began < next) {
            return None;
        }
        let body = views::running::live(site, listed).ok()?;
        self.next = Some(Instant::now() + LOOK_AT_RUNS.max(began.elapsed() * 10));
        let is_new = match &self.sent {
            Some(sent) => *sent != body,
            None => !body.is_empty(),
        };
        is_new.then(|| self.sent.insert(body).clone())
    }
}

/// One event; every line of its text has to be marked as such.
fn event(name: &str, text: &str) -> Bytes {
    let mut out = format!("event: {name}\n");
    out.reserve(text.len() + 64);
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
        assert_eq!(&event("record", "a\nevent: b")[..], b"event: record\ndata: a\ndata: event: b\n\n");
    }
}
