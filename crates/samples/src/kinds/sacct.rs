//! What `sacct` prints of jobs that ended: as a table, with bars between the fields, or as JSON.

use crate::calendar::{Clock, slurm_span};
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

/// States in which a job can end, with the exit code that goes with each.
pub(super) const STATES: [(&str, &str); 6] = [
    ("COMPLETED", "0:0"),
    ("FAILED", "1:0"),
    ("TIMEOUT", "0:15"),
    ("CANCELLED", "0:15"),
    ("OUT_OF_MEMORY", "0:125"),
    ("NODE_FAIL", "0:0"),
];

pub(crate) const KIND: SampleKind = SampleKind {
    name: "sacct",
    summary: "Slurm accounting: jobs with state, exit code and times, as text, separated by bars, or JSON",
    options: log_options![
        ("format", "text", OptionValues::Words(&["text", "parsable", "json"]), "how it is printed"),
        ("jobs", "3", OptionValues::Whole(1, 1 << 32), "jobs"),
        (
            "state",
            "",
            OptionValues::Words(&[
                "COMPLETED",
                "FAILED",
                "TIMEOUT",
                "CANCELLED",
                "OUT_OF_MEMORY",
                "NODE_FAIL"
            ]),
            "the state of every job; else they differ"
        ),
    ],
    compose,
};

/// One job of a cluster.
pub(super) struct SlurmJob {
    pub(super) number: u64,
    pub(super) state: &'static str,
    pub(super) exit: &'static str,
    pub(super) submitted: Clock,
    pub(super) started: Clock,
    pub(super) ended: Clock,
    pub(super) processors: u64,
    pub(super) megabytes: u64,
}

impl SlurmJob {
    pub(super) fn new(job: &mut SampleJob<'_, '_>, index: u64) -> Self {
        let random = &mut job.random;
        let asked = job.settings.word("state");
        let (state, exit) = match STATES.iter().find(|(state, _)| *state == asked) {
            Some(known) => *known,
            None if random.chance(0.7) => STATES.first().copied().unwrap_or_default(),
            None => random.pick(&STATES),
        };
        let submitted = Clock::some(random);
        let started = submitted.after(random.between(2.0, 4000.0));
        let ended = started.after(random.between(60.0, 9000.0));
        let (processors, megabytes) = (random.pick(&[8, 32, 64, 128]), random.whole(900, 90_000));
        Self { number: 20_700 + index, state, exit, submitted, started, ended, processors, megabytes }
    }

    pub(super) fn seconds(&self) -> f64 {
        (self.ended.millis() / 1000) as f64 - (self.started.millis() / 1000) as f64
    }
}

fn compose(job: &mut SampleJob<'_, '_>) {
    let format = job.settings.word("format").to_owned();
    let jobs = job.units.unwrap_or(job.settings.whole("jobs"));
    match format.as_str() {
        "json" => job.log.line("{\"jobs\": ["),
        "parsable" => {
            job.log.line("JobID|JobName|Partition|AllocCPUS|State|ExitCode|Submit|Start|End|Elapsed|MaxRSS")
        }
        _ => {
            job.log.line(
                "JobID           JobName  Partition  AllocCPUS      State ExitCode              Submit               Start                 End    Elapsed     MaxRSS ",
            );
            job.log.line(
                "------------ ---------- ---------- ---------- ---------- -------- ------------------- ------------------- ------------------- ---------- ---------- ",
            );
        }
    }
    for index in 0..jobs {
        let facts = SlurmJob::new(job, index);
        match format.as_str() {
            "json" => json(job, &facts, index + 1 == jobs),
            "parsable" => row(job, &facts, true),
            _ => row(job, &facts, false),
        }
    }
    if format == "json" {
        job.log.line("]}");
    }
}

fn row(job: &mut SampleJob<'_, '_>, facts: &SlurmJob, parsable: bool) {
    let SlurmJob { number, state, exit, processors, megabytes, .. } = facts;
    let (submit, start, end) = (facts.submitted.slurm(), facts.started.slurm(), facts.ended.slurm());
    let elapsed = slurm_span(facts.seconds());
    for (identity, name, memory) in [
        (format!("{number}"), "sample_run", String::new()),
        (format!("{number}.batch"), "batch", format!("{}K", megabytes * 1024)),
    ] {
        if parsable {
            say!(
                job.log,
                "{identity}|{name}|sample|{processors}|{state}|{exit}|{submit}|{start}|{end}|{elapsed}|{memory}"
            );
        } else {
            let state = state.get(..10).unwrap_or(state);
            say!(
                job.log,
                "{identity:<12} {name:>10} {:>10} {processors:>10} {state:>10} {exit:>8} {submit} {start} {end} \
                 {elapsed:>10} {memory:>10} ",
                "sample"
            );
        }
    }
}

fn json(job: &mut SampleJob<'_, '_>, facts: &SlurmJob, last: bool) {
    let SlurmJob { number, state, exit, .. } = facts;
    let (code, signal) = exit.split_once(':').unwrap_or(("0", "0"));
    let seconds = |clock: Clock| clock.millis() / 1000;
    say!(
        job.log,
        "  {{\"job_id\": {number}, \"name\": \"sample_run\", \"partition\": \"sample\", \"state\": {{\"current\": \
         [\"{state}\"], \"reason\": \"None\"}}, \"exit_code\": {{\"return_code\": {{\"set\": true, \"infinite\": false, \
         \"number\": {code}}}, \"signal\": {{\"id\": {{\"set\": true, \"infinite\": false, \"number\": {signal}}}}}}}, \
         \"time\": {{\"elapsed\": {:.0}, \"submission\": {}, \"start\": {}, \"end\": {}}}}}{}",
        facts.seconds(),
        seconds(facts.submitted),
        seconds(facts.started),
        seconds(facts.ended),
        if last { "" } else { "," }
    );
}
