//! Failures as torchrun (torch elastic) reports them.

use assay_model::{Failure, Status};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "torchrun",
    title: "torchrun",
    summary: "which rank failed first, with its exit code or signal",
    needles: &[
        "ChildFailedError",
        "Root Cause (first observed failure)",
        "  rank      : ",
        "  exitcode  : ",
        "failed (exitcode: ",
        "api.SignalException: ",
    ],
    shapes: &[
        Shape {
            text: "E0813 08:21:22.980000 1245 torch/distributed/elastic/multiprocessing/api.py:984] failed (exitcode: 1) \
                   local_rank: 6 (pid: 1246) of binary: /usr/bin/python3",
            reads: "status failed",
        },
        Shape {
            text: "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n\
                   ============================================================\n\
                   train.py FAILED\n\
                   Failures:\n\
                   [1]:\n  \
                   rank      : 3 (local_rank: 3)\n  \
                   exitcode  : -15 (pid: 1250)\n\
                   Root Cause (first observed failure):\n\
                   [0]:\n  \
                   time      : 2025-12-08_13:24:30\n  \
                   host      : node-01\n  \
                   rank      : 4 (local_rank: 0)\n  \
                   exitcode  : -9 (pid: 1247)\n  \
                   traceback : Signal 9 (SIGKILL) received by PID 1247",
            reads: "status failed, hint",
        },
        Shape {
            text: "torch.distributed.elastic.multiprocessing.api.SignalException: Process 1245 got signal: 15",
            reads: "status cancelled",
        },
    ],
    derived: &[],
    notes: &[
        "The root cause counts, not the ranks that were stopped because of it.",
        "A negative exit code is the signal that ended the process.",
        "The reason stands in the first traceback of that rank; where the log holds it, it outweighs the exit code.",
        "A signal to torchrun itself came from outside: the run was cancelled.",
    ],
    reader: || Box::<TorchrunReader>::default(),
};

#[derive(Default)]
struct TorchrunReader {
    /// Whether the lines that follow describe the root cause.
    root: bool,
    rank: Option<f64>,
}

impl DialectReader for TorchrunReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        self.take(line.text, facts).map_or(Taken::Nothing, |()| Taken::Part)
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = TorchrunReader::default();
    }
}

impl TorchrunReader {
    fn take(&mut self, text: &str, facts: &mut Facts<'_>) -> Option<()> {
        if let Some(code) = number_after(text, "failed (exitcode: ") {
            failed(code, facts);
        } else if text.contains("ChildFailedError:") {
            self.root = false;
        } else if text.contains("Root Cause (first observed failure)") {
            self.root = true;
        } else if let Some((rank, _)) = after(text, "  rank      : ").and_then(number) {
            self.rank = Some(rank);
        } else if let Some((code, _)) = after(text, "  exitcode  : ").and_then(number) {
            if !self.root {
                return None;
            }
            self.root = false;
            failed(code, facts);
            self.show(code, facts);
        } else if let Some(rest) = after(text, "api.SignalException: ") {
            let signal = number_after(rest, "got signal")?;
            facts.status(Status::Cancelled { reason: format!("torchrun got signal {signal}") });
        } else {
            return None;
        }
        Some(())
    }

    /// Which rank to look at.
    fn show(&self, code: f64, facts: &mut Facts<'_>) {
        let rank = self.rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
        let how = if code < 0.0 { format!("signal {}", -code) } else { format!("exit code {code}") };
        let advice = if code == -9.0 {
            "killed from outside, most often because the host ran out of memory: ask for more memory or use fewer loader \
             processes"
        } else {
            "read the output of this rank first: the others were stopped because of it"
        };
        facts.hint(&format!("{rank} failed first, {how}"), advice);
    }
}

fn failed(code: f64, facts: &mut Facts<'_>) {
    let code = code as i32;
    let failure =
        if code < 0 { Failure::Signal { signal: code.saturating_neg() } } else { Failure::Exit { code } };
    facts.status(Status::Failed { failure });
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::{Failure, Status};

    fn status(text: &str) -> Status {
        let mut reader = DocumentReader::new(&Readers::all(&[]), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs.remove(0).status
    }

    const TABLE: &str = "Failures:\n[1]:\n  rank      : 1 (local_rank: 1)\n  exitcode  : -15 (pid: 12)\n\
        Root Cause (first observed failure):\n[0]:\n  rank      : 0 (local_rank: 0)\n  exitcode  : 3 (pid: 11)\n";

    #[test]
    fn the_root_cause_counts() {
        assert_eq!(status(TABLE), Status::Failed { failure: Failure::Exit { code: 3 } });
    }

    #[test]
    fn a_traceback_says_more_than_the_exit_code() {
        let traceback = "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"train.py\", line 9, in <module>\n\
            [rank0]: RuntimeError: shapes differ\n";
        let launcher = "Traceback (most recent call last):\n  File \"run.py\", line 1, in main\n\
            torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n";
        let reason = "RuntimeError: shapes differ".to_owned();
        assert_eq!(
            status(&(traceback.to_owned() + launcher + TABLE)),
            Status::Failed { failure: Failure::Reported { reason } }
        );
        assert_eq!(
            status(&(launcher.to_owned() + TABLE)),
            Status::Failed { failure: Failure::Exit { code: 3 } }
        );
    }
}
