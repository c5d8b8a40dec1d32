//! PBS: `qstat -f` and `qstat -x -f`, what the scheduler writes into a job's output, and the epilogues of sites.

use assay_model::names::{self, setting};
use assay_model::{Failure, Scope, Status, Unit};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::clock::{Stamp, days};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::{after, between, clock_seconds, number, number_after, word};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "pbs",
    title: "PBS",
    summary: "qstat -f of running and finished jobs, killed jobs, epilogues: state, exit status, queue, wall time, memory",
    needles: &[
        "Job Id: ",
        "Job_Name = ",
        "job_state = ",
        "Exit_status = ",
        "resources_used.",
        "Resource_List.",
        "qtime = ",
        "stime = ",
        "obittime = ",
        "PBS: job killed:",
        "cput=",
        "Exit Status: ",
        "Walltime Used:",
        "Memory Used:",
        "CPU Time Used:",
    ],
    shapes: &[
        Shape {
            text: "Job Id: 4711.cluster\n    Job_Name = bert\n    resources_used.cput = 04:00:00\n    resources_used.mem = 1024kb\n    \
                   resources_used.ncpus = 64\n    resources_used.walltime = 00:30:00\n    job_state = F\n    \
                   qtime = Tue Apr  9 15:00:00 2024\n    Resource_List.nodect = 2\n    stime = Tue Apr  9 15:10:00 2024\n    Exit_status = 0",
            reads: "duration.cpu, memory.peak, setting cpus, duration.job, phase queue, duration.queue, setting nodes, \
                    status succeeded",
        },
        Shape {
            text: "Job Id: 4712.cluster\n    job_state = F\n    Exit_status = 271",
            reads: "status failed",
        },
        Shape {
            text: "Job Id: 4713.cluster\n    job_state = Q\n    qtime = Tue Apr  9 15:00:00 2024",
            reads: "phase queue",
        },
        Shape {
            text: "=>> PBS: job killed: walltime 3627 exceeded limit 3600",
            reads: "status timed_out, duration.job, hint",
        },
        Shape { text: "=>> PBS: job killed: mem 4200000kb exceeded limit 4194304kb", reads: "status failed" },
        Shape {
            text: "Resources Used: cput=00:10:00,mem=2048kb,vmem=4096kb,walltime=00:02:30",
            reads: "duration.cpu, memory.peak, duration.job",
        },
        Shape {
            text: "   Exit Status:        0\n   NCPUs Requested:    4                      CPU Time Used: 00:10:00\n   \
                   Memory Requested:   16.0GB                Memory Used: 2.0GB\n   \
                   Walltime Requested: 01:00:00            Walltime Used: 00:10:12",
            reads: "status succeeded, duration.cpu, memory.peak, duration.job",
        },
    ],
    derived: &["The queue lasts from `qtime` to `stime`."],
    notes: &[
        "A run begins at each `Job Id`.",
        "An exit status of 256 and more is a signal: 271 is 256 + 15. A negative one means that PBS could not run the job.",
        "PBS counts in powers of 1024. `mem` is the most that the job used.",
        "These lines describe the job as a whole; they are no clock for the lines around them.",
    ],
    reader: || Box::<PbsReader>::default(),
};

/// What is known so far of a job.
#[derive(Default)]
pub(crate) struct PbsReader {
    queued: Option<Stamp>,
    started: Option<Stamp>,
    placed: bool,
    waiting: bool,
}

impl DialectReader for PbsReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        // Durations such as 00:30:00 look like a time of day and are none.
        facts.stamp = Some(None);
        let text = line.text.trim();
        let taken = if let Some(rest) = after(text, "PBS: job killed:") {
            killed(rest.trim(), facts)
        } else if text.starts_with("Job Id:") {
            facts.begin();
            *self = PbsReader::default();
            true
        } else if let Some((name, value)) = text.split_once(" = ") {
            self.attribute(name.trim(), value.trim(), facts)
        } else if text.contains("cput=") && text.contains("walltime=") {
            epilogue(text, facts)
        } else {
            labels(text, facts)
        };
        if taken { Taken::Whole } else { Taken::Nothing }
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = PbsReader::default();
    }
}

