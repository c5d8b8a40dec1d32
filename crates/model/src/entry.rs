//! The lines of the journal. The journal is the truth: everything else in a record can be made again from it
//! and the run directories. Enums are written with their tag outside (`{"finished": {…}}`), which serde reads
//! without buffering: a hundred thousand lines open in a fraction of a second.

use serde::{Deserialize, Serialize};

use crate::{CellId, Gate, Layout, Machine, Metric, RunId, RunResult, Settings};

/// The version of the journal's schema that this program writes. It opens this version and every older one.
///
/// 2: `accepted_damage` and `scrubbed` entries.
/// 3: `submitting` and `submitted` entries.
/// 4: every line names the checksum of the line before it.
pub const SCHEMA_VERSION: u32 = 4;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The first line of every journal.
    Record {
        /// The schema's version.
        schema: u32,
        /// The campaign's name.
        name: String,
        /// When the record was made, in seconds since 1970 UTC.
        at: f64,
        /// The version of the program that made it.
        program: String,
    },
    /// A coordinator opened the record for writing.
    Session {
        /// When.
        at: f64,
        /// Its process id.
        pid: u32,
        /// The machine it ran on.
        machine: Box<Machine>,
        /// The environment it had, secrets masked.
        environment: std::collections::BTreeMap<String, String>,
        /// The working directory.
        directory: String,
        /// The version of the program.
        program: String,
    },
    /// The plan from here on. Only what changed against the plan before is written.
    Plan {
        plan: Box<CurrentPlan>,
        /// Cells that this plan adds.
        add: Vec<PlannedCell>,
        /// Cells of earlier plans that are no longer planned. They stay in the record.
        drop: Vec<CellId>,
    },
    /// A run is about to start: its process may exist from here on.
    Launching {
        run: RunId,
        /// When, in seconds since 1970 UTC.
        at: f64,
        /// The run directory, relative to the record.
        directory: String,
    },
    /// The process of a run exists.
    Started {
        run: RunId,
        /// The process id, which is the process group too.
        pid: u32,
        /// The kernel's start time of the process in ticks after boot: with the pid it names one process.
        start_ticks: u64,
        /// The boot that the ticks count from.
        boot: String,
    },
    /// Runs are about to be submitted to a scheduler: their job may exist from here on. The job has the submission's
    /// name, so that it is found even if the answer of the scheduler was lost.
    Submitting {
        /// The submission's name, which no other of the record has.
        submission: String,
        /// When, in seconds since 1970 UTC.
        at: f64,
        /// The platform.
        platform: String,
        /// The runs of each task of the job array, in the order they are made. A plain job has one task.
        tasks: Vec<Vec<RunId>>,
    },
    /// The scheduler accepted a submission.
    Submitted {
        /// Which.
        submission: String,
        /// The scheduler's name of the job.
        job: String,
    },
    /// A run ended. Written and synced before the run is shown.
    Finished {
        run: RunId,
        /// How it went.
        result: Box<RunResult>,
    },
    /// The user accepted the damage found in the journal before this entry. What could be restored from run
    /// directories follows as `finished` entries.
    AcceptedDamage {
        /// When, in seconds since 1970 UTC.
        at: f64,
        /// Damage that starts before this byte of the journal is no longer reported as new.
        before_byte: u64,
        /// Journal lines that could not be read.
        lines: u64,
        /// Finished runs that were restored from their run directories.
        restored: u64,
        /// Run directories whose result is in neither the journal nor the directory.
        without_result: u64,
    },
    /// `assay scrub` rewrote the journal without secrets.
    Scrubbed {
        /// When, in seconds since 1970 UTC.
        at: f64,
        /// The version of the program that did it.
        program: String,
        /// How many values were removed.
        removed: u64,
    },
}

/// What a plan says beside its cells: all that judging a record needs without its campaign file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurrentPlan {
    /// The content hash of the plan.
    pub hash: String,
    /// The campaign's question.
    pub question: String,
    /// The metric the answer is about.
    pub headline: String,
    /// The seed of the order.
    pub seed: u64,
    /// The campaign file's text.
    pub campaign: String,
    /// The least number of repeats of a cell.
    pub repeats: u32,
    /// The relative half-width of intervals at which repeating stops, if one was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Cells that are run less often than that, each with the number of its repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fewer: Vec<(CellId, u32)>,
    /// The settings that are varied, in the order of the file.
    pub varied: Vec<String>,
    /// Metrics that the campaign declares.
    pub metrics: Vec<Metric>,
    /// Bounds that cells must meet.
    pub gates: Vec<Gate>,
    /// The tables that the campaign asks for beside the plain one.
    #[serde(default, skip_serializing_if = "Layout::is_plain")]
    pub layout: Layout,
}

/// A cell as the plan describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCell {
    /// Its identity.
    pub cell: CellId,
    /// The workload's name.
    pub workload: String,
    /// All its settings, fixed and varied.
    pub settings: Settings,
}
