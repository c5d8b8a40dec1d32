//! Servers that misbehave on purpose: whatever they send, memory is bounded, the time limit holds, and the fault says
//! what happened.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use assay_load::FaultKind;
use assay_load::request::Endpoint;
use assay_load::run::{Load, LoadLimits};
use assay_load::token::TokenSource;

use super::support::{Numbered, perform};

const TIMEOUT: Duration = Duration::from_millis(1500);

/// Serves every connection with `answer`; gives the base URL.
fn serve(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), answer.clone());
            std::thread::spawn(move || {
                let mut request = [0; 64 << 10];
                let _ = stream.read(&mut request);
                // The client hangs up in the middle of it, which is the point.
                let _ = answer(&mut stream);
            });
        }
    });
    format!("http://{address}/v1")
}

/// The fault of one request, which must come in time.
fn fault(url: &str) -> (FaultKind, String) {
    let mut load = Load::closed(Endpoint::new(url, "m"), 1, 1);
    load.timeout = TIMEOUT;
    load.limits = LoadLimits {
        event_bytes: 256 << 10,
        body_bytes: 256 << 10,
        answer_bytes: 4 << 20,
        ..LoadLimits::default()
    };
    let began = Instant::now();
    let before = resident_bytes();
    let (exchanges, _) = perform(&load, &Numbered);
    assert!(began.elapsed() < TIMEOUT + Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(resident_bytes() < before + (64 << 20), "memory grew from {before} to {}", resident_bytes());
    let fault = exchanges[0].fault.clone().unwrap();
    (fault.kind, fault.message)
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

fn endless(stream: &mut TcpStream, head: &str, piece: &[u8]) -> std::io::Result<()> {
    stream.write_all(head.as_bytes())?;
    let block = piece.repeat((64 << 10) / piece.len() + 1);
    loop {
        stream.write_all(&block)?;
    }
}

#[test]
fn what_has_no_end_is_ended() {
    let sse = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let cases: [(&str, &str, &'static [u8]); 6] = [
        ("headers", "HTTP/1.1 200 OK\r\n", b"x-more: and more\r\n"),
        ("a data line", sse, b"data: and so on "),
        ("a stream", sse, b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"),
        ("comments", sse, b": still here\n\n"),
        ("an error", "HTTP/1.1 500 Oh\r\ncontent-type: text/plain\r\n\r\n", b"no "),
        (
            "a body",
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999999999999\r\n\r\n",
            b"[[[[",
        ),
    ];
    for (name, head, piece) in cases {
        let head = head.to_owned();
        let url = serve(move |stream| endless(stream, &head, piece));
        let (kind, message) = fault(&url);
        assert_eq!(kind, FaultKind::TooLarge, "{name}: {message}");
    }
}

#[test]
fn one_gigantic_chunk_and_a_compressed_bomb_are_bounded() {
    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFF\r\n";
    let url = serve(move |stream| endless(stream, chunked, b"data: x"));
    assert_eq!(fault(&url).0, FaultKind::TooLarge);
    // Nothing is decompressed: what was not asked for is not an answer.
    let url = serve(|stream| {
        let body = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3].repeat(1000);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)
    });
    assert_eq!(fault(&url).0, FaultKind::Malformed);
}

/// Chunks that come one by one; `strange` stands behind the size of the third: chunks are read without hyper until then, and hyper is
/// called back in the middle of the answer.
fn streamed(head: &'static str, strange: &'static str, last: &'static str) -> String {
    serve(move |stream| {
        let event = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
        let plain = format!("{:x}\r\n{event}\r\n", event.len());
        let odd = format!("{:x}{strange}\r\n{event}\r\n", event.len());
        stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes())?;
        for piece in [&plain, &plain, &odd, &plain] {
            stream.write_all(piece.as_bytes())?;
            std::thread::sleep(Duration::from_millis(20));
        }
        let done = "data: [DONE]\n\n";
        if last.starts_with('0') {
            stream.write_all(format!("{:x}\r\n{done}\r\n", done.len()).as_bytes())?;
        }
        stream.write_all(last.as_bytes())?;
        // What follows would wait on the same connection, which this server does not serve twice.
        stream.shutdown(std::net::Shutdown::Write)
    })
}

#[test]
fn a_stream_that_is_chunked_in_an_unusual_way_is_read_to_its_end() {
    const SSE: &str = "content-type: text/event-stream\r\ntransfer-encoding: chunked";
    const CLOSING: &str =
        "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close";
    let cases = [
        (SSE, "", "0\r\n\r\n", None),
        (CLOSING, "", "0\r\n\r\n", None),
        (SSE, ";name=value", "0\r\n\r\n", None),
        (SSE, "", "0\r\nx-trailer: 1\r\n\r\n", None),
        (CLOSING, ";name", "0\r\nx-trailer: 1\r\n\r\n", None),
        (SSE, "", "", Some(FaultKind::Cut)),
        (SSE, "", "5\r\nab", Some(FaultKind::Cut)),
        (SSE, ";name", "zz\r\n", Some(FaultKind::Cut)),
    ];
    for (head, strange, last, expected) in cases {
        let mut load = Load::closed(Endpoint::new(streamed(head, strange, last), "m"), 1, 2);
        load.timeout = TIMEOUT;
        let (exchanges, _) = perform(&load, &Numbered);
        assert_eq!(exchanges.len(), 2, "{head} {strange} {last}");
        for exchange in exchanges {
            let fault = exchange.fault.as_ref().map(|fault| fault.kind);
            assert_eq!(fault, expected, "{head} {strange} {last}: {:?}", exchange.fault);
            // Four tokens, and the mark that the stream is over.
            let chunks = if expected.is_none() { 5 } else { 4 };
            assert_eq!(exchange.chunks.len(), chunks, "{head} {strange} {last}");
        }
    }
}

#[test]
fn silence_and_dripping_end_at_the_time_limit() {
    let url = serve(|_| {
        std::thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    assert_eq!(fault(&url).0, FaultKind::NoAnswer);
    let url = serve(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")?;
        loop {
            stream.write_all(b": ping\n\n")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_eq!(fault(&url).0, FaultKind::Timeout);
}

#[test]
fn redirects_are_not_followed_and_empty_answers_are_not_successes() {
    let url = serve(|stream| {
        stream.write_all(
            b"HTTP/1.1 307 Elsewhere\r\nlocation: http://u:canary@other/v1\r\ncontent-length: 0\r\n\r\n",
        )
    });
    assert_eq!(fault(&url), (FaultKind::Redirect, "status 307 to http://other/v1".to_owned()));
    let url = serve(|stream| {
        let body = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    });
    assert_eq!(fault(&url).0, FaultKind::Empty);
}

#[test]
fn a_token_that_the_server_quotes_is_not_kept() {
    let url = serve(|stream| {
        let body =
            format!("{{\"error\": {{\"message\": \"{} wrong key sk-canary-echo-42\"}}}}", "x".repeat(180));
        let head = format!(
            "HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    });
    let mut endpoint = Endpoint::new(&url, "m");
    endpoint.token = Some(TokenSource::Command("echo sk-canary-echo-42".to_owned()));
    let (exchanges, _) = perform(&Load::closed(endpoint, 1, 1), &Numbered);
    let kept = serde_json::to_string(&exchanges[0]).unwrap();
    assert!(kept.contains("401") && kept.contains("[redacted]"), "{kept}");
    assert!(!kept.contains("canary") && !kept.contains("sk-c"), "{kept}");
    let wrong = Endpoint::new("https://me:sk-canary@host/v1", "m").check().unwrap_err().to_string();
    assert!(wrong.contains("https://host/v1") && !wrong.contains("canary"), "{wrong}");
}
