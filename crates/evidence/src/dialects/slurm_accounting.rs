//! What Slurm's accounting describes jobs: `sacct`, `seff`, `squeue`, `scontrol show job`.

mod job;
mod listing;

use super::{Dialect, DialectReader, Shape, Taken};
use crate::facts::Facts;
use crate::line::Line;
use listing::Listing;

pub(crate) use job::Job;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "slurm_accounting",
    title: "Slurm accounting",
    summary: "sacct in columns and --parsable, seff, squeue, scontrol show job: state, exit code, queue, elapsed, memory, CPU time",
    needles: &[
        "JobID",
        "JOBID",
        "------ ------",
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
        "OUT_OF_ME",
        "NODE_FAIL",
        "PREEMPTED",
        "RUNNING",
        "PENDING",
        " PD ",
        " R  ",
        " CG ",
        "Job ID: ",
        "State: ",
        "Nodes: ",
        "Cores: ",
        "Cores per node: ",
        "CPU Utilized: ",
        "CPU Efficiency: ",
        "Job Wall-clock time: ",
        "Memory Utilized: ",
        "JobId=",
        "JobState=",
        "RunTime=",
        "SubmitTime=",
        "StartTime=",
        "NumNodes=",
    ],
    shapes: &[
        Shape {
            text: "71234             train 2024-04-09T15:00:00 2024-04-09T15:10:00 2024-04-09T15:40:00   00:30:00             COMPLETED      0:0 \n\
                   71234.batch       batch 2024-04-09T15:10:00 2024-04-09T15:10:00 2024-04-09T15:40:00   00:30:00     20480K  COMPLETED      0:0 ",
            reads: "status succeeded, phase queue, duration.queue, duration.job, memory.peak",
        },
        Shape {
            text: "JobID|State|ExitCode|Elapsed|TotalCPU|NNodes|NTasks|AllocTRES|\n\
                   71235|FAILED|2:0|00:00:12|00:10.500|1|16|billing=16,cpu=16,gres/gpu=4,node=1|",
            reads: "status failed, duration.job, duration.cpu, setting nodes, setting tasks, setting devices",
        },
        Shape {
            text: "JobID|State|Elapsed|Timelimit\n71236|TIMEOUT|01:00:02|01:00:00",
            reads: "status timed_out, duration.job, declared time_limit_s",
        },
        Shape {
            text: "JobID|State|Elapsed\n71237|OUT_OF_MEMORY|00:05:02\n71238|CANCELLED by 1000|00:00:02",
            reads: "status failed, hint, status cancelled, duration.job",
        },
        Shape {
            text: "Job ID: 71239\nCluster: test\nState: COMPLETED (exit code 0)\nNodes: 2\nCores per node: 16\nCPU Utilized: 00:05:16\n\
                   CPU Efficiency: 21.81% of 00:24:09 core-walltime\nJob Wall-clock time: 00:24:09\nMemory Utilized: 4.64 GB",
            reads: "status succeeded, setting nodes, setting cpus, duration.cpu, cpu_efficiency, duration.job, memory.peak",
        },
        Shape {
            text: "             71240       gpu    train    alice PD       0:00      2 (Priority)",
            reads: "phase queue, setting nodes, hint",
        },
        Shape {
            text: "JobId=71241 JobName=train\n   JobState=COMPLETED Reason=None Dependency=(null)\n   \
                   RunTime=00:30:00 TimeLimit=01:00:00 TimeMin=N/A\n   \
                   SubmitTime=2024-04-09T15:00:00 EligibleTime=2024-04-09T15:00:00\n   \
                   StartTime=2024-04-09T15:10:00 EndTime=2024-04-09T15:40:00 Deadline=N/A\n   NumNodes=2 NumCPUs=32 NumTasks=16",
            reads: "status succeeded, duration.job, declared time_limit_s, phase queue, duration.queue, setting nodes, \
                    setting cpus, setting tasks",
        },
    ],
    derived: &[
        "The queue lasts from submission to start.",
        "Peak memory is the largest MaxRSS of the job's steps.",
    ],
    notes: &[
        "A job is a run; its steps add to it.",
        "Columns are recognized by their names. Rows whose line of names is missing are read by their forms: where two columns look \
         alike, such as Elapsed and TotalCPU, neither is taken.",
        "Elapsed is from start to end, without the queue.",
        "Slurm counts in powers of 1024; `seff` does so too, though it writes GB.",
        "The title of the run is the job's name.",
        "`sacct --json` is read as a result file.",
    ],
    reader: || Box::<AccountingReader>::default(),
};

#[derive(Default)]
struct AccountingReader {
    listing: Option<Listing>,
    /// The job that lines outside of listings are about.
    job: Job,
    /// Whether such a job is open.
    open: bool,
    /// Whether only its number was seen: scripts print that too, so nothing begins there.
    named: bool,
}

