//! What Slurm says about a job on the way: srun, sbatch, slurmstepd, and the job's environment.

use assay_model::names::setting;
use assay_model::{Failure, Status, Value as Setting};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{after, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "slurm",
    title: "Slurm messages",
    summary: "srun, sbatch and slurmstepd: queue, exit codes, cancellation, memory, the job's environment",
    needles: &["srun: ", "sbatch: ", "slurmstepd: error", "SLURM_", "Submitted batch job"],
    shapes: &[
        Shape {
            text: "srun: job 20702 queued and waiting for resources\nsrun: job 20702 has been allocated resources",
            reads: "phase queue, setting slurm_job",
        },
        Shape { text: "srun: error: node-03: task 0: Exited with exit code 2", reads: "status failed" },
        Shape {
            text: "slurmstepd: error: execve(): OPTIONS={}: No such file or directory",
            reads: "status failed, hint",
        },
        Shape {
            text: "slurmstepd: error: *** JOB 71 ON node-01 CANCELLED AT 2024-04-09T15:30:00 DUE TO TIME LIMIT ***",
            reads: "status cancelled, hint",
        },
        Shape {
            text: "slurmstepd: error: Detected 1 oom_kill event in StepId=71.0. Some of the step tasks have been OOM Killed.",
            reads: "status failed, hint",
        },
        Shape {
            text: "sbatch: error: Batch job submission failed: Requested node configuration is not available",
            reads: "status failed, hint",
        },
        Shape { text: "SLURM_NTASKS=16\nSLURM_NNODES=2", reads: "setting tasks, setting nodes" },
    ],
    derived: &[],
    notes: &[
        "A run begins where srun says that its job is queued, unless a command line just before began it.",
        "These lines have no clock: the queue is a phase without a length unless other lines have timestamps.",
    ],
    reader: || Box::<SlurmReader>::default(),
};

#[derive(Default)]
struct SlurmReader;

impl DialectReader for SlurmReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text.trim();
        if text.starts_with("srun: job") && text.contains("queued") {
            if facts.has_evidence() {
                facts.begin();
            }
            job(text, "srun: job", facts);
            facts.start("queue");
        } else if text.starts_with("srun: job") && text.contains("allocated") {
            job(text, "srun: job", facts);
            facts.end("queue");
        } else if text.starts_with("srun: Terminating job step") {
            job(text, "job step", facts);
        } else if text.starts_with("Submitted batch job") {
            job(text, "batch job", facts);
        } else if let Some(rest) = after(text, "slurmstepd: error:") {
            return stepd(rest.trim(), facts);
        } else if let Some(rest) = after(text, "sbatch: error:").or_else(|| after(text, "srun: error:")) {
            return refused(rest.trim(), facts);
        } else {
            return environment(text, facts);
        }
        Taken::Part
    }
}

/// The job's number, which leads to its entry in the accounting.
fn job(text: &str, before: &str, facts: &mut Facts<'_>) {
    let digits = after(text, before).map(str::trim_start).unwrap_or_default();
    let digits = digits.get(..digits.bytes().take_while(u8::is_ascii_digit).count()).unwrap_or_default();
    if let Ok(number) = digits.parse::<i64>()
        && !facts.is_set(setting::JOB)
    {
        facts.observe(setting::JOB, Setting::Integer(number), "log");
    }
}

fn stepd(text: &str, facts: &mut Facts<'_>) -> Taken {
    if text.contains("CANCELLED AT") {
        let reason = if text.contains("TIME LIMIT") { "time limit" } else { text };
        facts.status(Status::Cancelled { reason: reason.to_owned() });
    } else {
        facts.failed(text);
    }
    Taken::Part
}

fn refused(text: &str, facts: &mut Facts<'_>) -> Taken {
    match number_after(text, "Exited with exit code") {
        Some(code) => facts.status(Status::Failed { failure: Failure::Exit { code: code as i32 } }),
        None => facts.failed(text),
    }
    Taken::Part
}

fn environment(text: &str, facts: &mut Facts<'_>) -> Taken {
    let known = [
        ("SLURM_NTASKS=", setting::TASKS),
        ("SLURM_TASKS_PER_NODE=", setting::TASKS_PER_NODE),
        ("SLURM_NTASKS_PER_NODE=", setting::TASKS_PER_NODE),
        ("SLURM_JOB_ID=", setting::JOB),
        ("SLURM_NNODES=", setting::NODES),
        ("SLURM_JOB_NUM_NODES=", setting::NODES),
    ];
    let mut taken = Taken::Nothing;
    for (key, name) in known {
        if let Some(value) = number_after(text, key).filter(|_| text.contains(key)) {
            facts.observe(name, Setting::Integer(value as i64), "environment");
            taken = Taken::Part;
        }
    }
    taken
}
