//! The training loop itself, apart from how it is written: steps, losses, rates, seconds.

use crate::curve::LossCurve;
use crate::kind::Settings;
use assay_random::Random;

/// How much faster the first stretch is: the pipeline was filled before it was timed.
const FIRST_FASTER: f64 = 1.018;

/// What a loop has come to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TrainingState {
    /// Steps done.
    pub(crate) steps: u64,
    /// Samples processed.
    pub(crate) samples: u64,
    /// Seconds of the loop.
    pub(crate) seconds: f64,
    /// Samples per second over the loop.
    pub(crate) rate: f64,
    /// The last loss.
    pub(crate) loss: f64,
}

/// One progress line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Report {
    pub(super) step: u64,
    pub(super) samples: u64,
    pub(super) loss: f64,
    pub(super) rate: f64,
    pub(super) global_rate: f64,
    /// Seconds since the loop began.
    pub(super) elapsed: f64,
    /// The file ends within this line.
    pub(super) cut: bool,
}

impl Report {
    pub(super) fn outcome(&self) -> TrainingState {
        let Self { step, samples, loss, global_rate, elapsed, .. } = *self;
        TrainingState { steps: step, samples, seconds: elapsed, rate: global_rate, loss }
    }
}

/// A training loop; as an iterator it gives its progress lines.
#[derive(Debug, Clone)]
pub(super) struct Training {
    pub(super) batch: u64,
    pub(super) steps: u64,
    pub(super) log_every: u64,
    rate: f64,
    curve: LossCurve,
    /// Losses are multiples of this, where the arithmetic has few bits.
    quantum: Option<f64>,
    /// The last step that is logged, where the run does not come to its end.
    ends_at: u64,
    nan_from: u64,
    cut: bool,
    random: Random,
    done: u64,
    elapsed: f64,
}

impl Training {
    pub(super) fn new(settings: &Settings, random: &mut Random, units: Option<u64>) -> Self {
        let batch = settings.whole("batch-size");
        let log_every = settings.whole("log-every").max(1);
        let steps = units.map_or(settings.whole("steps"), |units| units.saturating_mul(log_every)).max(1);
        let spread = 1.0 + settings.number("spread") * random.bounded_normal();
        // The first stretch is faster and the others as much slower that the whole loop has the rate asked for.
        let first = (log_every as f64 / steps as f64).min(1.0);
        let evened = first / FIRST_FASTER + 1.0 - first;
        let rate = settings.number_if_given("rate").unwrap_or_else(|| law(settings)) * spread * evened;
        let bert = settings.word("model") != "llama";
        let curve = if bert {
            LossCurve { start: 10.6, floor: 7.12, steps: 215.0, noise: 0.08 }
        } else {
            LossCurve { start: 11.2, floor: 5.9, steps: 68.0, noise: 0.02 }
        };
        let failed = settings.word("fail") != "none" || settings.flag("cut");
        let ends_at = if failed { share_of(steps, log_every, 0.6) } else { steps };
        let nan_from = match settings.word("fail") {
            "nan" => ends_at.saturating_sub(log_every),
            _ => u64::MAX,
        };
        let cut = settings.flag("cut");
        let quantum = bert.then_some(1.0 / 128.0);
        let random = random.fork();
        Self {
            batch,
            steps,
            log_every,
            rate,
            curve,
            quantum,
            ends_at,
            nan_from,
            cut,
            random,
            done: 0,
            elapsed: 0.0,
        }
    }

    /// What it comes to.
    pub(super) fn outcome(self) -> TrainingState {
        self.last().map(|report| report.outcome()).unwrap_or_default()
    }
}

/// About `share` of the steps, at a progress line.
fn share_of(steps: u64, log_every: u64, share: f64) -> u64 {
    let lines = steps.div_ceil(log_every);
    ((lines as f64 * share) as u64).max(1).saturating_mul(log_every).min(steps)
}

impl Iterator for Training {
    type Item = Report;

    fn next(&mut self) -> Option<Report> {
        if self.done >= self.ends_at {
            return None;
        }
        let next = self.done.saturating_add(self.log_every).min(self.steps);
        let samples = (next - self.done).saturating_mul(self.batch);
        let faster = if self.done == 0 { FIRST_FASTER } else { 1.0 };
        let rate = self.rate * (1.0 + 0.003 * self.random.bounded_normal()) * faster;
        self.elapsed += samples as f64 / rate;
        self.done = next;
        let all = next.saturating_mul(self.batch);
        let mut loss = self.curve.at(next as f64, &mut self.random);
        if let Some(quantum) = self.quantum {
            loss = (loss / quantum).round() * quantum;
        }
        if next >= self.nan_from {
            loss = f64::NAN;
        }
        let cut = self.cut && next >= self.ends_at;
        let global_rate = all as f64 / self.elapsed;
        Some(Report { step: next, samples: all, loss, rate, global_rate, elapsed: self.elapsed, cut })
    }
}

/// The rate that a model reaches at a batch size when nobody says another.
///
/// BERT: the time per sample falls with the batch size towards a floor, `a + b·(512/batch)^p`, fitted to the
/// rates 2924.5, 4850 and 6728 at 512, 1024 and 2048. Llama of 7 billion parameters: the same at every batch size.
pub(super) fn law(settings: &Settings) -> f64 {
    if settings.word("model") == "llama" {
        return 33.1;
    }
    let batch = settings.whole("batch-size").max(1) as f64;
    1.0 / (1.06276e-4 + 2.35663e-4 * (512.0 / batch).powf(1.238))
}