impl PbsReader {
    /// Takes one attribute of the job.
    pub(crate) fn attribute(&mut self, name: &str, value: &str, facts: &mut Facts<'_>) -> bool {
        match name {
            "Job_Name" => {
                facts.draft.title.get_or_insert_with(|| value.to_owned());
            }
            "job_state" => self.waiting = matches!(value, "Q" | "H" | "W"),
            "Exit_status" => return exit(value, facts),
            "qtime" => self.queued = calendar(value),
            "stime" => self.started = calendar(value),
            "obittime" => {
                if let Some(stamp) = calendar(value) {
                    facts.at_time(stamp);
                }
            }
            "Resource_List.nodect" | "Resource_List.ncpus" | "resources_used.ncpus" => {
                let Some((count, _)) = number(value) else { return false };
                let name = if name.ends_with("nodect") { setting::NODES } else { "cpus" };
                facts.observe(name, setting_number(count), "log");
            }
            "Resource_List.ngpus" => {
                let Some((count, _)) = number(value).filter(|(count, _)| *count > 0.0) else { return false };
                facts.observe(setting::DEVICES, setting_number(count), "log");
            }
            _ => match name.strip_prefix("resources_used.") {
                Some(name) => return used(name, value, facts),
                None => return false,
            },
        }
        self.queue(facts);
        true
    }

    /// The queue, once both its ends are known, or its beginning while the job waits.
    fn queue(&mut self, facts: &mut Facts<'_>) {
        match (self.queued, self.started) {
            (Some(queued), Some(started)) if !self.placed => {
                facts.at_time(queued);
                facts.start("queue");
                facts.at_time(started);
                facts.end("queue");
                self.placed = true;
            }
            (Some(queued), None) if self.waiting => {
                facts.at_time(queued);
                facts.start("queue");
            }
            _ => {}
        }
    }
}

fn used(name: &str, value: &str, facts: &mut Facts<'_>) -> bool {
    match name {
        "walltime" => {
            let Some(seconds) = clock_seconds(value) else { return false };
            facts.value(Value::reported(names::DURATION_JOB, seconds).over(Scope::Job).written(value));
        }
        "cput" => {
            let Some(seconds) = clock_seconds(value) else { return false };
            facts.value(Value { unit: Some(&Unit::Seconds), ..Value::reported("duration.cpu", seconds) });
        }
        "mem" => {
            let Some(bytes) = bytes(value) else { return false };
            facts.value(Value::reported(names::MEMORY_PEAK, bytes).written(value));
        }
        _ => return false,
    }
    true
}

/// `1024kb`, `2.0GB`, in powers of 1024.
fn bytes(text: &str) -> Option<f64> {
    let (value, unit) = number(text)?;
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 0,
        "kb" => 1,
        "mb" => 2,
        "gb" => 3,
        "tb" => 4,
        _ => return None,
    };
    Some(value * 1024_f64.powi(power))
}

fn exit(value: &str, facts: &mut Facts<'_>) -> bool {
    let Some((code, _)) = number(value) else { return false };
    let code = code as i32;
    match code {
        0 => facts.status(Status::Succeeded),
        256.. => facts.status(Status::Failed { failure: Failure::Signal { signal: code - 256 } }),
        ..0 => facts.failed(&format!("PBS could not run the job (exit status {code})")),
        _ => facts.status(Status::Failed { failure: Failure::Exit { code } }),
    }
    true
}

/// `walltime 3627 exceeded limit 3600` and its like.
fn killed(reason: &str, facts: &mut Facts<'_>) -> bool {
    match number_after(reason, "exceeded limit").filter(|_| reason.starts_with("walltime")) {
        Some(limit) => {
            if let Some(seconds) = number_after(reason, "walltime") {
                facts.value(Value::reported(names::DURATION_JOB, seconds).over(Scope::Job));
            }
            facts.status(Status::TimedOut { after_s: limit });
        }
        None => facts.failed(&format!("killed by PBS: {reason}")),
    }
    true
}

