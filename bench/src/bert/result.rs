//! The table and goals of a contest.

use assay_stats::interval::{Interval, median_interval};

use super::SENTENCES;
use super::contest::{Outcome, Record};
use crate::engines::Contender;
use crate::figures::{Spread, number, table};
use crate::goal::{Bound, Goals};

/// The confidence of intervals.
const CONFIDENCE: f64 = 0.95;

impl Record {
    /// Milliseconds of a sentence, over the passes.
    fn latency(&self) -> Option<Spread> {
        let seconds: Vec<f64> = self.passes.iter().map(|pass| pass.wall_s).collect();
        Some(Spread::of(&seconds)?.scaled(1e3 / SENTENCES as f64))
    }

    /// A rank of the latencies of single sentences, in milliseconds.
    fn rank(&self, name: &str) -> Option<f64> {
        Some(1e3 * self.said.value(&format!("latency.e2e.{name}"))?)
    }
}

impl Outcome {
    fn native(&self) -> Option<&Record> {
        self.records.iter().find(|record| record.who == Contender::NATIVE)
    }

    fn fastest_torch(&self) -> Option<&Record> {
        let torch = self.records.iter().filter(|record| record.who != Contender::NATIVE);
        let median = |record: &Record| record.latency().map_or(f64::INFINITY, |spread| spread.median);
        torch.min_by(|a, b| median(a).total_cmp(&median(b)))
    }

    /// Our time by that of PyTorch's fastest mode: the median over rounds, each round paired, with its interval.
    pub fn ratio(&self) -> Option<Interval> {
        let (ours, theirs) = (self.native()?, self.fastest_torch()?);
        let pairs = ours.passes.iter().zip(&theirs.passes);
        let ratios: Vec<f64> = pairs.map(|(ours, theirs)| ours.wall_s / theirs.wall_s).collect();
        self.disparity.is_none().then(|| median_interval(&ratios, CONFIDENCE))?
    }

    /// The table of the contest, with what is to be said about it.
    pub fn text(&self) -> String {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let row = |record: &Record| {
            let latency = record.latency()?;
            Some(vec![
                record.who.name.to_owned(),
                format!("{:.3}", latency.median),
                format!("{:.3} … {:.3}", latency.low, latency.high),
                shown(record.rank("p50")),
                shown(record.rank("p90")),
                shown(record.rank("p99")),
                number(1e3 / latency.median),
            ])
        };
        let rows: Vec<Vec<String>> = self.records.iter().filter_map(row).collect();
        let header = ["engine", "ms a sentence", "range of passes", "p50", "p90", "p99", "sentences/s"];
        let length =
            |name: &str| self.native().and_then(|record| record.said.value(&format!("length.{name}")));
        let lengths =
            ["median", "p90", "most"].map(|name| length(name).map_or_else(|| "-".to_owned(), number));
        let [median, p90, most] = lengths;
        let name = self.case.name;
        let mut text = format!(
            "{name}: median length {median}, 90 % at most {p90}, longest {most}\n{}",
            table(&header, &rows)
        );
        match (&self.disparity, self.ratio(), self.fastest_torch()) {
            (Some(words), ..) => text
                .push_str(&format!("not compared, because the engines compute different things: {words}\n")),
            (None, Some(ratio), Some(fastest)) => text.push_str(&format!(
                "ours / {}: {:.3} ({:.3} … {:.3}, {:.1} % confidence, {} pairs)\n",
                fastest.who.name,
                ratio.center,
                ratio.low,
                ratio.high,
                100.0 * ratio.confidence,
                ratio.samples
            )),
            _ => text.push_str("not compared: PyTorch did not take part\n"),
        }
        text
    }

    /// Adds the goals of the contest.
    pub fn add_goals(&self, goals: &mut Goals) {
        let name = |what: &str| format!("{}: {what}", self.case.name);
        let ratio = self.ratio().map(|ratio| ratio.center);
        goals.add(name("time by fastest PyTorch"), ratio, "", Bound::AtMost(self.case.most));
        if let Some(most) = self.case.most_median_ms {
            let median = self.native().and_then(|record| record.rank("p50"));
            goals.add(name("median latency"), median, "ms", Bound::AtMost(most));
        }
    }
}
