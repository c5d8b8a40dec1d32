//! The calibration endpoint as a process of its own, on its own core.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use assay_load::calibration::{StreamSends, read_sends};
use rustix::process::{Pid, Signal, kill_process};

use super::SERVER_CORE;
use crate::place::Place;

/// A command that runs on one core.
pub fn pinned(core: usize, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &core.to_string()]).arg(program);
    command
}

/// An endpoint that serves.
#[derive(Debug)]
pub struct Endpoint {
    child: Option<Child>,
    /// Its base URL.
    pub url: String,
    sends: PathBuf,
}

impl Endpoint {
    /// Starts an endpoint with these options of `serve-mock`.
    pub fn start(place: &Place, options: &[&str]) -> anyhow::Result<Endpoint> {
        let sends = place.fresh("endpoint")?.join("sends");
        let mut command = pinned(SERVER_CORE, &place.assay);
        command.args(["serve-mock", "--listen", "127.0.0.1:0", "--sends"]).arg(&sends).args(options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start `taskset`, which binds programs to cores")?;
        let mut url = String::new();
        let out = child.stdout.take().context("the endpoint has no output")?;
        BufReader::new(out).read_line(&mut url)?;
        let url = url.trim().to_owned();
        anyhow::ensure!(!url.is_empty(), "the endpoint did not start");
        Ok(Endpoint { child: Some(child), url, sends })
    }

    /// Ends it and gives what it really sent.
    pub fn stop(mut self) -> anyhow::Result<Vec<StreamSends>> {
        self.end()?;
        Ok(read_sends(&self.sends)?)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            kill_process(Pid::from_child(&child), Signal::TERM)?;
            child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // A bench that fails must not leave an endpoint behind.
        let _ = self.end();
    }
}

/// The true times to first token of all streams, in seconds, sorted.
pub fn first_tokens(sends: &[StreamSends]) -> Vec<f64> {
    let times = sends.iter().filter_map(|stream| Some(stream.first_token_ns()? - stream.arrived_ns));
    let mut times: Vec<f64> = times.map(|nanoseconds| nanoseconds as f64 * 1e-9).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The value at a share of sorted values.
pub fn at(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((share * last as f64).round() as usize).copied()
}
