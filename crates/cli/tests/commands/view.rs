//! The full-screen view, on a pseudo-terminal of its own: `script` brings one along.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bench::{ASSAY, Bench};

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

const CAMPAIGN: &str = r#"
name = "seen"
question = "Which is larger?"
[workload]
command = "sleep 0.2; echo value={n}"
[vary]
n = [1, 2, 3]
[repeats]
at_least = 2
"#;

/// Runs a command on a terminal of 100 columns; after a moment these keys are pressed. Gives all that the terminal got.
fn on_a_terminal(bench: &Bench, arguments: &str, keys: &[u8]) -> String {
    let line = format!("stty cols 100 rows 30; exec '{ASSAY}' {arguments}");
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(bench.path("."))
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    // The terminal is gone where the command has ended already.
    let _ = stdin.write_all(keys);
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What was on the other screen, and what came after it.
fn parts(text: &str) -> (&str, &str) {
    assert!(
        text.contains(ENTER) && text.contains(LEAVE),
        "no view, or the terminal was not put back: {text}"
    );
    text.split_once(ENTER).unwrap().1.split_once(LEAVE).unwrap()
}

#[test]
fn the_view_fills_the_terminal_and_leaves_the_answer() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let text = on_a_terminal(&bench, "run campaign.toml --view", b"");
    let (inside, after) = parts(&text);
    assert!(inside.contains("Which is larger?") && inside.contains("6 runs"), "{inside}");
    assert!(after.contains("median") && after.contains("record:"), "{after}");
    assert!(!after.contains(ENTER), "{after}");
}

#[test]
fn ctrl_c_puts_the_terminal_back_and_keeps_what_is_done() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let text = on_a_terminal(&bench, "run campaign.toml --view", b"\x03");
    let (_, after) = parts(&text);
    assert!(after.contains("interrupted; finished runs are kept"), "{after}");
}

#[test]
fn q_closes_the_view_and_the_campaign_goes_on() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let text = on_a_terminal(&bench, "run campaign.toml --view", b"q");
    let (_, after) = parts(&text);
    assert!(after.contains("/6 runs") && after.contains("record:"), "{after}");
}

#[test]
fn without_a_terminal_there_are_lines() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let output = bench.run(&["run", "campaign.toml", "--view"]);
    assert!(output.contains("--view needs a terminal") && output.contains("[6/6]"), "{output}");
    assert!(!output.contains(ENTER), "{output}");
}
