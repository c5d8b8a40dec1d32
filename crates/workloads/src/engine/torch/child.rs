//! A child process that speaks [`WorkloadEvent`] lines, watched until it ends.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use assay_model::WorkloadEvent;

/// How many of the last lines of standard error are kept.
const LAST: usize = 6;
/// How often the stop flag is looked at while the child says nothing.
const LOOK: Duration = Duration::from_millis(50);

/// How a child ended.
#[derive(Debug)]
pub(super) struct Gone {
    /// Its exit status; none if it was ended because the caller wanted to stop.
    pub(super) status: Option<ExitStatus>,
    /// Whether it said anything that was understood.
    pub(super) spoke: bool,
    /// The last lines of its standard error.
    pub(super) last_words: Vec<String>,
}

/// What came from the child.
enum ChildLine {
    Output(String),
    Error(String),
}

/// Ends the child when the watching ends, however that happens.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a command and hands on what it says, until it ends or `stopped` says so. Lines of standard output that are
/// not [`WorkloadEvent`] are handed on as notes.
///
/// The child's standard input is left as `command` has it, except that a pipe stays open as long as the child is
/// watched: its end means to the child that this process is gone.
pub(super) fn watch(
    command: &mut Command,
    stopped: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(WorkloadEvent),
) -> std::io::Result<Gone> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut guard = Guard(command.spawn()?);
    let (sender, lines) = channel();
    if let Some(output) = guard.0.stdout.take() {
        read(output, sender.clone(), ChildLine::Output)?;
    }
    if let Some(errors) = guard.0.stderr.take() {
        read(errors, sender, ChildLine::Error)?;
    }
    listen(&mut guard.0, &lines, stopped, hear)
}

fn read(
    from: impl Read + Send + 'static,
    sender: Sender<ChildLine>,
    make: fn(String) -> ChildLine,
) -> std::io::Result<()> {
    let read = move || {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if sender.send(make(text)).is_err() {
                return;
            }
            line.clear();
        }
    };
    std::thread::Builder::new().spawn(read).map(drop)
}

fn listen(
    child: &mut Child,
    lines: &Receiver<ChildLine>,
    stopped: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(WorkloadEvent),
) -> std::io::Result<Gone> {
    let mut spoke = false;
    let mut last_words = VecDeque::with_capacity(LAST + 1);
    let status = loop {
        if stopped() {
            break None;
        }
        match lines.recv_timeout(LOOK) {
            Ok(ChildLine::Output(text)) if text.is_empty() => {}
            Ok(ChildLine::Output(text)) => match serde_json::from_str(&text) {
                Ok(events) => {
                    spoke = true;
                    hear(events);
                }
                Err(_) => hear(WorkloadEvent::Note { text, hint: None }),
            },
            Ok(ChildLine::Error(text)) => {
                last_words.push_back(text);
                if last_words.len() > LAST {
                    last_words.pop_front();
                }
            }
            // Both streams have ended, so the child is about to end or has ended.
            Err(RecvTimeoutError::Disconnected) => break Some(child.wait()?),
            // A descendant may keep the streams open after the child has ended.
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    break Some(status);
                }
            }
        }
    };
    Ok(Gone { status, spoke, last_words: last_words.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        command
    }

    fn heard(script: &str) -> (Gone, Vec<WorkloadEvent>) {
        let mut events = Vec::new();
        let gone = watch(&mut shell(script), &|| false, &mut |line| events.push(line)).unwrap();
        (gone, events)
    }

    #[test]
    fn lines_are_handed_on_and_anything_else_is_a_note() {
        let (gone, events) = heard(
            r#"echo '{"assay":"done","steps":2}'; echo; echo 'a warning'; for i in 1 2 3 4 5 6 7 8; do echo $i >&2; done; exit 3"#,
        );
        assert_eq!(
            events,
            [
                WorkloadEvent::Done { steps: 2 },
                WorkloadEvent::Note { text: "a warning".to_owned(), hint: None }
            ]
        );
        assert_eq!((gone.status.unwrap().code(), gone.spoke), (Some(3), true));
        assert_eq!(gone.last_words, ["3", "4", "5", "6", "7", "8"]);
    }

    #[test]
    fn odd_bytes_do_no_harm() {
        let (gone, events) = heard(r"printf '\377\376{\n'; printf 'no end of line'");
        assert_eq!(events.len(), 2);
        assert!(!gone.spoke);
    }

    #[test]
    fn the_child_is_ended_when_it_should_stop() {
        let began = Instant::now();
        let mut heard = 0;
        let script = "echo $$; exec sleep 60";
        let seen = std::cell::Cell::new(false);
        let gone = watch(&mut shell(script), &|| seen.get(), &mut |_| {
            heard += 1;
            seen.set(true);
        })
        .unwrap();
        assert!(gone.status.is_none() && heard == 1);
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_descendant_that_keeps_the_streams_does_not_hold_us_up() {
        let began = Instant::now();
        let (gone, _) = heard("sleep 8 & exit 0");
        assert!(gone.status.unwrap().success());
        assert!(began.elapsed() < Duration::from_secs(6));
    }

    #[test]
    fn its_input_stays_open_while_it_is_watched() {
        // `read` would return at once from an input that has ended.
        let (gone, _) =
            heard("exec 3<&0; ( read line <&3 ) & reader=$!; sleep 0.3; kill -0 $reader && kill $reader");
        assert!(gone.status.unwrap().success());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        assert!(watch(&mut Command::new("/no/such/program"), &|| false, &mut |_| {}).is_err());
    }
}
