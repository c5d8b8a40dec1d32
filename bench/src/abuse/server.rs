//! A malicious server. The load client must end in time, in bounded memory, and let nothing through to the terminal.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::ensure;
use rustix::process::{Pid, Signal, kill_process};

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::place::Place;

/// Memory that the client may take, whatever the server sends.
const MOST_BYTES: u64 = 400 << 20;
/// The timeout of each request, and how long the whole command may take on a busy machine.
const TIMEOUT: &str = "2s";
const PATIENCE: Duration = Duration::from_secs(40);

/// What a server does to whoever asks.
type Malice = fn(&mut TcpStream, &str) -> io::Result<()>;

const MALICE: &[(&str, Malice)] = &[
    ("never answers", |_, _| sleep()),
    ("closes at once", |_, _| Ok(())),
    ("drips its headers", |peer, _| drip(peer, "HTTP/1.1 200 OK\r\nx: ")),
    ("drips its counters", |peer, path| match path {
        "/metrics" => {
            drip(peer, "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nvllm:prompt_tokens_total ")
        }
        _ => answer(peer),
    }),
    ("drips its answer", |peer, _| {
        drip(peer, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")
    }),
    ("sends headers without end", |peer, _| {
        flood(peer, "HTTP/1.1 200 OK\r\n", "x-a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n")
    }),
    ("sends one header without end", |peer, _| {
        flood(peer, "HTTP/1.1 200 OK\r\nx: ", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
    }),
    ("sends an error without end", |peer, _| {
        flood(peer, "HTTP/1.1 500 Oops\r\n\r\n", "an error that goes on and on ")
    }),
    ("sends a line without end", |peer, _| {
        flood(peer, EVENTS, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
    }),
    ("sends events without end", |peer, _| {
        flood(peer, EVENTS, "{\"choices\":[{\"delta\":{\"content\":\"word \"},\"index\":0}]}\n\ndata: ")
    }),
    ("sends comments without end", |peer, _| flood(peer, EVENTS, "\n:comment\n")),
    ("sends a body without end", |peer, _| {
        flood(peer, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n", " [[[[[[[")
    }),
    ("announces a huge body", |peer, _| {
        flood(
            peer,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9223372036854775807\r\n\r\n",
            "data: x",
        )
    }),
    ("announces a huge piece", |peer, _| {
        flood(peer, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n", "data: x")
    }),
    ("announces negative pieces", |peer, _| {
        peer.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n")
    }),
    ("redirects to itself", |peer, _| {
        peer.write_all(b"HTTP/1.1 302 Found\r\nlocation: /v1/chat/completions\r\ncontent-length: 0\r\n\r\n")
    }),
    ("speaks another protocol", |peer, _| flood(peer, "SSH-2.0-x\r\n", "\x00\x01\x02\x1b[31m")),
    ("continues without end", |peer, _| flood(peer, "", "HTTP/1.1 100 Continue\r\n\r\n")),
    ("sends deep JSON", |peer, _| {
        let deep = "[".repeat(500_000);
        peer.write_all(format!("{EVENTS}{deep}\n\n").as_bytes())
    }),
    ("sends terminal sequences", |peer, _| {
        let body = "\x1b[31m\x07\u{202e}\u{9b}2J".repeat(20);
        let head = format!(
            "HTTP/1.1 500 \x1b[31mOops\r\nretry-after: \x1b[0m\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        peer.write_all((head + &body).as_bytes())
    }),
    ("sends trailers without end", |peer, _| {
        flood(
            peer,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n\r\n3\r\nabc\r\n0\r\n",
            "x-t: y\r\n",
        )
    }),
    ("sends a status line without end", |peer, _| flood(peer, "HTTP/1.1 200 ", "O")),
    ("sends a header name without end", |peer, _| flood(peer, "HTTP/1.1 200 OK\r\n", "a")),
    ("names two lengths", |peer, _| {
        peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\nabcde")
    }),
    ("sends a body where none may be", |peer, _| flood(peer, "HTTP/1.1 204 No\r\n\r\n", "data: x\n\n")),
    ("changes the protocol", |peer, _| {
        flood(peer, "HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "data: x\n\n")
    }),
    ("redirects to a file", |peer, _| {
        peer.write_all(b"HTTP/1.1 302 F\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n")
    }),
    ("sends pieces of one byte", |peer, _| {
        flood(
            peer,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n\r\n",
            "1\r\nx\r\n",
        )
    }),
    ("names a piece without end", |peer, _| {
        flood(peer, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", "x=y;")
    }),
    ("sends empty events without end", |peer, _| {
        flood(peer, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", "data:\n\n")
    }),
    ("counts more tokens than there can be", |peer, _| {
        peer.write_all(
            format!("{EVENTS}{{\"usage\":{{\"completion_tokens\":18446744073709551615,\"prompt_tokens\":18446744073709551615}},\"choices\":[{{\"delta\":{{\"content\":\"a\"}},\"index\":0}}]}}\n\ndata: [DONE]\n\n")
                .as_bytes(),
        )
    }),
    ("asks to wait for a year", |peer, _| {
        peer.write_all(b"HTTP/1.1 429 Slow\r\nretry-after: 31536000\r\ncontent-length: 0\r\n\r\n")
    }),
    ("sends impossible numbers", |peer, _| {
        peer.write_all(
            format!("{EVENTS}{{\"usage\":{{\"completion_tokens\":1e400,\"prompt_tokens\":-5}},\"choices\":[]}}\n\ndata: [DONE]\n\n")
                .as_bytes(),
        )
    }),
];

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ";

fn sleep() -> io::Result<()> {
    thread::sleep(Duration::from_secs(60));
    Ok(())
}

fn drip(peer: &mut TcpStream, start: &str) -> io::Result<()> {
    peer.write_all(start.as_bytes())?;
    for _ in 0..600 {
        peer.write_all(b"1")?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn flood(peer: &mut TcpStream, start: &str, piece: &str) -> io::Result<()> {
    peer.write_all(start.as_bytes())?;
    let pieces = piece.repeat(1 + (64 << 10) / piece.len().max(1));
    // More than the client may take by far; it has to stop first.
    for _ in 0..100_000 {
        peer.write_all(pieces.as_bytes())?;
    }
    Ok(())
}

fn answer(peer: &mut TcpStream) -> io::Result<()> {
    let events = "{\"choices\":[{\"delta\":{\"content\":\"word\"},\"index\":0}]}\n\ndata: [DONE]\n\n";
    peer.write_all(format!("{EVENTS}{events}").as_bytes())
}

/// Serves until the bench ends.
fn serve(malice: Malice) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for peer in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut peer = peer;
                let mut request = [0; 16 << 10];
                let read = peer.read(&mut request).unwrap_or(0);
                let head = String::from_utf8_lossy(request.get(..read).unwrap_or_default()).into_owned();
                let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
                let _ = malice(&mut peer, &path);
            });
        }
    });
    Ok(address)
}

pub fn serve_malice(place: &Place, quick: bool) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("malicious servers");
    // Most of the time is spent waiting for timeouts, so they are tried side by side.
    let side_by_side = if quick { 8 } else { 4 };
    for part in MALICE.chunks(side_by_side) {
        let outcomes: Vec<anyhow::Result<()>> = thread::scope(|scope| {
            let handles: Vec<_> =
                part.iter().map(|(_, malice)| scope.spawn(move || attack(place, *malice))).collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the bench panicked"))))
                .collect()
        });
        for ((name, _), outcome) in part.iter().zip(outcomes) {
            group.attempt(&format!("a server that {name}"), outcome);
        }
    }
    group.attempt("two interrupts", interrupt_twice(place));
    Ok(group)
}

/// Once with the server's metrics, which are read first, and once without.
fn attack(place: &Place, malice: Malice) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let address = serve(malice)?;
    let url = format!("http://{address}/v1");
    let metrics = format!("http://{address}/metrics");
    let most = ["--timeout", TIMEOUT, "--connect-timeout", TIMEOUT, "--retries", "0", "--output-tokens", "8"];
    for more in [&["--metrics-url", metrics.as_str()][..], &[]] {
        let mut command =
            scene.command(&["load", &url, "-m", "model", "-n", "3", "-s", "2", "--warm-up", "0"]);
        command.args(most).args(more);
        let ended = scene.attack_for(&mut command, PATIENCE, MOST_BYTES)?;
        ended.expect(&[0, 1, 2, 3, 5, 6])?;
        let all = ended.all();
        let bad = all.chars().find(|letter| ['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}'].contains(letter));
        ensure!(bad.is_none(), "{bad:?} reaches the terminal");
    }
    Ok(())
}

/// Two interrupts end the program, whatever it waits for.
fn interrupt_twice(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let url = format!("http://{}/v1", serve(|_, _| sleep())?);
    let mut command = scene.command(&["load", &url, "-m", "model", "-n", "3", "--timeout", "5m"]);
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?;
    let pid = Pid::from_child(&child);
    thread::sleep(Duration::from_secs(2));
    for _ in 0..2 {
        let _ = kill_process(pid, Signal::INT);
        thread::sleep(Duration::from_millis(500));
    }
    for _ in 0..50 {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    kill_process(pid, Signal::KILL)?;
    child.wait()?;
    anyhow::bail!("it goes on after two interrupts")
}
