//! A small classifier on chip and CPU, with its outputs.

use crate::kind::Settings;
use crate::kinds::groq;
use crate::log::say;

use super::{Page, mean_and_deviation};

pub(super) fn section(page: &mut Page<'_, '_>) {
    page.heading(2, "Groq");
    let seed = page.random.next_u64();
    if page.honest {
        honest(page, seed)
    } else {
        wrong(page, seed)
    }
    outputs(page);
}

/// Five runs, measured rates with their spread, and what the compiler expects called by its name.
fn honest(page: &mut Page<'_, '_>, seed: u64) {
    let settings =
        Settings::trusted(&groq::KIND, &[("runs", "5".to_owned()), ("no-input", "false".to_owned())]);
    page.paragraph("The program was run five times with the build from the cache:");
    page.fence(&groq::KIND, &settings, seed);
    let runs = groq::runs(seed, 5);
    let of =
        |rate: fn(&groq::GroqRun) -> f64| mean_and_deviation(&runs.iter().map(rate).collect::<Vec<f64>>());
    let ((chip, chip_deviation), (cpu, cpu_deviation)) = (of(|run| run.chip), of(|run| run.cpu));
    page.paragraph(&format!(
        "Measured from outside, the chip makes {chip:.0} ± {chip_deviation:.0} inferences per second (mean and standard \
         deviation of five runs) and the CPU {cpu:.1} ± {cpu_deviation:.1}. The on-chip columns are what the compiler \
         expects and were not measured."
    ));
}

/// The expected rate ranked beside the measured one, for an input that never entered the benchmark.
fn wrong(page: &mut Page<'_, '_>, seed: u64) {
    page.fence(&groq::KIND, &Settings::trusted(&groq::KIND, &[]), seed);
    for run in groq::runs(seed, 1) {
        page.paragraph(&format!(
            "The chip reaches {} inferences per second, {:.0} times faster than the CPU, on our own sentence.",
            run.estimate,
            run.estimate / run.cpu
        ));
    }
}

/// Two outputs of a classifier, and the probabilities that follow from them, or do not.
fn outputs(page: &mut Page<'_, '_>) {
    let printed = |value: f64| (value * 1e4).round() / 1e4;
    let low = printed(-page.random.between(1.2, 2.4));
    let high = printed(page.random.between(1.2, 2.4));
    let share = high.exp() / (low.exp() + high.exp());
    let share = if page.honest { share } else { share - 0.07 };
    page.paragraph("The output of the model for one review:");
    page.log.line("```");
    say!(page.log, "logits: tensor([[{low:.4},  {high:.4}]], dtype=torch.float16)");
    say!(page.log, "probabilities: tensor([[{:.4}, {share:.4}]])", 1.0 - share);
    page.log.line("class label: 1 (positive)");
    page.log.line("```");
}