impl DialectReader for AccountingReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if let Some(listing) = Listing::open(text, line.number) {
            facts.stamp = Some(None);
            self.open = false;
            self.listing = Some(listing);
            return Taken::Whole;
        }
        if let Some(listing) = &mut self.listing {
            if listing.take(text, line.number, facts) {
                return Taken::Whole;
            }
            self.listing = None;
        }
        if let Some(mut listing) = Listing::of_row(text, line.number)
            && listing.take(text, line.number, facts)
        {
            self.listing = Some(listing);
            return Taken::Whole;
        }
        if self.pairs(text, facts) { Taken::Whole } else { Taken::Nothing }
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = AccountingReader::default();
    }
}

impl AccountingReader {
    /// Lines of `seff` and of `scontrol show job`.
    fn pairs(&mut self, text: &str, facts: &mut Facts<'_>) -> bool {
        let text = text.trim();
        if text.starts_with("Job ID: ") || text.starts_with("JobId=") {
            (self.job, self.open, self.named) = (Job::default(), true, true);
        }
        if !self.open {
            return false;
        }
        if let Some((label, value)) = text.split_once(": ") {
            if label == "State" && std::mem::take(&mut self.named) {
                facts.begin();
            }
            facts.stamp = Some(None);
            return !self.named && self.job.field(label, value, facts);
        }
        if text.starts_with("JobId=") {
            facts.begin();
            self.named = false;
        }
        facts.stamp = Some(None);
        let mut taken = false;
        for part in text.split_whitespace() {
            if let Some((name, value)) = part.split_once('=') {
                taken |= self.job.field(name, value, facts);
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::{Failure, ReadRun, Status};

    fn read(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::all(&[]), "sacct.txt");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    #[test]
    fn steps_add_to_their_job_and_jobs_are_runs() {
        let runs = read(
            "JobID|JobName|State|ExitCode|Elapsed|MaxRSS|NTasks\n\
             7|train|FAILED|0:9|1-00:00:00||\n7.batch|batch|FAILED|0:9|1-00:00:00|1024K|1\n7.0|python|FAILED|0:9|23:00:00|2.5G|16\n\
             8|eval|RUNNING|0:0|00:10:00||\n",
        );
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0].status, Status::Failed { failure: Failure::Signal { signal: 9 } });
        assert_eq!(runs[1].status, Status::Unknown);
        let value = |run: usize, metric: &str| {
            runs[run].observations.iter().find(|o| o.metric == metric).map(|o| o.value)
        };
        assert_eq!(value(0, "duration.job"), Some(86_400.0));
        assert_eq!(value(0, "memory.peak"), Some(2.5 * 1024.0 * 1024.0 * 1024.0));
        assert_eq!(value(1, "memory.peak"), None);
        assert_eq!(runs[0].title.as_deref(), Some("train"));
        let tasks: Vec<_> = runs[0].settings.iter().filter(|fact| fact.name == "tasks").collect();
        assert_eq!(tasks.len(), 1);
    }

    #[test]
    fn columns_are_told_by_their_names() {
        let runs = read(
            "epochs=3\n\
             JobID           JobName     Elapsed   TotalCPU      State              Submit               Start ExitCode \n\
             ------------ ---------- ----------- ---------- ---------- ------------------- ------------------- -------- \n\
             71               train    00:30:00   10:00:00 CANCELLED+ 2024-04-09T15:00:00 2024-04-09T15:10:00     0:15 \n\
             71.batch         batch    00:29:00             CANCELLED 2024-04-09T15:10:00 2024-04-09T15:10:00     0:15 \n",
        );
        let run = runs.last().unwrap();
        let value = |metric: &str| run.observations.iter().find(|o| o.metric == metric).map(|o| o.value);
        assert_eq!(
            (value("duration.job"), value("duration.cpu"), value("duration.queue")),
            (Some(1800.0), Some(36_000.0), Some(600.0))
        );
        assert_eq!((run.status.word(), run.title.as_deref()), ("cancelled", Some("train")));
    }

    #[test]
    fn elapsed_is_no_time_of_day_and_an_unknown_start_is_no_queue() {
        let runs = read("JobID|State|Submit|Start|Elapsed\n9|PENDING|2024-04-09T15:00:00|Unknown|00:00:00\n");
        assert_eq!(runs[0].began_at, Some(1_712_674_800.0));
        assert_eq!((runs[0].phases.len(), runs[0].phases[0].seconds), (1, None));
        let runs = read("JobID|State|Elapsed\n9|COMPLETED|00:10:00\n");
        assert_eq!(runs[0].began_at, None);
    }
}
