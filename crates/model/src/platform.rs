//! Platforms: where runs happen. One catalog file each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One platform of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// Its name, as campaigns use it.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// How runs are started there: `local`, `slurm`, `pbs`, `replay`.
    pub launcher: String,
    /// The host whose scheduler is used, as ssh names it; none for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How jobs are submitted, where a scheduler starts runs.
    #[serde(default, skip_serializing_if = "BatchSettings::is_default")]
    pub batch: BatchSettings,
    /// Hardware facts and limits; what is absent is not checked (for `local` it is probed).
    pub limits: Limits,
    /// Environment variables set for every run there.
    pub environment: BTreeMap<String, String>,
    /// The dialect of its logs.
    pub dialect: Option<String>,
    /// Hints for error texts in logs.
    pub hints: Vec<ErrorHint>,
}

/// How jobs are submitted to a scheduler, or started on another host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchSettings {
    /// The account or project that is charged.
    pub account: Option<String>,
    /// The partition (Slurm) or queue (PBS).
    pub partition: Option<String>,
    /// The quality of service.
    pub qos: Option<String>,
    /// Features that nodes must have.
    pub constraint: Option<String>,
    /// The reservation to run in.
    pub reservation: Option<String>,
    /// Whether jobs share their nodes with nobody.
    pub exclusive: bool,
    /// The option that requests accelerators, with `{devices}` for their number on each node.
    pub devices: Option<String>,
    /// What a submission is refused without there: `account`, `partition`, `filesystems`, `time`.
    pub required: Vec<String>,
    /// File systems that jobs need, as PBS at some sites requires.
    pub filesystems: Option<String>,
    /// Further options of the submission, one each.
    pub options: Vec<String>,
    /// Shell lines at the beginning of every job, for example `module load`.
    pub setup: Vec<String>,
    /// What starts the run's script on the nodes, for example `srun --mpi=pmix`; without it, `srun` where a run has
    /// several tasks or nodes.
    pub start: Option<String>,
    /// The time limit of a run, in seconds; without it, the campaign's timeout.
    pub time_s: Option<f64>,
    /// How many runs share one job, one after the other.
    pub pack: u32,
    /// Runs share a job up to this many expected seconds.
    pub pack_time_s: Option<f64>,
    /// The most tasks of a job array.
    pub array: u32,
    /// The most jobs in the queue at once; without it, 200, and 1 where no scheduler hands out nodes.
    pub queued: Option<u32>,
    /// The shortest time between two looks at the queue, in seconds.
    pub poll_s: f64,
    /// Where run directories are made on another host.
    pub directory: Option<String>,
    /// The path of this program on another host.
    pub assay: Option<String>,
}

/// What a job needs beside its runs, in seconds.
const AROUND_S: f64 = 60.0;

impl BatchSettings {
    /// What a job asks for to make one run, in seconds: `time`, else the run's timeout with its grace and a minute for what
    /// is around it. A job of several runs asks for the sum.
    pub fn job_time_s(&self, timeout_s: Option<f64>, grace_s: f64) -> Option<f64> {
        self.time_s.or_else(|| timeout_s.map(|timeout| timeout + grace_s + AROUND_S))
    }

    /// The first thing that a submission there is refused without and that is not given; `timeout_s` is that of runs.
    pub fn missing(&self, timeout_s: Option<f64>) -> Option<&str> {
        let is_given = |name: &str| match name {
            "account" => self.account.is_some(),
            "partition" => self.partition.is_some(),
            "filesystems" => self.filesystems.is_some(),
            "time" => self.time_s.or(timeout_s).is_some(),
            _ => true,
        };
        self.required.iter().map(String::as_str).find(|name| !is_given(name))
    }

    fn is_default(&self) -> bool {
        *self == BatchSettings::default()
    }
}

impl Default for BatchSettings {
    fn default() -> BatchSettings {
        BatchSettings {
            account: None,
            partition: None,
            qos: None,
            constraint: None,
            reservation: None,
            exclusive: false,
            devices: None,
            required: Vec::new(),
            filesystems: None,
            options: Vec::new(),
            setup: Vec::new(),
            start: None,
            time_s: None,
            pack: 1,
            pack_time_s: None,
            array: 100,
            queued: None,
            poll_s: 1.0,
            directory: None,
            assay: None,
        }
    }
}

/// Hardware facts and limits of a platform.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Nodes that one run may have.
    pub nodes: Option<u64>,
    pub cpus_per_node: Option<u64>,
    /// Memory of a node, in bytes.
    pub memory_per_node_bytes: Option<u64>,
    /// Accelerators of a node.
    pub devices_per_node: Option<u64>,
    /// What an accelerator is called there, for example `IPU`.
    pub device: Option<String>,
    /// The longest time a run may take, in seconds.
    pub time_s: Option<f64>,
}

/// An error text and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorHint {
    /// The text to look for in the output of a failed run.
    pub text: String,
    pub hint: String,
}
