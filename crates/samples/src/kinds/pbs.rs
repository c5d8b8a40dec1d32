//! PBS: a finished job as `qstat -x -f` shows it, and the end of its output file.

use crate::calendar::{Clock, slurm_span};
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "pbs",
    summary: "PBS: `qstat -x -f` of a finished job and the end of its .o file",
    options: log_options![
        ("part", "both", OptionValues::Words(&["both", "qstat", "output"]), "which of the two"),
        ("fail", "none", OptionValues::Words(&["none", "error", "walltime"]), "how the job ended"),
        ("jobs", "1", OptionValues::Whole(1, 10_000), "jobs one after another"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let part = job.settings.word("part").to_owned();
    let fail = job.settings.word("fail").to_owned();
    for index in 0..job.units.unwrap_or(job.settings.whole("jobs")) {
        let limit = 3600.0;
        let wall = match fail.as_str() {
            "walltime" => limit + job.random.between(1.0, 25.0),
            _ => job.random.between(200.0, 3000.0),
        };
        if part != "output" {
            qstat(job, index, wall, &fail);
        }
        if part != "qstat" {
            output(job, wall, &fail);
        }
    }
}

fn qstat(job: &mut SampleJob<'_, '_>, index: u64, wall: f64, fail: &str) {
    let created = Clock::some(&mut job.random);
    let waited = job.random.between(1.0, 1500.0);
    let started = created.after(waited);
    let processors = job.random.pick(&[32_u64, 64, 128]);
    let busy = job.random.between(0.4, 0.95);
    let status = match fail {
        "error" => 1,
        "walltime" => -29,
        _ => 0,
    };
    let log = &mut *job.log;
    say!(log, "Job Id: {}.sample-pbs", 90_100 + index);
    log.line("    Job_Name = sample_run");
    log.line("    Job_Owner = sample-user@sample-login-01");
    say!(log, "    resources_used.cpupct = {:.0}", busy * processors as f64 * 100.0);
    say!(log, "    resources_used.cput = {}", slurm_span((wall * busy * processors as f64).min(86_399.0)));
    say!(log, "    resources_used.mem = {}kb", 1024 * job.random.whole(900, 60_000));
    say!(log, "    resources_used.ncpus = {processors}");
    say!(log, "    resources_used.walltime = {}", slurm_span(wall));
    log.line("    job_state = F");
    log.line("    queue = debug");
    log.line("    server = sample-pbs");
    say!(log, "    ctime = {}", created.unix());
    say!(log, "    qtime = {}", created.unix());
    say!(log, "    Resource_List.ncpus = {processors}");
    log.line("    Resource_List.nodect = 1");
    log.line("    Resource_List.walltime = 01:00:00");
    say!(log, "    stime = {}", started.unix());
    say!(log, "    mtime = {}", started.after(wall).unix());
    say!(log, "    eligible_time = {}", slurm_span(waited));
    say!(log, "    Exit_status = {status}");
    log.line("");
}

fn output(job: &mut SampleJob<'_, '_>, wall: f64, fail: &str) {
    let log = &mut *job.log;
    log.line("sample job starts on sample-node-07");
    log.line("sample output without meaning");
    match fail {
        "walltime" => say!(log, "=>> PBS: job killed: walltime {wall:.0} exceeded limit 3600"),
        "error" => log.line("sample program ended with code 1"),
        _ => say!(log, "sample job ends after {wall:.0} seconds"),
    }
}
