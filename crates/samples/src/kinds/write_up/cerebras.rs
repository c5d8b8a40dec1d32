//! BERT at several batch sizes.

use crate::kind::Settings;
use crate::kinds::cerebras::{self, TrainingState};

use super::{Page, mean_and_deviation};

pub(super) fn section(page: &mut Page<'_, '_>) {
    let smallest = page.random.pick(&[256_u64, 512]);
    let steps = page.random.pick(&[500_u64, 1000]);
    page.heading(2, "Cerebras");
    page.paragraph(&format!(
        "BERT was trained for {steps} steps with the batch sizes {smallest}, {} and {}.",
        smallest * 2,
        smallest * 4
    ));
    if page.honest { honest(page, smallest, steps) } else { wrong(page, smallest, steps) }
}

fn settings(page: &mut Page<'_, '_>, batch: u64, steps: u64) -> Settings {
    let queue = page.random.whole(30, 4000).to_string();
    Settings::trusted(
        &cerebras::KIND,
        &[
            ("batch-size", batch.to_string()),
            ("steps", steps.to_string()),
            ("log-every", (steps / 10).to_string()),
            ("queue-s", queue),
        ],
    )
}

/// Five repeats of each batch size, rates with their spread, and no word about times of unequal work.
fn honest(page: &mut Page<'_, '_>, smallest: u64, steps: u64) {
    let mut rows = Vec::new();
    let mut rates = Vec::new();
    let mut shown = None;
    for factor in [1, 2, 4] {
        let batch = smallest * factor;
        let runs: Vec<(u64, Settings, TrainingState)> = (0..5)
            .map(|_| {
                let (seed, settings) = (page.random.next_u64(), settings(page, batch, steps));
                let outcome = cerebras::outcome(&settings, seed);
                (seed, settings, outcome)
            })
            .collect();
        let all: Vec<f64> = runs.iter().map(|(_, _, outcome)| outcome.rate).collect();
        let (mean, deviation) = mean_and_deviation(&all);
        rates.push(mean);
        let samples = (batch * steps).to_string();
        rows.push(vec![batch.to_string(), "5".to_owned(), samples, format!("{mean:.1} ± {deviation:.1}")]);
        shown = shown.or_else(|| runs.into_iter().next());
    }
    page.table(&["Batch size", "Runs", "Samples per run", "Loop rate (samples/s, mean ± sd)"], &rows);
    if let (Some(first), Some(last)) = (rates.first(), rates.last()) {
        page.paragraph(&format!(
            "The rate of the training loop at batch size {} is {:.2} times that at {smallest}. Queue and compilation \
             are not in these rates.",
            smallest * 4,
            last / first
        ));
    }
    if let Some((seed, settings, _)) = shown {
        page.paragraph(&format!("The log of the first run with batch size {smallest}:"));
        page.fence(&cerebras::KIND, &settings, seed);
    }
}

/// One run of each, compared by the time of unequal work, with a rate over the whole job in one row.
fn wrong(page: &mut Page<'_, '_>, smallest: u64, steps: u64) {
    let mut rows = Vec::new();
    let mut times = Vec::new();
    for factor in [1, 2, 4] {
        let batch = smallest * factor;
        let (seed, settings) = (page.random.next_u64(), settings(page, batch, steps));
        let outcome = cerebras::outcome(&settings, seed);
        times.push(outcome.seconds);
        // The middle row's rate was taken over queue and start-up too.
        let waited = if factor == 2 { settings.number("queue-s") + 300.0 } else { 0.0 };
        rows.push(vec![
            batch.to_string(),
            outcome.samples.to_string(),
            format!("{:.9}", outcome.seconds),
            format!("{:.2}", outcome.samples as f64 / (outcome.seconds + waited)),
        ]);
        if factor != 2 {
            page.paragraph(&format!("With a batch size of {batch}:"));
            page.fence(&cerebras::KIND, &settings, seed);
        }
    }
    page.table(&["Batch Size", "Samples processed", "Time (s)", "Rate (samples/s)"], &rows);
    if let (Some(first), Some(last)) = (times.first(), times.last()) {
        page.paragraph(&format!(
            "Going from batch size {smallest} to {} the time went from {first:.0} seconds to {last:.0} seconds, so large \
             batches make the machine slower.",
            smallest * 4
        ));
    }
}
