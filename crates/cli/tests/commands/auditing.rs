//! Audits as a user would make them: coverage, files, bad input, and a model that proposes claims.

use std::process::Output;
use std::time::{Duration, Instant};

use assay_load::calibration::{Failure, FailureKind, MockSchedule, Running, Server, When};
use serde_json::Value;

use crate::bench::Bench;

const WRITE_UP: &str = "# Kernel\n\nThe old kernel needs 50 s. The new one needs 40 s. We put the gain at 20 %.\n\n\
                        | node | images/s |\n|---|---|\n| old | 120 |\n| new | 180 |\n\nTogether they reach 300 images/s.\n";

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_verdict_is_printed_also_when_files_are_written() {
    let place = Bench::new().file("a.md", "It needs 40 s instead of 50 s, 20 % less.\n");
    let output = place.command(&["audit", "a.md", "-o", "a.html", "-o", "out.md"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("claim") && text.contains("supported"), "{text}");
    assert!(
        place.read("a.html").contains("href=\"#finding-1\"") && place.read("out.md").contains("supported")
    );
    let output = place.command(&["audit", "a.md", "--claims"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("SUPPORTED"));
}

#[test]
fn findings_are_lines_of_json_with_stable_ids() {
    let place = Bench::new().file("a.md", WRITE_UP);
    let once = lines(&place.command(&["audit", "a.md", "--json"]).output().unwrap());
    let again = lines(&place.command(&["audit", "a.md", "--json"]).output().unwrap());
    assert_eq!(once, again);
    assert!(!once.is_empty());
    for finding in &once {
        assert!(finding["id"].is_string() && finding["sources"][0]["line"].is_u64(), "{finding}");
        let level = finding["level"].as_str().unwrap();
        assert!(["contradicted", "doubtful", "not_checked", "supported"].contains(&level), "{finding}");
    }
}

/// Input that no careful author writes: a clear message or fewer claims, never a panic, never a wrong "supported".
#[test]
fn bad_input_gives_a_message_or_fewer_claims() {
    let ragged = "| a | b |\n|---|---|\n| 1 |\n| 2 | 3 | 4 | 5 |\n||\n\nThat is 3 times as fast.\n";
    let cases: [(&str, Vec<u8>); 12] = [
        ("cut.ipynb", br##"{"cells": [{"cell_type": "markdown", "source": ["# Speed\n", "40 s instead of 50 s, 20"##.to_vec()),
        ("empty.ipynb", Vec::new()),
        ("list.ipynb", b"[1, 2, 3]".to_vec()),
        ("broken.tex", b"\\begin{tabular}{ll}\na & 1 \\\\\nb & {2 \\\\\n\\section{x\nIt is 50\\,\\% faster.".to_vec()),
        ("ragged.md", ragged.as_bytes().to_vec()),
        ("huge.md", b"It took 1e400 s instead of 2e400 s, 50 % less; 1e-400 times 1e308 x 1e308.\n".to_vec()),
        ("units.md", b"| node | time (s) | time (ms) |\n|---|---|---|\n| a | 3 GB | 5 kg |\n| b | 4 tokens/s | 6 h |\n\nb is 33 % slower.\n".to_vec()),
        ("right.md", "הזמן ירד מ-50 s ל-40 s, כלומר 20 % פחות.\n\u{202e}‏12 %\u{202c}\n".as_bytes().to_vec()),
        ("bytes.md", (0..=255).cycle().take(4000).collect()),
        ("deep.html", "<div>".repeat(20_000).into_bytes()),
        ("signs.md", "|".repeat(30_000).into_bytes()),
        ("line.txt", "7 % of 3 s, ".repeat(20_000).into_bytes()),
    ];
    for (name, bytes) in cases {
        let place = Bench::new();
        std::fs::write(place.path(name), bytes).unwrap();
        let began = Instant::now();
        let output = place.command(&["audit", name, "--json", "-o", "audit.html"]).output().unwrap();
        let is_contradicted = lines(&output).iter().any(|finding| finding["level"] == "contradicted");
        assert_eq!(output.status.code(), Some(if is_contradicted { 4 } else { 0 }), "{name}: {output:?}");
        assert!(!said(&output).contains("panicked"), "{name}: {}", said(&output));
        assert!(began.elapsed() < Duration::from_secs(60), "{name}");
        if !["right.md", "line.txt"].contains(&name) {
            let supported = lines(&output).into_iter().filter(|finding| finding["level"] == "supported");
            assert_eq!(supported.collect::<Vec<Value>>(), Vec::<Value>::new(), "{name}");
        }
    }
}

#[test]
fn a_document_of_50_megabytes_ends() {
    let place = Bench::new();
    let paragraph = format!("{}\n\n", "word ".repeat(2000));
    let text = format!(
        "It took 40 s instead of 50 s, 20 % less.\n\n{}",
        paragraph.repeat((50 << 20) / paragraph.len())
    );
    std::fs::write(place.path("long.md"), text).unwrap();
    let output = place.command(&["audit", "long.md"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{:?}", said(&output));
    assert!(said(&output).contains("only the first 16 MiB"), "{}", said(&output));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("Sound"), "{output:?}");
}

/// An endpoint that answers with a text, or fails.
fn endpoint(schedule: MockSchedule) -> Running {
    Server::bind("127.0.0.1:0", schedule).unwrap().start().unwrap()
}

fn answering(text: &str) -> Running {
    endpoint(MockSchedule { text: Some(text.to_owned()), ..MockSchedule::instant() })
}

fn failing(kind: FailureKind) -> Running {
    endpoint(MockSchedule {
        failures: vec![Failure { when: When::Every(1), kind }],
        ..MockSchedule::instant()
    })
}

fn assisted(place: &Bench, url: &str, more: &[&str]) -> Output {
    let arguments = ["audit", "a.md", "--json", "--assist", url, "--model", "m"];
    place.command(&[&arguments, more].concat()).output().unwrap()
}

/// The ids of quantities as the question lists them: prose first, in order.
fn claim(quote: &str, relation: &str, stated: &str, operands: &[&str]) -> String {
    let claim =
        serde_json::json!({"quote": quote, "relation": relation, "stated": stated, "operands": operands});
    claim.to_string()
}

#[test]
fn a_model_proposes_and_arithmetic_disposes() {
    let place = Bench::new().file("a.md", WRITE_UP);
    let claims = [
        claim("We put the gain at 20 %", "decrease", "q3", &["q2", "q1"]),
        claim("a gain of forty percent", "decrease", "q3", &["q2", "q1"]),
        claim("We put the gain at 20 %", "ratio", "q3", &["q2", "q77"]),
    ];
    let server = answering(&format!("Here you are: {{\"claims\": [{}]}}", claims.join(", ")));
    let output = assisted(&place, server.url(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let found = lines(&output);
    let own = found.iter().find(|finding| finding["class"] == "assisted");
    let own = own.unwrap_or_else(|| panic!("{found:?} {}", said(&output)));
    assert_eq!(own["level"], "supported", "{own}");
    assert!(own["summary"].as_str().unwrap().starts_with("assisted: `20 %`"), "{own}");
    let last = &found.last().unwrap()["assisted"];
    assert_eq!(
        (&last["checked"], last["rejected"].as_array().unwrap().len()),
        (&Value::from(1), 2),
        "{last}"
    );
    let text = place
        .command(&["audit", "a.md", "--assist", server.url(), "--model", "m", "-o", "a.html"])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        shown.contains("assisted by m: 1 proposed claims checked, 0 already checked, 2 rejected"),
        "{shown}"
    );
    assert!(shown.contains("rejected: no quantity has the id `q77`"), "{shown}");
    assert!(place.read("a.html").contains("assisted"));
}

#[test]
fn a_proposal_that_does_not_hold_is_doubtful_at_most() {
    let place = Bench::new().file("a.md", WRITE_UP);
    let wrong = claim("We put the gain at 20 %", "ratio", "q3", &["q1", "q2"]);
    let server = answering(&format!("{{\"claims\": [{wrong}]}}"));
    let output = assisted(&place, server.url(), &[]);
    assert_eq!(output.status.code(), Some(0));
    let found = lines(&output);
    let own = found.iter().find(|finding| finding["class"] == "assisted").unwrap();
    assert_eq!(own["level"], "doubtful", "{own}");
}

#[test]
fn an_endpoint_that_fails_costs_its_proposals_only() {
    let place = Bench::new().file("a.md", WRITE_UP);
    let plain = lines(&place.command(&["audit", "a.md", "--json"]).output().unwrap());
    let servers = [
        ("not valid JSON", answering("I would rather not.")),
        ("not valid JSON", answering("{\"claims\": [{\"quote\": \"We")),
        ("no list `claims`", answering("{\"findings\": []}")),
        ("server error", failing(FailureKind::Status { status: 500, retry_after: None })),
        ("not complete", failing(FailureKind::Silence)),
        ("", failing(FailureKind::Stall { after: 3 })),
        ("cut", failing(FailureKind::Cut { after: 3 })),
        ("malformed", failing(FailureKind::Malformed { after: 3 })),
    ];
    for (reason, server) in servers {
        let output = assisted(&place, server.url(), &["--assist-timeout", "2s"]);
        assert_eq!(output.status.code(), Some(0), "{reason}: {}", said(&output));
        assert!(
            said(&output).contains("warning: no claims") && said(&output).contains(reason),
            "{}",
            said(&output)
        );
        assert_eq!(lines(&output), plain, "{reason}");
    }
    // Words without end: whichever bound is reached first, that of tokens, of time or of size.
    let server = answering(&"endless ".repeat(400_000));
    let output = assisted(&place, server.url(), &["--assist-timeout", "20s"]);
    assert!(said(&output).contains("warning: no claims"), "{}", said(&output));
    assert_eq!(lines(&output), plain);
    let output = assisted(&place, "http://127.0.0.1:1", &[]);
    assert!(said(&output).contains("refused") && said(&output).contains("hint:"), "{}", said(&output));
}

#[test]
fn the_token_is_sent_and_never_shown() {
    let place = Bench::new().file("a.md", WRITE_UP);
    let schedule = MockSchedule {
        bearers: vec!["sk-right".to_owned()],
        text: Some("{\"claims\": []}".to_owned()),
        ..MockSchedule::instant()
    };
    let server = endpoint(schedule);
    let with = |token: Option<&str>| {
        let arguments = [
            "audit",
            "a.md",
            "--json",
            "--assist",
            server.url(),
            "--model",
            "m",
            "--token-env",
            "ASSIST_TOKEN",
        ];
        let mut command = place.command(&arguments);
        token.iter().for_each(|token| {
            command.env("ASSIST_TOKEN", token);
        });
        command.output().unwrap()
    };
    assert!(!said(&with(Some("sk-right"))).contains("warning"), "{}", said(&with(Some("sk-right"))));
    let refused = with(Some("sk-canary-31337"));
    assert!(said(&refused).contains("401"), "{}", said(&refused));
    assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
    let unset = with(None);
    assert_eq!(unset.status.code(), Some(2));
    assert!(said(&unset).contains("ASSIST_TOKEN"), "{}", said(&unset));
}

#[test]
fn wrong_use_of_assist_is_refused() {
    let place = Bench::new().file("a.md", WRITE_UP);
    for arguments in [
        &["audit", "a.md", "--assist", "http://127.0.0.1:1"][..],
        &["audit", "a.md", "--model", "m"],
        &["audit", "a.md", "--assist", "localhost", "--model", "m"],
        &["audit", "a.md", "--assist", "http://me:secret@127.0.0.1:1/v1", "--model", "m"],
        &["audit", "a.md", "--assist", "http://127.0.0.1:1", "--model", "m", "--assist-timeout", "0s"],
    ] {
        let output = place.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(!said(&output).contains("secret"), "{}", said(&output));
    }
}
