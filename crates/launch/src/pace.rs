//! When each line of a recorded log came, by the log's own clock: by the timestamp in it, or by the time that a
//! progress bar shows as elapsed. A line with neither came with the line before it.

use std::collections::BTreeMap;

use assay_evidence::bars;
use assay_evidence::clock::{self, Stamp};

/// Follows the clock of a log, line by line.
#[derive(Debug, Default)]
pub struct Pace {
    now_s: f64,
    /// Logs mix stamps with and without a date or a zone, which differ by hours. Each kind is a clock of its own.
    clocks: BTreeMap<(bool, bool), Clock>,
    bars: BTreeMap<String, Bar>,
}

#[derive(Debug)]
struct Clock {
    last: Stamp,
    at_s: f64,
}

#[derive(Debug)]
struct Bar {
    /// When it began, by the log's clock.
    began_s: f64,
    elapsed_s: f64,
}

/// Bars with more different labels than this count as one: the label then most likely holds a number.
const MOST_BARS: usize = 64;
/// The longest part of a line that is looked at.
const LONGEST: usize = 4096;

impl Pace {
    /// Takes the next line and gives when it came, in seconds after the first. Never goes back.
    pub fn line(&mut self, line: &[u8]) -> f64 {
        let line = line.get(..LONGEST).unwrap_or(line);
        if let Some(stamp) = clock::find(line) {
            self.stamp(stamp);
        }
        let text = String::from_utf8_lossy(line);
        let mut bar = bars::bar(&text);
        while let Some(found) = bar {
            if let Some(elapsed_s) = found.elapsed_s {
                self.bar(found.label, elapsed_s);
            }
            bar = bars::bar(found.rest);
        }
        self.now_s
    }

    fn stamp(&mut self, stamp: Stamp) {
        let now_s = self.now_s;
        let clock =
            self.clocks.entry((stamp.dated, stamp.zoned)).or_insert(Clock { last: stamp, at_s: now_s });
        clock.at_s += stamp.after(clock.last);
        clock.last = stamp;
        let at_s = clock.at_s;
        self.reach(at_s);
    }

    fn bar(&mut self, label: &str, elapsed_s: f64) {
        if self.bars.len() >= MOST_BARS && !self.bars.contains_key(label) {
            self.bars.clear();
        }
        let now_s = self.now_s;
        let fresh = || Bar { began_s: now_s - elapsed_s, elapsed_s };
        let bar = self.bars.entry(label.to_owned()).or_insert_with(fresh);
        if elapsed_s < bar.elapsed_s {
            // The same label from its beginning again: the next epoch.
            *bar = fresh();
        }
        bar.elapsed_s = elapsed_s;
        let at_s = bar.began_s + elapsed_s;
        self.reach(at_s);
    }

    fn reach(&mut self, at_s: f64) {
        if at_s.is_finite() {
            self.now_s = self.now_s.max(at_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(lines: &[&str]) -> Vec<f64> {
        let mut pace = Pace::default();
        lines.iter().map(|line| pace.line(line.as_bytes())).collect()
    }

    #[test]
    fn stamps_decide_and_other_lines_follow() {
        let lines = [
            "starting",
            "2024-03-30 14:09:43,500 INFO: one",
            "no clock",
            "2024-03-30 14:09:45,000 INFO: two",
            "2024-03-30 14:09:44,000 INFO: a clock that steps back",
        ];
        assert_eq!(times(&lines), [0.0, 0.0, 0.0, 1.5, 1.5]);
    }

    #[test]
    fn stamps_without_a_date_pass_midnight_and_kinds_are_kept_apart() {
        assert_eq!(times(&["23:59:58 a", "00:00:01 b"]), [0.0, 3.0]);
        let mixed =
            ["2024-03-30 14:00:00,000 local", "19:00:01 utc", "2024-03-30 14:00:09,000 l", "19:00:08 u"];
        assert_eq!(times(&mixed), [0.0, 0.0, 9.0, 9.0]);
    }

    #[test]
    fn bars_move_the_clock_each_from_its_own_start() {
        let lines = [
            "Epochs:   0%|          | 0/2 [00:00<?, ?it/s]",
            "Training:   0%|          | 0/75 [00:00<?, ?it/s]",
            "Training: 100%|##########| 75/75 [00:08<00:00, 9.1it/s]",
            "Epochs:  50%|#####     | 1/2 [00:10<00:10, 10.0s/it]",
            "Training: 100%|##########| 75/75 [00:00<00:00, 9.1it/s]",
            "Training: 100%|##########| 75/75 [01:02<00:00, 9.1it/s]",
            "Epochs: 100%|##########| 2/2 [1:00:10<00:00, 10.0s/it]",
        ];
        assert_eq!(times(&lines), [0.0, 0.0, 8.0, 10.0, 10.0, 72.0, 3610.0]);
    }

    proptest::proptest! {
        #[test]
        fn time_never_goes_back_whatever_the_bytes(lines in proptest::collection::vec(proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80), 0..20)) {
            let mut pace = Pace::default();
            let mut last = 0.0;
            for line in lines {
                let now = pace.line(&line);
                assert!(now.is_finite() && now >= last);
                last = now;
            }
        }
    }
}