/// `cput=00:10:00,mem=2048kb,walltime=00:02:30`.
fn epilogue(text: &str, facts: &mut Facts<'_>) -> bool {
    // What was asked for is listed in the same way.
    if text.to_ascii_lowercase().contains("requested") || text.contains("Limits") {
        return false;
    }
    let mut taken = false;
    for part in text.split([',', ' ']) {
        if let Some((name, value)) = part.split_once('=') {
            taken |= used(name, value, facts);
        }
    }
    taken
}

/// The labelled lines of site epilogues, several on a line.
fn labels(text: &str, facts: &mut Facts<'_>) -> bool {
    let mut taken = false;
    for (label, name) in [("Walltime Used:", "walltime"), ("Memory Used:", "mem"), ("CPU Time Used:", "cput")]
    {
        if let Some(rest) = after(text, label) {
            taken |= used(name, word(rest), facts);
        }
    }
    match text.strip_prefix("Exit Status:") {
        Some(rest) => exit(word(rest), facts) || taken,
        None => taken,
    }
}

/// `Tue Apr  9 15:00:00 2024`, or seconds since 1970 with that in brackets.
fn calendar(text: &str) -> Option<Stamp> {
    if let Some((seconds, rest)) = number(text).filter(|(seconds, _)| *seconds > 1e8) {
        return rest.trim_start().starts_with('(').then_some(Stamp { seconds, dated: true, zoned: true });
    }
    let text = between(text, "(", ")").unwrap_or(text);
    let parts: Vec<&str> = text.split_whitespace().collect();
    let (month, day, time, year) = match parts.as_slice() {
        [_, month, day, time, year] | [_, month, day, time, _, year] => (*month, *day, *time, *year),
        _ => return None,
    };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|known| *known == month)? as u32 + 1;
    let seconds =
        days(year.parse().ok()?, month, day.parse().ok()?)? as f64 * 86_400.0 + clock_seconds(time)?;
    Some(Stamp { seconds, dated: true, zoned: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DocumentReader, Readers};
    use proptest::prelude::*;

    #[test]
    fn every_job_is_a_run_and_the_queue_is_between_its_times() {
        let job = |id: u32, queued: &str, started: &str| {
            format!(
                "Job Id: {id}.cluster\n    Job_Name = j{id}\n    resources_used.walltime = 30:00:00\n    job_state = F\n    \
                 ctime = Tue Apr  9 14:59:00 2024\n    qtime = Tue Apr  9 {queued} 2024\n    stime = Tue Apr  9 {started} 2024\n    Exit_status = 0\n\n"
            )
        };
        let text = job(1, "15:00:00", "15:00:30") + &job(2, "15:00:00", "16:00:00");
        let mut reader = DocumentReader::new(&Readers::all(&[]), "qstat.txt");
        reader.feed(text.as_bytes());
        let runs = reader.finish().runs;
        let value = |run: usize, metric: &str| {
            runs[run].observations.iter().find(|o| o.metric == metric).map(|o| o.value)
        };
        assert_eq!(runs.len(), 2);
        assert_eq!((value(0, "duration.queue"), value(1, "duration.queue")), (Some(30.0), Some(3600.0)));
        assert_eq!(value(0, "duration.job"), Some(108_000.0));
        assert_eq!(runs[1].title.as_deref(), Some("j2"));
    }

    #[test]
    fn both_forms_of_times_agree() {
        let plain = calendar("Thu Apr 07 16:23:59 2022").unwrap();
        assert_eq!(calendar("1649348639 (Thu Apr 07 12:23:59 EDT 2022)").unwrap().seconds, plain.seconds);
        assert_eq!(calendar("soon"), None);
    }

    proptest! {
        #[test]
        fn any_time_is_survived(text in "\\PC{0,40}", odd in "[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{0,3} [0-9:]{0,9} [0-9]{0,6}") {
            let _ = (calendar(&text), calendar(&odd));
        }
    }
}
