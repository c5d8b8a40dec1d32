//! The script of a run. It is not a copy of what ran: it is what ran. `sh run.sh` by hand does the same again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;

pub use assay_campaign::shell::quoted;
use assay_campaign::{Invocation, Recording, RecordingSource, Shell};
pub use assay_store::SCRIPT;
use assay_store::secrets::{is_secret_name, required};

use crate::worker::RunJob;
use crate::{replay, tools};

/// The text of a run's script. Variables that hold secrets are not in it: the run gets them from its environment, and
/// whoever runs the script by hand has to set them.
pub fn text(job: &RunJob) -> String {
    titled(job, &format!("Run {}", job.run))
}

/// The text of the script that the compact runs of a cell share.
pub fn shared_text(job: &RunJob) -> String {
    titled(job, &format!("Cell {}", job.run.cell))
}

fn titled(job: &RunJob, title: &str) -> String {
    let RunJob { campaign, settings, invocation, secrets, .. } = job;
    let mut script = String::with_capacity(512);
    let interpreter = interpreter(invocation.shell);
    // Writing to a String cannot fail.
    let _ = writeln!(script, "#!/usr/bin/env {interpreter}");
    let _ = writeln!(script, "# {title} of campaign {}.", one_line(campaign));
    for (name, value) in settings {
        let _ = writeln!(script, "# {name} = {}", one_line(&secrets.mask(&value.to_string())));
    }
    if !invocation.pin.is_empty() {
        let cpus: Vec<String> = invocation.pin.iter().map(ToString::to_string).collect();
        let _ =
            writeln!(script, "# Ran on CPUs {}: start with `taskset -c {}`.", cpus.join(","), cpus.join(","));
    }
    if let Some(timeout) = invocation.timeout {
        let _ = writeln!(script, "# Timeout {} s.", timeout.as_secs_f64());
    }
    if let Some(recording) = &invocation.recording {
        let _ = writeln!(script, "{}", played(recording));
        return script;
    }
    let _ = writeln!(script, "cd {} || exit 125", quoted_path(&invocation.directory));
    script.push_str(&environment(job));
    match invocation.shell {
        Shell::None => {
            let words: Vec<String> = invocation.arguments.iter().map(|word| quoted(word)).collect();
            let _ = writeln!(script, "exec {}", words.join(" "));
        }
        Shell::Sh | Shell::Bash => {
            let _ = writeln!(script, "{}", invocation.command);
        }
    }
    script
}

/// The lines that set the variables of a run, without secrets.
pub fn environment(job: &RunJob) -> String {
    let mut lines = String::new();
    for (name, value) in &job.invocation.environment {
        if is_secret_name(name) || job.secrets.are_in(value) {
            lines.push_str(&required(name));
        } else {
            // Writing to a String cannot fail.
            let _ = writeln!(lines, "export {name}={}", quoted(value));
        }
    }
    lines
}

/// The lines that give the output of a replayed run again. A generated log is kept as the output of its run.
fn played(recording: &Recording) -> String {
    let replayed = replay::replayed(recording);
    let log = match &recording.source {
        RecordingSource::Log { path, .. } => quoted_path(path),
        RecordingSource::Sample { .. } => "\"$(dirname \"$0\")/stdout.log\"".to_owned(),
    };
    format!(
        "# Nothing was run: {} was played at {}.\nexec cat {log}",
        one_line(&replayed.log),
        replayed.speed
    )
}

/// The words that start a run: its script, or the program itself where no shell is wanted.
pub fn words(invocation: &Invocation, script: &Path) -> Vec<String> {
    match invocation.shell {
        Shell::None => invocation.arguments.clone(),
        shell => vec![found(interpreter(shell)), script.display().to_string()],
    }
}

/// The path of a shell, looked up once: the system would look through all of PATH again for every run.
fn found(interpreter: &'static str) -> String {
    static SHELLS: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());
    let look = || {
        tools::program(interpreter).map_or_else(|| interpreter.to_owned(), |path| path.display().to_string())
    };
    match SHELLS.lock() {
        Ok(mut shells) => shells.entry(interpreter).or_insert_with(look).clone(),
        Err(_) => look(),
    }
}

fn interpreter(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => "bash",
        Shell::Sh | Shell::None => "sh",
    }
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// Comments must not leak into commands.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
