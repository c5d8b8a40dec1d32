//! Slurm: sbatch, squeue, scancel, and sacct where there is an accounting database. Text formats are asked for field by
//! field, which every version of the last ten years answers alike; its JSON changes between versions and is many times
//! as large.

use std::path::Path;

use assay_campaign::Resources;
use assay_model::platform::BatchSettings;

use super::host::Host;
use super::scheduler::{Accounted, JobRequest, Scheduler, SubmitError, TaskStage, TaskState, start_command};
use super::{job_script, time};

/// Slurm.
#[derive(Default)]
pub struct Slurm {
    /// How often in a row sacct failed; more than a few times where there is no accounting.
    accounting_failures: u32,
}

/// What squeue is asked for, in this order.
const FIELDS: &str = "JobArrayID:|,Comment:|,State:|,Reason:|,SubmitTime:|,StartTime:|,EndTime:|,NodeList:|,NumNodes:|,\
                      NumCPUs:|,RestartCnt:|";
/// What sacct is asked for, in this order.
const ACCOUNTED: &str = "JobID,State,TotalCPU,MaxRSS,AllocTRES,ElapsedRaw,NodeList";

/// An accounting that fails this often in a row is not asked again.
const MOST_FAILURES: u32 = 3;

/// Words in refusals of submissions that may go through later.
const TRANSIENT: [&str; 9] = [
    "Unable to contact slurm controller",
    "Socket timed out",
    "temporarily unable",
    "Connection refused",
    "Zero Bytes were transmitted",
    "Job violates accounting/QOS policy",
    "MaxSubmitJob",
    "Protocol authentication error",
    "slurm_receive_msg",
];

impl Scheduler for Slurm {
    fn script(&self, request: &JobRequest<'_>) -> String {
        job_script::text("#SBATCH", &options(request), request, "SLURM_ARRAY_TASK_ID")
    }

    fn start_words(&self, settings: &BatchSettings, resources: &Resources) -> String {
        let is_spread = resources.tasks.unwrap_or(1) > 1 || resources.nodes.unwrap_or(1) > 1;
        start_command(settings, resources)
            .unwrap_or_else(|| if is_spread { "srun".to_owned() } else { String::new() })
    }

