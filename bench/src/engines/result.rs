//! The table and goals of a contest.

use assay_stats::interval::{Interval, median_interval};

use super::contest::{ContenderRecord, ContestOutcome};
use super::{Contender, THREADS};
use crate::figures::{MedianAndRange, number, table};
use crate::goal::{GoalBound, Goals};

/// The confidence of intervals.
const CONFIDENCE: f64 = 0.95;
/// The longest time by that of another build: as fast, as far as can be seen.
const MOST_BY_BUILD: f64 = 1.02;
const BYTES_PER_FLOAT: f64 = 4.0;
const MEGABYTE: f64 = 1e6;

impl ContenderRecord {
    fn wall(&self) -> Option<MedianAndRange> {
        MedianAndRange::of(&self.iterations.iter().map(|iteration| iteration.wall_s).collect::<Vec<_>>())
    }

    fn cpu(&self) -> Option<MedianAndRange> {
        MedianAndRange::of(&self.iterations.iter().map(|iteration| iteration.cpu_s).collect::<Vec<_>>())
    }

    /// FLOP/s at the median time.
    fn flops_per_s(&self) -> Option<f64> {
        Some(self.said.value("flops.iteration")? / self.wall()?.median)
    }
}

impl ContestOutcome {
    fn record(&self, who: Contender) -> Option<&ContenderRecord> {
        self.records.iter().find(|record| record.who == who)
    }

    /// PyTorch's fastest mode of those that went to the end.
    fn fastest_torch(&self) -> Option<&ContenderRecord> {
        let rounds = self.record(Contender::NATIVE)?.iterations.len();
        let torch = self.records.iter().filter(|record| record.who.is_torch());
        let whole = torch.filter(|record| record.iterations.len() == rounds);
        let median = |record: &ContenderRecord| record.wall().map_or(f64::INFINITY, |spread| spread.median);
        whole.min_by(|a, b| median(a).total_cmp(&median(b)))
    }

    /// Our time by that of PyTorch's fastest mode.
    pub fn ratio(&self) -> Option<Interval> {
        self.ratio_to(self.fastest_torch()?)
    }

    /// Our time by that of another build, which may take part.
    fn build_ratio(&self) -> Option<Interval> {
        self.ratio_to(self.record(Contender::OTHER_BUILD)?)
    }

    /// Our time by that of somebody else: the median over rounds, each round paired, with its interval.
    fn ratio_to(&self, theirs: &ContenderRecord) -> Option<Interval> {
        let ours = self.record(Contender::NATIVE)?;
        let pairs = ours.iterations.iter().zip(&theirs.iterations);
        let ratios: Vec<f64> = pairs.map(|(ours, theirs)| ours.wall_s / theirs.wall_s).collect();
        self.disparity.is_none().then(|| median_interval(&ratios, CONFIDENCE))?
    }

    /// Percent of the peak that was measured during the contest.
    fn of_peak(&self, record: &ContenderRecord) -> Option<f64> {
        Some(100.0 * record.flops_per_s()? / self.peak?.median)
    }

    /// The same by CPU time: what the threads reach while the system lets them compute.
    fn of_peak_by_cpu(&self, record: &ContenderRecord) -> Option<f64> {
        let flops_per_s = record.said.value("flops.iteration")? / record.cpu()?.median * THREADS as f64;
        Some(100.0 * flops_per_s / self.peak?.median)
    }

    /// Memory beside weights, gradients and what the process takes before it does anything, in bytes.
    fn memory_beyond(&self, record: &ContenderRecord) -> Option<f64> {
        let weights = BYTES_PER_FLOAT * self.case.copies * record.said.value("parameters")?;
        Some(record.said.value("memory.peak")? - weights - record.said.value("memory.interpreter")?)
    }

    /// Our memory by the least of PyTorch's modes.
    fn memory_ratio(&self) -> Option<f64> {
        let ours = self.memory_beyond(self.record(Contender::NATIVE)?)?;
        let torch = self.records.iter().filter(|record| record.who.is_torch());
        let least = torch.filter_map(|record| self.memory_beyond(record)).reduce(f64::min)?;
        Some(ours / least)
    }

    /// How PyTorch was set up, in its own words.
    pub fn torch_note(&self) -> Option<&str> {
        let notes = self.records.iter().flat_map(|record| &record.said.notes);
        notes.map(String::as_str).find(|note| note.starts_with("PyTorch"))
    }

    /// The table of the contest, with what is to be said about it.
    pub fn text(&self) -> String {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let row = |record: &ContenderRecord| {
            let (wall, cpu) = (record.wall()?.scaled(1e3), record.cpu()?);
            Some(vec![
                record.who.name.to_owned(),
                number(wall.median),
                wall.range(),
                number(cpu.median),
                shown(record.flops_per_s().map(|flops| flops * 1e-9)),
                shown(self.of_peak(record)),
                shown(self.of_peak_by_cpu(record)),
                shown(self.memory_beyond(record).map(|bytes| bytes / MEGABYTE)),
                record.iterations.len().to_string(),
            ])
        };
        let rows: Vec<Vec<String>> = self.records.iter().filter_map(row).collect();
        let header = [
            "engine",
            "wall ms",
            "range",
            "CPU s",
            "GFLOP/s",
            "% of peak",
            "by CPU",
            "memory beyond MB",
            "rounds",
        ];
        let mut text = format!("{}\n{}", self.case.title, table(&header, &rows));
        if let Some(peak) = self.peak.map(|peak| peak.scaled(1e-9)) {
            text.push_str(&format!("FMA peak {} GFLOP/s ({})\n", number(peak.median), peak.range()));
        }
        match (&self.disparity, self.ratio(), self.fastest_torch()) {
            (Some(words), ..) => text
                .push_str(&format!("not compared, because the engines compute different things: {words}\n")),
            (None, Some(ratio), Some(fastest)) => text.push_str(&ratio_text(fastest.who, &ratio)),
            _ => text.push_str("not compared: PyTorch did not take part\n"),
        }
        if let Some(ratio) = self.build_ratio() {
            text.push_str(&ratio_text(Contender::OTHER_BUILD, &ratio));
        }
        text
    }

