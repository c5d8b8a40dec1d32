//! A small real campaign of the measured program. Its rates fill tables, and its scatter is the scatter of everything
//! else that the documents say was repeated.

use std::fs;

use anyhow::{Context, ensure};
use assay_stats::outlier::{self, Label};

use crate::campaign::rates;
use crate::place::Place;
use crate::random::Random;

/// The runs of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCell {
    /// Bytes that were checksummed at a time.
    pub block: u64,
    /// The rates of its runs in MB/s, in the order they were made.
    pub rates: Vec<f64>,
}

/// What the campaign measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Megabytes that every run checksummed.
    pub megabytes: u64,
    /// The cells, the smallest block first.
    pub cells: Vec<MeasuredCell>,
    /// How far single runs lay from the mean of their cell, in standard deviations of that cell.
    deviations: Vec<f64>,
}

/// The largest deviation that is passed on. What a disturbed run looks like is planted on purpose, so runs that were
/// disturbed in earnest must not stand in documents that are to be sound.
const LARGEST_DEVIATION: f64 = 1.9;

impl Measured {
    /// What follows from some cells. Runs outside of Tukey's fences are left aside.
    pub fn of(megabytes: u64, cells: Vec<MeasuredCell>) -> anyhow::Result<Measured> {
        let cells: Vec<MeasuredCell> =
            cells.into_iter().map(|cell| MeasuredCell { rates: undisturbed(&cell.rates), ..cell }).collect();
        let mut deviations = Vec::new();
        for cell in &cells {
            ensure!(
                cell.rates.len() >= FEWEST,
                "{} runs of block {} are too few",
                cell.rates.len(),
                cell.block
            );
            let (mean, deviation) = mean_and_deviation(&cell.rates);
            ensure!(deviation > 0.0, "all runs of block {} were equal", cell.block);
            deviations.extend(cell.rates.iter().map(|rate| (rate - mean) / deviation));
        }
        deviations.retain(|deviation| deviation.abs() <= LARGEST_DEVIATION);
        ensure!(deviations.len() >= 12, "{} usable runs are too few", deviations.len());
        Ok(Measured { megabytes, cells, deviations })
    }

    /// Runs the campaign with the measured program and asks its record for the rates.
    pub fn run(place: &Place, quick: bool) -> anyhow::Result<Measured> {
        let (megabytes, repeats) = if quick { (500, 10) } else { (1500, 12) };
        let directory = place.fresh("evidence")?;
        fs::write(directory.join("campaign.toml"), rates("evidence", &BLOCKS, megabytes, repeats))?;
        crate::measure::cost(place.assay(&directory).args(["run", "campaign.toml", "--quiet"]))?;
        let output =
            place.assay(&directory).args(["query", QUESTION, "records/evidence", "--json"]).output()?;
        ensure!(output.status.success(), "assay query ended with {}", output.status);
        let mut cells: Vec<MeasuredCell> =
            BLOCKS.iter().map(|&block| MeasuredCell { block, rates: Vec::new() }).collect();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let row: serde_json::Value = serde_json::from_str(line).context("assay query gave no JSON")?;
            let block = row["block"].as_u64().context("a run without a block size")?;
            let rate = row["rate"].as_f64().context("a run without a rate")? / 1e6;
            let cell = cells.iter_mut().find(|cell| cell.block == block).context("an unknown block size")?;
            cell.rates.push(rate);
        }
        Measured::of(megabytes, cells)
    }

    /// Repeats of something, with the scatter of real runs: this many values around a center, with a relative standard
    /// deviation of about `spread`.
    pub fn repeats(&self, random: &mut Random, center: f64, spread: f64, count: usize) -> Vec<f64> {
        let mut all = self.deviations.clone();
        random.shuffle(&mut all);
        all.iter().cycle().take(count).map(|deviation| center * (1.0 + spread * deviation)).collect()
    }
}

/// Block sizes of the campaign.
const BLOCKS: [u64; 5] = [16, 64, 512, 4096, 65536];

/// The fewest runs of a cell from which documents can be written.
const FEWEST: usize = 5;

const QUESTION: &str = "select setting.value as block, observation.value as rate from observation \
    join run on run.run = observation.run join setting on setting.cell = run.cell \
    where setting.name = 'block' and observation.metric = 'throughput' and run.status = 'succeeded' \
    order by run.started_at";

fn undisturbed(rates: &[f64]) -> Vec<f64> {
    match outlier::fences(rates) {
        Some(fences) => rates.iter().copied().filter(|&rate| fences.label(rate) == Label::Inside).collect(),
        None => rates.to_vec(),
    }
}

/// The mean and the standard deviation of a sample; both 0 without values, and the latter 0 for one.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// Some cells for tests: as a campaign would give them, without one.
#[cfg(test)]
pub(crate) fn sample() -> Measured {
    let mut random = Random::new(7);
    let cells = BLOCKS.iter().zip([1380.0, 4300.0, 15400.0, 17800.0, 21500.0]).map(|(&block, center)| {
        let rates =
            (0..12).map(|_| center * (1.0 + 0.02 * (random.share() + random.share() - 1.0))).collect();
        MeasuredCell { block, rates }
    });
    Measured::of(1500, cells.collect()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_run_is_left_aside() {
        let mut rates: Vec<f64> = (0..11).map(|index| 100.0 + f64::from(index % 3)).collect();
        rates.push(40.0);
        assert_eq!(undisturbed(&rates).len(), 11);
    }

    #[test]
    fn repeats_scatter_as_asked() {
        let values = sample().repeats(&mut Random::new(1), 200.0, 0.01, 10);
        let (mean, deviation) = mean_and_deviation(&values);
        assert!((mean - 200.0).abs() < 2.0, "{mean}");
        assert!((0.5..4.0).contains(&deviation), "{deviation}");
    }

    #[test]
    fn equal_runs_are_refused() {
        let cell = MeasuredCell { block: 16, rates: vec![1.0; 8] };
        assert!(Measured::of(1, vec![cell]).is_err());
    }
}
