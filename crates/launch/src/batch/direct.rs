//! Processes of a host without a scheduler, through ssh: a user node of an appliance, or a workstation. They go on when
//! the connection breaks, and are found by the path of their script.

use std::path::Path;

use assay_campaign::Resources;
use assay_campaign::shell::quoted;
use assay_model::platform::BatchSettings;

use super::host::{Host, shell};
use super::scheduler::{JobRequest, Scheduler, SubmitError, TaskStage, TaskState, start_command};
use super::{JOB_SCRIPT, JOBS, job_script};

/// Starts scripts as processes.
pub struct Direct;

impl Scheduler for Direct {
    fn script(&self, request: &JobRequest<'_>) -> String {
        format!(
            "#!/bin/sh\nexport ASSAY_JOB={}\n{}",
            request.submission,
            job_script::body(request, "ASSAY_TASK")
        )
    }

    fn start_words(&self, settings: &BatchSettings, resources: &Resources) -> String {
        start_command(settings, resources).unwrap_or_default()
    }

    fn submit(
        &mut self,
        host: &Host,
        _request: &JobRequest<'_>,
        script: &Path,
    ) -> Result<String, SubmitError> {
        let script = quoted(&script.display().to_string());
        let text = format!("setsid sh {script} >{script}.log 2>&1 </dev/null & echo $!");
        let answer = host.run(&shell(&text), &[]).map_err(SubmitError::Unclear)?;
        let id = answer.text().trim().to_owned();
        match id.parse::<u32>() {
            Ok(_) => Ok(id),
            Err(_) => Err(SubmitError::Unclear(answer.reason())),
        }
    }

    fn tasks(&mut self, host: &Host, name: &str, _known: &[String]) -> Result<Vec<TaskState>, String> {
        let answer = host.run(&["ps", "-eo", "pid=,args="].map(str::to_owned), &[])?;
        match answer.is_success {
            true => Ok(running(&answer.text(), name)),
            false => Err(answer.reason()),
        }
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn cancel(&mut self, host: &Host, jobs: &[String]) -> Result<(), String> {
        // Each is the leader of its own process group.
        let groups: Vec<String> = jobs.iter().map(|job| format!("-{job}")).collect();
        let words: Vec<String> =
            ["kill", "-TERM", "--"].map(str::to_owned).into_iter().chain(groups).collect();
        host.run(&words, &[]).map(drop)
    }
}

/// The scripts of a record among the lines of ps.
fn running(text: &str, name: &str) -> Vec<TaskState> {
    let found = text.lines().filter_map(|line| {
        let (pid, command) = line.trim().split_once(' ')?;
        let path = command.trim().strip_prefix("sh ")?;
        let path = path.strip_suffix(JOB_SCRIPT)?.strip_suffix('/')?;
        let (before, submission) = path.rsplit_once('/')?;
        // On this host, records are known by their path; on another, by their name.
        let is_its = before.strip_suffix(JOBS).is_some_and(|before| before.contains(name));
        is_its.then(|| TaskState {
            job: pid.to_owned(),
            submission: submission.to_owned(),
            task: 1,
            stage: TaskStage::Running,
            ..TaskState::default()
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_among_processes() {
        let text = "    1 /sbin/init\n  417 sh .assay/assay-12ab/jobs/19a-1/job.sh\n  418 sh .assay/assay-99/jobs/19a-1/job.sh\n";
        let found = running(text, "assay-12ab");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].job.as_str(), found[0].submission.as_str()), ("417", "19a-1"));
    }
}
