//! What Slurm says when a task had too little memory.

use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "slurm-oom",
    summary: "a job that was killed for memory: some output, then the words of slurmstepd and srun",
    options: log_options![
        ("older", "false", FLAG, "the wording of older versions"),
        ("lines", "6", OptionValues::Whole(1, 1 << 32), "lines of output before it"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let step = 30_000 + job.random.below(999);
    for line in 0..job.units.unwrap_or(job.settings.whole("lines")) {
        say!(job.log, "loading sample shard {line} of the data set");
    }
    match job.settings.flag("older") {
        true => say!(
            job.log,
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId={step}.0 cgroup. Some of your processes may \
             have been killed by the cgroup out-of-memory handler."
        ),
        false => say!(
            job.log,
            "slurmstepd: error: Detected 1 oom_kill event in StepId={step}.0. Some of the step tasks have been OOM \
             Killed."
        ),
    }
    job.log.line("srun: error: sample-node-01: task 0: Out Of Memory");
    say!(job.log, "srun: Terminating StepId={step}.0");
}
