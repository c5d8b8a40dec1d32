//! What a run in a job wrote about itself: its end marker, its trace, and the times that the shell counted.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::node_script::{END, FULL, TIMES, TRACE};
use crate::small_file;

/// The scripts of runs write a few kilobytes into each of their files.
const LONGEST_MARKS: u64 = 1 << 20;

/// What a run wrote about itself.
#[derive(Debug, Default, PartialEq)]
pub struct RunMarks {
    /// The end of the run, once it has ended.
    pub end: Option<EndMarker>,
    /// When it began.
    pub started_at: Option<f64>,
    /// The step that failed before or after it.
    pub failed_step: Option<String>,
    /// A file of the script that the run replaced by something that cannot be read.
    pub replaced: Option<&'static str>,
    /// What the scheduler had given it, by the names of variables.
    pub(super) values: BTreeMap<String, String>,
    /// CPU seconds of its processes, where all of them were children of the job's script.
    pub cpu_s: Option<f64>,
}

/// What the script of a run writes at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndMarker {
    /// The exit code.
    pub code: i32,
    /// When the run ended, in seconds since 1970 UTC.
    pub at: f64,
    /// Whether the disk was full then, so that what the run wrote may be incomplete.
    pub is_disk_full: bool,
    /// When the run began, by the same script.
    pub started_at: Option<f64>,
    /// Times since the node was booted, which no change of its clock affects.
    pub uptimes: Option<Uptimes>,
}

/// Times since the boot of a node, in seconds: before and after the clock was read at the beginning of a run, and at its
/// end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uptimes {
    start: (f64, f64),
    end: (f64, f64),
}

/// How long a run took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTime {
    /// In seconds.
    pub took_s: f64,
    /// By how much the clock of the node was changed meanwhile.
    pub clock_step_s: Option<f64>,
}

/// The resolution of times since the boot, twice.
const UPTIME_STEPS_S: f64 = 0.02;
/// The share by which the rate of a clock may be adjusted.
const CLOCK_RATE: f64 = 0.001;

impl EndMarker {
    /// How long the run took, if that is known. Times since the boot are coarser than the clock, and decide where the two
    /// differ.
    fn run_time(&self, started_at: Option<f64>) -> Option<RunTime> {
        let took_s = self.at - self.started_at.or(started_at)?;
        let Some(Uptimes { start, end }) = self.uptimes else {
            return Some(RunTime { took_s, clock_step_s: None }).filter(|time| time.took_s >= 0.0);
        };
        let (shortest, longest) = (end.0 - start.1, end.1 - start.0);
        let most = UPTIME_STEPS_S + CLOCK_RATE * longest;
        Some(match (shortest - most..=longest + most).contains(&took_s) && took_s >= 0.0 {
            true => RunTime { took_s, clock_step_s: None },
            false => RunTime { took_s: shortest.max(0.0), clock_step_s: Some(took_s - shortest) },
        })
    }
}

impl RunMarks {
    /// Reads the files of a run directory.
    pub fn read(directory: &Path) -> RunMarks {
        let mut marks = RunMarks::default();
        let mut text = |name: &'static str| match small_file::read(&directory.join(name), LONGEST_MARKS) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    marks.replaced = Some(name);
                }
                String::new()
            }
        };
        let (marker, trace, times) = (text(END), text(TRACE), text(TIMES));
        marks.end = end(&marker);
        for line in trace.lines() {
            match line.split_once(' ') {
                Some(("start", at)) => marks.started_at = at.parse().ok(),
                Some(("failed", step)) => marks.failed_step = Some(step.to_owned()),
                Some((name, value)) => drop(marks.values.insert(name.to_owned(), value.to_owned())),
                None => {}
            }
        }
        // The run can write to its trace, but not to the variables of the script.
        marks.started_at = marks.end.and_then(|end| end.started_at).or(marks.started_at);
        marks.cpu_s = children(&times);
        marks
    }

    /// Whether the run has ended by its own word.
    pub fn has_ended(directory: &Path) -> bool {
        directory.join(END).symlink_metadata().is_ok_and(|found| found.is_file())
    }

    pub(super) fn is_disk_full(&self) -> bool {
        self.end.is_some_and(|end| end.is_disk_full)
    }

    pub(super) fn run_time(&self) -> Option<RunTime> {
        self.end?.run_time(self.started_at)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.parse().ok()
    }
}

