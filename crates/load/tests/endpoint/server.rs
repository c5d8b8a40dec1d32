//! The calibration endpoint by itself, spoken to byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use assay_load::arrivals::Arrivals;
use assay_load::calibration::{FailureKind, MockSchedule, Running, Server, read_sends};
use assay_load::metrics::Counters;
use assay_load::request::Endpoint;

use super::support::{failing, measure};

const BODY: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"a b c #5"}]}"#;

fn start(schedule: MockSchedule) -> Running {
    Server::bind("127.0.0.1:0", schedule).unwrap().keeping_sends().start().unwrap()
}

fn connect(server: &Running) -> TcpStream {
    let address = server.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

fn post(body: &str) -> String {
    format!("POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Reads until `end` has come this many times.
fn read_until(socket: &mut TcpStream, end: &str, times: usize) -> String {
    let (mut bytes, mut searched, mut found) = (Vec::new(), 0, 0);
    let mut buffer = [0; 65_536];
    while found < times {
        let count = socket.read(&mut buffer).unwrap();
        assert!(count > 0, "the endpoint closed: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&buffer[..count]);
        while let Some(at) = bytes[searched..].windows(end.len()).position(|part| part == end.as_bytes()) {
            found += 1;
            searched += at + end.len();
        }
        searched = searched.max(bytes.len().saturating_sub(end.len()));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn requests_one_after_the_other_and_all_at_once() {
    let server = start(MockSchedule { tokens: 3, ..MockSchedule::default() });
    let mut socket = connect(&server);
    socket.write_all(post(BODY).repeat(3).as_bytes()).unwrap();
    let text = read_until(&mut socket, "\r\n0\r\n\r\n", 3);
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3);
    assert_eq!(text.matches("data: [DONE]").count(), 3);
    // A request that comes a byte at a time.
    for byte in post(BODY).bytes() {
        socket.write_all(&[byte]).unwrap();
    }
    read_until(&mut socket, "\r\n0\r\n\r\n", 1);
    let summary = server.stop().unwrap();
    assert_eq!((summary.requests, summary.answers, summary.connections), (4, 4, 1));
    assert_eq!(summary.streams.len(), 4);
    assert!(summary.streams.iter().all(|stream| stream.client == Some(5) && stream.tokens() == 3));
}

#[test]
fn usage_is_told_when_asked_for() {
    let server = start(MockSchedule { tokens: 3, ..MockSchedule::default() });
    let mut socket = connect(&server);
    socket.write_all(post(BODY).as_bytes()).unwrap();
    assert!(!read_until(&mut socket, "\r\n0\r\n\r\n", 1).contains("usage"));
    let asking =
        BODY.replace("\"stream\"", "\"max_tokens\":2,\"stream_options\":{\"include_usage\":true},\"stream\"");
    socket.write_all(post(&asking).as_bytes()).unwrap();
    let text = read_until(&mut socket, "\r\n0\r\n\r\n", 1);
    assert!(text.contains(r#""prompt_tokens":4,"completion_tokens":2"#), "{text}");
    assert!(text.contains(r#""finish_reason":"length""#), "{text}");
}

#[test]
fn pages_and_refusals() {
    let server = start(failing(FailureKind::Status { status: 429, retry_after: Some(3) }));
    let mut socket = connect(&server);
    socket.write_all(post(BODY).as_bytes()).unwrap();
    let text = read_until(&mut socket, "}}", 1);
    assert!(
        text.starts_with("HTTP/1.1 429 Too Many Requests\r\n") && text.contains("Retry-After: 3\r\n"),
        "{text}"
    );
    socket.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_until(&mut socket, "in_flight 0\n", 1).contains("assay_calibration_requests_total 1\n"));
    socket.write_all(b"GET /v1/models HTTP/1.1\r\n\r\n").unwrap();
    read_until(&mut socket, "\"calibration\"", 1);
    let waiting = "POST /v1/completions HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    socket.write_all(waiting.as_bytes()).unwrap();
    read_until(&mut socket, "100 Continue\r\n\r\n", 1);
    socket.write_all(b"{}").unwrap();
    read_until(&mut socket, "429", 1);
    socket.write_all(b"rubbish\r\n\r\n").unwrap();
    let mut rest = String::new();
    socket.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("400 Bad Request") && rest.contains("Connection: close"), "{rest}");
}

#[test]
fn a_client_that_does_not_read_gets_everything_later() {
    let server = start(MockSchedule { tokens: 60_000, events_per_write: 500, ..MockSchedule::instant() });
    let mut socket = connect(&server);
    socket.write_all(post(BODY).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let text = read_until(&mut socket, "data: [DONE]", 1);
    assert_eq!(text.matches("\"delta\":{\"content\":\" ").count(), 60_000);
    let summary = server.stop().unwrap();
    assert!(summary.blocked > 0);
    assert_eq!(summary.tokens, 60_000);
}

#[test]
fn a_client_that_leaves_is_noticed() {
    let server = start(MockSchedule { first_token: Duration::from_secs(60), ..MockSchedule::default() });
    for _ in 0..3 {
        connect(&server).write_all(post(BODY).as_bytes()).unwrap();
    }
    let began = Instant::now();
    // Connections end in their own time; a page says when all have.
    while began.elapsed() < Duration::from_secs(20) {
        let mut socket = connect(&server);
        socket.write_all(b"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        socket.read_to_string(&mut page).unwrap();
        if page.contains("requests_total 3\n") && page.contains("in_flight 0\n") {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.stop().unwrap().abandoned, 3);
}

#[test]
fn what_the_server_counts_is_read_before_and_after() {
    let server = start(MockSchedule { tokens: 3, ..MockSchedule::default() });
    let endpoint = Endpoint::new(server.url(), "m");
    let before = Counters::fetch(&endpoint, None).unwrap();
    let mut socket = connect(&server);
    socket.write_all(post(BODY).repeat(2).as_bytes()).unwrap();
    read_until(&mut socket, "\r\n0\r\n\r\n", 2);
    let page = server.url().replace("/v1", "/metrics");
    let grown = Counters::fetch(&endpoint, Some(&page)).unwrap().since(&before);
    assert_eq!(grown.get("assay_calibration_requests_total"), Some(&2.0));
    assert_eq!(grown.get("assay_calibration_tokens_total"), Some(&6.0));
    let nothing = Counters::fetch(&endpoint, Some(server.url())).unwrap_err();
    assert!(nothing.to_string().contains("404"), "{nothing}");
}

#[test]
fn requests_beyond_the_slots_wait_for_their_turn() {
    let schedule = MockSchedule { tokens: 3, slots: Some(2), ..MockSchedule::default() };
    let seen = measure(schedule, |load| {
        load.arrivals = Arrivals::Closed { streams: 6 };
        load.requests = Some(6);
    });
    assert_eq!((seen.server.most_in_flight, seen.server.answers), (2, 6));
    assert!(seen.exchanges.iter().all(|exchange| exchange.is_success()));
    // Three pairs after each other, each of at least 24 ms.
    let last =
        seen.exchanges.iter().map(|exchange| exchange.end_at_s - exchange.sent_at_s).fold(0.0, f64::max);
    assert!(last >= 0.072, "{last}");
}

#[test]
fn a_client_that_gives_up_waiting_takes_no_slot() {
    let schedule =
        MockSchedule { first_token: Duration::from_millis(200), slots: Some(1), ..MockSchedule::default() };
    let server = start(schedule);
    let mut first = connect(&server);
    first.write_all(post(BODY).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    connect(&server).write_all(post(BODY).as_bytes()).unwrap();
    read_until(&mut first, "data: [DONE]", 1);
    first.write_all(post(BODY).as_bytes()).unwrap();
    read_until(&mut first, "data: [DONE]", 1);
    assert_eq!(server.stop().unwrap().answers, 2);
}

#[test]
fn send_times_are_written_to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sends");
    let schedule = MockSchedule { tokens: 4, ..MockSchedule::default() };
    let server =
        Server::bind("127.0.0.1:0", schedule).unwrap().writing_sends(&path).unwrap().start().unwrap();
    let mut socket = connect(&server);
    socket.write_all(post(BODY).as_bytes()).unwrap();
    read_until(&mut socket, "data: [DONE]", 1);
    let summary = server.stop().unwrap();
    assert!(summary.streams.is_empty());
    let streams = read_sends(&path).unwrap();
    assert_eq!(streams.len(), 1);
    assert_eq!((streams[0].tokens(), streams[0].client), (4, Some(5)));
    let first = streams[0].first_token_ns().unwrap() - streams[0].arrived_ns;
    assert!(first >= 20_000_000, "the first token came {first} ns after the request");
}