    fn submit(
        &mut self,
        host: &Host,
        _request: &JobRequest<'_>,
        script: &Path,
    ) -> Result<String, SubmitError> {
        let words = ["sbatch", "--parsable", &script.display().to_string()].map(str::to_owned);
        let answer = host.run(&words, &[]).map_err(SubmitError::Unclear)?;
        // `--parsable` gives the id, and the cluster's name behind a semicolon where there are several.
        let id = |line: &str| {
            let id = line.split(';').next().unwrap_or_default().trim();
            (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then(|| id.to_owned())
        };
        job_script::submitted(&answer, id, &TRANSIENT)
    }

    fn tasks(&mut self, host: &Host, name: &str, _known: &[String]) -> Result<Vec<TaskState>, String> {
        let name = format!("--name={name}");
        // Seconds since 1970 UTC, whatever time zone the host is in.
        let words = [
            "env",
            "SLURM_TIME_FORMAT=%s",
            "squeue",
            "--noheader",
            "--array",
            "--me",
            "--states=all",
            &name,
            "-O",
            FIELDS,
        ];
        let answer = host.run(&words.map(str::to_owned), &[])?;
        if !answer.is_success {
            return Err(answer.reason());
        }
        Ok(answer.text().lines().filter_map(task_state).collect())
    }

    fn account(&mut self, host: &Host, jobs: &[String]) -> Vec<Accounted> {
        if !self.has_accounting() || jobs.is_empty() {
            return Vec::new();
        }
        let words = ["sacct", "--noheader", "--parsable2", "--units=K", "-j", &jobs.join(","), "-o"];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words.push(ACCOUNTED.to_owned());
        match host.run(&words, &[]) {
            Ok(answer) if answer.is_success => {
                self.accounting_failures = 0;
                accounted(&answer.text())
            }
            Ok(answer) if answer.reason().contains("disabled") => {
                self.accounting_failures = MOST_FAILURES;
                Vec::new()
            }
            _ => {
                self.accounting_failures += 1;
                Vec::new()
            }
        }
    }

    fn has_accounting(&self) -> bool {
        self.accounting_failures < MOST_FAILURES
    }

    fn cancel(&mut self, host: &Host, jobs: &[String]) -> Result<(), String> {
        job_script::cancel(host, "scancel", jobs, &["Invalid job id"])
    }
}

/// The options of a submission. `assay plan --scripts` shows them.
fn options(request: &JobRequest<'_>) -> Vec<String> {
    let JobRequest { settings, resources, .. } = request;
    let mut options =
        vec![format!("--job-name={}", request.name), format!("--comment={}", request.submission)];
    // A shell would read quotes; sbatch reads its option lines itself, and takes quotes for part of a path with blanks.
    // A percent sign begins what Slurm replaces.
    let directory = request.directory.display().to_string().replace('%', "%%");
    let (array, log) = match settings.array > 1 {
        true => (Some(format!("--array=1-{}", request.tasks.len())), "job-%a.log"),
        false => (None, "job-1.log"),
    };
    options.extend(array);
    options.push(format!("--output=\"{directory}/{log}\""));
    let texts = [
        ("account", &settings.account),
        ("partition", &settings.partition),
        ("qos", &settings.qos),
        ("constraint", &settings.constraint),
        ("reservation", &settings.reservation),
    ];
    for (name, value) in texts {
        options.extend(value.as_ref().map(|value| format!("--{name}={value}")));
    }
    let numbers = [
        ("nodes", resources.nodes),
        ("ntasks", resources.tasks),
        ("ntasks-per-node", resources.tasks_per_node),
        ("cpus-per-task", resources.cpus_per_task),
    ];
    for (name, value) in numbers {
        options.extend(value.map(|value| format!("--{name}={value}")));
    }
    options.extend(resources.memory_bytes.map(|bytes| format!("--mem={}M", bytes.div_ceil(1 << 20))));
    if let Some(devices) = resources.devices.filter(|devices| *devices > 0) {
        let option = settings.devices.as_deref().unwrap_or("--gres=gpu:{devices}");
        options.push(option.replace("{devices}", &devices.to_string()));
    }
    if settings.exclusive {
        options.push("--exclusive".to_owned());
    }
    options.extend(request.time_s.map(|seconds| format!("--time={}", time::minutes(seconds))));
    options.extend(settings.options.iter().cloned());
    options
}

/// One line of squeue.
fn task_state(line: &str) -> Option<TaskState> {
    let mut fields = line.split('|').map(str::trim);
    let mut next = || fields.next();
    let (job, task) = array_id(next()?)?;
    let submission = next()?.to_owned();
    let (word, reason) = (next()?, next()?);
    let stage = stage(word)?;
    let [submitted_at, started_at, ended_at] =
        [next()?, next()?, next()?].map(|seconds| seconds.parse().ok());
    let node_list = next()?.to_owned();
    let (nodes, cpus, restarts) = (next()?, next()?, next()?);
    let reason = if stage == TaskStage::Pending { reason } else { word };
    Some(TaskState {
        job,
        submission,
        task,
        stage,
        reason: reason.to_owned(),
        submitted_at,
        started_at,
        ended_at,
        node_list,
        nodes: nodes.parse().ok(),
        cpus: cpus.parse().ok(),
        restarts: restarts.parse().unwrap_or(0),
    })
}

/// `12_3` is task 3 of job 12; `12` is a plain job.
fn array_id(text: &str) -> Option<(String, u32)> {
    match text.split_once('_') {
        Some((job, task)) => Some((job.to_owned(), task.parse().ok()?)),
        None => (!text.is_empty()).then(|| (text.to_owned(), 1)),
    }
}

/// The stage that a state of Slurm stands for.
fn stage(word: &str) -> Option<TaskStage> {
    // `CANCELLED by 1000` and `COMPLETED+` are states with something behind them.
    let word = word.split([' ', '+']).next().unwrap_or_default();
    Some(match word {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "RESV_DEL_HOLD"
        | "CONFIGURING" => TaskStage::Pending,
        "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => {
            TaskStage::Running
        }
        "COMPLETED" | "FAILED" => TaskStage::Ended,
        "CANCELLED" | "REVOKED" => TaskStage::Cancelled,
        "TIMEOUT" | "DEADLINE" => TaskStage::TimedOut,
        "OUT_OF_MEMORY" => TaskStage::OutOfMemory,
        "NODE_FAIL" | "BOOT_FAIL" => TaskStage::NodeFailed,
        "PREEMPTED" => TaskStage::Preempted,
        _ => return None,
    })
}