    /// Adds the goals of the contest.
    pub fn add_goals(&self, goals: &mut Goals) {
        let (wanted, ratio) = (&self.case.goals, self.ratio());
        let name = |what: &str| format!("{}: {what}", self.case.title);
        let time = ratio.map(|ratio| ratio.center);
        goals.add(name("time by fastest PyTorch"), time, "", GoalBound::AtMost(wanted.most_time));
        goals.add(
            name("upper end of its interval"),
            ratio.map(|ratio| ratio.high),
            "",
            GoalBound::AtMost(1.0),
        );
        if let Some(ratio) = self.build_ratio() {
            goals.add(
                name("time by the other build"),
                Some(ratio.center),
                "",
                GoalBound::AtMost(MOST_BY_BUILD),
            );
        }
        if let Some(least) = wanted.least_of_peak {
            let of_peak = self.record(Contender::NATIVE).and_then(|record| self.of_peak_by_cpu(record));
            goals.add(name("share of peak by CPU time"), of_peak, "%", GoalBound::AtLeast(least));
        }
        if let Some(most) = wanted.most_memory {
            goals.add(name("memory by PyTorch's"), self.memory_ratio(), "", GoalBound::AtMost(most));
        }
    }
}

fn ratio_text(who: Contender, ratio: &Interval) -> String {
    let Interval { center, low, high, samples, .. } = ratio;
    let confidence = 100.0 * ratio.confidence;
    format!(
        "ours / {}: {center:.3} ({low:.3} … {high:.3}, {confidence:.1} % confidence, {samples} pairs)\n",
        who.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::peer::{Iteration, Said};

    fn record(who: Contender, seconds: &[f64], values: &[(&str, f64)]) -> ContenderRecord {
        let iterations = seconds.iter().map(|&wall_s| Iteration { wall_s, cpu_s: 2.0 * wall_s }).collect();
        ContenderRecord { who, iterations, said: Said::of(values) }
    }

    fn outcome(disparity: Option<String>) -> ContestOutcome {
        let ours = [
            ("flops.iteration", 100e9),
            ("parameters", 1e6),
            ("memory.peak", 30e6),
            ("memory.interpreter", 10e6),
        ];
        let theirs = [("parameters", 1e6), ("memory.peak", 544e6), ("memory.interpreter", 500e6)];
        ContestOutcome {
            case: crate::lm::cases().swap_remove(1),
            records: vec![
                record(Contender::NATIVE, &[0.8, 1.6, 0.9, 0.8, 0.8, 0.8], &ours),
                record(Contender::EAGER, &[0.5, 0.5], &theirs),
                record(Contender::SDPA, &[1.0, 2.0, 1.0, 1.0, 1.0, 1.0], &theirs),
                record(Contender::COMPILE, &[1.1, 2.2, 1.1, 1.1, 1.1, 1.1], &theirs),
            ],
            peak: MedianAndRange::of(&[160e9]),
            disparity,
        }
    }

    #[test]
    fn ratios_are_paired_by_round_with_the_fastest_that_went_to_the_end() {
        let outcome = outcome(None);
        assert_eq!(outcome.fastest_torch().map(|record| record.who), Some(Contender::SDPA));
        let ratio = outcome.ratio().unwrap();
        assert!((ratio.center - 0.8).abs() < 1e-12 && ratio.high < 0.91, "{ratio:?}");
    }

    #[test]
    fn another_build_is_held_against_ours_where_it_takes_part() {
        let mut outcome = outcome(None);
        assert!(outcome.build_ratio().is_none() && !outcome.text().contains("other build"));
        outcome.records.push(record(Contender::OTHER_BUILD, &[0.8, 1.6, 0.9, 0.8, 0.8, 0.8], &[]));
        assert!(outcome.text().contains("ours / assay, other build: 1.000"), "{}", outcome.text());
        let mut goals = Goals::default();
        outcome.add_goals(&mut goals);
        assert!(goals.to_string().contains("time by the other build 1,"), "{goals}");
    }

    #[test]
    fn goals_are_judged_by_paired_time_peak_and_memory() {
        let mut goals = Goals::default();
        outcome(None).add_goals(&mut goals);
        assert!(goals.hold(), "{goals}");
        // Ours: 30 - 8 - 10 = 12 MB; theirs: 544 - 8 - 500 = 36 MB.
        assert!(goals.to_string().contains("memory by PyTorch's 0.333"), "{goals}");
        assert!(goals.to_string().contains("share of peak by CPU time 78.1 %"), "{goals}");
    }

    #[test]
    fn engines_that_compute_different_things_are_not_compared() {
        let outcome = outcome(Some("odd loss".to_owned()));
        assert!(outcome.ratio().is_none() && outcome.text().contains("odd loss"));
        let mut goals = Goals::default();
        outcome.add_goals(&mut goals);
        assert!(!goals.hold() && goals.to_string().contains("not measured"));
    }
}
