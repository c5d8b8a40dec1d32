//! What `seff` prints of one job.

use crate::calendar::slurm_span;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

use super::sacct::SlurmJob;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "seff",
    summary: "Slurm job efficiency: state, processors, wall-clock time, memory",
    options: log_options![
        (
            "state",
            "COMPLETED",
            OptionValues::Words(&[
                "COMPLETED",
                "FAILED",
                "TIMEOUT",
                "CANCELLED",
                "OUT_OF_MEMORY",
                "NODE_FAIL"
            ]),
            "how the job ended"
        ),
        ("jobs", "1", OptionValues::Whole(1, 10_000), "jobs one after another"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    for index in 0..job.units.unwrap_or(job.settings.whole("jobs")) {
        let facts = SlurmJob::new(job, index);
        let efficiency = job.random.between(0.3, 0.97);
        let wall = facts.seconds();
        let all = wall * facts.processors as f64;
        let gigabytes = facts.megabytes as f64 / 1024.0;
        let code = facts.exit.split(':').next().unwrap_or("0");
        let log = &mut *job.log;
        say!(log, "Job ID: {}", facts.number);
        log.line("Cluster: sample");
        log.line("User/Group: sample-user/sample-group");
        say!(log, "State: {} (exit code {code})", facts.state);
        log.line("Nodes: 1");
        say!(log, "Cores per node: {}", facts.processors);
        say!(log, "CPU Utilized: {}", slurm_span(all * efficiency));
        say!(log, "CPU Efficiency: {:.2}% of {} core-walltime", efficiency * 100.0, slurm_span(all));
        say!(log, "Job Wall-clock time: {}", slurm_span(wall));
        say!(log, "Memory Utilized: {gigabytes:.2} GB");
        say!(log, "Memory Efficiency: {:.2}% of 128.00 GB", gigabytes / 1.28);
    }
}
