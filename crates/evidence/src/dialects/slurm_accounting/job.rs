//! The fields that Slurm gives for a job.

use assay_model::names::{self, setting};
use assay_model::{Failure, Scope, Status, Unit};

use crate::clock::{Stamp, leading};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::text::{between, clock_seconds, number, number_after};

/// What must be known of a job before some of its fields make sense.
#[derive(Debug, Default)]
pub(crate) struct Job {
    /// Whether the fields are those of a step and not of the job as a whole.
    pub step: bool,
    submitted: Option<Stamp>,
    started: Option<Stamp>,
    placed: bool,
    exit: Option<Failure>,
    limit: Option<f64>,
    elapsed: Option<f64>,
}

impl Job {
    /// Takes one field. The names are those of `sacct`, `seff` and `scontrol`.
    pub(crate) fn field(&mut self, name: &str, value: &str, facts: &mut Facts<'_>) -> bool {
        let value = value.trim();
        if value.is_empty() || matches!(value, "Unknown" | "None" | "N/A" | "(null)") {
            return false;
        }
        match name.trim() {
            "Submit" | "SubmitTime" => self.submitted = time(value),
            "Start" | "StartTime" => self.started = time(value),
            "End" | "EndTime" => return self.ended(value, facts),
            "State" | "JobState" => return self.state(value, facts),
            "ExitCode" => return self.exit_code(value),
            "JobName" if !self.step => {
                facts.draft.title.get_or_insert_with(|| value.to_owned());
            }
            "Timelimit" | "TimeLimit" => {
                let Some(seconds) = clock_seconds(value) else { return false };
                self.limit = Some(seconds);
                facts.declare("time_limit_s", setting_number(seconds), "configuration");
            }
            "MaxRSS" | "Memory Utilized" => return memory(value, facts),
            "NNodes" | "AllocNodes" | "NumNodes" | "Nodes" | "NODES" => {
                return count(setting::NODES, value, facts);
            }
            "AllocCPUS" | "NCPUS" | "NumCPUs" => return !self.step && count("cpus", value, facts),
            "Cores" => return count("cpus", value, facts),
            "Cores per node" => return cores(value, facts),
            "NTasks" | "NumTasks" => {
                return !facts.is_set(setting::TASKS) && count(setting::TASKS, value, facts);
            }
            "AllocTRES" | "AllocTres" | "TRES" | "ReqTRES" => return devices(value, facts),
            name => return self.duration(name, value, facts),
        }
        self.queue(facts);
        true
    }

    fn duration(&mut self, name: &str, value: &str, facts: &mut Facts<'_>) -> bool {
        match name {
            "Elapsed" | "RunTime" | "Job Wall-clock time" => {
                let Some(seconds) = clock_seconds(value) else { return false };
                // The steps of a job have times of their own.
                if !self.step {
                    self.elapsed = Some(seconds);
                    facts
                        .value(Value::reported(names::DURATION_JOB, seconds).over(Scope::Job).written(value));
                }
            }
            "TotalCPU" | "CPU Utilized" => {
                let Some(seconds) = clock_seconds(value).filter(|_| !self.step) else { return false };
                facts.value(Value { unit: Some(&Unit::Seconds), ..Value::reported("duration.cpu", seconds) });
            }
            "CPU Efficiency" => {
                let Some((percent, _)) = number(value) else { return false };
                facts.value(Value {
                    unit: Some(&Unit::Fraction),
                    ..Value::reported("cpu_efficiency", percent / 100.0)
                });
            }
            "ConsumedEnergy" | "ConsumedEnergyRaw" => {
                let Some(joules) = scaled(value, 1000.0).filter(|joules| *joules > 0.0) else { return false };
                facts.report(names::ENERGY, joules);
            }
            _ => return false,
        }
        true
    }

    /// The queue, once both its ends are known.
    fn queue(&mut self, facts: &mut Facts<'_>) {
        if self.step || self.placed {
            return;
        }
        if let (Some(submitted), Some(started)) = (self.submitted, self.started) {
            facts.at_time(submitted);
            facts.start("queue");
            facts.at_time(started);
            facts.end("queue");
            self.placed = true;
        }
    }

    fn ended(&self, value: &str, facts: &mut Facts<'_>) -> bool {
        let Some(stamp) = time(value).filter(|_| !self.step && self.placed) else { return false };
        facts.at_time(stamp);
        true
    }

    /// `2:0` is exit code 2, `0:9` is signal 9.
    fn exit_code(&mut self, value: &str) -> bool {
        let Some((code, signal)) = value.split_once(':') else { return false };
        let (Ok(code), Ok(signal)) = (code.trim().parse::<i32>(), signal.trim().parse::<i32>()) else {
            return false;
        };
        self.exit = match (code, signal) {
            (0, 0) => None,
            (0, signal) => Some(Failure::Signal { signal }),
            (code, _) => Some(Failure::Exit { code }),
        };
        true
    }

