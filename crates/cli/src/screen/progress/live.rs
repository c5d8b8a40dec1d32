//! How far a running run has come, in one line of words.

use std::time::{Duration, Instant};

use assay_campaign::Plan;
use assay_evidence::Progress;
use assay_model::names;
use assay_report::number::{duration, single};

/// What is known of a running run.
#[derive(Default)]
pub struct Live {
    /// The latest status from its output.
    latest: String,
    /// When its first metric is expected, while there is none.
    first_metric: Option<Instant>,
    /// The phase it was last seen in.
    pub phase: Option<String>,
}

impl Live {
    /// A run that just started; earlier runs suggest when its first metric comes.
    pub fn new(first_metric_in_s: Option<f64>) -> Live {
        Live { first_metric: first_metric_in_s.and_then(from_now), ..Live::default() }
    }

    /// Takes in how far the run has come. Gives whether it entered another phase.
    pub fn take(
        &mut self,
        plan: &Plan,
        cell: usize,
        progress: &Progress,
        first_metric_in_s: Option<f64>,
    ) -> bool {
        self.latest = words(plan, cell, progress);
        if progress.loss.is_some() || progress.rate.is_some() || progress.latest.is_some() {
            self.first_metric = None;
        } else if let Some(expected) = first_metric_in_s.and_then(from_now) {
            self.first_metric = Some(expected);
        }
        let entered = progress.phase.is_some() && progress.phase != self.phase;
        if entered {
            self.phase = progress.phase.clone();
        }
        entered
    }

    /// The line as it reads now.
    pub fn line(&self) -> String {
        let Some(expected) = self.first_metric else { return self.latest.clone() };
        let left = expected.saturating_duration_since(Instant::now());
        let waiting = match left.is_zero() {
            true => "first metric due".to_owned(),
            false => format!("first metric in about {}", duration(left.as_secs_f64().ceil())),
        };
        if self.latest.is_empty() { waiting } else { format!("{}  {waiting}", self.latest) }
    }
}

fn from_now(seconds: f64) -> Option<Instant> {
    Instant::now().checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// Phase, step, loss and rate as far as they are known; any other metric where neither loss nor rate is.
fn words(plan: &Plan, cell: usize, progress: &Progress) -> String {
    let mut words: Vec<String> = progress.phase.iter().cloned().collect();
    let asked = || plan.cells.get(cell)?.settings.get(names::setting::STEPS)?.number();
    // Steps that were asked for are believed only as long as the run does not do more.
    let asked = || asked().filter(|asked| progress.step.is_some_and(|step| step <= *asked));
    match (progress.step, progress.steps.or_else(asked)) {
        (Some(step), Some(steps)) => words.push(format!("step {}/{}", plain(step), plain(steps))),
        (Some(step), None) => words.push(format!("step {}", plain(step))),
        _ => {}
    }
    if let Some(loss) = progress.loss {
        words.push(format!("loss {}", plain(loss)));
    }
    if let Some((rate, unit)) = &progress.rate {
        words.push(single(unit, *rate));
    }
    if let (None, None, Some((metric, value))) = (progress.loss, &progress.rate, &progress.latest) {
        let declared =
            plan.metrics.iter().find(|known| known.name == *metric).map(|known| known.unit.clone());
        let canonical = names::canonical(metric).map(|_| names::unit(metric));
        let text = declared.or(canonical).map_or_else(|| plain(*value), |unit| single(&unit, *value));
        words.push(format!("{metric} {text}"));
    }
    words.join("  ")
}

/// A number whose unit is not known, without digits that say nothing.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_only_digits_that_say_nothing() {
        assert_eq!(plain(1000.0), "1000");
        assert_eq!(plain(7.390_625), "7.3906");
        assert_eq!(plain(0.5), "0.5");
    }

    #[test]
    fn the_wait_for_the_first_metric_is_shown_until_it_is_over() {
        let mut live = Live::new(Some(90.0));
        assert!(live.line().starts_with("first metric in about"), "{}", live.line());
        live.first_metric = Some(Instant::now());
        assert_eq!(live.line(), "first metric due");
        live.first_metric = None;
        assert_eq!(live.line(), "");
    }
}
