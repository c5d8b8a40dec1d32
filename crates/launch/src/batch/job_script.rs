//! What all schedulers have in common: the text of a job script, and what their answers to a submission and to a
//! cancellation mean.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use assay_campaign::shell::quoted;
use assay_model::platform::BatchSettings;
use assay_model::untrusted;

use super::host::{CommandOutput, Host};
use super::scheduler::{JobRequest, SubmitError};

/// A job script: its options, each on a line that begins with `mark`, then what the platform sets up, then the runs of
/// each task. `task_variable` says which task of an array it is.
pub fn text(mark: &str, options: &[String], request: &JobRequest<'_>, task_variable: &str) -> String {
    let mut script = String::from("#!/bin/sh\n");
    for option in options {
        // Writing to a String cannot fail.
        let _ = writeln!(script, "{mark} {option}");
    }
    script.push_str(&body(request, task_variable));
    script
}

/// Refuses what would end an option of a job script early: what follows could be executed as a line of its own.
pub fn check(directory: &Path, settings: &BatchSettings) -> Result<(), String> {
    let path = directory.to_string_lossy();
    let is_path_odd = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    if path.contains(is_path_odd) {
        let shown = untrusted::one_line(&path).into_owned();
        return Err(format!(
            "job scripts cannot name {shown}: control characters, `\"` and `\\` have a meaning there"
        ));
    }
    let BatchSettings { account, partition, qos, constraint, reservation, devices, filesystems, .. } =
        settings;
    let texts = [
        ("account", account),
        ("partition", partition),
        ("qos", qos),
        ("constraint", constraint),
        ("reservation", reservation),
        ("devices", devices),
        ("filesystems", filesystems),
    ];
    let named = texts.iter().filter_map(|(name, text)| Some((*name, text.as_ref()?)));
    let mut all = named.chain(settings.options.iter().map(|option| ("options", option)));
    match all.find(|(_, text)| text.contains(char::is_control)) {
        Some((name, _)) => Err(format!("`{name}` holds a line break or another control character")),
        None => Ok(()),
    }
}

/// The lines of a job script after its options.
pub fn body(request: &JobRequest<'_>, task_variable: &str) -> String {
    let mut body = String::new();
    for line in &request.settings.setup {
        body.push_str(line);
        body.push('\n');
    }
    let scripts = |runs: &[PathBuf]| {
        runs.iter().map(|run| format!("sh {}\n", quoted(&run.display().to_string()))).collect::<String>()
    };
    if let [only] = request.tasks {
        body.push_str(&scripts(only));
        return body;
    }
    let _ = writeln!(body, "case ${task_variable} in");
    for (runs, number) in request.tasks.iter().zip(1..) {
        let _ = write!(body, "{number})\n{};;\n", scripts(runs));
    }
    body.push_str("esac\n");
    body
}

/// The name of the job that a submission gave, as `id` finds it in the last line of the answer. A refusal that has one of
/// the words of `transient` may go through later.
pub fn submitted(
    answer: &CommandOutput,
    id: impl FnOnce(&str) -> Option<String>,
    transient: &[&str],
) -> Result<String, SubmitError> {
    let text = answer.text();
    let found = id(text.lines().last().unwrap_or_default().trim()).filter(|_| answer.is_success);
    found.ok_or_else(|| {
        let reason = answer.reason();
        match transient.iter().any(|word| reason.contains(word)) {
            true => SubmitError::Unclear(reason),
            false => SubmitError::Refused(reason),
        }
    })
}

/// Ends jobs by a command that takes their names. A job that has ended in between cannot be ended, which is what was
/// wanted: then the answer has one of the words of `gone`.
pub fn cancel(host: &Host, command: &str, jobs: &[String], gone: &[&str]) -> Result<(), String> {
    if jobs.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = std::iter::once(command.to_owned()).chain(jobs.iter().cloned()).collect();
    let answer = host.run(&words, &[])?;
    let reason = answer.reason();
    match answer.is_success || gone.iter().any(|word| reason.contains(word)) {
        true => Ok(()),
        false => Err(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_and_no_option_adds_a_line_to_a_script() {
        let settings = BatchSettings::default();
        assert_eq!(check(Path::new("/home/a b/50%/it's"), &settings), Ok(()));
        for path in ["/a\ntouch x #", "/a\r", "/a\u{85}b", "/a\"b", "/a\\b"] {
            assert!(check(Path::new(path), &settings).is_err(), "{path:?}");
        }
        let account = BatchSettings { account: Some("a\ntouch x".to_owned()), ..settings.clone() };
        let options = BatchSettings { options: vec!["-p x".to_owned(), "-q\ny".to_owned()], ..settings };
        for (settings, name) in [(account, "account"), (options, "options")] {
            assert!(check(Path::new("/a"), &settings).unwrap_err().contains(name));
        }
    }
}