    /// `COMPLETED`, `CANCELLED by 1000`, `OUT_OF_ME+`, and as `seff` writes it `FAILED (exit code 1)`.
    fn state(&mut self, value: &str, facts: &mut Facts<'_>) -> bool {
        if self.step {
            return true;
        }
        let state = value.split([' ', '+']).next().unwrap_or_default();
        match state {
            "COMPLETED" => facts.status(Status::Succeeded),
            "FAILED" => self.failed(value, facts),
            "TIMEOUT" => match self.limit.or(self.elapsed) {
                Some(after_s) => facts.status(Status::TimedOut { after_s }),
                None => facts.status(Status::Cancelled { reason: "time limit".to_owned() }),
            },
            "PREEMPTED" | "DEADLINE" | "REVOKED" => {
                facts.status(Status::Cancelled { reason: state.to_ascii_lowercase() });
            }
            "RUNNING" | "COMPLETING" | "SUSPENDED" => {
                facts.draft.evidence = true;
            }
            "PENDING" => {
                if let Some(submitted) = self.submitted {
                    facts.at_time(submitted);
                }
                facts.start("queue");
            }
            _ if state.starts_with("CANCELLED") => {
                facts.status(Status::Cancelled { reason: value.to_ascii_lowercase() })
            }
            _ if state.starts_with("OUT_OF_ME") => {
                facts.failed("out of memory");
                facts.hint(value, "the job ran out of memory: ask for more (--mem), or lower the batch size");
            }
            _ if state.starts_with("NODE_FAIL") || state.starts_with("BOOT_FAIL") => {
                facts.failed("a node failed");
                facts.hint(value, "a fault of the machine: try again on other nodes");
            }
            _ => return false,
        }
        true
    }

    fn failed(&self, value: &str, facts: &mut Facts<'_>) {
        let stated = between(value, "(exit code ", ")").and_then(|code| code.trim().parse().ok());
        match (self.exit.clone(), stated) {
            (Some(failure), _) => facts.status(Status::Failed { failure }),
            (None, Some(code)) => facts.status(Status::Failed { failure: Failure::Exit { code } }),
            (None, None) => facts.failed("the scheduler says FAILED"),
        }
    }
}

/// `2024-04-09T15:00:00`, or seconds since 1970.
fn time(value: &str) -> Option<Stamp> {
    let epoch = || value.parse().ok().filter(|seconds: &f64| *seconds > 1e8 && seconds.is_finite());
    leading(value.as_bytes()).or_else(|| epoch().map(|seconds| Stamp { seconds, dated: true, zoned: true }))
}

fn count(name: &str, value: &str, facts: &mut Facts<'_>) -> bool {
    let Some((count, _)) = number(value).filter(|(count, _)| *count > 0.0) else { return false };
    if !facts.is_set(name) {
        facts.observe(name, setting_number(count), "log");
    }
    true
}

/// Cores of all nodes together.
fn cores(value: &str, facts: &mut Facts<'_>) -> bool {
    let Some((cores, _)) = number(value).filter(|(cores, _)| *cores > 0.0) else { return false };
    let nodes = facts.known(setting::NODES).unwrap_or(1.0);
    let arithmetic = format!("{nodes} nodes × {cores} cores = {}", nodes * cores);
    facts.infer("cpus", setting_number(nodes * cores), arithmetic);
    true
}

/// `billing=16,cpu=16,gres/gpu=4,mem=64G,node=1`.
fn devices(value: &str, facts: &mut Facts<'_>) -> bool {
    let kinds = ["gres/gpu=", "gres/ipu=", "gres/rdu="];
    let found = kinds.iter().find_map(|kind| value.contains(kind).then(|| number_after(value, kind))?);
    let Some(devices) = found.filter(|_| !facts.is_set(setting::DEVICES)) else { return false };
    facts.observe(setting::DEVICES, setting_number(devices), "log");
    true
}

/// The largest of the steps counts.
fn memory(value: &str, facts: &mut Facts<'_>) -> bool {
    let Some(bytes) = scaled(value, 1024.0).filter(|bytes| *bytes > 0.0) else { return false };
    if facts.latest(names::MEMORY_PEAK).is_none_or(|known| bytes > known) {
        facts.value(Value::reported(names::MEMORY_PEAK, bytes).written(value));
    }
    true
}

/// `20480K`, `2.5G`, `4.64 GB`.
fn scaled(text: &str, base: f64) -> Option<f64> {
    let (value, unit) = number(text)?;
    let power = match unit.trim().chars().next() {
        None | Some('B' | '(') => 0,
        Some('K' | 'k') => 1,
        Some('M') => 2,
        Some('G') => 3,
        Some('T') => 4,
        Some(_) => return None,
    };
    Some(value * base.powi(power))
}
