//! Python programs that end in a traceback, whatever they are.

use assay_model::{Failure, Status};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::facts::Facts;
use crate::line::Line;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "python",
    title: "Python",
    summary: "tracebacks: the exception that ended a program",
    needles: &[
        TRACEBACK,
        "Error",
        "Exception",
        "KeyboardInterrupt",
        "the above exception, another exception",
        "the direct cause of the following exception",
    ],
    shapes: &[
        Shape {
            text: "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\n    main()\n\
                   ValueError: batch size must be positive",
            reads: "status failed",
        },
        Shape {
            text: "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"train.py\", line 12, in <module>\n\
                   [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
            reads: "status failed, hint",
        },
        Shape {
            text: "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\nKeyboardInterrupt",
            reads: "status cancelled",
        },
        Shape {
            text: "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>",
            reads: "status truncated",
        },
    ],
    derived: &[],
    notes: &[
        "The first traceback counts: other ranks fail because of it. Of tracebacks that Python itself chains, the last counts.",
        "An exception that another dialect knows as a gate stays a failed gate.",
        "A launcher that reports the failure of its child is not the reason.",
        "A traceback without its last line means that the log breaks off.",
    ],
    reader: || Box::<PythonReader>::default(),
};

const TRACEBACK: &str = "Traceback (most recent call last):";

#[derive(Default)]
struct PythonReader {
    /// Whether the end of a traceback is due.
    inside: bool,
    /// Whether Python says that the next exception belongs to the one before.
    chained: bool,
    /// What stood before the traceback on its line: a launcher's or logger's prefix.
    prefix: String,
}

impl DialectReader for PythonReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text;
        if let Some(prefix) = text.trim_end().strip_suffix(TRACEBACK) {
            self.inside = true;
            prefix.clone_into(&mut self.prefix);
            // Nothing is known of the run yet but that it got here, and how it ended must follow.
            facts.draft.evidence = true;
            if *facts.ended() == Status::Unknown {
                facts.expect_end();
            }
            return Taken::Part;
        }
        if text.contains("the above exception, another exception")
            || text.contains("the direct cause of the following exception")
        {
            self.chained = true;
            return Taken::Nothing;
        }
        if !self.inside {
            return Taken::Nothing;
        }
        let text = text.strip_prefix(self.prefix.as_str()).unwrap_or(text);
        let Some(exception) = exception(text) else { return Taken::Nothing };
        self.inside = false;
        let chained = std::mem::take(&mut self.chained);
        if exception.ends_with("ChildFailedError") {
            return Taken::Nothing;
        }
        if exception.ends_with("KeyboardInterrupt") {
            facts.status(Status::Cancelled { reason: "KeyboardInterrupt".to_owned() });
        } else if chained || !matches!(facts.ended(), Status::Failed { failure: Failure::Reported { .. } }) {
            facts.failed(text);
        }
        Taken::Part
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = PythonReader::default();
    }
}

/// The class of the exception that a line states: a dotted name at its start, alone or before a colon.
fn exception(text: &str) -> Option<&str> {
    let name = text.split(':').next()?.trim_end();
    let class = name.rsplit('.').next()?;
    let is_name = name.split('.').all(|part| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_') && part.chars().all(is_letter)
    });
    let is_exception =
        class.ends_with("Error") || class.contains("Exception") || class == "KeyboardInterrupt";
    (is_name && is_exception).then_some(name)
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DocumentReader, Readers};

    fn status(dialect: &str, text: &str) -> Option<Status> {
        let mut reader = DocumentReader::new(&Readers::new(dialect, &[], &[]).unwrap(), "a.log");
        reader.feed(text.as_bytes());
        reader.finish().runs.first().map(|run| run.status.clone())
    }

    fn stated(reason: &str) -> Option<Status> {
        Some(Status::Failed { failure: Failure::Reported { reason: reason.to_owned() } })
    }

    #[test]
    fn exceptions_are_told_from_code_and_prose() {
        assert_eq!(exception("torch.cuda.OutOfMemoryError: x"), Some("torch.cuda.OutOfMemoryError"));
        assert_eq!(exception("AssertionError"), Some("AssertionError"));
        for text in
            ["    raise ValueError('x')", "An Error: x", "Errors: 3", "1Error", "", "ERROR: x", "a..bError"]
        {
            assert_eq!(exception(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_traceback_counts_and_the_last_of_a_chain() {
        let one = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'\n";
        let two = "Traceback (most recent call last):\n  File \"a.py\", line 2\nValueError: b\n";
        assert_eq!(status("python", &format!("{one}{two}")), stated("KeyError: 'a'"));
        let link = "\nDuring handling of the above exception, another exception occurred:\n\n";
        assert_eq!(status("python", &format!("{one}{link}{two}")), stated("ValueError: b"));
    }

    #[test]
    fn a_gate_outweighs_the_exception_that_states_it() {
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 1\n\
            AssertionError: Expected throughput to be at least 560000.0, instead found 300618.3\n";
        assert_eq!(status("auto", text).map(|status| status.word()), Some("gate_failed"));
    }

    #[test]
    fn prefixes_of_launchers_and_cut_bars() {
        let text = "(worker pid=7) Traceback (most recent call last):\n(worker pid=7)   File \"a.py\", line 1\n\
            (worker pid=7) RuntimeError: no device\n";
        assert_eq!(status("python", text), stated("RuntimeError: no device"));
        let glued = " 10%|█         | 1/10 [00:01<00:09, 1.0s/it]Traceback (most recent call last):\n\
            OSError: disk full\n";
        assert_eq!(status("python", glued), stated("OSError: disk full"));
    }

    #[test]
    fn an_exception_without_a_traceback_is_no_end() {
        assert_eq!(status("python", "ValueError: caught and stated\n"), None);
    }
}