/// `0 1795000001.123 1795000000.023 5.10 5.10 6.20 6.20`, with `full` where the disk was, and blanks behind it that were
/// written to have its space: the exit code, the time of the end, that of the beginning, and times since the boot around
/// both. What could not be found out is 0, or missing in what earlier versions wrote.
fn end(text: &str) -> Option<EndMarker> {
    let mut words = text.split_whitespace();
    let (code, at) =
        (words.next()?.parse().ok()?, words.next()?.parse::<f64>().ok().filter(|at| at.is_finite())?);
    let words: Vec<&str> = words.collect();
    let number = |word: &&str| word.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let uptimes = match words.get(1..5).unwrap_or_default() {
        [a, b, c, d] => number(a).zip(number(b)).zip(number(c).zip(number(d))),
        _ => None,
    };
    Some(EndMarker {
        code,
        at,
        is_disk_full: words.last() == Some(&FULL),
        started_at: words.first().and_then(number),
        uptimes: uptimes.map(|(start, end)| Uptimes { start, end }),
    })
}

/// The second line of the shell's `times`: user and system time of its children, `0m1.25s 0m0.02s`.
fn children(text: &str) -> Option<f64> {
    let seconds = |word: &str| {
        let (minutes, seconds) = word.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let mut words = text.lines().nth(1)?.split_whitespace();
    Some(seconds(words.next()?)? + seconds(words.next()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shells_write_is_read() {
        assert_eq!(children("0m0.00s 0m0.01s\n1m1.250000s 0m0.250000s\n"), Some(61.5));
        let earlier = end("7 1795000001.5\n").unwrap();
        assert_eq!((earlier.code, earlier.at, earlier.started_at), (7, 1795000001.5, None));
        assert!(!earlier.is_disk_full && end("0 1795000001.5 full\n    \n").unwrap().is_disk_full);
        let whole = end("0 1795000001.5 1795000000.5 7.10 7.11 8.10 8.12 full\n").unwrap();
        assert!(whole.is_disk_full && whole.started_at == Some(1795000000.5));
        assert_eq!(whole.uptimes, Some(Uptimes { start: (7.10, 7.11), end: (8.10, 8.12) }));
        assert_eq!(end("0 1795000001.5 1795000000.5 0 0 0 0 \n").unwrap().uptimes, None);
        assert_eq!(end(""), None);
    }

    #[test]
    fn a_changed_clock_changes_no_duration() {
        let time = |text: &str| end(text).unwrap().run_time(None);
        let plain = time("0 1001.004 1000.5 7.10 7.11 7.60 7.62\n").unwrap();
        assert!((plain.took_s - 0.504).abs() < 1e-9 && plain.clock_step_s.is_none(), "{plain:?}");
        for (ended, step) in [(-2599.0, -3600.0), (4601.0, 3600.0), (1000.9, -0.1)] {
            let found = time(&format!("0 {ended} 1000.5 7.10 7.11 7.61 7.62\n")).unwrap();
            assert!((found.took_s - 0.5).abs() < 1e-9, "{found:?}");
            assert!((found.clock_step_s.unwrap() - step).abs() < 0.001, "{found:?}");
        }
        // Without times since the boot, a negative duration is none.
        assert_eq!(time("0 900 1000.5\n"), None);
    }

    #[test]
    fn a_trace_that_the_run_changed_is_not_believed() {
        let run = tempfile::tempdir().unwrap();
        std::fs::write(run.path().join(TRACE), "start 1000\nstart 1.0\n").unwrap();
        std::fs::write(run.path().join(END), "0 1001 1000 7 7 8 8\n").unwrap();
        assert_eq!(RunMarks::read(run.path()).run_time().unwrap().took_s, 1.0);
    }

    #[test]
    fn pipes_and_devices_in_place_of_marks_are_not_waited_for() {
        for name in [END, TRACE, TIMES] {
            let run = tempfile::tempdir().unwrap();
            std::fs::write(run.path().join(END), "0 1001 1000\n").unwrap();
            let path = run.path().join(name);
            let _ = std::fs::remove_file(&path);
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
            assert_eq!(RunMarks::read(run.path()).replaced, Some(name));
            assert_eq!(RunMarks::has_ended(run.path()), name != END);
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            assert_eq!(RunMarks::read(run.path()).replaced, Some(name));
        }
    }
}
