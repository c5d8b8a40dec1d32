//! What `squeue` prints of jobs that run or wait.

use crate::calendar::slurm_span;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "squeue",
    summary: "the Slurm queue: running and pending jobs with the reason, as text or JSON",
    options: log_options![
        ("format", "text", OptionValues::Words(&["text", "json"]), "how it is printed"),
        ("jobs", "5", OptionValues::Whole(1, 1 << 32), "jobs"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let json = job.settings.word("format") == "json";
    let jobs = job.units.unwrap_or(job.settings.whole("jobs"));
    job.log.line(match json {
        true => "{\"jobs\": [",
        false => "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)",
    });
    for index in 0..jobs {
        let number = 30_100 + index;
        let runs = job.random.chance(0.6);
        let seconds = if runs { job.random.between(5.0, 90_000.0) } else { 0.0 };
        let reason = job.random.pick(&["Priority", "Resources", "QOSMaxJobsPerUserLimit"]);
        if json {
            say!(
                job.log,
                "  {{\"job_id\": {number}, \"name\": \"sample_run\", \"user_name\": \"sample-user\", \"job_state\": \
                 [\"{}\"], \"state_reason\": \"{}\"}}{}",
                if runs { "RUNNING" } else { "PENDING" },
                if runs { "None" } else { reason },
                if index + 1 == jobs { "" } else { "," }
            );
            continue;
        }
        let time = slurm_span(seconds);
        let time = time.trim_start_matches("00:").trim_start_matches('0');
        let time = if seconds < 1.0 { "0:00" } else { time };
        let place = if runs { "sample-node-01".to_owned() } else { format!("({reason})") };
        let state = if runs { "R" } else { "PD" };
        say!(job.log, "{number:>18}    sample sample_r sample-u {state:>2} {time:>10}      1 {place}");
    }
    if json {
        job.log.line("]}");
    }
}