/// The answer of sacct: a line for the job, and lines for its steps, of which the memory comes.
fn accounted(text: &str) -> Vec<Accounted> {
    let mut all: Vec<Accounted> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let [id, state, cpu, memory, allocated, elapsed, nodes] = fields.as_slice() else { continue };
        let (id, is_step) = match id.split_once('.') {
            Some((id, _)) => (id, true),
            None => (*id, false),
        };
        let Some((job, task)) = array_id(id) else { continue };
        let known = all.iter_mut().position(|known| known.job == job && known.task == task);
        let entry = match known {
            Some(place) => all.get_mut(place),
            None => {
                all.push(Accounted { job, task, ..Accounted::default() });
                all.last_mut()
            }
        };
        let Some(entry) = entry else { continue };
        let kibibytes: Option<f64> = memory.trim_end_matches('K').parse().ok();
        let bytes = kibibytes.map(|kibibytes| kibibytes * 1024.0).filter(|bytes| *bytes > 0.0);
        entry.peak_resident_bytes = entry
            .peak_resident_bytes
            .into_iter()
            .chain(bytes)
            .fold(None, |most: Option<f64>, bytes| Some(most.map_or(bytes, |most| most.max(bytes))));
        if !is_step {
            entry.stage = stage(state);
            entry.cpu_s = time::parse_clock(cpu).filter(|seconds| *seconds > 0.0);
            entry.allocated = (*allocated).to_owned();
            entry.elapsed_s = elapsed.parse().ok();
            entry.node_list = (*nodes).to_owned();
        }
    }
    // The database learns of the end of a job a little after the controller.
    all.retain(|entry| entry.stage.is_some_and(TaskStage::is_over));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read() {
        let line = "2_3|b1|COMPLETED|None|1795000000|1795000001|1795000002|n[1-2]|2|4|1|";
        let state = task_state(line).unwrap();
        assert_eq!((state.job.as_str(), state.task, state.stage), ("2", 3, TaskStage::Ended));
        assert_eq!((state.nodes, state.cpus, state.restarts), (Some(2), Some(4), 1));
        assert_eq!(state.ended_at.unwrap() - state.started_at.unwrap(), 1.0);
        let line = "7|b2|PENDING|PartitionNodeLimit|1795000000|N/A|N/A||9|9|0|";
        let state = task_state(line).unwrap();
        assert_eq!(
            (state.stage, state.reason.as_str(), state.started_at),
            (TaskStage::Pending, "PartitionNodeLimit", None)
        );
        assert_eq!(task_state("slurm_load_jobs error: Unable to contact slurm controller"), None);
        assert_eq!(stage("CANCELLED by 1000"), Some(TaskStage::Cancelled));
    }

    #[test]
    fn percent_signs_of_a_path_are_not_replaced() {
        let request = JobRequest {
            name: "n",
            submission: "s",
            settings: &BatchSettings::default(),
            resources: Resources::default(),
            time_s: None,
            directory: Path::new("/a/50%a"),
            tasks: &[],
        };
        let options = options(&request);
        assert!(options.iter().any(|option| option.starts_with("--output=\"/a/50%%a/job-")), "{options:?}");
    }

    #[test]
    fn accounting_of_steps_is_joined_with_their_job() {
        let text = "5_1|COMPLETED|00:01.111||cpu=2,gres/ipu=2,mem=500M,node=1|4|n1\n5_1.batch|COMPLETED|00:00.100|1024K||4|n1\n\
                    5_1.0|COMPLETED|00:01.000|91684K||3|n1\n6|OUT_OF_MEMORY|00:00:02|0|cpu=1|9|n[2-3]\n";
        let all = accounted(text);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].peak_resident_bytes, Some(91684.0 * 1024.0));
        assert_eq!(all[0].cpu_s, Some(1.111));
        assert_eq!(all[1].stage, Some(TaskStage::OutOfMemory));
        assert_eq!(all[1].peak_resident_bytes, None);
        assert_eq!((all[1].elapsed_s, all[1].node_list.as_str()), (Some(9.0), "n[2-3]"));
    }
}
