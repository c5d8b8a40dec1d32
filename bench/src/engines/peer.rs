//! One process under the bench's control, and what it said.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};
use assay_model::WorkloadEvent;

use super::Contender;
use crate::place::Place;

/// One iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// CPU seconds of all threads.
    pub cpu_s: f64,
}

/// What a peer has said so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Values of the whole run, by metric; the last one counts.
    pub values: BTreeMap<String, f64>,
    /// Notes.
    pub notes: Vec<String>,
    /// Why it ended early.
    pub failure: Option<String>,
    /// Whether it said that it came to its end.
    pub done: bool,
    wall_s: Option<f64>,
    cpu_s: Option<f64>,
}

impl Said {
    /// Takes in a line; true if an iteration is done.
    pub fn hear(&mut self, events: WorkloadEvent) -> bool {
        match events {
            WorkloadEvent::Value { metric, value, step: Some(_), .. } if metric.starts_with("time.") => {
                self.wall_s = Some(value);
            }
            WorkloadEvent::Value { metric, value, step: Some(_), .. } if metric.starts_with("cpu.") => {
                self.cpu_s = Some(value);
            }
            WorkloadEvent::Value { metric, value, step: None, .. } => {
                self.values.insert(metric, value);
            }
            WorkloadEvent::Note { text, .. } => self.notes.push(text),
            WorkloadEvent::Failed { reason, .. } | WorkloadEvent::DoesNotFit { reason, .. } => {
                self.failure = Some(reason)
            }
            WorkloadEvent::Progress { .. } => return true,
            WorkloadEvent::Done { .. } => self.done = true,
            _ => {}
        }
        false
    }

    /// The iteration that was reported last.
    fn iteration(&mut self) -> Option<Iteration> {
        Some(Iteration { wall_s: self.wall_s.take()?, cpu_s: self.cpu_s.take()? })
    }

    /// What a peer would have said that reported these values.
    #[cfg(test)]
    pub(crate) fn of(values: &[(&str, f64)]) -> Said {
        let values = values.iter().map(|(metric, value)| ((*metric).to_owned(), *value)).collect();
        Said { values, ..Said::default() }
    }

    /// A value of the whole run.
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.values.get(metric).copied()
    }
}

/// A running process. It is ended when dropped.
#[derive(Debug)]
pub struct Peer {
    /// Who it is.
    pub who: Contender,
    /// What it has said so far.
    pub said: Said,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: PathBuf,
}

impl Peer {
    /// Starts a process.
    pub fn start(who: Contender, command: &mut Command, place: &Place) -> anyhow::Result<Peer> {
        let errors = place.fresh("peer")?.join("stderr");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors)?);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", who.name))?;
        let output = BufReader::new(child.stdout.take().context("the peer has no output")?);
        let input = child.stdin.take();
        Ok(Peer { who, said: Said::default(), child, input, output, errors })
    }

    /// Lets it do one iteration.
    pub fn iterate(&mut self) -> anyhow::Result<Iteration> {
        if let Some(input) = &mut self.input {
            // A peer that is gone is explained by what it said last, below.
            let _ = input.write_all(b"\n").and_then(|()| input.flush());
        }
        self.listen()
    }

    /// Waits for the end of an iteration.
    pub fn listen(&mut self) -> anyhow::Result<Iteration> {
        while let Some(events) = self.next()? {
            if self.said.hear(events) {
                return self.said.iteration().context("an iteration was events without its times");
            }
        }
        bail!("{}: {}", self.who.name, self.last_words())
    }

    /// Ends its input, hears it out and waits for it.
    pub fn finish(mut self) -> anyhow::Result<Said> {
        self.input = None;
        while let Some(events) = self.next()? {
            self.said.hear(events);
        }
        let status = self.child.wait()?;
        if !self.said.done {
            bail!("{} ended with {status}: {}", self.who.name, self.last_words());
        }
        Ok(std::mem::take(&mut self.said))
    }

    fn next(&mut self) -> anyhow::Result<Option<WorkloadEvent>> {
        let mut line = String::new();
        while self.output.read_line(&mut line)? > 0 {
            if let Ok(events) = serde_json::from_str(&line) {
                return Ok(Some(events));
            }
            line.clear();
        }
        Ok(None)
    }

    fn last_words(&self) -> String {
        let errors = fs::read_to_string(&self.errors).unwrap_or_default();
        let tail: Vec<&str> = errors.lines().rev().take(4).collect();
        let tail = || tail.into_iter().rev().collect::<Vec<_>>().join("; ");
        self.said.failure.clone().unwrap_or_else(tail)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Without input a paced peer ends by itself, and takes its own child with it; the rest is for one that hangs.
        self.input = None;
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            std::thread::sleep(std::time::Duration::from_millis(200));
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_is_done_when_progress_is_reported() {
        let mut said = Said::default();
        assert!(!said.hear(WorkloadEvent::at("time.forward.warmup", 1, 0.5)));
        assert!(!said.hear(WorkloadEvent::at("cpu.iteration.warmup", 1, 0.9)));
        assert!(!said.hear(WorkloadEvent::value("parity.loss", 9.0)));
        assert!(said.hear(WorkloadEvent::Progress { done: 1, of: 2 }));
        assert_eq!(said.iteration(), Some(Iteration { wall_s: 0.5, cpu_s: 0.9 }));
        assert_eq!(said.iteration(), None, "a time is used once");
        assert_eq!(said.value("parity.loss"), Some(9.0));
    }
}
