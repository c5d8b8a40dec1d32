//! What a stranger may ask for, without a socket.

use std::os::unix::fs::symlink;

use super::*;
use assay_model::{Entry, Observation, Origin, RunId, RunResult, Source, Status, Unit};
use assay_store::{Identity, Store};
use http::header;

/// A record whose one run has a hostile log, a link that leads out, and a number with its line.
fn site() -> (tempfile::TempDir, Arc<Site>) {
    let place = tempfile::tempdir().unwrap();
    let record = place.path().join("records/one");
    let identity = Identity { name: "one".into(), now: 1.0, program: "0".into(), host: "h".into(), pid: 1 };
    let mut store = Store::open_or_create(&record, &identity).unwrap();
    let run: RunId = "0123456789abcdef@local/r1".parse().unwrap();
    let directory = assay_store::relative_run_directory(&run);
    let mut result = RunResult::bare(Status::Succeeded, 1.0);
    let mut found = Observation::new("duration.wall", 2.0, Unit::Seconds, Origin::Reported);
    found.source = Some(Source::new("stdout.log", 1));
    result.observations.push(found);
    store.append(&Entry::Launching { run: run.clone(), at: 1.0, directory: directory.clone() }).unwrap();
    store.commit(&Entry::Finished { run, result: Box::new(result) }).unwrap();
    let folder = record.join(directory);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("stdout.log"), "<script>alert(1)</script>\u{202e}\u{1b}[2J\n").unwrap();
    std::fs::write(place.path().join("secret.txt"), "secret").unwrap();
    symlink(place.path().join("secret.txt"), folder.join("link.log")).unwrap();
    let audit = Box::new(|_: &std::path::Path| Err("not here".to_owned()));
    let defaults = Box::new(|_: &str| Default::default());
    let site = Site::new(place.path().to_owned(), Vec::new(), None, defaults, audit, Box::new(|_| None));
    (place, Arc::new(site))
}

fn get(site: &Arc<Site>, address: &str) -> (u16, String) {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, "localhost:1".parse().unwrap());
    match respond(site, &Method::GET, &address.parse().unwrap(), &headers) {
        Reply::Page { status, text, .. } => (status.as_u16(), text),
        other => panic!("{address}: {other:?}"),
    }
}

const RUN: &str = "id=records%2Fone&run=0123456789abcdef%40local%2Fr1";

#[test]
fn every_view_is_an_address() {
    let (_place, site) = site();
    for (address, part) in [
        ("/".to_owned(), "records/one"),
        ("/record?id=records%2Fone".to_owned(), "Evidence"),
        ("/runs?id=records%2Fone".to_owned(), "run=0123456789abcdef%40local%2Fr1"),
        (format!("/run?{RUN}"), "stdout.log:1"),
        (format!("/log?{RUN}&file=stdout.log&line=1"), "row target"),
        ("/history?name=one".to_owned(), "History of one"),
        ("/report?id=records%2Fone".to_owned(), "<style>"),
        ("/compare?id=records%2Fone&id=records%2Fone".to_owned(), "Compare"),
    ] {
        let (status, text) = get(&site, &address);
        assert_eq!(status, 200, "{address}: {text}");
        assert!(text.contains(part), "{address} lacks {part}: {text}");
    }
}

#[test]
fn nothing_outside_the_records_can_be_read() {
    let (_place, site) = site();
    for address in [
        "/record?id=..".to_owned(),
        "/record?id=%2Fetc".to_owned(),
        "/record?id=records%2Fone%2F..%2Fone".to_owned(),
        format!("/log?{RUN}&file=..%2F..%2F..%2Fjournal.jsonl"),
        format!("/log?{RUN}&file=%2Fetc%2Fpasswd"),
        format!("/log?{RUN}&file=link.log"),
        "/log?id=records%2Fone&run=..%2F..%2Fr1&file=stdout.log".to_owned(),
        "/audit?file=0".to_owned(),
        "/etc/passwd".to_owned(),
        "/../secret.txt".to_owned(),
    ] {
        let (status, text) = get(&site, &address);
        assert!((400..500).contains(&status), "{address} gave {status}");
        assert!(!text.contains("secret</") && !text.contains("root:"), "{address}: {text}");
    }
}

#[test]
fn what_a_log_or_an_address_says_stays_text() {
    let (_place, site) = site();
    let (_, text) = get(&site, &format!("/log?{RUN}&file=stdout.log"));
    assert!(text.contains("&lt;script&gt;alert(1)") && !text.contains(['\u{202e}', '\u{1b}']), "{text}");
    for address in ["/record?id=%3Cscript%3E", "/history?name=%3Cscript%3E%22", "/?q=%22%3E%3Cscript%3E"] {
        let (_, text) = get(&site, address);
        assert_eq!(text.matches("<script").count(), 1, "only the page's own script: {text}");
        assert!(!text.contains("\"><script>"), "{text}");
    }
}

#[test]
fn a_host_that_is_not_this_machine_gets_nothing() {
    let (_place, site) = site();
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, "evil.example".parse().unwrap());
    let reply = respond(&site, &Method::GET, &"/".parse().unwrap(), &headers);
    let Reply::Page { status, text, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(status, StatusCode::MISDIRECTED_REQUEST);
    assert!(!text.contains("records/one"));
}
